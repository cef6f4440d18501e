"""A greeting, thanks, or a farewell → one line in its language, stored as any answer is; nothing is searched for it.

Asserts nothing, cites nothing, asks no model. Kept apart from the pipeline so that a greeting does not wait for the
import of what it does not use.
"""

from __future__ import annotations

import time

from kb.ask.persist import new_trace_id, save
from kb.ask.records import Answer, AnswerRetrieval, AskRequest, Usage
from kb.ask.situation import Outlook, look_ahead, view
from kb.context.node_input import make_safe
from kb.context.nodes import read_nodes
from kb.knowledge_base import KnowledgeBase
from kb.language.interface import PatternKind
from kb.language.manner import is_greeting, tells_of_user, tidy
from kb.language.registry import LANGUAGES, question_language, says
from kb.llm.references import configured_reference
from kb.store.documents import utc_text

# The first that is found in a courtesy says which it is; a greeting is asked for before thanks: "hi, thanks" is a greeting.
_KINDS: tuple[PatternKind, ...] = ("farewell", "thanks", "apology")


def answer_courtesy(kb: KnowledgeBase, request: AskRequest) -> tuple[Answer | None, Outlook]:
    """(the answer, after it has been stored; what was decided): None for a question that something is to be found for."""
    began = time.perf_counter()
    outlook = look_ahead(kb, request)
    if outlook.needs_retrieval() or not request.question.strip():
        return None, outlook
    return acknowledge(kb, request, outlook, began), outlook


def acknowledge(kb: KnowledgeBase, request: AskRequest, outlook: Outlook, began: float) -> Answer:
    """Run the providers that are included, say one line, store it."""
    nodes = read_nodes(
        outlook.occasion, outlook.decision.included, outlook.ceilings, outlook.decision.token_budget_remaining
    )
    spoken = {text.node for text in nodes if text.text}
    name = kb.config.profile.name if "user_traits" in spoken else ""
    rag = kb.config.rag
    answer = Answer(
        trace_id=new_trace_id(),
        question=request.question,
        answer=courtesy_line(request.question, make_safe(name), returns="warm_return_hint" in spoken),
        citations=(),
        grounded=False,
        refusal_reason=None,
        model=configured_reference(kb.config.llm),
        embedding=None,
        prompt_template_version=rag.prompt_template_version,
        retrieval=AnswerRetrieval(
            mode=request.mode,
            k=request.k,
            score_gate=rag.score_gate,
            top_score=None,
            evidence_gate=rag.evidence_gate,
            chunks_returned=0,
            chunks_used=0,
            corpus_revision=kb.corpus.state().revision,
        ),
        usage=Usage(
            prompt_tokens=None,
            completion_tokens=None,
            latency_ms=round((time.perf_counter() - began) * 1000, 1),
            first_token_ms=None,
        ),
        created_at=utc_text(),
        relevance=view(outlook, nodes),
    )
    if not request.is_evaluation:
        save(kb, answer, request, nodes=nodes)
    return answer


def courtesy_line(text: str, name: str = "", *, returns: bool = False) -> str:
    """What is said to a courtesy, in its language.

    >>> courtesy_line("Hey!"), courtesy_line("고마워요", "민지")
    ('Hello! Ask me anything about your documents.', '천만에요, 민지 님.')
    """
    replies = LANGUAGES[question_language(text)].replies
    tidied = tidy(text)
    kind = next((str(kind) for kind in _KINDS if says(kind, tidied)), "other")
    if tells_of_user(text):
        kind = "told"
    elif is_greeting(tidied) and kind != "farewell":
        kind = "welcome_back" if returns else "greeting"
    return replies[kind].format(name=replies["name"].format(name) if name else "")
