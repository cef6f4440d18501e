"""A question's units and what was packed for it → what of it stands in no passage, and what is common in the corpus. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from kb.evidence.measure import Passage
from kb.evidence.question import Unit
from kb.evidence.standing import Standing, is_first_person
from kb.language.english import FUNCTION_WORDS

# The weight of a word that stands in one chunk of a hundred: the rarest word of a question counts as lacking from here on.
RARE = 0.55
# In a small corpus every word is in one chunk of a hundred: one in so few chunks is not common.
FEW = 3
# A name in this share of all chunks, and in so many, is what they are about.
EVERYWHERE, LEAST_HOLDING = 0.25, 25

_ABBREVIATION = re.compile(r"[A-Z]{2,5}")


def held_elsewhere(units: Sequence[Unit], gone: Collection[str], frequencies: Mapping[str, int]) -> tuple[str, ...]:
    """Of the units that no packed passage holds, those that chunks of the corpus do."""
    held = ((u.text, u.terms if u.is_run() else u.terms[:1]) for u in units if u.text in gone)
    return tuple(text for text, terms in held if all(frequencies.get(term) for term in terms))


def told_often(
    units: Sequence[Unit], weights: Sequence[float], frequencies: Mapping[str, int], count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is asked about and is common in the corpus, and what it is about.

    frequencies  how many of its `count` chunks hold each term
    """
    holding = [frequencies.get(unit.terms[0], 0) for unit in units]
    common = (u.text for u, w, n in zip(units, weights, holding, strict=True) if w < RARE and n > FEW)
    held = max(EVERYWHERE * count, LEAST_HOLDING)
    return tuple(common), tuple(u.text for u, n in zip(units, holding, strict=True) if n >= held)


def lacking(
    units: Sequence[Unit],
    weights: Sequence[float],
    texts: Sequence[str],
    passages: Sequence[Passage],
    frequencies: Mapping[str, int],
    *,
    is_korean: bool,
) -> tuple[tuple[str, ...], float, bool]:
    """What stands in no passage, in no form, of the names and numbers asked about, and of the weightiest unit; in their order.

    texts    of the passages, with titles and headings
    returns  and the share, by weight, of all units that stand in none, and whether it is a speech or a letter
    """
    standing = Standing(texts, frozenset[str]().union(*(passage.terms for passage in passages)))
    gone = [i for i, unit in enumerate(units) if not standing.holds(unit)]
    rarest = max(range(len(units)), key=lambda i: (weights[i], len(units[i].text), -i), default=-1)
    asked = [units[i] for i in gone if units[i].kind != "word" or (i == rarest and weights[i] >= RARE)]
    # In a small corpus "between" may be rare.
    asked = [unit for unit in asked if unit.text.lower() not in FUNCTION_WORDS]
    # Korean verbs are said in many forms, and abbreviations in Hangul, too (DB, 데이터베이스): of these only what no document holds.
    asked = [
        unit
        for unit in asked
        if not (unit.is_run() or (is_korean and _ABBREVIATION.fullmatch(unit.text)))
        or not any(frequencies.get(term) for term in unit.terms)
    ]
    is_spoken = is_first_person(texts)
    if is_spoken:
        # Who speaks is named by the question alone: "What did President Biden pledge?", of a speech.
        asked = [unit for unit in asked if not (unit.kind == "name" and unit.text.removesuffix("'s").istitle())]
    share = sum(weights[i] for i in gone) / (sum(weights) or 1.0)
    return tuple(unit.text for unit in asked), share, is_spoken


def gaps(
    units: Sequence[Unit], weights: Sequence[float], passages: Sequence[Passage]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands in no passage, the weightiest first, and the two weightiest units that stand in none together; empty otherwise."""
    order = sorted(range(len(units)), key=lambda i: (-weights[i], i))
    shown = {i: {n for n, p in enumerate(passages) if units[i].share_in(p.terms) > 0} for i in order}
    missing = tuple(units[i].text for i in order if not shown[i] and weights[i] > 0)
    pair = [i for i in order if shown[i]][:2]
    apart = len(pair) == 2 and not shown[pair[0]] & shown[pair[1]]
    return missing, tuple(units[i].text for i in pair) if apart else ()
