"""Documents in the store: saved, moved, stamped, removed and listed; one document is one transaction.

Writing functions raise the corpus revision when what can be found has changed, and only then.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft
from kb.errors import NotFound
from kb.records import Document
from kb.store.chunks import marks
from kb.store.database import raise_revision, transaction
from kb.store.fingerprints import add_fingerprints
from kb.store.graph import replace_graph
from kb.store.neighbours import add_neighbours, withdraw_neighbours
from kb.store.notes import write_notes
from kb.store.tags import applied_tags, document_tag_lists


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells whether a file has changed since it was stored."""

    doc_id: int
    source: str
    path: str
    size_bytes: int
    mtime_ns: int
    content_hash: str
    signature: str


def utc_text(moment_ns: int | None = None) -> str:
    """A moment (now, or nanoseconds since 1970) as ISO 8601 UTC with seconds."""
    moment = datetime.now(UTC) if moment_ns is None else datetime.fromtimestamp(moment_ns / 1e9, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def source_roots(connection: sqlite3.Connection) -> dict[str, str | None]:
    """Every source and its folder; None for text from standard input."""
    return dict(connection.execute("SELECT source, root FROM sources ORDER BY source"))


def save_source(connection: sqlite3.Connection, source: str, root: str | None) -> None:
    """Remember where a source's paths start."""
    with transaction(connection):
        connection.execute("INSERT OR REPLACE INTO sources (source, root) VALUES (?, ?)", [source, root])


def document_stamps(connection: sqlite3.Connection, source: str | None = None) -> list[Stamp]:
    """The stamps of one source's documents, or of all, in path order."""
    query = "SELECT doc_id, source, path, size_bytes, mtime_ns, content_hash, signature FROM documents"
    where, values = (" WHERE source = ?", [source]) if source is not None else ("", [])
    return [Stamp(*row) for row in connection.execute(f"{query}{where} ORDER BY source, path", values)]


@dataclass(frozen=True, slots=True)
class Saved:
    """What saving a document did.

    chunks_written  0 where the chunks there are already the same: they keep their ids
    is_changed      something that can be found or shown differs from before
    """

    doc_id: int
    chunks_written: int
    is_changed: bool


def save_document(
    connection: sqlite3.Connection,
    draft: DocumentDraft,
    chunks: Sequence[tuple[ChunkDraft, str]],
    encoder_digest: str | None,
    vectors: Mapping[str, bytes],
    replacing: int | None = None,
    graph: GraphDraft | None = None,
    notes: DocumentNotes | None = None,
) -> Saved:
    """Write a document with its chunks, tags, vectors, fingerprints and graph in one transaction, in place of what was there.

    chunks     each with the hash its vector is filed under
    vectors    hash → float32 bytes, for hashes the store does not have yet
    replacing  the doc_id to keep (an edited or moved file), None for a new document
    graph      its names and relations; None for none
    notes      its gist and open items; None leaves them to `heal_notes`
    """
    with transaction(connection):
        before = _shown_fields(connection, replacing)
        doc_id = _insert_document(connection, draft) if replacing is None else replacing
        rows = [_chunk_row(doc_id, chunk, embed_hash) for chunk, embed_hash in chunks]
        keeps_chunks = replacing is not None and _has_chunks(connection, doc_id, rows)
        if replacing is not None:
            withdraw_neighbours(connection, [doc_id])
            _update_document(connection, doc_id, draft)
        connection.executemany(
            "INSERT OR IGNORE INTO document_tags (doc_id, tag) VALUES (?, ?)", [(doc_id, tag) for tag in draft.tags]
        )
        if not keeps_chunks:
            connection.execute("DELETE FROM chunks WHERE doc_id = ?", [doc_id])
            connection.executemany(
                f"INSERT INTO chunks ({_CHUNK_COLUMNS}) VALUES {marks(_CHUNK_COLUMNS.split(','))}", rows
            )
        new_vectors = connection.executemany(
            "INSERT OR IGNORE INTO embeddings (encoder_digest, embed_hash, vector) VALUES (?, ?, ?)",
            [(encoder_digest, embed_hash, vector) for embed_hash, vector in vectors.items()],
        ).rowcount
        add_neighbours(connection, doc_id, encoder_digest)
        add_fingerprints(connection, doc_id)
        is_graph_new = replace_graph(connection, doc_id, draft.source, draft.path, graph)
        if notes is not None:
            write_notes(connection, doc_id, notes)
        is_changed = not keeps_chunks or new_vectors > 0 or is_graph_new or _shown_fields(connection, doc_id) != before
        if is_changed:
            raise_revision(connection)
    return Saved(doc_id, 0 if keeps_chunks else len(rows), is_changed)


def _shown_fields(connection: sqlite3.Connection, doc_id: int | None) -> tuple[object, ...]:
    """What a search can filter by or show of a document, its chunks aside."""
    row = connection.execute(
        "SELECT source, path, title, type, language FROM documents WHERE doc_id = ?", [doc_id]
    ).fetchone()
    tags = connection.execute("SELECT tag FROM document_tags WHERE doc_id = ? ORDER BY tag", [doc_id]).fetchall()
    return (row, tags)


def _has_chunks(connection: sqlite3.Connection, doc_id: int, rows: Sequence[tuple[str | int | None, ...]]) -> bool:
    stored = connection.execute(f"SELECT {_CHUNK_COLUMNS} FROM chunks WHERE doc_id = ? ORDER BY position", [doc_id])
    return stored.fetchall() == list(rows)


def _insert_document(connection: sqlite3.Connection, draft: DocumentDraft) -> int:
    values = _document_values(draft)
    row = connection.execute(
        f"INSERT INTO documents ({', '.join(values)}) VALUES {marks(values)} RETURNING doc_id", list(values.values())
    ).fetchone()
    return int(row[0])


def _update_document(connection: sqlite3.Connection, doc_id: int, draft: DocumentDraft) -> None:
    values = _document_values(draft)
    columns = ", ".join(f"{column} = ?" for column in values)
    connection.execute(f"UPDATE documents SET {columns} WHERE doc_id = ?", [*values.values(), doc_id])
    connection.execute("DELETE FROM document_tags WHERE doc_id = ?", [doc_id])


def _document_values(draft: DocumentDraft) -> dict[str, str | int | None]:
    """Column → value; but for the tags, the fields of a draft are columns of the table."""
    columns = [field.name for field in fields(DocumentDraft) if field.name != "tags"]
    return {**{column: getattr(draft, column) for column in columns}, "indexed_at": utc_text()}


_CHUNK_COLUMNS = (
    "doc_id, position, start_char, end_char, start_line, end_line, page, section, heading_path, text, text_hash,"
    " embed_hash, token_count"
)


def _chunk_row(doc_id: int, chunk: ChunkDraft, embed_hash: str) -> tuple[str | int | None, ...]:
    return (
        doc_id,
        chunk.position,
        chunk.start,
        chunk.end,
        chunk.start_line,
        chunk.end_line,
        chunk.page,
        chunk.section,
        json.dumps(chunk.heading_path, ensure_ascii=False),
        chunk.text,
        sha256(chunk.text.encode()).hexdigest(),
        embed_hash,
        chunk.token_count,
    )


def touch_document(connection: sqlite3.Connection, doc_id: int, draft_stamp: Stamp) -> None:
    """Note a new size, time, hash or signature for a document whose chunks stay as they are: no new revision."""
    with transaction(connection):
        connection.execute(
            "UPDATE documents SET size_bytes = ?, mtime_ns = ?, content_hash = ?, signature = ? WHERE doc_id = ?",
            [draft_stamp.size_bytes, draft_stamp.mtime_ns, draft_stamp.content_hash, draft_stamp.signature, doc_id],
        )


def remove_documents(connection: sqlite3.Connection, doc_ids: Iterable[int]) -> int:
    """Remove documents with their chunks and tags; returns how many there were."""
    with transaction(connection):
        removed = 0
        for doc_id in doc_ids:
            withdraw_neighbours(connection, [doc_id])
            removed += connection.execute("DELETE FROM documents WHERE doc_id = ?", [doc_id]).rowcount
        if removed:
            connection.execute(
                "DELETE FROM sources WHERE NOT EXISTS (SELECT 1 FROM documents WHERE documents.source = sources.source)"
            )
            raise_revision(connection)
    return removed


def remove_unused_embeddings(connection: sqlite3.Connection) -> int:
    """Remove the vectors that no chunk uses, so that removed texts leave no trace; returns how many."""
    with transaction(connection):
        return connection.execute(
            "DELETE FROM embeddings WHERE NOT EXISTS"
            " (SELECT 1 FROM chunks WHERE chunks.embed_hash = embeddings.embed_hash)"
        ).rowcount


def newest_documents(connection: sqlite3.Connection, since: str, most: int) -> list[tuple[str, str]]:
    """(path, indexed_at) of documents written after a moment, newest first; `since` as `indexed_at` is written."""
    rows = connection.execute(
        "SELECT path, indexed_at FROM documents WHERE indexed_at > ? ORDER BY indexed_at DESC, doc_id LIMIT ?",
        [since, most],
    )
    return [(path, indexed_at) for path, indexed_at in rows]


def has_documents(connection: sqlite3.Connection) -> bool:
    """True when there is anything to find."""
    return connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is not None


def count_documents(connection: sqlite3.Connection) -> int:
    """How many documents there are."""
    return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])


