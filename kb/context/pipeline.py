"""A query and what the prompt holds already → a context block: find → compare → widen → lay out → respond.

Reads only. Where the comparison with the known text fails, the block is made without it, and a note says so. The admissibility
token comes from the traversal and is passed on unchanged, even if some of its paths are left out.
"""

from __future__ import annotations

from kb.context.block import Quote, quote_whole, render_path, render_quote
from kb.context.budget import split_budget
from kb.context.compare import compare_and_widen
from kb.context.layout import PathLine, lay_out
from kb.context.records import (
    LEAST_TOKENS,
    MOST_PASSAGES,
    MOST_TOKENS,
    ContextBudget,
    ContextDebug,
    ContextPassage,
    ContextPath,
    ContextRequest,
    ContextResponse,
    DebugCandidate,
    SectionUse,
)
from kb.context.repeats import without_repeats
from kb.context.shown_text import known_text_of
from kb.context.stages import Compared, ContextDraft, Found, Widened
from kb.context.traverse import traverse
from kb.errors import InvalidInput
from kb.packing.novelty import ScoredCandidate
from kb.records import SearchRequest
from kb.runtime import Runtime
from kb.search.depth import candidate_depth, passages_text
from kb.search.novelty import count_request
from kb.search.pipeline import search
from kb.search.stopwatch import Stopwatch
from kb.text import analyze_query, estimate_tokens

ESTIMATE = "kb-estimate"


def compose(kb: Runtime, request: ContextRequest) -> ContextResponse:
    """Compose a context block.

    returns  the block with its parts; its text is empty, and `hint` says why, where there is nothing to say
    raises   InvalidInput for a request that cannot mean anything, NotIndexed when there is no document
    """
    check_request(request)
    clock = Stopwatch()
    with kb.snapshot():
        found = find(kb, request, clock)
        if found.known_text is None:
            draft = ContextDraft(found, Compared(), Widened(), found.chunks(), found.paths(), None, found.notes)
        else:
            draft = compare_and_widen(kb, found, found.known_text, clock)
        response = respond(kb, draft, clock)
    if draft.counts and not request.is_evaluation:
        count_request(kb, draft.counts, request.query, request.session_id)
    return response


def check_request(request: ContextRequest) -> None:
    """Raise InvalidInput for a number that is out of range; the search checks the query."""
    if not LEAST_TOKENS <= request.max_tokens <= MOST_TOKENS:
        raise InvalidInput(
            f"--max-tokens is {request.max_tokens:,}", fix=f"use a number from {LEAST_TOKENS} to {MOST_TOKENS:,}"
        )
    if not 1 <= request.k <= MOST_PASSAGES:
        raise InvalidInput(f"-k is {request.k:,}", fix=f"use a number from 1 to {MOST_PASSAGES}")


def find(kb: Runtime, request: ContextRequest, clock: Stopwatch) -> Found:
    """The first pass: passages, relations, and the known text with what the session has shown."""
    notes: list[str] = []
    known_text = None
    if request.use_novelty and (request.known_text is not None or request.session_id is not None):
        known_text = known_text_of(kb, request.known_text, request.session_id, notes.append)
    with clock.stage("search"):
        response = search(
            kb, SearchRequest(request.query, request.mode, candidate_depth(request.k), request.filters, as_found=True)
        )
    with clock.stage("graph"):
        relations = traverse(kb, request.query, request.project) if request.include_graph else None
    if response.note:
        notes.append(response.note)
    return Found(request, response, relations, known_text, tuple(notes))


# ---- the response


