"""Judgements and a ranking → scores per query; scores → means with intervals. METRICS describes every metric.

A query's score is None where the metric is undefined for it; means are over the other queries.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from kb.errors import InvalidInput
from kb.eval.records import Interval, Latency, QueryResult, Scores
from kb.eval.resampling import RESAMPLES, Part, bootstrap_interval, ratio
from kb.extras import require
from kb.frozen import dataclass

DEPTHS = (1, 3, 5, 10, 100)
SPAN_DEPTHS = (5, 10)

Unit = Literal["share", "ms", "tokens", "tokens/s", "score"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a run.

    meaning           one sentence, for --help and reports
    higher_is_better  None where neither is
    unit              shares lie in [0, 1]; only they are judged in comparisons: time and tokens depend on the machine
    of_answers        only runs that ask have it
    """

    meaning: str
    higher_is_better: bool | None = True
    unit: Unit = "share"
    of_answers: bool = False


# Our names → trec_eval's.
_TREC_CUTS = {"ndcg": "ndcg_cut", "hit": "success", "recall": "recall", "precision": "P"}
_TREC_NAMES = {f"{ours}@{k}": f"{trec}_{k}" for ours, trec in _TREC_CUTS.items() for k in DEPTHS}
_TREC_NAMES |= {"mrr": "recip_rank", "map": "map"}
# The form that pytrec_eval takes: all cuts of a measure in one name.
_TREC_MEASURES = [f"{trec}.{','.join(map(str, DEPTHS))}" for trec in _TREC_CUTS.values()] + ["recip_rank", "map"]
_CUT_MEANINGS = {
    "ndcg": "nDCG of the first {k}: how near the ranking is to the ideal one; linear gain, as trec_eval has it",
    "hit": "share of queries with something relevant among the first {k}",
    "recall": "share of what is relevant that is among the first {k}",
    "precision": "share of the first {k} that is relevant",
}

_ANSWER_METRICS = {
    "refused": Metric("share of questions that were refused", None),
    "false_refusal": Metric("share of the answerable questions that were refused", False),
    "refusal_precision": Metric("share of the refusals that were right: the question was unanswerable"),
    "refusal_recall": Metric("share of the unanswerable questions that were refused"),
    "refusal_f1": Metric("harmonic mean of refusal precision and recall"),
    "citation_coverage": Metric("share of an answer's sentences with a valid marker; refusals left out"),
    "citation_support": Metric("share of an answer's cited sentences that the cited text backs; refusals left out"),
    "must_contain": Metric("share of answerable questions whose answer says what it must; a refusal does not"),
    "must_not_contain": Metric("share of questions whose answer does not say what it must not"),
    "exact_lines": Metric("share of answers whose every citation names the lines where its passage stands"),
    "gate_score": Metric("what the evidence gate measured", None, "score"),
    "prompt_tokens": Metric("tokens of the prompt, context included", None, "tokens"),
    "completion_tokens": Metric("tokens of the answer", None, "tokens"),
    "first_token_ms": Metric("from the question to the first token of the answer", False, "ms"),
    "tokens_per_second": Metric("tokens written per second, from the first one on", True, "tokens/s"),
}

METRICS: dict[str, Metric] = {
    **{f"{name}@{k}": Metric(text.format(k=k)) for name, text in _CUT_MEANINGS.items() for k in DEPTHS},
    "mrr": Metric("mean of 1 / rank of the first relevant result"),
    "map": Metric("mean average precision: precision at every relevant result, averaged over all that is relevant"),
    **{
        f"iou@{k}": Metric(f"tokens both relevant and among the first {k} / tokens that are either")
        for k in SPAN_DEPTHS
    },
    "tag_recall@10": Metric("share of the expected tags that the documents of the first 10 results carry"),
    "suggested_tag_recall@10": Metric(
        "share of the expected tags among the first 10 suggested for the query (kb tags)"
    ),
    "context_recall": Metric(
        "share of the new facts that a context of 500 tokens contains, given what the reader knows"
    ),
    "context_recall_plain": Metric("the same as if the reader knew nothing", None),
    "context_new_tokens": Metric("tokens of the new facts in that context", True, "tokens"),
    "context_new_tokens_plain": Metric("the same as if the reader knew nothing", None, "tokens"),
    **{name: replace(metric, of_answers=True) for name, metric in _ANSWER_METRICS.items()},
    "latency_p50_ms": Metric("median time of a whole query", False, "ms"),
    "latency_p95_ms": Metric("95th percentile of the time of a whole query", False, "ms"),
}

# Metrics that are not means of per-query values: (refused, unanswerable), each 0 to 1 → numerator, denominator.
_RATIOS: dict[str, Callable[[float, float], Part]] = {
    "refusal_precision": lambda refused, unanswerable: (refused * unanswerable, refused),
    "refusal_f1": lambda refused, unanswerable: (2 * refused * unanswerable, refused + unanswerable),
}


