"""Known p-values, true intervals, and what a comparison and a gate make of runs whose difference is known."""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import InvalidInput
from kb.eval.compare import HEADLINES, check_gates, compare_runs, needs_answers, parse_gate
from kb.eval.metrics import METRICS, mean_interval, refusal_figures
from kb.eval.records import (
    Comparison,
    Latency,
    MetricDifference,
    Provenance,
    QueryResult,
    Retrieved,
    Run,
    Scores,
)
from kb.eval.resampling import Part, paired_bootstrap_interval, permutation_p

PROVENANCE = Provenance(
    package_version="1",
    machine="m",
    corpus_revision=3,
    corpus_state="c",
    home="/home",
    suite_sha256="s",
    embedding_model="e",
    embedding_digest="d",
    config={"search": {"rrf_k": 60, "weights": (1, 2)}},
    model={"id": "extractive", "digest": "1"},
)


def make_result(
    query_id: str, scores: Scores, *, answerable: bool = True, seed: int = 0, lang: str = "en"
) -> QueryResult:
    places = (Retrieved(id="1", score=1.0, path="a.md", place=f"{query_id}.md#L{seed}"),)
    return QueryResult(
        query_id=query_id,
        text=f"{query_id}?",
        answerable=answerable,
        slices={"lang": lang},
        group=None,
        scores=scores,
        ranking=places * 7,
        judged={},
        stage_ms={},
        seed=seed,
    )  # fmt: skip


def make_run(results: Sequence[QueryResult], run_id: str = "r", suite: str = "s") -> Run:
    names = {name for result in results for name in result.scores}
    metrics = {name: mean_interval([r.scores.get(name) for r in results], resamples=20) for name in sorted(names)}
    return Run(
        run_id=run_id,
        suite=suite,
        kind="search",
        mode="hybrid",
        created_at="",
        finished=True,
        provenance=PROVENANCE,
        metrics=metrics | refusal_figures(results),
        latency_ms=Latency(p50=10.0, p95=80.0),
        stage_latency_ms={},
        results=tuple(results),
    )


def run_of(values: Sequence[float | None], metric: str = "ndcg@10", run_id: str = "r") -> Run:
    return make_run([make_result(f"q{i:03}", {metric: v}) for i, v in enumerate(values)], run_id)


def only(comparison: Comparison, metric: str = "ndcg@10") -> MetricDifference:
    (found,) = [difference for difference in comparison.metrics if difference.metric == metric]
    return found


def means(values: Sequence[float]) -> list[Part]:
    return [(value, 1.0) for value in values]


def enumerated_p(a: Sequence[Part], b: Sequence[Part]) -> float:
    """Every way to swap, written down plainly."""

    def difference(swaps: Sequence[bool]) -> float:
        left = [y if swap else x for x, y, swap in zip(a, b, swaps, strict=True)]
        right = [x if swap else y for x, y, swap in zip(a, b, swaps, strict=True)]
        sums = [[sum(column) for column in zip(*rows, strict=True)] for rows in (left, right)]
        quotients = [numerator / denominator if denominator else 0.0 for numerator, denominator in sums]
        return abs(quotients[1] - quotients[0])

    observed = difference([False] * len(a))
    ways = list(itertools.product([False, True], repeat=len(a)))
    return sum(difference(swaps) >= observed - 1e-12 for swaps in ways) / len(ways)


def test_p_values_that_are_known() -> None:
    zeros = means([0.0] * 6)
    assert permutation_p(zeros, means([1.0] * 6), seed=0) == 2 / 2**6
    assert permutation_p(zeros[:5], means([1, 1, 1, 1, 0]), seed=0) == 2 / 2**4
    assert permutation_p(zeros[:2], means([1.0, -1.0]), seed=0) == 1.0
    assert permutation_p(zeros, zeros, seed=0) == 1.0
    # |1 + 2 + 3| is reached by + + + and − − − alone, of 8.
    assert permutation_p(zeros[:3], means([1, 2, 3]), seed=0) == 0.25


SHARES = st.integers(0, 4).map(lambda n: n / 4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=7))
def test_exact_p_is_the_enumeration(pairs: list[tuple[float, float]]) -> None:
    a, b = means([x for x, _ in pairs]), means([y for _, y in pairs])
    assert permutation_p(a, b, seed=0) == pytest.approx(enumerated_p(a, b))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SHARES, SHARES, SHARES, SHARES), min_size=1, max_size=7))
