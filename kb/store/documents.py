"""Documents in the store: saved, moved, stamped, removed and listed; one document is one transaction.

Writing functions raise the corpus revision when what can be found has changed, and only then.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from kb.errors import NotFound
from kb.frozen import dataclass
from kb.records import Document
from kb.store.database import transaction
from kb.store.naming import DocumentPlace, find_named
from kb.store.seals import seal_file
from kb.store.tags import applied_tags, document_tag_lists


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells whether a file has changed since it was stored; `identity` as in SourceFile."""

    doc_id: int
    source: str
    path: str
    size_bytes: int
    mtime_ns: int
    content_hash: str
    signature: str
    identity: str = ""


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
    query = "SELECT doc_id, source, path, size_bytes, mtime_ns, content_hash, signature, file_identity FROM documents"
    where, values = (" WHERE source = ?", [source]) if source is not None else ("", [])
    return [Stamp(*row) for row in connection.execute(f"{query}{where} ORDER BY source, path", values)]


def touch_document(connection: sqlite3.Connection, doc_id: int, now: Stamp) -> None:
    """Note a new size, time, hash or signature for a document whose chunks stay as they are: no new revision."""
    with transaction(connection):
        connection.execute(
            "UPDATE documents SET size_bytes = ?, mtime_ns = ?, content_hash = ?, signature = ?, file_identity = ?"
            " WHERE doc_id = ?",
            [now.size_bytes, now.mtime_ns, now.content_hash, now.signature, now.identity, doc_id],
        )
        seal_file(connection, doc_id)


def stopped_files(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[str, str]]:
    """(source, path) → (state, reason) of each file whose reading was stopped; `state` as `note_stopped` was given it."""
    rows = connection.execute("SELECT source, path, state, reason FROM stopped_files")
    return {(source, path): (state, reason) for source, path, state, reason in rows}


def note_stopped(connection: sqlite3.Connection, source: str, path: str, state: str, reason: str) -> None:
    """Remember that reading a file was stopped, and in which state the file was."""
    with transaction(connection):
        connection.execute(
            "INSERT OR REPLACE INTO stopped_files (source, path, state, reason) VALUES (?, ?, ?, ?)",
            [source, path, state, reason],
        )


def forget_stopped(connection: sqlite3.Connection, source: str, path: str) -> None:
    """Forget that reading a file was stopped, because it has been read now."""
    with transaction(connection):
        connection.execute("DELETE FROM stopped_files WHERE source = ? AND path = ?", [source, path])


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
    named = "" if doc_ids is None else "WHERE doc_id IN (SELECT value FROM json_each(?))"
    parameters = [] if doc_ids is None else [json.dumps(list(doc_ids))]
    chunk_ids: dict[int, list[int]] = {}
    for doc_id, chunk_id in connection.execute(
        f"SELECT doc_id, chunk_id FROM chunks {named} ORDER BY doc_id, position", parameters
    ):
        chunk_ids.setdefault(doc_id, []).append(chunk_id)
    rows = connection.execute(
        "SELECT doc_id, source, path, title, type, language, size_bytes, content_hash, mtime_ns, indexed_at"
        f" FROM documents {named} ORDER BY source, path",
        parameters,
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
    ]


def find_document(connection: sqlite3.Connection, name: str) -> Document:
    """See `kb.store.naming.find_named`."""
    rows = connection.execute("SELECT doc_id, source, path FROM documents ORDER BY source, path").fetchall()
    places = [DocumentPlace(*row) for row in rows]
    found = list_documents(connection, [find_named(name, places, source_roots(connection))])
    if not found:  # another process has just removed it
        raise NotFound(f"no document '{name}'", fix="see what there is with: kb list")
    return found[0]
