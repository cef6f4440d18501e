"""Runs → tables in the terminal: metrics with bars, queries by score, recall by k, latency; gates; a comparison.

Where stdout is not a terminal, one table holds the numbers with their intervals, uncut.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from kb.cli.tables import Cell, Table, draw, sparkline
from kb.cli.terminal import harmless_line, has_colour, say, styled
from kb.eval.compare import Gate
from kb.eval.differences import difference_texts
from kb.eval.figures import (
    HEADLINES,
    NOTHING,
    best_runs,
    is_lower_better,
    is_share,
    latency_text,
    main_metric,
    metric_by_k,
    metric_names,
    ms_text,
    number_text,
    query_count,
    query_rows,
    run_labels,
)
from kb.eval.records import Comparison, GateResult, Interval, Run

# Ten bins of a tenth; the last one holds 1.0.
HISTOGRAM_BINS = 10
MOST_SIDE_BY_SIDE = 4
SHOWN_CHANGES = 5
MOST_WORST = 5
SHOWN_PLACES = 3


def print_runs(runs: Sequence[Run], *, all_metrics: bool = False) -> None:
    """Runs side by side on stdout: charts on a terminal, one table of numbers elsewhere; many runs have a line each.

    all_metrics  every metric, not only the headlines
    """
    if not 0 < len(runs) <= MOST_SIDE_BY_SIDE:
        print_run_list(runs)
    elif sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        width = os.get_terminal_size().columns
        say(draw_charts(runs, width=width, colour=has_colour(sys.stdout), all_metrics=all_metrics))
    else:
        say(draw([_number_table(runs, all_metrics)]))


def print_run_list(runs: Sequence[Run]) -> None:
    """A line per run: id, suite, kind and mode, queries, its main metric, p50."""
    rows = []
    for run in runs:
        metric = main_metric(run)
        value = f"{metric} {number_text(run.metrics[metric].mean, metric)}" if metric else f"{NOTHING} {NOTHING}"
        known = [run.run_id, run.suite, f"{run.kind} {run.mode}", f"{query_count(run)} queries", value]
        rows.append([*known, f"p50 {ms_text(run.latency_ms.p50)}", "" if run.finished else "not finished"])
    if rows:
        say(draw([Table((), rows)]))


def print_gates(gates: Sequence[GateResult]) -> None:
    """A line per gate: whether it passed, and the value that it was compared with."""
    for gate in gates:
        word = styled("passed", "green") if gate.passed else styled("failed", "red", "bold")
        value = "undefined" if gate.value is None else f"{gate.value:.4g}"
        say(f"{word}  {harmless_line(gate.gate)}  {styled(f'{value} ({harmless_line(gate.run_id)})', 'dim')}")


def print_worst_queries(runs: Sequence[Run], gates: Sequence[tuple[Gate, GateResult]]) -> None:
    """Under the gates: of each that failed, the queries that pull its metric down most, and what was found for them first."""
    of_run = {run.run_id: run for run in runs}
    for gate, result in gates:
        if result.passed:
            continue
        scored = [(v, r) for r in of_run[result.run_id].results if (v := r.scores.get(gate.metric)) is not None]
        sign = -1.0 if is_lower_better(gate.metric) else 1.0
        worst = sorted(scored, key=lambda row: (sign * row[0], row[1].query_id))[:MOST_WORST]
        if worst:
            say(styled(f"\nworst by {harmless_line(gate.metric)}:", "bold"))
        for value, query in worst:
            found = query.ranking[0].place if query.ranking else "nothing"
            say(f"  {number_text(value, gate.metric):>5}  {harmless_line(query.query_id)}: {harmless_line(query.text)}")
            say(styled(f"         found first: {harmless_line(found)}", "dim"))


def print_comparison(comparison: Comparison, *, all_metrics: bool = False) -> None:
    """B against A: a line per metric, what regressed, the queries that lost most with what was found before and now.

    all_metrics  every metric, not only the headlines and what regressed
    """
    by_name = {difference.metric: difference for difference in comparison.metrics}
    shown = [by_name[name] for name in HEADLINES if name in by_name]
    shown += [d for d in comparison.metrics if d not in shown and (all_metrics or d.is_regression or not shown)]
    say(f"A {harmless_line(comparison.run_a)}\nB {harmless_line(comparison.run_b)}")
    if comparison.differences_in:
        say(styled(f"they differ in {harmless_line(', '.join(comparison.differences_in))}", "dim"))
    heads = ("metric", "A", "B", "B − A", "95 %", "p", "won/lost/tied", "")
    rows = [[d.metric, *difference_texts(d), "regression" if d.is_regression else ""] for d in shown]
    regressed = {at for at, difference in enumerate(shown) if difference.is_regression}
    say(draw([Table(heads, rows, red=regressed)], colour=has_colour(sys.stdout)))
    for change in comparison.worst[:SHOWN_CHANGES]:
        before, after = number_text(change.before, change.metric), number_text(change.after, change.metric)
        say(f"{harmless_line(change.query_id)}  {harmless_line(change.text)}")
        say(f"    {harmless_line(change.metric)} {before} → {after}")
        for name, places in (("before", change.places_before), ("now   ", change.places_after)):
            say(styled(f"    {name}  {harmless_line(', '.join(places[:SHOWN_PLACES])) or 'nothing'}", "dim"))


def draw_charts(runs: Sequence[Run], *, width: int, colour: bool, all_metrics: bool = False) -> str:
    """The tables as text with escape sequences for colour, `width` cells wide."""
    tables = (_metric_table(runs, all_metrics), _query_table(runs), _recall_table(runs), _latency_table(runs))
    return draw([table for table in tables if table.rows], width=width, colour=colour)


def _number_table(runs: Sequence[Run], all_metrics: bool) -> Table:
    """The figures without bars: metrics with their intervals, then latency, a column per run."""
    names = _shown_metrics(runs, all_metrics)
    rows = [[name, *(_interval_text(run.metrics.get(name), name) for run in runs)] for name in names]
    rows.append(["latency p50 / p95", *(latency_text(run.latency_ms) for run in runs)])
    for stage in dict.fromkeys(stage for run in runs for stage in run.stage_latency_ms if all_metrics):
        rows.append([f"ms: {stage}", *(latency_text(run.stage_latency_ms.get(stage)) for run in runs)])
    rows.append(["queries", *(str(query_count(run)) for run in runs)])
    return Table(["metric", *run_labels(runs)], rows)


def _metric_table(runs: Sequence[Run], all_metrics: bool) -> Table:
    """Headline metrics, a number and a bar per run; the best in bold."""
    rows = []
    for name in _shown_metrics(runs, all_metrics):
        intervals = [run.metrics.get(name) for run in runs]
        best = best_runs(name, intervals)
        row: list[Cell] = [name]
        for at, interval in enumerate(intervals):
            value = interval.mean if interval else None
            row.append((number_text(value, name), "bold" if at in best else ""))
            if value is not None and is_share(name):
                row.append((value, "cyan" if at in best else "blue"))
            else:
                row.append("")
        rows.append(row)
    return Table(["metric", *(head for label in run_labels(runs) for head in (label, ""))], rows, "metrics")


def _query_table(runs: Sequence[Run]) -> Table:
    """How many queries lie in each tenth of the main metric, at 0, and without a value."""
    found = query_rows(runs)
    rows: list[list[Cell]] = []
    for at, (label, run) in enumerate(zip(run_labels(runs), runs, strict=True)):
        asked = [row for row in found if row.results[at]]
        values = [value for row in asked if (value := row.values[at]) is not None]
        bins = [min(max(int(value * HISTOGRAM_BINS), 0), HISTOGRAM_BINS - 1) for value in values]
        counts = sparkline([bins.count(tenth) for tenth in range(HISTOGRAM_BINS)])
        zeros, undefined = str(sum(value == 0 for value in values)), str(len(asked) - len(values))
        rows.append([label, main_metric(run) or NOTHING, (counts, "blue"), zeros, undefined])
    return Table(("run", "metric", "0 … 1", "at 0", "undefined"), rows if found else (), "queries by score")


def _recall_table(runs: Sequence[Run]) -> Table:
    """Recall by k: a column per k, and a sparkline."""
    found = [{k: i.mean or 0.0 for k, i in metric_by_k(run, "recall")} for run in runs]
    ks = sorted({k for values in found for k in values})
    rows: list[list[Cell]] = [
        [label, *(number_text(values.get(k)) for k in ks), (sparkline(list(values.values()), 1.0), "blue")]
        for label, values in zip(run_labels(runs), found, strict=True)
    ]
    return Table(["run", *map(str, ks), ""], rows if len(ks) > 1 else (), "recall at k")


def _latency_table(runs: Sequence[Run]) -> Table:
    """p50 and p95 by stage, bars on one scale up to the highest p95."""
    stages = [(label, *s) for label, r in zip(run_labels(runs), runs, strict=True) for s in r.stage_latency_ms.items()]
    top = max((times.p95 or 0.0 for _, _, times in stages), default=0.0)
    rows: list[list[Cell]] = [
        [label, stage, ms_text(times.p50), ms_text(times.p95), ((times.p95 or 0.0) / top, "blue")]
        for label, stage, times in stages
        if top
    ]
    return Table(("run", "stage", "p50", "p95", ""), rows, "latency")


def _shown_metrics(runs: Sequence[Run], all_metrics: bool) -> tuple[str, ...]:
    """The headlines that are defined; every metric where all are wanted or no headline is defined."""
    first, others = metric_names(runs)
    if not all_metrics:
        first = tuple(name for name in first if any((i := run.metrics.get(name)) and i.n for run in runs))
    return (*first, *others) if all_metrics or not first else first


def _interval_text(interval: Interval | None, name: str) -> str:
    mean = number_text(interval.mean if interval else None, name)
    if interval is None or interval.ci_low is None:
        return mean
    return f"{mean} ({number_text(interval.ci_low, name)} … {number_text(interval.ci_high, name)})"
