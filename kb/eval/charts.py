"""Figures → inline SVG: bars, dots with whiskers, forests, skylines, lines and histograms.

Rows are drawn in percent of the width, so that they fit a phone undistorted; line charts have a fixed shape. Colours are
classes (`r0` a run, `s0` a slice), set by the page's style for light and dark. Every chart says in words what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb.eval.figures import ms_text, number_text, signed_text
from kb.eval.markup import Html, element, number, percent
from kb.eval.records import Interval, MetricDifference

LANE_PX = 12
BARS_PX = 34
SKYLINE_PX = 104
# Shape of line charts in user units; at 460 px of width a unit is a pixel and type is 12 px.
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 460, 310, 34, 16, 26, 40
BIN_COUNT = 40
SHORTEST_MS = 0.01


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: (x, y) with both in [0, 1], and the band around it as (x, low, high)."""

    run: int
    points: tuple[tuple[float, float], ...]
    names: tuple[str, ...] = ()
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Lane:
    """One run's values in a histogram, in milliseconds."""

    run: int
    label: str
    values: tuple[float, ...]
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class Bar:
    """One query in a skyline: height in [0, 1], the class of its colour, where it leads, and what it says."""

    value: float
    colour: str
    target: str
    name: str


def row_chart(title: str, *children: Html, height: int, class_: str = "row") -> Html:
    """An SVG as wide as its place and `height` pixels high, that reads out as `title`."""
    return element("svg", element("title", title), *children, class_=class_, role="img", height=height, width="100%")


def dots_and_whiskers(metric: str, labels: Sequence[str], intervals: Sequence[Interval | None], top: float) -> Html:
    """Means with their 95 % intervals, a lane a run that has one, on [0, top]."""
    found = [(at, labels[at], i, i.mean) for at, i in enumerate(intervals) if i is not None and i.mean is not None]
    height = max(len(found), 1) * LANE_PX + 6
    marks = [_grid(share, height) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for lane, (at, _, interval, mean) in enumerate(found):
        y = LANE_PX * lane + 3 + LANE_PX / 2
        if interval.ci_low is not None and interval.ci_high is not None:
            marks.append(_whisker(interval.ci_low / top, interval.ci_high / top, y, f"r{at}"))
        # Polygons know no percent: the mark is drawn around the corner of an SVG that stands at the place.
        marks.append(element("svg", marker(0, 0, at, size=3.6), x=percent(_inside(mean / top)), y=y, class_="spot"))
    words = ", ".join(f"{label} {number_text(mean, metric)}" for _, label, _, mean in found)
    return row_chart(f"{metric}: {words or 'undefined'}", *marks, height=height)


def forest_row(difference: MetricDifference, span: float, verdict: str) -> Html:
    """One difference with its interval on [−span, span] around the line of no difference; `verdict` names the colour."""
    marks = [_grid(share, 22) for share in (0.0, 0.25, 0.75, 1.0)]
    marks.append(element("line", x1="50%", x2="50%", y1=0, y2=22, class_="zero"))
    if difference.difference is not None:
        if difference.ci_low is not None and difference.ci_high is not None:
            marks.append(_whisker(_around(difference.ci_low, span), _around(difference.ci_high, span), 11, verdict))
        x = percent(_inside(_around(difference.difference, span)))
        marks.append(element("circle", cx=x, cy=11, r=4.5, class_=f"dot {verdict}"))
    title = f"{difference.metric}: {signed_text(difference.difference, difference.metric)}, {verdict}"
    return row_chart(title, *marks, height=22)


def bar_row(value: float | None, colour: str, title: str) -> Html:
    """One bar of [0, 1]; an empty track where the value is None."""
    track = element("rect", x=0, y=4, width="100%", height=8, rx=2, class_="track")
    if value is None:
        return row_chart(title, track, height=16, class_="row thin")
    bar = element("rect", x=0, y=4, width=percent(max(_inside(value), 0.005)), height=8, rx=2, class_=f"fill {colour}")
    return row_chart(title, track, bar, height=16, class_="row thin")


def range_row(bounds: tuple[float, float] | None, colour: str, title: str) -> Html:
    """The stretch from lowest to highest on [0, 1]."""
    marks = [element("rect", x=0, y=7, width="100%", height=2, class_="track")]
    if bounds:
        low, high = bounds
        marks.append(_whisker(low, high, 8, colour, ends=False))
        marks += [element("circle", cx=percent(_inside(x)), cy=8, r=4, class_=f"dot {colour}") for x in (low, high)]
    return row_chart(title, *marks, height=16, class_="row thin")


def skyline(title: str, bars: Sequence[Bar]) -> Html:
    """A bar a query, in the order given; each leads to the query's details."""
    step = 1 / max(len(bars), 1)
    marks = [
        element("line", x1=0, x2="100%", y1=4 + 100 * (1 - y), y2=4 + 100 * (1 - y), class_="grid") for y in (0, 0.5, 1)
    ]
    for at, bar in enumerate(bars):
        high = max(100 * _inside(bar.value), 2.5)
        shape = element(
            "rect",
            element("title", bar.name),
            x=percent(at * step + step * 0.1),
            width=percent(step * 0.8),
            y=4 + 100 - high,
            height=high,
            class_=bar.colour,
        )
        marks.append(element("a", shape, href=f"#{bar.target}", tabindex=-1))
    return row_chart(title, *marks, height=SKYLINE_PX + 2, class_="skyline")


def line_chart(
    title: str,
    description: str,
    lines: Sequence[Line],
    *,
    x_ticks: Iterable[tuple[float, str]],
    x_name: str,
    y_name: str,
    marks: Iterable[Html] = (),
) -> Html:
    """Lines over [0, 1] × [0, 1], each with its band, its dash and its marker, so that colour is never alone."""
    parts: list[Html] = [_axes(x_ticks, x_name, y_name)]
    for line in lines:
        if line.band:
            edge = [(x, high) for x, _, high in line.band] + [(x, low) for x, low, _ in reversed(line.band)]
            parts.append(element("polygon", points=_path(edge), class_=f"band r{line.run}"))
    for line in lines:
        parts.append(element("polyline", points=_path(line.points), class_=f"line r{line.run} dash{line.run % 4}"))
        for point, name in zip(line.points, line.names, strict=False):
            parts.append(marker(*place(*point), line.run, name))
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *parts,
        *marks,
        viewBox=f"0 0 {WIDE} {HIGH}",
        role="img",
        class_="chart",
    )


