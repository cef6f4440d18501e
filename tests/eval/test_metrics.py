"""Ranking metrics against a case worked out by hand, plain Python and trec_eval's own order; intervals, percentiles."""

import math
import random
from collections.abc import Mapping, Sequence

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import InvalidInput
from kb.eval.metrics import (
    DEPTHS,
    METRICS,
    average_seeds,
    find_metric,
    is_judged,
    mean_interval,
    percentiles,
    ranking_scores,
    refusal_figures,
    score_rankings,
)
from kb.eval.query_tags import tag_recall
from kb.eval.records import Interval, QueryResult, Scores

NOTHING = Interval(mean=None, ci_low=None, ci_high=None, n=0)


def test_a_case_worked_out_by_hand() -> None:
    """Grades a 3, b 2, c 1, d 0; ranking c x a y b.

    DCG@3  = 1/log2(2) + 0 + 3/log2(4)            = 1 + 1.5             = 2.5
    DCG@5  = DCG@3 + 0 + 2/log2(6)                = 2.5 + 0.773706      = 3.273706
    ideal  = 3/log2(2) + 2/log2(3) + 1/log2(4)    = 3 + 1.261860 + 0.5  = 4.761860
    AP     = (1/1 + 2/3 + 3/5) / 3                                      = 0.755556
    """
    scores = ranking_scores({"a": 3, "b": 2, "c": 1, "d": 0}, ["c", "x", "a", "y", "b"])
    expected = {
        "ndcg@1": 1 / 3,
        "ndcg@3": 2.5 / 4.761860,
        "ndcg@5": 3.273706 / 4.761860,
        "ndcg@10": 3.273706 / 4.761860,
        "ndcg@100": 3.273706 / 4.761860,
        "hit@1": 1,
        "hit@3": 1,
        "hit@5": 1,
        "hit@10": 1,
        "hit@100": 1,
        "recall@1": 1 / 3,
        "recall@3": 2 / 3,
        "recall@5": 1,
        "recall@10": 1,
        "recall@100": 1,
        "precision@1": 1,
        "precision@3": 2 / 3,
        "precision@5": 3 / 5,
        "precision@10": 3 / 10,
        "precision@100": 3 / 100,
        "mrr": 1,
        "map": 0.755556,
    }
    assert scores == pytest.approx(expected, abs=1e-6)
    assert set(scores) <= set(METRICS)


def test_the_first_relevant_one_at_rank_four() -> None:
    scores = ranking_scores({"a": 1}, ["x", "y", "z", "a"])
    assert (scores["mrr"], scores["map"], scores["hit@3"], scores["hit@5"]) == (0.25, 0.25, 0.0, 1.0)
    assert scores["ndcg@5"] == pytest.approx(1 / math.log2(5))


def plain_scores(judged: Mapping[str, int], ids: Sequence[str]) -> dict[str, float]:
    """The textbook definitions, written down plainly."""
    ids = list(dict.fromkeys(ids))
    relevant = {each for each, grade in judged.items() if grade > 0}
    gains = [max(0, judged.get(each, 0)) for each in ids]
    ideal = sorted((max(0, grade) for grade in judged.values()), reverse=True)

    def dcg(values: Sequence[int]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(values, 1))

    scores = {}
    for k in DEPTHS:
        found = len(relevant.intersection(ids[:k]))
        scores[f"hit@{k}"] = float(found > 0)
        scores[f"recall@{k}"] = found / len(relevant)
        scores[f"precision@{k}"] = found / k
        scores[f"ndcg@{k}"] = dcg(gains[:k]) / dcg(ideal[:k])
    ranks = [rank for rank, each in enumerate(ids, 1) if each in relevant]
    scores["mrr"] = 1 / ranks[0] if ranks else 0.0
    scores["map"] = sum(found / rank for found, rank in enumerate(ranks, 1)) / len(relevant)
    return scores


