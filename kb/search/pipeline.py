"""A search request → ranked hits with exact citations: retrieve → fuse → reorder → hits → response."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kb.errors import InvalidInput
from kb.records import Hit, RankedChunk, Ranking, Retrieval, SearchRequest, SearchResponse, SearchTrace
from kb.runtime import Runtime
from kb.search.fuse import fuse, ranks_of
from kb.search.records import Candidates, Ordered
from kb.search.retrieve import retrieve
from kb.search.snippet import make_snippet
from kb.search.stopwatch import Stopwatch
from kb.store.filters import no_match

if TYPE_CHECKING:  # a plain search compares with nothing
    from kb.packing.known_text import KnownText

MAX_QUERY_CHARS = 20_000


def search(kb: Runtime, request: SearchRequest, known_text: KnownText | None = None) -> SearchResponse:
    """Find passages.

    known_text  what the reader has already: passages that stand in it come later, those that all of it holds are left out
    raises      InvalidInput for an empty query, a `k` below 1 or a text that is no date; NotIndexed when there is no document
    """
    clock = Stopwatch()
    with kb.snapshot():
        ordered = rank_chunks(kb, request, known_text, clock)
        with clock.stage("hits"):
            hits = _make_hits(kb, request, ordered)
        revision = kb.corpus_state().revision
        candidates = ordered.fused.candidates
        hint = None if hits else ordered.why_empty or _explain_empty(kb, request, candidates)
    return SearchResponse(
        query=request.query,
        mode=request.mode,
        hits=hits,
        took_ms=round(clock.total_ms(), 2),
        index_revision=revision,
        hint=hint,
        note="; ".join(filter(None, [candidates.note, ordered.note])) or None,
        trace=_make_trace(ordered, clock) if request.explain or request.trace else None,
    )


def rank_chunks(
    kb: Runtime, request: SearchRequest, known_text: KnownText | None = None, clock: Stopwatch | None = None
) -> Ordered:
    """The first half of `search`: all chunks that were found, in the order they are shown in, not cut at `k`.

    clock   takes the times of the stages; None where nobody asks for them
    raises  as `search`
    """
    clock = clock or Stopwatch()
    check_request(request)
    with kb.snapshot():
        kb.require_documents()
        candidates = retrieve(kb, request, clock)
        with clock.stage("fuse"):
            fused = fuse(candidates, request.mode, kb.config.search)
        least = request.min_score
        if least is not None:
            fused = replace(fused, ranking=[row for row in fused.ranking if row[1] >= least])
        if request.explain or known_text is not None or kb.config.search.order == "stability":
            # Here: a plain search would pay 20 of its 110 ms for the modules of these two orders.
            from kb.search.reorder import reorder

            return reorder(kb, request, fused, known_text, clock)
        return Ordered(fused=fused, ranking=fused.ranking, kind=fused.kind)


def check_request(request: SearchRequest) -> None:
    """Raise InvalidInput for an empty or overlong query, or for a number that is out of range."""
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


def _make_hits(kb: Runtime, request: SearchRequest, ordered: Ordered) -> tuple[Hit, ...]:
    shown = ordered.ranking[: request.k]
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in shown])
    retrieval_of = _explainer(ordered, request)
    terms = frozenset(ordered.fused.candidates.terms)
    hits = []
    for rank, (chunk_id, score) in enumerate(shown, start=1):
        chunk = chunks[chunk_id]
        snippet, highlights = make_snippet(chunk.text, terms)
        hit = Hit(
            rank=rank,
            score=score,
            score_kind=ordered.kind,
            chunk_id=chunk_id,
            doc_id=chunk.doc_id,
            source=chunk.source,
            path=chunk.path,
            title=chunk.title,
            heading_path=chunk.heading_path,
            snippet=snippet,
            highlights=highlights,
            citation=chunk.citation,
            tags=chunk.tags,
            retrieval=retrieval_of(chunk_id),
            indexed_at=chunk.indexed_at,
        )
        hits.append(hit)
    return tuple(hits)


def _explainer(ordered: Ordered, request: SearchRequest) -> Callable[[int], Retrieval]:
    """chunk_id → how it was found."""
    fused, found = ordered.fused, ordered.fused.candidates
    scores, lexical_scores = dict(fused.ranking), dict(found.lexical)
    lexical, vector = ranks_of(found.lexical), ranks_of(found.vector)

    def explain(chunk_id: int) -> Retrieval:
        return Retrieval(
            method=request.mode,
            fusion_score=scores[chunk_id],
            lexical_score=lexical_scores.get(chunk_id),
            lexical_rank=lexical.get(chunk_id),
            vector_score=fused.cosines.get(chunk_id),
            vector_rank=vector.get(chunk_id),
            csw=ordered.csw.get(chunk_id),
            novelty=ordered.novelty.get(chunk_id),
            relevance=fused.relevance.get(chunk_id),
        )

    return explain


def _explain_empty(kb: Runtime, request: SearchRequest, found: Candidates) -> str:
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


def _make_trace(ordered: Ordered, clock: Stopwatch) -> SearchTrace:
    fused, found = ordered.fused, ordered.fused.candidates
    return SearchTrace(
        lexical=_rows(found.lexical),
        vector=_rows(found.vector),
        query_terms=tuple(found.terms),
        filtered_documents=None if found.documents is None else len(found.documents),
        stage_ms={stage: round(ms, 3) for stage, ms in clock.stage_ms.items()},
        fusion=fused.trace,
        tags=_rows(found.tags.ranking),
        expanded_tags=found.tags.tags,
        ranking=tuple(replace(row, relevance=fused.relevance.get(row.chunk_id)) for row in _rows(fused.ranking)),
        stability=ordered.stability,
        novelty=ordered.novelty_trace,
    )


def _rows(ranking: Ranking) -> tuple[RankedChunk, ...]:
    return tuple(RankedChunk(chunk_id=i, rank=rank, score=score) for rank, (i, score) in enumerate(ranking, start=1))
