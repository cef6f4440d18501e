"""Gate scores of an answer run → precision and recall of refusing, for every threshold that the gate could have.

Refusing is the positive class: precision is the share of the refused that were unanswerable, recall the share of the
unanswerable that were refused. Knows no chart.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.eval.records import QueryResult, Run
from kb.frozen import dataclass

GATE_SCORE = "gate_score"


@dataclass(frozen=True, slots=True)
class GatePoint:
    """The effect of a gate: every question with a score below it is refused."""

    gate: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True, slots=True)
class RefusalCurve:
    """The gate's choices for one run.

    points      gate rising, so recall rises
    actual      the run's own point, by what it refused; None when it refused nothing
    answerable, unanswerable  gate scores of each, rising; queries without a score (nothing retrieved) are left out
    """

    points: tuple[GatePoint, ...]
    actual: GatePoint | None
    answerable: tuple[float, ...]
    unanswerable: tuple[float, ...]

    @property
    def best(self) -> GatePoint:
        """The point of highest F1, the lowest gate of equals."""
        return max(self.points, key=lambda point: (point.f1, -point.gate))


def refusal_curve(run: Run) -> RefusalCurve | None:
    """The curve of a run; None where gate scores, answerable or unanswerable queries are missing."""
    results = [result for result in run.results if GATE_SCORE in result.scores]
    unanswerable = sum(not result.answerable for result in results)
    gates = sorted({score for result in results if (score := result.scores[GATE_SCORE]) is not None})
    if not gates or unanswerable in (0, len(results)):
        return None
    # One gate above every score refuses everything: the right end of the curve.
    candidates = [*gates, gates[-1] + (gates[-1] - gates[0] or 1.0) / 100]
    points = [_point(gate, [r for r in results if _is_below(r, gate)], unanswerable) for gate in candidates]
    refused = [result for result in results if result.answer and not result.answer.grounded]
    return RefusalCurve(
        points=tuple(point for point in points if point),
        actual=_point(float("nan"), refused, unanswerable),
        answerable=_scores(results, answerable=True),
        unanswerable=_scores(results, answerable=False),
    )


def _is_below(result: QueryResult, gate: float) -> bool:
    score = result.scores[GATE_SCORE]
    return score is None or score < gate


def _point(gate: float, refused: Sequence[QueryResult], unanswerable: int) -> GatePoint | None:
    if not refused:
        return None
    right = sum(not result.answerable for result in refused)
    return GatePoint(gate, right / len(refused), right / unanswerable)


def _scores(results: Sequence[QueryResult], *, answerable: bool) -> tuple[float, ...]:
    found = [result.scores[GATE_SCORE] for result in results if result.answerable == answerable]
    return tuple(sorted(score for score in found if score is not None))
