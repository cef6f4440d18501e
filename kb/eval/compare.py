"""Two runs of one suite → what changed and whether it is a regression; one run and its gates → which of them fail. Pure.

A regression is worse by more than the tolerance and significant: in small suites a large difference can be chance, in
large ones a tiny difference can be significant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from kb.errors import InvalidInput
from kb.eval.metrics import METRICS, average_seeds, find_metric, is_judged, part_of_query
from kb.eval.records import Comparison, GateResult, MetricDifference, Provenance, QueryChange, QueryResult, Run, Scores
from kb.eval.resampling import Part, paired_bootstrap_interval, permutation_p, ratio
from kb.frozen import dataclass

# The usual level; many metrics are tested, and the tolerance limits false alarms.
SIGNIFICANT = 0.05
# Scores that differ by less are the same but for rounding.
TIE = 1e-9
# With four queries p is at least 2 / 2^4 = 0.125, even when all of them get worse.
FEWEST_IN_SLICE = 5
# Changed queries in a comparison, and places shown of each.
MOST_CHANGES, PLACES_SHOWN = 10, 5
# The metrics of slices and of the lists of changed queries, unless metrics are named.
HEADLINES = (
    "ndcg@10",
    "iou@10",
    "must_contain",
    "must_not_contain",
    "false_refusal",
    "refusal_recall",
    "citation_coverage",
    "citation_support",
)

# Floating-point sums depend on the order: a mean of 0.05 may be 0.05000000000000001, and must pass <=0.05.
GATE_ROUNDING = 1e-9

_GATE_TEXT = re.compile(r"\s*([^<>=\s]+)\s*(>=|<=|==|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - GATE_ROUNDING,
    "<=": lambda value, bound: value <= bound + GATE_ROUNDING,
    "==": lambda value, bound: abs(value - bound) <= GATE_ROUNDING,
    ">": lambda value, bound: value > bound + GATE_ROUNDING,
    "<": lambda value, bound: value < bound - GATE_ROUNDING,
}


@dataclass(frozen=True, slots=True)
class _Pair:
    """One query in both runs; scores are means over its repetitions, results are the first of them."""

    a: Scores
    b: Scores
    result_a: QueryResult
    result_b: QueryResult


def compare_runs(
    a: Run, b: Run, tolerance: float = 0.01, metrics: Sequence[str] | None = None, seed: int = 0
) -> Comparison:
    """Compare run B with run A over the queries both have: differences are B − A.

    tolerance  how much worse a share may get before it can be a regression
    metrics    those to compare; None takes all that both runs have. Only shares with a direction can regress, not times
               and tokens
    returns    slices with their headline (or the named) metrics, `has_regression` from all queries, not from slices
    raises     InvalidInput for an unknown metric, runs of different suites, or runs without a query in common
    """
    for name in metrics or ():
        find_metric(name)
    if a.suite != b.suite:
        raise InvalidInput(
            f"run {a.run_id} is of the suite '{a.suite}', {b.run_id} of '{b.suite}'",
            fix="compare two runs of one suite",
        )
    pairs = _pair_up(a, b)
    if not pairs:
        raise InvalidInput(f"runs {a.run_id} and {b.run_id} have no query in common", fix="compare runs of one suite")
    names = list(metrics) if metrics else _shared_metrics(pairs)
    headlines = names if metrics else [name for name in HEADLINES if name in names]
    differences = tuple(_compare_metric(name, pairs, tolerance, seed) for name in names)
    worst, best = _rank_changes(pairs, [name for name in headlines if is_judged(name)])
    ids_a, ids_b = _query_ids(a), _query_ids(b)
    return Comparison(
        run_a=a.run_id,
        run_b=b.run_id,
        suite=b.suite,
        metrics=differences,
        slices={
            name: tuple(_compare_metric(metric, some, tolerance, seed) for metric in headlines)
            for name, some in _slice_up(pairs).items()
            if len(some) >= FEWEST_IN_SLICE
        },
        worst=worst,
        best=best,
        differences_in=differing_fields(a, b),
        only_in_a=tuple(query for query in ids_a if query not in ids_b),
        only_in_b=tuple(query for query in ids_b if query not in ids_a),
        has_regression=any(difference.is_regression for difference in differences),
    )


def _query_ids(run: Run) -> dict[str, QueryResult]:
    """Every query's first repetition."""
    first: dict[str, QueryResult] = {}
    for result in sorted(run.results, key=lambda result: result.seed):
        first.setdefault(result.query_id, result)
    return first