def test_exact_p_of_a_ratio_is_the_enumeration(rows: list[tuple[float, float, float, float]]) -> None:
    a, b = [row[:2] for row in rows], [row[2:] for row in rows]
    assert permutation_p(a, b, seed=0) == pytest.approx(enumerated_p(a, b))


def test_random_p_agrees_with_the_exact_one() -> None:
    """13 queries: one more than are enumerated."""
    dice = random.Random(3)
    a, b = means([dice.random() for _ in range(13)]), means([dice.random() + 0.15 for _ in range(13)])
    exact = enumerated_p(a, b)
    found = permutation_p(a, b, seed=0)
    assert found == permutation_p(a, b, seed=0)
    assert found == pytest.approx(exact, abs=0.02)
    assert permutation_p(means([0.0] * 40), means([1.0] * 40), seed=0) == 1 / 10_001


def test_p_is_uniform_when_nothing_changed() -> None:
    dice = random.Random(4)
    low = 0
    for _ in range(300):
        a, b = ([dice.random() for _ in range(10)] for _ in range(2))
        low += permutation_p(means(a), means(b), seed=0) < 0.05
    assert 3 <= low <= 30


def test_the_interval_of_a_difference_holds_the_truth() -> None:
    dice = random.Random(5)
    held = 0
    for _ in range(150):
        a = [dice.gauss(0.5, 0.3) for _ in range(50)]
        b = [value + dice.gauss(0.1, 0.1) for value in a]
        low, high = paired_bootstrap_interval(means(a), means(b), seed=0, resamples=400)
        held += low <= 0.1 <= high
        assert high - low < 0.09
    assert 0.88 <= held / 150 <= 0.99


def test_identical_runs() -> None:
    run = run_of([random.Random(6).random() for _ in range(30)])
    comparison = compare_runs(run, run)
    found = only(comparison)
    assert (found.difference, found.ci_low, found.ci_high, found.p) == (0.0, 0.0, 0.0, 1.0)
    assert (found.wins, found.losses, found.ties, found.n) == (0, 0, 30, 30)
    assert not comparison.has_regression
    assert (comparison.worst, comparison.best, comparison.differences_in) == ((), (), ())


def test_a_clear_drop_is_a_regression_and_its_inverse_is_not() -> None:
    dice = random.Random(7)
    before = [dice.uniform(0.5, 1.0) for _ in range(40)]
    now = [value - (0.3 if i % 2 else 0.0) for i, value in enumerate(before)]
    comparison = compare_runs(run_of(before, run_id="a"), run_of(now, run_id="b"))
    found = only(comparison)
    assert found.difference == pytest.approx(-0.15)
    assert found.ci_low < -0.15 < found.ci_high < 0  # type: ignore[operator]
    assert found.p < 0.001  # type: ignore[operator]
    assert (found.wins, found.losses, found.ties) == (0, 20, 20)
    assert found.is_regression
    assert comparison.has_regression
    assert (comparison.run_a, comparison.run_b, comparison.suite) == ("a", "b", "s")
    back = compare_runs(run_of(now), run_of(before))
    assert (only(back).wins, back.has_regression) == (20, False)


@pytest.mark.parametrize(
    ("drop", "queries", "tolerance", "regression"),
    [
        (0.005, 40, 0.01, False),
        (0.005, 40, 0.001, True),
        (0.5, 5, 0.01, False),
        (0.5, 6, 0.01, True),
        (0.02, 40, 0.02, False),
    ],
)
def test_a_regression_is_large_and_significant(drop: float, queries: int, tolerance: float, regression: bool) -> None:
    comparison = compare_runs(run_of([0.8] * queries), run_of([0.8 - drop] * queries), tolerance)
    assert comparison.has_regression is regression


@pytest.mark.parametrize(
    ("metric", "before", "now", "regression"),
    [
        ("false_refusal", 0.0, 1.0, True),
        ("false_refusal", 1.0, 0.0, False),
        ("refused", 0.0, 1.0, False),
        ("first_token_ms", 10.0, 900.0, False),
        ("prompt_tokens", 10.0, 900.0, False),
        ("must_contain", 1.0, 0.0, True),
    ],
)
def test_the_direction_of_a_metric_counts(metric: str, before: float, now: float, regression: bool) -> None:
    comparison = compare_runs(run_of([before] * 9, metric), run_of([now] * 9, metric))
    found = only(comparison, metric)
    assert (found.is_regression, comparison.has_regression) == (regression, regression)
    better = (now > before) == (METRICS[metric].higher_is_better is not False)
    assert (found.wins, found.losses) == ((9, 0) if better else (0, 9))


