"""What jobs write to a corpus in Milvus: whole documents, vectors, values; see `kb.store.protocol` for each method.

A document is written in three steps: the chunks of its new version, which nobody sees; its row, which names that version,
the switch; and the removal of the old chunks. Ids are made from the content, so a step that is repeated after a kill writes
the same rows again. What a killed writer left is removed by the next one of its home, or by kb reindex.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft
from kb.errors import EmbeddingMismatch
from kb.milvus.client import Client, batches
from kb.milvus.filters import all_of, one_of
from kb.milvus.layout import ALL, CHUNKS, DOCUMENTS, PLACEHOLDER
from kb.milvus.reading import ENCODER, PREFIXES, SECRET, Reading
from kb.milvus.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    FILTERED,
    STAMP_FIELDS,
    Row,
    chunk_ids_of_row,
    chunk_row,
    document_row,
    hashed_id,
    to_draft,
)
from kb.milvus.values import LANGUAGE, NOWHERE, SOURCE, STOPPED, TAG, TYPE
from kb.milvus.words import FIELDS, FIRST_LENGTHS, count_dimensions, read_terms, reweigh
from kb.store.chunks import UnembeddedChunk
from kb.store.documents import Stamp
from kb.store.encoder_change import NextEncoder
from kb.store.saving import Saved

LENGTHS = "lengths"
# Average lengths that differ by more than this share from those that the vectors were made with are worth new vectors …
_LENGTH_DRIFT = 0.02
# … as counting anew is after a kill, up to so many chunks; above it kb reindex does both, when it is asked to.
_DONE_UNASKED = 50_000
_COUNTED = ("sparse", *(f"{field}_terms" for field in FIELDS))
_SEPARATE = "use another corpus.collection for the other encoder, and ingest the documents into it"


class Saving(Reading):
    """Base of `kb.milvus.corpus.MilvusCorpus`."""

    def __init__(self, client: Client, home: Path, notify: Callable[[str], None]) -> None:
        super().__init__(client, home)
        self._notify = notify
        self._noted: set[str] = set()
        self._lengths: Mapping[str, float] | None = None

    # ---- the encoder

    def fence_secret(self) -> bytes:
        """See CorpusDoor."""
        found = self.values.read(SECRET)
        if found is None:
            self.values.write({SECRET: secrets.token_hex(32)})
            found = self.values.read(SECRET)
        return bytes.fromhex(found)

    def stamp_encoder(self, encoder: tuple[str, str, int], prefixes: tuple[str, str] | None = None) -> None:
        """See CorpusDoor. raises EmbeddingMismatch where the collection holds another encoder's vectors"""
        self.begin_change(encoder, prefixes or ("", ""))
        for layout in ALL:
            self.client.create(layout.of_length(encoder[2]) if layout is CHUNKS else layout)
        self.values.write({ENCODER: list(encoder), PREFIXES: None if prefixes is None else list(prefixes)})

    def next_encoder(self) -> NextEncoder | None:
        """A change never begins here."""
        return None

    def begin_change(self, encoder: tuple[str, str, int], prefixes: tuple[str, str]) -> int:
        """One collection keeps the vectors of one encoder. raises EmbeddingMismatch for another one"""
        model_id, digest, dimensions = self.stored_encoder()
        same = (digest, dimensions) == encoder[1:] and self.stored_prefixes() in (None, prefixes)
        if digest and not same and self.count_chunks():
            what = "has other weights or prefixes here" if model_id == encoder[0] else f"is not {encoder[0]}"
            raise EmbeddingMismatch(
                f"the vectors at {self.client.where} are those of {model_id}, which {what}",
                fix=f"set embedding.model to {model_id}, as it is there; or {_SEPARATE}",
            )
        if digest and dimensions != encoder[2] and self.client.has(CHUNKS):
            self.client.drop(CHUNKS)  # empty, of another length
        return 0

    def chunks_without_next(self, after: int, limit: int) -> list[UnembeddedChunk]:
        """A change never begins here."""
        return []

    def save_next_vectors(self, encoder_digest: str, hashes: Mapping[int, str], vectors: Mapping[str, bytes]) -> None:
        """A change never begins here."""

    def switch_encoder(self) -> bool:
        """A change never begins here."""
        return False

    def give_up_change(self) -> None:
        """A change never begins here."""

    # ---- documents

    def save_document(
        self,
        draft: DocumentDraft,
        chunks: Sequence[tuple[ChunkDraft, str]],
        encoder_digest: str | None,
        vectors: Mapping[str, bytes],
        replacing: int | None = None,
        graph: GraphDraft | None = None,
        notes: DocumentNotes | None = None,
    ) -> Saved:
        """See CorpusDoor; the graph is not kept here."""
        self._note_values(draft)
        doc_id = replacing or self._new_id(draft)
        before = self.client.get(DOCUMENTS, [doc_id], DOCUMENT_FIELDS).get(doc_id)
        old = self._rows_of(before)
        if before and [(to_draft(row), row["embed_hash"]) for row in old] == list(chunks):
            return self._keep_chunks(draft, before, old, notes)
        version = self._new_version(doc_id, draft, len(chunks), before)
        row = document_row(doc_id, draft, version, len(chunks), notes, before["applied"] if before else "[]")
        new = self._new_rows(row, chunks, encoder_digest, vectors)
        self.counts.note(new, 1)
        self.client.upsert(CHUNKS, new)
        self.client.upsert(DOCUMENTS, [row])
        self.counts.note(old, -1)
        if before is not None:
            self.client.delete(CHUNKS, all_of(f"doc_id == {doc_id}", f"version != {version}"))
        self.values.raise_revision()
        return Saved(doc_id, len(new), True)

    def _rows_of(self, document: Row | None) -> list[Row]:
        """The chunks of a document's live version, without dense vectors."""
        if document is None or not document["chunks"]:
            return []
        rows = self.client.get(CHUNKS, chunk_ids_of_row(document), [*CHUNK_FIELDS, "sparse"])
        return [rows[chunk_id] for chunk_id in sorted(rows)]

    def _keep_chunks(self, draft: DocumentDraft, before: Row, old: Sequence[Row], notes: DocumentNotes | None) -> Saved:
        """Save a document whose chunks are already there; they keep their ids."""
        doc_id = before["doc_id"]
        row = document_row(doc_id, draft, before["version"], len(old), notes, before["applied"])
        shown = ("title", "tags", "path", *FILTERED)
        is_changed = any(row[field] != before[field] for field in shown if field != "mtime_ns")
        if row["title"] != before["title"]:  # its words are part of the chunks'
            averages = self.lengths()
            old_words, again = list(old), []
            for chunk in old:
                draft_of = to_draft(chunk)
                terms = read_terms(row["title"], draft_of.heading_path, draft_of.text)
                again.append(chunk_row(row, draft_of, chunk["embed_hash"], terms, averages))
            self.counts.note(old_words, -1)
            self.counts.note(again, 1)
            self.rewrite({chunk["chunk_id"]: chunk for chunk in again})
        elif any(row[field] != before[field] for field in FILTERED):
            self.rewrite({c["chunk_id"]: {field: row[field] for field in FILTERED} for c in old})
        self.client.upsert(DOCUMENTS, [row])
        if is_changed:
            self.values.raise_revision()
        return Saved(doc_id, 0, is_changed)

    def _new_id(self, draft: DocumentDraft) -> int:
        """The id of a document, made from its place: two writers of one file write one row."""
        for attempt in range(1_000):
            doc_id = hashed_id("document", draft.source, draft.path, str(attempt))
            row = self.client.get(DOCUMENTS, [doc_id], ["source", "path"]).get(doc_id)
            if row is None or (row["source"], row["path"]) == (draft.source, draft.path):
                return doc_id
        raise RuntimeError("1,000 documents have the ids of this one")

    def _new_version(self, doc_id: int, draft: DocumentDraft, chunks: int, before: Row | None) -> int:
        """The id of the first chunk of a new version, made from its content: the ids behind it are free, or its own."""
        for attempt in range(1_000):
            version = hashed_id("chunks", str(doc_id), draft.content_hash, draft.signature, str(attempt))
            if before and before["version"] == version:
                continue
            taken = self.client.get(CHUNKS, range(version, version + max(1, chunks)), ["doc_id", "version"])
            if all((row["doc_id"], row["version"]) == (doc_id, version) for row in taken.values()):
                return version
        raise RuntimeError("1,000 documents have the ids of this one's chunks")

    def _new_rows(
        self,
        document: Row,
        chunks: Sequence[tuple[ChunkDraft, str]],
        encoder_digest: str | None,
        vectors: Mapping[str, bytes],
    ) -> list[dict[str, Any]]:
        """Chunks with the vectors that are given, or that other chunks of the same text have."""
        averages, dimensions = self.lengths(), self.stored_encoder()[2]
        lacking = [h for _, h in chunks if h not in vectors] if encoder_digest == self.stored_encoder()[1] else []
        known = {h: row["dense"] for h, row in self.known_vectors(lacking).items()}
        known |= {h: np.frombuffer(vector, dtype="<f4").tolist() for h, vector in vectors.items()}
        rows = []
        for chunk, embed_hash in chunks:
            terms = read_terms(document["title"], chunk.heading_path, chunk.text)
            row = chunk_row(document, chunk, embed_hash, terms, averages)
            rows.append(
                row | {"is_embedded": embed_hash in known, "dense": known.get(embed_hash, _no_vector(dimensions))}
            )
        return rows

    def rewrite(self, changes: Mapping[int, Mapping[str, Any]]) -> None:
        """Change some fields of chunks: Milvus writes whole rows."""
        for ids in batches(changes):
            rows = self.client.get(CHUNKS, ids, [*CHUNK_FIELDS, "sparse", "dense"])
            self.client.upsert(CHUNKS, [{**row, **changes[chunk_id]} for chunk_id, row in rows.items()])

    def touch_document(self, doc_id: int, now: Stamp) -> None:
        """See CorpusDoor."""
        before = self.client.get(DOCUMENTS, [doc_id], DOCUMENT_FIELDS).get(doc_id)
        if before is None:
            return
        values = (now.source, now.path, now.size_bytes, now.mtime_ns, now.content_hash, now.signature, now.identity)
        changed = dict(zip(STAMP_FIELDS[2:], values[2:], strict=True))
        self.client.upsert(DOCUMENTS, [{**before, **changed, PLACEHOLDER: NOWHERE}])
        if before["mtime_ns"] != now.mtime_ns:
            self.rewrite({chunk_id: {"mtime_ns": now.mtime_ns} for chunk_id in chunk_ids_of_row(before)})

    def remove_documents(self, doc_ids: Iterable[int]) -> int:
        """See CorpusDoor; each document goes in one step, when its row does."""
        removed = 0
        for ids in batches(doc_ids):
            rows = self.client.get(DOCUMENTS, ids, ["version", "chunks", "source"])
            for row in rows.values():
                self.counts.note(self._rows_of(row), -1)
            self.client.delete_keys(DOCUMENTS, rows)
            if rows:
                self.client.delete(CHUNKS, one_of("doc_id", rows))
            removed += len(rows)
        if removed:
            sources = [name for name in self.values.named(SOURCE) if name not in self.count_documents_by("source")]
            stopped = [name for name in self.values.named(STOPPED) if json.loads(name)[0] in sources]
            gone = {f"{SOURCE}:{name}": None for name in sources} | {f"{STOPPED}:{name}": None for name in stopped}
            self.values.write(gone)
            self._noted.clear()
            self.values.raise_revision()
        return removed

    def remove_unused_embeddings(self) -> int:
        """Vectors go with their chunks."""
        return 0

    # ---- vectors

    def save_vectors(self, encoder_digest: str, hashes: Mapping[int, str], vectors: Mapping[str, bytes]) -> None:
        """See CorpusDoor."""
        lacking = [h for h in dict.fromkeys(hashes.values()) if h not in vectors]
        known = {h: row["dense"] for h, row in self.known_vectors(lacking).items()}
        known |= {h: np.frombuffer(vector, dtype="<f4").tolist() for h, vector in vectors.items()}
        self.rewrite(
            {
                chunk_id: {"embed_hash": embed_hash, "is_embedded": True, "dense": known[embed_hash]}
                for chunk_id, embed_hash in hashes.items()
                if embed_hash in known
            }
        )
        self.values.raise_revision()

    # ---- sources and files

    def save_source(self, source: str, root: str | None) -> None:
        """See CorpusDoor."""
        self.values.write({f"{SOURCE}:{source}": root or ""})

    def stopped_files(self) -> dict[tuple[str, str], tuple[str, str]]:
        """See CorpusDoor."""
        found = {}
        for name, (state, reason) in self.values.named(STOPPED).items():
            source, path = json.loads(name)
            found[source, path] = (state, reason)
        return found

    def note_stopped(self, source: str, path: str, state: str, reason: str) -> None:
        """See CorpusDoor."""
        self.values.write({_stopped(source, path): [state, reason]})

    def forget_stopped(self, source: str, path: str) -> None:
        """See CorpusDoor."""
        self.values.write({_stopped(source, path): None})

    def _note_values(self, draft: DocumentDraft) -> None:
        """Keep what filters can be; and tell a writer whose settings are not those of the first one."""
        wanted: dict[str, Any] = {f"{TYPE}:{draft.type}": draft.signature, f"{LANGUAGE}:{draft.language}": True}
        wanted |= {f"{TAG}:{tag}": True for tag in draft.tags}
        new = {name: value for name, value in wanted.items() if name not in self._noted}
        if not new:
            return
        known = self.values.read_all([*new])
        if known.get(f"{TYPE}:{draft.type}", draft.signature) != draft.signature:
            self._notify(
                f"note: other {draft.type} documents at {self.client.where} were read with other settings or another version"
                " of kb; use the same [chunking] and [embedding] everywhere, then kb ingest --force"
            )
        self.values.write({name: value for name, value in new.items() if name not in known})
        self._noted |= set(new)

    # ---- counts of words

    def lengths(self) -> Mapping[str, float]:
        """The average lengths of the fields that the sparse vectors are made with."""
        if self._lengths is None:
            found = self.values.read(LENGTHS)
            if found is None:
                found = self.counts.averages() or FIRST_LENGTHS
                self.values.write({LENGTHS: found})
            self._lengths = found
        return self._lengths

    def settle_counts(self) -> None:
        """Write what was counted; where averages have moved, make the sparse vectors anew, of a corpus that is not large."""
        small = self.counts.totals()["chunks"] <= _DONE_UNASKED
        if self.counts.is_incomplete and small:
            self.count_anew()
            return
        self.counts.flush()
        averages, before = self.counts.averages(), self.lengths()
        if averages is None:
            return
        drift = max(abs(averages[field] / before[field] - 1) for field in ("text", "headings"))
        if drift > _LENGTH_DRIFT and small:
            self._reweigh(averages)

    def count_anew(self) -> None:
        """Remove what killed writers left, count all words again, and make the sparse vectors of the true averages."""
        words: Counter[int] = Counter()
        totals: Counter[str] = Counter()
        for rows in batches(self._scan_and_clean()):
            words += count_dimensions(row["sparse"] for row in rows)
            totals["chunks"] += len(rows)
            for field in FIELDS:
                totals[field] += sum(int(row[f"{field}_terms"]) for row in rows)
        self.counts.replace(words, totals)
        if averages := self.counts.averages():
            self._reweigh(averages)

    def _scan_and_clean(self) -> Iterator[Row]:
        """Chunks of live versions; others are deleted."""
        live = {row["chunk_id"] for row, _ in self.scan_live("", [])}
        for rows in batches(self.client.scan(CHUNKS, "", ["chunk_id", *_COUNTED])):
            if dead := [row["chunk_id"] for row in rows if row["chunk_id"] not in live]:
                self.client.delete_keys(CHUNKS, dead)
            yield from (row for row in rows if row["chunk_id"] in live)

    def _reweigh(self, averages: Mapping[str, float]) -> None:
        before = self.lengths()
        if averages == before:
            return
        fields = [*CHUNK_FIELDS, "sparse", "dense"]
        for rows in batches(self.client.scan(CHUNKS, "", ["chunk_id", *fields])):
            self.client.upsert(
                CHUNKS,
                [
                    {**row, "sparse": reweigh(row["sparse"], {f: row[f"{f}_terms"] for f in FIELDS}, before, averages)}
                    for row in rows
                ],
            )
        self.values.write({LENGTHS: dict(averages)})
        self._lengths = dict(averages)
        self.values.raise_revision()


def _no_vector(dimensions: int) -> list[float]:
    """In the place of a vector that is still to be made; searches leave such chunks out."""
    return [0.0] * dimensions


def _stopped(source: str, path: str) -> str:
    """The name of the value that tells of a stopped file."""
    return f"{STOPPED}:{json.dumps([source, path], ensure_ascii=False)}"
