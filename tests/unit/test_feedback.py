"""Pseudo-relevance feedback: the mixture of a query and its nearest passages."""

import numpy as np
import pytest

from kb.search.feedback import cosines_to, mix_in, stacked, weigh

X, Y = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


def test_mixture_by_hand() -> None:
    moved = mix_in(X, [(Y, 0.9), (Y, 0.1)], 0.5)
    assert moved == pytest.approx(np.array([0.5, 0.5]) / np.sqrt(0.5))
    assert moved.dtype == np.float32


def test_the_better_passage_counts_for_more() -> None:
    moved = mix_in(X, [(X, 0.25), (Y, 0.75)], 1.0)
    assert moved == pytest.approx(np.array([0.25, 0.75]) / np.hypot(0.25, 0.75))


@pytest.mark.parametrize(
    ("ranking", "most", "weights"),
    [
        ([(1, 0.9), (2, 0.5), (3, 0.3), (4, 0.2)], 2, {1: 0.9, 2: 0.1}),  # squares of what is above the third
        ([(1, 0.9), (2, 0.6)], 10, {1: 1.0}),  # nothing is above the last
        ([(1, 0.5), (2, 0.5), (3, 0.5)], 2, {}),
        ([(1, 0.5)], 3, {}),
        ([(1, 0.9), (2, 0.5)], 0, {}),
        ([], 3, {}),
    ],
)
def test_weights_are_by_what_stands_out(ranking: list[tuple[int, float]], most: int, weights: dict[int, float]) -> None:
    assert weigh(ranking, most) == pytest.approx(weights)


def test_nothing_to_mix_in() -> None:
    assert mix_in(X, [], 0.5) is X
    assert mix_in(X, [(Y, 1.0)], 0.0) == pytest.approx(X)


def test_opposites_do_not_divide_by_zero() -> None:
    assert np.isfinite(mix_in(X, [(-X, 1.0)], 0.5)).all()


def test_cosines_by_chunk() -> None:
    diagonal = (X + Y) / np.sqrt(2, dtype=np.float32)
    assert cosines_to(X, stacked({3: X, 1: Y, 2: diagonal})) == pytest.approx({3: 1.0, 1: 0.0, 2: 0.7071}, abs=1e-4)
    assert cosines_to(X, stacked({})) == {}


def test_a_cosine_does_not_depend_on_what_else_was_found() -> None:
    """A BLAS adds the rows at the ends of a matrix in another order: an index made anew gave other scores by its order."""
    drawn = np.random.default_rng(5).standard_normal((40, 384)).astype(np.float32)
    rows = dict(enumerate(drawn / np.linalg.norm(drawn, axis=1, keepdims=True)))
    together = cosines_to(rows[0], stacked(rows))
    turned = cosines_to(rows[0], stacked(dict(reversed(list(rows.items())))))
    alone = {i: cosines_to(rows[0], stacked({i: row}))[i] for i, row in rows.items()}
    assert together == turned == alone
