"""Candidates → one list: a convex combination of absolute scores, or reciprocal rank fusion. Pure.

The convex score is a share of what a passage could reach: of the query's words in its text, headings and title, weighed by
their rarity, and of the way from the corpus's mean cosine to identity. It grows with relevance and means the same for every
query of one corpus and encoder. An RRF score only orders: the best of two bad lists scores at least 0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kb.config import SearchConfig
from kb.records import FusionTrace, Ranking, SearchMode
from kb.search.feedback import Stacked, cosines_to, mix_in, share_for, stacked, weigh
from kb.search.records import Candidates, Fused

# The constant k of reciprocal rank fusion, as in the paper.
RRF_K = 60


def fuse(found: Candidates, mode: SearchMode, settings: SearchConfig) -> Fused:
    """The list that is shown, by relevance: one retriever's own, or both fused.

    Its relevance is the convex score, whatever the list is ordered by: of one retriever alone that score's own part.
    """
    if mode == "lexical":
        words = combine_found(found, {}, vector_share=0.0)
        return Fused(found, found.lexical, "bm25", _relevance(found, found.lexical, words), {})
    if mode == "vector":
        cosines = dict(found.vector)
        meaning = combine_scores((), cosines, best_lexical=0.0, background=found.background, vector_share=1.0)
        return Fused(found, found.vector, "cosine", _relevance(found, found.vector, meaning), cosines)
    return _fuse_both(found, settings)


def _fuse_both(found: Candidates, settings: SearchConfig) -> Fused:
    """Both lists fused. The list by tags joins by its ranks: it has no scale in common with BM25 and cosines."""
    pool = stacked(found.pool)
    # Of all that either retriever found and that has a vector.
    known = {} if found.query_vector is None else cosines_to(found.query_vector, pool)
    cosines = known | dict(found.vector)
    convex, trace = _rank_convex(found, cosines, pool, settings)
    is_convex = settings.fusion == "convex" and found.has_bounds
    lists, weights = ([convex], [2.0]) if is_convex else ([found.lexical, found.vector], [1.0, 1.0])  # 2: of two lists
    ranking, by_ranks = convex, not is_convex
    if found.tags.ranking and found.tags.weight:
        lists, weights, by_ranks = [*lists, found.tags.ranking], [*weights, found.tags.weight], True
    if by_ranks:
        ranking = fuse_rankings(lists, weights=weights)
    return Fused(
        candidates=found,
        ranking=ranking,
        kind="rrf" if by_ranks else "convex",
        relevance=_relevance(found, ranking, convex),
        cosines=cosines if is_convex else dict(found.vector),
        trace=trace if is_convex else None,
    )


def _relevance(found: Candidates, ranking: Ranking, convex: Ranking) -> dict[int, float]:
    """The convex score of every chunk of a ranking: 0 for what only the tags led to, which neither retriever found."""
    scores = dict(convex)
    return {chunk_id: scores.get(chunk_id, 0.0) for chunk_id, _ in ranking} if found.has_bounds else {}


def _rank_convex(
    found: Candidates, cosines: Mapping[int, float], pool: Stacked, settings: SearchConfig
) -> tuple[Ranking, FusionTrace]:
    """The convex fusion, with the best passages mixed into the query, and what it went by."""
    # Where no vector was searched for, words are the whole score.
    share = 0.0 if found.query_vector is None else settings.vector_share
    ranking = combine_found(found, cosines, share)
    ceiling = ceiling_of(found.best_lexical, found.best_with_fields, share)
    best = {i: weight for i, weight in weigh(ranking, settings.feedback_chunks).items() if i in found.pool}
    if best and found.query_vector is not None:
        passages = [(found.pool[i], weight) for i, weight in best.items()]
        mixture = mix_in(found.query_vector, passages, share_for(ranking[0][1] * ceiling, settings.feedback_weight))
        # A mixture is nearer to all passages than the query is: measured from the query's zero, meaning would weigh more.
        background = found.background if found.mean is None else float(mixture @ found.mean)
        ranking = combine_found(replace(found, background=background), cosines_to(mixture, pool), share)
    trace = FusionTrace(
        best_lexical=found.best_lexical,
        background=found.background,
        vector_share=share,
        ceiling=ceiling,
        feedback=tuple(best),
    )
    return ranking, trace


def combine_found(found: Candidates, cosines: Mapping[int, float], vector_share: float) -> Ranking:
    """`combine_scores` of what was found, with its bounds."""
    return combine_scores(
        found.lexical,
        cosines,
        best_lexical=found.best_lexical,
        background=found.background,
        vector_share=vector_share,
        ceiling=ceiling_of(found.best_lexical, found.best_with_fields, vector_share),
    )


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
    cosines       chunk_id → cosine to the query, of every chunk that either retriever found; one that has no vector yet
                  counts as others with as many of the query's words do
    best_lexical  the BM25 that no text could pass for this query
    background    mean cosine of the query to all chunks
    ceiling       what the sum could reach at most, see `ceiling_of`: one number for the whole list
    returns       (chunk_id, score in [0, 1]), best first; equals by rank in the lexical list, then chunk_id
    source        Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023, who normalize by
                  the theoretical minimum and the best score seen; by the best possible one, a query that few words match
                  leaves the order to the vectors, and the score keeps its meaning between queries

    >>> found = combine_scores([(7, 3.0)], {7: 0.5, 8: 0.6}, best_lexical=6.0, background=0.2, vector_share=0.5)
    >>> [(chunk_id, round(score, 4)) for chunk_id, score in found]
    [(7, 0.4375), (8, 0.25)]
    """
    words = {chunk_id: bm25 / best_lexical for chunk_id, bm25 in lexical} if best_lexical > 0 else {}
    room = max(1.0 - background, 1e-6)
    meaning: dict[int, float] = {}
    for chunk_id, cosine in cosines.items():
        share = (cosine - background) / room
        meaning[chunk_id] = 0.0 if share < 0 else min(share, 1.0)
    if any(chunk_id not in meaning for chunk_id in words):
        expected = _expected_meaning(words, meaning)
        meaning |= {chunk_id: expected(share) for chunk_id, share in words.items() if chunk_id not in meaning}
    places = ranks_of(lexical)
    unranked = len(places) + 1
    rows = [
        (-((1 - vector_share) * words.get(i, 0.0) + vector_share * share), places.get(i, unranked), i)
        for i, share in meaning.items()
    ]
    return [(chunk_id, min(1.0, -score / ceiling)) for score, _, chunk_id in sorted(rows)]


