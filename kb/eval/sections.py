"""Runs → the sections of the page that sum up: table of metrics, curves, slices, latency. Each is None where it has nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kb.eval.charts import Lane, Line, dots_and_whiskers, histogram, line_chart, marker, place, range_row, strip
from kb.eval.charts import bar_row as bar
from kb.eval.figures import (
    NOTHING,
    GroupRow,
    QueryRow,
    best_runs,
    dimensions,
    group_rows,
    has_direction,
    is_lower_better,
    is_share,
    main_metric,
    metric_by_k,
    metric_names,
    ms_text,
    number_text,
    quantile,
    slice_rows,
)
from kb.eval.markup import Html, element, join
from kb.eval.records import Comparison, Interval, Run
from kb.eval.refusals import RefusalCurve, refusal_curve

SHOWN_GROUPS = 10
# Below this many queries a slice's mean says little; it is shown, and said to be thin.
THIN_SLICE = 10
# What has the other stages in it: shown before them.
WHOLE_STAGES = ("answer", "total")
READ_BY_K = (
    "What is found as more of the ranking is read: recall, the share of what is relevant; hit, whether anything is. "
    "The band is the 95 % interval."
)


@dataclass(frozen=True, slots=True)
class View:
    """What every section is made from: the runs, a short name for each, their queries worst first, and B against A."""

    runs: tuple[Run, ...]
    labels: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    comparison: Comparison | None


def section(name: str, title: str, note: str, *children: str | None) -> Html:
    """One part of the page, with the sentence that says how to read it."""
    head = element("h2", title, id=f"{name}-title")
    return element(
        "section", head, element("p", note, class_="note"), *children, id=name, aria_labelledby=f"{name}-title"
    )


def run_key(at: int) -> Html:
    """A run's colour and shape, as a picture beside its name."""
    return element("svg", marker(6, 6, at), width=12, height=12, class_="key", aria_hidden="true")


def legend(view: View, among: Sequence[int]) -> Html:
    """Which shape is which run."""
    return element("ul", [element("li", run_key(at), view.labels[at]) for at in among], class_="legend")


def metrics_section(view: View) -> Html:
    """Every metric of every run, the headlines open."""
    first, others = metric_names(view.runs)
    if not first:
        first, others = others, ()
    rest = None
    if others:
        words = f"All other metrics ({len(others)})"
        rest = element("details", element("summary", words), _metric_table(view, others, words), class_="more")
    note = (
        "Means over the queries for which a metric is defined, with a bootstrap 95 % interval: the dot is the mean, the "
        "whisker the interval, each run with its own colour and shape. A star marks the best of a row; – is undefined."
    )
    return section("metrics", "Metrics", note, _metric_table(view, first, "Headline metrics"), rest)


