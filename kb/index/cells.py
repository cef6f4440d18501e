"""Vectors → cells of near ones, so that a search looks into a few of them; and how many it takes. Trained with FAISS."""

from __future__ import annotations

import math
from typing import Any

from kb.arrays import FloatMatrix, IntVector
from kb.index.vector_files import Gathered

# The share of the exact ten nearest that a search is to find.
RECALL_WANTED = 0.995
RECALL_QUERIES = 128
NEAREST = 10
TRAINING_VECTORS_PER_CELL = 40
TRAINING_ROUNDS = 8


def count_cells(rows: int) -> int:
    """As many cells as there are rows in each: a query compares with about twice the root of all rows and a few cells."""
    return max(1, int(math.sqrt(rows)))


def train_cells(rows: Gathered) -> FloatMatrix:
    """The centres of cells, (k, d) of unit length, by k-means over a sample."""
    import faiss
    import numpy as np

    count = count_cells(len(rows))
    generator = np.random.default_rng(0)
    sample = np.sort(generator.permutation(len(rows))[: count * TRAINING_VECTORS_PER_CELL])
    vectors = rows.take(sample)
    means: Any = faiss.Kmeans(
        vectors.shape[1], count, niter=TRAINING_ROUNDS, seed=1, spherical=True, min_points_per_centroid=1
    )
    means.train(vectors)
    centres: FloatMatrix = means.centroids
    return centres


def assign_cells(rows: Gathered, centres: FloatMatrix) -> IntVector:
    """The nearest cell of each row, (n,)."""
    import numpy as np

    everything = np.arange(len(rows))
    found = [np.argmax(block @ centres.T, axis=1) for block in rows.blocks(everything)]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def count_probes(rows: Gathered, centres: FloatMatrix, cells: IntVector) -> tuple[int, float]:
    """The fewest cells to look into that find RECALL_WANTED of the nearest of a sample of rows, and what they find."""
    import numpy as np

    sample = np.random.default_rng(1).permutation(len(rows))[:RECALL_QUERIES]
    queries = rows.take(sample)
    best = np.full((len(sample), NEAREST + 1), -np.inf, np.float32)
    best_rows = np.zeros((len(sample), NEAREST + 1), np.int64)
    begin = 0
    for block in rows.blocks(np.arange(len(rows))):
        scores = np.concatenate([best, queries @ block.T], axis=1)
        numbers = np.concatenate(
            [best_rows, np.broadcast_to(np.arange(begin, begin + len(block)), (len(sample), len(block)))], axis=1
        )
        kept = np.argpartition(-scores, NEAREST, axis=1)[:, : NEAREST + 1]
        best, best_rows = np.take_along_axis(scores, kept, axis=1), np.take_along_axis(numbers, kept, axis=1)
        begin += len(block)
    # The place of the cell of each true neighbour, itself left out, among the cells by their nearness to the query.
    order = np.argsort(-(queries @ centres.T), axis=1)
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.broadcast_to(np.arange(len(centres)), order.shape), axis=1)
    needed = np.sort(np.take_along_axis(places, cells[best_rows], axis=1)[(best_rows != sample[:, None]) & (best > -1)])
    if not len(needed):
        return len(centres), 1.0
    probes = int(needed[min(len(needed) - 1, math.ceil(RECALL_WANTED * len(needed)))]) + 1
    return probes, float((needed < probes).mean())
