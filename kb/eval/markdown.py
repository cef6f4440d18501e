"""Runs and a comparison → a summary in GitHub-flavoured Markdown, for a comment on a pull request.

Text from documents and queries is put in code spans, where it cannot become markup, a link or an @mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kb.eval.ci_output import SuiteFault
from kb.eval.differences import difference_texts, run_names, summary_words, verdict
from kb.eval.figures import (
    View,
    best_runs,
    dimensions,
    is_lower_better,
    latency_text,
    main_metric,
    metric_names,
    number_text,
    query_count,
    query_rows,
    run_labels,
    slice_rows,
)
from kb.eval.markup import visible
from kb.eval.records import Comparison, GateResult, Interval, MetricDifference, QueryChange, Run
from kb.eval.worst import FailedGate

SHOWN_CHANGES = 10
SHOWN_PLACES = 3
LONGEST_TEXT_CHARS = 120
BAR = "\\|"
SIGNS = {"better": "🟢 ", "worse": "🔴 ", "equal": ""}


def render_markdown(runs: Sequence[Run], comparison: Comparison | None) -> str:
    """The summary: metrics by run, differences, slices, the worst regressions folded away."""
    view = View(tuple(runs), run_labels(runs), query_rows(runs), comparison)
    suites = ", ".join(dict.fromkeys(run.suite for run in runs)) or "no runs"
    parts = [f"## kb eval: {code(suites)}", *_verdict(view), *_metrics(view), *_differences(view), *_slices(view)]
    if comparison:
        parts += _changes("Worst regressions", comparison.worst)
        parts += _changes("Greatest gains", comparison.best)
    return "\n\n".join([*parts, *_provenance(view)]) + "\n"


def step_summary(
    runs: Sequence[Run],
    gates: Sequence[GateResult],
    failed: Sequence[FailedGate],
    comparison: Comparison | None,
    faults: Sequence[SuiteFault] = (),
) -> str:
    """What a workflow's step shows: the gates first, with the queries that pull them down, then the summary of the runs."""
    parts = [f"## kb eval: {code('the suite has faults')}"] if faults else []
    parts += [f"- {code(f'{fault.path}:{fault.line}')} {code(fault.what)}" for fault in faults]
    names = {run.run_id: label for run, label in zip(runs, run_labels(runs), strict=True)}
    if gates:
        rows = [
            ["🟢 passed" if gate.passed else "🔴 failed", code(gate.gate), _value(gate), code(names[gate.run_id])]
            for gate in gates
        ]
        parts += ["## kb eval: gates", _table(["", "gate", "value", "run"], rows)]
    for gate in failed:
        lines = [f"### Queries that pull {code(gate.result.gate)} down"]
        for query in gate.worst:
            lines.append(f"- {query.change()} {code(query.query_id)} {code(query.text)}")
            lines += [f"  - {name}: {code(places)}" for name, places in query.facts()]
        parts += ["\n".join(lines)] if gate.worst else []
    return "\n\n".join([*parts, *([render_markdown(runs, comparison)] if runs else [])]).rstrip("\n") + "\n"


def _value(gate: GateResult) -> str:
    return "undefined" if gate.value is None else f"{gate.value:.4g}"