def _pair_up(a: Run, b: Run) -> list[_Pair]:
    scores_a, scores_b = average_seeds(a.results), average_seeds(b.results)
    results_a, results_b = _query_ids(a), _query_ids(b)
    return [
        _Pair(scores_a[query], scores_b[query], results_a[query], results_b[query])
        for query in sorted(results_b)
        if query in results_a
    ]


def _shared_metrics(pairs: Sequence[_Pair]) -> list[str]:
    """The metrics that are defined for some query in both runs, in the registry's order."""
    return [name for name in METRICS if any(_parts(name, pair) for pair in pairs)]


def _parts(metric: str, pair: _Pair) -> tuple[Part, Part] | None:
    """A query's part of a metric in A and in B; None where it is undefined in either."""
    part_a = part_of_query(metric, pair.a, answerable=pair.result_a.answerable)
    part_b = part_of_query(metric, pair.b, answerable=pair.result_b.answerable)
    return None if part_a is None or part_b is None else (part_a, part_b)


def _compare_metric(metric: str, pairs: Sequence[_Pair], tolerance: float, seed: int) -> MetricDifference:
    both = [(pair, parts) for pair in pairs if (parts := _parts(metric, pair)) is not None]
    parts_a, parts_b = [parts[0] for _, parts in both], [parts[1] for _, parts in both]
    mean_a, mean_b = ratio(parts_a), ratio(parts_b)
    gains = [_gain(metric, pair) for pair, _ in both]
    wins, losses = sum(gain > TIE for gain in gains), sum(gain < -TIE for gain in gains)
    difference = low = high = p = None
    if mean_a is not None and mean_b is not None:
        difference = mean_b - mean_a
        low, high = paired_bootstrap_interval(parts_a, parts_b, seed)
        p = permutation_p(parts_a, parts_b, seed)
    return MetricDifference(
        metric=metric,
        mean_a=mean_a,
        mean_b=mean_b,
        difference=difference,
        ci_low=low,
        ci_high=high,
        p=p,
        wins=wins,
        losses=losses,
        ties=len(both) - wins - losses,
        n=len(both),
        is_regression=is_judged(metric)
        and difference is not None
        and p is not None
        and _direction(metric) * difference < -tolerance - TIE
        and p < SIGNIFICANT,
    )


def _direction(metric: str) -> int:
    """−1 where lower is better."""
    return -1 if METRICS[metric].higher_is_better is False else 1


def _gain(metric: str, pair: _Pair) -> float:
    """How much better a query is in B; for precision and F1 of refusals, how much nearer to the right decision."""
    before, after = pair.a.get(metric), pair.b.get(metric)
    if before is not None and after is not None:
        return _direction(metric) * (after - before)
    sign = -1 if pair.result_b.answerable else 1
    return sign * ((pair.b.get("refused") or 0.0) - (pair.a.get("refused") or 0.0))


def _slice_up(pairs: Sequence[_Pair]) -> dict[str, list[_Pair]]:
    found: dict[str, list[_Pair]] = {}
    for pair in pairs:
        for dimension, value in pair.result_b.slices.items():
            found.setdefault(f"{dimension}={value}", []).append(pair)
    return {name: found[name] for name in sorted(found)}


