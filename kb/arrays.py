"""Names for the arrays that pass between parts, for type checkers only: numpy takes 70 ms to import.

Import this module under TYPE_CHECKING; at run time it is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatMatrix = NDArray[np.float32]
    FloatVector = NDArray[np.float32]
    IntVector = NDArray[np.int64]
