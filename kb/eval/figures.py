"""Runs → the figures that a report shows: names, order and direction of metrics, rows by query, slice and group.

Pure; knows neither HTML nor a terminal. `kb/eval/metrics.py` says what each metric means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from kb.eval.records import Comparison, Interval, Latency, QueryResult, Run
from kb.frozen import dataclass

NOTHING = "–"
# A run's main metric is the first of these that it has.
MAIN_METRICS = {
    "search": ("ndcg@10", "map", "mrr", "recall@10", "recall@5", "iou@5"),
    "ask": ("must_contain", "citation_support", "citation_coverage", "exact_lines", "ndcg@10"),
}
# Metrics shown first, in this order; a report folds away the others.
HEADLINES = (
    # What answers say, then whether they are proved, then whether refusing was right.
    *("must_contain", "must_not_contain", "citation_support", "citation_coverage", "exact_lines"),
    *("false_refusal", "refusal_f1", "refusal_precision", "refusal_recall"),
    # The order of what was found, then how much was found, by k.
    *("ndcg@10", "mrr", "map", "hit@1", "hit@10", "recall@5", "recall@10", "recall@100", "precision@10"),
    *("iou@5", "iou@10", "context_recall", "context_recall_plain"),
    *("context_new_tokens", "context_new_tokens_plain", "first_token_ms", "tokens_per_second"),
)
# Dimensions tried first for the colours of queries: they have few values.
COLOUR_DIMENSIONS = ("kind", "lang", "difficulty")
MOST_COLOURS = 6


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query across the runs.

    results  a tuple per run, in order of seed; empty where the run does not have the query
    values   main metric per run, mean over the seeds; None where undefined
    trouble  "answered, unanswerable" or "refused, answerable"; None when neither happened
    """

    number: int
    query: QueryResult
    results: tuple[tuple[QueryResult, ...], ...]
    values: tuple[float | None, ...]
    trouble: str | None


@dataclass(frozen=True, slots=True)
class View:
    """The input of a report: runs with short labels, their queries worst first, and the comparison of B with A."""

    runs: tuple[Run, ...]
    labels: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    comparison: Comparison | None

    def intervals(self, metric: str) -> list[Interval | None]:
        """The metric of each run; None for a run that does not have it."""
        return [run.metrics.get(metric) for run in self.runs]


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One value of one dimension: a (mean, n) per run, mean None where the metric is undefined for every query of it."""

    name: str
    cells: tuple[tuple[float | None, int], ...]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Paraphrases of one question: a (lowest, highest) per run, None with fewer than two values."""

    name: str
    texts: tuple[str, ...]
    ranges: tuple[tuple[float, float] | None, ...]

    @property
    def spread(self) -> float:
        """The widest range of any run; 0 without a range."""
        return max((high - low for low, high in filter(None, self.ranges)), default=0.0)


def is_lower_better(metric: str) -> bool:
    """True for times and false refusals."""
    return metric == "false_refusal" or metric.endswith("_ms")


def has_direction(metric: str) -> bool:
    """False for metrics that are neither good nor bad, such as prompt tokens or the share of refusals."""
    return metric not in ("refused", "gate_score") and not metric.endswith("_tokens")


def is_share(metric: str) -> bool:
    """True for a metric that lies in [0, 1]."""
    return metric != "gate_score" and not metric.endswith(("_ms", "_tokens", "_per_second"))


def number_text(value: float | None, metric: str = "") -> str:
    """A metric's value for people; "–" where it is undefined, never 0.

    >>> number_text(0.43561, "ndcg@10"), number_text(None, "ndcg@10"), number_text(1234.5, "first_token_ms")
    ('0.436', '–', '1,234 ms')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if metric.endswith("_ms"):
        return ms_text(value)
    if is_share(metric) or metric == "gate_score":
        return f"{value:.3f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"


def ms_text(value: float | None) -> str:
    """Milliseconds, one decimal below 10."""
    if value is None:
        return NOTHING
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"


def latency_text(latency: Latency | None) -> str:
    """p50 and p95 of one stage or of the whole."""
    return f"{ms_text(latency.p50)} / {ms_text(latency.p95)}" if latency else NOTHING


def query_count(run: Run) -> int:
    """Number of queries in a run; repetitions of a query are one."""
    return len({result.query_id for result in run.results})


def signed_text(value: float | None, metric: str = "") -> str:
    """A difference with its sign, minus as a minus.

    >>> signed_text(-0.0312, "ndcg@10"), signed_text(0.0, "ndcg@10")
    ('−0.031', '±0.000')
    """
    if value is None:
        return NOTHING
    sign = "±" if value == 0 else "+" if value > 0 else "−"
    return sign + number_text(abs(value), metric)


def p_text(p: float | None) -> str:
    """A p value with three decimals."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def run_labels(runs: Sequence[Run]) -> tuple[str, ...]:
    """A short name for each run, unique among these: mode; with its kind; with the end of its id; or the id."""
    for make in (
        lambda run: run.mode,
        lambda run: f"{run.kind} {run.mode}",
        lambda run: f"{run.mode} …{run.run_id[-6:]}",
        lambda run: f"{run.suite} {run.mode}",
        lambda run: run.run_id,
    ):
        labels = tuple(make(run) for run in runs)
        if len(set(labels)) == len(labels):
            return labels
    return tuple(f"{run.mode} {at}" for at, run in enumerate(runs, 1))


