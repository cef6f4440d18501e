"""Runs → lines, bars and histograms for the page, as numbers in [0, 1]. Knows no SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kb.eval.figures import View, main_metric, metric_by_k, ms_text, number_text
from kb.eval.metrics import percentiles
from kb.eval.refusals import RefusalCurve, refusal_curve
from kb.frozen import dataclass

BIN_COUNT = 40
SHORTEST_MS = 0.01
# Stages that contain the others; shown first.
WHOLE_STAGES = ("answer", "total")
NO_SLICE = "s6"
FIFTHS = tuple((share, f"{share:g}") for share in (0.0, 0.25, 0.5, 0.75, 1.0))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: (x, y) with both in [0, 1], a label per point, and the outline of the band around the line."""

    run: int
    points: tuple[tuple[float, float], ...]
    names: tuple[str, ...] = ()
    band: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked point on a chart: the run's shape, or a ring."""

    run: int
    x: float
    y: float
    name: str
    is_ring: bool = False


@dataclass(frozen=True, slots=True)
class LinePlot:
    """Lines over [0, 1] × [0, 1]; `summary` describes them in words."""

    title: str
    x_name: str
    y_name: str
    x_ticks: tuple[tuple[float, str], ...]
    lines: tuple[Line, ...]
    summary: tuple[str, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Lane:
    """One run in a histogram.

    bins         (left edge, width, height), each a share of the plot
    percentiles  (name, place on the axis)
    """

    run: int
    label: str
    words: str
    bins: tuple[tuple[float, float, float], ...]
    percentiles: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Times of one stage on one logarithmic axis, a lane per run."""

    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[float, str], ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One query in a skyline: height in [0, 1], the class of its colour, the id it links to, and its label."""

    value: float
    colour: str
    target: str
    name: str


def curve_by_k(view: View, family: str) -> LinePlot | None:
    """One family of metrics over k, on a logarithmic axis; None unless some run has two values of k."""
    found = {at: pairs for at, run in enumerate(view.runs) if len(pairs := metric_by_k(run, family)) > 1}
    if not found:
        return None
    ks = sorted({k for pairs in found.values() for k, _ in pairs})
    at_k = {k: math.log(k / ks[0]) / math.log(ks[-1] / ks[0]) for k in ks}
    lines = []
    for run, pairs in found.items():
        names = tuple(f"{view.labels[run]} {family}@{k} {number_text(i.mean)}" for k, i in pairs)
        points = tuple((at_k[k], i.mean) for k, i in pairs if i.mean is not None)
        low = [(at_k[k], i.ci_low) for k, i in pairs if i.ci_low is not None and i.ci_high is not None]
        high = [(at_k[k], i.ci_high) for k, i in pairs if i.ci_low is not None and i.ci_high is not None]
        lines.append(Line(run, points, names, (*high, *reversed(low))))
    ticks = tuple((at_k[k], str(k)) for k in ks)
    summary = tuple(name for line in lines for name in line.names)
    return LinePlot(f"{family.capitalize()} at k", "k (log)", f"{family}@k", ticks, tuple(lines), summary)


def refusal_plot(view: View) -> tuple[LinePlot | None, tuple[tuple[int, RefusalCurve], ...]]:
    """Precision against recall of refusing, and the curve of each run that has one; None where no run has one."""
    curves = tuple((at, curve) for at, run in enumerate(view.runs) if (curve := refusal_curve(run)))
    lines, marks = [], []
    for at, curve in curves:
        lines.append(Line(at, tuple((point.recall, point.precision) for point in curve.points)))
        best, now = curve.best, curve.actual
        words = f"{view.labels[at]} best F1 {best.f1:.3f} at gate {best.gate:.3f}"
        marks.append(Mark(at, best.recall, best.precision, words))
        if now:
            words = f"{view.labels[at]} now: precision {now.precision:.3f}, recall {now.recall:.3f}"
            marks.append(Mark(at, now.recall, now.precision, words, is_ring=True))
    if not curves:
        return None, ()
    title = "Refusals: precision against recall over the gate"
    summary = tuple(mark.name for mark in marks)
    return LinePlot(title, "recall", "precision", FIFTHS, tuple(lines), summary, tuple(marks)), curves


def latency_plots(view: View) -> list[tuple[str, Histogram]]:
    """A histogram per stage, WHOLE_STAGES first."""
    stages = {stage: None for run in view.runs for result in run.results for stage in result.stage_ms}
    whole = [stage for stage in WHOLE_STAGES if stage in stages]
    return [(stage, _histogram(view, stage)) for stage in (*whole, *(s for s in stages if s not in whole))]


def _histogram(view: View, stage: str) -> Histogram:
    found = {}
    for at, run in enumerate(view.runs):
        values = tuple(result.stage_ms[stage] for result in run.results if stage in result.stage_ms)
        if values:
            found[at] = (values, run.stage_latency_ms.get(stage) or percentiles(values))
    axis = LogAxis.around([value for values, _ in found.values() for value in values])
    lanes = []
    for at, (values, times) in found.items():
        words = f"p50 {ms_text(times.p50)} · p95 {ms_text(times.p95)}"
        lines = tuple(
            (name, axis.share(value)) for name, value in (("p50", times.p50), ("p95", times.p95)) if value is not None
        )
        lanes.append(Lane(at, view.labels[at], words, axis.bins(values), lines))
    summary = "; ".join(f"{lane.label} {lane.words.replace(' ·', ',')}" for lane in lanes)
    ticks = tuple((axis.share(value), f"{value:,.0f}" if value >= 1 else f"{value:g}") for value in axis.ticks())
    return Histogram(tuple(lanes), ticks, summary)


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis from low to high milliseconds, both above 0."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[float]) -> LogAxis:
        """The axis of some times, at least half a decade wide: a narrower one would exaggerate noise."""
        shown = [max(value, SHORTEST_MS) for value in values] or [1.0, 10.0]
        low, high = min(shown), max(shown)
        missing = max(0.5 - math.log10(high / low), 0.0)
        return cls(low / 10 ** (missing / 2), high * 10 ** (missing / 2))

    def share(self, value: float) -> float:
        """A value's position: 0 is the low end, 1 the high end."""
        return math.log(max(value, SHORTEST_MS) / self.low) / math.log(self.high / self.low)

    def bins(self, values: Sequence[float]) -> tuple[tuple[float, float, float], ...]:
        """(left edge, width, height) of every bin with a value in it; the fullest has height 1."""
        counts = [0] * BIN_COUNT
        for value in values:
            counts[min(max(int(self.share(value) * BIN_COUNT), 0), BIN_COUNT - 1)] += 1
        most = max(counts)
        width = 1 / BIN_COUNT - 0.002
        return tuple((at / BIN_COUNT + 0.001, width, count / most) for at, count in enumerate(counts) if count)

    def ticks(self) -> list[float]:
        """1, 2 and 5 of each decade inside the axis; only the 1s where these are more than six."""
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        fine = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
        fine = [value for value in fine if self.low <= value <= self.high]
        coarse = [10.0**decade for decade in decades if self.low <= 10.0**decade <= self.high]
        return coarse if len(fine) > 6 and coarse else fine


def skyline_bars(view: View, at: int, dimension: str | None, colours: Mapping[str, str]) -> list[Bar]:
    """A bar for every query that has a value in the run, lowest first."""
    metric = main_metric(view.runs[at]) or ""
    found = [(value, row) for row in view.rows if (value := row.values[at]) is not None]
    found.sort(key=lambda pair: (pair[0], pair[1].number))
    return [
        Bar(
            min(max(value, 0.0), 1.0),
            colours.get(row.query.slices.get(dimension or "", ""), NO_SLICE),
            f"q{row.number}",
            f"{row.query.query_id}: {number_text(value, metric)}",
        )
        for value, row in found
    ]
