"""The types of the arrays, and of the models, that pass between modules. Importing numpy takes 70 ms, so at run time they are `Any`."""

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