def code(text: str) -> str:
    """Text as a code span on one line, shortened; any text is shown literally.

    >>> code("a|b`c")
    '``a|b`c``'
    """
    line = re.sub(r"\s+", " ", visible(text)).strip() or " "
    if len(line) > LONGEST_TEXT_CHARS:
        line = f"{line[: LONGEST_TEXT_CHARS - 1]}…"
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---", *("---:" for _ in heads[1:])], *rows]
    # A table cuts its cells before it looks for code, so a bar is escaped in code spans as well.
    return "\n".join(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |" for cells in lines)


def _verdict(view: View) -> list[str]:
    found = []
    unfinished = [code(label) for label, run in zip(view.labels, view.runs, strict=True) if not run.finished]
    if unfinished:
        found.append(f"⚠️ Not finished: {', '.join(unfinished)}.")
    if view.comparison:
        words = summary_words(view.comparison, *map(code, run_names(view, view.comparison)))
        found.append(f"{'🔴' if view.comparison.has_regression else '🟢'} {words}")
    return found


def _metrics(view: View) -> list[str]:
    if not view.runs:
        return []
    first, others = metric_names(view.runs)
    heads = ["metric", *map(code, view.labels)]
    times = ["latency p50 / p95", *(latency_text(run.latency_ms) for run in view.runs)]
    counts = ["queries", *(str(query_count(run)) for run in view.runs)]
    found = [_table(heads, [*(_metric_row(view, name) for name in first), times, counts])]
    if others:
        table = _table(heads, [_metric_row(view, name) for name in others])
        found.append(_folded(f"{len(others)} other metrics", table))
    return found


def _metric_row(view: View, name: str) -> list[str]:
    intervals = [run.metrics.get(name) for run in view.runs]
    best = best_runs(name, intervals)
    cells = [_interval(interval, name, bold=at in best) for at, interval in enumerate(intervals)]
    return [code(name) + (" ↓" if is_lower_better(name) else ""), *cells]


def _interval(interval: Interval | None, name: str, *, bold: bool) -> str:
    shown = number_text(interval.mean if interval else None, name)
    shown = f"**{shown}**" if bold else shown
    if interval is None or interval.ci_low is None or interval.ci_high is None:
        return shown
    return f"{shown} <sub>{number_text(interval.ci_low, name)}–{number_text(interval.ci_high, name)}</sub>"


def _differences(view: View) -> list[str]:
    if view.comparison is None:
        return []
    name_a, name_b = map(code, run_names(view, view.comparison))
    heads = ["metric", f"A {name_a}", f"B {name_b}", "B − A", "95 %", "p", "won/lost/tied"]
    parts = [f"### {name_b} against {name_a}", _table(heads, map(_difference_row, view.comparison.metrics))]
    if view.comparison.differences_in:
        parts.append(f"The runs differ in {', '.join(map(code, view.comparison.differences_in))}.")
    return parts


def _difference_row(difference: MetricDifference) -> list[str]:
    name = difference.metric
    a, b, change, *others = difference_texts(difference)
    flag = " **regression**" if difference.is_regression else ""
    return [
        code(name) + (" ↓" if is_lower_better(name) else "") + flag,
        a,
        b,
        SIGNS[verdict(difference)] + change,
        *others,
    ]


def _slices(view: View) -> list[str]:
    tables = []
    for dimension in dimensions(view.rows):
        heads = [code(dimension)]
        heads += [
            f"{code(name)} {code(main_metric(run) or '–')}" for name, run in zip(view.labels, view.runs, strict=True)
        ]
        rows = [
            [
                code(row.name),
                *(
                    f"{number_text(value, main_metric(run) or '')} <sub>n={n}</sub>"
                    for (value, n), run in zip(row.cells, view.runs, strict=True)
                ),
            ]
            for row in slice_rows(view.rows, dimension)
        ]
        tables.append(_table(heads, rows))
    return [_folded("Slices", "\n\n".join(tables))] if tables else []


def _changes(title: str, changes: Sequence[QueryChange]) -> list[str]:
    if not changes:
        return []
    lines = []
    for change in changes[:SHOWN_CHANGES]:
        before, after = number_text(change.before, change.metric), number_text(change.after, change.metric)
        lines.append(f"- {code(change.query_id)} {code(change.text)}: {code(change.metric)} {before} → {after}")
        lines.append(f"  - before: {_places(change.places_before)}")
        lines.append(f"  - now: {_places(change.places_after)}")
    more = len(changes) - SHOWN_CHANGES
    if more > 0:
        lines.append(f"- … and {more} more")
    return [_folded(f"{title} ({len(changes)})", "\n".join(lines))]


def _places(places: Sequence[str]) -> str:
    shown = ", ".join(map(code, places[:SHOWN_PLACES])) or "nothing"
    return f"{shown}, … {len(places)} in all" if len(places) > SHOWN_PLACES else shown


def _provenance(view: View) -> list[str]:
    lines = []
    for label, run in zip(view.labels, view.runs, strict=True):
        made = run.provenance
        facts = [f"run {code(run.run_id)}", f"kb {code(made.package_version)}", code(made.embedding_model)]
        facts += [
            f"corpus revision {made.corpus_revision}",
            f"suite {code(made.suite_sha256[:12])}",
            code(made.machine),
        ]
        if made.model:
            facts.append(code(str(made.model.get("id"))))
        lines.append(f"- {code(label)}: {', '.join(facts)}")
    return [_folded("Where the figures come from", "\n".join(lines))] if lines else []


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"
