"""A search's trace → how relevant each chunk of its ranking is, on one scale from 0 to 1.

A hybrid search's convex score is on that scale already. BM25 has no upper end and a rank says nothing about relevance, so
a threshold on either would mean something else in every mode.
"""

from __future__ import annotations

from collections.abc import Mapping

from kb.knowledge_base import KnowledgeBase
from kb.records import SearchMode, SearchTrace
from kb.search.bounds import background, best_possible
from kb.search.feedback import cosines_to
from kb.search.fuse import ceiling_of, combine_scores


def score_relevance(kb: KnowledgeBase, query: str, mode: SearchMode, trace: SearchTrace) -> Mapping[int, float]:
    """chunk_id → relevance in [0, 1], of the whole ranking.

    hybrid   the convex score, whatever fusion made the ranking
    lexical  BM25 over the best that any text could reach
    vector   the cosine; 0 for a negative one
    An index that does not say what a score could reach leaves the ranking's own scores, up to 1.
    """
    own = {row.chunk_id: min(1.0, max(0.0, row.score)) for row in trace.ranking}
    if mode == "vector" or (mode == "hybrid" and not is_fused_by_ranks(trace)):
        return own
    index = kb.lexical_index()
    if not index.abilities.has_bounds or (trace.vector and not kb.vector_index().abilities.has_bounds):
        return own
    terms = list(trace.query_terms)
    best_lexical, best_with_fields = best_possible(index.statistics(terms), terms)
    lexical = [(row.chunk_id, row.score) for row in trace.lexical]
    by_chance, share = 0.0, 0.0
    cosines: dict[int, float] = {}
    if trace.vector:
        vector, share = kb.encode_query(query), kb.config.search.vector_share
        by_chance = background(kb.vector_index().statistics(), vector)
        near = {row.chunk_id: row.score for row in trace.vector}
        cosines = cosines_to(vector, kb.stored_vectors(i for i, _ in lexical if i not in near)) | near
    scores = combine_scores(
        lexical,
        cosines,
        best_lexical=best_lexical,
        background=by_chance,
        vector_share=share,
        ceiling=ceiling_of(best_lexical, best_with_fields, share),
    )
    return dict(scores)


def is_fused_by_ranks(trace: SearchTrace) -> bool:
    """True for a hybrid ranking whose scores come from ranks: they order, and say nothing about relevance."""
    return trace.fusion is None or bool(trace.tags)
