"""A session as text, as Markdown, and as the wire objects session_list.v1 and session.v1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kb.cli.terminal import harmless, harmless_line, say, styled
from kb.followup.records import shown_sentence
from kb.frozen import dataclass
from kb.store.sessions import SessionSummary, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """All sessions, the most recently used first."""

    schema_version: Literal["session_list.v1"] = "session_list.v1"
    sessions: tuple[SessionSummary, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlace:
    """What [#marker] in an answer stands for."""

    marker: int
    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurn:
    """One question and its answer.

    standalone  what was searched for, where the question depended on earlier ones
    places      what the markers of the answer stand for
    rests_on    context nodes that the answer comes from, instead of documents
    """

    trace_id: str
    created_at: str
    question: str
    standalone: str | None
    answer: str
    grounded: bool
    refusal_reason: str | None
    places: tuple[SessionPlace, ...]
    rests_on: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation, oldest turn first."""

    schema_version: Literal["session.v1"] = "session.v1"
    session_id: str
    turns: tuple[SessionTurn, ...]


def session_of(session_id: str, turns: Sequence[Turn]) -> Session:
    """The session as a wire object."""
    return Session(
        session_id=session_id,
        turns=tuple(
            SessionTurn(
                trace_id=turn.trace_id,
                created_at=turn.created_at,
                question=turn.question,
                standalone=turn.standalone_question,
                answer=turn.answer,
                grounded=turn.grounded,
                refusal_reason=turn.refusal_reason,
                places=tuple(SessionPlace(marker=marker, uri=uri) for marker, uri in turn.places),
                rests_on=turn.rests_on,
            )
            for turn in turns
        ),
    )


def print_session(session: Session, numbers: Mapping[str, int]) -> None:
    """Questions and answers one below the other.

    numbers  the short names of the answers, by trace id
    """
    for turn in session.turns:
        completed = shown_sentence(turn.standalone, turn.question)
        searched = f"  (searched for: {completed})" if completed else ""
        say(f"{styled('› ' + harmless_line(turn.question), 'bold')}{styled(harmless_line(searched), 'dim')}")
        say(harmless(turn.answer))
        for place in turn.places:
            say(f"[#{place.marker}] {styled(harmless_line(place.uri), 'cyan')}")
        verdict = "grounded" if turn.grounded else turn.refusal_reason or "not from documents"
        number = f" · answer {numbers[turn.trace_id]}" if turn.trace_id in numbers else ""
        say(styled(f"{turn.created_at[:16].replace('T', ' ')} · {verdict}{number}", "dim"))
        say()


def to_markdown(session: Session) -> str:
    """The session as a document: for each question a heading, the answer, and its places as a list."""
    parts = [f"# {harmless_line(session.session_id)}\n"]
    for turn in session.turns:
        parts.append(f"## {harmless_line(turn.question)}\n")
        if completed := shown_sentence(turn.standalone, turn.question):
            parts.append(f"*Searched for: {harmless_line(completed)}*\n")
        parts.append(f"{harmless(turn.answer)}\n")
        if turn.places:
            parts.append("\n".join(f"- [#{p.marker}] {harmless_line(p.uri)}" for p in turn.places) + "\n")
        elif not turn.grounded:
            parts.append(f"*{turn.refusal_reason or 'not from documents'}*\n")
    return "\n".join(parts)