def _metric_table(view: View, names: Sequence[str], caption: str) -> Html:
    heads = [element("th", run_key(at), " ", label, scope="col") for at, label in enumerate(view.labels)]
    head = element(
        "tr", element("th", "metric", scope="col"), heads, element("th", "95 % interval", scope="col", class_="plot")
    )
    rows = [_metric_row(view, name) for name in names]
    return element(
        "div",
        element("table", element("caption", caption), element("thead", head), element("tbody", rows), class_="stack"),
        class_="wide",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def _metric_row(view: View, name: str) -> Html:
    intervals = [run.metrics.get(name) for run in view.runs]
    best = best_runs(name, intervals)
    cells = [
        element(
            "td",
            element("b", number_text(interval.mean if interval else None, name)),
            _interval_text(interval, name),
            class_="best" if at in best else None,
            data_label=label,
        )
        for at, (label, interval) in enumerate(zip(view.labels, intervals, strict=True))
    ]
    lower = " ↓" if is_lower_better(name) else None
    hint = "less is better" if lower else None if has_direction(name) else "neither more nor less is better"
    head = element("th", name, element("span", lower, class_="soft") if lower else None, scope="row", title=hint)
    plot = element("td", dots_and_whiskers(name, view.labels, intervals, _top(name, intervals)), class_="plot")
    return element("tr", head, cells, plot)


def _interval_text(interval: Interval | None, name: str) -> Html | None:
    if interval is None or interval.ci_low is None or interval.ci_high is None:
        return None
    return element("small", f"{number_text(interval.ci_low, name)} – {number_text(interval.ci_high, name)}")


def _top(name: str, intervals: Sequence[Interval | None]) -> float:
    """Right end of a row's axis: 1 for shares, so that rows compare; else the highest end of an interval."""
    if is_share(name):
        return 1.0
    ends = [end for i in intervals if i for end in (i.ci_high, i.mean) if end is not None]
    return max(ends, default=1.0) or 1.0


def curves_section(view: View) -> Html | None:
    """Recall over k and, for answers, the choices of the gate."""
    found, refusals = [*_figure_by_k(view, "recall"), *_figure_by_k(view, "hit")], _refusal_figures(view)
    if not found and not refusals:
        return None
    notes = [READ_BY_K] if found else []
    if refusals:
        notes.append("Refusing is counted as the finding: precision is the share of refusals that were right.")
    return section("curves", "Curves", " ".join(notes), element("div", found, refusals, class_="charts"))


def _figure_by_k(view: View, family: str) -> list[Html]:
    found = {at: pairs for at, run in enumerate(view.runs) if len(pairs := metric_by_k(run, family)) > 1}
    if not found:
        return []
    ks = sorted({k for pairs in found.values() for k, _ in pairs})
    scale = math.log(ks[-1] / ks[0])
    at_k = {k: math.log(k / ks[0]) / scale for k in ks}
    lines = []
    for at, pairs in found.items():
        points = tuple((at_k[k], interval.mean) for k, interval in pairs if interval.mean is not None)
        names = tuple(f"{view.labels[at]} {family}@{k} {number_text(i.mean)}" for k, i in pairs)
        band = tuple((at_k[k], i.ci_low, i.ci_high) for k, i in pairs if i.ci_low is not None and i.ci_high is not None)
        lines.append(Line(at, points, names, band))
    told = "; ".join(name for line in lines for name in line.names)
    ticks = [(at_k[k], str(k)) for k in ks]
    title = f"{family.capitalize()} at k"
    chart = line_chart(title, told, lines, x_ticks=ticks, x_name="k (log)", y_name=f"{family}@k")
    return [element("figure", element("figcaption", title), chart, legend(view, list(found)))]


def _refusal_figures(view: View) -> list[Html]:
    curves = {at: curve for at, run in enumerate(view.runs) if (curve := refusal_curve(run))}
    if not curves:
        return []
    lines, marks, told = [], [], []
    for at, curve in curves.items():
        lines.append(Line(at, tuple((point.recall, point.precision) for point in curve.points)))
        best, colour = curve.best, f"r{at}"
        words = f"{view.labels[at]} best F1 {best.f1:.3f} at gate {best.gate:.3f}"
        marks.append(marker(*place(best.recall, best.precision), at, words, 6))
        told.append(words)
        if curve.actual:
            x, y = place(curve.actual.recall, curve.actual.precision)
            now = f"{view.labels[at]} now: precision {curve.actual.precision:.3f}, recall {curve.actual.recall:.3f}"
            marks.append(element("circle", element("title", now), cx=x, cy=y, r=9.0, class_=f"ring {colour}"))
            told.append(now)
    ticks = [(share, f"{share:g}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    title = "Refusals: precision against recall over the gate"
    chart = line_chart(title, "; ".join(told), lines, x_ticks=ticks, x_name="recall", y_name="precision", marks=marks)
    note = element(
        "p", "; ".join(told), ". The ring is where the run stood, the mark the gate of best F1.", class_="soft"
    )
    figures = [element("figure", element("figcaption", title), chart, legend(view, list(curves)), note)]
    return figures + [_gate_figure(view.labels[at], curve) for at, curve in curves.items()]


def _gate_figure(label: str, curve: RefusalCurve) -> Html:
    title = f"Gate scores, {label}: what can be answered and what cannot"
    rows = (("answerable", "better", curve.answerable), ("unanswerable", "worse", curve.unanswerable))
    words = f"Dashed: the gate of best F1, {curve.best.gate:.3f}. What lies to its left would be refused."
    return element(
        "figure", element("figcaption", title), strip(title, rows, curve.best.gate), element("p", words, class_="soft")
    )


def slices_section(view: View) -> Html | None:
    """The main metric by language, difficulty, kind …, and how far paraphrases lie apart."""
    tables = [_slice_table(view, name) for name in dimensions(view.rows)]
    groups = group_rows(view.rows)
    if not tables and not groups:
        return None
    metrics = " · ".join(
        f"{label}: {main_metric(run) or NOTHING}" for label, run in zip(view.labels, view.runs, strict=True)
    )
    note = f"The main metric by slice ({metrics}). A slice of fewer than {THIN_SLICE} queries says little."
    return section("slices", "Slices", note, *tables, _groups(view, groups) if groups else None)


def _slice_table(view: View, dimension: str) -> Html:
    head = [element("th", run_key(at), " ", label, scope="col") for at, label in enumerate(view.labels)]
    rows = []
    for row in slice_rows(view.rows, dimension):
        cells = []
        for at, (value, n) in enumerate(row.cells):
            metric = main_metric(view.runs[at]) or ""
            words = f"{view.labels[at]}, {row.name}: {number_text(value, metric)} over {n} queries"
            count = element("small", f"n = {n}", ", thin" if 0 < n < THIN_SLICE else None)
            pair = element("div", element("b", number_text(value, metric)), bar(value, f"r{at}", words), class_="pair")
            cells.append(element("td", pair, count, data_label=view.labels[at]))
        rows.append(element("tr", element("th", row.name, scope="row"), cells))
    table = element(
        "table",
        element("caption", f"by {dimension}"),
        element("thead", element("tr", element("th", dimension, scope="col"), head)),
        element("tbody", rows),
        class_="stack slices",
    )
    return element("div", table, class_="wide", tabindex=0, role="region", aria_label=f"Slices by {dimension}")


def _groups(view: View, groups: Sequence[GroupRow]) -> Html:
    shown, others = groups[:SHOWN_GROUPS], groups[SHOWN_GROUPS:]
    rest = None
    if others:
        words = f"{len(others)} more groups"
        rest = element("details", element("summary", words), _group_table(view, others, words), class_="more")
    caption = "Paraphrase groups, the widest spread first: lowest to highest value within a group"
    return element("div", _group_table(view, shown, caption), rest)


def _group_table(view: View, groups: Sequence[GroupRow], caption: str) -> Html:
    heads = [element("th", run_key(at), " ", label, scope="col") for at, label in enumerate(view.labels)]
    rows = []
    for group in groups:
        cells = []
        for at, bounds in enumerate(group.ranges):
            words = _range_words(bounds)
            title = f"{view.labels[at]}, {group.name}: {words}"
            small = element("small", words)
            cells.append(element("td", range_row(bounds, f"r{at}", title), small, data_label=view.labels[at]))
        about = element("small", f"{len(group.texts)} ways to ask")
        rows.append(element("tr", element("th", group.name, about, scope="row", title=" | ".join(group.texts)), cells))
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", element("th", "group", scope="col"), heads)),
        element("tbody", rows),
        class_="stack groups",
    )
    return element("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)


def _range_words(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return NOTHING
    low, high = bounds
    return f"{low:.3f} – {high:.3f}" if high > low else f"all {low:.3f}"


def latency_section(view: View) -> Html | None:
    """A histogram a stage, total first."""
    stages = {stage: None for run in view.runs for result in run.results for stage in result.stage_ms}
    if not stages:
        return None
    ordered = sorted(
        stages, key=lambda stage: WHOLE_STAGES.index(stage) if stage in WHOLE_STAGES else len(WHOLE_STAGES)
    )
    figures = [
        element("figure", element("figcaption", stage), histogram(stage, _lanes(view, stage))) for stage in ordered
    ]
    note = "Milliseconds per query, on a logarithmic axis that the runs of a stage share. The whole line is p50, the dashed p95."
    return section("latency", "Latency", note, element("div", figures, class_="charts"))


def _lanes(view: View, stage: str) -> list[Lane]:
    lanes = []
    for at, run in enumerate(view.runs):
        values = tuple(result.stage_ms[stage] for result in run.results if stage in result.stage_ms)
        told = run.stage_latency_ms.get(stage)
        p50 = told.p50 if told else quantile(values, 0.50)
        p95 = told.p95 if told else quantile(values, 0.95)
        if values:
            lanes.append(Lane(at, view.labels[at], values, p50, p95))
    return lanes


def tiles(view: View) -> Html:
    """A run in one number each."""
    found = []
    for at, (label, run) in enumerate(zip(view.labels, view.runs, strict=True)):
        metric = main_metric(run)
        interval = run.metrics[metric] if metric else None
        ends = None
        if metric and interval and interval.ci_low is not None and interval.ci_high is not None:
            ends = f"{number_text(interval.ci_low, metric)} – {number_text(interval.ci_high, metric)}, "
        about = join(metric or "no metric is defined", element("br"), ends, f"p50 {ms_text(run.latency_ms.p50)}")
        found.append(
            element(
                "div",
                element("span", run_key(at), label, class_="name"),
                element("b", number_text(interval.mean if interval else None, metric or "")),
                element("span", about, class_="soft"),
                class_=f"tile r{at}",
            )
        )
    return element("div", found, class_="tiles")
