"""What each group of signals is worth to the gate: the same cases and folds, one set of signals after the other.

`by document`: weights fitted without the question's document; `by collection`: without its whole collection, which is what
a corpus that nobody has seen gets. All answerable questions of a language set the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from gate_features import Weighed
from gate_fit import (
    IN_ENGLISH,
    IN_KOREAN,
    OF_WORDS,
    READ_AGAIN,
    READ_ONCE,
    RECIPES,
    WITHOUT_READER,
    Recipe,
    Vector,
    is_fitted_on,
    language_of,
    out_of_fold,
)
from gate_sets import ACROSS, NEAR, SAME_TOPIC, WRONG
from scipy.stats import rankdata

from kb.ask.judge import least_probability
from kb.config import Config
from kb.evidence.gate import KOREAN, READ, READ_TWICE

FALSE_REFUSALS = 0.05
SAMPLES = 400
KINDS = (SAME_TOPIC, NEAR, WRONG)
# All signals of before, and a bound on some.
EARLIER = Recipe(("sentence_cosine", "margin", "agreement", *OF_WORDS, *READ_ONCE))
GROUPS = {
    "en": {
        "all words, margin, agreement, one reader (before)": EARLIER,
        "a second reader with them": replace(EARLIER, names=(*EARLIER.names, *READ_AGAIN[2:])),
        "nearness, chance, likeness; words and sentences": RECIPES["vectors"],
        "nearness and a reader alone": replace(RECIPES[f"vectors{READ}"], names=("nearness", *READ_ONCE)),
        "nearness, chance, likeness; one reader": RECIPES[f"vectors{READ}"],
        "nearness, chance, likeness; both readers (now)": RECIPES[f"vectors{READ_TWICE}"],
        "the same without numbers": replace(
            RECIPES[f"vectors{READ_TWICE}"], names=(*(n for n in IN_ENGLISH if n != "numbers"), *READ_AGAIN)
        ),
        "the same and all of words": replace(
            RECIPES[f"vectors{READ_TWICE}"], names=(*IN_ENGLISH, *READ_AGAIN, *OF_WORDS, *WITHOUT_READER[:2])
        ),
    },
    "ko": {
        "all words, margin, agreement, the reader (before)": replace(EARLIER, language="ko"),
        "nearness, chance, sentences; two of words": RECIPES[f"vectors{KOREAN}"],
        "nearness, chance, sentences; the reader (now)": RECIPES[f"vectors{READ}{KOREAN}"],
        "the same without numbers": replace(
            RECIPES[f"vectors{READ}{KOREAN}"], names=(*(n for n in IN_KOREAN if n != "numbers"), *READ_ONCE)
        ),
        "the same without chance": replace(
            RECIPES[f"vectors{READ}{KOREAN}"], names=(*(n for n in IN_KOREAN if n != "by_chance"), *READ_ONCE)
        ),
    },
}


def print_groups(weighed: Sequence[Weighed]) -> None:
    """One table for each language."""
    for language, groups in GROUPS.items():
        mine = [w for w in weighed if language_of(w.case) == language and w.case.set != ACROSS]
        cases, signals = [w.case for w in mine], [w.read or w.hybrid for w in mine]
        shipped = next(recipe for title, recipe in groups.items() if title.endswith("(now)"))
        fitted = np.array([is_fitted_on(case, replace(shipped, papers=False)) for case in cases])
        kinds = np.array([case.kind for case in cases])
        collections = len({case.set for case, mine in zip(cases, fitted, strict=True) if mine})
        print(f"\n{language}: AUC and refused [95 %] at {FALSE_REFUSALS:.0%} falsely: {' · '.join(KINDS)}")
        for title, recipe in groups.items():
            # A name may stand in two lists.
            recipe = replace(recipe, names=tuple(dict.fromkeys(recipe.names)))
            for by_set in (False, True) if collections > 1 else (False,):
                scores = out_of_fold(cases, signals, recipe, by_set=by_set)
                print(f"{title:50} {'by collection' if by_set else 'by document':13} {_line(kinds, scores, fitted)}")
        floors = np.array([least_probability(*w.lacking, w.case.question) for w in mine])
        for by_set in (False, True) if collections > 1 else (False,):
            scores = out_of_fold(cases, signals, shipped, by_set=by_set)
            refused = scores < np.maximum(floors, Config().rag.evidence_gate)
            told = " · ".join(_share(refused[fitted & (kinds == kind)]) for kind in ("answerable", *KINDS))
            told += " · never fitted on: " + " · ".join(
                _share(refused[~fitted & (kinds == k)]) for k in ("answerable", NEAR)
            )
            print(
                f"{'now, and what lacks a word, as an ask refuses':50} {'by collection' if by_set else 'by document':13} {told}"
            )


def _line(kinds: np.ndarray, scores: Vector, fitted: np.ndarray) -> str:
    """Of the sets that are fitted on; then what the same threshold refuses of those that never are."""
    good = scores[fitted & (kinds == "answerable")]
    told = " · ".join(_auc_and_refused(good, scores[fitted & (kinds == kind)]) for kind in KINDS)
    refused = scores < np.quantile(good, FALSE_REFUSALS)
    near, falsely = (refused[~fitted & (kinds == kind)].mean() for kind in (NEAR, "answerable"))
    return f"{told} · never fitted on: near misses {near:.0%} ({falsely:.0%} falsely)"


def _auc_and_refused(good: Vector, bad: Vector) -> str:
    ranks = rankdata(np.r_[good, bad])
    auc = (ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad))
    generator = np.random.default_rng(0)

    def refused(answerable: Vector, others: Vector) -> float:
        return float((others < np.quantile(answerable, FALSE_REFUSALS)).mean())

    drawn = [refused(generator.choice(good, len(good)), generator.choice(bad, len(bad))) for _ in range(SAMPLES)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{auc:.3f} {refused(good, bad):.0%} [{low:.0%}, {high:.0%}]"


def _share(refused: np.ndarray) -> str:
    """With Wilson's interval."""
    n, p, z = len(refused), float(refused.mean()), 1.96
    middle, reach = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return f"{p:.1%} [{(middle - reach) / (1 + z * z / n):.0%}, {(middle + reach) / (1 + z * z / n):.0%}] of {n}"
