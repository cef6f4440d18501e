"""A folder of a public collection → a judged set: its queries, a function that ingests its documents, its judge.

Only this module knows the layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kb.config import Config
from kb.eval.collections import load_beir, load_spans, spans_sha256
from kb.eval.judges import judge_collection, judge_spans, judge_suite
from kb.eval.pipeline import EvalRequest, Judge, OnQuery, evaluate
from kb.eval.records import Query, Run, Suite
from kb.eval.throwaway import OnEvent, collection_home, fill_from_documents, fill_from_folder
from kb.frozen import dataclass
from kb.records import Filters, SearchMode
from kb.runtime import Notify, Runtime


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A collection that can be run.

    documents_sha256  the key by which its throw-away home is cached
    sha256            of documents, queries and judgements
    fill              a listener → a function that ingests the documents into an empty home
    judge             a filled home → its judge
    """

    name: str
    queries: tuple[Query, ...]
    documents_sha256: str
    sha256: str
    fill: Callable[[OnEvent], Callable[[Runtime], None]]
    judge: Callable[[Runtime], Judge]

    def open(self, cache: Path, config: Config, on_event: OnEvent, notify: Notify) -> Runtime:
        """The set's home under the cache folder; it is filled when this content and these settings are new."""
        return collection_home(cache, config, self.name, self.documents_sha256, self.fill(on_event), notify)


def evaluate_set(
    kb: Runtime,
    judged: JudgedSet,
    modes: tuple[SearchMode, ...],
    runs_home: Path,
    on_query: OnQuery = lambda mode, done, total: None,
) -> list[Run]:
    """Run all queries of a set in these modes; see `evaluate`."""
    request = EvalRequest(judged.name, judged.sha256, judged.queries, modes)
    return evaluate(kb, request, judged.judge(kb), runs_home, on_query)


def evaluate_suite(
    kb: Runtime,
    suite: Suite,
    modes: tuple[SearchMode, ...],
    runs_home: Path,
    on_query: OnQuery = lambda mode, done, total: None,
    *,
    answers: bool = False,
    seeds: int = 1,
    filters: Filters | None = None,
    resume: str | None = None,
) -> list[Run]:
    """Run a suite against the knowledge base it was written for; see `EvalRequest` and `evaluate`."""
    request = EvalRequest(
        suite=suite.name,
        suite_sha256=suite.sha256,
        queries=suite.queries,
        modes=modes,
        answers=answers,
        seeds=seeds,
        filters=filters or Filters(),
        resume=resume,
    )
    return evaluate(kb, request, judge_suite(kb, suite), runs_home, on_query)


def beir_set(folder: Path, corpus: Path | None = None) -> JudgedSet:
    """A folder in the BEIR layout, judged by documents; see `load_beir` for `corpus` and what it raises."""
    collection = load_beir(folder, corpus)
    return JudgedSet(
        name=collection.name,
        queries=collection.queries,
        documents_sha256=collection.documents_sha256,
        sha256=collection.sha256,
        fill=lambda on_event: fill_from_documents(collection.documents, on_event),
        judge=lambda kb: judge_collection(kb, collection),
    )


def spans_set(folder: Path) -> JudgedSet:
    """A folder of questions with exact character spans, judged by tokens; see `load_spans` for what it raises."""
    questions = load_spans(folder)
    texts_sha256, content_sha256 = spans_sha256(folder)
    return JudgedSet(
        name=folder.resolve().name,
        queries=tuple(Query(id=q.id, text=q.text, slices={"corpus": q.corpus}) for q in questions),
        documents_sha256=texts_sha256,
        sha256=content_sha256,
        fill=lambda on_event: fill_from_folder(folder / "corpora", on_event),
        judge=lambda kb: judge_spans(kb, questions),
    )


# Command of `kb eval` → the function that reads its layout.
LAYOUTS: dict[str, Callable[..., JudgedSet]] = {"beir": beir_set, "spans": spans_set}