def count_documents_by(connection: sqlite3.Connection, column: Literal["source", "type"]) -> dict[str, int]:
    """How many documents there are of each source, or of each type, in the order of the names."""
    return dict(connection.execute(f"SELECT {column}, count(*) FROM documents GROUP BY {column} ORDER BY {column}"))


def document_titles(connection: sqlite3.Connection, most: int) -> list[str]:
    """The first titles in their order, each once."""
    rows = connection.execute("SELECT DISTINCT title FROM documents ORDER BY title LIMIT ?", [most])
    return [title for (title,) in rows]


def list_documents(connection: sqlite3.Connection, doc_ids: Sequence[int] | None = None) -> list[Document]:
    """Documents in (source, path) order: those named, or all."""
    tags = document_tag_lists(connection)
    applied = applied_tags(connection)
    chunk_ids: dict[int, list[int]] = {}
    for doc_id, chunk_id in connection.execute("SELECT doc_id, chunk_id FROM chunks ORDER BY doc_id, position"):
        chunk_ids.setdefault(doc_id, []).append(chunk_id)
    wanted = None if doc_ids is None else set(doc_ids)
    rows = connection.execute(
        "SELECT doc_id, source, path, title, type, language, size_bytes, content_hash, mtime_ns, indexed_at"
        " FROM documents ORDER BY source, path"
    )
    return [
        Document(
            doc_id=doc_id,
            source=source,
            path=path,
            title=title,
            type=kind,
            language=language,
            tags=tags.get(doc_id, ()),
            size_bytes=size_bytes,
            content_hash=content_hash,
            chunk_ids=tuple(chunk_ids.get(doc_id, ())),
            modified_at=utc_text(mtime_ns),
            indexed_at=indexed_at,
            applied_tags=applied.get(doc_id, ()),
        )
        for doc_id, source, path, title, kind, language, size_bytes, content_hash, mtime_ns, indexed_at in rows
        if wanted is None or doc_id in wanted
    ]


