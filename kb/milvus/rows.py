"""Drafts → rows of Milvus, and rows → documents, chunks and stamps. Milvus has no empty value: -1 and "" stand for None."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, OpenItem
from kb.errors import InvalidInput
from kb.frozen import dataclass
from kb.milvus.layout import CHUNKS, DOCUMENTS, MOST_BYTES, PLACEHOLDER
from kb.milvus.values import NOWHERE
from kb.milvus.words import FIELDS, ChunkTerms, chunk_vector
from kb.records import Chunk, Document
from kb.store.chunks import make_citation, read_headings
from kb.store.documents import Stamp, utc_text
from kb.store.export import StoredDocument

Row = Mapping[str, Any]
# What a document says of each of its chunks, so that Milvus can filter them.
FILTERED = ("source_lower", "type", "language", "mtime_ns", "tags_lower")
STAMP_FIELDS = ("source", "path", "size_bytes", "mtime_ns", "content_hash", "signature", "file_identity")
DOCUMENT_FIELDS = tuple(DOCUMENTS.names(PLACEHOLDER, "doc_id"))
# All of a chunk but its vectors.
CHUNK_FIELDS = tuple(CHUNKS.names("chunk_id", "sparse", "dense"))
_NONE = -1
# chunk_ids are whole numbers that JavaScript can read, too; those of one document follow one another.
MOST_ID = 2**53 - 2**22


@dataclass(frozen=True, slots=True)
class Live:
    """A document's row, as far as its chunks need it."""

    doc_id: int
    version: int
    source: str
    path: str
    title: str
    tags: tuple[str, ...]
    indexed_at: str


LIVE_FIELDS = ("version", "source", "path", "title", "tags", "indexed_at")


def to_live(row: Row) -> Live:
    """See `Live`; of a row with `LIVE_FIELDS`."""
    tags = tuple(json.loads(row["tags"]))
    return Live(row["doc_id"], row["version"], row["source"], row["path"], row["title"], tags, row["indexed_at"])


def hashed_id(*parts: str) -> int:
    """A number from 1 to MOST_ID that depends on these texts alone."""
    return 1 + int.from_bytes(sha256("\0".join(parts).encode()).digest()[:8], "big") % MOST_ID


def document_row(
    doc_id: int, draft: DocumentDraft, version: int, chunks: int, notes: DocumentNotes | None, applied: str
) -> dict[str, Any]:
    """The row of a document.

    applied  its applied tags, as they are stored
    """
    items = [] if notes is None else [[item.line, item.text] for item in notes.open_items]
    return {
        "doc_id": doc_id,
        "version": version,
        "chunks": chunks,
        "size_bytes": draft.size_bytes,
        "mtime_ns": draft.mtime_ns,
        "source": draft.source,
        "source_lower": draft.source.lower(),
        "path": draft.path,
        "type": draft.type,
        "language": draft.language,
        "content_hash": draft.content_hash,
        "signature": draft.signature,
        "file_identity": draft.file_identity,
        "indexed_at": utc_text(),
        "title": _fitting(draft.title, draft.path, "title"),
        "tags": json.dumps(sorted(draft.tags), ensure_ascii=False),
        "applied": applied,
        "tags_lower": lower_tags(draft.tags, applied),
        "note": draft.note or "",
        "notes_version": 0 if notes is None else notes.version,
        "gist": "" if notes is None else _fitting(notes.gist, draft.path, "gist"),
        "open_items": _fitting(json.dumps(items, ensure_ascii=False), draft.path, "open items"),
        PLACEHOLDER: NOWHERE,
    }


def lower_tags(own: Sequence[str], applied: str) -> list[str]:
    """What a document is filtered by: its own tags and those that were applied, in small letters."""
    return sorted({tag.lower() for tag in [*own, *(tag for tag, _ in json.loads(applied))]})


def chunk_row(
    document: Row, chunk: ChunkDraft, embed_hash: str, terms: ChunkTerms, averages: Mapping[str, float]
) -> dict[str, Any]:
    """The row of a chunk, but for its dense vector."""
    return {
        "chunk_id": document["version"] + chunk.position,
        "doc_id": document["doc_id"],
        "version": document["version"],
        **{field: document[field] for field in FILTERED},
        "position": chunk.position,
        "start_char": chunk.start,
        "end_char": chunk.end,
        "start_line": _number(chunk.start_line),
        "end_line": _number(chunk.end_line),
        "page": _number(chunk.page),
        "section": chunk.section or "",
        "heading_path": _fitting(json.dumps(chunk.heading_path, ensure_ascii=False), document["path"], "headings"),
        "text": _fitting(chunk.text, document["path"], "passage"),
        "text_hash": sha256(chunk.text.encode()).hexdigest(),
        "embed_hash": embed_hash,
        "token_count": chunk.token_count,
        **{f"{field}_terms": terms.lengths[field] for field in FIELDS},
        "sparse": chunk_vector(terms, averages),
    }


