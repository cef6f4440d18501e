"""A question about the difference of two things → the sentences that say what each of them is. Pure.

Few documents say how two things differ; most say what each is, below its own heading or as an item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from kb.llm.extractive_choice import BY_LOGIT, Choice, as_read, holds, quotes_of
from kb.llm.extractive_quote import Quote
from kb.llm.extractive_rank import Asked, Candidate, asked_terms, instructs, leans, points_elsewhere, says_what_is
from kb.llm.protocol import Read
from kb.text import analyze

# Shorter items say "yes" or name something.
LEAST_ITEM_WORDS = 4
# A reader's logit below this finds that a quote does not say what a thing is.
LEAST_LOGIT = 1.0
# What the score of a sentence, as an answer to the whole question, adds.
BY_SCORE = 0.4

# "Props are …" in a list: what stands before the colon, dash or bracket of an item.
_ITEM = re.compile(r"\W*(?P<term>.{1,60}?)(?:\s*[:：–—(]|\s+-\s)")
_EMPHASIS = re.compile(r"[*_`]")
# How a sentence says that one thing is not as the other.
_CONTRASTS = re.compile(
    r"\b(?:differences?|differs?|unlike|whereas|except that|in contrast|contrary to|as opposed to)\b|차이|달리|반면|다르|다릅",
    re.I,
)


class QuoteFor(Protocol):
    """The quote for a sentence, as a question needs it."""

    def __call__(self, candidate: Candidate, asked: Asked) -> Quote: ...


def contrasts(asked: Asked, candidate: Candidate) -> bool:
    """True for a sentence that says how the two differ."""
    if not asked.sides or not _CONTRASTS.search(candidate.text):
        return False
    one, other = asked.sides
    return one | other <= set(analyze(candidate.text))


def tell_sides(
    asked: Asked,
    candidates: Sequence[Candidate],
    scores: Sequence[float | None],
    quote_for: QuoteFor,
    read: Read | None,
) -> list[Choice | None]:
    """A quote of what each of the two is, in the order of the question, None where none is found; empty for every other question.

    scores  of the candidates, as answers to the whole question
    read    None chooses without a reader
    """
    # A paragraph or an item of each, not the sections.
    short = replace(asked, wants_fact=True, wants_steps=False)
    found: list[Choice | None] = []
    for name, forms in zip(asked.things, forms_of(asked), strict=True) if asked.things else ():
        own = [at for at, candidate in enumerate(candidates) if says_of(forms, candidate)]
        order = sorted(own, key=lambda at: (-(scores[at] or 0.0), at))
        choices = quotes_of(candidates, scores, order, partial(quote_for, asked=short))
        found.append(choose_told(read if asked.is_english else None, f"What is {name}?", choices, candidates))
    return found


def choose_told(
    read: Read | None, question: str, choices: Sequence[Choice], candidates: Sequence[Candidate]
) -> Choice | None:
    """The quote that says best what a thing is, None where a reader finds that none does."""
    logits = read(question, [as_read(candidates[c.at], c.quote) for c in choices]) if read and choices else None
    if not logits:
        return choices[0] if choices else None
    best = max(range(len(choices)), key=lambda i: (BY_SCORE * choices[i].score + BY_LOGIT * logits[i], -i))
    return choices[best] if logits[best] >= LEAST_LOGIT else None


def quote_each(
    asked: Asked, candidates: Sequence[Candidate], told: Sequence[Choice | None], chosen: Choice
) -> list[Choice]:
    """The quotes of what each of the two is, or one that holds both; empty where one is not told, or the chosen quote tells both.

    told  what `tell_sides` found
    """
    own = [each for each in told if each is not None]
    if len(own) < 2 or all(holds(chosen, candidates, candidates[each.at]) for each in own):
        return []
    if not asked.is_english:  # of four pairs that kb would show, two were worse than the one quote and one better
        return []
    one, other = own
    return [one] if holds(one, candidates, candidates[other.at]) else own


def sides_beside(
    asked: Asked,
    candidates: Sequence[Candidate],
    scores: Sequence[float | None],
    told: Sequence[Choice | None],
    shown: str,
) -> list[Candidate]:
    """Of the two, a sentence about each that the text shown does not name: what says what it is, or else the best that names it."""
    named = set(analyze(shown))
    found = []
    for n, side in enumerate(asked.sides):
        if side & named:
            continue
        own = told[n] if n < len(told) else None
        naming = [
            at
            for at, candidate in enumerate(candidates)
            if candidate.kind in ("prose", "list") and side <= set(analyze(candidate.text))
        ]
        best = own.at if own else max(naming, key=lambda at: (scores[at] or 0.0, -at), default=None)
        if best is not None and candidates[best] not in found:
            found.append(candidates[best])
    return found


def forms_of(asked: Asked) -> list[frozenset[frozenset[str]]]:
    """The index terms by which a text may name each of the two.

    Of "poetry install" and "poetry update" the sections may be called "install" and "update"; "before and after validators" are "before
    validators" and "after validators".
    """
    one, other = asked.sides
    forms = []
    for side, beside, is_first in ((one, other, True), (other, one, False)):
        own = {side, side - beside or side}
        if is_first and len(side) == 1:
            own.add(side | frozenset(asked_terms(asked.things[1].split()[-1])))
        forms.append(frozenset(own))
    return forms


def says_of(forms: frozenset[frozenset[str]], candidate: Candidate) -> bool:
    """True for a sentence that says what a thing is: by its own words, as an item of its name, or first below a heading of its name.

    forms  the thing's index terms, as texts may name it
    """
    if candidate.kind not in ("prose", "list") or candidate.text.rstrip().endswith("?"):
        return False
    plain = _EMPHASIS.sub("", candidate.text)
    item = _ITEM.match(plain) if candidate.kind == "list" else None
    if item and not plain.lstrip().startswith("--") and frozenset(asked_terms(item["term"])) in forms:
        return len(plain[item.end() :].split()) >= LEAST_ITEM_WORDS
    if leans(plain) or points_elsewhere(plain):
        return False
    if any(says_what_is(form, plain) for form in forms):
        return True
    title = candidate.heading.rpartition(" > ")[2]
    is_use = instructs(plain) or plain.startswith("To ")
    return candidate.opens and not is_use and _is_title(forms, asked_terms(title) if title else [])


def _is_title(forms: frozenset[frozenset[str]], title: Sequence[str]) -> bool:
    """True for a thing's own heading, or one with a word more behind its first: "Supplemental package sources"."""
    return frozenset(title) in forms or any(
        bool(title) and title[0] in form and form < frozenset(title) and len(title) == len(form) + 1
        for form in forms
        if len(form) > 1
    )
