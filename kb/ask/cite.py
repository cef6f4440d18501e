"""The model's text and the packed markers → grounded or refused, and why. Pure.

Only `[#n]` counts as a marker: `[1]`, `[#1a]`, `[ #1 ]` and `vec![1]` are prose. What is checked here is the form of the
citations; whether the cited text supports the sentence is another question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ask.records import RefusalReason

_MARKER = re.compile(r"\[#(\d{1,3})\]")
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


def find_markers(text: str) -> list[int]:
    """Every marker's number, in order of first appearance, each once.

    >>> find_markers("A [#2]. B [#1][#2], not [3] or vec![1] or [#1a].")
    [2, 1]
    """
    return list(dict.fromkeys(int(n) for n in _MARKER.findall(text)))


def has_refusal_phrase(text: str) -> bool:
    """True when the text says, in English or Korean, that the evidence does not suffice."""
    return _REFUSALS.search(text) is not None


def begins_with_refusal(text: str) -> bool:
    """True when the text begins with the sentence that the prompt asks a refusal for."""
    return _VERDICT.match(text) is not None


def judge(text: str, packed_markers: Sequence[int]) -> tuple[bool, RefusalReason | None]:
    """(grounded, refusal reason) of a complete answer, by the form of its citations.

    Grounded: at least one marker, every marker stands for a packed passage, and it does not begin with the refusal
    that the prompt asks for. Everything else is the model's own refusal, a silent ungrounded answer included.
    """
    markers = find_markers(text)
    if markers and set(markers) <= set(packed_markers) and not begins_with_refusal(text):
        return True, None
    return False, "llm_self_judge"
