"""The model's text and the packed markers → grounded or refused, and why. Pure.

Only `[#n]` counts as a marker: `[1]`, `[#1a]`, `[ #1 ]` and `vec![1]` are prose. What is checked here is the form of the
citations; whether the cited text supports the sentence is another question. A citation that stands is narrowed to the
lines that back it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ask.records import AnswerCitation, RefusalReason
from kb.language.registry import pattern, says
from kb.records import Chunk, Citation
from kb.store.chunks import make_citation
from kb.support.claims import MARKER, find_claims
from kb.support.overlap import Window


def find_markers(text: str) -> list[int]:
    """Every marker's number, in order of first appearance, each once.

    >>> find_markers("A [#2]. B [#1][#2], not [3] or vec![1] or [#1a].")
    [2, 1]
    """
    return list(dict.fromkeys(int(n) for n in MARKER.findall(text)))


def has_refusal_phrase(text: str) -> bool:
    """True when the text says anywhere that the evidence does not suffice: without a marker that is its verdict."""
    return says("refusal", text, re.I)


def begins_with_refusal(text: str) -> bool:
    """True when the text begins with the sentence that the prompt asks a refusal for."""
    return pattern("verdict", text, re.I).match(text) is not None


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
    # A sentence that says nothing else is a refusal, with a marker or without.
    return len(claims) == 1 and says("says_nothing", claims[0].text, re.I)


def judge_citations(text: str, packed_markers: Sequence[int]) -> tuple[bool, RefusalReason | None]:
    """(grounded, refusal reason) of a complete answer, by the form of its citations.

    Grounded: at least one marker, every marker stands for a packed passage, and it is no refusal. Everything else counts as
    the model's own refusal, an answer without a marker too.
    """
    markers = find_markers(text)
    if markers and set(markers) <= set(packed_markers) and not is_refusal(text):
        return True, None
    return False, "llm_self_judge"


def narrow_citation(marker: int, chunk: Chunk, windows: Sequence[Window]) -> AnswerCitation:
    """The place that backs the sentences that cite a passage; the whole passage, without a quote, where nothing does."""
    backing = [window for window in windows if window.end > window.start]
    if not backing:
        return AnswerCitation(marker=marker, citation=chunk.citation)
    start, end = min(w.start for w in backing), max(w.end for w in backing)
    return AnswerCitation(marker=marker, citation=_place(chunk, start, end), quote=chunk.text[start:end])


def _place(chunk: Chunk, start: int, end: int) -> Citation:
    place = chunk.citation
    if place.start_line is None:
        return place
    first = place.start_line + chunk.text.count("\n", 0, start)
    return make_citation(place.path, first, first + chunk.text.count("\n", start, end), place.page, place.section)
