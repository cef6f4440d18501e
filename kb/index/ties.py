"""What an engine finds → a ranking in which equal scores fall to the chunk id, at the cut as well. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def by_score(scored: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Scored chunks, each once, as a ranking.

    >>> by_score([(9, 0.5), (7, 0.5), (8, 0.9)])
    [(8, 0.9), (7, 0.5), (9, 0.5)]
    """
    return sorted(scored, key=lambda row: (-row[1], row[0]))


def cut_ranking(find: Callable[[int], Iterable[tuple[int, float]]], depth: int) -> list[tuple[int, float]]:
    """The `depth` best of what an engine finds, where the engine leaves it open which of several equals it returns.

    find  the n best that there are, or all where there are fewer. It is asked for one more than `depth`, and again for
          more as long as the last one scores what the last one kept does: an equal with a lower chunk_id may follow.
    """
    wanted = depth + 1
    while True:
        ranking = by_score(find(wanted))
        if len(ranking) < wanted or ranking[-1][1] < ranking[depth - 1][1]:
            return ranking[:depth]
        wanted *= 2