IDS = st.integers(0, 30).map(str)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(IDS, st.integers(-1, 4), max_size=15), st.lists(IDS, max_size=150))
def test_equals_the_textbook(judged: dict[str, int], ids: list[str]) -> None:
    if max(judged.values(), default=0) < 1:
        assert set(ranking_scores(judged, ids).values()) == {None}
    else:
        assert ranking_scores(judged, ids) == pytest.approx(plain_scores(judged, ids), abs=1e-9)


def test_equals_trec_eval_on_its_own_order() -> None:
    """Scores with many ties, ranked as trec_eval ranks them: by score, then by id, both descending."""
    dice = random.Random(0)
    judged, raw, rankings = {}, {}, {}
    for query in map(str, range(30)):
        judged[query] = {f"d{i:02}": dice.randint(0, 3) for i in dice.sample(range(60), 20)} | {"d99": 1}
        raw[query] = {f"d{i:02}": float(dice.randint(0, 5)) for i in range(60)}
        rankings[query] = sorted(raw[query], key=lambda each: (raw[query][each], each), reverse=True)
    reference = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "map", "recip_rank", "P.5"}).evaluate(raw)
    ours = score_rankings(judged, rankings)
    for query, expected in reference.items():
        names = ("ndcg@10", "map", "mrr", "precision@5")
        found = [ours[query][name] for name in names]
        assert found == [expected[name] for name in ("ndcg_cut_10", "map", "recip_rank", "P_5")]


def test_the_order_of_a_ranking_is_its_own() -> None:
    """trec_eval would put the higher id first among equal scores; it is not asked."""
    assert ranking_scores({"1": 1}, ["1", "9"])["ndcg@1"] == 1.0
    assert ranking_scores({"1": 1}, ["9", "1"])["ndcg@1"] == 0.0


def test_undefined_is_none_and_never_zero() -> None:
    for judged in ({}, {"a": 0}, {"a": -1}):
        assert set(ranking_scores(judged, ["a"]).values()) == {None}
    assert set(ranking_scores({"a": 1}, []).values()) == {0.0}
    scores = score_rankings({"q": {"a": 1}, "u": {}}, {"other": ["a"]})
    assert (set(scores), scores["q"]["map"], scores["u"]["map"]) == ({"q", "u"}, 0.0, None)
    assert score_rankings({}, {}) == {}


def test_an_id_that_comes_again_counts_once() -> None:
    assert ranking_scores({"a": 1, "b": 1}, ["a", "a", "b"]) == ranking_scores({"a": 1, "b": 1}, ["a", "b"])


def test_the_interval_of_a_mean() -> None:
    assert mean_interval([None, None]) == mean_interval([]) == NOTHING
    assert mean_interval([None, 0.4]) == Interval(mean=0.4, ci_low=0.4, ci_high=0.4, n=1)
    assert mean_interval([0.25] * 9) == Interval(mean=0.25, ci_low=0.25, ci_high=0.25, n=9)
    values = [1.0, 0.0, None] * 50
    found = mean_interval(values)
    assert found == mean_interval(values)
    assert (found.mean, found.n) == (0.5, 100)
    # The normal approximation: 0.5 ± 1.96 · 0.5 / √100.
    assert found.ci_low == pytest.approx(0.402, abs=0.012)
    assert found.ci_high == pytest.approx(0.598, abs=0.012)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    dice = random.Random(1)
    held = 0
    for _ in range(200):
        found = mean_interval([dice.gauss(0.3, 0.2) for _ in range(60)], resamples=400)
        held += found.ci_low <= 0.3 <= found.ci_high  # type: ignore[operator]
    assert 0.89 <= held / 200 <= 0.99


def make_result(query_id: str, answerable: bool, seed: int = 0, **scores: float | None) -> QueryResult:
    return QueryResult(
        query_id=query_id,
        text="?",
        answerable=answerable,
        slices={},
        group=None,
        scores=dict(scores),
        ranking=(),
        judged={},
        stage_ms={},
        seed=seed,
    )


