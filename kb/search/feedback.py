"""A query's vector and those of the best passages → every passage's cosine to the mixture: pseudo-relevance feedback. Pure.

Rocchio, The SMART Retrieval System, 1971, for dense vectors: what the first passages say in other words than the question
finds passages that the question alone does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.arrays import FloatVector


def mix_in(query: FloatVector, nearest: Sequence[FloatVector], weight: float) -> FloatVector:
    """(1 − weight) · query + weight · mean of the nearest, scaled to unit length.

    query, nearest  (d,) float32, unit length; without any nearest the query comes back
    weight          in [0, 1)
    """
    import numpy as np

    if not nearest:
        return query
    moved = (1 - weight) * query + weight * np.mean(np.stack(nearest), axis=0)
    unit: FloatVector = (moved / max(float(np.linalg.norm(moved)), 1e-12)).astype(np.float32)
    return unit


def cosines_to(query: FloatVector, vectors: Mapping[int, FloatVector]) -> dict[int, float]:
    """chunk_id → cosine; all of unit length."""
    import numpy as np

    if not vectors:
        return {}
    cosines = np.stack(list(vectors.values())) @ query
    return dict(zip(vectors, cosines.tolist(), strict=True))
