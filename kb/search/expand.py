"""A query → the tags it is about → the passages of the documents that carry them, as one more ranked list.

The list knows documents, not passages: among those of one document, what the other lists found comes first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from kb.frozen import dataclass
from kb.records import Ranking
from kb.runtime import Runtime

# Tags of a query that are looked for, and how sure they must be: an exact name without context scores 1.0, with one above .5.
MOST_TAGS = 5
LEAST_SCORE = 0.5
# Weight of the list by tags in the fusion, against 1 for each of the others: of 0.25, 0.5 and 1 the best on the fixtures
# (benchmarks/README.md).
TAGS_WEIGHT = 0.25


@dataclass(frozen=True, slots=True)
class Expansion:
    """The tags a query was expanded by, best first, and the passages they lead to; both empty where there are none.

    weight  of this list in the fusion, against 1 for each of the others
    """

    tags: tuple[str, ...] = ()
    ranking: tuple[tuple[int, float], ...] = ()
    weight: float = 0.0


def expand_by_tags(
    kb: Runtime, query: str, rankings: Sequence[Ranking], documents: Collection[int] | None, depth: int
) -> Expansion:
    """Up to `depth` passages of documents that carry the query's tags, as (chunk_id, score), best first.

    rankings   the other lists, best first: they order the passages inside a document
    documents  only these; None for all
    """
    # Here, since every search would pay for them: 40 ms of a lexical search's 110.
    from kb.tags.retriever import suggest_for_query

    found = suggest_for_query(kb, query, MOST_TAGS)
    scores = {row.tag: row.score_combined for row in found if row.score_combined >= LEAST_SCORE}
    carried = kb.corpus.tags.documents_by_tag(list(scores))
    total = kb.corpus.count_documents()
    weights = weigh_documents(scores, carried, total)
    if documents is not None:
        allowed = set(documents)
        weights = {doc_id: weight for doc_id, weight in weights.items() if doc_id in allowed}
    ranked = rank_passages(weights, kb.corpus.chunk_ids_by_document(sorted(weights)), rankings)
    return Expansion(tuple(scores), tuple(ranked[:depth]), TAGS_WEIGHT)


def weigh_documents(
    scores: Mapping[str, float], carried: Mapping[str, Collection[int]], total: int
) -> dict[int, float]:
    """doc_id → sum of its tags' scores, each times how rare the tag is: ln(1 + documents / those that carry it)."""
    weights: dict[int, float] = {}
    for tag, doc_ids in carried.items():
        rarity = math.log(1 + total / len(doc_ids)) if doc_ids else 0.0
        for doc_id in doc_ids:
            weights[doc_id] = weights.get(doc_id, 0.0) + scores[tag] * rarity
    return weights


def rank_passages(
    weights: Mapping[int, float], chunks: Mapping[int, Sequence[int]], rankings: Sequence[Ranking]
) -> list[tuple[int, float]]:
    """Passages by their document's weight, then by their best rank in the other lists, then by chunk_id."""
    best: dict[int, int] = {}
    for ranking in rankings:
        for rank, (chunk_id, _) in enumerate(ranking, start=1):
            best[chunk_id] = min(rank, best.get(chunk_id, rank))
    unranked = max((len(ranking) for ranking in rankings), default=0) + 1
    rows = [(chunk_id, weight) for doc_id, weight in weights.items() for chunk_id in chunks.get(doc_id, ())]
    return sorted(rows, key=lambda row: (-row[1], best.get(row[0], unranked), row[0]))
