"""Queries with judgements → a run: every query is searched, answered on request, scored, and saved when it is done.

Suites, BEIR collections and span questions differ only in their judge.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from hashlib import sha256
from pathlib import Path

from kb import __version__
from kb.ask.pipeline import ask
from kb.ask.prompt import TEMPLATES
from kb.ask.records import Answer, AskRequest
from kb.errors import InvalidInput, KbError, NotFound
from kb.eval.answers import answer_figures, answer_scores
from kb.eval.compare import differing_fields
from kb.eval.metrics import average_seeds, mean_interval, percentiles, refusal_figures
from kb.eval.query_tags import tag_scores
from kb.eval.records import (
    Latency,
    Provenance,
    Query,
    QueryResult,
    Retrieved,
    Run,
    RunKind,
    Scores,
)
from kb.eval.runs import append_result, begin_run, finish_run, load_run, mend_run, new_run_id, run_path
from kb.eval.two_step import context_scores
from kb.frozen import dataclass
from kb.records import Filters, Hit, Ranking, SearchMode, SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.store.documents import utc_text

# (mode, queries done, queries in all)
OnQuery = Callable[[SearchMode, int, int], None]

# Deep enough for recall@100.
RANKING_DEPTH = 100
# Queries that are encoded in one batch.
ENCODED_AHEAD = 32
# Rows of a ranking that a result keeps for reports.
KEPT_ROWS = 10


@dataclass(frozen=True, slots=True)
class Judge:
    """How a ranking becomes scores.

    identify  chunk_id → the id that judgements are by
    judged    query id → id → grade
    score     (query, ids best first) → scores
    known_chunks  for two-step tasks: query id → ids of chunks whose text the reader has already
    """

    identify: Callable[[int], str]
    judged: Mapping[str, Mapping[str, int]]
    score: Callable[[Query, Ranking, Sequence[str]], Scores]
    known_chunks: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """What to run.

    answers   ask as well as search
    seeds     answers per question, with seeds 0, 1, 2 …
    resume    id of an unfinished run to continue, in its mode and kind
    """

    suite: str
    suite_sha256: str
    queries: tuple[Query, ...]
    modes: tuple[SearchMode, ...] = ("hybrid",)
    answers: bool = False
    seeds: int = 1
    filters: Filters = field(default_factory=Filters)
    resume: str | None = None


class RunInterrupted(KeyboardInterrupt):
    """A Ctrl-C ended a run; the message says how to continue it."""


def evaluate(
    kb: Runtime,
    request: EvalRequest,
    judge: Judge,
    runs_home: Path,
    on_query: OnQuery = lambda mode, done, total: None,
) -> list[Run]:
    """Run every query in every mode.

    runs_home  the home whose eval/ folder has the runs; finished queries are kept even when a later one fails
    on_query   called after each query
    raises     errors of search() and ask(), RunInterrupted after a Ctrl-C; the run can then be resumed
    """
    runs = []
    if request.resume:
        resumed = load_run(runs_home, request.resume)
        request = replace(request, modes=(resumed.mode,), answers=resumed.kind == "ask")
    for mode in request.modes:
        run, done = _begin(kb, request, mode, runs_home)
        path = run_path(runs_home, run.run_id)
        work = [(query, seed) for seed in range(request.seeds) for query in request.queries]
        results = list(run.results)
        encode_ms = 0.0
        for at, (query, seed) in enumerate(work):
            if at % ENCODED_AHEAD == 0:
                ahead = [q.text for q, s in work[at : at + ENCODED_AHEAD] if (q.id, s) not in done]
                encode_ms = kb.encode_ahead(ahead) if mode != "lexical" else 0.0
            if (query.id, seed) not in done:
                try:
                    result = _run_query(kb, request, query, query.mode or mode, judge, seed, encode_ms)
                except KbError as error:
                    error.fix += f"; {_kept(run, results, len(work))}"
                    raise
                except KeyboardInterrupt as error:
                    raise RunInterrupted(f"interrupted; {_kept(run, results, len(work))}") from error
                append_result(path, result)
                results.append(result)
            on_query(mode, len(results), len(work))
        run = _finish(run, results)
        finish_run(path, run)
        runs.append(run)
    return runs


def _kept(run: Run, results: Sequence[QueryResult], total: int) -> str:
    return f"{len(results)} of {total} queries are kept: --resume {run.run_id}"


def _begin(kb: Runtime, request: EvalRequest, mode: SearchMode, home: Path) -> tuple[Run, set[tuple[str, int]]]:
    if request.resume:
        return _continue(kb, request, load_run(home, request.resume), home)
    kind: RunKind = "ask" if request.answers else "search"
    run = Run(
        run_id=f"{new_run_id()}-{mode}",
        suite=request.suite,
        kind=kind,
        mode=mode,
        created_at=utc_text(),
        finished=False,
        provenance=_provenance(kb, request),
        metrics={},
        latency_ms=Latency(p50=None, p95=None),
        stage_latency_ms={},
    )
    begin_run(run_path(home, run.run_id), run)
    return run, set()


def _continue(kb: Runtime, request: EvalRequest, run: Run, home: Path) -> tuple[Run, set[tuple[str, int]]]:
    """An unfinished run, and the (query id, seed) of its finished queries.

    raises  InvalidInput when anything that can change a figure has changed
    """
    now = replace(_provenance(kb, request), machine=run.provenance.machine, home=run.provenance.home)
    changed = differing_fields(run, replace(run, provenance=now))
    if changed:
        raise InvalidInput(
            f"run {run.run_id} cannot go on: {', '.join(changed)} changed since", fix="start anew, without --resume"
        )
    path = run_path(home, run.run_id)
    if not path.is_file():
        raise NotFound(f"{path} is not there", fix="resume a run of this home: kb eval list")
    mend_run(path)
    return run, {(result.query_id, result.seed) for result in run.results}


def _provenance(kb: Runtime, request: EvalRequest) -> Provenance:
    state = kb.corpus_state()
    model_id, digest, _ = kb.stored_encoder()
    model: dict[str, str | None] | None = None
    if request.answers:
        reference = kb.language_model().reference()
        model = {"id": reference.id, "provider": reference.provider, "digest": reference.digest}
    config = kb.config
    version = config.rag.prompt_template_version
    templates = "\0".join(repr(TEMPLATES[version][language]) for language in sorted(TEMPLATES[version]))
    return Provenance(
        package_version=__version__,
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        corpus_revision=state.revision,
        corpus_state=state.token,
        home=str(kb.home),
        suite_sha256=request.suite_sha256,
        embedding_model=model_id,
        embedding_digest=digest,
        config={"search": asdict(config.search), "rag": asdict(config.rag), "chunking": asdict(config.chunking)}
        | (
            {"llm": {"temperature": config.llm.temperature, "max_answer_tokens": config.llm.max_answer_tokens}}
            if model
            else {}
        ),
        model=model,
        prompt_hash=sha256(templates.encode()).hexdigest() if model else None,
    )


def _run_query(
    kb: Runtime, request: EvalRequest, query: Query, mode: SearchMode, judge: Judge, seed: int, encode_ms: float
) -> QueryResult:
    """encode_ms  its part of the batch that it was encoded in, which counts as its own"""
    # No hit is too improbable to be judged, and a copy that is folded into a hit was found as well.
    found = search(kb, SearchRequest(query.text, mode, RANKING_DEPTH, request.filters, min_score=0.0, trace=True))
    places = [place for hit in found.hits for place in _places(hit)][:RANKING_DEPTH]
    ranking = [(place.chunk_id, place.score) for place in places]
    ids = [judge.identify(place.chunk_id) for place in places]
    scores = judge.score(query, ranking, ids)
    scores = scores | tag_scores(kb, query, [hit.tags for hit in found.hits[:KEPT_ROWS]])
    if query.id in judge.known_chunks:
        scores = scores | context_scores(kb, query, mode, request.filters, judge.known_chunks[query.id])
    rows = tuple(
        Retrieved(id=judged_id, score=place.score, path=place.path, place=place.uri)
        for judged_id, place in zip(ids[:KEPT_ROWS], places[:KEPT_ROWS], strict=True)
    )
    stages = dict(found.trace.stage_ms if found.trace else {})
    ahead_ms = encode_ms if "encode" in stages else 0.0
    stages |= {"total": found.took_ms + ahead_ms} | ({"encode": stages["encode"] + ahead_ms} if ahead_ms else {})
    answer: Answer | None = None
    if request.answers:
        asked = AskRequest(query.text, mode, kb.config.rag.k, request.filters, seed=seed, is_evaluation=True)
        answer = ask(kb, asked)
        stages["answer"] = answer.usage.latency_ms
        if answer.usage.first_token_ms is not None:
            stages["first_token"] = answer.usage.first_token_ms
        scores = scores | answer_scores(kb, query, answer)
    return QueryResult(
        query_id=query.id,
        text=query.text,
        answerable=query.answerable,
        slices=query.slices,
        group=query.group,
        scores=scores,
        ranking=rows,
        judged=dict(judge.judged.get(query.id, {})),
        stage_ms=stages,
        answer=answer_figures(answer) if answer else None,
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A passage in the order it is judged in; the score is the one that orders."""

    chunk_id: int
    score: float
    path: str
    uri: str


def _places(hit: Hit) -> list[_Place]:
    """A hit, and its copies right behind it."""
    own = _Place(hit.chunk_id, hit.order_score, hit.path, hit.citation.uri)
    return [own, *(_Place(c.chunk_id, hit.order_score, c.path, c.citation.uri) for c in hit.also_in)]


def _finish(run: Run, results: Sequence[QueryResult]) -> Run:
    names = list(dict.fromkeys(name for result in results for name in result.scores))
    by_query = average_seeds(results).values()
    metrics = {name: mean_interval([scores.get(name) for scores in by_query]) for name in names}
    if run.kind == "ask":
        metrics |= refusal_figures(results)
    stages = list(dict.fromkeys(stage for result in results for stage in result.stage_ms))
    return replace(
        run,
        finished=True,
        metrics=metrics,
        latency_ms=percentiles([r.stage_ms["answer" if run.kind == "ask" else "total"] for r in results]),
        stage_latency_ms={s: percentiles([r.stage_ms[s] for r in results if s in r.stage_ms]) for s in stages},
        results=tuple(results),
    )
