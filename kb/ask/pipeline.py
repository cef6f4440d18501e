"""A question → a cited answer or a refusal, stored either way.

Question → Retrieved → Judged → Packed → Generated → Verified → Ended → Answer. Each stage is a function from one record to the
next, in a file of its own. A stage that ends the ask early (a refusal, small talk) returns Ended instead. The stages run on the
calling thread.
"""

from __future__ import annotations

from collections.abc import Callable

from kb.ask.answer import build_answer
from kb.ask.generate import ask_again, generate, open_model
from kb.ask.judge import judge_evidence
from kb.ask.pack import pack_evidence, pack_less
from kb.ask.persist import save
from kb.ask.question import complete_question, read_question
from kb.ask.records import Answer, AnswerEvent, AnswerInterrupted, AskRequest
from kb.ask.refuse import broke_off, conclude
from kb.ask.retrieve import retrieve_evidence
from kb.ask.small_talk import answer_small_talk
from kb.ask.stages import Ended, Generated, Judged, Packed
from kb.ask.verify import verify_answer
from kb.ask.without_documents import (
    answer_about_user,
    answer_from_full_fact,
    answer_what_kb_knows,
    answer_without_documents,
)
from kb.errors import NotIndexed
from kb.llm.protocol import LanguageModel
from kb.llm.server import ContextExceeded
from kb.runtime import Runtime

OnEvent = Callable[[AnswerEvent], None]


def ask(kb: Runtime, request: AskRequest, on_event: OnEvent = lambda event: None) -> Answer:
    """Answer a question from the knowledge base, or refuse.

    on_event  told of the retrieval and of every piece of text as it comes; what it raises does not end the answer
    returns   the answer, after it has been stored
    raises    InvalidInput, NotIndexed; ModelError when the model could not be used at all; AnswerInterrupted after a
              Ctrl-C while the model wrote
    """
    return _finish(kb, _run(kb, request, _safely(on_event, kb)))


def answer_packed(kb: Runtime, packed: Packed, model: LanguageModel, on_event: OnEvent) -> Answer:
    """The second half of `ask`, from the prompt on; a replay begins here."""
    return _finish(kb, _run_model(kb, packed, model, _safely(on_event, kb)))


def _run(kb: Runtime, request: AskRequest, tell: OnEvent) -> Ended:
    question = read_question(kb, request)
    if ended := answer_small_talk(kb, question):
        return ended
    if ended := answer_what_kb_knows(kb, question):
        return ended
    question = complete_question(kb, question)
    if ended := answer_about_user(kb, question):
        return ended
    try:
        retrieved = retrieve_evidence(kb, question)
    except NotIndexed:
        if ended := answer_without_documents(kb, question):
            return ended
        raise
    tell(AnswerEvent(event="retrieval", hits=retrieved.response.hits))
    judged = judge_evidence(kb, retrieved)
    if isinstance(judged, Ended):
        return judged
    return answer_from_full_fact(judged) or _ask_model(kb, judged, tell)


def _ask_model(kb: Runtime, judged: Judged, tell: OnEvent) -> Ended:
    """Pack for the model's window; pack less where the server finds the prompt too long after all."""
    model = kb.language_model()
    window_tokens = open_model(kb, judged, model)
    if isinstance(window_tokens, Ended):
        return window_tokens
    packed = pack_evidence(kb, judged, model.reference(), window_tokens)
    try:
        return _run_model(kb, packed, model, tell)
    except ContextExceeded as error:
        return _run_model(kb, pack_less(kb, judged, packed, window_tokens, error), model, tell)


def _run_model(kb: Runtime, packed: Packed, model: LanguageModel, tell: OnEvent) -> Ended:
    written = generate(model, packed.prompt, lambda text: tell(AnswerEvent(event="token", text=text)))
    generated = ask_again(kb, Generated(packed, written), model)
    if ended := broke_off(generated):
        return ended
    return conclude(verify_answer(kb, generated))


def _finish(kb: Runtime, ended: Ended) -> Answer:
    """Build the answer and store it, an evaluation's excepted."""
    answer = build_answer(kb.config, ended)
    if not ended.question.request.is_evaluation:
        save(kb, answer, ended)
    if ended.written.is_interrupted:
        raise AnswerInterrupted(answer)
    return answer


def _safely(on_event: OnEvent, kb: Runtime) -> OnEvent:
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
