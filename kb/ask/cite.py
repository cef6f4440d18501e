"""The model's text and the packed markers → grounded or refused, and why. Pure.

Only `[#n]` counts as a marker: `[1]`, `[#1a]`, `[ #1 ]` and `vec![1]` are prose. What is checked here is the form of the
citations; whether the cited text supports the sentence is another question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ask.records import RefusalReason
from kb.support.claims import MARKER, find_claims

# Phrases a model refuses with; found anywhere in an answer without a marker they are its verdict.
_REFUSALS = re.compile(
    r"근거(?:가|이|는)?\s*(?:부족|불충분|없)"
    r"|\bevidence\s+(?:\w+\s+){0,3}?(?:is|are|was)\s+(?:not\s+sufficient|insufficient|not\s+enough)\b"
    r"|\b(?:insufficient|not\s+enough|no)\s+evidence\b",
    re.IGNORECASE,
)
# The sentence the prompt asks a refusal for, at the beginning: a verdict whatever follows, a marker included.
_VERDICT = re.compile(
    r"[\W_]*(?:근거(?:가|는)?\s*(?:부족|불충분)|the\s+evidence\s+is\s+(?:insufficient|not\s+sufficient))", re.I
)
# Other ways of saying so; an answer that says nothing else is a refusal, with a marker or without.
_SAYS_NOTHING = re.compile(
    r"\b(?:evidence|context|passages?|documents?|texts?|sources?|information|knowledge\s+base|excerpts?)\b[^.]{0,40}?"
    r"\b(?:do|does|did|is|are)(?:\s+not|n['’]t)\s+(?:\w+\s+)?(?:contain|mention|provide|specify|say|include|cover|state|address"
    r"|answer|give|describe|discuss|enough|sufficient)"
    r"|\b(?:I|we)\s+(?:\w+\s+)?(?:could\s+not|couldn['’]t|can\s?not|can['’]t|was\s+not\s+able|am\s+(?:not\s+able|unable)|do\s+not|don['’]t)"
    r"\s+(?:to\s+)?(?:find|answer|determine|know|tell|locate)"
    r"|\bthere\s+(?:is|was|are)\s+(?:no|not\s+enough|insufficient)\s+(?:\w+\s+)?(?:information|mention|details?|data)\b"
    r"|\b(?:cannot|can\s+not|can['’]t)\s+be\s+(?:answered|determined)\b"
    r"|(?:정보|내용|언급|설명|답|기록)[은는이가도를을]?\s*(?:포함되어\s*있지\s*)?(?:없|않|찾을\s*수\s*없|나와\s*있지\s*않)"
    r"|(?:답할|답변할|알|찾을|확인할|판단할)\s*수(?:가|는)?\s*없"
    r"|(?:답|답변)하기\s*어렵",
    re.I,
)


def find_markers(text: str) -> list[int]:
    """Every marker's number, in order of first appearance, each once.

    >>> find_markers("A [#2]. B [#1][#2], not [3] or vec![1] or [#1a].")
    [2, 1]
    """
    return list(dict.fromkeys(int(n) for n in MARKER.findall(text)))


def has_refusal_phrase(text: str) -> bool:
    """True when the text says, in English or Korean, that the evidence does not suffice."""
    return _REFUSALS.search(text) is not None


def begins_with_refusal(text: str) -> bool:
    """True when the text begins with the sentence that the prompt asks a refusal for."""
    return _VERDICT.match(text) is not None


def is_refusal(text: str) -> bool:
    """True when the text is a verdict that the evidence does not suffice: it begins with the sentence the prompt asks for,
    or is one sentence that says so in other words. A marker in it changes nothing.

    >>> is_refusal("I could not find anything about that in the evidence [#1].")
    True
    >>> is_refusal("The evidence does not say when. It was opened by Kim [#2].")
    False
    """
    if begins_with_refusal(text):
        return True
    claims = find_claims(text)
    return len(claims) == 1 and _SAYS_NOTHING.search(claims[0].text) is not None


def judge_citations(text: str, packed_markers: Sequence[int]) -> tuple[bool, RefusalReason | None]:
    """(grounded, refusal reason) of a complete answer, by the form of its citations.

    Grounded: at least one marker, every marker stands for a packed passage, and it is no refusal. Everything else is the model's own refusal, a silent ungrounded answer included.
    """
    markers = find_markers(text)
    if markers and set(markers) <= set(packed_markers) and not is_refusal(text):
        return True, None
    return False, "llm_self_judge"
