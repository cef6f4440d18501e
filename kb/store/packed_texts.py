"""What the prompts of answers held → rows of packed_texts: each text once, and what the chunks have of it not again.

A passage is made of chunks, so the store has its text already: it is compressed with theirs as its source, and
text_chunks says which they are. Before chunks go, the texts that are made of them are written out (`write_out`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kb.store.records import compress, decompress

_SOURCE = (
    "(SELECT joined(chunk_id, CAST(held.text AS BLOB)) FROM text_chunks JOIN chunks AS held USING (chunk_id)"
    " WHERE text_chunks.text_id = packed_texts.text_id)"
)
# SQL for the text of a row of packed_texts; NULL for a damaged one.
PLAIN_TEXT = f"plain_text(text, {_SOURCE})"
# One that shares less with its chunks than this was not made of them.
_MOST_SHARE = 0.5
# text_id → the document and the positions in it of the chunks that a text was made of
Lost = Mapping[int, tuple[int, Sequence[int]]]


def insert_text(
    connection: sqlite3.Connection, answer_id: int, text_hash: bytes, text: str, chunk_ids: Sequence[int] = ()
) -> None:
    """A text that an answer's prompt held, stored unless it is; part of the caller's transaction.

    chunk_ids  what it was made of, () for a text that no chunk holds
    """
    find = "SELECT text_id FROM packed_texts WHERE text_hash = ?"
    found = connection.execute(find, [text_hash]).fetchone()
    if found is None:
        insert = "INSERT INTO packed_texts (text_hash, text) VALUES (?, ?)"
        found = connection.execute(f"{insert} RETURNING text_id", [text_hash, compress(text)]).fetchone()
        refer_to_chunks(connection, found[0], text, chunk_ids)
    connection.execute("INSERT OR IGNORE INTO answer_texts (answer_id, text_id) VALUES (?, ?)", [answer_id, found[0]])


def refer_to_chunks(connection: sqlite3.Connection, text_id: int, text: str, chunk_ids: Sequence[int]) -> None:
    """Store of a text only what these chunks do not have; it stays whole where that saves little."""
    wanted = list(dict.fromkeys(chunk_ids))
    source = connection.execute(
        "SELECT joined(chunk_id, CAST(text AS BLOB)) FROM chunks WHERE chunk_id IN (SELECT value FROM json_each(?))",
        [json.dumps(wanted)],
    ).fetchone()[0]
    packed = compress(text, source) if source else b""
    if not packed or len(packed) > _MOST_SHARE * len(compress(text)):
        return
    connection.execute("UPDATE packed_texts SET text = ? WHERE text_id = ?", [packed, text_id])
    connection.executemany(
        "INSERT INTO text_chunks (chunk_id, text_id) SELECT chunk_id, ? FROM chunks WHERE chunk_id = ?",
        [(text_id, chunk_id) for chunk_id in wanted],
    )


def write_out(connection: sqlite3.Connection, doc_id: int) -> Lost:
    """Store in full the texts that are made of a document's chunks, which are about to go; part of the caller's transaction.

    returns  those that cannot be read, because a chunk was damaged: the same chunks, read again, can bring them back
    """
    rows: list[tuple[int, Any, Any]] = connection.execute(
        f"SELECT text_id, text, {_SOURCE} FROM packed_texts WHERE text_id IN"
        " (SELECT text_id FROM text_chunks JOIN chunks USING (chunk_id) WHERE doc_id = ?)",
        [doc_id],
    ).fetchall()
    lost: dict[int, tuple[int, Sequence[int]]] = {}
    for text_id, packed, source in rows:
        text = decompress(packed, source)
        if text is None:
            places = "SELECT position FROM text_chunks JOIN chunks USING (chunk_id) WHERE text_id = ? AND doc_id = ?"
            lost[text_id] = doc_id, [position for (position,) in connection.execute(places, [text_id, doc_id])]
        else:
            connection.execute("UPDATE packed_texts SET text = ? WHERE text_id = ?", [compress(text), text_id])
        connection.execute("DELETE FROM text_chunks WHERE text_id = ?", [text_id])
    return lost


def refer_again(connection: sqlite3.Connection, lost: Lost) -> None:
    """Let texts that could not be written out be made of the chunks that stand there now, where those are the same again."""
    for text_id, (doc_id, positions) in lost.items():
        connection.execute(
            "INSERT INTO text_chunks (chunk_id, text_id) SELECT chunk_id, ? FROM chunks WHERE doc_id = ? AND position IN"
            " (SELECT value FROM json_each(?))",
            [text_id, doc_id, json.dumps(list(positions))],
        )


def made_of(packed: Collection[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Text hash → chunk_ids, of the passages in an answer's packed_json."""
    return {passage["text_hash"]: passage.get("members") or [passage["chunk_id"]] for passage in packed}
