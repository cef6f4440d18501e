"""Runs made by hand for the tests of reports: three modes over 40 queries, an answer run with refusals, a comparison."""

from __future__ import annotations

import random
from dataclasses import replace

from kb.eval.figures import mean
from kb.eval.metrics import percentiles
from kb.eval.records import (
    AnswerFigures,
    Comparison,
    Interval,
    Latency,
    MetricDifference,
    Provenance,
    QueryChange,
    QueryResult,
    Retrieved,
    Run,
    RunKind,
)
from kb.records import SearchMode

HOSTILE = "</script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\x1b[31m\u202e\"'&|`"
QUESTIONS = (
    "How is the corpus revision raised when a document is moved?",
    "캐시는 언제 비워지나요?",
    "Which gate refuses a question that the documents do not answer?",
    "시작하기 전에 무엇을 설치해야 하나요",
    "What does BM25 divide by?",
    "How long does the second writer wait for the first before it gives up, and where is that set?",
)
STRENGTH: dict[str, float] = {"lexical": 0.55, "vector": 0.6, "hybrid": 0.72}
KS = (1, 3, 5, 10, 100)


def search_runs(queries: int = 40) -> tuple[Run, ...]:
    """lexical, vector and hybrid over the same queries."""
    return tuple(make_run(mode, "search", queries) for mode in ("lexical", "vector", "hybrid"))


def ask_run(queries: int = 40, *, hostile: bool = False) -> Run:
    """An answer run: a third of the queries is unanswerable, some are wrongly refused, some wrongly answered."""
    return make_run("hybrid", "ask", queries, hostile=hostile)


def make_run(mode: SearchMode, kind: RunKind, queries: int = 40, *, hostile: bool = False) -> Run:
    dice = random.Random(f"{mode}{kind}")
    results = tuple(make_result(at, mode, kind, dice, hostile=hostile) for at in range(queries))
    names = sorted({name for result in results for name in result.scores} - {"gate_score"})
    stages = sorted({stage for result in results for stage in result.stage_ms})
    latencies = {stage: latency([result.stage_ms[stage] for result in results]) for stage in stages}
    return Run(
        run_id=f"2026-11-21T10-2{STRENGTH[mode] * 10:.0f}-{kind}-{mode}",
        suite="fixtures",
        kind=kind,
        mode=mode,
        created_at="2026-11-21T10:20:00Z",
        finished=True,
        provenance=make_provenance(mode, kind),
        metrics={name: interval([result.scores.get(name) for result in results], name) for name in names},
        latency_ms=latencies.get("total", Latency(p50=None, p95=None)),
        stage_latency_ms=latencies,
        results=results,
    )


def make_provenance(mode: str, kind: str) -> Provenance:
    return Provenance(
        package_version="0.1.0",
        machine="Linux x86_64, 2 cores, 8 GB",
        corpus_revision=17,
        corpus_state="9f2c44d1a0b7e3",
        home="/home/me/kb",
        suite_sha256="c0ffee" * 10 + "abcd",
        embedding_model="all-MiniLM-L6-v2",
        embedding_digest="53aa51172d142c89",
        config={"search": {"k": 100, "mode": mode}, "ranking": {"rrf_k": 60, "novelty": False}},
        model={"id": "extractive", "provider": "builtin", "digest": None} if kind == "ask" else None,
        prompt_hash="ab12" * 16 if kind == "ask" else None,
    )


def make_result(at: int, mode: str, kind: str, dice: random.Random, *, hostile: bool = False) -> QueryResult:
    answerable = at % 3 != 2
    text = f"{QUESTIONS[at % len(QUESTIONS)]} ({at})" + (HOSTILE if hostile else "")
    places = [f"docs/guide-{dice.randrange(9)}.md#L{n * 7 + 1}-L{n * 7 + 6}" for n in range(12)]
    if hostile:
        places[0] = HOSTILE
    ranking = tuple(
        Retrieved(id=f"chunk-{at}-{n}", score=1 / (n + 1), path=place.split("#")[0], place=place)
        for n, place in enumerate(places)
    )
    found = dice.random() < STRENGTH[mode]
    hit_rank = dice.randrange(3) if found else dice.randrange(4, 14)
    judged = {f"chunk-{at}-{hit_rank}": 2, f"chunk-{at}-{dice.randrange(12)}": 1} if answerable else {}
    result = QueryResult(
        query_id=f"q{at:03}",
        text=text,
        answerable=answerable,
        slices={"lang": "ko" if at % 6 in (1, 3) else "en", "difficulty": ("easy", "medium", "hard")[at % 7 % 3]},
        group=f"paraphrase-{at // 4}" if at % 4 < 3 else None,
        scores=retrieval_scores(hit_rank) if answerable else dict.fromkeys(retrieval_scores(0)),
        ranking=ranking,
        judged=judged,
        stage_ms=stage_times(mode, dice),
    )
    return answered(result, dice, hostile=hostile) if kind == "ask" else result


