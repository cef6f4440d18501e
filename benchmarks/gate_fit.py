"""Signals of labelled cases → the weights of the evidence gate, and their scores on cases they were not fitted on.

Logistic regression with an L2 penalty and weights bounded below by 0 (L-BFGS-B): a signal that speaks for an answer may
not lower the score, whatever a sample says. Knows no corpus and no question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gate_sets import ANSWERABLE, NEAR, REMOVED, SAME_TOPIC, WRONG, Case
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.model_selection import GroupKFold

from kb.evidence.records import NAMES, Signals

Vector = NDArray[np.float64]
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one set of weights is fitted.

    names    signals that may have a weight
    kinds    how much each kind of unanswerable question counts, together 1
    odds     weight of all answerable cases together against all unanswerable ones
    penalty  L2, on sums over cases whose weights have mean 1
    caps     upper bounds: swapped names and numbers are far more frequent among the near misses than in life
    """

    names: tuple[str, ...]
    kinds: dict[str, float]
    odds: float = 1.0
    penalty: float = 3.0
    caps: tuple[tuple[str, float], ...] = (("numbers", 1.5), ("names", 1.5), ("answer_type", 0.5))


VECTOR_SIGNALS = ("cosine", "sentence_cosine", "margin", "agreement")
RECIPES = {
    # A refusal of what is answered there costs more than the opposite: the next gate, the model's own, still stands.
    "vectors": Recipe(
        tuple(name for name in NAMES if name != "margin"),
        {SAME_TOPIC: 0.35, WRONG: 0.35, NEAR: 0.15, REMOVED: 0.15},
        odds=1.25,
    ),
    # Words alone cannot tell a paraphrase from another question: they are fitted to what they can tell, other topics, and
    # give the benefit of the doubt. What kind of answer is asked for moved Korean questions and told nothing there.
    "words": Recipe(
        tuple(name for name in NAMES if name not in (*VECTOR_SIGNALS, "answer_type")),
        {SAME_TOPIC: 0.1, WRONG: 0.6, NEAR: 0.15, REMOVED: 0.15},
        odds=1.5,
    ),
    "spread": Recipe(("margin",), {SAME_TOPIC: 0.1, WRONG: 0.6, NEAR: 0.15, REMOVED: 0.15}, odds=1.5),
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights by the recipe's names, the intercept, and what answered questions have on average."""

    names: tuple[str, ...]
    weights: Vector
    intercept: float
    typical: Vector

    def score(self, matrix: Vector) -> Vector:
        """Probabilities of rows in the order of `names`; NaN is taken for what is typical."""
        filled = np.where(np.isnan(matrix), self.typical, matrix)
        scores: Vector = 1.0 / (1.0 + np.exp(-(filled @ self.weights + self.intercept)))
        return scores


def to_matrix(signals: Sequence[Signals], names: Sequence[str]) -> Vector:
    """(n, len(names)), NaN where a signal does not apply."""
    rows = [[np.nan if getattr(s, name) is None else getattr(s, name) for name in names] for s in signals]
    return np.array(rows, dtype=np.float64)


def case_weights(cases: Sequence[Case], recipe: Recipe) -> Vector:
    """Every kind has its share whatever its size; sets of answerable questions count by the root of theirs."""
    weights = np.zeros(len(cases))
    sets = np.array([case.set for case in cases])
    kinds = np.array([case.kind for case in cases])
    for name in sorted(set(sets)):
        mine = (sets == name) & (kinds == ANSWERABLE)
        if mine.any():
            weights[mine] = 1.0 / np.sqrt(mine.sum())
    weights *= recipe.odds / weights.sum()
    present = {kind: share for kind, share in recipe.kinds.items() if (kinds == kind).any()}
    for kind, share in present.items():
        weights[kinds == kind] = share / sum(present.values()) / (kinds == kind).sum()
    return weights * len(cases) / weights.sum()


def fit(cases: Sequence[Case], signals: Sequence[Signals], recipe: Recipe) -> Fitted:
    """The weights that fit these cases."""
    matrix = to_matrix(signals, recipe.names)
    answers = np.array([case.is_answerable for case in cases], dtype=np.float64)
    weights = case_weights(cases, recipe)
    typical = np.array([np.nanmean(c) if not np.isnan(c).all() else 1.0 for c in matrix[answers == 1].T])
    filled = np.where(np.isnan(matrix), typical, matrix)
    count = len(recipe.names)

    def loss(parameters: Vector) -> tuple[float, Vector]:
        z = filled @ parameters[:count] + parameters[count]
        p = 1.0 / (1.0 + np.exp(-z))
        own = np.logaddexp(0.0, z) - answers * z
        value = float((weights * own).sum() + 0.5 * recipe.penalty * (parameters[:count] ** 2).sum())
        slope = weights * (p - answers)
        return value, np.r_[filled.T @ slope + recipe.penalty * parameters[:count], slope.sum()]

    caps = dict(recipe.caps)
    bounds = [(0.0, caps.get(name)) for name in recipe.names] + [(None, None)]
    found = minimize(loss, np.r_[np.full(count, 0.1), 0.0], jac=True, method="L-BFGS-B", bounds=bounds)
    return Fitted(recipe.names, found.x[:count], float(found.x[count]), typical)


def out_of_fold(cases: Sequence[Case], signals: Sequence[Signals], recipe: Recipe, *, by_set: bool) -> Vector:
    """Each case's probability by weights fitted without its gold document; with `by_set` without its whole set.

    Cases of sets that are never fitted on are scored by the weights of all others.
    """
    scores = np.full(len(cases), np.nan)
    usable = np.array([is_fitted_on(case) for case in cases])
    groups = np.array([case.set if by_set else case.group for case in cases])
    rows = np.flatnonzero(usable)
    folds = len(set(groups[rows])) if by_set else FOLDS
    splits = [(rows[a], rows[b]) for a, b in GroupKFold(folds).split(rows, groups=groups[rows])]
    for train, test in [*splits, (rows, np.flatnonzero(~usable))]:
        fitted = fit([cases[i] for i in train], [signals[i] for i in train], recipe)
        scores[test] = fitted.score(to_matrix([signals[i] for i in test], recipe.names))
    return scores


def is_fitted_on(case: Case) -> bool:
    """The project's own suite and the Korean questions are only reported on."""
    return case.set != "korean" and not case.set.startswith("fixtures")
