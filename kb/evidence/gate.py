"""Signals → the calibrated probability that the packed evidence answers the question. Pure but for reading its weights.

A logistic model whose weights cannot be negative, so that no signal that speaks for an answer can lower the score. The
weights, and how they were fitted, are in weights.json beside this file (`benchmarks/gate.py --fit` writes it).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kb.evidence.records import NAMES, Signals, Variant

WEIGHTS_FILE = "weights.json"
WORDS, SPREAD = "words", "spread"


@dataclass(frozen=True, slots=True)
class GateModel:
    """One set of weights.

    weights  per signal, 0 or more
    typical  of answered questions: what a signal that does not apply is taken for, so that it speaks neither way
    """

    weights: Mapping[str, float]
    intercept: float
    typical: Mapping[str, float]

    def probability(self, signals: Signals) -> float:
        """That the evidence answers, in [0, 1]; rises or stays with every signal."""
        total = self.intercept
        for name, weight in self.weights.items():
            total += weight * self._value(signals, name)
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))

    def weakest(self, signals: Signals) -> str | None:
        """The signal that costs most against an answered question's; None when none lies below it."""
        costs = {
            name: weight * (self.typical[name] - self._value(signals, name)) for name, weight in self.weights.items()
        }
        worst = max(costs, key=lambda name: (costs[name], name), default=None)
        return worst if worst and costs[worst] > 0 else None

    def _value(self, signals: Signals, name: str) -> float:
        value: float | None = getattr(signals, name)
        return self.typical[name] if value is None else value


@dataclass(frozen=True, slots=True)
class Score:
    """What the gate makes of some signals.

    probability  that the evidence answers
    variant      fitted: weights of this encoder; words: no vectors took part; unfitted: vectors of an encoder that
                 there are no weights for
    weakest      name of the signal that costs most, None when none does
    """

    probability: float
    variant: Variant
    weakest: str | None


@cache
def load_models() -> dict[str, GateModel]:
    """Every set of weights by name: an encoder's digest, WORDS, SPREAD."""
    raw = json.loads((files("kb.evidence") / WEIGHTS_FILE).read_text(encoding="utf-8"))
    return {
        name: GateModel(model["weights"], model["intercept"], model["typical"]) for name, model in raw["models"].items()
    }


def is_fitted(encoder_digest: str) -> bool:
    """True when there are weights for this encoder's vectors."""
    return encoder_digest in load_models()


def score_signals(signals: Signals, encoder_digest: str | None) -> Score:
    """The probability that the evidence answers.

    encoder_digest  whose vectors took part; None without any

    An encoder without weights of its own has unknown cosines, and a multilingual one finds answers that share no word
    with the question. Then the larger of two probabilities counts, by words and by the margin over the corpus's own
    background, which needs no scale: refused is only what both find weak.
    """
    models = load_models()
    words = models[WORDS]
    if encoder_digest is None:
        return Score(words.probability(signals), "words", words.weakest(signals))
    if fitted := models.get(encoder_digest):
        return Score(fitted.probability(signals), "fitted", fitted.weakest(signals))
    model = max(words, models[SPREAD], key=lambda m: m.probability(signals))
    return Score(model.probability(signals), "unfitted", model.weakest(signals))


def check_names(weights: Mapping[str, float]) -> None:
    """raises  ValueError for a weight that is negative or of no signal."""
    if wrong := [name for name, weight in weights.items() if name not in NAMES or weight < 0]:
        raise ValueError(f"no signal, or a negative weight: {', '.join(wrong)}")