def respond(kb: Runtime, draft: ContextDraft, clock: Stopwatch) -> ContextResponse:
    """The draft laid out within the budget."""
    found = draft.found
    request, relations = found.request, found.relations
    notes = list(draft.notes)
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in draft.ranked])
    scores = dict(draft.ranked)
    chosen, repeated = without_repeats(((i, chunks[i].text) for i, _ in draft.ranked if i in chunks), request.k)
    if repeated:
        notes.append(f"passed over {passages_text(repeated)} that repeat another one here")
    texts = [path.text for path in relations.paths] if relations else []
    layout = lay_out(
        [quote_whole(chunks[i]) for i in chosen],
        [PathLine(place, texts[place], score) for place, score in draft.paths],
        texts,
        relations.admissibility_token if relations else None,
        request.max_tokens,
        estimate_tokens,
        frozenset(analyze_query(request.query)),
        lend_unused=kb.config.context.lend_unused,
    )
    if layout.lacks_room_for_paths:
        notes.append(f"no relation fits beside its token into the graph's share of {request.max_tokens:,} tokens")
    shares = split_budget(request.max_tokens)
    omitted = len(draft.compared.chunks.omitted) if draft.compared.chunks else 0
    return ContextResponse(
        query=request.query,
        mode=request.mode,
        text=layout.text,
        passages=tuple(_passage(quote, scores[quote.chunk.chunk_id]) for quote in layout.quotes),
        paths=tuple(
            ContextPath(text=p.text, score=p.score, tokens=estimate_tokens(render_path(p.text))) for p in layout.paths
        ),
        budget=ContextBudget(
            tokenizer=ESTIMATE,
            total=SectionUse(share=request.max_tokens, used=estimate_tokens(layout.text) if layout.text else 0),
            chunks=SectionUse(share=shares.chunks, used=layout.chunk_tokens),
            graph=SectionUse(share=shares.graph, used=layout.path_tokens),
            overhead=SectionUse(share=shares.overhead, used=layout.overhead_tokens),
        ),
        admissibility_token=relations.admissibility_token if relations else None,
        index_revision=found.response.index_revision,
        omitted=omitted,
        hint=None if layout.text else _why_nothing(draft, omitted),
        notes=tuple(notes),
        debug=_debug(draft, clock) if request.debug else None,
    )


def _passage(quote: Quote, score: float) -> ContextPassage:
    chunk = quote.chunk
    return ContextPassage(
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        source=chunk.source,
        path=chunk.path,
        title=chunk.title,
        heading_path=chunk.heading_path,
        text=quote.text,
        citation=quote.citation,
        score=score,
        tokens=estimate_tokens(render_quote(quote)),
        is_shortened=quote.is_shortened,
    )


def _why_nothing(draft: ContextDraft, omitted: int) -> str:
    if draft.ranked or draft.paths:
        return f"nothing that was found fits into {draft.found.request.max_tokens:,} tokens; raise --max-tokens"
    if omitted:
        return f"everything that was found ({passages_text(omitted)}) was seen already"
    return f"nothing was found. {draft.found.response.hint or ''}".strip()


def _debug(draft: ContextDraft, clock: Stopwatch) -> ContextDebug:
    compared, expansion = draft.compared, draft.widened.expansion
    pools = [("query", compared.chunks)] if compared.chunks else []
    pools += zip(expansion.queries, expansion.pools, strict=True) if expansion else []
    pools += [("query", compared.paths)] if compared.paths else []
    took = {**clock.stage_ms, "total": clock.total_ms()}
    return ContextDebug(
        self_ref_penalty_applied=compared.chunks is not None,
        expansion_triggered=draft.widened.is_wanted,
        expansion_queries=expansion.queries if expansion else (),
        adjacent_terms=draft.widened.adjacent,
        window_spans=len(draft.found.known_text.spans) if draft.found.known_text else 0,
        candidates=tuple(_debug_row(scored, found_by) for found_by, pool in pools for scored in pool.scored),
        milliseconds={stage: round(ms, 2) for stage, ms in took.items()},
    )


def _debug_row(scored: ScoredCandidate, found_by: str) -> DebugCandidate:
    overlap = scored.overlap
    return DebugCandidate(
        source=scored.source,
        candidate_id=str(scored.candidate_id),
        found_by=found_by,
        self_ref_penalty_applied=overlap.penalty > 0,
        overlap_ratio=overlap.overlap_ratio,
        original_score=scored.base_score,
        adjusted_score=scored.adjusted_score,
        reason=overlap.reason,
        is_estimate=overlap.is_estimate,
    )
