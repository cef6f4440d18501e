"""Products in 8 bits: how what they multiply is rounded, on numbers with known answers."""

import numpy as np
import pytest

from kb.embed.quantized import choose_rounding, in_8_bits

RANDOM = np.random.default_rng(7)
WEIGHTS = RANDOM.normal(size=(48, 64)).astype(np.float32)


def multiply(inputs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The product as the graph computes it."""
    rounding = choose_rounding(inputs, weights)
    divided = inputs if rounding.divisors is None else inputs / rounding.divisors
    steps = np.clip(np.round(divided / rounding.step) + rounding.zero, 0, 255).astype(np.int64) - rounding.zero
    values, scales = in_8_bits(rounding.scaled(weights))
    return (steps @ values.T.astype(np.int64)) * rounding.step * scales


def test_weights_have_one_scale_a_row() -> None:
    values, scales = in_8_bits(WEIGHTS)
    assert values.dtype == np.int8
    assert np.abs(values).max(axis=1).tolist() == [127] * len(WEIGHTS)
    assert np.abs(values * scales[:, None] - WEIGHTS).max() <= scales.max() / 2 * 1.001


@pytest.mark.parametrize("outlier", [1, 60])
def test_a_product_is_like_the_exact_one(outlier: float) -> None:
    """One channel that is far above the others takes all steps, unless it is divided."""
    inputs = RANDOM.normal(size=(200, 64)).astype(np.float32)
    inputs[:, 5] *= outlier
    exact = inputs @ WEIGHTS.T
    assert np.linalg.norm(multiply(inputs, WEIGHTS) - exact) < 0.02 * np.linalg.norm(exact)
    rounding = choose_rounding(inputs, WEIGHTS)
    assert (rounding.divisors is not None) or outlier == 1
    if rounding.divisors is not None:
        assert np.exp(np.log(rounding.divisors).mean()) == pytest.approx(1, abs=1e-4)
