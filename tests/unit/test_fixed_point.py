"""Vectors in 16 bits: how near they are, and what is no number stays none."""

from __future__ import annotations

import numpy as np
import pytest

from kb.fixed_point import MOST, from_fixed_point, to_fixed_point


@pytest.mark.parametrize("dimensions", [2, 16, 384])
def test_a_cosine_stays_what_it_was(dimensions: int) -> None:
    vectors = np.random.default_rng(0).normal(size=(500, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    back = from_fixed_point(*to_fixed_point(vectors))
    assert np.abs(back - vectors).max() <= np.abs(vectors).max() / MOST
    assert np.abs(back @ back.T - vectors @ vectors.T).max() < {2: 5e-5, 16: 3e-5, 384: 1e-5}[dimensions]


def test_once_more_changes_nothing() -> None:
    vectors = np.random.default_rng(1).normal(size=(200, 64)).astype(np.float32)
    once = from_fixed_point(*to_fixed_point(vectors))
    assert np.array_equal(to_fixed_point(once)[1], to_fixed_point(vectors)[1])


def test_what_is_special_stays_so() -> None:
    vectors = np.array([[0, 0, 0], [np.nan, 1, 0], [np.inf, 1, 0], [1, 0, -1]], np.float32)
    back = from_fixed_point(*to_fixed_point(vectors))
    assert back[0].tolist() == [0, 0, 0]
    assert np.isnan(back[1:3]).all()
    assert back[3] == pytest.approx([1, 0, -1], abs=1e-7)
    assert from_fixed_point(*to_fixed_point(np.empty((0, 4), np.float32))).shape == (0, 4)


def test_high_and_low_bytes_fit() -> None:
    numbers = to_fixed_point(np.array([[1, -1, 0.5, -0.001]], np.float32))[1].astype(int)
    high = (numbers + 128) >> 8
    assert np.abs(high).max() == 127
    assert np.abs(numbers - 256 * high).max() <= 128
