"""A question within a session → the same, complete: what it leans on is read from the store.

That is the turns before it, which words are names here, and the pages that the last answer rested on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from kb.ask.records import AskRequest
from kb.context.neighbourhood import Neighbourhood
from kb.evidence.question import units_of
from kb.followup.phrases import IsName
from kb.followup.records import Turn
from kb.followup.standalone import make_standalone
from kb.graph.names import name_key
from kb.knowledge_base import KnowledgeBase
from kb.relevance.signals import MODES_WITHOUT_TOPIC
from kb.store.chunks import fetch_chunks
from kb.store.graph import names_by_key
from kb.store.sessions import Turn as StoredTurn
from kb.store.sessions import session_turns
from kb.text import analyze

# Turns that are read: those that count and the courtesies between them.
TURNS_READ = 8
# Titles that are looked through for names; of more, the graph alone tells.
MOST_TITLES = 5000
# Chunks before and after a cited one whose text counts as what the turn rested on: about a page.
AROUND = 4
# Of what a question asks about, so much must stand there for the question to go on from it.
CONTINUED = 0.5
# A question that asks about more things than this is complete, whatever was said before.
MOST_UNITS = 4


def complete_question(kb: KnowledgeBase, request: AskRequest) -> AskRequest:
    """The request with the question as it stands alone, where it leans on earlier turns of its session."""
    if request.session_id is None or request.standalone is not None or request.replay_of is not None:
        return request
    with kb.snapshot():
        stored = session_turns(kb.connection, request.session_id, TURNS_READ)
        turns = [turn for turn in stored if turn.mode not in MODES_WITHOUT_TOPIC]
        if not turns:
            return request
        rested_on = turns[-1].cited_chunk_ids or turns[-1].packed_chunk_ids[:1]
        found = make_standalone(
            request.question,
            [_to_turn(kb, turn) for turn in turns],
            name_test(kb),
            continuation_test(kb, rested_on),
        )
    return replace(request, standalone=found.question) if found.question != request.question else request


def _to_turn(kb: KnowledgeBase, stored: StoredTurn) -> Turn:
    answer = stored.answer if stored.grounded or stored.rests_on else ""
    chunks = fetch_chunks(kb.connection, stored.cited_chunk_ids[:1] or stored.packed_chunk_ids[:1])
    title = next((chunk.title for chunk in chunks.values()), "")
    return Turn(stored.standalone_question or stored.question, answer, title)


def name_test(kb: KnowledgeBase) -> IsName:
    """Tells of a word in lower case whether it names something here: in the knowledge graph, or in a document's title."""
    around = Neighbourhood(kb.connection)
    found: dict[str, bool] = {}

    def is_name(word: str) -> bool:
        if word not in found:
            key = name_key(word)
            rows = names_by_key(kb.connection, key, 1, "entity") if key else []
            found[word] = bool(rows) and _is_written_as_name(rows[0].label) and around.is_known(key)
            found[word] = found[word] or word in titles()
        return found[word]

    @cache
    def titles() -> frozenset[str]:
        rows = kb.connection.execute("SELECT DISTINCT title FROM documents ORDER BY title LIMIT ?", [MOST_TITLES])
        return frozenset(word.strip(".,:;()[]\"'").lower() for (title,) in rows for word in title.split())

    return is_name


def _is_written_as_name(label: str) -> bool:
    return not (label.isascii() and label.islower() and label.isalpha())


def continuation_test(kb: KnowledgeBase, chunk_ids: Sequence[int]) -> Callable[[str], bool]:
    """Tells whether the pages around these chunks speak of what a question asks about; read when it is first asked."""

    def continues(question: str) -> bool:
        units = units_of(question)
        if not units or len(units) > MOST_UNITS:
            return False
        terms = page_terms(kb, chunk_ids)
        return sum(unit.share_in(terms) for unit in units) / len(units) >= CONTINUED

    return continues


def page_terms(kb: KnowledgeBase, chunk_ids: Sequence[int]) -> frozenset[str]:
    """The index terms of the pages around these chunks."""
    terms: set[str] = set()
    for chunk in fetch_chunks(kb.connection, chunk_ids).values():
        rows = kb.connection.execute(
            "SELECT text FROM chunks WHERE doc_id = ? AND position BETWEEN ? AND ?",
            [chunk.doc_id, chunk.position - AROUND, chunk.position + AROUND],
        )
        terms.update(analyze(chunk.title), *(analyze(text) for (text,) in rows))
    return frozenset(terms)
