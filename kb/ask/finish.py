"""The end of an ask → the answer, stored; and what tells a listener of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from kb.ask.answer import build_answer
from kb.ask.persist import save
from kb.ask.records import Answer, AnswerEvent, AnswerInterrupted
from kb.ask.stages import Ended
from kb.errors import KbError
from kb.runtime import Runtime

OnEvent = Callable[[AnswerEvent], None]


def finish(kb: Runtime, ended: Ended) -> Answer:
    """Build the answer and store it, an evaluation's excepted; one that cannot be stored is told of and returned."""
    answer = build_answer(kb.config, ended)
    if not ended.question.request.is_evaluation:
        try:
            save(kb, answer, ended)
        except (KbError, sqlite3.Error, OSError) as error:
            # The user asked for an answer, not for its history: a full disk or a read-only folder must not cost it.
            why = error.problem if isinstance(error, KbError) else str(error)
            kb.notify(f"this answer is not kept in the history: {why}")
    if ended.written.is_interrupted:
        raise AnswerInterrupted(answer)
    return answer


def guarded(on_event: OnEvent, kb: Runtime) -> OnEvent:
    """A listener that fails or has gone away must not cost the user the stored answer: it is told nothing more."""
    alive = [True]

    def tell(event: AnswerEvent) -> None:
        if alive[0]:
            try:
                on_event(event)
            except Exception as error:
                alive[0] = False
                if not isinstance(error, BrokenPipeError):  # whoever closes a pipe knows
                    kb.notify(f"the answer cannot be shown as it comes: {error!r}")

    return tell
