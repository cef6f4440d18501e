"""Products in 8 bits are exact on the processor at hand, whichever it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kb.embed.signs import are_sums_cut, take_signs

RANDOM = np.random.default_rng(5)


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A product by weights of which one column is at its upper bound, as `quantize_dynamic` writes it."""
    from onnx import TensorProto, helper, numpy_helper, save_model
    from onnxruntime.quantization import QuantType, quantize_dynamic

    weights = RANDOM.normal(size=(64, 16)).astype(np.float32)
    weights[:, 0] = 1.0
    weights[0] = 0.0
    folder = tmp_path_factory.mktemp("graph")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["y"], name="product")],
        "graph",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 16])],
        [numpy_helper.from_array(weights, "b")],
    )
    whole, found = folder / "whole.onnx", folder / "quantized.onnx"
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), whole)
    quantize_dynamic(whole, found, per_channel=True, weight_type=QuantType.QInt8)
    return found


def multiplied(model: object, inputs: np.ndarray) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])  # type: ignore[attr-defined]
    found: np.ndarray = session.run(None, {"a": inputs})[0]
    return found


def test_without_signs_a_product_is_the_same_and_never_cut(quantized: Path) -> None:
    from onnx import load_model

    signed, signless = load_model(quantized), load_model(quantized)
    take_signs(signless)
    assert {t.name for t in signless.graph.initializer} == {t.name for t in signed.graph.initializer}
    small = RANDOM.random(size=(3, 64), dtype=np.float32) * np.float32(0.4)
    small[:, 0] = 1.0  # sets the step; what the others add up to in pairs stays below 16 bits
    assert np.allclose(multiplied(signed, small), multiplied(signless, small), atol=1e-5)
    ones = np.ones((3, 64), dtype=np.float32)
    assert np.allclose(multiplied(signless, ones)[:, 0], 63, rtol=1e-3)


def test_whether_sums_are_cut_is_what_the_processor_does(quantized: Path) -> None:
    from onnx import load_model

    of_ones = multiplied(load_model(quantized), np.ones((3, 64), dtype=np.float32))[:, 0]
    assert np.allclose(of_ones, 63, rtol=1e-3) != are_sums_cut()


def test_signs_are_taken_once(quantized: Path) -> None:
    from onnx import load_model, numpy_helper

    model = load_model(quantized)
    take_signs(model)
    before = model.SerializeToString()
    take_signs(model)
    assert model.SerializeToString() == before
    kinds = {numpy_helper.to_array(tensor).dtype.name for tensor in model.graph.initializer}
    assert "int8" not in kinds
