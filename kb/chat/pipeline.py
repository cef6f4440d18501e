"""A line that was typed → an answer, or what a slash command has to say. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kb.ask.pipeline import ask
from kb.ask.records import Answer, AnswerEvent, AskRequest
from kb.chat.names import new_session_name
from kb.records import Filters, SearchMode
from kb.runtime import Runtime

OnEvent = Callable[[AnswerEvent], None]


@dataclass(slots=True)
class Chat:
    """One conversation; everything else about it is in the store, under its session's name.

    last  the answer that /why, /sources and /open speak of; None before the first
    """

    kb: Runtime
    session_id: str
    mode: SearchMode
    k: int
    filters: Filters = field(default_factory=Filters)
    last: Answer | None = None

    def earlier_turns(self) -> int:
        """How many turns the session has in the store."""
        return len(self.kb.journal.session_turns(self.session_id))

    def begin_anew(self, name: str | None = None) -> None:
        """Go on in another session: the one with this name, or a new one."""
        self.session_id = name or new_session_name(self.kb.journal)
        self.last = None


def take_turn(chat: Chat, question: str, on_event: OnEvent) -> Answer:
    """Ask within the session; raises what asking raises."""
    request = AskRequest(question=question, mode=chat.mode, k=chat.k, filters=chat.filters, session_id=chat.session_id)
    answer = ask(chat.kb, request, on_event)
    if not answer.is_acknowledgement():  # after "thanks", /sources still means the answer before it
        chat.last = answer
    return answer
