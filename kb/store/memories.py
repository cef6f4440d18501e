"""Facts the user told kb: remembered, forgotten, listed, and found by the words they share with a question."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Sequence
from typing import Literal

from kb.errors import InvalidInput, NotFound
from kb.frozen import dataclass
from kb.store.answers import count_answers_with
from kb.store.chunks import batches_of, marks
from kb.store.database import transaction
from kb.store.seals import seal_fact
from kb.store.search_terms import any_expression, terms_text

# How many existing ids an error names at most.
NAMED_IDS = 10

# A fact is a sentence or two; a longer text is a document, for kb ingest -.
LONGEST_MEMORY_CHARS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing the user told kb.

    session_id  the session it holds in; None for all sessions
    created_at  ISO 8601 UTC
    """

    schema_version: Literal["fact.v1"] = "fact.v1"
    fact_id: int
    text: str
    session_id: str | None
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A fact that was told, and whether it is new: the same fact told again is the one that is stored."""

    schema_version: Literal["fact_remembered.v1"] = "fact_remembered.v1"
    fact: Memory
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """Facts that were forgotten.

    answers  stored answers whose question, answer or prompt still holds one of the texts
    """

    schema_version: Literal["facts_forgotten.v1"] = "facts_forgotten.v1"
    forgotten: tuple[Memory, ...]
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FactList:
    """kb facts, oldest first"""

    schema_version: Literal["fact_list.v1"] = "fact_list.v1"
    facts: tuple[Memory, ...]


_SELECT = "SELECT fact_id, text, session_id, created_at FROM facts"
# Facts without a session hold everywhere; those of a session in that session alone.
_HOLDS = "(session_id IS NULL OR session_id = ?)"


def clean_memory_text(text: str) -> str:
    """The text as one line, white space collapsed.

    raises  InvalidInput for a text without a letter or digit, or one that is longer than a fact
    """
    cleaned = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    if not any(c.isalnum() for c in cleaned):
        raise InvalidInput(
            "the fact is empty", fix="say what to remember: kb remember 'The office wifi is called Plover'"
        )
    if len(cleaned) > LONGEST_MEMORY_CHARS:
        raise InvalidInput(
            f"a fact of more than {LONGEST_MEMORY_CHARS:,} characters is a document",
            fix="store it as one: kb ingest - --title T",
        )
    return cleaned


def text_key(text: str) -> str:
    """A text in the form that two facts are compared in: case, spacing, width and the final stop are ignored.

    >>> text_key("The  wifi is Plover.") == text_key("the wifi is plover")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .。!")


def add_memory(
    connection: sqlite3.Connection, text: str, session_id: str | None, created_at: str
) -> tuple[Memory, bool]:
    """(the fact, whether it is new): a fact that already holds in this session is not stored twice."""
    key = text_key(text)
    with transaction(connection):
        known = connection.execute(
            f"{_SELECT} WHERE text_key = ? AND {_HOLDS} ORDER BY fact_id", [key, session_id]
        ).fetchone()
        if known:
            return _to_memory(known), False
        row = connection.execute(
            "INSERT INTO facts (text, text_key, search_terms, session_id, created_at) VALUES (?, ?, ?, ?, ?)"
            " RETURNING fact_id, text, session_id, created_at",
            [text, key, terms_text(text), session_id, created_at],
        ).fetchone()
        seal_fact(connection, row[0])
    return _to_memory(row), True


def remove_memories(connection: sqlite3.Connection, fact_ids: Sequence[int]) -> list[Memory]:
    """Remove these facts, all or none, and return them; their text is overwritten in the file.

    raises  NotFound for an unknown id, naming those that exist
    """
    wanted = list(dict.fromkeys(fact_ids))
    connection.execute("PRAGMA secure_delete = ON")
    with transaction(connection):
        found = {
            fact.fact_id: fact
            for batch in batches_of(wanted)
            for fact in map(_to_memory, connection.execute(f"{_SELECT} WHERE fact_id IN {marks(batch)}", batch))
        }
        missing = [fact_id for fact_id in wanted if fact_id not in found]
        if missing:
            raise NotFound(f"no fact {', '.join(map(str, missing))}", fix=_what_there_is(connection))
        for batch in batches_of(wanted):
            connection.execute(f"DELETE FROM facts WHERE fact_id IN {marks(batch)}", batch)
        # Until segments are merged the full-text index keeps the words of what was removed.
        connection.execute("INSERT INTO fact_search (fact_search) VALUES ('optimize')")
    return [found[fact_id] for fact_id in wanted]


def _what_there_is(connection: sqlite3.Connection) -> str:
    ids = [str(row[0]) for row in connection.execute("SELECT fact_id FROM facts ORDER BY fact_id LIMIT ?", [NAMED_IDS])]
    total = int(connection.execute("SELECT count(*) FROM facts").fetchone()[0])
    if not ids:
        return "there are none; kb remember TEXT makes one"
    more = f" and {total - len(ids)} more" if total > len(ids) else ""
    return f"there are: {', '.join(ids)}{more}; see them with: kb facts"


def forget(connection: sqlite3.Connection, fact_ids: Sequence[int]) -> Forgotten:
    """Forget these facts, all or none, and count the stored answers that still hold one of their texts."""
    facts = remove_memories(connection, fact_ids)
    return Forgotten(forgotten=tuple(facts), answers=count_answers_with(connection, [fact.text for fact in facts]))


def list_memories(connection: sqlite3.Connection) -> list[Memory]:
    """All facts, oldest first."""
    return [_to_memory(row) for row in connection.execute(f"{_SELECT} ORDER BY fact_id")]


def count_memories(connection: sqlite3.Connection, session_id: str | None) -> int:
    """How many facts hold in a session, or outside of every session for None."""
    row = connection.execute(f"SELECT count(*) FROM facts WHERE {_HOLDS}", [session_id]).fetchone()
    return int(row[0])


def recent_memories(connection: sqlite3.Connection, session_id: str | None, most: int) -> list[Memory]:
    """The newest facts that hold in a session, newest first."""
    rows = connection.execute(f"{_SELECT} WHERE {_HOLDS} ORDER BY fact_id DESC LIMIT ?", [session_id, most])
    return [_to_memory(row) for row in rows]


def find_memories(connection: sqlite3.Connection, question: str, session_id: str | None, most: int) -> list[Memory]:
    """Facts that hold in a session and share a word with a question, best first (BM25); ties to the newer."""
    expression = any_expression(question)
    if expression is None:
        return []
    rows = connection.execute(
        "SELECT fact_id, text, session_id, created_at FROM fact_search JOIN facts ON facts.fact_id = fact_search.rowid"
        f" WHERE fact_search MATCH ? AND {_HOLDS} ORDER BY rank, fact_id DESC LIMIT ?",
        [expression, session_id, most],
    )
    return [_to_memory(row) for row in rows]


def _to_memory(row: tuple[int, str, str | None, str]) -> Memory:
    fact_id, text, session_id, created_at = row
    return Memory(fact_id=fact_id, text=text, session_id=session_id, created_at=created_at)
