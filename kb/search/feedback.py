"""A query's vector and those of the best passages → every passage's cosine to the mixture: pseudo-relevance feedback. Pure.

Rocchio, The SMART Retrieval System, 1971, for dense vectors: what the first passages say in other words than the question
finds passages that the question alone does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kb.frozen import dataclass

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix, FloatVector


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


@dataclass(frozen=True, slots=True, eq=False)
class Stacked:
    """Vectors as rows, (n, d) float32, of these chunks; None without any."""

    chunk_ids: tuple[int, ...]
    vectors: FloatMatrix | None


def stacked(vectors: Mapping[int, FloatVector]) -> Stacked:
    """Vectors by chunk_id as rows."""
    if not vectors:
        return Stacked((), None)
    import numpy as np

    return Stacked(tuple(vectors), np.stack(list(vectors.values())))


def cosines_to(query: FloatVector, rows: Stacked) -> dict[int, float]:
    """chunk_id → cosine; all of unit length."""
    vectors = rows.vectors
    return {} if vectors is None else dict(zip(rows.chunk_ids, (vectors @ query).tolist(), strict=True))