def find_metric(name: str) -> Metric:
    """A metric by name.

    raises  InvalidInput naming the nearest one
    """
    if name not in METRICS:
        near = difflib.get_close_matches(name.lower(), METRICS, n=1, cutoff=0.0)
        raise InvalidInput(f"there is no metric '{name}'", fix=f"did you mean '{near[0]}'?", metric=name)
    return METRICS[name]


def is_judged(name: str) -> bool:
    """True for shares with a direction: their values are better or worse on any machine."""
    metric = METRICS.get(name)
    return metric is not None and metric.unit == "share" and metric.higher_is_better is not None


def ranking_scores(judged: Mapping[str, int], ids: Sequence[str]) -> Scores:
    """Every ranking metric of one query.

    judged   id → grade; relevant from 1; an id without a judgement is not relevant
    ids      best first; an id that is repeated counts once, at its best rank
    returns  all None without a relevant judgement, 0 for an empty ranking
    """
    return score_rankings({"": judged}, {"": ids})[""]


def score_rankings(judged: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]) -> dict[str, Scores]:
    """The same for many queries; a judged query without a ranking has an empty one.

    trec_eval orders by score and breaks ties by descending id. These rankings are in order already, with ties broken by
    chunk id, so its scores are len(ids), …, 2, 1.
    """
    require("measuring rankings needs", "pytrec_eval")
    import pytrec_eval

    relevant = {query: {i: g for i, g in grades.items() if g > 0} for query, grades in judged.items()}
    evaluator = pytrec_eval.RelevanceEvaluator({q: grades for q, grades in relevant.items() if grades}, _TREC_MEASURES)
    found = evaluator.evaluate({query: _descending_scores(rankings.get(query, ())) for query in relevant})
    undefined: Scores = dict.fromkeys(_TREC_NAMES)
    return {
        query: {ours: found[query][trec] for ours, trec in _TREC_NAMES.items()} if grades else dict(undefined)
        for query, grades in relevant.items()
    }


def _descending_scores(ids: Sequence[str]) -> dict[str, float]:
    distinct = dict.fromkeys(ids)
    return {each: float(len(distinct) - place) for place, each in enumerate(distinct)}


def part_of_query(metric: str, scores: Scores, *, answerable: bool) -> Part | None:
    """A query's numerator and denominator; the metric is the ratio of their sums. None where undefined."""
    if metric in _RATIOS:
        refused = scores.get("refused")
        return None if refused is None else _RATIOS[metric](refused, 0.0 if answerable else 1.0)
    value = scores.get(metric)
    return None if value is None else (value, 1.0)


def mean_interval(values: Sequence[float | None], seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Mean of the defined values with its bootstrap 95 % interval; all None without a value."""
    return _interval([(value, 1.0) for value in values if value is not None], seed, resamples)


def refusal_figures(results: Sequence[QueryResult], seed: int = 0) -> dict[str, Interval]:
    """Precision, recall and F1 of refusing, and the rate of false refusals, over all queries of an answer run.

    The unanswerable are the positive class. Precision is None when nothing was refused, recall when nothing was
    unanswerable; n counts the queries in the denominator, repetitions of a query as one.
    """
    by_query = average_seeds(results)
    answerable = {result.query_id: result.answerable for result in results}
    figures = {}
    for metric in ("refusal_precision", "refusal_recall", "refusal_f1", "false_refusal"):
        parts = [part_of_query(metric, scores, answerable=answerable[q]) for q, scores in by_query.items()]
        figures[metric] = _interval([part for part in parts if part is not None], seed, RESAMPLES)
    return figures


def _interval(parts: Sequence[Part], seed: int, resamples: int) -> Interval:
    n = sum(denominator > 0 for _, denominator in parts)
    if n == 0:
        return Interval(mean=None, ci_low=None, ci_high=None, n=0)
    low, high = bootstrap_interval(parts, seed, resamples)
    return Interval(mean=ratio(parts), ci_low=low, ci_high=high, n=n)


def average_seeds(results: Sequence[QueryResult]) -> dict[str, Scores]:
    """Scores by query id, each the mean over the repetitions in which it is defined; None where it is undefined in all.

    Counted as further queries, repetitions would make the intervals too narrow.
    """
    collected: dict[str, dict[str, list[float | None]]] = {}
    for result in results:
        by_metric = collected.setdefault(result.query_id, {})
        for name, value in result.scores.items():
            by_metric.setdefault(name, []).append(value)
    return {
        query: {name: ratio([(v, 1.0) for v in values if v is not None]) for name, values in by_metric.items()}
        for query, by_metric in collected.items()
    }


def percentiles(ms: Sequence[float]) -> Latency:
    """Median and 95th percentile, linear between ranks; None without values."""
    if not ms:
        return Latency(p50=None, p95=None)
    import numpy as np

    p50, p95 = np.percentile(ms, (50, 95))
    return Latency(p50=float(p50), p95=float(p95))
