"""What jobs read of a corpus in Milvus: documents, chunks of live versions, vectors; see `kb.store.protocol` for each method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kb.milvus.client import MOST_ROWS, Client, batches
from kb.milvus.counts import WordCounts
from kb.milvus.filters import Passing, all_of, expression_of, one_of, quoted
from kb.milvus.layout import CHUNKS, DOCUMENTS
from kb.milvus.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    LIVE_FIELDS,
    STAMP_FIELDS,
    Live,
    Row,
    chunk_ids_of_row,
    to_chunk,
    to_document,
    to_live,
    to_stamp,
    to_stored,
)
from kb.milvus.values import LANGUAGE, SOURCE, TAG, TYPE, Values
from kb.records import Chunk, Document, Filters
from kb.store.changes import LogKind
from kb.store.chunks import EmbeddedChunk, UnembeddedChunk, read_headings
from kb.store.database import CorpusState
from kb.store.documents import Stamp
from kb.store.export import StoredDocument
from kb.store.filters import glob_pattern
from kb.store.naming import DocumentPlace, find_named

ENCODER, PREFIXES, SECRET = "encoder", "prefixes", "fence_secret"
# Keys in one filter by hash: each comes to 70 bytes.
_HASHES = 200


class Reading:
    """Base of `kb.milvus.corpus.MilvusCorpus`."""

    def __init__(self, client: Client, home: Path) -> None:
        self.client = client
        self.values = Values(client)
        self.counts = WordCounts(client, self.values, home)

    # ---- which corpus this is

    def state(self) -> CorpusState:
        """See CorpusDoor."""
        return self.values.state()

    def stored_encoder(self) -> tuple[str, str, int]:
        """See CorpusDoor."""
        model_id, digest, dimensions = self.values.read(ENCODER) or ("", "", 0)
        return model_id, digest, dimensions

    def stored_prefixes(self) -> tuple[str, str] | None:
        """See CorpusDoor."""
        found = self.values.read(PREFIXES)
        return (found[0], found[1]) if found else None

    # ---- filters

    def filter_values(self) -> dict[str, list[str]]:
        """See CorpusDoor."""
        found = {}
        for flag, prefix, field in (
            ("source", SOURCE, "source"),
            ("type", TYPE, "type"),
            ("lang", LANGUAGE, "language"),
        ):
            found[flag] = _by_frequency(self._count_values(prefix, f"{field} == {{}}"))
        tags = {name.lower(): name for name in self.values.named(TAG)}
        counts = self._count_values(TAG, "array_contains(tags_lower, {})", tags)
        found["tag"] = _by_frequency({tags[name]: count for name, count in counts.items()})
        return found

    def _count_values(self, prefix: str, condition: str, names: Iterable[str] | None = None) -> dict[str, int]:
        """The values that documents have, each with its number of documents; `{}` in the condition is the value."""
        wanted = self.values.named(prefix) if names is None else names
        counts = {name: self.client.count(DOCUMENTS, condition.replace("{}", quoted(name))) for name in wanted}
        return {name: count for name, count in counts.items() if count}

    def allowed_documents(self, filters: Filters) -> Sequence[int] | None:
        """See CorpusDoor; documents are listed only where somebody asks for them."""
        if filters.is_empty():
            return None
        expression = expression_of(filters)
        if globs := [glob_pattern(glob) for glob in filters.paths]:
            rows = self.client.scan(DOCUMENTS, expression, ["doc_id", "path"])
            return sorted(row["doc_id"] for row in rows if any(glob.fullmatch(row["path"]) for glob in globs))
        return Passing(
            expression,
            lambda: self.client.count(DOCUMENTS, expression),
            lambda: sorted(row["doc_id"] for row in self.client.scan(DOCUMENTS, expression, ["doc_id"])),
        )

    def chunk_ids_of(self, doc_ids: Sequence[int]) -> list[int]:
        """See CorpusDoor."""
        return sorted(i for ids in self.chunk_ids_by_document(doc_ids).values() for i in ids)

    def chunk_ids_by_document(self, doc_ids: Sequence[int]) -> dict[int, list[int]]:
        """See CorpusDoor."""
        rows = self.client.get(DOCUMENTS, doc_ids, ["version", "chunks"])
        return {doc_id: list(chunk_ids_of_row(row)) for doc_id, row in rows.items() if row["chunks"]}

    # ---- documents

    def has_documents(self) -> bool:
        """See CorpusDoor."""
        return bool(self.client.query(DOCUMENTS, "doc_id > 0", ["doc_id"], limit=1))

    def count_documents(self) -> int:
        """See CorpusDoor."""
        return self.client.count(DOCUMENTS)

    def count_documents_by(self, column: Literal["source", "type"]) -> dict[str, int]:
        """See CorpusDoor."""
        return self._count_values(SOURCE if column == "source" else TYPE, f"{column} == {{}}")

    def newest_documents(self, since: str, most: int) -> list[tuple[str, str]]:
        """See CorpusDoor."""
        rows = self.client.scan(DOCUMENTS, f"indexed_at > {quoted(since)}", ["path", "indexed_at"])
        newest = sorted(rows, key=lambda row: row["doc_id"])
        newest.sort(key=lambda row: row["indexed_at"], reverse=True)
        return [(row["path"], row["indexed_at"]) for row in newest[:most]]

    def document_titles(self, most: int) -> list[str]:
        """See CorpusDoor."""
        return sorted({row["title"] for row in self.client.scan(DOCUMENTS, "", ["title"])})[:most]

    def source_roots(self) -> dict[str, str | None]:
        """See CorpusDoor."""
        return {name: root or None for name, root in self.values.named(SOURCE).items()}

    def list_documents(self, doc_ids: Sequence[int] | None = None) -> list[Document]:
        """See CorpusDoor."""
        rows = (
            self.client.scan(DOCUMENTS, "", DOCUMENT_FIELDS)
            if doc_ids is None
            else self.client.get(DOCUMENTS, doc_ids, DOCUMENT_FIELDS).values()
        )
        return sorted((to_document(row) for row in rows), key=lambda document: (document.source, document.path))

    def find_document(self, name: str) -> Document:
        """See CorpusDoor."""
        documents = {document.doc_id: document for document in self.list_documents()}
        places = [DocumentPlace(d.doc_id, d.source, d.path) for d in documents.values()]
        return documents[find_named(name, places, self.source_roots())]

    def document_stamps(self, source: str | None = None) -> list[Stamp]:
        """See CorpusDoor."""
        filter = "" if source is None else f"source == {quoted(source)}"
        rows = self.client.scan(DOCUMENTS, filter, ["doc_id", *STAMP_FIELDS])
        return sorted((to_stamp(row) for row in rows), key=lambda stamp: (stamp.source, stamp.path))

    # ---- chunks

    def live_documents(self, doc_ids: Iterable[int]) -> dict[int, Live]:
        """Documents by id, as far as their chunks need them."""
        return {i: to_live(row) for i, row in self.client.get(DOCUMENTS, doc_ids, LIVE_FIELDS).items()}

    def live_rows(self, chunk_ids: Iterable[int], fields: Sequence[str]) -> dict[int, tuple[Row, Live]]:
        """Chunks of live versions by id, each with its document."""
        rows = self.client.get(CHUNKS, chunk_ids, [*dict.fromkeys(["doc_id", "version", *fields])])
        documents = self.live_documents(row["doc_id"] for row in rows.values())
        return {
            chunk_id: (row, document)
            for chunk_id, row in rows.items()
            if (document := documents.get(row["doc_id"])) and document.version == row["version"]
        }

    def scan_live(self, filter: str, fields: Sequence[str]) -> Iterator[tuple[Row, Live]]:
        """Every chunk of a live version that passes a filter, in id order, with its document."""
        wanted = [*dict.fromkeys(["chunk_id", "doc_id", "version", *fields])]
        for rows in batches(self.client.scan(CHUNKS, filter, wanted)):
            documents = self.live_documents(row["doc_id"] for row in rows)
            for row in rows:
                document = documents.get(row["doc_id"])
                if document and document.version == row["version"]:
                    yield row, document

    def fetch_chunks(self, chunk_ids: Iterable[int]) -> dict[int, Chunk]:
        """See CorpusDoor."""
        return {i: to_chunk(row, document) for i, (row, document) in self.live_rows(chunk_ids, CHUNK_FIELDS).items()}

    def fetch_texts(self, chunk_ids: Iterable[int]) -> dict[int, tuple[int, str]]:
        """See CorpusDoor."""
        return {i: (row["doc_id"], row["text"]) for i, (row, _) in self.live_rows(chunk_ids, ["text"]).items()}

    def first_chunks(self, doc_ids: Iterable[int]) -> dict[int, Chunk]:
        """See CorpusDoor."""
        first = {doc_id: ids[0] for doc_id, ids in self.chunk_ids_by_document(list(doc_ids)).items() if ids}
        found = self.fetch_chunks(first.values())
        return {doc_id: found[chunk_id] for doc_id, chunk_id in first.items() if chunk_id in found}

    def count_chunks(self) -> int:
        """See CorpusDoor; those of documents that are being replaced count twice for that moment."""
        return self.client.count(CHUNKS)

    def existing_chunks(self, chunk_ids: Iterable[int]) -> set[int]:
        """See CorpusDoor."""
        return set(self.live_rows(chunk_ids, []))

    def places_of(self, chunk_ids: Sequence[int]) -> list[tuple[str, str]]:
        """See CorpusDoor."""
        found = self.live_rows(chunk_ids, [])
        return [(found[i][1].source, found[i][1].path) for i in chunk_ids if i in found]

    def chunk_places(self) -> dict[int, str]:
        """See CorpusDoor."""
        rows = self.client.scan(DOCUMENTS, "", ["path", "version", "chunks"])
        return {chunk_id: row["path"] for row in rows for chunk_id in chunk_ids_of_row(row)}

    def chunks_at_lines(self, path: str, first: int, last: int) -> list[tuple[str, bool, str]]:
        """See CorpusDoor."""
        roots, found = self.source_roots(), []
        for row in self.client.query(DOCUMENTS, f"path == {quoted(path)}", ["doc_id", "source"]):
            for chunk in self.chunks_of_document(row["doc_id"]):
                start, end = chunk.citation.start_line, chunk.citation.end_line
                if start is not None and end is not None and start <= last and end >= first:
                    root = roots.get(chunk.source) or ""
                    found.append((root, start >= first and end <= last, chunk.text))
        return found

    def chunks_of_document(self, doc_id: int) -> list[Chunk]:
        """See CorpusDoor."""
        ids = self.chunk_ids_by_document([doc_id]).get(doc_id, [])
        found = self.fetch_chunks(ids)
        return [found[chunk_id] for chunk_id in ids if chunk_id in found]

    def texts_around(self, doc_id: int, position: int, reach: int) -> list[str]:
        """See CorpusDoor."""
        ids = self.chunk_ids_by_document([doc_id]).get(doc_id, [])[max(0, position - reach) : position + reach + 1]
        found = self.fetch_texts(ids)
        return [found[chunk_id][1] for chunk_id in ids if chunk_id in found]

    def chunk_starts(self) -> dict[str, list[tuple[int, str]]]:
        """See CorpusDoor."""
        found: dict[str, list[tuple[int, str]]] = {}
        for row, document in self.scan_live("", ["position", "start_char", "text"]):
            found.setdefault(document.path, []).append((row["start_char"], row["text"]))
        return found

    def stored_document(self, doc_id: int) -> StoredDocument | None:
        """See CorpusDoor."""
        document = self.client.get(DOCUMENTS, [doc_id], DOCUMENT_FIELDS).get(doc_id)
        if document is None:
            return None
        rows = self.client.get(CHUNKS, chunk_ids_of_row(document), [*CHUNK_FIELDS, "dense"])
        chunks = [rows[chunk_id] for chunk_id in sorted(rows)]
        return to_stored(document, chunks, {c["embed_hash"]: to_bytes(c["dense"]) for c in chunks if c["is_embedded"]})

    # ---- vectors

    def vectors_of(self, encoder_digest: str, chunk_ids: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """See CorpusDoor."""
        if encoder_digest and encoder_digest == self.stored_encoder()[1]:
            for chunk_id, (row, _) in self.live_rows(chunk_ids, ["is_embedded", "dense"]).items():
                if row["is_embedded"]:
                    yield chunk_id, to_bytes(row["dense"])

    def vector_rows(self, encoder_digest: str) -> Iterator[tuple[int, bytes]]:
        """See CorpusDoor."""
        if encoder_digest and encoder_digest == self.stored_encoder()[1]:
            for row, _ in self.scan_live("is_embedded == true", ["dense"]):
                yield row["chunk_id"], to_bytes(row["dense"])

    def stored_hashes(self, encoder_digest: str, hashes: Iterable[str]) -> set[str]:
        """See CorpusDoor."""
        return set(self.known_vectors(hashes, [])) if encoder_digest == self.stored_encoder()[1] else set()

    def known_vectors(self, hashes: Iterable[str], fields: Sequence[str] = ("dense",)) -> dict[str, Row]:
        """Embed hash → a chunk with its vector, of any version."""
        found: dict[str, Row] = {}
        for batch in batches(dict.fromkeys(hashes), _HASHES):
            filter = all_of(one_of("embed_hash", batch), "is_embedded == true")
            found |= {r["embed_hash"]: r for r in self.client.query(CHUNKS, filter, ["embed_hash", *fields], MOST_ROWS)}
        return found

    def count_missing_vectors(self, encoder_digest: str) -> int:
        """See CorpusDoor."""
        if encoder_digest != self.stored_encoder()[1]:
            return self.count_chunks()
        return self.client.count(CHUNKS, "is_embedded == false")

    def chunks_without_vector(self, encoder_digest: str) -> list[int]:
        """See CorpusDoor."""
        rows = [row for row, _ in self.scan_live("is_embedded == false", ["mtime_ns", "position"])]
        rows.sort(key=lambda row: (-row["mtime_ns"], row["doc_id"], row["position"]))
        return [row["chunk_id"] for row in rows]

    def unembedded_chunks(self, chunk_ids: Sequence[int]) -> list[UnembeddedChunk]:
        """See CorpusDoor."""
        found = self.live_rows(chunk_ids, ["heading_path", "text"])
        return [
            UnembeddedChunk(i, found[i][1].title, read_headings(found[i][0]["heading_path"]), found[i][0]["text"])
            for i in sorted(found)
        ]

    def sample_vectors(self, encoder_digest: str, most: int) -> list[EmbeddedChunk]:
        """See CorpusDoor."""
        if encoder_digest != self.stored_encoder()[1]:
            return []
        ids = sorted(row["chunk_id"] for row in self.client.query(CHUNKS, "is_embedded == true", ["chunk_id"]))
        chosen = ids[:: max(1, len(ids) // max(1, most))][:most]
        found = self.live_rows(chosen, ["heading_path", "text", "embed_hash", "dense"])
        return [
            EmbeddedChunk(
                document.title,
                read_headings(row["heading_path"]),
                row["text"],
                row["embed_hash"],
                to_bytes(row["dense"]),
            )
            for row, document in found.values()
        ]

    # ---- rows for local indexes: Milvus needs none, a copy of the corpus does

    def lexical_rows(self) -> Iterator[tuple[int, int, str, str, str]]:
        """See CorpusDoor."""
        for row, document in self.scan_live("", ["heading_path", "text"]):
            yield _lexical_row(row["chunk_id"], row, document)

    def lexical_rows_of(self, chunk_ids: Iterable[int]) -> Iterator[tuple[int, int, str, str, str]]:
        """See CorpusDoor."""
        for chunk_id, (row, document) in self.live_rows(chunk_ids, ["heading_path", "text"]).items():
            yield _lexical_row(chunk_id, row, document)

    def changed_since(self, kind: LogKind, revision: int, state: str) -> list[int] | None:
        """Nobody logs changes: Milvus follows by itself."""
        return [] if (revision, state) == (self.state().revision, self.state().token) else None

    def count_changed_documents(self, kind: LogKind, revision: int, state: str) -> int | None:
        """See `changed_since`."""
        return None if self.changed_since(kind, revision, state) is None else 0

    def forget_changes(self, lexical: int, vector: int) -> None:
        """There is no log."""


def _by_frequency(counts: dict[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def to_bytes(vector: Any) -> bytes:
    """A dense vector as the local engine keeps it: float32, little-endian."""
    return np.asarray(vector, dtype="<f4").tobytes()


def _lexical_row(chunk_id: int, row: Row, document: Live) -> tuple[int, int, str, str, str]:
    headings = " \n ".join(read_headings(row["heading_path"]))
    return chunk_id, document.doc_id, document.title, headings, row["text"]
