"""A question → what the search found: the ranking, the passages further down, what of it the reader has not seen."""

from __future__ import annotations

from dataclasses import replace

from kb.ask.compared import find_each
from kb.ask.records import AskRequest, EmbeddingRef
from kb.ask.stages import Question, Retrieved, UnseenEvidence
from kb.ask.subjects import find_within, part_others, read_subjects
from kb.records import SearchRequest, SearchTrace
from kb.runtime import Runtime
from kb.search.depth import CANDIDATES_PER_PASSAGE
from kb.search.pipeline import search


def retrieve_evidence(kb: Runtime, question: Question) -> Retrieved:
    """Search, and fetch the chunks that evidence is made of.

    raises  NotIndexed when there is no document
    """
    request, rag = question.request, kb.config.rag
    # The axes of every hit go into the log that thresholds are recalibrated from; whoever keeps none does not pay for them.
    is_logged = kb.config.cswr.keep_episodes > 0 and not request.is_evaluation
    query = SearchRequest(
        query=request.query,
        mode=request.mode,
        k=request.k,
        filters=request.filters,
        explain=request.explain or is_logged,
        trace=True,
        as_found=True,
        rerank=kb.reader_for(request.query) is not None,
    )
    with kb.snapshot():  # the evidence is what was found, whatever a writer does meanwhile
        response = search(kb, query)
        trace = response.trace
        assert trace is not None  # it was asked for
        depth = request.k if rag.packing == "ranked" else CANDIDATES_PER_PASSAGE * request.k
        chunks = kb.corpus.fetch_chunks([row.chunk_id for row in trace.ranking[:depth]])
        ranking = [(chunks[row.chunk_id], row.score) for row in trace.ranking[:depth]]
        unseen = _find_unseen(kb, trace, request)
        each = () if rag.packing == "ranked" else find_each(kb, question)
        subjects = read_subjects(kb, request, [*chunks.values(), *(chunk for chunk, _ in each)])
        # A hybrid ranking that was fused by ranks: its scores order, and say nothing about relevance.
        has_rank_scores = request.mode == "hybrid" and (trace.fusion is None or bool(trace.tags))
        if within := () if has_rank_scores else find_within(kb, request, subjects, ranking):
            more = [(chunk, score) for chunk, score, _ in within]
            ranking = sorted([*ranking, *more], key=lambda row: (-row[1], row[0].chunk_id))
        ranked, others = part_others(ranking, subjects)
        unseen = unseen and replace(unseen, ranked=part_others(unseen.ranked, subjects)[0])
        model_id, _, dimensions = kb.stored_encoder()
    if response.note and not request.is_evaluation:  # said once for each question of a suite, nobody reads it
        kb.notify(f"note: {response.note}")
    return Retrieved(
        question=question,
        response=response,
        ranked=ranked[: request.k],
        candidates=() if rag.packing == "ranked" else ranked,
        # An index that does not say what a score could reach leaves the ranking's own scores, up to 1.
        relevance={
            row.chunk_id: min(1.0, max(0.0, row.score)) if row.relevance is None else row.relevance
            for row in trace.ranking
        }
        | {chunk.chunk_id: relevance or 0.0 for chunk, _, relevance in within},
        has_rank_scores=has_rank_scores,
        embedding=None if request.mode == "lexical" else EmbeddingRef(id=model_id, dimensions=dimensions),
        unseen=unseen,
        each=each,
        subjects=subjects,
        others=others,
    )


def _find_unseen(kb: Runtime, trace: SearchTrace, request: AskRequest) -> UnseenEvidence | None:
    """None without a window and outside a session, and for a replay."""
    if request.replay_of is not None or (request.known_text is None and request.session_id is None):
        return None
    # Imported here: comparing texts costs 10 ms to load, and most questions name neither window nor session.
    from kb.ask.compare_shown import compare_with_shown

    return compare_with_shown(kb, trace, request)
