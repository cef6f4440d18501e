"""How strongly a claim says a thing → the words of strength that nothing near it in the texts has: "must", "only", "always". Pure.

Where a sentence of the same matter has another strength, kb/support/contrast.py holds the one against the other. Here the texts
tell the thing and say nothing of how strongly: "you can link to a page" is no "every employee must link to a page".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from kb.language import english_contrasts, korean_contrasts
from kb.support.clauses import content_of, shared

# Sentences that hold this share of a claim's words speak of it; where none does, the nearest does.
OF_IT = 0.3


def unsaid_strength(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """Words for a message, one for each word of strength that the texts do not have.

    sentences  of all that is cited

    >>> list(unsaid_strength("Only a keeper may light the lamp.", ["A keeper may light the lamp."]))
    ["'Only' is not said there"]
    >>> list(unsaid_strength("You must light the lamp.", ["Light the lamp at dusk."]))
    []
    """
    found = [(match.group().strip(), excuse) for strong, excuse in _patterns() if (match := strong.search(claim))]
    if not found:
        return
    content = content_of(claim)
    scored = [(shared(content, content_of(sentence)), sentence) for sentence in sentences]
    best = max((score for score, _ in scored), default=0.0)
    near = [sentence for score, sentence in scored if score >= min(OF_IT, best)]
    for said, excuse in found:
        if near and not any(excuse.search(sentence) for sentence in near):
            yield f"'{said}' is not said there"


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """(what a strong claim has, what lets it be as strong), of both languages."""
    return tuple(
        (re.compile(strong, re.I), re.compile(excuse, re.I | re.M))
        for table in (english_contrasts.STRENGTH, korean_contrasts.STRENGTH)
        for strong, excuse in table
    )
