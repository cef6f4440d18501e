"""A sentence and the texts it cites → the share of it that they hold, and in which lines. Pure.

Content words are compared as index terms; derivations, hyphens and acronyms match too. The best window is the shortest run
of sentences of one text that holds most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from kb.frozen import dataclass
from kb.language.english import LIGHT_WORDS
from kb.text import STOP_WORDS, analyze, split_sentences

# In a longer window, a whole paragraph, the same words are little evidence.
WINDOW_SENTENCES = 3
# A window must hold so much more of the claim for each added sentence.
WINDOW_COST = 0.03
# Longer units are cut at line ends: code, logs, text extracted without punctuation.
LONGEST_UNIT_CHARS = 600
# A derivation shares at least so many letters and so much of the shorter word with its root (educate, education).
PREFIX_CHARS, PREFIX_SHARE = 5, 0.7
DERIVED = 0.8
# Two neighbouring words of a claim count as a pair where they stand within this many terms of each other.
PAIR_REACH = 4
LIGHT = 0.35
EXACT = 1.5
_BREAK = re.compile(r"\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-*+•>|]|\d{1,3}[.)]\s|#{1,6}\s|```|~~~))|(?<=\|)[ \t]*\n")
_LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Window:
    """A run of sentences of one text.

    start, end  [start, end) offsets into the text
    said        share of the claim's weight that it holds, in [0, 1]
    """

    start: int
    end: int
    said: float


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence of a text: its place and its index terms in order."""

    start: int
    end: int
    terms: tuple[str, ...]


@lru_cache(maxsize=1024)
def units_of(text: str) -> tuple[Unit, ...]:
    """The sentences of a passage; list items, table rows and long lines are units of their own."""
    units: list[Unit] = []
    begin = 0
    for end in [*(match.start() for match in _BREAK.finditer(text)), len(text)]:
        for start, stop in split_sentences(text[begin:end]):
            units.extend(_cut(text, begin + start, begin + stop))
        begin = end
    return tuple(units)


def _cut(text: str, start: int, end: int) -> list[Unit]:
    if end - start <= LONGEST_UNIT_CHARS or "\n" not in text[start:end]:
        return [Unit(start, end, tuple(analyze(text[start:end])))]
    lines: list[Unit] = []
    for match in re.finditer(r"[^\n]*\S[^\n]*", text[start:end]):
        a, b = start + match.start(), start + match.end()
        lines.append(Unit(a, b, tuple(analyze(text[a:b]))))
    return lines


@lru_cache(maxsize=2048)
def weights_of(claim: str) -> tuple[tuple[str, float], ...]:
    """(term, weight) of a claim's content words, in order of first appearance; all of its words when it has no other."""
    stop, light = _stemmed()
    terms = list(dict.fromkeys(analyze(claim)))
    content = [term for term in terms if term not in stop] or terms
    exact = {term for word in re.findall(r"\w*[A-Z0-9]\w*", claim) for term in analyze(word)}
    return tuple(
        (
            term,
            EXACT
            if any(c.isdigit() for c in term) or (term in exact and term not in light)
            else LIGHT
            if term in light
            else 1.0,
        )
        for term in content
    )


def is_light(word: str) -> bool:
    """True for a word of no particular topic: However, According."""
    return not frozenset(analyze(word)).isdisjoint(_stemmed()[1])


@lru_cache(maxsize=1)
def _stemmed() -> tuple[frozenset[str], frozenset[str]]:
    return _stems(STOP_WORDS), _stems(LIGHT_WORDS)


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(term for word in words for term in analyze(word))


def likeness(term: str, said: frozenset[str], joined: str) -> float:
    """1 for a term that the text holds, DERIVED for one it holds in a derived form, else 0.

    joined  the first letters of the text's capitalised words, for acronyms
    """
    if term in said:
        return 1.0
    if not _LETTERS.search(term) or not term.isascii():
        return 0.0
    if 2 <= len(term) <= 6 and term in joined:
        return 1.0
    if len(term) < PREFIX_CHARS:
        return 0.0
    for other in said:
        if other[0] == term[0] and len(other) >= PREFIX_CHARS - 1 and _is_derived(term, other):
            return DERIVED
    return 0.0


def _is_derived(one: str, other: str) -> bool:
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    shorter = min(len(one), len(other))
    return shared >= PREFIX_CHARS - 1 and shared >= PREFIX_SHARE * max(len(one), len(other)) and shared >= shorter - 3


@lru_cache(maxsize=1024)
def initials_of(text: str) -> str:
    """First letters of runs of capitalised words, lower case, runs apart: for "NASA" in a text that spells it out."""
    runs = re.findall(r"(?:[A-Z]\w+(?:[\s-]+(?:of|and|the|for|on|in)\b)?[\s-]*){2,}", text)
    return " ".join("".join(word[0] for word in re.findall(r"\b[A-Z]", run)).lower() for run in runs)


def said_share(weights: Sequence[tuple[str, float]], terms: Sequence[str], joined: str) -> float:
    """Share of a claim's weight that terms hold, in [0, 1]."""
    said = frozenset(terms)
    total = sum(weight for _, weight in weights)
    return sum(weight * likeness(term, said, joined) for term, weight in weights) / total if total else 0.0


def best_window(claim: str, text: str) -> Window:
    """The run of at most WINDOW_SENTENCES sentences that holds most of a claim; (0, 0) for a text without words."""
    weights, units, joined = weights_of(claim), units_of(text), initials_of(text)
    if not units:
        return Window(0, 0, 0.0)
    total = sum(weight for _, weight in weights) or 1.0
    said = [_said_by(weights, unit, joined) for unit in units]
    best, best_score = Window(units[0].start, units[0].end, 0.0), -1.0
    for first in range(len(units)):
        reached = [0.0] * len(weights)
        for last in range(first, min(first + WINDOW_SENTENCES, len(units))):
            reached = [max(a, b) for a, b in zip(reached, said[last], strict=True)]
            share = sum(w * r for (_, w), r in zip(weights, reached, strict=True)) / total
            score = share - WINDOW_COST * (last - first)
            if score > best_score + 1e-9:
                best, best_score = Window(units[first].start, units[last].end, share), score
    return best


def _said_by(weights: Sequence[tuple[str, float]], unit: Unit, joined: str) -> list[float]:
    said = frozenset(unit.terms)
    return [likeness(term, said, joined) for term, _ in weights]


def pair_share(claim: str, texts: Sequence[str]) -> float:
    """Share of a claim's neighbouring content words that stand near each other in a text, in [0, 1]."""
    content = [term for term, _ in weights_of(claim)]
    order = [term for term in analyze(claim) if term in set(content)]
    pairs = list(pairwise(order))
    if not pairs:
        return 0.0
    near: set[tuple[str, str]] = set()
    wanted = set(order)
    for text in texts:
        terms = [term for unit in units_of(text) for term in unit.terms]
        kept = [term for term in terms if term not in _stemmed()[0]]
        for at, term in enumerate(kept):
            if term in wanted:
                for other in kept[at + 1 : at + 1 + PAIR_REACH]:
                    near.add((term, other))
                    near.add((other, term))
    return sum(pair in near for pair in pairs) / len(pairs)