def to_draft(row: Row) -> ChunkDraft:
    """The draft that a chunk's row was made of."""
    return ChunkDraft(
        position=row["position"],
        start=row["start_char"],
        end=row["end_char"],
        text=row["text"],
        heading_path=read_headings(row["heading_path"]),
        token_count=row["token_count"],
        start_line=_optional(row["start_line"]),
        end_line=_optional(row["end_line"]),
        page=_optional(row["page"]),
        section=row["section"] or None,
    )


def to_chunk(row: Row, document: Live) -> Chunk:
    """A chunk as search and ask see it."""
    draft = to_draft(row)
    section = draft.section or " > ".join(draft.heading_path[-2:]) or None
    return Chunk(
        chunk_id=row["chunk_id"],
        doc_id=document.doc_id,
        source=document.source,
        path=document.path,
        title=document.title,
        heading_path=draft.heading_path,
        text=draft.text,
        citation=make_citation(document.path, draft.start_line, draft.end_line, draft.page, section),
        token_count=draft.token_count,
        position=draft.position,
        start=draft.start,
        end=draft.end,
        text_hash=row["text_hash"],
        tags=document.tags,
        indexed_at=document.indexed_at,
    )


def to_document(row: Row) -> Document:
    """A document as it is listed."""
    return Document(
        doc_id=row["doc_id"],
        source=row["source"],
        path=row["path"],
        title=row["title"],
        type=row["type"],
        language=row["language"],
        tags=tuple(json.loads(row["tags"])),
        size_bytes=row["size_bytes"],
        content_hash=row["content_hash"],
        chunk_ids=tuple(chunk_ids_of_row(row)),
        modified_at=utc_text(row["mtime_ns"]),
        indexed_at=row["indexed_at"],
        applied_tags=tuple(tag for tag, _ in json.loads(row["applied"])),
    )


def to_stored(document: Row, chunks: Sequence[Row], vectors: Mapping[str, bytes]) -> StoredDocument:
    """All that was saved of a document; chunks in reading order."""
    draft = DocumentDraft(
        source=document["source"],
        path=document["path"],
        title=document["title"],
        type=document["type"],
        language=document["language"],
        tags=tuple(json.loads(document["tags"])),
        size_bytes=document["size_bytes"],
        mtime_ns=document["mtime_ns"],
        content_hash=document["content_hash"],
        signature=document["signature"],
        note=document["note"] or None,
        file_identity=document["file_identity"],
    )
    items = tuple(OpenItem(line, text) for line, text in json.loads(document["open_items"]))
    version = document["notes_version"]
    return StoredDocument(
        draft,
        tuple((to_draft(row), row["embed_hash"]) for row in chunks),
        vectors,
        DocumentNotes(version, document["gist"], items) if version else None,
        tuple((tag, score) for tag, score in json.loads(document["applied"])),
    )


def to_stamp(row: Row) -> Stamp:
    """What tells whether a document's file has changed."""
    fields = (*(row[name] for name in STAMP_FIELDS),)
    source, path, size_bytes, mtime_ns, content_hash, signature, identity = fields
    return Stamp(row["doc_id"], source, path, size_bytes, mtime_ns, content_hash, signature, identity)


def chunk_ids_of_row(document: Row) -> range:
    """The chunks of a document, in reading order: their ids follow one another."""
    return range(document["version"], document["version"] + document["chunks"])


def _number(value: int | None) -> int:
    return _NONE if value is None else value


def _optional(value: int) -> int | None:
    return None if value == _NONE else value


def _fitting(text: str, path: str, what: str) -> str:
    if len(text.encode()) > MOST_BYTES:
        raise InvalidInput(
            f"{path}: a {what} of {len(text.encode()):,} bytes; Milvus keeps {MOST_BYTES:,} at most",
            fix="split the document, or lower chunking.target_tokens",
        )
    return text
