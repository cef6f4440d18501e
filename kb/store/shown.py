"""What the answers of a session have shown: the passages they cite, as they were when they were cited."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kb.frozen import dataclass
from kb.records import Chunk
from kb.store.packed_texts import PLAIN_TEXT
from kb.store.records import RECORD

FetchChunks = Callable[[Iterable[int]], Mapping[int, Chunk]]
_LINES = re.compile(r"#L(\d+)(?:-L(\d+))?$")


@dataclass(frozen=True, slots=True)
class Shown:
    """One stretch of a document that an answer cited.

    trace_id  of the answer
    uri       the place it was cited by
    text      the chunks that hold the cited lines: a later answer would repeat them, not the sentence alone
    """

    trace_id: str
    uri: str
    text: str


def shown_in_session(connection: sqlite3.Connection, session_id: str, fetch_chunks: FetchChunks) -> list[Shown]:
    """What the grounded answers of a session cited, the oldest first, each stretch once.

    Packed passages that were not cited do not count: the reader has seen only the answer and the places it cites. Refusals
    are left out, because the places they name answer nothing.

    fetch_chunks  the corpus's method: chunks by id, deleted ones left out
    """
    rows = connection.execute(
        f"SELECT trace_id, coalesce(recorded({RECORD}, 'citations_json'), '[]'),"
        f" coalesce(recorded({RECORD}, 'packed_json'), '[]') FROM answers"
        " WHERE session_id = ? AND grounded AND replay_of IS NULL ORDER BY created_at, trace_id",
        [session_id],
    ).fetchall()
    found: dict[str, Shown] = {}
    for trace_id, citations, packed in rows:
        passages = {p["marker"]: p for p in json.loads(packed)}
        for citation in json.loads(citations):
            passage = passages.get(citation["marker"])
            text = _text_of(connection, passage, citation, fetch_chunks) if passage else ""
            if text:
                found.setdefault(text, Shown(trace_id, citation["uri"], text))
    return list(found.values())


def _text_of(
    connection: sqlite3.Connection, passage: Mapping[str, Any], citation: Mapping[str, Any], fetch_chunks: FetchChunks
) -> str:
    """The passage's chunks that hold the cited lines; the whole passage where its chunks have changed since."""
    find = f"SELECT {PLAIN_TEXT} FROM packed_texts WHERE text_hash = ?"
    row = connection.execute(find, [bytes.fromhex(passage["text_hash"])]).fetchone()
    whole = str(row[0] or "") if row else ""
    first, last = _lines_of(citation["uri"])
    chunks = fetch_chunks(passage.get("members") or [passage["chunk_id"]])
    held = []
    for chunk in sorted(chunks.values(), key=lambda c: (c.doc_id, c.position)):
        start, end = chunk.citation.start_line, chunk.citation.end_line or chunk.citation.start_line
        is_there = start is None or first is None or (start <= (last or first) and first <= (end or start))
        if is_there and chunk.path == passage["path"] and (not whole or chunk.text.strip() in whole):
            held.append(chunk.text)
    return "\n".join(held) or whole


def _lines_of(uri: str) -> tuple[int | None, int | None]:
    found = _LINES.search(uri)
    return (int(found[1]), int(found[2] or found[1])) if found else (None, None)
