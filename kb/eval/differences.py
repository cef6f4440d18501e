"""A comparison of two runs → its section of the page: a forest of differences, slices, and the queries that changed most."""

from __future__ import annotations

from collections.abc import Sequence

from kb.eval.charts import forest_row
from kb.eval.figures import has_direction, is_lower_better, is_share, number_text, p_text, signed_text
from kb.eval.markup import Html, element
from kb.eval.records import Comparison, MetricDifference, QueryChange
from kb.eval.sections import View, section

SIGNIFICANT_P = 0.05
SHOWN_PLACES = 5


def verdict(difference: MetricDifference) -> str:
    """One of better, worse and equal: a direction is given only where chance alone is an unlikely cause (p < 0.05)."""
    if not has_direction(difference.metric) or not difference.difference:
        return "equal"
    if difference.p is None or difference.p >= SIGNIFICANT_P:
        return "equal"
    return "worse" if (difference.difference < 0) != is_lower_better(difference.metric) else "better"


def summary_words(comparison: Comparison, name_a: str, name_b: str) -> str:
    """The comparison in one sentence; times and tokens, which depend on the machine, are not counted."""
    verdicts = [verdict(difference) for difference in comparison.metrics if is_share(difference.metric)]
    regressions = [difference.metric for difference in comparison.metrics if difference.is_regression]
    told = f"{name_b} against {name_a}, of {len(verdicts)} metrics: {verdicts.count('better')} better, "
    told += f"{verdicts.count('worse')} worse, {verdicts.count('equal')} without a significant difference."
    return f"{told} Regression: {', '.join(regressions)}." if regressions else told


def run_names(view: View, comparison: Comparison) -> tuple[str, str]:
    """How the page calls the compared runs; their ids where it does not show them."""
    names = {run.run_id: label for run, label in zip(view.runs, view.labels, strict=True)}
    return names.get(comparison.run_a, comparison.run_a), names.get(comparison.run_b, comparison.run_b)


def differences_section(view: View) -> Html | None:
    """B against A; None without a comparison."""
    comparison = view.comparison
    if comparison is None:
        return None
    name_a, name_b = run_names(view, comparison)
    note = (
        f"{name_b} minus {name_a} over the queries that both have, with a paired bootstrap 95 % interval and the p of a paired "
        "permutation test. Coloured where p < 0.05; right of the line is more, which for ↓ metrics is worse."
    )
    return section(
        "differences",
        "Differences",
        note,
        _provenance(comparison),
        _forest(comparison.metrics, "Differences by metric"),
        _slices(comparison),
        _changes("Worst regressions", comparison.worst, name_a, name_b, opened=True),
        _changes("Greatest gains", comparison.best, name_a, name_b, opened=False),
    )


def _provenance(comparison: Comparison) -> Html | None:
    told = []
    if comparison.differences_in:
        told.append(f"The runs differ in {', '.join(comparison.differences_in)}.")
    for name, ids in (("A", comparison.only_in_a), ("B", comparison.only_in_b)):
        if ids:
            told.append(f"Only in {name}: {len(ids)} of the queries.")
    return element("p", " ".join(told)) if told else None


def _forest(differences: Sequence[MetricDifference], caption: str) -> Html:
    """One row a metric; shares have one scale, so that rows compare, times each their own."""
    common = max((_reach(d) for d in differences if is_share(d.metric)), default=0.0) or 0.01
    names = ("A", "B", "B − A", "difference", "p", "won / lost / tied")
    heads = [element("th", name, scope="col", class_="plot" if name == "difference" else None) for name in names]
    rows = [_forest_line(d, common if is_share(d.metric) else _reach(d) or 1.0) for d in differences]
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", element("th", "metric", scope="col"), heads)),
        element("tbody", rows),
        class_="stack forest",
    )
    return element("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)


def _reach(difference: MetricDifference) -> float:
    ends = (difference.ci_low, difference.ci_high, difference.difference)
    return max((abs(end) for end in ends if end is not None), default=0.0) * 1.05


def _forest_line(difference: MetricDifference, span: float) -> Html:
    metric, said = difference.metric, verdict(difference)
    interval = None
    if difference.ci_low is not None and difference.ci_high is not None:
        interval = f"{signed_text(difference.ci_low, metric)} to {signed_text(difference.ci_high, metric)}"
    lower = element("span", " ↓", class_="soft") if is_lower_better(metric) else None
    flag = element("small", "regression", class_="worse") if difference.is_regression else None
    return element(
        "tr",
        element("th", metric, lower, flag, scope="row"),
        element("td", number_text(difference.mean_a, metric), data_label="A"),
        element("td", number_text(difference.mean_b, metric), data_label="B"),
        element(
            "td",
            element("b", signed_text(difference.difference, metric), class_=said),
            element("small", interval) if interval else None,
            data_label="B − A",
        ),
        element("td", forest_row(difference, span, said), class_="plot"),
        element("td", p_text(difference.p), data_label="p"),
        element("td", f"{difference.wins} / {difference.losses} / {difference.ties}", data_label="won / lost / tied"),
    )


def _slices(comparison: Comparison) -> Html | None:
    if not comparison.slices:
        return None
    tables = [_forest(found, name) for name, found in sorted(comparison.slices.items()) if found]
    words = f"Differences by slice ({len(tables)})"
    return element("details", element("summary", words), tables, class_="more")


def _changes(title: str, changes: Sequence[QueryChange], name_a: str, name_b: str, *, opened: bool) -> Html | None:
    if not changes:
        return None
    found = [_change(change, name_a, name_b) for change in changes]
    return element("details", element("summary", f"{title} ({len(changes)})"), found, class_="more", open=opened)


def _change(change: QueryChange, name_a: str, name_b: str) -> Html:
    before, after = number_text(change.before, change.metric), number_text(change.after, change.metric)
    return element(
        "div",
        element("p", element("b", element("bdi", change.text, dir="auto"))),
        element(
            "p",
            element("span", change.query_id, class_="mono"),
            f" · {change.metric} {before} → {after}",
            class_="soft",
        ),
        element(
            "div",
            _places(f"before, {name_a}", change.places_before),
            _places(f"now, {name_b}", change.places_after),
            class_="sides",
        ),
        class_="change",
    )


def _places(title: str, places: Sequence[str]) -> Html:
    shown = (
        element("ol", [element("li", place) for place in places[:SHOWN_PLACES]]) if places else element("p", "nothing")
    )
    return element("div", element("h4", title), shown)
