"""A document → its rows, and what is derived from them, written in one transaction; documents removed the same way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256

from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft
from kb.frozen import dataclass
from kb.store.chunks import marks
from kb.store.database import empty_log, is_full, raise_revision, transaction
from kb.store.documents import utc_text
from kb.store.graph import replace_graph
from kb.store.neighbours import add_neighbours, withdraw_neighbours
from kb.store.notes import write_notes
from kb.store.packed_texts import refer_again, write_out
from kb.store.seals import seal_document
from kb.store.vectors import file_vectors


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
    """Write a document with its chunks, tags, vectors and graph in one transaction, in place of what was there.

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
            lost_texts = write_out(connection, doc_id)
            connection.execute("DELETE FROM chunks WHERE doc_id = ?", [doc_id])
            connection.executemany(
                f"INSERT INTO chunks ({_CHUNK_COLUMNS}) VALUES {marks(_CHUNK_COLUMNS.split(','))}", rows
            )
            refer_again(connection, lost_texts)
        new_vectors = file_vectors(connection, encoder_digest, vectors)
        add_neighbours(connection, doc_id, encoder_digest)
        is_graph_new = replace_graph(connection, doc_id, draft.source, draft.path, graph)
        if notes is not None:
            write_notes(connection, doc_id, notes)
        seal_document(connection, doc_id)
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


def _has_chunks(
    connection: sqlite3.Connection, doc_id: int, rows: Sequence[tuple[str | bytes | int | None, ...]]
) -> bool:
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
    "doc_id, position, start_char, end_char, start_line, end_line, page, section, heading_path, text, text_digest,"
    " embed_hash, token_count"
)


def _chunk_row(doc_id: int, chunk: ChunkDraft, embed_hash: str) -> tuple[str | bytes | int | None, ...]:
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
        sha256(chunk.text.encode()).digest(),
        embed_hash,
        chunk.token_count,
    )


def remove_documents(connection: sqlite3.Connection, doc_ids: Iterable[int]) -> int:
    """Remove documents with their chunks and tags; returns how many there were.

    All or none; but on a full disk one after the other, since SQLite's log has room for a small transaction alone.
    """
    wanted = list(doc_ids)
    try:
        return _remove(connection, wanted)
    except sqlite3.OperationalError as error:
        if not is_full(error):
            raise
    removed = 0
    for doc_id in wanted:
        empty_log(connection)
        removed += _remove(connection, [doc_id])
    empty_log(connection)
    return removed


def _remove(connection: sqlite3.Connection, doc_ids: Sequence[int]) -> int:
    with transaction(connection):
        removed = 0
        for doc_id in doc_ids:
            withdraw_neighbours(connection, [doc_id])
            write_out(connection, doc_id)
            removed += connection.execute("DELETE FROM documents WHERE doc_id = ?", [doc_id]).rowcount
        if removed:
            connection.execute(
                "DELETE FROM sources WHERE NOT EXISTS (SELECT 1 FROM documents WHERE documents.source = sources.source)"
            )
            connection.execute("DELETE FROM stopped_files WHERE source NOT IN (SELECT source FROM sources)")
            raise_revision(connection)
    return removed
