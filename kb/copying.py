"""One corpus → another one, document by document, with its vectors: `kb corpus copy`. Nothing is encoded again.

Documents that are there already, from the same bytes and settings, are left as they are, so a copy that was stopped goes
on. In the end every document is read back from both sides and compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from kb.config import CorpusConfig
from kb.errors import EmbeddingMismatch, IoError
from kb.frozen import dataclass
from kb.runtime import Runtime
from kb.store.documents import Stamp
from kb.store.lock import writer_lock
from kb.store.protocol import CorpusDoor

# So many documents that differ are named.
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusCopy:
    """kb corpus copy

    copied       documents written by this call; unchanged: those that were there, complete
    chunks       passages of the source; vectors: those of them with a vector
    others       documents of the target that the source does not have; they stay
    verified     documents that were read back and compared; all of them, or the command fails
    is_complete  False where it was stopped: the same call goes on
    """

    schema_version: Literal["corpus_copy.v1"] = "corpus_copy.v1"
    source: str
    target: str
    copied: int
    unchanged: int
    chunks: int
    vectors: int
    others: int
    verified: int
    is_complete: bool


def copy_corpus(
    source: Runtime,
    target: Runtime,
    names: tuple[str, str],
    on_document: Callable[[str], None] = lambda path: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> CorpusCopy:
    """Copy every document of one corpus into another.

    target   opened for writing
    names    of both, for the report
    raises   EmbeddingMismatch where the target has vectors of another encoder; IoError where a copy is not what it is
             a copy of; Locked
    """
    source.require_documents()
    with (
        writer_lock(target.home, target.config.ingest.lock_wait_seconds, target.notify, should_stop),
        source.snapshot(),
    ):
        _take_encoder(source.corpus, target.corpus)
        _take_sources(source.corpus, target.corpus)
        stamps = source.corpus.document_stamps()
        there = {(stamp.source, stamp.path): stamp for stamp in target.corpus.document_stamps()}
        copied, is_complete = 0, True
        for stamp in stamps:
            if should_stop():
                is_complete = False
                break
            if _copy_document(source.corpus, target.corpus, stamp, there.get((stamp.source, stamp.path))):
                copied += 1
                on_document(f"{stamp.source}/{stamp.path}")
        digest = target.corpus.stored_encoder()[1]
        target.corpus.neighbours.heal_neighbours(digest)
        target.refresh_indexes(force=copied > 0)
        verified = _verify(source.corpus, target.corpus, stamps) if is_complete else 0
        target.store.checkpoint()
        chunks = source.corpus.count_chunks()
        return CorpusCopy(
            source=names[0],
            target=names[1],
            copied=copied,
            unchanged=(len(stamps) - copied) if is_complete else 0,
            chunks=chunks,
            vectors=chunks - source.corpus.count_missing_vectors(digest),
            others=len(there.keys() - {(stamp.source, stamp.path) for stamp in stamps}),
            verified=verified,
            is_complete=is_complete,
        )


def write_whole_copy(kb: Runtime, path: Path) -> None:
    """Write answers and the documents of a corpus that is elsewhere to one file, which `kb restore` takes.

    path    a file that is not there yet
    raises  InvalidInput, IoError, CorruptStore
    """
    with TemporaryDirectory(dir=path.parent, prefix=".kb-") as folder:
        kb.store.copy_to(Path(folder))
        with Runtime(Path(folder), replace(kb.config, corpus=CorpusConfig()), write=True) as copy:
            if kb.corpus.has_documents():
                copy_corpus(kb, copy, ("", ""))
            copy.store.write_copy(path)


def _take_encoder(source: CorpusDoor, target: CorpusDoor) -> None:
    """Let the target know whose vectors follow."""
    encoder, prefixes = source.stored_encoder(), source.stored_prefixes()
    held = target.stored_encoder()
    if held[1] and target.has_documents() and (held, target.stored_prefixes()) != (encoder, prefixes):
        raise EmbeddingMismatch(
            f"the target has vectors of {held[0]}, the source those of {encoder[0]}, or with other prefixes",
            fix=f"copy into an empty corpus, or change the source first: kb init --encoder {held[0]}",
        )
    target.stamp_encoder(encoder, prefixes)


def _take_sources(source: CorpusDoor, target: CorpusDoor) -> None:
    known = target.source_roots()
    for name, root in source.source_roots().items():
        if name not in known:
            target.save_source(name, root)
    vocabulary = source.tags.imported_vocabulary()
    if vocabulary and target.tags.imported_vocabulary() != vocabulary:
        rows = source.tags.read_vocabulary()
        target.tags.save_vocabulary(rows, vocabulary.digest, vocabulary.origin, vocabulary.imported_at)


def _copy_document(source: CorpusDoor, target: CorpusDoor, stamp: Stamp, there: Stamp | None) -> bool:
    """Write one document; False where the target has it already."""
    document = source.stored_document(stamp.doc_id)
    if document is None:
        return False
    if there and (held := target.stored_document(there.doc_id)) and held.digest() == document.digest():
        return False
    digest = source.stored_encoder()[1]
    replacing = there.doc_id if there else None
    saved = target.save_document(
        document.draft, document.chunks, digest, document.vectors, replacing, None, document.notes
    )
    if not saved.chunks_written and document.vectors:  # the chunks were there, perhaps without vectors
        ids = target.chunk_ids_by_document([saved.doc_id]).get(saved.doc_id, [])
        hashes = {i: h for i, (_, h) in zip(ids, document.chunks, strict=True) if h in document.vectors}
        target.save_vectors(digest, hashes, document.vectors)
    target.tags.replace_applied_tags({saved.doc_id: document.applied})
    return True


def _verify(source: CorpusDoor, target: CorpusDoor, stamps: list[Stamp]) -> int:
    """Compare every document with its copy, by hashes of all that they hold."""
    copies = {(stamp.source, stamp.path): stamp.doc_id for stamp in target.document_stamps()}
    differing = []
    for stamp in stamps:
        doc_id = copies.get((stamp.source, stamp.path))
        original = source.stored_document(stamp.doc_id)
        copy = None if doc_id is None else target.stored_document(doc_id)
        if original is None or copy is None or original.digest() != copy.digest():
            differing.append(f"{stamp.source}/{stamp.path}")
    if differing:
        raise IoError(
            f"{len(differing)} of {len(stamps)} documents are not in the target as they are in the source:"
            f" {', '.join(differing[:_NAMED])}",
            fix="run the same command again while nobody writes to either of them",
        )
    return len(stamps)
