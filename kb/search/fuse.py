"""Two retrievers' lists → one: a convex combination of absolute scores, or reciprocal rank fusion. Pure.

The convex score is a share of what a passage could reach: of the query's words in its text, headings and title, weighed by
their rarity, and of the way from the corpus's mean cosine to identity. It grows with relevance and means the same for every query of one corpus and
encoder. An RRF score only orders: the best of two bad lists scores at least 0.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.records import Ranking


def combine_scores(
    lexical: Ranking,
    cosines: Mapping[int, float],
    *,
    best_lexical: float,
    background: float,
    vector_share: float,
    ceiling: float = 1.0,
) -> list[tuple[int, float]]:
    """(1 − vector_share) · BM25 / best_lexical + vector_share · (cosine − background) / (1 − background), over the ceiling.

    lexical       best first, as (chunk_id, BM25)
    cosines       chunk_id → cosine to the query, of every chunk that either retriever found; one without counts 0
    best_lexical  the BM25 that no text could pass for this query
    background    mean cosine of the query to all chunks
    ceiling       what the sum could reach at most, see `ceiling_of`: one number for the whole list
    returns       (chunk_id, score in [0, 1]), best first; equals by rank in the lexical list, then chunk_id
    source        Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023, who normalize by
                  the theoretical minimum and the best score seen; by the best possible one, a query that few words match
                  leaves the order to the vectors, and the score keeps its meaning between queries

    >>> combine_scores([(7, 3.0)], {7: 0.5, 8: 0.6}, best_lexical=6.0, background=0.2, vector_share=0.5)
    [(7, 0.4375), (8, 0.25)]
    """
    words = {chunk_id: bm25 / best_lexical for chunk_id, bm25 in lexical} if best_lexical > 0 else {}
    room = max(1.0 - background, 1e-6)
    meaning = {chunk_id: min(1.0, max(0.0, (cosine - background) / room)) for chunk_id, cosine in cosines.items()}
    scores = {
        i: (1 - vector_share) * words.get(i, 0.0) + vector_share * meaning.get(i, 0.0) for i in {**words, **meaning}
    }
    places = ranks_of(lexical)
    order = sorted(scores, key=lambda i: (-scores[i], places.get(i, len(places) + 1), i))
    return [(chunk_id, min(1.0, scores[chunk_id] / ceiling)) for chunk_id in order]


def ceiling_of(best_lexical: float, best_with_fields: float, vector_share: float) -> float:
    """What a convex sum could reach for a passage whose title and headings say the words as well: 1 or more.

    Without it a word that stands in a heading would carry every passage under it to the top of the scale.
    """
    return (1 - vector_share) * max(1.0, best_with_fields / best_lexical) + vector_share if best_lexical > 0 else 1.0


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
