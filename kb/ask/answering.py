"""A question that is no small talk → the end of the ask: Question → Retrieved → Judged → Packed → Generated → Verified → Ended.

Each stage is a function from one record to the next, in a file of its own; a stage that ends the line returns Ended instead.
"""

from __future__ import annotations

from functools import partial

from kb.ask.complete import complete_question
from kb.ask.conclude import conclude
from kb.ask.finish import OnEvent, finish, guarded
from kb.ask.generate import ask_again, generate, open_model
from kb.ask.judge import judge_evidence
from kb.ask.pack import pack_evidence, pack_less
from kb.ask.quotes import conclude_quotes, doubt_of, quote_under
from kb.ask.records import Answer, AnswerEvent
from kb.ask.refuse import broke_off
from kb.ask.retrieve import retrieve_evidence
from kb.ask.stages import Ended, Generated, Judged, Packed, Question
from kb.ask.unusable import show_in_place
from kb.ask.verify import verify_answer
from kb.ask.without_documents import (
    answer_about_user,
    answer_from_full_fact,
    answer_what_kb_knows,
    answer_without_documents,
)
from kb.errors import NotIndexed
from kb.llm.extractive import PROVIDER
from kb.llm.protocol import LanguageModel, Token
from kb.llm.server import ContextExceeded
from kb.runtime import Runtime


def answer_question(kb: Runtime, question: Question, tell: OnEvent) -> Ended:
    """Every stage after small talk, in order.

    raises  NotIndexed where there is no document and no node answers; ModelError
    """
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


def answer_packed(kb: Runtime, packed: Packed, model: LanguageModel, on_event: OnEvent) -> Answer:
    """The second half of `ask`, from the prompt on; a replay begins here."""
    return finish(kb, _run_model(kb, packed, model, guarded(on_event, kb)))


def _ask_model(kb: Runtime, judged: Judged, tell: OnEvent) -> Ended:
    """Pack for the model's window; pack less where the server finds the prompt too long after all."""
    model = kb.language_model()
    window_tokens = open_model(judged, model)
    if isinstance(window_tokens, Ended):
        return window_tokens
    packed = pack_evidence(kb, judged, model.reference(), window_tokens)
    try:
        return _run_model(kb, packed, model, tell)
    except ContextExceeded as error:
        return _run_model(kb, pack_less(kb, judged, packed, window_tokens, error), model, tell)


def _run_model(kb: Runtime, packed: Packed, model: LanguageModel, tell: OnEvent) -> Ended:
    quotes: list[Token] = []
    is_quoting = packed.model.provider == PROVIDER
    # Quotes are all there before the first is told, and what stands above them depends on all.
    written = generate(model, packed.prompt, quotes.append if is_quoting else partial(_tell_token, tell))
    doubt = doubt_of(kb.config.rag, packed, written)
    if doubt:
        tell(AnswerEvent(event="token", text=f"{doubt}\n\n", highlights=()))
    for token in quotes:
        _tell_token(tell, token)
    generated = ask_again(kb, Generated(packed, written), model)
    if ended := broke_off(generated):
        return ended
    quoted = conclude_quotes(generated)
    if quoted and doubt:
        return quote_under(doubt, quoted, "weak_evidence")
    verified = quoted or verify_answer(kb, generated)
    return show_in_place(kb, verified) or conclude(verified)


def _tell_token(tell: OnEvent, token: Token) -> None:
    key = token.quoted.key if token.quoted else None
    tell(AnswerEvent(event="token", text=token.text, highlights=(key,) if key else None))
