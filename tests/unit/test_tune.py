"""Choosing weights by nested cross-validation: a planted gain is found, noise is not taken for one, paraphrases stay together."""

from __future__ import annotations

import numpy as np

from kb.config import SearchConfig
from kb.eval.resampling import bootstrap_interval
from kb.eval.tune import TUNED, choose, combine, out_of_fold_gains

QUESTIONS, COLUMNS = 120, 12


def noisy(seed: int) -> np.ndarray:
    """Columns that differ by chance alone."""
    random = np.random.default_rng(seed)
    return np.clip(random.normal(0.6, 0.2, (QUESTIONS, 1)) + random.normal(0, 0.1, (QUESTIONS, COLUMNS)), 0, 1)


def interval(scores: np.ndarray, groups: list[str]) -> tuple[float, float]:
    return bootstrap_interval([(float(gain), 1.0) for gain in out_of_fold_gains(scores, groups, 0)], 0)


OWN = [str(i) for i in range(QUESTIONS)]


def test_a_planted_gain_is_found() -> None:
    scores = noisy(1)
    scores[:, 7] += 0.08
    assert choose(scores, OWN, np.random.default_rng(0)) == 7
    assert interval(scores, OWN)[0] > 0


def test_noise_is_seldom_taken_for_a_gain() -> None:
    """The best of twelve columns looks better by chance; scored without having been chosen on, it is not."""
    scores = [noisy(seed) for seed in range(20)]
    assert sum(s.mean(axis=0).argmax() != 0 for s in scores) >= 15
    assert sum(interval(s, OWN)[0] > 0 for s in scores) <= 2


def test_paraphrases_are_never_on_both_sides() -> None:
    """One question asked 120 times cannot show a gain: there is nothing to choose it on."""
    scores = noisy(2)
    scores[:, 3] += 0.2
    assert out_of_fold_gains(scores, ["one"] * QUESTIONS, 0).tolist() == [0.0] * QUESTIONS


def test_the_same_scores_give_the_same_gains() -> None:
    scores = noisy(3)
    assert (out_of_fold_gains(scores, OWN, 5) == out_of_fold_gains(scores, OWN, 5)).all()


def test_the_weights_in_use_come_first_and_once() -> None:
    rows = combine(SearchConfig(vector_share=0.4))
    assert rows[0] == {"vector_share": 0.4, "feedback_weight": SearchConfig().feedback_weight}
    assert len({tuple(row.values()) for row in rows}) == len(rows)
    assert {row["vector_share"] for row in rows} == {0.4, *TUNED["vector_share"]}