def main_metric(run: Run) -> str | None:
    """The metric that represents a run; None where none is defined."""
    defined = [name for name, interval in run.metrics.items() if interval.n]
    preferred = [name for name in MAIN_METRICS[run.kind] if name in defined]
    shares = [name for name in sorted(defined) if is_share(name)]
    return next(iter([*preferred, *shares, *sorted(defined)]), None)


def metric_names(runs: Sequence[Run]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of every metric of the runs: the headlines, then the others by family and k."""
    names = {name for run in runs for name in run.metrics}
    first = tuple(name for name in HEADLINES if name in names)
    return first, tuple(sorted(names - set(first), key=_family_and_k))


def _family_and_k(metric: str) -> tuple[str, int]:
    family, _, k = metric.partition("@")
    return family, int(k) if k.isdigit() else 0


def best_runs(metric: str, intervals: Sequence[Interval | None]) -> frozenset[int]:
    """Positions of the best runs; empty when all runs are equal or the metric has no direction."""
    means = {at: interval.mean for at, interval in enumerate(intervals) if interval and interval.mean is not None}
    if len(set(means.values())) < 2 or not has_direction(metric):
        return frozenset()
    best = (min if is_lower_better(metric) else max)(means.values())
    return frozenset(at for at, mean in means.items() if mean == best)


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of what is defined; None without any."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def query_rows(runs: Sequence[Run]) -> tuple[QueryRow, ...]:
    """Every query of the runs, worst first: those with trouble, then by value; ties by suite and id."""
    metrics = [main_metric(run) for run in runs]
    by_key: dict[tuple[str, str], list[list[QueryResult]]] = {}
    for at, run in enumerate(runs):
        for result in run.results:
            by_key.setdefault((run.suite, result.query_id), [[] for _ in runs])[at].append(result)
    rows = []
    for key, lists in by_key.items():
        results = tuple(tuple(sorted(found, key=lambda result: result.seed)) for found in lists)
        values = tuple(
            mean(result.scores.get(metric) for result in found) if metric else None
            for metric, found in zip(metrics, results, strict=True)
        )
        first = next(found[0] for found in results if found)
        rows.append((key, first, results, values, _trouble(results)))
    rows.sort(key=lambda row: (row[4] is None, _mean_or_one(row[3]), row[0]))
    return tuple(QueryRow(at, *row[1:]) for at, row in enumerate(rows, 1))


def _mean_or_one(values: Sequence[float | None]) -> float:
    found = mean(values)
    return 1.0 if found is None else found


def outcome(result: QueryResult) -> str | None:
    """Whether a question was answered or refused, and rightly so; None in a search run."""
    if result.answer is None:
        return None
    if result.answer.grounded:
        return "answered" if result.answerable else "answered, unanswerable"
    return "refused, answerable" if result.answerable else "refused, rightly"


def _trouble(results: Iterable[Sequence[QueryResult]]) -> str | None:
    outcomes = {outcome(result) for found in results for result in found}
    return next((words for words in ("answered, unanswerable", "refused, answerable") if words in outcomes), None)


def dimensions(rows: Sequence[QueryRow]) -> tuple[str, ...]:
    """Names of the slices' dimensions, sorted."""
    return tuple(sorted({name for row in rows for name in row.query.slices}))


def slice_rows(rows: Sequence[QueryRow], dimension: str) -> tuple[SliceRow, ...]:
    """The main metric by value of one dimension; queries without one are left out."""
    by_value: dict[str, list[QueryRow]] = {}
    for row in rows:
        if dimension in row.query.slices:
            by_value.setdefault(row.query.slices[dimension], []).append(row)
    found = []
    for name in sorted(by_value):
        columns = zip(*(row.values for row in by_value[name]), strict=True)
        cells = tuple((mean(column), sum(value is not None for value in column)) for column in map(list, columns))
        found.append(SliceRow(name, cells))
    return tuple(found)


def group_rows(rows: Sequence[QueryRow]) -> tuple[GroupRow, ...]:
    """Paraphrase groups of two queries or more, the widest spread first."""
    by_group: dict[str, list[QueryRow]] = {}
    for row in rows:
        if row.query.group is not None:
            by_group.setdefault(row.query.group, []).append(row)
    found = []
    for name, members in by_group.items():
        if len(members) < 2:
            continue
        columns = [
            [value for value in column if value is not None]
            for column in zip(*(m.values for m in members), strict=True)
        ]
        ranges = tuple((min(column), max(column)) if len(column) > 1 else None for column in columns)
        found.append(GroupRow(name, tuple(sorted(m.query.text for m in members)), ranges))
    return tuple(sorted(found, key=lambda group: (-group.spread, group.name)))


def colour_dimension(rows: Sequence[QueryRow]) -> str | None:
    """The dimension that colours the queries: two to six values, COLOUR_DIMENSIONS first; None where none fits."""
    names = dimensions(rows)
    for name in [*(n for n in COLOUR_DIMENSIONS if n in names), *names]:
        if 2 <= len({row.query.slices.get(name) for row in rows}) <= MOST_COLOURS:
            return name
    return None


def metric_by_k(run: Run, family: str) -> tuple[tuple[int, Interval], ...]:
    """(k, interval) of one family where it is defined, k rising."""
    found = []
    for name, interval in run.metrics.items():
        stem, _, k = name.partition("@")
        if stem == family and k.isdigit() and interval.mean is not None:
            found.append((int(k), interval))
    return tuple(sorted(found, key=lambda pair: pair[0]))
