"""Signals → the calibrated probability that the packed evidence answers the question. Pure but for reading its weights.

A logistic model whose weights cannot be negative, so that no signal that speaks for an answer can lower the score. The
weights, and how they were fitted, are in weights.json beside this file (`benchmarks/gate.py --fit` writes it).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from kb.evidence.records import Signals, Variant
from kb.frozen import dataclass

WEIGHTS_FILE = "weights.json"
WORDS, SPREAD = "words", "spread"
# After the name of a set of weights: of those with one reader's scores, with two readers', and of those for a language.
READ, READ_TWICE, KOREAN = "+reader", "+readers", "/ko"
# After an encoder's digest, and before the question's language: weights for passages in another language than that.
ACROSS = "/across"
# They tell whether the passages are about what is asked, which is not yet an answer: never more than this.
MOST_ACROSS = 0.5


@dataclass(frozen=True, slots=True)
class GateModel:
    """One set of weights.

    weights  per signal, 0 or more
    typical  signal → its value in answered questions, used where a signal does not apply, so that it changes nothing
    """

    weights: Mapping[str, float]
    intercept: float
    typical: Mapping[str, float]

    def probability(self, signals: Signals) -> float:
        """The probability that the evidence answers, in [0, 1]; it never falls when a signal rises."""
        total = self.intercept
        for name, weight in self.weights.items():
            total += weight * self._value(signals, name)
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))

    def weakest(self, signals: Signals) -> str | None:
        """The signal that lowers the score most below that of an answered question; None when none does."""
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
    """The gate's result.

    probability  that the evidence answers
    variant      fitted: weights of this encoder; words: no vectors took part; unfitted: vectors of an encoder
                 without weights of its own
    weakest      name of the signal that lowers it most, None when none does
    own_share    of how likely passages in another language are about what is asked: how likely those in the question's own answer;
                 None where the others do not raise the probability
    """

    probability: float
    variant: Variant
    weakest: str | None
    own_share: float | None = None


@cache
def load_models() -> dict[str, GateModel]:
    """Every set of weights by name: an encoder's digest, WORDS, SPREAD; with READ, READ_TWICE or KOREAN behind it where there is such."""
    return {
        name: GateModel(model["weights"], model["intercept"], model["typical"])
        for name, model in _load_file()["models"].items()
    }


def find_model(name: str, *, readers: int, language: str) -> GateModel | None:
    """The weights of a name: those of the language before others, and of these those with the readers that have read.

    readers  how many, 0 to 2
    """
    models = load_models()
    read = ("", READ, READ_TWICE)[readers::-1]
    own = (KOREAN, "") if language == "ko" else ("",)
    wanted = (f"{name}{by_reader}{of_language}" for of_language in own for by_reader in read)
    return next((models[each] for each in wanted if each in models), None)


@cache
def _load_file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("kb.evidence") / WEIGHTS_FILE).read_text(encoding="utf-8"))
    return found


def score_signals(
    signals: Signals, encoder_digest: str | None, *, reader_digests: Sequence[str] = (), language: str = "en"
) -> Score:
    """The probability that the evidence answers.

    encoder_digest  whose vectors took part; None without any
    reader_digests  whose scores are among the signals, in order; those of readers without weights are left out
    language        of the question

    For an encoder without weights the scale of its cosines is unknown. Then the larger of two probabilities counts: one by
    words, one by the margin over the mean cosine of the corpus, which needs no scale. Both must be weak for a refusal, since
    a multilingual encoder finds answers that share no word with the question.

    No reader was taught questions in one language about passages in another, and words are not compared there. So it is the
    probability that the passages are about what is asked, MOST_ACROSS at most; where there are passages in both languages, those in the
    question's own may say more.
    """
    fitted_to = _load_file()["readers"].get(language, [])
    scores = (signals.reader, signals.second_reader)
    known = [s is not None and of == by for s, of, by in zip(scores, reader_digests, fitted_to, strict=False)]
    readers = known.index(False) if False in known else len(known)
    words, spread, fitted = (
        find_model(name, readers=readers, language=language) for name in (WORDS, SPREAD, encoder_digest or WORDS)
    )
    assert words is not None  # the file holds them
    assert spread is not None
    if encoder_digest is None:
        return Score(words.probability(signals), "words", words.weakest(signals))
    if fitted is not None:
        score = Score(fitted.probability(signals), "fitted", fitted.weakest(signals))
        across = load_models().get(f"{encoder_digest}{ACROSS}/{language}") if signals.subject is not None else None
        about = across.probability(signals) if across else 0.0
        in_own = 0.0 if signals.packed_coverage is None else score.probability
        if across and min(MOST_ACROSS, about) >= in_own:
            return Score(min(MOST_ACROSS, about), "fitted", across.weakest(signals), own_share=in_own / about)
        return score
    model = max(words, spread, key=lambda m: m.probability(signals))
    return Score(model.probability(signals), "unfitted", model.weakest(signals))
