"""A comparison of two runs → its verdicts, and the sentence that sums it up. Pure; knows neither HTML nor Markdown."""

from __future__ import annotations

from kb.eval.compare import SIGNIFICANT
from kb.eval.figures import NOTHING, View, has_direction, is_lower_better, is_share, number_text, p_text, signed_text
from kb.eval.records import Comparison, MetricDifference


def verdict(difference: MetricDifference) -> str:
    """One of better, worse and equal: a direction is given only where chance alone is an unlikely cause (p < 0.05)."""
    if not has_direction(difference.metric) or not difference.difference:
        return "equal"
    if difference.p is None or difference.p >= SIGNIFICANT:
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
    """How a report calls the compared runs; their ids where it does not show them."""
    names = {run.run_id: label for run, label in zip(view.runs, view.labels, strict=True)}
    return names.get(comparison.run_a, comparison.run_a), names.get(comparison.run_b, comparison.run_b)


def reach(difference: MetricDifference) -> float:
    """How far a difference and its interval go from 0, with a little room: half the width of its axis."""
    ends = (difference.ci_low, difference.ci_high, difference.difference)
    return max((abs(end) for end in ends if end is not None), default=0.0) * 1.05


def difference_texts(difference: MetricDifference) -> list[str]:
    """A metric's row in a table of differences: A, B, B − A, its interval, p, queries won/lost/tied."""
    name = difference.metric
    interval = f"{signed_text(difference.ci_low, name)} … {signed_text(difference.ci_high, name)}"
    return [
        number_text(difference.mean_a, name),
        number_text(difference.mean_b, name),
        signed_text(difference.difference, name),
        NOTHING if difference.ci_low is None else interval,
        p_text(difference.p),
        f"{difference.wins}/{difference.losses}/{difference.ties}",
    ]
