"""An 8-bit graph with other weights in its place: what was put in comes out again, and nothing else has changed."""

from pathlib import Path

import numpy as np
import pytest

from kb.embed.graphs import GRAPH
from kb.reader.packaged import packaged_folder
from kb.reader.retrained import PREFIX, matrices_of, write_retrained

onnx = pytest.importorskip("onnx")
BIAS, MATRIX = "encoder.layer.11.output.dense.bias", "encoder.layer.11.output.dense.weight"


def values_of(path: Path) -> dict[str, np.ndarray]:
    return {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load_model(path).graph.initializer}


@pytest.fixture(scope="module")
def packaged() -> Path:
    folder = packaged_folder()
    assert folder is not None
    return folder / GRAPH


def test_weights_are_put_in_their_place(packaged: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    before = values_of(packaged)
    name = matrices_of(onnx.load_model(packaged))[MATRIX]
    inputs, outputs = before[f"{name}_quantized"].shape
    # Rows of quite other sizes: each has a scale of its own.
    matrix = (rng.normal(size=(outputs, inputs)) * np.logspace(-3, 2, outputs)[:, None]).astype(np.float32)
    bias = rng.normal(size=outputs).astype(np.float32)
    write_retrained(packaged, {MATRIX: matrix, BIAS: bias}, tmp_path / GRAPH)
    after = values_of(tmp_path / GRAPH)
    assert np.array_equal(after[PREFIX + BIAS], bias)
    parts = (after[name + end] for end in ("_quantized", "_zero_point", "_scale"))
    whole, zero, scale = (part.astype(np.float32) for part in parts)
    error = np.abs(((whole - zero) * scale).T - matrix).max(axis=1)
    assert (error <= np.abs(matrix).max(axis=1) / 127 * 0.51).all()
    changed = {key for key in before if not np.array_equal(before[key], after[key])}
    assert changed == {PREFIX + BIAS, *(name + end for end in ("_quantized", "_zero_point", "_scale"))}


def test_a_weight_that_the_graph_does_not_have(packaged: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        write_retrained(packaged, {"encoder.layer.12.output.dense.bias": np.ones(384)}, tmp_path / GRAPH)
    assert not (tmp_path / GRAPH).exists()
