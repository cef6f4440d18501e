"""A greeting, thanks, or a farewell → one line in its language, stored as any answer is; nothing is searched for it.

Asserts nothing, cites nothing, asks no model. Kept apart from the pipeline so that a greeting does not wait for the
import of what it does not use.
"""

from __future__ import annotations

import re
import time

from kb.ask.persist import new_trace_id, save
from kb.ask.prompt import question_language
from kb.ask.records import Answer, AnswerRetrieval, AskRequest, Usage
from kb.ask.situation import Outlook, look_ahead, view
from kb.context.node_input import make_safe
from kb.context.nodes import read_nodes
from kb.knowledge_base import KnowledgeBase
from kb.llm.references import configured_reference
from kb.relevance.phrases import is_greeting, tells_of_user, tidy
from kb.store.documents import utc_text

# The first that is found in a courtesy says which it is; a greeting is asked for before thanks: "hi, thanks" is a greeting.
_KINDS = (
    ("farewell", re.compile(r"\b(?:(?:good ?)?bye|see (?:you|ya)|good ?night|gn|take care)\b|안녕히|잘 ?(?:가|있|자)|바이|또 ?봐|내일 봐|들어가세요")),
    ("thanks", re.compile(r"thank|thx|tnx|\bt(?:y|q|ysm)\b|cheers|appreciat|고마|고맙|감사|ㄱㅅ|ᄀᄉ|땡큐|쌩큐|수고")),
    ("sorry", re.compile(r"\bsorry\b|죄송|미안")),
)  # fmt: skip
# {name} is the user's, with what sets it off; empty without one.
_LINES = {
    "en": {
        "greeting": "Hello{name}! Ask me anything about your documents.",
        "welcome_back": "Welcome back{name}! Ask me anything about your documents.",
        "farewell": "Goodbye{name}!",
        "thanks": "You're welcome{name}.",
        "sorry": "No problem{name}.",
        "told": 'All right{name}. I keep what you tell me when you ask for it: kb remember "…"',
        "other": "All right{name}. Ask me anything about your documents.",
    },
    "ko": {
        "greeting": "안녕하세요{name}! 문서에 대해 무엇이든 물어보세요.",
        "welcome_back": "다시 오셨네요{name}! 문서에 대해 무엇이든 물어보세요.",
        "farewell": "안녕히 가세요{name}!",
        "thanks": "천만에요{name}.",
        "sorry": "괜찮습니다{name}.",
        "told": '네{name}, 알겠습니다. 기억해 두려면: kb remember "…"',
        "other": "네{name}, 알겠습니다. 문서에 대해 무엇이든 물어보세요.",
    },
}
_NAMED = {"en": ", {}", "ko": ", {} 님"}


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
    language = question_language(text)
    tidied = tidy(text)
    kind = next((kind for kind, pattern in _KINDS if pattern.search(tidied)), "other")
    if tells_of_user(text):
        kind = "told"
    elif is_greeting(tidied) and kind != "farewell":
        kind = "welcome_back" if returns else "greeting"
    return _LINES[language][kind].format(name=_NAMED[language].format(name) if name else "")
