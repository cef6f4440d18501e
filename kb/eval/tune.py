"""A suite's labels → the weights of the fusion that find most, and whether they find more than those in use.

Every query is retrieved once; each combination of weights fuses the same candidates again in memory. The gain is measured
by nested cross-validation: the weights are chosen without the questions they are scored on, and whether to change them at
all is chosen the same way inside. Paraphrases of one question are never on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from kb.config import SearchConfig
from kb.errors import InvalidInput
from kb.eval.judges import judge_suite
from kb.eval.metrics import score_rankings
from kb.eval.pipeline import RANKING_DEPTH, Judge
from kb.eval.records import Query, Suite
from kb.eval.resampling import bootstrap_interval
from kb.frozen import dataclass
from kb.records import Filters, SearchRequest
from kb.runtime import Runtime
from kb.search.fuse import fuse
from kb.search.records import Candidates
from kb.search.retrieve import retrieve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

# key of [search] → the values that are tried beside the one in use; each is flat between its neighbours
TUNED: Mapping[str, tuple[float, ...]] = {
    "vector_share": (0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85),
    "feedback_weight": (0.0, 0.2, 0.3, 0.5),
}
METRIC = "ndcg@10"
# Below it an interval by resampling is too narrow, and one question decides what is chosen.
LEAST_QUESTIONS = 30
OUTER_FOLDS, INNER_FOLDS = 5, 4
# The folds are cut so many times, in another way each: one cut moves the gain by some thousandths.
CUTS = 5

Weights = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedWeights:
    """One combination, and its mean over all questions."""

    weights: Weights
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What a suite's labels say about the weights of the fusion.

    questions  those with a relevant passage in this knowledge base
    metric     what is counted, a mean over the questions
    current    the weights in use, and their mean
    best       those chosen by all questions; its mean is too good, having seen them
    gain       of weights that were chosen without the questions they are scored on; the interval is of 95 %
    verdict    gain: the interval lies above 0; no_gain; too_few: not enough questions to tell
    written    the file the best weights were written to, None where they were not
    tried      every combination, best first
    """

    schema_version: Literal["eval_tuning.v1"] = "eval_tuning.v1"
    suite: str
    questions: int
    metric: str
    current: TriedWeights
    best: TriedWeights
    gain: float
    ci_low: float
    ci_high: float
    verdict: Literal["gain", "no_gain", "too_few"]
    written: str | None = None
    tried: tuple[TriedWeights, ...] = ()


def tune_suite(kb: Runtime, suite: Suite, filters: Filters | None = None) -> Tuning:
    """Learn the weights from a suite; see `tune`."""
    return tune(kb, suite.name, suite.queries, judge_suite(kb, suite), filters)


def tune(
    kb: Runtime, suite: str, queries: Sequence[Query], judge: Judge, filters: Filters | None = None, seed: int = 0
) -> Tuning:
    """Learn the weights from the queries that have a relevant passage.

    raises  InvalidInput for a fusion without weights, or without one such query
    """
    settings = kb.config.search
    if settings.fusion != "convex":
        raise InvalidInput(f"search.fusion is {settings.fusion}, which has no weights", fix="set it to convex")
    labelled = [query for query in queries if any(grade > 0 for grade in judge.judged.get(query.id, {}).values())]
    if not labelled:
        raise InvalidInput("no query of the suite has a relevant passage here", fix="label some, or tune another suite")
    found = {query.id: _retrieve(kb, query, filters or Filters()) for query in labelled}
    combinations = combine(settings)
    columns = [_score(found, judge, _with_weights(settings, weights)) for weights in combinations]
    import numpy as np

    scores = np.array([[column[query.id] for column in columns] for query in labelled])
    groups = [query.group or query.id for query in labelled]
    gains = out_of_fold_gains(scores, groups, seed)
    low, high = bootstrap_interval([(float(gain), 1.0) for gain in gains], seed)
    chosen = choose(scores, groups, np.random.default_rng(seed))
    means = [
        TriedWeights(weights=weights, mean=round(float(mean), 6))
        for weights, mean in zip(combinations, scores.mean(axis=0), strict=True)
    ]
    verdict: Literal["gain", "no_gain", "too_few"] = "gain" if low > 0 and chosen else "no_gain"
    return Tuning(
        suite=suite,
        questions=len(labelled),
        metric=METRIC,
        current=means[0],
        best=means[chosen],
        gain=round(float(gains.mean()), 6),
        ci_low=round(low, 6),
        ci_high=round(high, 6),
        verdict=verdict if len(labelled) >= LEAST_QUESTIONS else "too_few",
        tried=tuple(sorted(means, key=lambda row: -row.mean)),
    )


