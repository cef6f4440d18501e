"""A comparison of two runs → verdicts, table cells and a summary sentence. Pure; knows neither HTML nor Markdown."""

from __future__ import annotations

from kb.eval.compare import SIGNIFICANT
from kb.eval.figures import NOTHING, View, has_direction, is_lower_better, is_share, number_text, p_text, signed_text
from kb.eval.records import Comparison, MetricDifference


def verdict(difference: MetricDifference) -> str:
    """better or worse where the difference is significant (p < 0.05) and the metric has a direction, else equal."""
    if not has_direction(difference.metric) or not difference.difference:
        return "equal"
    if difference.p is None or difference.p >= SIGNIFICANT:
        return "equal"
    return "worse" if (difference.difference < 0) != is_lower_better(difference.metric) else "better"


def summary_words(comparison: Comparison, name_a: str, name_b: str) -> str:
    """The comparison in one sentence; times and tokens are left out: they depend on the machine."""
    verdicts = [verdict(difference) for difference in comparison.metrics if is_share(difference.metric)]
    regressions = [difference.metric for difference in comparison.metrics if difference.is_regression]
    words = f"{name_b} against {name_a}, of {len(verdicts)} metrics: {verdicts.count('better')} better, "
    words += f"{verdicts.count('worse')} worse, {verdicts.count('equal')} without a significant difference."
    return f"{words} Regression: {', '.join(regressions)}." if regressions else words


def run_names(view: View, comparison: Comparison) -> tuple[str, str]:
    """Labels of the compared runs; a run that the report does not show has its id."""
    names = {run.run_id: label for run, label in zip(view.runs, view.labels, strict=True)}
    return names.get(comparison.run_a, comparison.run_a), names.get(comparison.run_b, comparison.run_b)


def reach(difference: MetricDifference) -> float:
    """Half the width of a difference's axis: its largest distance from 0, interval included, and 5 %."""
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
