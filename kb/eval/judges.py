"""Judges, which score a ranking: by labelled chunks (suites), by documents (BEIR), by character spans."""

from __future__ import annotations

from collections.abc import Sequence

from kb.eval.collections import Collection, SpanQuestion, span_scores
from kb.eval.metrics import ranking_scores
from kb.eval.pipeline import Judge
from kb.eval.records import Query, Scores, Suite
from kb.eval.resolve import resolve_suite
from kb.eval.two_step import resolve_known_chunks
from kb.records import Ranking
from kb.runtime import Runtime

SPAN_DEPTHS = (5, 10)


def judge_suite(kb: Runtime, suite: Suite) -> Judge:
    """By chunks, as the suite's labels resolve in this knowledge base.

    raises  SuiteInvalid listing every label that does not resolve
    """
    judged = {
        query_id: {str(chunk_id): grade for chunk_id, grade in chunks.items()}
        for query_id, chunks in resolve_suite(kb, suite).items()
    }

    def score(query: Query, ranking: Ranking, ids: Sequence[str]) -> Scores:
        return ranking_scores(judged.get(query.id, {}), ids)

    return Judge(str, judged, score, resolve_known_chunks(kb, suite))


def judge_collection(kb: Runtime, collection: Collection) -> Judge:
    """By documents: a document has the rank of its best chunk."""
    paths = kb.corpus.chunk_places()
    judged = {query.id: query.relevant for query in collection.queries}

    def score(query: Query, ranking: Ranking, ids: Sequence[str]) -> Scores:
        return ranking_scores(judged[query.id], list(dict.fromkeys(ids)))

    return Judge(paths.__getitem__, judged, score)


def judge_spans(kb: Runtime, questions: Sequence[SpanQuestion]) -> Judge:
    """By retrieved character spans, measured in the encoder's tokens."""
    by_id = {question.id: question for question in questions}
    starts: dict[str, list[int]] = {}
    for path, rows in kb.corpus.chunk_starts().items():
        found = {start + offset for start, text in rows for offset in kb.encoder().token_starts(text)}
        starts[path.removesuffix(".md")] = sorted(found)  # chunks that overlap have tokens in common

    def score(query: Query, ranking: Ranking, ids: Sequence[str]) -> Scores:
        question = by_id[query.id]
        chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in ranking[: max(SPAN_DEPTHS)]])
        found = [
            (chunks[i].path.removesuffix(".md"), chunks[i].start, chunks[i].end) for i, _ in ranking if i in chunks
        ]
        scores: Scores = {}
        for k in SPAN_DEPTHS:
            scores |= span_scores(found, question, starts[question.corpus], k)
        return scores

    return Judge(str, {}, score)
