"""A greeting, thanks, or a farewell → one line in its language; nothing is searched for it.

Asserts nothing, cites nothing, asks no model.
"""

from __future__ import annotations

import re

from kb.ask.prompt import question_language
from kb.ask.stages import Ended, Question
from kb.ask.without_documents import nothing_searched
from kb.context.occasion import make_safe
from kb.knowledge_base import KnowledgeBase
from kb.relevance.phrases import is_greeting, tells_of_user, tidy

# The first that is found in small talk says which it is; a greeting is asked for before thanks: "hi, thanks" is a greeting.
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


def answer_small_talk(kb: KnowledgeBase, question: Question) -> Ended | None:
    """One line for a question whose mode needs no document; None for every other question."""
    if question.decision is None or question.decision.needs_retrieval():
        return None
    nodes = question.decision.read_without_hits()
    spoken = {text.node for text in nodes if text.text}
    name = kb.config.profile.name if "user_traits" in spoken else ""
    asked = question.request.question
    return Ended(
        question=question,
        findings=nothing_searched(kb, question.request),
        text=small_talk_line(asked, make_safe(name), returns="warm_return_hint" in spoken),
        nodes=nodes,
    )


def small_talk_line(text: str, name: str = "", *, returns: bool = False) -> str:
    """The reply to small talk, in its language.

    >>> small_talk_line("Hey!"), small_talk_line("고마워요", "민지")
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
