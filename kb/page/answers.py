"""Stored answers and conversations → what a reader sees of them: the text with its citations as links, how it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from kb.ask.story import stored_sign
from kb.errors import NotFound
from kb.followup.records import shown_sentence
from kb.frozen import dataclass
from kb.library import KnowledgeBase
from kb.page.addresses import place_address
from kb.page.arguments import AskPage, PlainPage
from kb.page.prose import markdown_html
from kb.store.answers import AnswerRow
from kb.store.sessions import SessionSummary

# Why a sentence does not hold, for people; those that hold are not named.
DOUBTS = {
    "likely": "may be there, in other words",
    "weak": "only partly backed by what it cites",
    "unsupported": "not backed by what it cites",
    "contradicted": "not what the documents say",
    "unknown_marker": "cites a passage that is not there",
    "misattributed": "backed by another passage than the one it cites",
    "forged": "its marker was copied out of a document",
}
STATES = {
    "✓": "Every citation was checked",
    "≈": "May be in your documents, in other words: compare the sources",
    "⚠": "Some of it is doubtful",
}
REFUSALS = {
    "no_chunks": "Nothing was found",
    "score_gate": "Nothing was found that is close enough",
    "weak_evidence": "The passages that were found do not answer it",
    "llm_self_judge": "No answer was found in the passages",
    "not_backed": "What the model wrote is not backed by the passages",
    "llm_stream_aborted": "The answer broke off",
    "llm_truncated": "The answer was too long and broke off",
}
RECENT_ANSWERS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a citation stands for; `marker` is its number, or its place among the closest passages of a refusal."""

    marker: int
    uri: str
    address: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """An answer as it is shown.

    state    how it ended, in a few words; sign: of an answer that stands, as on a terminal, "" of others
    doubts   (sentence, why it does not hold)
    closest  the sources are the closest passages of a refusal
    """

    trace_id: str
    question: str
    searched_for: str | None
    html: Markup
    state: str
    sign: str
    sources: tuple[Source, ...]
    closest: bool
    doubts: tuple[tuple[str, str], ...]
    by: str
    created_at: str
    session: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskView:
    """The page to ask on; `answer` where one was just written."""

    question: str
    session: str
    recent: tuple[AnswerRow, ...]
    answer: AnswerView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """A conversation, oldest turn first."""

    name: str
    answers: tuple[AnswerView, ...]


def read_ask(base: KnowledgeBase, given: AskPage) -> AskView:
    """The page to ask on, with the latest questions."""
    recent = base.runtime().journal.list_answers(RECENT_ANSWERS)
    return AskView(question=given.question, session=given.session, recent=tuple(recent))


def read_answer(base: KnowledgeBase, given: PlainPage, trace_id: str) -> AnswerView:
    """A stored answer.

    raises  NotFound
    """
    return _view(base.runtime().journal.find_answer(trace_id))


def read_sessions(base: KnowledgeBase, given: PlainPage) -> tuple[SessionSummary, ...]:
    """All conversations, the one that was used last first."""
    return base.runtime().journal.list_sessions()


def read_session(base: KnowledgeBase, given: PlainPage, name: str) -> SessionView:
    """One conversation.

    raises  NotFound
    """
    journal = base.runtime().journal
    turns = journal.session_turns(name)
    if not turns:
        raise NotFound(f"no conversation '{name}'", fix="see the list of conversations for what there is")
    return SessionView(name=name, answers=tuple(_view(journal.find_answer(turn.trace_id)) for turn in turns))


def _view(row: AnswerRow) -> AnswerView:
    packed = {entry["marker"]: entry for entry in json.loads(row.packed_json or "[]")}
    cited = json.loads(row.citations_json or "[]")
    sources = _sources(cited, packed, has_quotes=row.model_provider != "extractive")
    closest = any(place["marker"] is None for place in cited)
    addresses = {} if closest else {source.marker: source.address for source in sources}
    return AnswerView(
        trace_id=row.trace_id,
        question=row.question,
        searched_for=shown_sentence(row.standalone_question, row.question),
        html=markdown_html(row.answer, lambda written: None, citations=addresses.get),
        state=_state(row),
        sign=stored_sign(row.verification_json) if row.grounded else "",
        sources=tuple(sources),
        closest=closest,
        doubts=_doubts(row),
        by="quoted from the documents" if row.model_provider == "extractive" else row.model_id,
        created_at=row.created_at,
        session=row.session_id,
    )


def _sources(cited: list[dict[str, Any]], packed: Mapping[int, dict[str, Any]], *, has_quotes: bool) -> list[Source]:
    """Each cited place once; a place of several quotes by its first. An answer made of quotes has them already."""
    found: dict[int, Source] = {}
    for number, place in enumerate(cited, start=1):
        marker = place["marker"] if place["marker"] is not None else number
        entry = packed.get(place["marker"]) if place["marker"] is not None else None
        source = entry["chunk"].get("source") if entry and "chunk" in entry else None
        chunk_ids = tuple(entry.get("members") or [entry["chunk_id"]]) if entry else ()
        address = place_address(place["uri"], source, chunk_ids)
        quote = (place.get("quote") or "") if has_quotes else ""
        found.setdefault(marker, Source(marker=marker, uri=place["uri"], address=address, quote=quote))
    return list(found.values())


def _state(row: AnswerRow) -> str:
    if row.grounded:
        return STATES[stored_sign(row.verification_json)]
    if row.refusal_reason:
        return REFUSALS.get(row.refusal_reason, "No answer")
    return "From what you told kb, not from documents" if row.rests_on_json else "No documents needed"


def _doubts(row: AnswerRow) -> tuple[tuple[str, str], ...]:
    checked = json.loads(row.verification_json) if row.verification_json and not row.refusal_reason else None
    is_said_of_all = checked and checked["status"] == "likely" and not checked["verified"]
    sentences = checked["sentences"] if checked and not is_said_of_all else ()
    return tuple((s["text"], DOUBTS[s["status"]]) for s in sentences if s["status"] in DOUBTS)