def _expected_meaning(words: Mapping[int, float], meaning: Mapping[int, float]) -> Callable[[float], float]:
    """The share of its words that a passage matches → the cosine's part it would have, for one that has no vector yet.

    The line of least squares through the query's passages that have both, where it rises; without any, the share itself.
    Of Cranfield with half of its vectors (benchmarks/half_embedded.py) this finds .423 nDCG@10, the share itself .406, and
    0 .352, which is less than words alone (.395).
    """
    both = [(words[i], meaning[i]) for i in words if i in meaning]
    if not both:
        return lambda share: share
    mean_x, mean_y = (sum(column) / len(both) for column in zip(*both, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in both)
    slope = max(0.0, sum((x - mean_x) * (y - mean_y) for x, y in both) / spread) if spread > 0 else 0.0
    return lambda share: min(1.0, max(0.0, mean_y + slope * (share - mean_x)))


def ceiling_of(best_lexical: float, best_with_fields: float, vector_share: float) -> float:
    """What a convex sum could reach for a passage whose title and headings say the words as well: 1 or more.

    Without it a word that stands in a heading would carry every passage under it to the top of the scale.
    """
    return (1 - vector_share) * max(1.0, best_with_fields / best_lexical) + vector_share if best_lexical > 0 else 1.0


def fuse_rankings(
    rankings: Sequence[Ranking], rrf_k: int = RRF_K, weights: Sequence[float] | None = None
) -> list[tuple[int, float]]:
    """Normalized RRF: sum of w/(k + rank) over the lists, divided by the best any chunk could reach.

    rankings  each best first, as (chunk_id, score); of a chunk_id that stands twice in one list the better rank counts
    weights   one per list, 1.0 each when None
    returns   (chunk_id, score in [0, 1]), by score, then rank in the first list, then chunk_id
    source    Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, SIGIR 2009

    >>> [(chunk_id, round(score, 4)) for chunk_id, score in fuse_rankings([[(7, 3.2), (8, 1.0)], [(8, 0.9)]])]
    [(8, 0.9919), (7, 0.5)]
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
