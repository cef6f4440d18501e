"""A query's vector and those of the best passages → every passage's cosine to the mixture: pseudo-relevance feedback. Pure.

Rocchio, The SMART Retrieval System, 1971, for dense vectors: what the first passages say in other words than the question
finds passages that the question alone does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kb.arrays import exact_cosines
from kb.frozen import dataclass
from kb.records import Ranking

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix, FloatVector


# A passage weighs by the square of what its score is above that of the first one left out: few that stand out weigh more than
# many that are alike.
STEEPNESS = 2
# Share of the mixture for each point of the first passage's match. Of a question that even the first matches by a fifth, what the
# passages say leads away; of one that it matches by half, it tells what else is meant.
TRUST = 0.8


def weigh(ranking: Ranking, most: int) -> dict[int, float]:
    """chunk_id → share of the mixture, of the first `most` passages; they add up to 1.

    ranking  (chunk_id, score), best first; one more than `most` is looked at: nothing is above the last of a shorter list
    returns  without passages that weigh nothing; empty where no score is above another

    >>> weigh([(7, 0.75), (8, 0.5), (9, 0.25)], 2)
    {7: 0.8, 8: 0.2}
    """
    looked_at = ranking[: most + 1]
    above = {chunk_id: (score - looked_at[-1][1]) ** STEEPNESS for chunk_id, score in looked_at}
    total = sum(above.values())
    return {chunk_id: value / total for chunk_id, value in above.items() if value > 0}


def share_for(match: float, most: float) -> float:
    """Share of the passages in the mixture, in [0, most].

    match  of the first passage: the sum of both parts, before it is divided by the ceiling
    """
    return min(most, TRUST * match)


def mix_in(query: FloatVector, best: Sequence[tuple[FloatVector, float]], weight: float) -> FloatVector:
    """(1 − weight) · query + weight · weighted mean of the best, scaled to unit length.

    query   (d,) float32, unit length; without any of the best it comes back
    best    vectors as the query's, with their weights, above 0
    weight  in [0, 1)
    """
    import numpy as np

    if not best:
        return query
    mean = np.average(np.stack([vector for vector, _ in best]), axis=0, weights=[share for _, share in best])
    moved = (1 - weight) * query + weight * mean
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
    return {} if vectors is None else dict(zip(rows.chunk_ids, exact_cosines(vectors, query).tolist(), strict=True))
