"""Passages in order of preference → those that say something the ones before them have not: no block tells a thing twice. Pure.

Apart from the known text: copies of one page, a document beside its export, revisions, are found together by every search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from kb.normal_form import normalize
from kb.shingles import tokens_of

# Tokens of a shingle, and the share of a passage's shingles that another one has when it is a repetition: those of
# [novelty], whose settings are about the known text.
SHINGLE_TOKENS = 5
REPEATED = 0.85

T = TypeVar("T")


def without_repeats(passages: Iterable[tuple[T, str]], most: int) -> tuple[list[T], int]:
    """(the first `most` that repeat none before them, how many were passed over to get there).

    passages  (what it is, its text), best first
    """
    kept: list[T] = []
    told: list[frozenset[tuple[str, ...]]] = []
    repeated = 0
    for passage, text in passages:
        if len(kept) == most:
            break
        shingles = shingles_of(text)
        if any(len(shingles & other) >= REPEATED * len(shingles) for other in told):
            repeated += 1
            continue
        kept.append(passage)
        told.append(shingles)
    return kept, repeated


def shingles_of(text: str) -> frozenset[tuple[str, ...]]:
    """Every few tokens in a row; of a shorter text all of it."""
    tokens: Sequence[str] = tokens_of(normalize(text))
    size = min(SHINGLE_TOKENS, len(tokens))
    return frozenset(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))
