"""Per-query parts of a metric → intervals and p-values by resampling the queries. Pure; seeded, so the same every time.

A metric is a ratio of sums over queries: Σ numerator / Σ denominator. For a mean every denominator is 1; for precision
and F1 of refusals it is not. A query is drawn with the values of both runs: queries differ more than runs do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# The usual 95 %.
LOW_PERCENT, HIGH_PERCENT = 2.5, 97.5
# Percentiles of 2,000 resamples differ by under 0.002 from those of 20,000 on 225 queries.
RESAMPLES = 2000
# Up to this many differing queries all 2^n swaps are tried; above, FLIPS random ones.
MOST_EXACT = 12
FLIPS = 10_000
# Sums in another order differ in the last bits; a swap that ties with the observed difference counts as reaching it.
ROUNDING = 1e-12
# 32 MB of float64 at a time.
CELLS_PER_BATCH = 4_000_000

# (numerator, denominator) of one query.
Part = tuple[float, float]


def ratio(parts: Sequence[Part]) -> float | None:
    """Σ numerator / Σ denominator; None when the denominators sum to 0.

    >>> ratio([(1.0, 1.0), (0.0, 1.0)]), ratio([])
    (0.5, None)
    """
    total = sum(denominator for _, denominator in parts)
    return sum(numerator for numerator, _ in parts) / total if total else None


def bootstrap_interval(parts: Sequence[Part], seed: int, resamples: int = RESAMPLES) -> tuple[float, float]:
    """Percentile 95 % interval of the ratio, resampling queries with replacement (Efron 1979).

    parts  at least one, with a denominator sum above 0
    """
    import numpy as np

    rows = np.asarray(parts, dtype=np.float64)
    sums = np.concatenate([_sums(rows, drawn) for drawn in _draws(len(rows), resamples, seed)])
    return _percentiles(_divide(sums))


def paired_bootstrap_interval(
    a: Sequence[Part], b: Sequence[Part], seed: int, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Percentile 95 % interval of ratio(b) − ratio(a), drawing each query with both its values."""
    import numpy as np

    rows_a, rows_b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    differences = [
        _divide(_sums(rows_b, drawn)) - _divide(_sums(rows_a, drawn)) for drawn in _draws(len(rows_a), resamples, seed)
    ]
    return _percentiles(np.concatenate(differences))


def permutation_p(a: Sequence[Part], b: Sequence[Part], seed: int) -> float:
    """Two-sided p of ratio(b) − ratio(a) under swapping A and B within queries (Fisher's randomisation test).

    Swapping a query that is the same in both changes nothing, so only the others are swapped: exact over all 2^m swaps
    for m ≤ MOST_EXACT of them, above that (reached + 1) / (FLIPS + 1) over random swaps, which is never 0.
    """
    import numpy as np

    rows_a, rows_b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    half = (rows_b - rows_a)[(rows_a != rows_b).any(axis=1)] / 2
    if not len(half):
        return 1.0
    middle = (rows_a + rows_b).sum(axis=0) / 2
    observed = abs(float(_swapped(middle, half.sum(axis=0, keepdims=True))[0]))
    exact = len(half) <= MOST_EXACT
    reached = tried = 0
    for signs in _all_signs(len(half)) if exact else _random_signs(len(half), seed):
        statistics = np.abs(_swapped(middle, signs @ half))
        reached += int((statistics >= observed - ROUNDING).sum())
        tried += len(statistics)
    return reached / tried if exact else (reached + 1) / (tried + 1)


def _swapped(middle: Floats, shift: Floats) -> Floats:
    """(n,) differences B − A where the sums of B are middle + shift and those of A middle − shift, each (n, 2)."""
    return _divide(middle + shift) - _divide(middle - shift)


def _all_signs(count: int) -> Iterator[Floats]:
    import numpy as np

    swaps = np.arange(2**count)[:, None] >> np.arange(count) & 1
    yield 1 - 2 * swaps.astype(np.float64)


def _random_signs(count: int, seed: int) -> Iterator[Floats]:
    import numpy as np

    random = np.random.default_rng(seed)
    for size in _batches(FLIPS, count):
        yield 1 - 2 * random.integers(0, 2, size=(size, count), dtype=np.int8).astype(np.float64)


def _draws(count: int, resamples: int, seed: int) -> Iterator[Any]:
    import numpy as np

    random = np.random.default_rng(seed)
    for size in _batches(resamples, count):
        yield random.integers(0, count, size=(size, count))


def _sums(rows: Floats, drawn: Any) -> Floats:
    """(n, 2) sums of the rows that each of n resamples drew, drawn (n, queries); by column, which is 5 times as fast."""
    import numpy as np

    return np.stack([column[drawn].sum(axis=1) for column in np.ascontiguousarray(rows.T)], axis=1)


def _batches(total: int, width: int) -> Iterator[int]:
    size = max(1, CELLS_PER_BATCH // width)
    for start in range(0, total, size):
        yield min(size, total - start)


def _divide(sums: Floats) -> Floats:
    """(n,) numerators / denominators of (n, 2) sums; a resample in which the metric is undefined counts as 0."""
    import numpy as np

    quotients: Floats = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] != 0)
    return quotients


def _percentiles(values: Floats) -> tuple[float, float]:
    import numpy as np

    low, high = np.percentile(values, (LOW_PERCENT, HIGH_PERCENT))
    return float(low), float(high)
