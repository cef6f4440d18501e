"""Pseudo-relevance feedback: the mixture of a query and its nearest passages."""

import numpy as np
import pytest

from kb.search.feedback import cosines_to, mix_in, stacked

X, Y = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


def test_mixture_by_hand() -> None:
    moved = mix_in(X, [Y, Y], 0.5)
    assert moved == pytest.approx(np.array([0.5, 0.5]) / np.sqrt(0.5))
    assert moved.dtype == np.float32


def test_nothing_to_mix_in() -> None:
    assert mix_in(X, [], 0.5) is X
    assert mix_in(X, [Y], 0.0) == pytest.approx(X)


def test_opposites_do_not_divide_by_zero() -> None:
    assert np.isfinite(mix_in(X, [-X], 0.5)).all()


def test_cosines_by_chunk() -> None:
    diagonal = (X + Y) / np.sqrt(2, dtype=np.float32)
    assert cosines_to(X, stacked({3: X, 1: Y, 2: diagonal})) == pytest.approx({3: 1.0, 1: 0.0, 2: 0.7071}, abs=1e-4)
    assert cosines_to(X, stacked({})) == {}