def combine(settings: SearchConfig) -> list[Weights]:
    """Every combination of the values that are tried; the weights in use come first."""
    current = {key: float(getattr(settings, key)) for key in TUNED}
    choices = [sorted({*values, current[key]}) for key, values in TUNED.items()]
    others = [dict(zip(TUNED, row, strict=True)) for row in product(*choices)]
    return [current, *(weights for weights in others if weights != current)]


def _with_weights(settings: SearchConfig, weights: Mapping[str, Any]) -> SearchConfig:
    return replace(settings, **weights)


def _retrieve(kb: Runtime, query: Query, filters: Filters) -> Candidates:
    return retrieve(kb, SearchRequest(query.text, "hybrid", RANKING_DEPTH, filters))


def _score(found: Mapping[str, Candidates], judge: Judge, settings: SearchConfig) -> dict[str, float]:
    """query id → metric, of the candidates fused by these settings."""
    rankings = {
        query_id: list(dict.fromkeys(judge.identify(i) for i, _ in fuse(candidates, "hybrid", settings).ranking))
        for query_id, candidates in found.items()
    }
    cut = {query_id: ids[:RANKING_DEPTH] for query_id, ids in rankings.items()}
    scores = score_rankings({query_id: judge.judged[query_id] for query_id in found}, cut)
    return {query_id: scores[query_id][METRIC] or 0.0 for query_id in found}


def out_of_fold_gains(scores: Table, groups: Sequence[str], seed: int) -> Table:
    """(n,) of each query, the gain over column 0 of the column that was chosen without it, averaged over the cuts.

    scores  (n, m), a row a query and a column a combination
    groups  (n,) queries of one group are in one fold
    """
    import numpy as np

    random = np.random.default_rng(seed)
    gains = np.zeros(len(scores))
    for _ in range(CUTS):
        for held in _folds(groups, OUTER_FOLDS, random):
            kept = [group for group, out in zip(groups, held, strict=True) if not out]
            column = choose(scores[~held], kept, random)
            gains[held] += scores[held, column] - scores[held, 0]
    return gains / CUTS


def choose(scores: Table, groups: Sequence[str], random: np.random.Generator) -> int:
    """The column with the best mean, or 0 where choosing that way does not find more on questions held out."""
    import numpy as np

    gain = 0.0
    for held in _folds(groups, INNER_FOLDS, random):
        if held.all() or not held.any():
            continue
        column = int(np.argmax(scores[~held].mean(axis=0)))
        gain += float((scores[held, column] - scores[held, 0]).sum())
    return int(np.argmax(scores.mean(axis=0))) if gain > 0 else 0


def _folds(groups: Sequence[str], count: int, random: np.random.Generator) -> list[NDArray[np.bool_]]:
    """(n,) masks of the queries that are held out, a fold each; a group is in one of them."""
    import numpy as np

    names = sorted(set(groups))
    count = min(count, len(names))
    place = dict(zip(names, random.permutation(len(names)) % max(1, count), strict=True))
    row = np.array([place[group] for group in groups])
    return [row == fold for fold in range(count)] if count > 1 else []
