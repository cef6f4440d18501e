"""Two ranked lists → one: reciprocal rank fusion, normalized so that first in every list is 1.0.

Pure. A fused score orders hits and says nothing about relevance: the best of two bad lists scores at least 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence

Ranking = Sequence[tuple[int, float]]


def fuse_rankings(
    rankings: Sequence[Ranking], rrf_k: int = 60, weights: Sequence[float] | None = None
) -> list[tuple[int, float]]:
    """Normalized RRF: sum of w/(k + rank) over the lists, divided by the best any chunk could reach.

    rankings  each best first, as (chunk_id, score); of a chunk_id that stands twice in one list the better rank counts
    weights   one per list, 1.0 each when None
    returns   (chunk_id, score in [0, 1]), by score, then rank in the first list, then chunk_id
    source    Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, SIGIR 2009

    >>> fuse_rankings([[(7, 3.2), (8, 1.0)], [(8, 0.9)]])
    [(8, 0.9919354838709677), (7, 0.5)]
    """
    weights = weights or [1.0] * len(rankings)
    # Divide by the best score any chunk could reach, not by the best one seen: the score must mean the same across
    # queries, and dividing by the observed maximum would hand every query a perfect top hit.
    best_possible = sum(weights) / (rrf_k + 1)
    ranks = [ranks_of(ranking) for ranking in rankings]
    sums: dict[int, float] = {}
    for places, weight in zip(ranks, weights, strict=True):
        for chunk_id, rank in places.items():
            sums[chunk_id] = sums.get(chunk_id, 0.0) + weight / (rrf_k + rank)
    unranked = max((len(places) for places in ranks), default=0) + 1
    first = ranks[0] if ranks else {}
    order = sorted(sums, key=lambda chunk_id: (-sums[chunk_id], first.get(chunk_id, unranked), chunk_id))
    return [(chunk_id, sums[chunk_id] / best_possible) for chunk_id in order]


def ranks_of(ranking: Ranking) -> dict[int, int]:
    """chunk_id → 1-based rank; the better one where an id stands twice."""
    ranks: dict[int, int] = {}
    for position, (chunk_id, _) in enumerate(ranking, start=1):
        ranks.setdefault(chunk_id, position)
    return ranks