def _rank_changes(
    pairs: Sequence[_Pair], headlines: Sequence[str]
) -> tuple[tuple[QueryChange, ...], tuple[QueryChange, ...]]:
    """The queries that lost and that gained most, each by the headline in which it changed most; ties by query id."""
    losses: list[tuple[float, QueryChange]] = []
    gains: list[tuple[float, QueryChange]] = []
    for pair in pairs:
        changes = [
            (_gain(name, pair), name)
            for name in headlines
            if pair.a.get(name) is not None and pair.b.get(name) is not None
        ]
        if changes and (lowest := min(changes, key=lambda change: change[0]))[0] < -TIE:
            losses.append((lowest[0], _to_change(pair, lowest[1])))
        if changes and (highest := max(changes, key=lambda change: change[0]))[0] > TIE:
            gains.append((-highest[0], _to_change(pair, highest[1])))
    worst, best = (
        tuple(change for _, change in sorted(some, key=lambda one: (one[0], one[1].query_id))[:MOST_CHANGES])
        for some in (losses, gains)
    )
    return worst, best


def _to_change(pair: _Pair, metric: str) -> QueryChange:
    return QueryChange(
        query_id=pair.result_b.query_id,
        text=pair.result_b.text,
        metric=metric,
        before=pair.a[metric],
        after=pair.b[metric],
        places_before=tuple(row.place for row in pair.result_a.ranking[:PLACES_SHOWN]),
        places_after=tuple(row.place for row in pair.result_b.ranking[:PLACES_SHOWN]),
    )


# Config keys of earlier versions, with the values that are constants today.
FORMER_KEYS: dict[str, object] = {
    "config.search.tags_weight": 0.25,
    "config.rag.packs": "relevance",
    "config.chunking.max_tokens": 0,
}


def differing_fields(a: Run, b: Run) -> tuple[str, ...]:
    """Names of settings and inputs in which the runs differ: `mode`, `corpus_state`, `config.search.depth`, `model.digest` …"""
    values_a, values_b = (
        FORMER_KEYS | {"kind": run.kind, "mode": run.mode} | dict(_flat_fields(run.provenance)) for run in (a, b)
    )
    return tuple(n for n in dict.fromkeys([*values_a, *values_b]) if values_a.get(n) != values_b.get(n))


def _flat_fields(provenance: Provenance) -> Iterator[tuple[str, object]]:
    for each in fields(provenance):
        yield from flatten(each.name, getattr(provenance, each.name))


def flatten(name: str, value: object) -> Iterator[tuple[str, object]]:
    """(dotted name, value) of everything in nested mappings; tuples become lists, as JSON has them."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flatten(f"{name}.{key}", inner)
    else:
        yield name, list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition on a run's mean of a metric.

    text        as the user wrote it
    comparison  a key of COMPARISONS
    """

    text: str
    metric: str
    comparison: str
    bound: float


def parse_gate(text: str) -> Gate:
    """A gate from its text; `latency_p95_ms<=500` works as well.

    raises  InvalidInput, for an unknown metric naming the nearest one
    """
    match = _GATE_TEXT.fullmatch(text)
    if match is None:
        raise InvalidInput(
            f"'{text}' is not a gate", fix="a metric, one of >= <= == > <, a number: --gate 'ndcg@10>=0.40'", gate=text
        )
    metric, comparison, bound = match.groups()
    find_metric(metric)
    return Gate(text, metric, comparison, float(bound))


def needs_answers(gate: Gate) -> bool:
    """True when only a run with answers has the gate's metric."""
    return find_metric(gate.metric).of_answers


def check_gates(run: Run, gates: Iterable[Gate]) -> list[GateResult]:
    """The result of every gate, in order; a metric that is missing or undefined fails."""
    return [_check_gate(run, gate) for gate in gates]


def _check_gate(run: Run, gate: Gate) -> GateResult:
    value = _mean_of(run, gate.metric)
    passed = value is not None and COMPARISONS[gate.comparison](value, gate.bound)
    return GateResult(gate=gate.text, run_id=run.run_id, value=value, passed=passed)


def _mean_of(run: Run, metric: str) -> float | None:
    latencies = {"latency_p50_ms": run.latency_ms.p50, "latency_p95_ms": run.latency_ms.p95}
    if metric in latencies:
        return latencies[metric]
    interval = run.metrics.get(metric)
    return interval.mean if interval is not None else None
