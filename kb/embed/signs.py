"""Products in 8 bits that a processor does not add up exactly, and a graph of the same weights that it does.

x86 processors without VNNI multiply numbers without a sign by numbers with one in pairs, whose sum has 16 bits: what is more is cut off.
By numbers without a sign they multiply exactly, and up to a quarter slower. Processors with VNNI do both exactly.
"""

from __future__ import annotations

from functools import cache
from typing import Any

# An onnx.ModelProto that multiplies `a` (uint8) by `b` (int8): making it would take onnx .2 s.
_PRODUCT = (
    b'\x08\x08\x12\x00:>\n\x18\n\x01a\n\x01b\x12\x01y"\rMatMulInteger\x12\x01gZ\t\n\x01a\x12\x04\n\x02\x08\x02'
    b"Z\t\n\x01b\x12\x04\n\x02\x08\x03b\t\n\x01y\x12\x04\n\x02\x08\x06B\x04\n\x00\x10\r"
)
# The largest numbers of either kind, and the zero of numbers without a sign.
LARGEST, LARGEST_SIGNED, ZERO = 255, 127, 128
_PRODUCTS = ("MatMulInteger",)


@cache
def are_sums_cut() -> bool:
    """Whether onnxruntime cuts sums of products with signs on this processor: 10 ms, once in a process."""
    import numpy as np
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(_PRODUCT, providers=["CPUExecutionProvider"])
    except Exception:  # onnxruntime has exceptions of its own; whoever opens a graph tells the user
        return False
    a, b = np.full((8, 64), LARGEST, dtype=np.uint8), np.full((64, 16), LARGEST_SIGNED, dtype=np.int8)
    (product,) = session.run(None, {"a": a, "b": b})
    return bool((product != 64 * LARGEST * LARGEST_SIGNED).any())


def take_signs(model: Any) -> None:
    """Put the same weights into a graph as numbers without a sign; the others stay.

    model  an onnx.ModelProto of `quantize_dynamic`, which is changed
    """
    import numpy as np
    from onnx import numpy_helper

    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    names = {name for node in model.graph.node if node.op_type in _PRODUCTS for name in (node.input[1], node.input[3])}
    for name in sorted(names):
        values = numpy_helper.to_array(stored[name])
        if values.dtype == np.int8:
            signless = (values.astype(np.int16) + ZERO).astype(np.uint8)
            stored[name].CopyFrom(numpy_helper.from_array(signless, name))
