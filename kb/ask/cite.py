"""The model's text and the packed markers → grounded or refused, and why. Pure.

What is checked here is the form of the citations, after kb/support/markers.py has read their other forms; whether the cited text supports the sentence is another question. A citation that stands is narrowed to the
lines that back it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ask.records import AnswerCitation
from kb.language.registry import pattern, says
from kb.llm.extractive_blocks import find_blocks
from kb.llm.extractive_inline import bare_title
from kb.records import Chunk, Citation
from kb.store.chunks import last_headings, make_citation
from kb.support.claims import find_claims
from kb.support.overlap import Window

# What a sentence quotes is not its own verdict.
_QUOTED = re.compile(r"[\"“「『][^\"”」』]{3,}[\"”」』]")


def has_refusal_phrase(text: str) -> bool:
    """True when the text says anywhere that the evidence does not suffice: without a marker that is its verdict."""
    return says("refusal", text, re.I)


def begins_with_refusal(text: str) -> bool:
    """True when the text begins with the sentence that the prompt asks a refusal for."""
    return pattern("verdict", text, re.I).match(text) is not None


def is_refusal(text: str, evidence: Sequence[str] = ()) -> bool:
    """True when the text is a verdict that the evidence does not suffice: it begins with the sentence the prompt asks for,
    or is one sentence that says so in other words. A marker in it changes nothing.

    evidence  the packed texts: a sentence that stands in one is no verdict on them, nor is what it quotes

    >>> is_refusal("I could not find anything about that in the evidence [#1].")
    True
    >>> is_refusal("The evidence does not say when. It was opened by Kim [#2].")
    False
    """
    claims = find_claims(text)
    if claims and any(_stands_in(claims[0].text, told) for told in evidence):
        return False
    if begins_with_refusal(text):
        return True
    # A sentence that says nothing else is a refusal, with a marker or without.
    return len(claims) == 1 and says("says_nothing", _QUOTED.sub(" ", claims[0].text), re.I)


def _stands_in(sentence: str, text: str) -> bool:
    return " ".join(sentence.casefold().strip(" .。").split()) in " ".join(text.casefold().split())


def narrow_citation(marker: int, chunk: Chunk, windows: Sequence[Window]) -> AnswerCitation:
    """The place that backs the sentences that cite a passage; the whole passage, without a quote, where nothing does."""
    backing = [window for window in windows if window.end > window.start]
    if not backing:
        return AnswerCitation(marker=marker, citation=chunk.citation, source=chunk.source, title=chunk.title)
    start, end = min(w.start for w in backing), max(w.end for w in backing)
    return AnswerCitation(
        marker=marker,
        citation=_place(chunk, start, end),
        quote=chunk.text[start:end],
        source=chunk.source,
        title=chunk.title,
    )


def _place(chunk: Chunk, start: int, end: int) -> Citation:
    place = chunk.citation
    if place.start_line is None:
        return place
    first = place.start_line + chunk.text.count("\n", 0, start)
    section = place.section
    if section == last_headings(chunk.heading_path):
        section = last_headings(_headings_at(chunk, start))
    return make_citation(place.path, first, first + chunk.text.count("\n", start, end), place.page, section)


def _headings_at(chunk: Chunk, start: int) -> tuple[str, ...]:
    """The headings above a place in a passage: it may be made of several sections, which share only the first of them."""
    above: list[tuple[int, str]] = []
    for block in find_blocks(chunk.text[:start]):
        if block.kind == "heading":
            above = [*((level, title) for level, title in above if level < block.level), (block.level, block.title)]
    titles = [title for _, title in above]
    known = [bare_title(title) for title in chunk.heading_path]
    kept = known.index(bare_title(titles[0])) if titles and bare_title(titles[0]) in known else len(known)
    return (*chunk.heading_path[:kept], *titles)
