"""Signals of labelled cases → the weights of the evidence gate, and their scores on cases they were not fitted on.

Logistic regression with an L2 penalty and weights bounded below by 0 (L-BFGS-B): a signal that speaks for an answer may
not lower the score, whatever a sample says. Knows no corpus and no question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gate_sets import ANSWERABLE, NEAR, NOT_SAID, REMOVED, SAME_TOPIC, WRONG, Case, is_contradicted
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.model_selection import GroupKFold

from kb.evidence.gate import KOREAN, READ, READ_TWICE
from kb.evidence.records import NAMES, Signals
from kb.language.registry import question_language

Vector = NDArray[np.float64]
FOLDS = 5
PRECISE = {"ftol": 1e-12, "gtol": 1e-7, "maxiter": 2000, "maxfun": 100_000}


CAPS = (("numbers", 2.0), ("names", 1.5), ("answer_type", 0.5), ("title", 1.0))


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one set of weights is fitted.

    names     signals that may have a weight
    language  of the questions it is fitted on
    kinds     how much each kind of unanswerable question counts, together 1: what people ask in vain is mostly about the topic; another
              corpus is told easily, and a swapped name mostly by the rule for words that no passage holds
    odds      weight of all answerable cases together against all unanswerable ones, about the 1 that "class-balanced" means: such that
              at the gate that both languages share one answerable question in twenty is refused
    penalty   L2, on sums over cases whose weights have mean 1
    papers    fit on questions about papers too
    floors    lower bounds: what tells papers that answer from those that are only about the very thing (gate_papers.jsonl.gz) are the readers, which
              the penalty keeps lower than that; hardly another signal does, and a near miss is as near as what answers
    caps      upper bounds: swapped names and numbers are more frequent here than in life, and what a pattern says of the kind of
              answer is often wrong; most passages here have no title, so that one with the question's words counts too much
    """

    names: tuple[str, ...]
    language: str = "en"
    kinds: tuple[tuple[str, float], ...] = ((SAME_TOPIC, 0.6), (WRONG, 0.05), (NEAR, 0.15), (REMOVED, 0.2))
    odds: float = 1.2
    penalty: float = 1.0
    caps: tuple[tuple[str, float], ...] = CAPS
    floors: tuple[tuple[str, float], ...] = ()
    papers: bool = False


