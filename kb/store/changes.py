"""What has changed since an index was made: chunks, by a log that the store's triggers keep, for each kind of index.

Every revision notes how far both logs were then, so an index that knows its revision finds what it lacks. A revision
that is not noted belongs to another copy of the store, or to a time before the log begins.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Literal

from kb.store.chunks import batches_of, marks, read_headings
from kb.store.database import transaction

LogKind = Literal["lexical", "vector"]


def changed_since(connection: sqlite3.Connection, kind: LogKind, revision: int, state: str) -> list[int] | None:
    """The chunks whose row of this kind was added, changed or removed after a revision, ascending.

    returns  None where the log does not know the revision
    """
    begin = _begin(connection, kind, revision, state)
    if begin is None:
        return None
    rows = connection.execute(
        f"SELECT DISTINCT chunk_id FROM {kind}_changes WHERE change_id > ? ORDER BY chunk_id", [begin]
    )
    return [chunk_id for (chunk_id,) in rows]


def count_changed_documents(connection: sqlite3.Connection, kind: LogKind, revision: int, state: str) -> int | None:
    """The number of documents with such a chunk; None where the log does not know the revision."""
    begin = _begin(connection, kind, revision, state)
    if begin is None:
        return None
    row = connection.execute(f"SELECT count(DISTINCT doc_id) FROM {kind}_changes WHERE change_id > ?", [begin])
    return int(row.fetchone()[0])


def _begin(connection: sqlite3.Connection, kind: LogKind, revision: int, state: str) -> int | None:
    row = connection.execute(
        f"SELECT {kind}_change FROM revisions WHERE revision = ? AND state = ?", [revision, state]
    ).fetchone()
    return int(row[0]) if row else None


def forget_changes(connection: sqlite3.Connection, lexical: int, vector: int) -> None:
    """Forget what both indexes have taken up: each was made at the revision that is given for it."""
    with transaction(connection):
        for kind, revision in (("lexical", lexical), ("vector", vector)):
            connection.execute(
                f"DELETE FROM {kind}_changes WHERE change_id <="
                f" (SELECT {kind}_change FROM revisions WHERE revision = ?)",
                [revision],
            )
        connection.execute("DELETE FROM revisions WHERE revision < ?", [min(lexical, vector)])


def existing_chunks(connection: sqlite3.Connection, chunk_ids: Iterable[int]) -> set[int]:
    """Those of the chunks that are there."""
    found: set[int] = set()
    for batch in batches_of(chunk_ids):
        rows = connection.execute(f"SELECT chunk_id FROM chunks WHERE chunk_id IN {marks(batch)}", batch)
        found.update(chunk_id for (chunk_id,) in rows)
    return found


def lexical_rows_of(
    connection: sqlite3.Connection, chunk_ids: Iterable[int]
) -> Iterator[tuple[int, int, str, str, str]]:
    """`lexical_rows` of these chunks, in id order where they are given in it; those that are gone are left out."""
    for batch in batches_of(chunk_ids):
        rows = connection.execute(
            "SELECT chunk_id, doc_id, title, heading_path, text FROM chunks JOIN documents USING (doc_id)"
            f" WHERE chunk_id IN {marks(batch)} ORDER BY chunk_id",
            batch,
        )
        for chunk_id, doc_id, title, headings, text in rows:
            yield chunk_id, doc_id, title, " \n ".join(read_headings(headings)), text
