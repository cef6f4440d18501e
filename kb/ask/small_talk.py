"""A greeting, thanks, or a farewell → one line in its language; nothing is searched for it.

Asserts nothing, cites nothing, asks no model.
"""

from __future__ import annotations

from kb.ask.records import AnswerRetrieval, AskRequest
from kb.ask.stages import Ended, Findings, Question
from kb.context.node_input import make_safe
from kb.language.interface import PatternKind
from kb.language.manner import is_greeting, tells_of_user, tidy
from kb.language.registry import LANGUAGES, question_language, says
from kb.runtime import Runtime

# The first that is found says which it is; a greeting is asked for before thanks: "hi, thanks" is a greeting.
_KINDS: tuple[PatternKind, ...] = ("farewell", "thanks", "apology")


def answer_small_talk(kb: Runtime, question: Question) -> Ended | None:
    """One line for a question whose mode needs no document; None for every other question."""
    if question.decision is None or question.decision.needs_retrieval():
        return None
    nodes = question.decision.read_without_hits()
    given = {text.node for text in nodes if text.text}
    name = kb.config.profile.name if "user_traits" in given else ""
    asked = question.request.question
    return Ended(
        question=question,
        findings=nothing_searched(kb, question.request),
        text=small_talk_line(asked, make_safe(name), returns="warm_return_hint" in given),
        nodes=nodes,
    )


def small_talk_line(text: str, name: str = "", *, returns: bool = False) -> str:
    """The reply to small talk, in its language.

    >>> small_talk_line("Hey!"), small_talk_line("고마워요", "민지")
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


def nothing_searched(kb: Runtime, request: AskRequest) -> Findings:
    """The findings of an answer that no search was made for."""
    return Findings(
        AnswerRetrieval(
            mode=request.mode,
            k=request.k,
            score_gate=kb.config.rag.score_gate,
            top_score=None,
            evidence_gate=kb.config.rag.evidence_gate,
            chunks_returned=0,
            chunks_used=0,
            corpus_revision=kb.corpus_state().revision,
        )
    )
