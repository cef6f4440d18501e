"""A gate that failed → the queries that pull it down most, with what changed against a baseline. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kb.eval.compare import COMPARISONS, TIE, Gate
from kb.eval.figures import is_lower_better, number_text
from kb.eval.metrics import average_seeds
from kb.eval.records import GateResult, Label, QueryResult, Run, Suite
from kb.frozen import dataclass

MOST_WORST = 5
SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True)
class WorstQuery:
    """One query that is below a gate's bound.

    before        its value in the baseline, None without one
    wanted        the places that the suite names for it; empty for a collection
    found         what was found for it now, best first
    found_before  what was found for it in the baseline
    line          of the query in the suite's file, 0 without one
    """

    query_id: str
    text: str
    metric: str
    value: float
    before: float | None
    wanted: tuple[str, ...]
    found: tuple[str, ...]
    found_before: tuple[str, ...]
    line: int

    def change(self) -> str:
        """Its value, with the one before where it differs: "0.000 (was 1.000)"."""
        now = number_text(self.value, self.metric)
        is_same = self.before is None or abs(self.before - self.value) <= TIE
        return now if is_same else f"{now} (was {number_text(self.before, self.metric)})"

    def facts(self) -> list[tuple[str, str]]:
        """("wanted", places), ("found", places) and, where the ranking changed, ("before", places)."""
        rows = [("wanted", self.wanted), ("found", self.found or ("nothing",))]
        if self.before is not None and self.found_before != self.found:
            rows.append(("before", self.found_before or ("nothing",)))
        return [(name, ", ".join(places)) for name, places in rows if places]


@dataclass(frozen=True, slots=True)
class FailedGate:
    """A gate that a run did not pass, with its worst queries, the greatest losses against the baseline first."""

    result: GateResult
    worst: tuple[WorstQuery, ...]


def failed_gates(
    runs: Sequence[Run],
    checked: Sequence[tuple[Gate, GateResult]],
    baseline: Run | None,
    suite: Suite | None,
) -> tuple[FailedGate, ...]:
    """The gates that failed, in their order.

    baseline  an earlier run to say what changed, of the same mode where there is one
    suite     names the wanted places and the lines; None for a collection
    """
    of_run = {run.run_id: run for run in runs}
    return tuple(
        FailedGate(result, _worst(of_run[result.run_id], gate, baseline, suite))
        for gate, result in checked
        if not result.passed
    )


def _worst(run: Run, gate: Gate, baseline: Run | None, suite: Suite | None) -> tuple[WorstQuery, ...]:
    metric = gate.metric
    scores = average_seeds(run.results)
    scores_before = average_seeds(baseline.results) if baseline else {}
    results = _first_results(run)
    results_before = _first_results(baseline) if baseline else {}
    queries = {query.id: query for query in suite.queries} if suite else {}
    sign = -1.0 if is_lower_better(metric) else 1.0
    found = []
    for name, values in scores.items():
        value = values.get(metric)
        if value is None or COMPARISONS[gate.comparison](value, gate.bound):
            continue
        before = scores_before.get(name, {}).get(metric)
        lost = sign * (before - value) if before is not None else 0.0
        query = queries.get(name)
        found.append(
            (
                (-lost, sign * value, name),
                WorstQuery(
                    query_id=name,
                    text=results[name].text,
                    metric=metric,
                    value=value,
                    before=before,
                    wanted=tuple(_place(label) for label in query.labels[:SHOWN_PLACES]) if query else (),
                    found=_places(results.get(name)),
                    found_before=_places(results_before.get(name)),
                    line=query.line if query else 0,
                ),
            )
        )
    return tuple(row for _, row in sorted(found, key=lambda pair: pair[0])[:MOST_WORST])


def _first_results(run: Run) -> dict[str, QueryResult]:
    first: dict[str, QueryResult] = {}
    for result in sorted(run.results, key=lambda result: result.seed):
        first.setdefault(result.query_id, result)
    return first


def _places(result: QueryResult | None) -> tuple[str, ...]:
    return tuple(row.place for row in result.ranking[:SHOWN_PLACES]) if result else ()


def _place(label: Label) -> str:
    return f'{label.path}: "{label.anchor or label.heading}"'
