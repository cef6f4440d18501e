"""A context's token budget → its three shares, and what goes into each: whole, shortened or not at all. Pure.

The split is 60 % passages, 30 % graph paths, 10 % what stands around them. A share is a bound, not a promise:
what one section leaves unused stays unused, unless `context.lend_unused` hands it to the passages. Lengths are measured on
the text as it will stand there, so that nothing is over whatever the tokenizer does at joints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from kb.frozen import dataclass

CountTokens = Callable[[str], int]
T = TypeVar("T")

# Percent of the budget, as published.
CHUNKS_PERCENT, GRAPH_PERCENT, OVERHEAD_PERCENT = 60, 30, 10
# Between passages stands a blank line, between paths none.
PASSAGE_GAP, PATH_GAP = "\n\n", "\n"


@dataclass(frozen=True, slots=True)
class Shares:
    """Tokens that each section may take; they never sum to more than the budget."""

    chunks: int
    graph: int
    overhead: int


def split_budget(max_tokens: int) -> Shares:
    """The shares of a budget, rounded down.

    >>> split_budget(500)
    Shares(chunks=300, graph=150, overhead=50)
    """
    return Shares(*(max_tokens * percent // 100 for percent in (CHUNKS_PERCENT, GRAPH_PERCENT, OVERHEAD_PERCENT)))


def fill(
    offers: Sequence[T],
    room_tokens: int,
    count: CountTokens,
    render: Callable[[T], str],
    shorten: Callable[[T, Callable[[T], bool]], T | None] = lambda offer, fits: None,
    gap: str = PASSAGE_GAP,
) -> list[T]:
    """Take offers in order while they fit; one that does not is shortened, or passed over.

    shorten  (offer, whether a form of it fits) → a shorter form that fits, None where there is none worth showing; asked
             until it has given one: a section of clippings helps nobody
    returns  what was taken, in the order of the offers
    """
    taken: list[T] = []
    text = ""
    may_shorten = True

    def fits(offer: T) -> bool:
        return count(_join(text, render(offer), gap)) <= room_tokens

    for offer in offers:
        chosen: T | None = offer
        if not fits(offer):
            chosen = shorten(offer, fits) if may_shorten else None
            may_shorten = may_shorten and chosen is None
        if chosen is not None:
            taken.append(chosen)
            text = _join(text, render(chosen), gap)
    return taken


def _join(before: str, more: str, gap: str) -> str:
    return f"{before}{gap}{more}" if before else more
