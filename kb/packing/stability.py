"""Axes of a passage → its context stability weighted score (CSW). Pure: numbers in, numbers out.

    csw = max(0, .35·vector + .25·stability + .20·fit + .10·drift + .10·coherence)

The four positive axes are in [0, 1] and weigh .90 together; drift is a penalty, never above 0. So csw lies in [0, .90],
and every threshold is on that scale. Neighbours are those in the chunk's own document, not in a ranking: the order
of a result list changes neither stability nor drift.

CSW is the score that context stability weighted retrieval ranks by; the names of its axes are kept. The vector score is a
function of the Euclidean distance, not of its square. Low stability counts twice: in its own axis and in the drift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.arrays import DoubleVector, IntVector
from kb.frozen import dataclass

# Taken off the first and the last chunk of a document: on one side nothing is known of the topic.
BOUNDARY_PENALTY = 0.15
# Stability where there is nothing to compare with: a document of one chunk, neighbours without a vector.
UNKNOWN_STABILITY = 0.5
# Mean cosine to the neighbours below which a chunk drifts, and how much more one that is unlike both.
DRIFT_BELOW = 0.5
ISOLATED_FACTOR = 1.5
# Share of a chunk's shortfall below its domain's threshold that is added to its drift.
SHORTFALL_SHARE = 0.5
# Fewer chunks have no drift: of two, each would be judged by the other alone.
DRIFT_CHUNKS = 3


@dataclass(frozen=True, slots=True)
class Weights:
    """What each axis counts, summing to 1."""

    vector: float = 0.35
    stability: float = 0.25
    fit: float = 0.20
    drift: float = 0.10
    coherence: float = 0.10


@dataclass(frozen=True, slots=True)
class Beside:
    """The cosines of chunks to their neighbours in their own documents; all arrays (n,), one row a chunk.

    before, after  cosine to the chunk before and after; NaN where there is none or one of both has no vector
    position       0-based, in the document
    chunk_count    chunks of the document; 0 where the document is unknown
    """

    before: DoubleVector
    after: DoubleVector
    position: IntVector
    chunk_count: IntVector


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of n passages, each (n,) or None where it is absent; vector, stability, fit and coherence in [0, 1].

    drift  0 or less, down to -1 - threshold / 2
    """

    vector: DoubleVector | None
    stability: DoubleVector | None
    fit: DoubleVector
    drift: DoubleVector | None
    coherence: DoubleVector | None


def vector_scores(cosines: DoubleVector) -> DoubleVector:
    """1 / (1 + distance) of unit vectors with these cosines to the query: in [1/3, 1].

    A vector of zeros has cosine 0, distance √2.
    """
    import numpy as np

    return 1.0 / (1.0 + np.sqrt(np.clip(2.0 - 2.0 * cosines, 0.0, 4.0)))


def mean_beside(beside: Beside) -> tuple[DoubleVector, IntVector]:
    """Mean cosine to the neighbours that are known (NaN where none is), and how many are."""
    import numpy as np

    both = np.stack([beside.before, beside.after])
    known = ~np.isnan(both)
    count = known.sum(axis=0)
    total = np.where(known, both, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), count


def local_stability(beside: Beside) -> DoubleVector:
    """Mean cosine to the chunks beside it, less the boundary penalty at both ends of a document; (n,) in [0, 1].

    0.5 in a document of one chunk, and where no neighbour has a vector.
    """
    import numpy as np

    mean, count = mean_beside(beside)
    is_boundary = (beside.position == 0) | (beside.position == beside.chunk_count - 1)
    known = np.clip(np.nan_to_num(mean) - np.where(is_boundary, BOUNDARY_PENALTY, 0.0), 0.0, 1.0)
    return np.where((beside.chunk_count < 2) | (count == 0), UNKNOWN_STABILITY, known)


def raw_drift(beside: Beside) -> DoubleVector:
    """How far a chunk differs from its neighbours: (n,) in [-1, 0], 0 in documents of fewer than three chunks."""
    import numpy as np

    mean, count = mean_beside(beside)
    short = np.where(np.isnan(mean), 0.0, np.maximum(0.0, (DRIFT_BELOW - mean) / DRIFT_BELOW))
    with np.errstate(invalid="ignore"):
        is_isolated = (count == 2) & (beside.before < DRIFT_BELOW) & (beside.after < DRIFT_BELOW)
    drift = np.maximum(-1.0, -short * np.where(is_isolated, ISOLATED_FACTOR, 1.0))
    return np.where(beside.chunk_count < DRIFT_CHUNKS, 0.0, drift)


def drift_penalty(drift: DoubleVector, stability: DoubleVector, threshold: float) -> DoubleVector:
    """The raw drift, minus half of the stability's shortfall below its domain's threshold; not clamped again.

    threshold  in [0, 1]
    returns    (n,) in [-1 - threshold / 2, 0]
    """
    import numpy as np

    return drift - SHORTFALL_SHARE * np.maximum(0.0, threshold - stability)


def project_coherence(cosines: DoubleVector, project_count: int) -> DoubleVector:
    """The cosine of each chunk to the centroid of the rest of its project, at least 0; 1.0 where there is one project.

    cosines  (n,), NaN where the chunk is its project's only one
    """
    import numpy as np

    if project_count < 2:
        return np.ones_like(cosines)
    return np.clip(np.nan_to_num(cosines), 0.0, 1.0)


def combine_axes(axes: Axes, weights: Weights) -> DoubleVector:
    """The weighted sum, none below 0; (n,) in [0, .90] with the default weights.

    The weight of missing positive axes is shared out among the others, so that thresholds keep their scale; a missing drift
    subtracts nothing. Where no weight is left, all scores are 0.
    """
    import numpy as np

    pairs = (
        (axes.vector, weights.vector),
        (axes.stability, weights.stability),
        (axes.fit, weights.fit),
        (axes.coherence, weights.coherence),
    )
    present = sum(weight for axis, weight in pairs if axis is not None)
    if present <= 0:
        return np.zeros_like(axes.fit)
    scale = sum(weight for _, weight in pairs) / present
    total = sum((weight * axis for axis, weight in pairs if axis is not None), np.zeros_like(axes.fit)) * scale
    if axes.drift is not None:
        total = total + weights.drift * axes.drift
    return np.maximum(0.0, total)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """How the stability of past episodes is spread in one domain.

    threshold  the new threshold: q25, or the present one where there were too few samples
    """

    samples: int
    q25: float | None
    q50: float | None
    q75: float | None
    threshold: float


def stability_quantiles(samples: Sequence[float], present: float, least: int = 10) -> Quantiles:
    """Quartiles of one domain's stabilities, linearly interpolated; with fewer than `least` the present threshold stays."""
    import numpy as np

    if len(samples) < least:
        return Quantiles(len(samples), None, None, None, present)
    q25, q50, q75 = (float(q) for q in np.percentile(np.asarray(samples, dtype=np.float64), [25, 50, 75]))
    return Quantiles(len(samples), q25, q50, q75, q25)


def neighbour_share(own: object, nearest: Sequence[object]) -> float:
    """Coherence by neighbours: the share of the nearest chunks, itself left out, that belong to its own project.

    nearest  their projects; an empty sequence gives 1.0
    """
    return sum(project == own for project in nearest) / len(nearest) if nearest else 1.0


def thresholds_in_force(configured: Mapping[str, float], recalibrated: Mapping[str, float]) -> dict[str, float]:
    """Each domain's threshold: the recalibrated one where it exists, else the configured one."""
    return {domain: recalibrated.get(domain, value) for domain, value in configured.items()}
