"""Gists and open items of documents: written with the document, read by the context nodes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from kb.drafts import DocumentNotes
from kb.frozen import dataclass
from kb.store.chunks import batches_of, marks
from kb.store.database import transaction
from kb.store.seals import seal_document

# Documents whose notes are written in one transaction while completing a store: other writers can write in between.
HEAL_BATCH_DOCUMENTS = 200
# text and first line of each chunk, and the document's type → its notes
MakeNotes = Callable[[Sequence[tuple[str, int | None]], str], DocumentNotes]


@dataclass(frozen=True, slots=True)
class Gist:
    """A document's summary in its own sentences."""

    doc_id: int
    path: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class StoredItem:
    """One open task and where it stands; `line` is None where the format has no lines."""

    path: str
    line: int | None
    text: str


def write_notes(connection: sqlite3.Connection, doc_id: int, notes: DocumentNotes) -> None:
    """Put a document's notes in place of what was there; part of the transaction that writes the document."""
    connection.execute(
        "INSERT OR REPLACE INTO gists (doc_id, version, text) VALUES (?, ?, ?)", [doc_id, notes.version, notes.gist]
    )
    connection.execute("DELETE FROM open_items WHERE doc_id = ?", [doc_id])
    connection.executemany(
        "INSERT INTO open_items (doc_id, position, line, text) VALUES (?, ?, ?, ?)",
        [(doc_id, position, item.line, item.text) for position, item in enumerate(notes.open_items)],
    )


def heal_notes(connection: sqlite3.Connection, version: int, make_notes: MakeNotes) -> int:
    """Make the notes of documents that have none, or have those of another version; returns how many documents."""
    rows = connection.execute(
        "SELECT doc_id, type FROM documents WHERE NOT EXISTS"
        " (SELECT 1 FROM gists WHERE gists.doc_id = documents.doc_id AND version = ?) ORDER BY doc_id",
        [version],
    ).fetchall()
    for start in range(0, len(rows), HEAL_BATCH_DOCUMENTS):
        with transaction(connection):
            for doc_id, document_type in rows[start : start + HEAL_BATCH_DOCUMENTS]:
                chunks = connection.execute(
                    "SELECT text, start_line FROM chunks WHERE doc_id = ? ORDER BY position", [doc_id]
                ).fetchall()
                write_notes(connection, doc_id, make_notes(chunks, document_type))
                seal_document(connection, doc_id)
    return len(rows)


def count_gists(connection: sqlite3.Connection, most: int) -> int:
    """How many gists there are; counting stops at `most`."""
    row = connection.execute("SELECT count(*) FROM (SELECT 1 FROM gists WHERE text != '' LIMIT ?)", [most]).fetchone()
    return int(row[0])


def fetch_gists(connection: sqlite3.Connection, doc_ids: Sequence[int]) -> list[Gist]:
    """The gists of these documents in their order; a document without one is left out."""
    found: dict[int, Gist] = {}
    for batch in batches_of(doc_ids):
        rows = connection.execute(
            "SELECT doc_id, path, title, gists.text FROM gists JOIN documents USING (doc_id)"
            f" WHERE gists.text != '' AND doc_id IN {marks(batch)}",
            batch,
        )
        found.update((row[0], Gist(*row)) for row in rows)
    return [found[doc_id] for doc_id in dict.fromkeys(doc_ids) if doc_id in found]


def list_open_items(connection: sqlite3.Connection, most: int) -> tuple[int, list[StoredItem]]:
    """(how many open items there are, the first `most` of them): newest documents first, each in its own order."""
    total = int(connection.execute("SELECT count(*) FROM open_items").fetchone()[0])
    if not total:
        return 0, []
    rows = connection.execute(
        "SELECT path, line, text FROM open_items JOIN documents USING (doc_id)"
        " ORDER BY mtime_ns DESC, doc_id, position LIMIT ?",
        [most],
    )
    return total, [StoredItem(*row) for row in rows]
