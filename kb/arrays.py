"""The types of the arrays, and of the models, that pass between modules, and their cosines, the same in every module.

Importing numpy takes 70 ms, so at run time the types are `Any`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatMatrix = NDArray[np.float32]
    FloatVector = NDArray[np.float32]
    DoubleVector = NDArray[np.float64]
    IntVector = NDArray[np.int64]
    ShortMatrix = NDArray[np.int16]
    ByteMatrix = NDArray[np.int8]
else:
    FloatMatrix = FloatVector = DoubleVector = IntVector = ShortMatrix = ByteMatrix = Any

# Texts → their vectors: (n, d) float32, rows of unit length.
Encode = Callable[[Sequence[str]], FloatMatrix]
# (a claim, the texts that it cites) of each → the probability in [0, 1] that they say it, None where that cannot be told.
ReadClaims = Callable[[Sequence[tuple[str, Sequence[str]]]], list[float | None]]


def exact_cosines(vectors: FloatMatrix, query: FloatVector) -> FloatVector:
    """Cosines of rows to a query, (n,) float32, the same for the same row wherever it stands.

    vectors  (n, d) float32, rows of unit length
    query    (d,) float32, of unit length

    The sums are of doubles, and no BLAS makes them: it adds the rows at the ends of a matrix in another order, so that a
    passage's score would change with what is found beside it.
    """
    import numpy as np

    cosines: FloatVector = np.einsum("nd,d->n", vectors.astype(np.float64), query.astype(np.float64)).astype(np.float32)
    return cosines
