"""A search request → ranked hits with exact citations: filters → retrieve → fuse → hits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

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
from kb.search.feedback import feed_back
from kb.search.fuse import fuse_rankings, ranks_of
from kb.search.snippet import make_snippet
from kb.store.chunks import fetch_chunks
from kb.store.filters import allowed_documents, chunk_ids_of, no_match
from kb.text import analyze_query

if TYPE_CHECKING:
    from kb.arrays import FloatVector

Ranking = list[tuple[int, float]]
T = TypeVar("T")

SCORE_KINDS: dict[SearchMode, ScoreKind] = {"lexical": "bm25", "vector": "cosine", "hybrid": "rrf"}
MAX_QUERY_CHARS = 20_000
# From here on words alone found more on Korean pages (.963 to .967 nDCG@10 up to .3, .952 at .5); below it, fusing did.
UNREAD_SHARE = 0.25


@dataclass(slots=True)
class Retrieved:
    """Both retrievers' lists for one query, best first, and what they were asked; empty where one was not asked.

    note  why the vector search was left out of a hybrid one, as words for the user
    """

    terms: list[str]
    documents: list[int] | None
    lexical: Ranking = field(default_factory=list)
    vector: Ranking = field(default_factory=list)
    stage_ms: dict[str, float] = field(default_factory=dict)
    note: str | None = None


def search(kb: KnowledgeBase, request: SearchRequest) -> SearchResponse:
    """Find passages.

    raises  InvalidInput for an empty query, a `k` below 1 or a date that is none; NotIndexed when there is no document
    """
    began = time.perf_counter()
    check_request(request)
    with kb.snapshot():
        kb.require_documents()
        found = retrieve(kb, request)
        ranking = _timed(found, "fuse", lambda: rank(found, request.mode, kb.config.search.rrf_k))
        if request.min_score is not None:
            ranking = [row for row in ranking if row[1] >= request.min_score]
        hits = _timed(found, "hits", lambda: _make_hits(kb, request, found, ranking))
        revision = kb.corpus_state().revision
        hint = None if hits else _explain_empty(kb, request, found)
    return SearchResponse(
        query=request.query,
        mode=request.mode,
        hits=tuple(hits),
        took_ms=round((time.perf_counter() - began) * 1000, 2),
        index_revision=revision,
        hint=hint,
        note=found.note,
        trace=_make_trace(found) if request.explain else None,
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


def retrieve(kb: KnowledgeBase, request: SearchRequest) -> Retrieved:
    """Ask the retrievers the mode calls for, each to the configured depth, inside the filters."""
    began = time.perf_counter()
    found = Retrieved(analyze_query(request.query), allowed_documents(kb.connection, request.filters))
    found.stage_ms["filter"] = _since(began)
    depth = max(kb.config.search.depth, request.k)
    if request.mode != "vector":
        index = _timed(found, "open_lexical", kb.lexical_index)
        found.lexical = _timed(found, "lexical", lambda: index.search(found.terms, depth, found.documents))
    found.note = _why_words_alone(kb, request)
    if request.mode != "lexical" and not found.note:
        vectors = _timed(found, "open_vector", kb.vector_index)
        vector = _timed(found, "encode", lambda: kb.encode_query(request.query))
        chunks = None if found.documents is None else chunk_ids_of(kb.connection, found.documents)
        found.vector = _timed(found, "vector", lambda: vectors.search(vector, depth, chunks))
        if request.mode == "hybrid" and kb.config.search.feedback_chunks:
            again = partial(vectors.search, depth=depth, chunks=chunks)
            found.vector = _timed(found, "feedback", lambda: _search_again(kb, vector, found.vector, again))
    return found


def _why_words_alone(kb: KnowledgeBase, request: SearchRequest) -> str | None:
    """A hybrid search leaves vectors out where the encoder cannot read the query: its list would be noise that counts half.

    On the project's Korean queries the default encoder's list alone reaches .10 nDCG@10, words .61, both fused .35.
    """
    if request.mode != "hybrid" or request.query.isascii():
        return None
    if kb.encoder().unread_share(request.query) < UNREAD_SHARE:
        return None
    return (
        f"{kb.encoder().model_id} does not know this language: searched by words alone"
        " (embedding.model takes a multilingual encoder)"
    )


def _search_again(
    kb: KnowledgeBase, query: FloatVector, first: Ranking, search_vectors: Callable[[FloatVector], Ranking]
) -> Ranking:
    """The vector list in the order that feedback gives it; the scores stay cosines to the query itself."""
    nearest = [chunk_id for chunk_id, _ in first[: kb.config.search.feedback_chunks]]
    vectors = kb.stored_vectors(nearest)
    moved = feed_back(query, [vectors[i] for i in nearest if i in vectors], kb.config.search.feedback_weight)
    cosines = dict(first)
    second = [chunk_id for chunk_id, _ in search_vectors(moved)]
    for chunk_id, vector in kb.stored_vectors(i for i in second if i not in cosines).items():
        cosines[chunk_id] = float(vector @ query)
    return [(chunk_id, cosines[chunk_id]) for chunk_id in second]


def rank(found: Retrieved, mode: SearchMode, rrf_k: int) -> Ranking:
    """The list that is shown, (chunk_id, score) best first: one retriever's own, or both fused."""
    if mode == "hybrid":
        return fuse_rankings([found.lexical, found.vector], rrf_k)
    return found.lexical if mode == "lexical" else found.vector


def _make_hits(kb: KnowledgeBase, request: SearchRequest, found: Retrieved, ranking: Ranking) -> list[Hit]:
    chunks = fetch_chunks(kb.connection, [chunk_id for chunk_id, _ in ranking[: request.k]])
    lexical, vector = ranks_of(found.lexical), ranks_of(found.vector)
    lexical_scores, vector_scores = dict(found.lexical), dict(found.vector)
    terms = frozenset(found.terms)
    hits: list[Hit] = []
    for chunk_id, score in ranking[: request.k]:
        retrieval = Retrieval(
            method=request.mode,
            fusion_score=score,
            lexical_score=lexical_scores.get(chunk_id),
            lexical_rank=lexical.get(chunk_id),
            vector_score=vector_scores.get(chunk_id),
            vector_rank=vector.get(chunk_id),
        )
        hits.append(_make_hit(chunks[chunk_id], len(hits) + 1, score, retrieval, terms))
    return hits


def _make_hit(chunk: Chunk, rank: int, score: float, retrieval: Retrieval, terms: frozenset[str]) -> Hit:
    snippet, highlights = make_snippet(chunk.text, terms)
    return Hit(
        rank=rank,
        score=score,
        score_kind=SCORE_KINDS[retrieval.method],
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


def _make_trace(found: Retrieved) -> SearchTrace:
    def rows(ranking: Sequence[tuple[int, float]]) -> tuple[RankedChunk, ...]:
        return tuple(RankedChunk(chunk_id=c, rank=i, score=s) for i, (c, s) in enumerate(ranking, start=1))

    return SearchTrace(
        lexical=rows(found.lexical),
        vector=rows(found.vector),
        query_terms=tuple(found.terms),
        filtered_documents=None if found.documents is None else len(found.documents),
        stage_ms={stage: round(ms, 3) for stage, ms in found.stage_ms.items()},
    )


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _timed(found: Retrieved, stage: str, work: Callable[[], T]) -> T:
    began = time.perf_counter()
    result = work()
    found.stage_ms[stage] = _since(began)
    return result
