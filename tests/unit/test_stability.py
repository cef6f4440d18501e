"""Context stability: the acceptance tables of the formulas, properties, and a slow reference that shares no code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.packing.fit import Question, detect_domain, question_fit, word_test
from kb.packing.stability import (
    Axes,
    Beside,
    Weights,
    combine_axes,
    drift_penalty,
    local_stability,
    neighbour_share,
    project_coherence,
    raw_drift,
    stability_quantiles,
    thresholds_in_force,
    vector_scores,
)

WEIGHTS = Weights()


def unit(angle: float) -> tuple[float, float]:
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def beside_of(angles: Sequence[float]) -> Beside:
    """A whole document of unit vectors at these angles."""
    steps = [math.cos(math.radians(b - a)) for a, b in pairwise(angles)]
    n = len(angles)
    return Beside(
        np.array([math.nan, *steps]), np.array([*steps, math.nan]), np.arange(n), np.full(n, n, dtype=np.int64)
    )


def slow_axes(angles: Sequence[float], threshold: float) -> list[tuple[float, float, float]]:
    """(stability, raw drift, drift), written from the formulas with loops over vectors."""
    vectors = [unit(a) for a in angles]
    rows = []
    for i, own in enumerate(vectors):
        near = [vectors[j] for j in (i - 1, i + 1) if 0 <= j < len(vectors)]
        cosines = [own[0] * v[0] + own[1] * v[1] for v in near]
        if len(vectors) < 2:
            stability, drift = 0.5, 0.0
        else:
            mean = sum(cosines) / len(cosines)
            stability = min(1.0, max(0.0, mean - (0.15 if i in (0, len(vectors) - 1) else 0.0)))
            drift = 0.0
            if len(vectors) >= 3 and mean < 0.5:
                isolated = len(cosines) == 2 and all(c < 0.5 for c in cosines)
                drift = max(-1.0, -((0.5 - mean) / 0.5) * (1.5 if isolated else 1.0))
        rows.append((stability, drift, drift - 0.5 * (threshold - stability) if stability < threshold else drift))
    return rows


def csw_of(angles: Sequence[float], vector: float, fit: float = 0.15, threshold: float = 0.7) -> list[float]:
    beside = beside_of(angles)
    stability = local_stability(beside)
    ones = np.ones(len(angles))
    axes = Axes(vector * ones, stability, fit * ones, drift_penalty(raw_drift(beside), stability, threshold), ones)
    return combine_axes(axes, WEIGHTS).tolist()


@pytest.mark.parametrize(
    ("angles", "stability", "drift"),
    [
        pytest.param([0, 0, 0], [0.85, 1.0, 0.85], [0, 0, 0], id="B1"),
        pytest.param([0, 60, 0], [0.35, 0.5, 0.35], [0, 0, 0], id="B2"),
        pytest.param([0, 90, 0], [0, 0, 0], [-1, -1, -1], id="B3"),
        pytest.param([0, 70, 75], [0.1920, 0.6691, 0.8462], [-0.3160, 0, 0], id="B4"),
        pytest.param([0, 20, 40, 60, 80], [0.7897, 0.9397, 0.9397, 0.9397, 0.7897], [0] * 5, id="B5"),
        pytest.param([0], [0.5], [0], id="one chunk"),
        pytest.param([0, 60], [0.35, 0.35], [0, 0], id="two chunks"),
    ],
)
def test_stability_and_drift(angles: list[float], stability: list[float], drift: list[float]) -> None:
    beside = beside_of(angles)
    assert local_stability(beside).round(4).tolist() == pytest.approx(stability, abs=1e-9)
    assert raw_drift(beside).round(4).tolist() == pytest.approx(drift, abs=1e-9)


def test_b3_b4_b7_drift_and_csw() -> None:
    beside = beside_of([0, 90, 0])
    assert drift_penalty(raw_drift(beside), local_stability(beside), 0.7).round(4).tolist() == [-1.35] * 3
    # .35 · .5 + .20 · .15 + .10 · 1 - .10 · 1.35
    assert csw_of([0, 90, 0], 0.5)[1] == pytest.approx(0.17, abs=5e-5)
    beside = beside_of([0, 70, 75])
    drift = drift_penalty(raw_drift(beside), local_stability(beside), 0.7)
    assert drift.tolist() == pytest.approx([-0.5699, -0.0154, 0], abs=5e-5)
    assert csw_of([0, 70, 75], 0.5) == pytest.approx([0.2960, 0.4707, 0.5165], abs=5e-5)
    assert csw_of([0], 1.0) == pytest.approx([0.595], abs=5e-5)


def test_b6_question_fit() -> None:
    question = Question(("Router", "NAT"), ("it works", "missing"), "explain", "definition")
    assert question_fit("Router is slow because of how it works", question) == pytest.approx(0.5833, abs=5e-5)
    assert question_fit("zzz", Question(("Router",))) == pytest.approx(0.15)


def test_b8_quantiles() -> None:
    found = stability_quantiles([i / 10 for i in range(1, 11)], 0.65)
    assert (found.q25, found.q50, found.q75) == pytest.approx((0.325, 0.55, 0.775))
    assert found.threshold == found.q25
    few = stability_quantiles([0.1] * 9, 0.65)
    assert (few.samples, few.q25, few.threshold) == (9, None, 0.65)


@given(st.lists(st.floats(0, 360), min_size=1, max_size=30), st.floats(0, 1))
def test_equals_the_slow_reference(angles: list[float], threshold: float) -> None:
    beside = beside_of(angles)
    stability, drift = local_stability(beside), raw_drift(beside)
    after = drift_penalty(drift, stability, threshold)
    rows = np.array(slow_axes(angles, threshold))
    assert np.stack([stability, drift, after], axis=1) == pytest.approx(rows, abs=1e-6)


@given(st.lists(st.floats(0, 360), min_size=2, max_size=30), st.randoms())
def test_b11_the_order_of_a_list_changes_nothing(angles: list[float], random: object) -> None:
    beside = beside_of(angles)
    order = list(range(len(angles)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = Beside(beside.before[order], beside.after[order], beside.position[order], beside.chunk_count[order])
    assert local_stability(shuffled).tolist() == local_stability(beside)[order].tolist()
    assert raw_drift(shuffled).tolist() == raw_drift(beside)[order].tolist()


AXES = ("vector", "stability", "fit", "drift", "coherence")
shares = st.floats(0, 1)


@given(st.tuples(shares, shares, shares, st.floats(-1.5, 0), shares), st.sampled_from(AXES), st.floats(0, 1))
def test_csw_rises_with_every_axis_and_stays_in_its_range(values: tuple[float, ...], axis: str, step: float) -> None:
    before = dict(zip(AXES, values, strict=True))
    after = before | {axis: min(0.0 if axis == "drift" else 1.0, before[axis] + step)}
    low, high = (
        float(combine_axes(Axes(**{k: np.array([v]) for k, v in row.items()}), WEIGHTS)[0]) for row in (before, after)
    )
    assert 0 <= low <= high + 1e-12
    assert high <= 0.9 + 1e-12


def test_a_missing_neighbour_is_left_out_and_is_no_boundary() -> None:
    """A chunk in the middle whose neighbours have no vector is unknown, not unstable."""
    nan = math.nan
    beside = Beside(np.array([nan, nan, 0.8]), np.array([nan, 0.6, nan]), np.array([1, 1, 1]), np.array([4, 4, 4]))
    assert local_stability(beside).tolist() == pytest.approx([0.5, 0.6, 0.8])
    assert raw_drift(beside).tolist() == [0, 0, 0]


def test_absent_axes_hand_their_weight_on() -> None:
    """Words alone: the scale of .90 stays, and nothing is taken off."""
    fit, ones = np.array([0.5]), np.array([1.0])
    assert combine_axes(Axes(None, None, fit, None, None), WEIGHTS).tolist() == pytest.approx([0.45])
    assert combine_axes(Axes(None, None, fit, None, ones), WEIGHTS).tolist() == pytest.approx([0.9 * (0.2 / 0.3)])
    only_drift = Weights(vector=0, stability=0, fit=0, drift=1, coherence=0)
    assert combine_axes(Axes(None, None, fit, None, None), only_drift).tolist() == [0.0]


def test_vector_score_and_coherence() -> None:
    found = vector_scores(np.array([1.0, 0.5, 0.0, -1.0, 1.0000001]))
    assert found.tolist() == pytest.approx([1.0, 0.5, 1 / (1 + math.sqrt(2)), 1 / 3, 1.0], abs=1e-3)
    assert project_coherence(np.array([0.4, -0.2, math.nan]), 2).tolist() == [0.4, 0.0, 0.0]
    assert project_coherence(np.array([0.4, -0.2]), 1).tolist() == [1.0, 1.0]
    assert neighbour_share("a", ["a", "a", "b", "a", "c"]) == 0.6
    assert neighbour_share("a", []) == 1.0
    assert thresholds_in_force({"code": 0.55, "tech": 0.65}, {"tech": 0.4}) == {"code": 0.55, "tech": 0.4}


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("storage fragility", "general"),
        ("give me a class for the model", "tech"),
        ("what is the return policy for imports of food", "general"),
        ("import asyncio and await the function", "code"),
        ("for item in rows: self.save(item)", "code"),
        ("벡터 검색은 무엇인가", "tech"),
        ("함수와 클래스의 차이", "code"),
        ("", "general"),
    ],
)
def test_domains_go_by_whole_words(text: str, domain: str) -> None:
    assert detect_domain(text) == domain


@pytest.mark.parametrize(
    ("needle", "text", "is_there"),
    [
        ("rag", "storage", False),
        ("is", "this", False),
        ("import", "an important thing", False),
        ("import", "it imports", True),
        ("change", "while changing gears", True),
        ("Router", "the router's table", True),
        ("소유권", "러스트의 소유권은", True),
        ("RAG", "RAG는 무엇", True),
        ("such as", "fruit such as pears", True),
        ("C++", "written in c++ today", True),
        ("1.", "1. first", True),
    ],
)
def test_words_are_matched_whole(needle: str, text: str, is_there: bool) -> None:
    assert word_test(needle)(text.casefold()) is is_there
