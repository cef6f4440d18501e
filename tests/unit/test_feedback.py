"""Pseudo-relevance feedback: the mixture of a query and its nearest passages."""

import numpy as np
import pytest

from kb.search.feedback import feed_back

X, Y = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


def test_mixture_by_hand() -> None:
    moved = feed_back(X, [Y, Y], 0.5)
    assert moved == pytest.approx(np.array([0.5, 0.5]) / np.sqrt(0.5))
    assert moved.dtype == np.float32


def test_nothing_to_mix_in() -> None:
    assert feed_back(X, [], 0.5) is X
    assert feed_back(X, [Y], 0.0) == pytest.approx(X)


def test_opposites_do_not_divide_by_zero() -> None:
    assert np.isfinite(feed_back(X, [-X], 0.5)).all()
