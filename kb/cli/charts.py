"""Runs → tables in the terminal: metrics with bars, queries by score, recall by k, latency; gates; a comparison.

Where stdout is not a terminal, one table holds the numbers with their intervals, uncut.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from kb.cli.tables import Cell, Table, draw, sparkline
from kb.cli.terminal import harmless_line, has_colour, say, styled
from kb.cli.wrap import terminal_columns, wrap_message
from kb.eval.differences import difference_texts
from kb.eval.figures import (
    HEADLINES,
    NOTHING,
    best_runs,
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
from kb.eval.metrics import METRICS
from kb.eval.records import Comparison, GateResult, Interval, Latency, Run
from kb.eval.runs import short_name
from kb.eval.worst import FailedGate

# Ten bins of a tenth; the last one holds 1.0.
HISTOGRAM_BINS = 10
MOST_SIDE_BY_SIDE = 4
SHOWN_CHANGES = 5
# From this width on a line per run, or per difference, has room for everything.
WIDE_LIST_COLUMNS = 80
# From this width on there is room for what each metric means.
MEANING_COLUMNS = 110
# Stages that contain the others.
WHOLE_STAGES = ("total", "answer")
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
    """A line per run: its short name, when it was made, suite, mode, queries, its main metric, p50."""
    rows = []
    for run in runs:
        metric = main_metric(run)
        value = f"{metric} {number_text(run.metrics[metric].mean, metric)}" if metric else NOTHING
        made = run.created_at[:16].replace("T", " ")
        known = [short_name(run.run_id), made, run.suite, f"{run.mode}{' ask' if run.kind == 'ask' else ''}"]
        times = f"p50 {ms_text(run.latency_ms.p50)}" if run.finished else "not finished"
        rows.append([*known, str(query_count(run)), value, times])
    if rows:
        heads = ("run", "made", "suite", "mode", "queries", "metric", "latency")
        shown = [0, 2, 3, 5] if 0 < terminal_columns() < WIDE_LIST_COLUMNS else range(len(heads))
        say(draw([Table([heads[at] for at in shown], [[row[at] for at in shown] for row in rows])]))


def print_gates(gates: Sequence[GateResult]) -> None:
    """A line per gate: whether it passed, and the value that it was compared with."""
    for gate in gates:
        word = styled("passed", "green") if gate.passed else styled("failed", "red", "bold")
        value = "undefined" if gate.value is None else f"{gate.value:.4g}"
        run = harmless_line(short_name(gate.run_id))
        say(f"{word}  {harmless_line(gate.gate)}  {styled(f'{value} (run {run})', 'dim')}")


def print_worst_queries(failed: Sequence[FailedGate]) -> None:
    """Under the gates: of each that failed, the queries that pull its metric down most, with what changed."""
    for gate in failed:
        if gate.worst:
            say(styled(f"\nqueries that pull {harmless_line(gate.result.gate)} down:", "bold"))
        for query in gate.worst:
            _say_hanging(f"  {query.change()}  {harmless_line(query.query_id)}: {harmless_line(query.text)}")
            for name, places in query.facts():
                _say_hanging(f"         {name:<6}  {harmless_line(places)}", "dim")


def _say_hanging(text: str, *styles: str) -> None:
    for line in wrap_message(text, terminal_columns(), 8).split("\n"):
        say(styled(line, *styles) if styles else line)


def print_comparison(comparison: Comparison, *, all_metrics: bool = False) -> None:
    """B against A: a line per metric, what regressed, the queries that lost most with what was found before and now.

    all_metrics  every metric, not only the headlines and what regressed
    """
    by_name = {difference.metric: difference for difference in comparison.metrics}
    shown = [by_name[name] for name in HEADLINES if name in by_name]
    shown += [d for d in comparison.metrics if d not in shown and (all_metrics or d.is_regression or not shown)]
    say(f"A {harmless_line(comparison.run_a)}\nB {harmless_line(comparison.run_b)}")
    columns = terminal_columns()
    if comparison.differences_in:
        say(styled(f"they differ in {harmless_line(', '.join(comparison.differences_in))}", "dim"))
    heads: tuple[str, ...] = ("metric", "A", "B", "B − A", "95 %", "p", "won/lost/tied", "")
    rows = [[d.metric, *difference_texts(d), "regression" if d.is_regression else ""] for d in shown]
    if 0 < columns < WIDE_LIST_COLUMNS + 10:
        heads, rows = heads[:4] + heads[7:], [row[:4] + row[7:] for row in rows]
    regressed = {at for at, difference in enumerate(shown) if difference.is_regression}
    say(draw([Table(heads, rows, red=regressed)], colour=has_colour(sys.stdout)))
    for change in comparison.worst[:SHOWN_CHANGES]:
        before, after = number_text(change.before, change.metric), number_text(change.after, change.metric)
        _say_hanging(f"{harmless_line(change.query_id)}  {harmless_line(change.text)}")
        say(f"    {harmless_line(change.metric)} {before} → {after}")
        for name, places in (("before", change.places_before), ("now   ", change.places_after)):
            _say_hanging(f"    {name}  {harmless_line(', '.join(places[:SHOWN_PLACES])) or 'nothing'}", "dim")


def draw_charts(runs: Sequence[Run], *, width: int, colour: bool, all_metrics: bool = False) -> str:
    """The tables as text with escape sequences for colour, `width` cells wide."""
    tables = (
        _metric_table(runs, all_metrics, width),
        _query_table(runs),
        _recall_table(runs),
        _latency_table(runs, all_metrics),
    )
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


def _metric_table(runs: Sequence[Run], all_metrics: bool, width: int) -> Table:
    """Headline metrics, a number and a bar per run, the best in bold; of one run the interval, and where there is room
    what the metric means."""
    rows = []
    is_alone = len(runs) == 1
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
        if is_alone:
            row.append((_ends_text(intervals[0], name), "dim"))
            row += [(_meaning(name), "dim")] if width >= MEANING_COLUMNS else []
        rows.append(row)
    heads = ["metric", *(head for label in run_labels(runs) for head in (label, ""))]
    if is_alone:
        heads += ["95 %", *([""] if width >= MEANING_COLUMNS else [])]
    return Table(heads, rows, "metrics")


def _meaning(name: str) -> str:
    return METRICS[name].meaning.partition(";")[0].partition(":")[0] if name in METRICS else ""


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


def _latency_table(runs: Sequence[Run], all_stages: bool) -> Table:
    """p50 and p95 of a whole query, or by stage; bars on one scale up to the highest p95."""
    stages = [
        (label, stage, times)
        for label, run in zip(run_labels(runs), runs, strict=True)
        for stage, times in _shown_stages(run, all_stages).items()
    ]
    top = max((times.p95 or 0.0 for _, _, times in stages), default=0.0)
    rows: list[list[Cell]] = [
        [label, stage, ms_text(times.p50), ms_text(times.p95), ((times.p95 or 0.0) / top, "blue")]
        for label, stage, times in stages
        if top
    ]
    return Table(("run", "stage", "p50", "p95", ""), rows, "latency")


def _shown_stages(run: Run, all_stages: bool) -> dict[str, Latency]:
    whole = {name: times for name, times in run.stage_latency_ms.items() if name in WHOLE_STAGES}
    return run.stage_latency_ms if all_stages or not whole else whole


def _shown_metrics(runs: Sequence[Run], all_metrics: bool) -> tuple[str, ...]:
    """The headlines that are defined; every metric where all are wanted or no headline is defined."""
    first, others = metric_names(runs)
    if not all_metrics:
        first = tuple(name for name in first if any((i := run.metrics.get(name)) and i.n for run in runs))
    return (*first, *others) if all_metrics or not first else first


def _interval_text(interval: Interval | None, name: str) -> str:
    mean = number_text(interval.mean if interval else None, name)
    ends = _ends_text(interval, name)
    return f"{mean} ({ends})" if ends else mean


def _ends_text(interval: Interval | None, name: str) -> str:
    if interval is None or interval.ci_low is None:
        return ""
    return f"{number_text(interval.ci_low, name)} … {number_text(interval.ci_high, name)}"