def make_refusal(query_id: str, answerable: bool, refused: float, seed: int = 0) -> QueryResult:
    own: Scores = {"false_refusal": refused if answerable else None, "refusal_recall": None if answerable else refused}
    return make_result(query_id, answerable, seed, refused=refused, **own)


def test_refusal_figures_by_hand() -> None:
    """10 answerable, 2 of them refused; 6 unanswerable, 4 of them refused: P 4/6, R 4/6, F1 8/12, false 2/10."""
    results = [make_refusal(f"a{i}", True, float(i < 2)) for i in range(10)]
    results += [make_refusal(f"u{i}", False, float(i < 4)) for i in range(6)]
    figures = refusal_figures(results)
    assert {name: (interval.mean, interval.n) for name, interval in figures.items()} == {
        "refusal_precision": (pytest.approx(4 / 6), 6),
        "refusal_recall": (pytest.approx(4 / 6), 6),
        "refusal_f1": (pytest.approx(8 / 12), 8),
        "false_refusal": (pytest.approx(2 / 10), 10),
    }
    for interval in figures.values():
        assert interval.ci_low < interval.mean < interval.ci_high  # type: ignore[operator]


def test_refusal_figures_that_mean_nothing() -> None:
    answered = refusal_figures([make_refusal("a", True, 0.0)])
    assert (answered["refusal_precision"], answered["refusal_recall"], answered["refusal_f1"]) == (NOTHING,) * 3
    assert answered["false_refusal"].mean == 0.0
    missed = refusal_figures([make_refusal("u", False, 0.0)])
    assert (missed["refusal_precision"], missed["false_refusal"]) == (NOTHING, NOTHING)
    assert (missed["refusal_recall"].mean, missed["refusal_f1"].mean) == (0.0, 0.0)
    assert refusal_figures([]) == dict.fromkeys(answered, NOTHING)


def test_repetitions_of_a_query_are_one_query() -> None:
    results = [make_refusal("u", False, refused, seed) for seed, refused in enumerate((1.0, 0.0, 0.0, 1.0))]
    assert average_seeds(results) == {"u": {"refused": 0.5, "false_refusal": None, "refusal_recall": 0.5}}
    assert refusal_figures(results)["refusal_recall"] == Interval(mean=0.5, ci_low=0.5, ci_high=0.5, n=1)
    some = [make_result("q", True, 0, citation_coverage=None), make_result("q", True, 1, citation_coverage=0.5)]
    assert average_seeds(some) == {"q": {"citation_coverage": 0.5}}


def test_percentiles() -> None:
    assert (percentiles([]).p50, percentiles([]).p95) == (None, None)
    assert (percentiles([7.0]).p50, percentiles([7.0]).p95) == (7.0, 7.0)
    latency = percentiles([float(i) for i in range(101)])
    assert (latency.p50, latency.p95) == (50.0, 95.0)


@pytest.mark.parametrize(
    ("expected", "carried", "recall"),
    [
        (["optics", "dome"], [["optics"], ["night", "Optics"]], 0.5),
        (["Optics", "optics"], [["OPTICS"]], 1.0),
        (["optics"], [], 0.0),
        ([], [["optics"]], None),
    ],
)
def test_tags_that_the_results_carry(expected: list[str], carried: list[list[str]], recall: float | None) -> None:
    assert tag_recall(expected, carried) == recall


def test_metrics_are_known_by_name() -> None:
    assert find_metric("false_refusal").higher_is_better is False
    assert is_judged("ndcg@10")
    assert not any(is_judged(name) for name in ("refused", "first_token_ms", "prompt_tokens", "nonsense"))
    with pytest.raises(InvalidInput) as caught:
        find_metric("NDCG10")
    assert "ndcg@10" in caught.value.fix
    for name, metric in METRICS.items():
        assert metric.meaning, name
