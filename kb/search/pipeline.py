"""A search request → ranked hits with exact citations: filters → retrieve → fuse → hits."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kb.errors import InvalidInput
from kb.knowledge_base import KnowledgeBase
from kb.records import (
    Chunk,
    Hit,
    RankedChunk,
    Retrieval,
    ScoreKind,
    SearchMode,
    SearchRequest,
    SearchResponse,
    SearchTrace,
)
from kb.search.fuse import ranks_of
from kb.search.retrieve import Ranking, Retrieved, fusion_kind, rank, retrieve
from kb.search.snippet import make_snippet
from kb.store.filters import no_match

if TYPE_CHECKING:
    from kb.rank.known_text import KnownText
    from kb.search.novelty import PressedHits
    from kb.search.stability import ContextScores

# Of the modes that have one kind of score; a hybrid search's is its fusion.
SCORE_KINDS: dict[SearchMode, ScoreKind] = {"lexical": "bm25", "vector": "cosine"}
MAX_QUERY_CHARS = 20_000


def search(kb: KnowledgeBase, request: SearchRequest, window: KnownText | None = None) -> SearchResponse:
    """Find passages.

    window  what the reader has already: passages that stand in it come later, those that all of it holds are left out
    raises  InvalidInput for an empty query, a `k` below 1 or a date that is none; NotIndexed when there is no document
    """
    began = time.perf_counter()
    check_request(request)
    with kb.snapshot():
        kb.require_documents()
        found = retrieve(kb, request)
        ranking = found.timed("fuse", lambda: rank(found, request.mode, kb.config.search))
        if request.min_score is not None:
            ranking = [row for row in ranking if row[1] >= request.min_score]
        by_stability = kb.config.search.order == "stability"
        scores = None
        if request.explain or by_stability:
            scores = found.timed("stability", lambda: _score(kb, request, found, ranking, by_stability))
        shown = order_by_stability(ranking, scores) if scores and by_stability else ranking
        pressed = None
        if window is not None and kb.config.novelty.enabled:
            pressed = found.timed("novelty", lambda: _press(kb, shown, request.k, window))
        if pressed:
            shown = pressed.ranking
        hits = found.timed("hits", lambda: _make_hits(kb, request, found, shown, dict(ranking), scores, pressed))
        revision = kb.corpus_state().revision
        hint = None if hits else (pressed and pressed.say_empty()) or _explain_empty(kb, request, found)
    return SearchResponse(
        query=request.query,
        mode=request.mode,
        hits=tuple(hits),
        took_ms=round((time.perf_counter() - began) * 1000, 2),
        index_revision=revision,
        hint=hint,
        note="; ".join(filter(None, [found.note, pressed.note if pressed else None])) or None,
        trace=_make_trace(found, ranking, hits, scores, pressed) if request.explain or request.trace else None,
    )


def check_request(request: SearchRequest) -> None:
    """Refuse a request that cannot mean anything."""
    if not request.query.strip():
        raise InvalidInput("the query is empty", fix="say what to look for, for example: kb search 'borrow checker'")
    if len(request.query) > MAX_QUERY_CHARS:
        raise InvalidInput(
            f"the query has {len(request.query):,} characters",
            fix=f"use at most {MAX_QUERY_CHARS:,}, or ask for a part",
        )
    if not 1 <= request.k <= 10_000:
        raise InvalidInput(f"-k is {request.k}", fix="use a number from 1 to 10,000")
    if request.min_score is not None and math.isnan(request.min_score):
        raise InvalidInput("--min-score is not a number", fix="use one like 0.5")


def _score(
    kb: KnowledgeBase, request: SearchRequest, found: Retrieved, ranking: Ranking, everything: bool
) -> ContextScores:
    """The context stability of what will be shown, or of everything that may come to be."""
    from kb.search.stability import score_chunks  # here: 10 ms that a search without it need not pay

    ids = [chunk_id for chunk_id, _ in (ranking if everything else ranking[: request.k])]
    return score_chunks(kb, request.query, ids, found.query_vector, found.pool)


def _press(kb: KnowledgeBase, ranking: Ranking, k: int, window: KnownText) -> PressedHits | None:
    """The ranking held against a window; None, and a warning, where that fails."""
    from kb.search.novelty import or_warn, press_hits  # here: a search without a window must not pay for it

    return or_warn(lambda: press_hits(kb, ranking, k, window), "holding the hits against the window", kb.notify)


def order_by_stability(ranking: Ranking, scores: ContextScores) -> Ranking:
    """The same chunks with their context stability scores, best first; equals by chunk_id."""
    rows = [(chunk_id, scores.rows[chunk_id].csw) for chunk_id, _ in ranking if chunk_id in scores.rows]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _make_hits(
    kb: KnowledgeBase,
    request: SearchRequest,
    found: Retrieved,
    ranking: Ranking,
    relevance: Mapping[int, float],
    scores: ContextScores | None,
    pressed: PressedHits | None,
) -> list[Hit]:
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in ranking[: request.k]])
    lexical, vector = ranks_of(found.lexical), ranks_of(found.vector)
    lexical_scores, cosines = dict(found.lexical), found.cosines()
    kind = SCORE_KINDS.get(request.mode) or fusion_kind(found, kb.config.search)
    if kb.config.search.order == "stability":
        kind = "csw"
    rows = scores.rows if scores else {}
    terms = frozenset(found.terms)
    hits: list[Hit] = []
    for chunk_id, score in ranking[: request.k]:
        retrieval = Retrieval(
            method=request.mode,
            fusion_score=relevance[chunk_id],
            lexical_score=lexical_scores.get(chunk_id),
            lexical_rank=lexical.get(chunk_id),
            vector_score=cosines.get(chunk_id),
            vector_rank=vector.get(chunk_id),
            csw=rows[chunk_id].csw if chunk_id in rows else None,
            novelty=pressed.novelty[chunk_id] if pressed else None,
        )
        hits.append(_make_hit(chunks[chunk_id], len(hits) + 1, score, kind, retrieval, terms))
    return hits


def _make_hit(
    chunk: Chunk, rank: int, score: float, kind: ScoreKind, retrieval: Retrieval, terms: frozenset[str]
) -> Hit:
    snippet, highlights = make_snippet(chunk.text, terms)
    return Hit(
        rank=rank,
        score=score,
        score_kind=kind,
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        source=chunk.source,
        path=chunk.path,
        title=chunk.title,
        heading_path=chunk.heading_path,
        snippet=snippet,
        highlights=highlights,
        citation=chunk.citation,
        tags=chunk.tags,
        retrieval=retrieval,
        indexed_at=chunk.indexed_at,
    )


def _explain_empty(kb: KnowledgeBase, request: SearchRequest, found: Retrieved) -> str:
    """One line under an empty result: what was tried, and what would widen it."""
    if found.documents is not None and not found.documents:
        return no_match(request.filters)
    where = f"{len(found.documents)} filtered documents" if found.documents is not None else "all documents"
    if request.min_score is not None and (found.lexical or found.vector):
        return f"every hit in {where} scored below --min-score {request.min_score:g}"
    if request.mode == "lexical":
        tried = " OR ".join(found.terms[:8]) or "nothing: the query has no word in it"
        return f"looked in {where} for: {tried}; try --mode hybrid to search by meaning too"
    return f"looked in {where}, found nothing in mode {request.mode}; {kb.describe_gaps()}"


def _make_trace(
    found: Retrieved,
    ranking: Ranking,
    hits: Sequence[Hit],
    scores: ContextScores | None,
    pressed: PressedHits | None,
) -> SearchTrace:
    def rows(ranking: Sequence[tuple[int, float]]) -> tuple[RankedChunk, ...]:
        return tuple(RankedChunk(chunk_id=c, rank=i, score=s) for i, (c, s) in enumerate(ranking, start=1))

    return SearchTrace(
        lexical=rows(found.lexical),
        vector=rows(found.vector),
        query_terms=tuple(found.terms),
        filtered_documents=None if found.documents is None else len(found.documents),
        stage_ms={stage: round(ms, 3) for stage, ms in found.stage_ms.items()},
        fusion=found.fusion,
        tags=rows(found.tags.ranking),
        expanded_tags=found.tags.tags,
        ranking=rows(ranking),
        stability=scores.trace([hit.chunk_id for hit in hits]) if scores else None,
        novelty=pressed.trace if pressed else None,
    )
