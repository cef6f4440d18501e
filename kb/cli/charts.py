"""Runs → a quick look in the terminal: bars of metrics, a histogram of the queries, recall over k, latency.

Rich draws and is imported only here, inside functions; away from a terminal the same figures are lines of plain text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
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

BAR_CELLS = 16
BLOCKS = " ▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
# Ten bins of a tenth; the last one holds 1.0.
HISTOGRAM_BINS = 10
MOST_SIDE_BY_SIDE = 4
SHOWN_CHANGES = 5
SHOWN_PLACES = 3


def print_runs(runs: Sequence[Run], *, all_metrics: bool = False) -> None:
    """Runs side by side on stdout: drawn for a terminal, plain columns anywhere else; a line each when they are many.

    all_metrics  every metric, not only the headlines
    """
    if not 0 < len(runs) <= MOST_SIDE_BY_SIDE:
        print_run_list(runs)
    elif sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        say(
            draw_charts(
                runs, width=os.get_terminal_size().columns, colour=has_colour(sys.stdout), all_metrics=all_metrics
            )
        )
    else:
        for line in plain_lines(runs, all_metrics=all_metrics):
            say(line)


def print_run_list(runs: Sequence[Run]) -> None:
    """A line a run: id, suite, kind and mode, queries, its main metric, p50."""
    rows = []
    for run in runs:
        metric = main_metric(run)
        value = number_text(run.metrics[metric].mean, metric) if metric else NOTHING
        state = "" if run.finished else "not finished"
        queries = f"{len({result.query_id for result in run.results})} queries"
        told = [run.run_id, run.suite, f"{run.kind} {run.mode}", queries, f"{metric or NOTHING} {value}"]
        rows.append([harmless_line(cell) for cell in [*told, f"p50 {ms_text(run.latency_ms.p50)}", state]])
    for line in columns(rows):
        say(line)


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
    rows = [["metric", "A", "B", "B − A", "95 %", "p", "won/lost/tied", ""]]
    rows += [_difference_cells(difference) for difference in shown]
    for at, line in enumerate(columns(rows)):
        is_regression = at > 0 and shown[at - 1].is_regression
        say(styled(line, "bold") if at == 0 else styled(line, "red") if is_regression else line)
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
    signed = signed_text(difference.difference, name)
    return [harmless_line(name), *values, signed, interval, p_text(difference.p), counts, flag]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with their cells one under another.

    >>> columns([["a", "bb"], ["ccc", "d"]])
    ['a    bb', 'ccc  d']
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def draw_charts(runs: Sequence[Run], *, width: int, colour: bool, all_metrics: bool = False) -> str:
    """The tables as text with escape sequences for colour, `width` cells wide."""
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
    for table in (_metric_table(runs, all_metrics), _query_table(runs), _recall_table(runs), _latency_table(runs)):
        if table is not None:
            console.print(table)
            out.write("\n")
    return out.getvalue().rstrip("\n")


def plain_lines(runs: Sequence[Run], *, all_metrics: bool = False) -> list[str]:
    """The same figures without drawing: metrics with their intervals, then latency, a column a run."""
    rows = [["metric", *_labels(runs)]]
    for name in _shown_metrics(runs, all_metrics):
        rows.append([harmless_line(name), *(_interval_text(run.metrics.get(name), name) for run in runs)])
    stages = list(dict.fromkeys(stage for run in runs for stage in run.stage_latency_ms))
    rows.append(["latency p50 / p95", *(_latency_text(run.latency_ms) for run in runs)])
    rows += [
        [f"ms: {harmless_line(stage)}", *(_latency_text(run.stage_latency_ms.get(stage)) for run in runs)]
        for stage in stages
    ]
    rows.append(["queries", *(str(len({result.query_id for result in run.results})) for run in runs)])
    return columns(rows)


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


def bar(share: float | None, cells: int = BAR_CELLS) -> str:
    """A share of 1 as a bar in eighths of a cell, always `cells` wide; blank where it is None.

    >>> bar(0.5, 4), bar(1.0, 4), bar(None, 4)
    ('██  ', '████', '    ')
    """
    if share is None:
        return " " * cells
    eighths = round(min(max(share, 0.0), 1.0) * cells * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(cells)


def sparkline(counts: Sequence[int]) -> str:
    """Counts as blocks of eight heights; only nothing at all is blank.

    >>> sparkline([0, 1, 4, 8])
    ' ▁▄█'
    """
    most = max(counts, default=0)
    return "".join(BLOCKS[-(-8 * count // most)] if count else " " for count in counts)


def _labels(runs: Sequence[Run]) -> list[str]:
    return [harmless_line(label) for label in run_labels(runs)]


def _metric_table(runs: Sequence[Run], all_metrics: bool) -> RenderableType | None:
    """Headline metrics, a column a run, each with its bar; the best in bold."""
    from rich.table import Table
    from rich.text import Text

    names = _shown_metrics(runs, all_metrics)
    if not names:
        return None
    table = Table(box=None, pad_edge=False, title="metrics", title_justify="left", title_style="bold")
    table.add_column("metric", style="dim", no_wrap=True)
    for label in _labels(runs):
        table.add_column(Text(label), no_wrap=True)
    for name in names:
        intervals = [run.metrics.get(name) for run in runs]
        best = best_runs(name, intervals)
        cells = []
        for at, interval in enumerate(intervals):
            value = interval.mean if interval else None
            cell = Text(f"{number_text(value, name):>8} ", style="bold" if at in best else "")
            cell.append(bar(value if is_share(name) else None), style="cyan" if at in best else "blue")
            cells.append(cell)
        table.add_row(Text(harmless_line(name)), *cells)
    return table


def _query_table(runs: Sequence[Run]) -> RenderableType | None:
    """How many queries lie in each tenth of the main metric, and how many are at nothing."""
    from rich.table import Table
    from rich.text import Text

    rows = query_rows(runs)
    if not rows:
        return None
    table = Table(box=None, pad_edge=False, title="queries by score", title_justify="left", title_style="bold")
    for head in ("run", "metric", "0 … 1", "at 0", "undefined"):
        table.add_column(head, no_wrap=True, justify="right" if head in ("at 0", "undefined") else "left")
    for at, (label, run) in enumerate(zip(_labels(runs), runs, strict=True)):
        values = [value for row in rows if row.results[at] and (value := row.values[at]) is not None]
        counts = [0] * HISTOGRAM_BINS
        for value in values:
            counts[min(max(int(value * HISTOGRAM_BINS), 0), HISTOGRAM_BINS - 1)] += 1
        asked = sum(bool(row.results[at]) for row in rows)
        table.add_row(
            Text(label),
            Text(harmless_line(main_metric(run) or NOTHING), style="dim"),
            Text(sparkline(counts), style="blue"),
            str(sum(value == 0 for value in values)),
            str(asked - len(values)),
        )
    return table


def _recall_table(runs: Sequence[Run]) -> RenderableType | None:
    """Recall over k: a column a k, a block under each number."""
    from rich.table import Table
    from rich.text import Text

    found = [dict(metric_by_k(run, "recall")) for run in runs]
    ks = sorted({k for values in found for k in values})
    if len(ks) < 2:
        return None
    table = Table(box=None, pad_edge=False, title="recall at k", title_justify="left", title_style="bold")
    table.add_column("run", no_wrap=True)
    for k in ks:
        table.add_column(str(k), justify="right", no_wrap=True)
    for label, values in zip(_labels(runs), found, strict=True):
        cells = []
        for k in ks:
            value = values[k].mean if k in values else None
            block = BLOCKS[round(min(max(value, 0.0), 1.0) * 8)] if value is not None else " "
            cells.append(Text.assemble(number_text(value), " ", (block, "blue")))
        table.add_row(Text(label), *cells)
    return table


def _latency_table(runs: Sequence[Run]) -> RenderableType | None:
    """p50 and p95 by stage, bars on one scale up to the highest p95."""
    from rich.table import Table
    from rich.text import Text

    stages = [(at, stage, told) for at, run in enumerate(runs) for stage, told in run.stage_latency_ms.items()]
    top = max((told.p95 for _, _, told in stages if told.p95 is not None), default=None)
    if not top:
        return None
    table = Table(box=None, pad_edge=False, title="latency", title_justify="left", title_style="bold")
    for head in ("run", "stage", "p50", "p95", ""):
        table.add_column(head, no_wrap=True, justify="right" if head.startswith("p") else "left")
    labels = _labels(runs)
    for at, stage, told in stages:
        shown = Text(bar(None if told.p95 is None else told.p95 / top), style="blue")
        name = Text(harmless_line(stage), style="dim")
        table.add_row(Text(labels[at]), name, ms_text(told.p50), ms_text(told.p95), shown)
    return table
