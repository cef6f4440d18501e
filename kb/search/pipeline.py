"""A search request → ranked hits with exact citations: retrieve → fuse → calibrate → (read) → reorder → show → hits → response."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os.path import join
from typing import TYPE_CHECKING

from kb.errors import InvalidInput
from kb.places import is_url
from kb.records import (
    AlsoIn,
    Chunk,
    CopyKind,
    Hit,
    HitGroup,
    RankedChunk,
    Ranking,
    Retrieval,
    SearchRequest,
    SearchResponse,
    SearchTrace,
)
from kb.runtime import Runtime
from kb.search.calibrate import calibrate
from kb.search.fuse import fuse, ranks_of
from kb.search.records import Candidates, Ordered
from kb.search.rerank import rerank
from kb.search.retrieve import retrieve
from kb.search.show import is_improbable, vary
from kb.search.snippet import make_snippet
from kb.search.stopwatch import Stopwatch
from kb.store.filters import no_match

if TYPE_CHECKING:  # a plain search compares with nothing
    from kb.packing.known_text import KnownText

MAX_QUERY_CHARS = 20_000
# Passages that are shown where nothing was found: enough to see what the corpus is about.
MOST_MAYBE = 3


def search(kb: Runtime, request: SearchRequest, known_text: KnownText | None = None) -> SearchResponse:
    """Find passages.

    known_text  what the reader has already: passages that stand in it come later, those that all of it holds are left out
    raises      InvalidInput for an empty query, a `k` below 1 or a text that is no date; NotIndexed when there is no document
    """
    clock = Stopwatch()
    with kb.snapshot():
        ordered = rank_chunks(kb, request, known_text, clock)
        with clock.stage("hits"):
            shown = ordered.ranking[: request.k]
            copies = [i for better, _ in shown for i, _ in ordered.varied.copies.get(better, ())]
            chunks = kb.corpus.fetch_chunks([*(i for i, _ in shown), *copies])
            found = _make_hits(ordered, chunks, request, kb.corpus.source_roots())
            # The floor was measured over whole corpora: inside filters the nearest are what was asked for.
            has_floor = request.min_score is None and request.filters.is_empty() and not request.as_found
            is_maybe = has_floor and is_improbable(ordered, {i: chunks[i] for i, _ in shown})
        revision = kb.corpus_state().revision
        candidates = ordered.fused.candidates
        hits, maybe = ((), found[:MOST_MAYBE]) if is_maybe else (found, ())
        hint = None
        if not hits:
            hint = ordered.why_empty or _explain_empty(kb, request, candidates, has_nearest=bool(maybe))
    return SearchResponse(
        query=request.query,
        mode=request.mode,
        hits=hits,
        documents=_by_document(hits),
        maybe=maybe,
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
            calibrated = calibrate(fused, request.mode, kb.stored_encoder()[1])
        if request.rerank:
            with clock.stage("read"):
                fused = rerank(kb, request, fused)
        least = request.min_score
        if least is not None:
            likely = [row for row in fused.ranking if calibrated.probability[row[0]] >= least]
            fused = replace(fused, ranking=likely)
        is_reordered = request.explain or known_text is not None or kb.config.search.order == "stability"
        with clock.stage("vary"):
            varied = vary(kb, request, fused, is_reordered=is_reordered or request.trace)
        if is_reordered:
            # Here: a plain search would pay 20 of its 110 ms for the modules of these two orders.
            from kb.search.reorder import reorder

            return reorder(kb, request, fused, calibrated, varied, known_text, clock)
        return Ordered(fused=fused, calibrated=calibrated, varied=varied, ranking=varied.ranking, kind=fused.kind)


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


def _make_hits(
    ordered: Ordered, chunks: Mapping[int, Chunk], request: SearchRequest, roots: Mapping[str, str | None]
) -> tuple[Hit, ...]:
    retrieval_of = _explainer(ordered, request)
    terms = frozenset(ordered.fused.candidates.terms)
    hits = []
    for rank, (chunk_id, score) in enumerate(ordered.ranking[: request.k], start=1):
        chunk = chunks[chunk_id]
        snippet, highlights = make_snippet(chunk.text, terms)
        hit = Hit(
            rank=rank,
            score=ordered.calibrated.probability[chunk_id],
            order_score=score,
            order_kind=ordered.kind,
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
            also_in=tuple(_also_in(chunks[i], kind) for i, kind in ordered.varied.copies.get(chunk_id, ())),
            file=None if (root := roots.get(chunk.source)) is None or is_url(root) else join(root, chunk.path),
        )
        hits.append(hit)
    return tuple(hits)


def _also_in(chunk: Chunk, kind: CopyKind) -> AlsoIn:
    return AlsoIn(
        kind=kind,
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        source=chunk.source,
        path=chunk.path,
        citation=chunk.citation,
    )


def _by_document(hits: Sequence[Hit]) -> tuple[HitGroup, ...]:
    by_document: dict[int, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.doc_id, []).append(hit)
    return tuple(
        HitGroup(doc_id=i, source=of[0].source, path=of[0].path, title=of[0].title, ranks=tuple(h.rank for h in of))
        for i, of in by_document.items()
    )


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
            reader=fused.read.get(chunk_id),
        )

    return explain


def _explain_empty(kb: Runtime, request: SearchRequest, found: Candidates, *, has_nearest: bool) -> str:
    """One line under an empty result: what was tried, and what would widen it."""
    if found.documents is not None and not found.documents:
        return no_match(request.filters, kb.corpus.filter_values())
    where = f"{len(found.documents)} filtered documents" if found.documents is not None else "all documents"
    if has_nearest:
        return f"nothing in {where} is likely to be about this; the nearest is shown as maybe"
    if request.min_score is not None and (found.lexical or found.vector):
        return f"every hit in {where} scored below --min-score {request.min_score:g}"
    if request.mode == "lexical":
        tried = " OR ".join(found.terms[:8]) or "nothing: the query has no word in it"
        return f"looked in {where} for: {tried}; try --mode hybrid to search by meaning too"
    return f"looked in {where}, found nothing in mode {request.mode}; {_describe_gaps(kb)}"


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


def _describe_gaps(kb: Runtime) -> str:
    """Why vector search might miss something."""
    missing = kb.corpus.count_missing_vectors(kb.stored_encoder()[1])
    return (
        f"{missing:,} chunks have no vector yet: kb ingest --resume makes them"
        if missing
        else "every chunk has its vector"
    )
