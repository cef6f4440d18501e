"""The results of an engine → a ranking with equal scores in chunk_id order, at the cut too. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

# One more result for so many: BM25 rounds lengths, so that the last of a hundred mostly has an equal, and asking again costs as
# much as asking.
SPARE = 4


def by_score(scored: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Scored chunks, each once, as a ranking.

    >>> by_score([(9, 0.5), (7, 0.5), (8, 0.9)])
    [(8, 0.9), (7, 0.5), (9, 0.5)]
    """
    return sorted(scored, key=lambda row: (-row[1], row[0]))


def cut_ranking(find: Callable[[int], Iterable[tuple[int, float]]], depth: int) -> list[tuple[int, float]]:
    """The `depth` best results of an engine that does not define which of several equal scores it returns.

    find  returns the n best, or all where there are fewer. It is called for some more than `depth`, and again for more
          while the last result has the score of the last one kept: an equal with a lower chunk_id may follow
    """
    wanted = depth + depth // SPARE + 1
    while True:
        ranking = by_score(find(wanted))
        if len(ranking) < wanted or ranking[-1][1] < ranking[depth - 1][1]:
            return ranking[:depth]
        wanted *= 2