def retrieval_scores(hit_rank: int) -> dict[str, float | None]:
    """Scores of one relevant chunk at a 0-based rank."""
    reciprocal = 1 / (hit_rank + 1)
    scores: dict[str, float | None] = {"ndcg@10": reciprocal**0.6 if hit_rank < 10 else 0.0, "mrr": reciprocal}
    for k in KS:
        scores[f"recall@{k}"] = float(hit_rank < k)
        scores[f"hit@{k}"] = float(hit_rank < k)
    return scores


def stage_times(mode: str, dice: random.Random) -> dict[str, float]:
    stages = {"encode": (6.0, mode != "lexical"), "bm25": (1.5, mode != "vector"), "faiss": (0.8, mode != "lexical")}
    times = {name: base * dice.lognormvariate(0, 0.4) for name, (base, used) in stages.items() if used}
    return {**times, "total": sum(times.values()) + 0.7}


def answered(result: QueryResult, dice: random.Random, *, hostile: bool) -> QueryResult:
    gate_score = min(max(dice.gauss(0.62 if result.answerable else 0.38, 0.12), 0.0), 1.0)
    refused = gate_score < 0.45
    covered = dice.random() ** 0.3
    scores = {
        **result.scores,
        "gate_score": gate_score,
        "must_contain": float(not refused and gate_score > 0.55) if result.answerable else None,
        "refusal_precision": float(not result.answerable) if refused else None,
        "refusal_recall": None if result.answerable else float(refused),
        "false_refusal": float(refused) if result.answerable else None,
        "citation_coverage": None if refused else covered,
        "first_token_ms": 120 * dice.lognormvariate(0, 0.3),
        "context_tokens": float(dice.randrange(700, 1600)),
    }
    answer = AnswerFigures(
        trace_id=f"trace-{result.query_id}",
        answer=HOSTILE if hostile else "The revision rises with every change [#1]. A move is a change [#2].",
        grounded=not refused,
        refusal_reason="weak_evidence" if refused else None,
        citations=() if refused else ("docs/guide-1.md#L8-L13", HOSTILE if hostile else "docs/guide-2.md#L1-L6"),
        statuses=() if refused else ("supported", "unsupported"),
        prompt_tokens=1180,
        completion_tokens=42,
        first_token_ms=130.0,
    )
    return replace(result, scores=scores, answer=answer)


def interval(values: list[float | None], name: str) -> Interval:
    """Mean with a normal-theory interval, near enough for a picture."""
    defined = [value for value in values if value is not None]
    centre = mean(defined)
    if centre is None:
        return Interval(mean=None, ci_low=None, ci_high=None, n=0)
    spread = (sum((value - centre) ** 2 for value in defined) / len(defined)) ** 0.5
    half = 1.96 * spread / len(defined) ** 0.5
    top = float("inf") if name.endswith(("_ms", "_tokens")) else 1.0
    return Interval(mean=centre, ci_low=max(centre - half, 0.0), ci_high=min(centre + half, top), n=len(defined))


def latency(values: list[float]) -> Latency:
    return percentiles(values)


def comparison(run_a: Run, run_b: Run, *, hostile: bool = False) -> Comparison:
    """B against A: one metric better, one regressed, one undefined, one time."""
    text = HOSTILE if hostile else QUESTIONS[0]
    change = QueryChange(
        query_id="q003",
        text=text,
        metric="ndcg@10",
        before=0.63,
        after=None,
        places_before=("docs/guide-1.md#L8-L13", "docs/guide-2.md#L1-L6"),
        places_after=(text if hostile else "docs/guide-7.md#L1-L6",),
    )
    metrics = (
        difference("ndcg@10", 0.61, 0.70, 0.03, 0.004),
        difference("recall@10", 0.81, 0.74, 0.04, 0.012, is_regression=True),
        difference("mrr", 0.58, 0.59, 0.05, 0.71),
        MetricDifference(
            metric="map", mean_a=None, mean_b=None, difference=None, ci_low=None, ci_high=None, p=None,
            wins=0, losses=0, ties=0, n=0, is_regression=False,
        ),
        difference("total_ms", 9.1, 12.4, 0.9, 0.0004),
    )  # fmt: skip
    return Comparison(
        run_a=run_a.run_id,
        run_b=run_b.run_id,
        suite="fixtures",
        metrics=metrics,
        slices={"lang=ko": (difference("ndcg@10", 0.5, 0.66, 0.06, 0.03),), "lang=en": metrics[:2]},
        worst=(change, replace(change, query_id="q007", after=0.2)),
        best=(replace(change, query_id="q009", before=0.1, after=0.9),),
        differences_in=("config", "package_version"),
        only_in_b=("q041",),
        has_regression=True,
    )


def difference(
    name: str, a: float, b: float, half: float, p: float, *, is_regression: bool = False
) -> MetricDifference:
    return MetricDifference(
        metric=name,
        mean_a=a,
        mean_b=b,
        difference=b - a,
        ci_low=b - a - half,
        ci_high=b - a + half,
        p=p,
        wins=11,
        losses=5,
        ties=24,
        n=40,
        is_regression=is_regression,
    )
