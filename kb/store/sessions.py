"""Sessions, derived from the stored answers: the turns of one, and a list of all. Replays do not count as turns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import Any

from kb.frozen import dataclass
from kb.store.chunks import marks
from kb.store.database import transaction
from kb.store.records import RECORD
from kb.store.seals import seal_answer
from kb.store.search_terms import any_expression

# Matches that are looked at for each earlier answer that is wanted: refusals and replays among them are left out.
LOOKED_THROUGH = 4
# Only the newest answers are searched: ranking time grows with the number of matches, and common words match most answers.
NEWEST_ANSWERS = 5000


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a session and its answer.

    answer           what was shown, markers included
    standalone_question  what was searched for, None where that is the question itself
    mode             the one the relevance rules chose; None for answers older than the rules
    places           (marker, place) of what the answer cites
    rests_on         the nodes it rested on instead of documents
    packed_chunk_ids, cited_chunk_ids  best first; of chunks that may be gone by now
    """

    question: str
    answer: str
    trace_id: str
    created_at: str
    grounded: bool
    refusal_reason: str | None
    rests_on: tuple[str, ...]
    packed_chunk_ids: tuple[int, ...]
    cited_chunk_ids: tuple[int, ...]
    standalone_question: str | None = None
    mode: str | None = None
    places: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session; times as `created_at` writes them."""

    session_id: str
    turns: int
    first_at: str
    last_at: str


_COLUMNS = (
    "SELECT question, answer, trace_id, created_at, grounded, refusal_reason, rests_on_json,"
    f" coalesce(recorded({RECORD}, 'packed_json'), '[]'), coalesce(recorded({RECORD}, 'citations_json'), '[]'),"
    " standalone_question, relevance_mode"
)
_TURNS = "session_id = ? AND replay_of IS NULL"


def session_turns(connection: sqlite3.Connection, session_id: str, most: int | None = None) -> tuple[Turn, ...]:
    """The turns of a session, oldest first; with `most`, only the newest so many."""
    rows = connection.execute(
        f"{_COLUMNS} FROM answers WHERE {_TURNS} ORDER BY created_at DESC, trace_id DESC LIMIT ?",
        [session_id, -1 if most is None else most],
    ).fetchall()
    return tuple(_to_turn(row) for row in reversed(rows))


def measure_session(connection: sqlite3.Connection, session_id: str) -> tuple[int, str | None]:
    """(how many turns, when the last one was); (0, None) for a new session."""
    count, last = connection.execute(
        f"SELECT count(*), max(created_at) FROM answers WHERE {_TURNS}", [session_id]
    ).fetchone()
    return int(count), last


def like_turns(connection: sqlite3.Connection, question: str, session_id: str | None, most: int) -> tuple[Turn, ...]:
    """Answered turns outside a session that share words with a question, best first (BM25); of the NEWEST_ANSWERS only.

    session_id  the session that is left out
    """
    expression = any_expression(question)
    if expression is None:
        return ()
    # In two steps: with one join, SQLite would read every answer to look it up among the matches.
    found = connection.execute(
        "SELECT rowid FROM answer_search WHERE answer_search MATCH ?"
        " AND rowid > (SELECT coalesce(max(answer_id), 0) - ? FROM answers) ORDER BY rank LIMIT ?",
        [expression, NEWEST_ANSWERS, most * LOOKED_THROUGH],
    )
    ranks = {answer_id: rank for rank, (answer_id,) in enumerate(found)}
    rows = connection.execute(
        f"{_COLUMNS}, answer_id FROM answers WHERE answer_id IN {marks(ranks)} AND refusal_reason IS NULL"
        " AND replay_of IS NULL AND chunks_used > 0 AND (? IS NULL OR session_id IS NOT ?)",
        [*ranks, session_id, session_id],
    ).fetchall()
    best = sorted(rows, key=lambda row: ranks[row[-1]])[:most]
    return tuple(_to_turn(row[:-1]) for row in best)


def count_topic_turns(connection: sqlite3.Connection, session_id: str, modes: Collection[str]) -> int:
    """How many turns of a session have another mode than these."""
    rows = connection.execute(f"SELECT relevance_mode FROM answers WHERE {_TURNS}", [session_id])
    return sum(mode not in modes for (mode,) in rows)


def session_names(connection: sqlite3.Connection, prefix: str) -> list[str]:
    """The names of sessions that begin with a prefix."""
    rows = connection.execute(
        "SELECT DISTINCT session_id FROM answers WHERE substr(session_id, 1, ?) = ?", [len(prefix), prefix]
    )
    return [name for (name,) in rows]


def last_session(connection: sqlite3.Connection) -> str | None:
    """The session that was used last; None where there is none."""
    row = connection.execute(
        "SELECT session_id FROM answers WHERE session_id IS NOT NULL AND replay_of IS NULL"
        " ORDER BY created_at DESC, trace_id DESC LIMIT 1"
    ).fetchone()
    return str(row[0]) if row else None


def shift_session(connection: sqlite3.Connection, session_id: str, hours: int) -> None:
    """Move everything of a session back in time, for an evaluation in which time passes between turns."""
    with transaction(connection):
        for table in ("answers", "facts"):
            connection.execute(
                f"UPDATE {table} SET created_at = strftime('%Y-%m-%dT%H:%M:%SZ', created_at, ?) WHERE session_id = ?",
                [f"-{hours} hours", session_id],
            )
        for trace_id in trace_ids_of_session(connection, session_id):
            seal_answer(connection, trace_id)


def list_sessions(connection: sqlite3.Connection) -> tuple[SessionSummary, ...]:
    """All sessions, the one that was used last first."""
    rows = connection.execute(
        "SELECT session_id, count(*), min(created_at), max(created_at) AS last_at FROM answers"
        " WHERE session_id IS NOT NULL AND replay_of IS NULL GROUP BY session_id ORDER BY last_at DESC, session_id"
    )
    return tuple(SessionSummary(*row) for row in rows)


def trace_ids_of_session(connection: sqlite3.Connection, session_id: str) -> list[str]:
    """Every answer of a session, replays included, oldest first."""
    rows = connection.execute(
        "SELECT trace_id FROM answers WHERE session_id = ? ORDER BY created_at, trace_id", [session_id]
    )
    return [trace_id for (trace_id,) in rows]


def _to_turn(row: tuple[Any, ...]) -> Turn:
    question, answer, trace_id, created_at, grounded, reason, rests_on, packed_json, citations_json, *rest = row
    standalone, mode = rest
    packed, citations = json.loads(packed_json), json.loads(citations_json)
    cited = {place["marker"] for place in citations}
    return Turn(
        question=question,
        answer=answer,
        trace_id=trace_id,
        created_at=created_at,
        grounded=bool(grounded),
        refusal_reason=reason,
        rests_on=tuple(json.loads(rests_on)) if rests_on else (),
        packed_chunk_ids=_members(packed),
        cited_chunk_ids=_members([entry for entry in packed if grounded and entry["marker"] in cited]),
        standalone_question=standalone,
        mode=mode,
        places=tuple((place["marker"], place["uri"]) for place in citations if place["marker"]),
    )


def _members(packed: list[dict[str, object]]) -> tuple[int, ...]:
    ids: list[int] = []
    for entry in packed:
        members = entry.get("members")
        ids += [int(i) for i in members] if isinstance(members, list) else [int(str(entry["chunk_id"]))]
    return tuple(dict.fromkeys(ids))
