"""A query and what the prompt holds already → a context block: retrieve → relate → press → expand → fill → render.

Reads only. What novelty pressure cannot do it leaves undone, and says so; the admissibility token is passed on as the
traversal issued it, whatever was left out around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.context.block import Quote, quote_whole, render_path, render_quote
from kb.context.budget import CountTokens, split_budget
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
from kb.context.traverse import traverse
from kb.errors import InvalidInput, KbError
from kb.graph.records import Slice
from kb.knowledge_base import KnowledgeBase
from kb.records import SearchRequest, SearchResponse
from kb.search.depth import candidate_depth, passages_text
from kb.search.pipeline import search
from kb.text import analyze_query, estimate_tokens

if TYPE_CHECKING:  # who names no window pays for none
    from kb.context.expand import Expansion
    from kb.rank.known_text import KnownText
    from kb.rank.novelty import ScoredCandidate
    from kb.search.novelty import Counts, Pressed

ESTIMATE = "kb-estimate"


@dataclass(slots=True)
class Composition:
    """What is known so far; `_respond` turns it into the response.

    ranked     (chunk_id, score) of what may be shown, best first; paths: (place in the slice, score)
    relations  what the traversal found, None without the graph
    pressed    the first pass against the window, None without one, or where that failed
    """

    request: ContextRequest
    response: SearchResponse
    relations: Slice | None
    window: KnownText | None = None
    ranked: list[tuple[int, float]] = field(default_factory=list)
    paths: list[tuple[int, float]] = field(default_factory=list)
    pressed: Pressed | None = None
    pressed_paths: Pressed | None = None
    expansion: Expansion | None = None
    adjacent: tuple[str, ...] = ()
    is_expanding: bool = False
    notes: list[str] = field(default_factory=list)
    counts: Counts | None = None
    milliseconds: dict[str, float] = field(default_factory=dict)


def compose(kb: KnowledgeBase, request: ContextRequest) -> ContextResponse:
    """Compose a context block.

    returns  the block with its parts; its text is empty, and `hint` says why, where there is nothing to say
    raises   InvalidInput for a request that cannot mean anything, NotIndexed when there is no document
    """
    return compose_counted(kb, request)[0]


def compose_counted(kb: KnowledgeBase, request: ContextRequest) -> tuple[ContextResponse, Counts | None]:
    """The same, and what it did for the counters and the log; None where no window was in play."""
    check_request(request)
    began = time.perf_counter()
    with kb.snapshot():
        composition = _retrieve(kb, request)
        if composition.window is not None:
            from kb.context.pressure import press_composition

            press_composition(kb, composition)
        response = _respond(kb, composition, began)
    if composition.counts and not request.is_evaluation:
        from kb.search.novelty import count_request

        count_request(kb, composition.counts)
    return response, composition.counts


def check_request(request: ContextRequest) -> None:
    """Refuse a request that cannot mean anything; the query is checked where it is searched."""
    if not LEAST_TOKENS <= request.max_tokens <= MOST_TOKENS:
        raise InvalidInput(
            f"--max-tokens is {request.max_tokens:,}", fix=f"use a number from {LEAST_TOKENS} to {MOST_TOKENS:,}"
        )
    if not 1 <= request.k <= MOST_PASSAGES:
        raise InvalidInput(f"--k is {request.k:,}", fix=f"use a number from 1 to {MOST_PASSAGES}")


def _retrieve(kb: KnowledgeBase, request: ContextRequest) -> Composition:
    """The first pass: passages, relations, and the window with what the session has shown."""
    notes: list[str] = []
    window = None
    if request.use_novelty and (request.window is not None or request.session_id is not None):
        from kb.context.shown_text import known_text_of

        window = known_text_of(kb, request.window, request.session_id, notes.append)
    clock = time.perf_counter()
    response = search(kb, SearchRequest(request.query, request.mode, candidate_depth(request.k), request.filters))
    searched = time.perf_counter()
    relations = traverse(kb, request.query, request.project) if request.include_graph else None
    found = Composition(request, response, relations, window, notes=notes)
    found.milliseconds = {"search": (searched - clock) * 1000, "graph": (time.perf_counter() - searched) * 1000}
    found.ranked = [(hit.chunk_id, hit.score) for hit in response.hits]
    found.paths = list(enumerate(path.base_score for path in relations.paths)) if relations else []
    if response.note:
        found.notes.append(response.note)
    return found


# ---- the response


def _respond(kb: KnowledgeBase, found: Composition, began: float) -> ContextResponse:
    request, relations = found.request, found.relations
    tokenizer, count = token_counter(kb, found.notes.append)
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in found.ranked])
    scores = dict(found.ranked)
    chosen, repeated = without_repeats(((i, chunks[i].text) for i, _ in found.ranked if i in chunks), request.k)
    if repeated:
        found.notes.append(f"passed over {passages_text(repeated)} that repeat another one here")
    texts = [path.text for path in relations.paths] if relations else []
    layout = lay_out(
        [quote_whole(chunks[i]) for i in chosen],
        [PathLine(place, texts[place], score) for place, score in found.paths],
        texts,
        relations.admissibility_token if relations else None,
        request.max_tokens,
        count,
        frozenset(analyze_query(request.query)),
        lend_unused=kb.config.context.lend_unused,
    )
    if layout.lacks_room_for_paths:
        found.notes.append(f"no relation fits beside its token into the graph's share of {request.max_tokens:,} tokens")
    shares = split_budget(request.max_tokens)
    return ContextResponse(
        query=request.query,
        mode=request.mode,
        text=layout.text,
        passages=tuple(_passage(quote, scores[quote.chunk.chunk_id], count) for quote in layout.quotes),
        paths=tuple(ContextPath(text=p.text, score=p.score, tokens=count(render_path(p.text))) for p in layout.paths),
        budget=ContextBudget(
            tokenizer=tokenizer,
            total=SectionUse(share=request.max_tokens, used=count(layout.text) if layout.text else 0),
            chunks=SectionUse(share=shares.chunks, used=layout.chunk_tokens),
            graph=SectionUse(share=shares.graph, used=layout.path_tokens),
            overhead=SectionUse(share=shares.overhead, used=layout.overhead_tokens),
        ),
        admissibility_token=relations.admissibility_token if relations else None,
        index_revision=found.response.index_revision,
        omitted=len(found.pressed.omitted) if found.pressed else 0,
        hint=None if layout.text else _why_nothing(found),
        notes=tuple(found.notes),
        debug=_debug(found, began) if request.debug else None,
    )


def token_counter(kb: KnowledgeBase, notify: Callable[[str], None]) -> tuple[str, CountTokens]:
    """(name, count) of the configured tokenizer.

    The estimate is the default: the block is read by a language model nobody named, whose tokens it overrates rather than
    underrates, and it loads nothing. The encoder's own tokenizer takes 20 ms to load and spends two tokens on a Hangul
    syllable.
    """
    if kb.config.context.tokenizer == "encoder":
        try:
            encoder = kb.encoder()
            encoder.token_starts("")
            return encoder.model_id, lambda text: len(encoder.token_starts(text))
        except KbError as error:
            notify(f"tokens are estimated, the encoder's tokenizer cannot be used: {error.problem}")
    return ESTIMATE, estimate_tokens


def _passage(quote: Quote, score: float, count: CountTokens) -> ContextPassage:
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
        tokens=count(render_quote(quote)),
        is_shortened=quote.is_shortened,
    )


def _why_nothing(found: Composition) -> str:
    if found.ranked or found.paths:
        return f"nothing that was found fits into {found.request.max_tokens:,} tokens; raise --max-tokens"
    if found.pressed and found.pressed.omitted:
        count = len(found.pressed.omitted)
        passages = f"{count:,} passage{'' if count == 1 else 's'}"
        return f"everything that was found ({passages}) is in the window already"
    return f"nothing was found. {found.response.hint or ''}".strip()


def _debug(found: Composition, began: float) -> ContextDebug:
    rows = [_debug_row(s, "query") for s in found.pressed.scored] if found.pressed else []
    if found.expansion:
        for query, pool in zip(found.expansion.queries, found.expansion.pools, strict=True):
            rows += [_debug_row(s, query) for s in pool.scored]
    rows += [_debug_row(s, "query") for s in found.pressed_paths.scored] if found.pressed_paths else []
    took = {**found.milliseconds, "total": (time.perf_counter() - began) * 1000}
    return ContextDebug(
        self_ref_penalty_applied=found.pressed is not None,
        expansion_triggered=found.is_expanding,
        expansion_queries=found.expansion.queries if found.expansion else (),
        adjacent_terms=found.adjacent,
        window_spans=len(found.window.spans) if found.window else 0,
        candidates=tuple(rows),
        milliseconds={stage: round(ms, 2) for stage, ms in took.items()},
    )


def _debug_row(scored: ScoredCandidate, found_by: str) -> DebugCandidate:
    overlap = scored.overlap
    return DebugCandidate(
        source=scored.source,
        candidate_id=scored.candidate_id,
        found_by=found_by,
        self_ref_penalty_applied=overlap.penalty > 0,
        overlap_ratio=overlap.overlap_ratio,
        original_score=scored.base_score,
        adjusted_score=scored.adjusted_score,
        reason=overlap.reason,
        is_estimate=overlap.is_estimate,
    )
