"""Vectors of float32 ↔ numbers of 16 bits with a scale for each vector: half the room, and cosines that differ by less than 1e-5.

A number is 256 times its high byte and its low byte more, both signed: eight bits say roughly what sixteen say.
"""

from __future__ import annotations

from kb.arrays import FloatMatrix, FloatVector, ShortMatrix

# Of the largest number of each vector, so that its high byte is 127 and its low byte fits.
MOST = 127 * 256 + 127


def to_fixed_point(vectors: FloatMatrix) -> tuple[FloatVector, ShortMatrix]:
    """(n, d) → scales (n,) float32 and numbers (n, d) int16, with vectors = scales · numbers.

    A vector that holds no number (NaN or infinite) has the scale NaN and so stays none; one of zeros has the scale 0.
    """
    import numpy as np

    with np.errstate(invalid="ignore"):
        scales = (np.abs(vectors).max(axis=1, initial=0) / MOST).astype("<f4")
        scales[~np.isfinite(vectors).all(axis=1)] = np.nan
        divisors = np.where(scales > 0, scales, np.inf)
        numbers = np.rint(vectors / divisors[:, None]).clip(-MOST, MOST).astype("<i2")
    return scales, numbers


def from_fixed_point(scales: FloatVector, numbers: ShortMatrix) -> FloatMatrix:
    """scales (n,) and numbers (n, d) → vectors (n, d) float32."""
    import numpy as np

    vectors: FloatMatrix = np.multiply(numbers, scales[:, None], dtype=np.float32)
    return vectors
