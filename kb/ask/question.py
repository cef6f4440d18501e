"""A request → the question, with the decision which context nodes it gets."""

from __future__ import annotations

import time

from kb.ask.records import AskRequest
from kb.ask.relevance_decision import decide_relevance
from kb.ask.stages import Question
from kb.errors import InvalidInput
from kb.runtime import Runtime


def read_question(kb: Runtime, request: AskRequest) -> Question:
    """The first stage; costs a few counts in the store.

    raises  InvalidInput for an empty question, RulesInvalid
    """
    began = time.perf_counter()
    if not request.question.strip():
        raise InvalidInput("the question is empty", fix="say what to ask, for example: kb ask 'Who owns a value?'")
    return Question(request, began, decide_relevance(kb, request))