READ_ONCE = ("reader", "reader_sentence")
READ_AGAIN = (*READ_ONCE, "second_reader", "second_sentence")
OF_CORPUS = ("nearness", "by_chance", "alike")
VECTOR_SIGNALS = ("cosine", "sentence_cosine", "margin", "agreement", *OF_CORPUS)
OF_WORDS = tuple(name for name in NAMES if name not in (*VECTOR_SIGNALS, *READ_AGAIN, "subject"))
# Few, and none that tells corpora apart rather than answers: with all signals the fit is as good on the collections that it
# knows, and at 5 % false refusals refuses less on one that it does not (gate.py --groups).
IN_ENGLISH = (*OF_CORPUS, "numbers")
# Whether the question's names stand where the rest of it does: of near misses it tells a little more than the readers, and
# elsewhere it may not count for much.
ALIGNED = (*CAPS, ("aligned", 0.2), ("alike", 28.0))
# English papers are not fitted on: what tells other corpora apart would lose its weight. Of the sets that are, these bounds cost nothing.
READERS_IN_ENGLISH = (("second_reader", 8.0), ("second_sentence", 8.0))
WITHOUT_READER = ("sentence_cosine", "agreement", "passage_coverage", "rarest", "adjacency", "together", "aligned")
# Few here too: with all words the fit is as good on its one collection, and refuses a third of what people ask of another one
# (korean_gate.py); names refuse a tenth. That one's likeness says nothing by itself.
IN_KOREAN = ("nearness", "by_chance", "sentence_cosine", "numbers")
# At one gate for both languages: five of a hundred answerable questions are refused in each.
ODDS_IN_KOREAN = 1.2
# Of these, a swapped name is what the signals tell least, and no such rule knows a name in Hangul.
KINDS_IN_KOREAN = ((SAME_TOPIC, 0.35), (WRONG, 0.2), (NEAR, 0.35), (REMOVED, 0.1))
# With papers, of which each is as near as the next, nearness would lose all its weight, and what people ask more of an encyclopaedia is refused less.
PAPERS_IN_KOREAN = (*((kind, 0.8 * share) for kind, share in KINDS_IN_KOREAN), (NOT_SAID, 0.2))
READERS_IN_KOREAN = (("nearness", 1.0), ("sentence_cosine", 2.0), ("reader", 5.0), ("reader_sentence", 9.0))
# Korean questions about another corpus are all asked of one home, which chance tells too well.
CAPS_IN_KOREAN = (*CAPS, ("by_chance", 16.0))
# Their scales differ from collection to collection more than those of words: pulled together, they carry over better.
STRONG = 10.0
RECIPES = {
    "vectors": Recipe((*IN_ENGLISH, *WITHOUT_READER), penalty=STRONG),
    f"vectors{READ}": Recipe((*IN_ENGLISH, "sentence_cosine", *READ_ONCE), penalty=STRONG),
    f"vectors{READ_TWICE}": Recipe(
        (*IN_ENGLISH, "aligned", *READ_AGAIN), penalty=STRONG, caps=ALIGNED, floors=READERS_IN_ENGLISH
    ),
    "words": Recipe(OF_WORDS),
    f"words{READ}": Recipe((*OF_WORDS, *READ_ONCE)),
    f"words{READ_TWICE}": Recipe((*OF_WORDS, *READ_AGAIN)),
    "spread": Recipe(("margin",)),
    f"vectors{KOREAN}": Recipe(
        (*IN_KOREAN, "passage_coverage", "together"), "ko", KINDS_IN_KOREAN, odds=ODDS_IN_KOREAN, caps=CAPS_IN_KOREAN
    ),
    f"words{KOREAN}": Recipe(OF_WORDS, "ko", KINDS_IN_KOREAN),
    f"vectors{READ}{KOREAN}": Recipe(
        (*IN_KOREAN, "together", *READ_ONCE),
        "ko",
        PAPERS_IN_KOREAN,
        odds=1.1,
        caps=CAPS_IN_KOREAN,
        floors=READERS_IN_KOREAN,
        papers=True,
    ),
    f"words{READ}{KOREAN}": Recipe((*OF_WORDS, *READ_ONCE), "ko", KINDS_IN_KOREAN),
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
    return np.array(rows, dtype=np.float64).reshape(len(signals), len(names))


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
    present = {kind: share for kind, share in recipe.kinds if (kinds == kind).any()}
    for kind, share in present.items():
        weights[kinds == kind] = share / sum(present.values()) / (kinds == kind).sum()
    return weights * len(cases) / weights.sum()


def fit(cases: Sequence[Case], signals: Sequence[Signals], recipe: Recipe) -> Fitted:
    """The weights that fit these cases."""
    matrix = to_matrix(signals, recipe.names)
    answers = np.array([case.is_answerable for case in cases], dtype=np.float64)
    weights = case_weights(cases, recipe)
    typical = np.array([np.nanmean(c) if not np.isnan(c).all() else 1.0 for c in matrix[answers == 1].T])
    # By their spread, so that the penalty means the same for cosines of .8 to .9 and for shares of 0 to 1; around their mean,
    # without which the search for the weights ends before its time.
    filled = np.where(np.isnan(matrix), typical, matrix)
    spread = np.maximum(filled.std(axis=0), 0.02)
    mean = filled.mean(axis=0)
    filled = (filled - mean) / spread
    count = len(recipe.names)

    def loss(parameters: Vector) -> tuple[float, Vector]:
        z = filled @ parameters[:count] + parameters[count]
        p = 1.0 / (1.0 + np.exp(-z))
        own = np.logaddexp(0.0, z) - answers * z
        value = float((weights * own).sum() + 0.5 * recipe.penalty * (parameters[:count] ** 2).sum())
        slope = weights * (p - answers)
        return value, np.r_[filled.T @ slope + recipe.penalty * parameters[:count], slope.sum()]

    caps, floors = dict(recipe.caps), dict(recipe.floors)
    bounds = [
        (floors.get(name, 0.0) * scale, caps[name] * scale if name in caps else None)
        for name, scale in zip(recipe.names, spread, strict=True)
    ]
    bounds += [(None, None)]
    found = minimize(loss, np.r_[np.full(count, 0.1), 0.0], jac=True, method="L-BFGS-B", bounds=bounds, options=PRECISE)
    slopes = found.x[:count] / spread
    return Fitted(recipe.names, slopes, float(found.x[count] - slopes @ mean), typical)


def out_of_fold(cases: Sequence[Case], signals: Sequence[Signals], recipe: Recipe, *, by_set: bool) -> Vector:
    """Each case's probability by weights fitted without its gold document; with `by_set` without its whole set.

    Cases that are never fitted on, and those of another language, are scored by the weights of all others. One set alone
    is cut by documents.
    """
    scores = np.full(len(cases), np.nan)
    rows = np.flatnonzero([is_fitted_on(case, recipe) for case in cases])
    sets = np.array([case.set for case in cases])
    by_set = by_set and len(set(sets[rows])) > 1
    groups = sets if by_set else np.array([case.group for case in cases])
    folds = len(set(groups[rows])) if by_set else FOLDS
    splits = [(rows[a], rows[b]) for a, b in GroupKFold(folds).split(rows, groups=groups[rows])]
    for train, test in [*splits, (rows, np.setdiff1d(np.arange(len(cases)), rows))]:
        fitted = fit([cases[i] for i in train], [signals[i] for i in train], recipe)
        scores[test] = fitted.score(to_matrix([signals[i] for i in test], recipe.names))
    return scores


def is_fitted_on(case: Case, recipe: Recipe) -> bool:
    """The project's own suite, the Korean questions written for it and contradicted labels are at most reported on."""
    return (
        not is_contradicted(case)
        and case.set != "korean"
        and not case.set.startswith("fixtures")
        and (recipe.papers or not case.set.startswith("papers-"))
        and language_of(case) == recipe.language
    )


def language_of(case: Case) -> str:
    """en or ko, of the question."""
    return question_language(case.question)
