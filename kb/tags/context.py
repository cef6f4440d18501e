"""Items → TF-IDF of tags, reduced by SVD, by scikit-learn; lookups → the cosine of each tag to all of them, by numpy alone.

The pseudo-document of a tag is made of the tag lists of all items that carry it, the tag included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kb.extras import require
from kb.frozen import dataclass
from kb.tags.arrays import Arrays
from kb.tags.words import fold

if TYPE_CHECKING:
    from kb.arrays import FloatVector

MAX_COMPONENTS = 300
# ARPACK is exact and takes seconds up to here; beyond, the randomized solver with a fixed seed finds fewer components.
MAX_EXACT_ROWS = 3_000
LARGE_COMPONENTS = 128
# Share of the largest singular value; dimensions with a smaller one hold rounding errors.
LEAST_SINGULAR_SHARE = 1e-6


@dataclass(frozen=True, slots=True)
class ContextSpace:
    """The reduced space.

    tags    the canonical tags that have a row, in row order
    arrays  context_rows (tags, d) unit length; context_terms (tags, d): idf times the direction of each tag as a term
    """

    tags: tuple[str, ...]
    arrays: Arrays


def train_context(items: Sequence[Sequence[str]]) -> ContextSpace | None:
    """The space of the tags in the items; None with fewer than three tags or no item of two."""
    import numpy as np

    tags = tuple(sorted({tag for item in items for tag in item}))
    if len(tags) < 3 or all(len(item) < 2 for item in items):
        return None
    require("training tags needs", "sklearn")
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    column = {tag: i for i, tag in enumerate(tags)}
    pairs = [(i, column[tag]) for i, item in enumerate(items) for tag in item]
    places = np.array(pairs, np.int64).T
    carried = csr_matrix((np.ones(len(pairs), np.float64), places), shape=(len(items), len(tags)))
    weigher = TfidfTransformer(norm="l2", smooth_idf=True)
    weighted = weigher.fit_transform(carried.T @ carried)
    exact = len(tags) <= MAX_EXACT_ROWS
    components = min(MAX_COMPONENTS if exact else LARGE_COMPONENTS, len(tags) - 1)
    # The start vector of ARPACK and the random projections come from the seed.
    solver = TruncatedSVD(components, algorithm="arpack" if exact else "randomized", random_state=0)
    # Items that all carry the same tags have no variance, and the share of it that scikit-learn works out is 0/0.
    with np.errstate(divide="ignore", invalid="ignore"):
        reduced = solver.fit_transform(weighted)
    kept = solver.singular_values_ > LEAST_SINGULAR_SHARE * solver.singular_values_[0]
    rows = reduced[:, kept]
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    terms = solver.components_[kept].T * weigher.idf_[:, None]
    return ContextSpace(
        tags,
        {
            "context_rows": np.ascontiguousarray(rows, np.float32),
            "context_terms": np.ascontiguousarray(terms, np.float32),
        },
    )


class Context:
    """A trained space, used without scikit-learn; the arrays may be memory-mapped."""

    def __init__(self, arrays: Arrays, tags: Sequence[str], keys: Sequence[str]) -> None:
        self._arrays = arrays
        self._row = {tag: row for row, tag in enumerate(tags)}
        self._term = {fold(key): row for row, key in enumerate(keys)}

    def knows(self, lookup: str) -> bool:
        """True when a lookup is a term of the TF-IDF vocabulary: a canonical tag of some item, never an alias."""
        return fold(lookup) in self._term

    def query(self, weights: Mapping[str, float]) -> FloatVector | None:
        """The unit vector of weighted lookups, each counting weight · idf; None when none of them is a term."""
        import numpy as np

        # In sorted order: a sum of floats must not depend on the order of the phrases.
        known = sorted((self._term[fold(lookup)], weight) for lookup, weight in weights.items() if self.knows(lookup))
        if not known:
            return None
        terms = self._arrays["context_terms"][[row for row, _ in known]]
        total = np.array([weight for _, weight in known]) @ terms
        length = float(np.linalg.norm(total))
        return None if length < 1e-12 else total / length

    def cosines(self, vector: FloatVector, tags: Iterable[str]) -> dict[str, float]:
        """The cosine of each tag that has a row to a vector of `query`; the others are left out."""
        listed = sorted({tag for tag in tags if tag in self._row}, key=self._row.__getitem__)
        if not listed:
            return {}
        cosines = self._arrays["context_rows"][[self._row[tag] for tag in listed]] @ vector
        return {tag: float(cosine) for tag, cosine in zip(listed, cosines, strict=True)}
