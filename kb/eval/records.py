"""The records of an evaluation: a suite's queries with their labels, a run's results and figures, a comparison."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from kb.frozen import dataclass
from kb.records import SearchMode

RunKind = Literal["search", "ask"]
# Per query and metric; None where the metric is undefined for that query (no relevant passage, no answer).
Scores = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Label:
    """One place that is relevant to a query, found by its words, so that it survives edits and re-chunking.

    path            relative to the root of its source
    anchor          a quoted passage that occurs exactly once in the document, white space aside; or
    heading         a heading that occurs exactly once: every chunk under it is relevant
    grade           1 related, 2 answers it
    line            the label's line in the suite's file, for messages
    """

    path: str
    anchor: str | None = None
    heading: str | None = None
    grade: int = 1
    line: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Words an answer must, or must not, contain; compared without case, width and white space runs."""

    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """One labelled query.

    relevant   id of a judged thing → grade; filled for BEIR and span collections, whose judgements are by document id
    labels     places, for suites; resolved to chunks at run time
    window     for two-step tasks: places whose text the reader has already
    slices     dimension → value ("lang": "ko", "difficulty": "hard", "kind": "near-miss"), for tables by slice
    group      paraphrases of one question share it
    session    queries of one session are turns of one conversation, in the order of the file; None for a single question
    standalone   the question as a person would complete it from the turns before; None where it is complete
    facts        facts that kb remembers from this turn on
    after_hours  hours of silence before this turn
    expect_mode  the mode the relevance rules should choose, None where any will do
    draft        nobody has judged it: it is measured only on request
    """

    id: str
    text: str
    answerable: bool = True
    labels: tuple[Label, ...] = ()
    window: tuple[Label, ...] = ()
    relevant: dict[str, int] = field(default_factory=dict)
    must_contain: Wanted = Wanted()
    must_not_contain: Wanted = Wanted()
    tags: tuple[str, ...] = ()
    mode: SearchMode | None = None
    group: str | None = None
    slices: dict[str, str] = field(default_factory=dict)
    line: int = 0
    session: str | None = None
    standalone: str | None = None
    facts: tuple[str, ...] = ()
    after_hours: int = 0
    expect_mode: str | None = None
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Suite:
    """A file of queries. `sha256` is of its bytes; runs record it.

    queries  those to measure
    drafts   how many more stand in the file that nobody has judged, and are left out
    """

    name: str
    path: str
    sha256: str
    text: str
    queries: tuple[Query, ...]
    drafts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """One row of a query's ranking: the id that judgements use, and the place for a reader."""

    id: str
    score: float
    path: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFigures:
    """What an answer run keeps of one answer, beside its scores.

    statuses  verdicts per sentence of earlier versions; empty today
    is_quote  it is made of quotes: each has its marker, whatever the number of its sentences
    """

    trace_id: str
    answer: str
    grounded: bool
    refusal_reason: str | None
    citations: tuple[str, ...]
    statuses: tuple[str, ...] = ()
    is_quote: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    first_token_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """One query in one run.

    scores     metric → value, None where undefined for this query
    stage_ms   milliseconds per stage, and "total"
    judged     id → grade, as the labels resolved in this run
    seed       which repetition this is, 0-based
    """

    query_id: str
    text: str
    answerable: bool
    slices: dict[str, str]
    group: str | None
    scores: Scores
    ranking: tuple[Retrieved, ...]
    judged: dict[str, int]
    stage_ms: dict[str, float]
    answer: AnswerFigures | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Everything that can change a figure; a comparison lists the differences.

    config        values of the output-affecting settings
    model         id, provider and digest of the language model, None for search runs
    prompt_hash   sha256 of the prompt template, None for search runs
    """

    package_version: str
    machine: str
    corpus_revision: int
    corpus_state: str
    home: str
    suite_sha256: str
    embedding_model: str
    embedding_digest: str
    config: dict[str, Any]
    model: dict[str, str | None] | None = None
    prompt_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean over the queries for which the metric is defined, with a bootstrap 95 % interval; all None when n is 0."""

    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds over the queries of a run; None without queries."""

    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one suite in one mode; finished when every query has its result.

    run_id    sorts by time
    metrics   name → interval, as `ndcg@10`, `recall@100`, `mrr`
    latency_ms  of the whole query; stages in `stage_latency_ms`
    """

    run_id: str
    suite: str
    kind: RunKind
    mode: SearchMode
    created_at: str
    finished: bool
    provenance: Provenance
    metrics: dict[str, Interval]
    latency_ms: Latency
    stage_latency_ms: dict[str, Latency]
    results: tuple[QueryResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as eval_runs.v1 shows it."""

    run_id: str
    suite: str
    mode: SearchMode
    metrics: dict[str, Interval]
    latency_ms: Latency
    kind: RunKind = "search"
    queries: int = 0
    finished: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRuns:
    """The last line of `kb eval run|beir|spans --json`."""

    schema_version: Literal["eval_runs.v1"] = "eval_runs.v1"
    runs: tuple[RunSummary, ...]
    gates: tuple[GateResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The result of one --gate; an undefined value (None) fails."""

    gate: str
    run_id: str
    value: float | None
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDifference:
    """One metric of B against A over the queries both have: B − A.

    p             two-sided paired permutation test
    is_regression worse by more than the tolerance, and p < 0.05
    """

    metric: str
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    wins: int
    losses: int
    ties: int
    n: int
    is_regression: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryChange:
    """A query that got worse (or better): the places retrieved before and now, best first."""

    query_id: str
    text: str
    metric: str
    before: float | None
    after: float | None
    places_before: tuple[str, ...]
    places_after: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """eval_compare.v1: run B against run A.

    slices       "lang=ko" → its differences
    differences_in  names of provenance fields in which the runs differ
    """

    schema_version: Literal["eval_compare.v1"] = "eval_compare.v1"
    run_a: str
    run_b: str
    suite: str
    metrics: tuple[MetricDifference, ...]
    slices: dict[str, tuple[MetricDifference, ...]]
    worst: tuple[QueryChange, ...]
    best: tuple[QueryChange, ...]
    differences_in: tuple[str, ...]
    only_in_a: tuple[str, ...] = ()
    only_in_b: tuple[str, ...] = ()
    has_regression: bool = False