def marker(x: float, y: float, run: int, name: str | None = None, size: float = 4.5) -> Html:
    """A run's own shape: circle, square, diamond, triangle, then again."""
    title = element("title", name) if name else None
    colour = f"dot r{run}"
    if run % 4 == 0:
        return element("circle", title, cx=x, cy=y, r=size, class_=colour)
    corners = {
        1: [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2: [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
        3: [(0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
    }[run % 4]
    points = " ".join(f"{number(x + size * dx)},{number(y + size * dy)}" for dx, dy in corners)
    return element("polygon", title, points=points, class_=colour)


def place(x: float, y: float) -> tuple[float, float]:
    """A point of [0, 1] × [0, 1] in a line chart's own units."""
    return LEFT + (WIDE - LEFT - RIGHT) * _inside(x), TOP + (HIGH - TOP - BOTTOM) * (1 - _inside(y))


def histogram(stage: str, lanes: Sequence[Lane]) -> Html:
    """Times of one stage on a shared logarithmic axis, a lane a run, with p50 (whole) and p95 (dashed) marked."""
    values = [max(value, SHORTEST_MS) for lane in lanes for value in lane.values]
    low, high = _log_bounds(values)
    lane_px = BARS_PX + 26
    marks: list[Html] = []
    for at, lane in enumerate(lanes):
        base = at * lane_px + lane_px - 2
        words = f"p50 {ms_text(lane.p50)} · p95 {ms_text(lane.p95)}"
        marks.append(element("text", lane.label, x=0, y=base - BARS_PX - 6, class_="name"))
        marks.append(element("text", words, x="100%", y=base - BARS_PX - 6, class_="value end"))
        marks += _bins(lane, low, high, base)
        for value, style in ((lane.p50, "p50"), (lane.p95, "p95")):
            if value is not None:
                x = percent(_inside(_log_share(value, low, high)))
                marks.append(element("line", x1=x, x2=x, y1=base - BARS_PX, y2=base, class_=style))
        marks.append(element("line", x1=0, x2="100%", y1=base, y2=base, class_="axis"))
    foot = len(lanes) * lane_px
    for value in _log_ticks(low, high):
        share = _log_share(value, low, high)
        end = "end" if share > 0.93 else "start" if share < 0.07 else "middle"
        name = f"{value:,.0f}" if value >= 1 else f"{value:g}"
        marks.append(element("text", name, x=percent(share), y=foot + 13, class_=f"tick {end}"))
    told = "; ".join(f"{lane.label} p50 {ms_text(lane.p50)}, p95 {ms_text(lane.p95)}" for lane in lanes)
    return row_chart(f"{stage}: {told}", *marks, height=foot + 18, class_="histogram")


def strip(title: str, rows: Sequence[tuple[str, str, Sequence[float]]], gate: float | None) -> Html:
    """Values as translucent dots, a row a kind (name, colour, values), with a gate drawn through."""
    values = [value for _, _, found in rows for value in found]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    width = (high - low) or 1.0
    marks: list[Html] = []
    for at, (name, colour, found) in enumerate(rows):
        marks.append(element("text", f"{name} ({len(found)})", x=0, y=13 + 40 * at, class_="name"))
        for value in found:
            x = percent(0.01 + 0.98 * (value - low) / width)
            marks.append(element("circle", cx=x, cy=27 + 40 * at, r=5, class_=f"sand {colour}"))
    foot = 40 * len(rows)
    if gate is not None:
        x = percent(0.01 + 0.98 * _inside((gate - low) / width))
        marks.append(element("line", x1=x, x2=x, y1=16, y2=foot, class_="p95"))
    marks.append(element("text", f"{low:.2f}", x=0, y=foot + 14, class_="tick start"))
    marks.append(element("text", f"{high:.2f}", x="100%", y=foot + 14, class_="tick end"))
    return row_chart(title, *marks, height=foot + 20, class_="histogram")


def _axes(x_ticks: Iterable[tuple[float, str]], x_name: str, y_name: str) -> Html:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = place(0, share)
        parts.append(element("line", x1=x, x2=WIDE - RIGHT, y1=y, y2=y, class_="axis" if share == 0 else "grid"))
        parts.append(element("text", f"{share:g}", x=x - 7, y=y + 4, class_="tick end"))
    for share, name in x_ticks:
        x, y = place(share, 0)
        parts.append(element("line", x1=x, x2=x, y1=y, y2=y + 4, class_="axis"))
        parts.append(element("text", name, x=x, y=y + 17, class_="tick middle"))
    parts.append(element("text", x_name, x=WIDE - RIGHT, y=HIGH - 5, class_="tick end strong"))
    parts.append(element("text", y_name, x=0, y=12, class_="tick strong"))
    return element("g", *parts, class_="axes")


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in (place(*point) for point in points))


def _grid(share: float, height: int) -> Html:
    x = percent(share)
    return element("line", x1=x, x2=x, y1=0, y2=height, class_="grid")


def _whisker(low: float, high: float, y: float, colour: str, *, ends: bool = True) -> Html:
    left, right = percent(_inside(low)), percent(_inside(high))
    lines = [element("line", x1=left, x2=right, y1=y, y2=y)]
    if ends:
        lines += [element("line", x1=x, x2=x, y1=y - 3, y2=y + 3) for x in (left, right)]
    return element("g", *lines, class_=f"whisker {colour}")


def _inside(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _around(difference: float, span: float) -> float:
    return 0.5 + difference / span / 2 if span else 0.5


def _bins(lane: Lane, low: float, high: float, base: float) -> list[Html]:
    counts = [0] * BIN_COUNT
    for value in lane.values:
        share = _inside(_log_share(max(value, SHORTEST_MS), low, high))
        counts[min(int(share * BIN_COUNT), BIN_COUNT - 1)] += 1
    most = max(counts, default=0)
    return [
        element(
            "rect",
            x=percent(at / BIN_COUNT + 0.001),
            width=percent(1 / BIN_COUNT - 0.002),
            y=base - BARS_PX * count / most,
            height=BARS_PX * count / most,
            class_=f"fill r{lane.run}",
        )
        for at, count in enumerate(counts)
        if count
    ]


def _log_bounds(values: Sequence[float]) -> tuple[float, float]:
    """Ends of the axis: the values' own, opened to at least half a decade, so that noise is not blown up to a hill."""
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    missing = 0.5 - math.log10(high / low)
    if missing > 0:
        low, high = low / 10 ** (missing / 2), high * 10 ** (missing / 2)
    return low, high


def _log_share(value: float, low: float, high: float) -> float:
    return math.log(max(value, SHORTEST_MS) / low) / math.log(high / low)


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade inside the axis; only the 1s where that would be crowded."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5) if low <= digit * 10.0**decade <= high]
    coarse = [10.0**decade for decade in decades if low <= 10.0**decade <= high]
    return coarse if len(fine) > 6 and coarse else fine