def find_document(connection: sqlite3.Connection, name: str) -> Document:
    """The document a user means: `doc:12`, a path, `source/path`, the unique end of a path, or a file on this machine.

    raises  NotFound, naming the nearest paths, or all that match when there are several
    """
    if re.fullmatch(r"doc:[0-9]{1,18}", name):
        found = list_documents(connection, [int(name[4:])])
        if found:
            return found[0]
    documents = list_documents(connection)
    for matches in (
        [d for d in documents if name in (d.path, f"{d.source}/{d.path}")],
        [d for d in documents if f"/{d.source}/{d.path}".endswith(f"/{name.lstrip('/')}")],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            listed = ", ".join(f"{d.source}/{d.path}" for d in matches[:5])
            raise NotFound(f"'{name}' is the end of {len(matches)} paths", fix=f"name one of: {listed}")
    file = Path(os.path.abspath(Path(name).expanduser()))
    for source, root in source_roots(connection).items():
        if root is not None and file.is_relative_to(root):
            place = (source, file.relative_to(root).as_posix())
            if named := [d for d in documents if (d.source, d.path) == place]:
                return named[0]
    import difflib

    near = difflib.get_close_matches(name, [d.path for d in documents], n=3, cutoff=0.5)
    hint = f"did you mean: {', '.join(near)}?" if near else "see what there is with: kb list"
    raise NotFound(f"no document '{name}'", fix=hint)