def refusal_run(refused: Mapping[str, float], run_id: str = "r") -> Run:
    """Queries whose id begins with a are answerable."""
    results = []
    for query_id, share in refused.items():
        answerable = query_id.startswith("a")
        scores: Scores = {
            "refused": share,
            "false_refusal": share if answerable else None,
            "refusal_recall": None if answerable else share,
        }
        results.append(make_result(query_id, scores, answerable=answerable))
    return make_run(results, run_id)


def test_precision_and_f1_of_refusals_are_compared_as_ratios() -> None:
    ids = [f"a{i}" for i in range(8)] + [f"u{i}" for i in range(8)]
    before = refusal_run({query: float(query.startswith("u")) for query in ids})
    now = refusal_run({query: float(query >= "u4" or query < "a2") for query in ids})
    comparison = compare_runs(before, now)
    precision, f1 = only(comparison, "refusal_precision"), only(comparison, "refusal_f1")
    assert (precision.mean_a, precision.mean_b) == (1.0, pytest.approx(4 / 6))
    assert (f1.mean_a, f1.mean_b) == (1.0, pytest.approx(8 / 14))
    assert (f1.wins, f1.losses, f1.ties, f1.n) == (0, 6, 10, 16)
    assert f1.p == 2 / 2**6
    assert f1.is_regression
    recall = only(comparison, "refusal_recall")
    assert (recall.n, recall.losses, recall.mean_b) == (8, 4, 0.5)


def test_what_is_undefined_is_left_out_of_the_pairs() -> None:
    comparison = compare_runs(run_of([0.5, None, 1.0]), run_of([None, None, 0.0]), metrics=["ndcg@10", "must_contain"])
    assert (only(comparison).n, only(comparison).difference) == (1, -1.0)
    nothing = only(comparison, "must_contain")
    assert (nothing.n, nothing.mean_a, nothing.difference, nothing.ci_low, nothing.p) == (0, None, None, None, None)
    assert not nothing.is_regression


def test_repetitions_are_averaged_first() -> None:
    before = make_run([make_result("q", {"must_contain": v}, seed=i) for i, v in enumerate((1.0, 0.0))])
    now = make_run([make_result("q", {"must_contain": v}, seed=i) for i, v in enumerate((0.0, 0.0, 0.0))])
    comparison = compare_runs(before, now)
    found = only(comparison, "must_contain")
    assert (found.n, found.mean_a, found.mean_b, found.p) == (1, 0.5, 0.0, 1.0)
    (change,) = comparison.worst
    assert (change.before, change.after) == (0.5, 0.0)
    assert change.places_before == ("q.md#L0",) * 5


def test_slices_with_enough_queries() -> None:
    def run(korean: float) -> Run:
        english = [make_result(f"e{i}", {"ndcg@10": 0.5, "mrr": 1.0}) for i in range(6)]
        return make_run(
            [*english, *(make_result(f"k{i}", {"ndcg@10": korean}, lang="ko") for i in range(6))]
            + [make_result(f"d{i}", {"ndcg@10": korean}, lang="de") for i in range(4)]
        )

    comparison = compare_runs(run(0.9), run(0.4))
    assert list(comparison.slices) == ["lang=en", "lang=ko"]
    assert [difference.metric for difference in comparison.slices["lang=ko"]] == ["ndcg@10"]
    assert comparison.slices["lang=ko"][0].is_regression
    assert comparison.slices["lang=en"][0].p == 1.0


