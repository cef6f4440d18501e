"""Runs → tables in the terminal: metrics with their bars, the queries by score, recall over k, latency; a comparison.

Rich lays them out. Away from a terminal there is one table of numbers with their intervals, and nothing is cut.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from kb.cli.terminal import harmless_line, has_colour, say, styled
from kb.eval.figures import (
    HEADLINES,
    NOTHING,
    best_runs,
    is_share,
    main_metric,
    metric_by_k,
    metric_names,
    ms_text,
    number_text,
    p_text,
    query_rows,
    run_labels,
    signed_text,
)
from kb.eval.records import Comparison, GateResult, Interval, Latency, MetricDifference, Run

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

BAR_CELLS = 16
BLOCKS = " ▁▂▃▄▅▆▇█"
# Ten bins of a tenth; the last one holds 1.0.
HISTOGRAM_BINS = 10
MOST_SIDE_BY_SIDE = 4
SHOWN_CHANGES = 5
SHOWN_PLACES = 3
# No line of a table is longer: in a pipe nothing is cut.
UNLIMITED_CELLS = 10_000


def print_runs(runs: Sequence[Run], *, all_metrics: bool = False) -> None:
    """Runs side by side on stdout: drawn for a terminal, one table of numbers elsewhere; a line each when they are many.

    all_metrics  every metric, not only the headlines
    """
    if not 0 < len(runs) <= MOST_SIDE_BY_SIDE:
        print_run_list(runs)
    elif sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        width = os.get_terminal_size().columns
        say(draw_charts(runs, width=width, colour=has_colour(sys.stdout), all_metrics=all_metrics))
    else:
        say(_drawn([number_table(runs, all_metrics=all_metrics)]))


def print_run_list(runs: Sequence[Run]) -> None:
    """A line a run: id, suite, kind and mode, queries, its main metric, p50."""
    rows = []
    for run in runs:
        metric = main_metric(run)
        value = number_text(run.metrics[metric].mean, metric) if metric else NOTHING
        told = [run.run_id, run.suite, f"{run.kind} {run.mode}", _queries_text(run), f"{metric or NOTHING} {value}"]
        rows.append([*told, f"p50 {ms_text(run.latency_ms.p50)}", "" if run.finished else "not finished"])
    if rows:
        say(_drawn([_table((), rows)]))


def print_gates(gates: Sequence[GateResult]) -> None:
    """A line a gate: whether it held, and the value it was held against."""
    for gate in gates:
        word = styled("passed", "green") if gate.passed else styled("failed", "red", "bold")
        value = "undefined" if gate.value is None else f"{gate.value:.4g}"
        say(f"{word}  {harmless_line(gate.gate)}  {styled(f'{value} ({harmless_line(gate.run_id)})', 'dim')}")


def print_comparison(comparison: Comparison, *, all_metrics: bool = False) -> None:
    """B against A: a line a metric, what regressed, the queries that lost most with what was found before and now.

    all_metrics  every metric, not only the headlines and what regressed
    """
    by_name = {difference.metric: difference for difference in comparison.metrics}
    shown = [by_name[name] for name in HEADLINES if name in by_name]
    shown += [d for d in comparison.metrics if d not in shown and (all_metrics or d.is_regression or not shown)]
    say(f"A {harmless_line(comparison.run_a)}")
    say(f"B {harmless_line(comparison.run_b)}")
    if comparison.differences_in:
        say(styled(f"they differ in {harmless_line(', '.join(comparison.differences_in))}", "dim"))
    heads = ("metric", "A", "B", "B − A", "95 %", "p", "won/lost/tied", "")
    regressed = {at for at, difference in enumerate(shown) if difference.is_regression}
    say(_drawn([_table(heads, map(_difference_cells, shown), red=regressed)], colour=has_colour(sys.stdout)))
    for change in comparison.worst[:SHOWN_CHANGES]:
        before, after = number_text(change.before, change.metric), number_text(change.after, change.metric)
        say(f"{harmless_line(change.query_id)}  {harmless_line(change.text)}")
        say(f"    {harmless_line(change.metric)} {before} → {after}")
        for name, places in (("before", change.places_before), ("now   ", change.places_after)):
            say(styled(f"    {name}  {harmless_line(', '.join(places[:SHOWN_PLACES])) or 'nothing'}", "dim"))


def _difference_cells(difference: MetricDifference) -> list[str]:
    name = difference.metric
    values = [number_text(difference.mean_a, name), number_text(difference.mean_b, name)]
    low, high = signed_text(difference.ci_low, name), signed_text(difference.ci_high, name)
    interval = NOTHING if difference.ci_low is None else f"{low} … {high}"
    counts = f"{difference.wins}/{difference.losses}/{difference.ties}"
    flag = "regression" if difference.is_regression else ""
    return [name, *values, signed_text(difference.difference, name), interval, p_text(difference.p), counts, flag]


def draw_charts(runs: Sequence[Run], *, width: int, colour: bool, all_metrics: bool = False) -> str:
    """The tables as text with escape sequences for colour, `width` cells wide."""
    tables = (_metric_table(runs, all_metrics), _query_table(runs), _recall_table(runs), _latency_table(runs))
    return _drawn([table for table in tables if table.row_count], width=width, colour=colour)


def number_table(runs: Sequence[Run], *, all_metrics: bool = False) -> Table:
    """The figures without bars: metrics with their intervals, then latency, a column a run."""
    rows = [
        [name, *(_interval_text(run.metrics.get(name), name) for run in runs)]
        for name in _shown_metrics(runs, all_metrics)
    ]
    rows.append(["latency p50 / p95", *(_latency_text(run.latency_ms) for run in runs)])
    for stage in dict.fromkeys(stage for run in runs for stage in run.stage_latency_ms):
        rows.append([f"ms: {stage}", *(_latency_text(run.stage_latency_ms.get(stage)) for run in runs)])
    rows.append(["queries", *(_queries_text(run).partition(" ")[0] for run in runs)])
    return _table(["metric", *run_labels(runs)], rows)


def sparkline(values: Sequence[float], top: float | None = None) -> str:
    """Values as blocks of eight heights up to `top`, the highest when None; only nothing at all is blank.

    >>> sparkline([0, 1, 4, 8]), sparkline([0.5], 1.0)
    (' ▁▄█', '▄')
    """
    most = max(values, default=0) if top is None else top
    return "".join(BLOCKS[min(max(math.ceil(8 * value / most), 1), 8)] if value else " " for value in values)


def _metric_table(runs: Sequence[Run], all_metrics: bool) -> Table:
    """Headline metrics, a number and a bar a run; the best in bold."""
    heads = [name for label in run_labels(runs) for name in (label, "")]
    rows = []
    for name in _shown_metrics(runs, all_metrics):
        intervals = [run.metrics.get(name) for run in runs]
        best = best_runs(name, intervals)
        cells: list[RenderableType] = [name]
        for at, interval in enumerate(intervals):
            value = interval.mean if interval else None
            colour = "cyan" if at in best else "blue"
            cells += [
                _text(number_text(value, name), "bold" if at in best else ""),
                _bar(value, is_share(name), colour),
            ]
        rows.append(cells)
    return _table(["metric", *heads], rows, title="metrics")


def _query_table(runs: Sequence[Run]) -> Table:
    """How many queries lie in each tenth of the main metric, and how many are at nothing."""
    found = query_rows(runs)
    rows = []
    for at, (label, run) in enumerate(zip(run_labels(runs), runs, strict=True)):
        asked = [row for row in found if row.results[at]]
        values = [value for row in asked if (value := row.values[at]) is not None]
        bins = [min(max(int(value * HISTOGRAM_BINS), 0), HISTOGRAM_BINS - 1) for value in values]
        counts = sparkline([bins.count(tenth) for tenth in range(HISTOGRAM_BINS)])
        zeros, undefined = str(sum(value == 0 for value in values)), str(len(asked) - len(values))
        rows.append([label, main_metric(run) or NOTHING, _text(counts, "blue"), zeros, undefined])
    return _table(("run", "metric", "0 … 1", "at 0", "undefined"), rows if found else (), title="queries by score")


def _recall_table(runs: Sequence[Run]) -> Table:
    """Recall over k: a column a k, and the line that they make."""
    found = [{k: i.mean or 0.0 for k, i in metric_by_k(run, "recall")} for run in runs]
    ks = sorted({k for values in found for k in values})
    rows = [
        [label, *(number_text(values.get(k)) for k in ks), _text(sparkline(list(values.values()), 1.0), "blue")]
        for label, values in zip(run_labels(runs), found, strict=True)
    ]
    return _table(["run", *map(str, ks), ""], rows if len(ks) > 1 else (), title="recall at k")


def _latency_table(runs: Sequence[Run]) -> Table:
    """p50 and p95 by stage, bars on one scale up to the highest p95."""
    labels = run_labels(runs)
    stages = [(labels[at], stage, told) for at, run in enumerate(runs) for stage, told in run.stage_latency_ms.items()]
    top = max((told.p95 for _, _, told in stages if told.p95 is not None), default=0.0)
    rows = [
        [label, stage, ms_text(told.p50), ms_text(told.p95), _bar((told.p95 or 0.0) / top, True, "blue")]
        for label, stage, told in stages
        if top
    ]
    return _table(("run", "stage", "p50", "p95", ""), rows, title="latency")


def _shown_metrics(runs: Sequence[Run], all_metrics: bool) -> tuple[str, ...]:
    """The headlines that are defined, or everything where it is wanted or there is no headline."""
    first, others = metric_names(runs)
    if not all_metrics:
        first = tuple(name for name in first if any((i := run.metrics.get(name)) and i.n for run in runs))
    return (*first, *others) if all_metrics or not first else first


def _interval_text(interval: Interval | None, name: str) -> str:
    if interval is None or interval.ci_low is None:
        return number_text(interval.mean if interval else None, name)
    ends = f"{number_text(interval.ci_low, name)} … {number_text(interval.ci_high, name)}"
    return f"{number_text(interval.mean, name)} ({ends})"


def _latency_text(latency: Latency | None) -> str:
    return f"{ms_text(latency.p50)} / {ms_text(latency.p95)}" if latency else NOTHING


def _queries_text(run: Run) -> str:
    return f"{len({result.query_id for result in run.results})} queries"


def _text(shown: str, style: str) -> RenderableType:
    from rich.text import Text

    return Text(shown, style=style)


def _bar(share: float | None, wanted: bool, colour: str) -> RenderableType:
    """A share of 1 as a bar; nothing where it is undefined or not wanted."""
    from rich.bar import Bar

    return Bar(1.0, 0.0, share, width=BAR_CELLS, color=colour) if wanted and share is not None else ""


def _table(
    heads: Sequence[str],
    rows: Iterable[Sequence[RenderableType]],
    *,
    title: str | None = None,
    red: Collection[int] = (),
) -> Table:
    """Columns under their heads, without lines; text is made harmless here. red  the rows that stand out"""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=bool(heads), title_justify="left", title_style="bold")
    table.title = title
    for head in heads:
        # Bars stand in columns without a name: they give way first where the terminal is narrow.
        table.add_column(harmless_line(head), no_wrap=bool(head))
    for at, row in enumerate(rows):
        cells = [harmless_line(cell) if isinstance(cell, str) else cell for cell in row]
        table.add_row(*cells, style="red" if at in red else None)
    return table


def _drawn(tables: Iterable[Table], *, width: int = UNLIMITED_CELLS, colour: bool = False) -> str:
    """Tables as lines without blanks at their ends, an empty line between two tables."""
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for table in tables:
        console.print(table)
        console.print()
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))
