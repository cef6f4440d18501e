"""Everything that a home holds, read and compared with what vouches for it; and the repair of what can be derived.

Texts are compared with their hash, documents and answers with their seal, vectors with their norm, with the vector index
and with a sample that is embedded anew, both indexes with their checksums and with the chunks of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from kb.corpora import LOCAL, describe_place
from kb.ingest.embed import stored_texts
from kb.ingest.prepare import Settings
from kb.runtime import Runtime
from kb.store.log_check import find_log_fault
from kb.store.schema import FILE_NAME

Health = Literal["ok", "warn", "fail"]
# What a check found: status, detail and fix.
Finding = tuple[Health, str, str | None]

REPAIR = "kb doctor --deep --repair"
# Vectors are normalised in float32: norms of stored ones differ from 1 by less than 1e-6.
NORM_TOLERANCE = 1e-3
# Most that a number of a vector differs between the store and the index by rounding: a tenth of its last bit.
ROUNDED_APART = 5e-7
REENCODED_CHUNKS = 16
# See kb.doctor.SAME_VECTOR_COSINE.
LOWEST_COSINE = 0.999
NAMED = 5
# A store, or an index, of more bytes is looked at in part without --deep: reading 2 GB takes ten seconds.
WHOLE_BYTES = 250_000_000


def is_large(kb: Runtime) -> bool:
    """Whether the store is looked at in part where nobody asks for all of it."""
    return (kb.home / FILE_NAME).stat().st_size > WHOLE_BYTES


def check_file(kb: Runtime) -> Finding:
    """SQLite's file, with its own indexes, and its log."""
    if fault := find_log_fault(kb.home):
        return "fail", fault, "the next write goes on from what is left; or restore a copy made with kb backup"
    soundness = kb.store.soundness
    if faults := soundness.check_in_full() or (soundness.find_unreadable() if is_large(kb) else []):
        return "fail", "; ".join(faults), f"{REPAIR}; if it stays, restore a copy made with kb backup"
    return "ok", "tables and their indexes agree", None


def check_texts(kb: Runtime) -> Finding:
    """Every text by its hash; every document, answer and fact by its seal. A corpus elsewhere has no seals."""
    altered = kb.store.soundness.find_altered()
    found = [*altered.documents.values()]
    found += [f"answer {trace_id}" for trace_id in altered.answers] + [f"fact {fact_id}" for fact_id in altered.facts]
    if not found and kb.config.corpus.engine != LOCAL:
        where = describe_place(kb.config, kb.home)
        return "ok", f"every answer and fact is as it was written; texts at {where} are not compared", None
    if not found:
        return "ok", "every text, document and answer is as it was written", None
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    fix = f"{REPAIR}, then ingest their folders again" if altered.documents else "restore a copy made with kb backup"
    return "fail", f"not as they were written: {', '.join(found[:NAMED])}{more}", fix


def check_every_vector(kb: Runtime) -> Finding:
    """Every vector by its length, its norm and the vector index; a sample by embedding it anew."""
    if wrong := _wrong_vectors(kb):
        return "fail", f"{len(wrong)} vectors are not as they were made", REPAIR
    if count := kb.store.soundness.count_wrong_notes():
        return "fail", f"{count} notes on what has a vector, or counts of the graph, are wrong", REPAIR
    return "ok", f"length, norm and index agree; {_count_sample(kb)} embedded anew", None


def check_index_entries(kb: Runtime) -> Finding:
    """Both indexes hold the chunks of the store, and no others."""
    _, digest, _ = kb.stored_encoder()
    lexical, vector = kb.index_keepers()
    faults = [
        lexical.fault(kb.corpus.chunk_places().keys()),
        vector.fault([chunk_id for chunk_id, _ in kb.corpus.vector_rows(digest)]),
    ]
    if found := [fault for fault in faults if fault]:
        return "fail", "; ".join(found), "kb reindex"
    return "ok", "both hold every chunk of the store", None


DEEP_CHECKS: Mapping[str, Callable[[Runtime], Finding]] = {
    "file": check_file,
    "texts": check_texts,
    "every_vector": check_every_vector,
    "index_entries": check_index_entries,
}


def mend(kb: Runtime, *, deep: bool) -> list[str]:
    """Put right what can be derived, before vectors and indexes are completed; returns what was done, as lines.

    Wrong vectors are removed. Documents that were altered are marked, so that the next ingest reads their files.
    """
    soundness, done = kb.store.soundness, []
    if deep:
        soundness.rebuild_btrees()
        if count := soundness.count_wrong_notes():
            soundness.note_anew()
            done.append(f"put {count} notes on what has a vector, or counts of the graph, right")
    if count := soundness.mend_meta():
        done.append(f"put {count} values of the store right")
    if wrong := _wrong_vectors(kb) if deep else soundness.wrong_vectors(NORM_TOLERANCE):
        done.append(f"removed {soundness.remove_vectors(wrong)} wrong vectors")
    if not deep:
        return done
    altered = soundness.find_altered()
    if altered.documents:
        soundness.mark_to_read_again(altered.documents)
        named = ", ".join(list(altered.documents.values())[:NAMED])
        done.append(
            f"{len(altered.documents)} documents were altered; ingest their folders again to mend them: {named}"
        )
    for trace_id in altered.answers:
        done.append(f"answer {trace_id} was altered and cannot be mended; remove it with: kb answers rm {trace_id}")
    for fact_id in altered.facts:
        done.append(f"fact {fact_id} was altered and cannot be mended; tell it again after: kb forget {fact_id}")
    return done


def _wrong_vectors(kb: Runtime) -> list[str]:
    import numpy as np

    wrong = set(kb.store.soundness.wrong_vectors(NORM_TOLERANCE))
    # A sound index has the vectors as they were when it was built.
    index = kb.index_keepers()[1].sound_index()
    if index is not None:
        chunk_ids, held = index.vectors()
        stored = kb.stored_vectors(int(chunk_id) for chunk_id in chunk_ids)
        differing = [
            int(chunk_id)
            for chunk_id, vector in zip(chunk_ids, held, strict=True)
            if int(chunk_id) in stored and not np.abs(stored[int(chunk_id)] - vector).max() <= ROUNDED_APART
        ]
        wrong.update(kb.store.soundness.hashes_of(differing))
    if kb.stored_encoder()[1] and kb.why_no_encoder() is None:
        for embed_hash, cosine in _sample(kb):
            if not cosine >= LOWEST_COSINE:
                wrong.add(embed_hash)
    return sorted(wrong)


def _count_sample(kb: Runtime) -> int:
    return min(REENCODED_CHUNKS, kb.corpus.count_chunks()) if kb.why_no_encoder() is None else 0


def _sample(kb: Runtime) -> list[tuple[str, float]]:
    """(embed hash, cosine between the stored vector and one that is made now) of some chunks."""
    import numpy as np

    settings = Settings.of(kb.config, kb.encoder())
    sample = stored_texts(kb, settings, REENCODED_CHUNKS)
    if not sample:
        return []
    fresh = kb.encoder().encode_documents([text for text, _ in sample])
    stored = np.stack([np.frombuffer(vector, dtype="<f4") for _, vector in sample])
    cosines = (fresh * stored).sum(axis=1)
    return [(settings.embed_hash(text), float(cosine)) for (text, _), cosine in zip(sample, cosines, strict=True)]