def test_the_worst_and_the_best_queries() -> None:
    before = [make_result(f"q{i:02}", {"ndcg@10": 0.5, "must_contain": 1.0, "hit@1": 1.0}) for i in range(30)]
    now = [
        make_result(
            f"q{i:02}",
            {"ndcg@10": 0.5 + (i - 15) / 100, "must_contain": float(i != 20), "hit@1": float(i != 3)},
            seed=0,
        )
        for i in range(30)
    ]
    comparison = compare_runs(make_run(before), make_run(now))
    assert [(c.query_id, c.metric) for c in comparison.worst[:3]] == [
        ("q20", "must_contain"),
        ("q00", "ndcg@10"),
        ("q01", "ndcg@10"),
    ]
    assert [change.query_id for change in comparison.best[:2]] == ["q29", "q28"]
    assert (len(comparison.worst), len(comparison.best)) == (10, 10)
    assert (comparison.worst[1].before, comparison.worst[1].after) == (0.5, pytest.approx(0.35))
    assert compare_runs(make_run(before), make_run(now), metrics=["hit@1"]).worst[0].query_id == "q03"


def test_queries_that_only_one_run_has() -> None:
    a, b = run_of([0.5, 0.5, 0.5]), run_of([0.5, 0.5, 0.5, 0.1])
    comparison = compare_runs(replace(a, results=a.results[1:]), b)
    assert (comparison.only_in_a, comparison.only_in_b) == ((), ("q000", "q003"))
    assert only(comparison).n == 2


def test_names_what_differs() -> None:
    a = run_of([0.5])
    other = replace(
        PROVENANCE,
        corpus_revision=4,
        config={"search": {"rrf_k": 10, "weights": [1, 2]}, "rag": {"k": 5}},
        model={"id": "extractive", "digest": "2"},
    )
    b = replace(a, provenance=other, mode="vector")
    assert set(compare_runs(a, b).differences_in) == {
        "mode",
        "corpus_revision",
        "config.search.rrf_k",
        "config.rag.k",
        "model.digest",
    }


def test_a_key_that_was_removed_differs_only_where_it_was_changed() -> None:
    def run_with(**search: object) -> Run:
        return replace(run_of([0.5]), provenance=replace(PROVENANCE, config={"search": {"rrf_k": 60} | search}))

    now = run_with()
    assert compare_runs(run_with(tags_weight=0.25), now).differences_in == ()
    assert compare_runs(run_with(tags_weight=0.5), now).differences_in == ("config.search.tags_weight",)


def test_what_cannot_be_compared() -> None:
    run = run_of([0.5])
    with pytest.raises(InvalidInput, match="of the suite"):
        compare_runs(run, make_run(run.results, suite="other"))
    with pytest.raises(InvalidInput, match="no query in common"):
        compare_runs(run, make_run([make_result("else", {})]))
    with pytest.raises(InvalidInput, match="no metric"):
        compare_runs(run, run, metrics=["ndcg@7"])


def test_headlines_are_metrics() -> None:
    assert set(HEADLINES) <= set(METRICS)


@pytest.mark.parametrize(
    ("text", "value", "passed"),
    [
        ("ndcg@10>=0.40", 0.40, True),
        ("ndcg@10 >= .5", 0.40, False),
        ("ndcg@10>0.40", 0.40, False),
        ("ndcg@10<=0.4", 0.4 + 1e-12, True),
        ("ndcg@10<0.4", 0.4, False),
        ("ndcg@10==0.4", 0.4, True),
        (" ndcg@10 == 4e-1 ", 0.41, False),
        ("latency_p95_ms<=80", 80.0, True),
        ("latency_p50_ms>10", 10.0, False),
        ("refusal_f1>=0.1", None, False),
    ],
)
def test_gates(text: str, value: float | None, passed: bool) -> None:
    run = run_of([value if "ndcg" in text else 0.0])
    (result,) = check_gates(run, [parse_gate(text)])
    assert (result.gate, result.run_id, result.value, result.passed) == (text, "r", value, passed)


def test_an_undefined_metric_fails_every_gate() -> None:
    run = run_of([None])
    for comparison in (">=", "<=", "<", ">", "=="):
        (result,) = check_gates(run, [parse_gate(f"ndcg@10{comparison}0")])
        assert (result.value, result.passed) == (None, False)


@pytest.mark.parametrize(
    "text", ["", "ndcg@10", "ndcg@10>=", ">=0.4", "ndcg@10=0.4", "ndcg@10>=x", "ndcg@10>=nan", "mrr>=1 2"]
)
def test_what_is_no_gate(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a gate"):
        parse_gate(text)


def test_a_gate_on_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_gate("ncdg@10>=0.4")
    assert "ndcg@10" in caught.value.fix
    assert needs_answers(parse_gate("false_refusal<=0.05"))
    assert not needs_answers(parse_gate("mrr>=0.4"))
