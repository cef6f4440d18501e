"""A hit's match, its place and the shape of its list → the probability that it is relevant. Pure but for reading its weights.

Relevant: the passage answers, or is from a document that a judge named for the query. One logistic model a mode, because BM25
shares, cosines and their mixture are on different scales; a probability means the same in each. The weights, and how they were
fitted, are in score_weights.json beside this file (`benchmarks/score_calibration.py --fit` writes it).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from kb.frozen import dataclass
from kb.records import SearchMode
from kb.search.records import Calibrated, Fused

WEIGHTS_FILE = "score_weights.json"
WORDS, RANKS, OTHER = "words", "ranks", "other"
# Added to a match before its logarithm: a hundredth more says much of a match of .05, and nothing of one of .5.
SOFTENING = 0.02
# The place whose match a steep list's first is compared with.
TENTH = 10


@dataclass(frozen=True, slots=True)
class Signals:
    """What the probability of a hit is computed from.

    match      in [0, 1]: the convex score, or of one retriever alone that score's part
    log_match  ln of the match, softened: near 0 a little more says much
    log_rank   log2 of its place by match, 0 for the first
    share      1 over its place: the first is set apart from all others
    lead       share of the best match by which the tenth is behind, in [0, 1], over the place
    log_terms  log2 of 1 + the query's index terms: a long query is never matched in full
    """

    match: float
    log_match: float
    log_rank: float
    share: float
    lead: float
    log_terms: float


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """One set of weights.

    weights  by signal; none that lets a better match or place lower the probability: the order by match is kept
    floor    a list whose best hit is less probable than this holds no right answer in 199 of 200 questions; 0 for none
    """

    weights: Mapping[str, float]
    intercept: float
    floor: float

    def probability(self, signals: Signals) -> float:
        """The probability that the hit is relevant, in (0, 1)."""
        total = self.intercept + sum(weight * getattr(signals, name) for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))


@cache
def load_models() -> dict[str, ScoreModel]:
    """Every set of weights by name: WORDS, RANKS, and a mode for each encoder's digest and for OTHER, as "other/vector"."""
    raw = json.loads((files("kb.search") / WEIGHTS_FILE).read_text(encoding="utf-8"))
    return {name: ScoreModel(m["weights"], m["intercept"], m["floor"]) for name, m in raw["models"].items()}


def calibrate(fused: Fused, mode: SearchMode, encoder_digest: str) -> Calibrated:
    """The probability of every chunk of a list.

    encoder_digest  of the vectors; for one without weights only places and the shape of the list count, without a floor
    """
    model = _model_of(fused, mode, encoder_digest)
    return Calibrated(_Probabilities(_Places(fused), model), model.floor)


def variant_of(fused: Fused, mode: SearchMode) -> str:
    """The kind of list: by words, vector or hybrid; a hybrid search whose vectors were left out is one by words."""
    if not fused.relevance:
        return RANKS
    return WORDS if mode == "lexical" or fused.candidates.query_vector is None else mode


def _model_of(fused: Fused, mode: SearchMode, encoder_digest: str) -> ScoreModel:
    models, variant = load_models(), variant_of(fused, mode)
    if variant in (RANKS, WORDS):
        return models[variant]
    return models.get(f"{encoder_digest}/{variant}") or models[f"{OTHER}/{variant}"]


def signals_of(fused: Fused) -> dict[int, Signals]:
    """chunk_id → its signals, of every chunk of the ranking; places are by match, whatever the list is ordered by."""
    places = _Places(fused)
    return {chunk_id: places.signals(chunk_id) for chunk_id in places.matches}


class _Places:
    """What the signals of a list's chunks are made of. Made for each that is asked for: of a hundred, ten are shown.

    matches  chunk_id → its match, the best first
    """

    def __init__(self, fused: Fused) -> None:
        rows: Iterable[tuple[int, float]]
        if fused.relevance:
            # The ranking's own order decides between equals, so that they stay in it.
            rows = sorted(((i, fused.relevance.get(i, 0.0)) for i, _ in fused.ranking), key=lambda row: -row[1])
        else:
            rows = ((i, 0.0) for i, _ in fused.ranking)
        self.matches = dict(rows)
        self._ranks = {chunk_id: rank for rank, chunk_id in enumerate(self.matches, start=1)}
        by_match = list(self.matches.values())
        top, tenth = (by_match[0], by_match[min(TENTH, len(by_match)) - 1]) if by_match else (0.0, 0.0)
        self._peak = (top - tenth) / top if top > 0 else 0.0
        self._log_terms = math.log2(1 + len(fused.candidates.terms))

    def signals(self, chunk_id: int) -> Signals:
        return _signals(self.matches[chunk_id], self._ranks[chunk_id], self._peak, self._log_terms)


class _Probabilities(Mapping[int, float]):
    """chunk_id → probability, computed when it is asked for."""

    def __init__(self, places: _Places, model: ScoreModel) -> None:
        self._places, self._model = places, model

    def __getitem__(self, chunk_id: int) -> float:
        return self._model.probability(self._places.signals(chunk_id))

    def __iter__(self) -> Iterator[int]:
        return iter(self._places.matches)

    def __len__(self) -> int:
        return len(self._places.matches)


def _signals(match: float, rank: int, peak: float, terms: float) -> Signals:
    return Signals(match, math.log(match + SOFTENING), math.log2(rank), 1 / rank, peak / rank, terms)
