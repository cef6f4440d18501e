"""An index's statistics → what a score could reach, and what it comes to by chance: the two ends of the convex score. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.index.protocol import LexicalStatistics, VectorStatistics
from kb.index.repeats import weigh_repeats

if TYPE_CHECKING:
    from kb.arrays import FloatVector

# Below so many chunks their likeness is that of two or three documents.
FEWEST_CHUNKS = 20


def best_possible(statistics: LexicalStatistics, terms: Sequence[str]) -> tuple[float, float]:
    """The BM25 that no text could pass for these terms, and that no chunk could whose title and headings weigh more.

    Of each term its idf, as if it filled the field, times the field's weight; 0 without a term. The second is never less
    than the first. A term that no field holds counts in full: nothing here answers for it.

    statistics  of these terms
    terms       of the query, repeats included
    """
    best = {field: _best_in(statistics, field, terms) for field in statistics.weights}
    return best["text"], sum(statistics.weights[field] * value for field, value in best.items())


def _best_in(statistics: LexicalStatistics, field: str, terms: Sequence[str]) -> float:
    rows, holding = statistics.rows, statistics.holding[field]
    return statistics.most_per_idf * sum(
        repeats * math.log1p((rows - holding[term] + 0.5) / (holding[term] + 0.5))
        for term, repeats in weigh_repeats(terms).items()
    )


def background(statistics: VectorStatistics, query: FloatVector) -> float:
    """Mean cosine of a query to all chunks: what a passage reaches that has nothing to do with it; 0 for an empty index."""
    mean = mean_vector(statistics)
    return 0.0 if mean is None else float(query @ mean)


def mean_vector(statistics: VectorStatistics) -> FloatVector | None:
    """The mean of all vectors, (d,) float32; None for an empty index."""
    import numpy as np

    return np.asarray(statistics.mean, dtype=np.float32) if statistics.mean else None


def alikeness(statistics: VectorStatistics) -> float | None:
    """Mean cosine of different chunks to each other; None with fewer than FEWEST_CHUNKS, where it says nothing."""
    rows = statistics.rows
    if rows < FEWEST_CHUNKS or not statistics.mean:
        return None
    # The square of the mean's length counts each chunk beside itself, too.
    return (rows * sum(value * value for value in statistics.mean) - 1.0) / (rows - 1)
