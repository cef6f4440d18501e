"""A question → a cited answer or a refusal, stored either way.

Question → small talk, or (kb/ask/answering.py) Retrieved → Judged → Packed → Generated → Verified → Ended → Answer. Each
stage is a function from one record to the next, in a file of its own. A stage that ends the ask early (small talk, a
refusal) returns Ended instead. The stages run on the calling thread.
"""

from __future__ import annotations

from kb.ask.finish import OnEvent, finish, guarded
from kb.ask.question import read_question
from kb.ask.records import Answer, AskRequest
from kb.ask.small_talk import answer_small_talk
from kb.ask.stages import Ended
from kb.runtime import Runtime

__all__ = ["AskRequest", "ask"]


def ask(kb: Runtime, request: AskRequest, on_event: OnEvent = lambda event: None) -> Answer:
    """Answer a question from the knowledge base, or refuse.

    on_event  told of the retrieval and of every piece of text as it comes; what it raises does not end the answer
    returns   the answer, after it has been stored
    raises    InvalidInput, NotIndexed; ModelError when the model could not be used at all; AnswerInterrupted after a
              Ctrl-C while the model wrote
    """
    return finish(kb, _run(kb, request, guarded(on_event, kb)))


def _run(kb: Runtime, request: AskRequest, tell: OnEvent) -> Ended:
    question = read_question(kb, request)
    if ended := answer_small_talk(kb, question):
        return ended
    # Imported here: a greeting would pay 60 ms for the modules of retrieval, packing and checking.
    from kb.ask.answering import answer_question

    return answer_question(kb, question, tell)
