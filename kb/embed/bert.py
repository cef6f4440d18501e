"""A BERT encoder's weights → an ONNX graph from token ids to the pooled vector, without torch.

source  Devlin et al.: BERT, NAACL 2019; the layout of the weights is that of transformers' BertModel
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb.frozen import dataclass

OPSET = 17  # the first with LayerNormalization
POOLINGS = ("mean", "cls")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
WORDS = "words"
WORDS_TABLE = "embeddings.word_embeddings.weight"


@dataclass(frozen=True, slots=True)
class BlockTable:
    """A matrix whose numbers share a scale by blocks of a row.

    values  (rows, width) int8
    scales  (rows, blocks) float32; a block is width / blocks numbers
    """

    values: Any
    scales: Any

    def to_floats(self) -> Any:
        """(rows, width) float32"""
        rows, width = self.values.shape
        blocks = self.values.reshape(rows, self.scales.shape[1], -1)
        return (blocks * self.scales[:, :, None]).reshape(rows, width)


@dataclass(frozen=True, slots=True)
class Bert:
    """A BERT's weights and numbers.

    weights  by the names of transformers' BertModel, float32; the table of words may be a BlockTable, which stays outside of
             the graph
    epsilon  of the layer norms
    pooling  one of POOLINGS
    """

    weights: Mapping[str, Any]
    layers: int
    heads: int
    width: int
    epsilon: float
    pooling: str


def write_bert(bert: Bert, path: Path) -> tuple[str, ...]:
    """Write the graph of a model.

    returns  the names of its inputs, in order; each is (batch, length) int64, but for WORDS, which takes the place of the ids
             where the table of words is a BlockTable: its rows, (batch, length, width) float32. The output is "vector",
             (batch, d) float32
    raises   KeyError, ValueError for weights of another architecture
    """
    return build_bert(Graph(bert), path)


def build_bert(graph: Graph, path: Path, also: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Write the nodes of a whole BERT into a graph, and the graph into a file.

    also     name → value that is put out too, under the value's name
    returns  the names of its inputs, in order
    """
    from onnx import TensorProto, helper, save_model

    bert = graph.bert
    words = WORDS if isinstance(bert.weights[WORDS_TABLE], BlockTable) else INPUTS[0]
    hidden = _embeddings(graph)
    bias = add_attention_bias(graph)
    for layer in range(bert.layers):
        hidden = add_layer(graph, f"encoder.layer.{layer}", hidden, bias)
    _pool(graph, bert.pooling, hidden)
    shapes: dict[str, tuple[int, list[str | int]]] = {
        words: (TensorProto.FLOAT, ["batch", "length", bert.width])
        if words == WORDS
        else (TensorProto.INT64, ["batch", "length"]),
        **{name: (TensorProto.INT64, ["batch", "length"]) for name in INPUTS[1:]},
    }
    outputs = [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", bert.width])]
    outputs += [helper.make_tensor_value_info(value, TensorProto.FLOAT, None) for value in (also or {}).values()]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in shapes.items()],
            outputs,
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=9,
    )
    # Not given to onnx's checker, which writes the whole model into memory once more: its vectors are compared.
    save_model(model, path)
    return tuple(shapes)


class Graph:
    """Nodes and constants in the order of their addition; each value has a unique name."""

    def __init__(self, bert: Bert) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.bert = bert

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: Any, kind: str) -> str:
        import numpy as np
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype=kind, order="C"), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(self.bert.weights[name], "float32")

    def linear(self, name: str, value: str) -> str:
        """value · Wᵀ + b"""
        product = self.add("MatMul", value, self.constant(self.bert.weights[f"{name}.weight"].T, "float32"))
        return self.add("Add", product, self.weight(f"{name}.bias"))

    def normalized(self, name: str, value: str) -> str:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", value, weight, bias, axis=-1, epsilon=self.bert.epsilon)

    def ints(self, *values: int) -> str:
        return self.constant(values, "int64")

    def scalar(self, value: float) -> str:
        return self.constant(value, "float32")


def _embeddings(graph: Graph) -> str:
    is_outside = isinstance(graph.bert.weights[WORDS_TABLE], BlockTable)
    words = WORDS if is_outside else graph.add("Gather", graph.weight(WORDS_TABLE), "input_ids")
    kinds = graph.add("Gather", graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
    length = graph.add("Shape", "attention_mask", start=1)
    table = graph.weight("embeddings.position_embeddings.weight")
    places = graph.add("Slice", table, graph.ints(0), length, graph.ints(0))
    total = graph.add("Add", graph.add("Add", words, kinds), places)
    return graph.normalized("embeddings.LayerNorm", total)


def add_attention_bias(graph: Graph) -> str:
    """(batch, 1, 1, length): 0 for a token, a number below every score for padding."""
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", graph.ints(1, 2)), to=1)
    return graph.add("Mul", graph.add("Sub", graph.scalar(1), mask), graph.scalar(-1e9))


def add_layer(graph: Graph, name: str, hidden: str, bias: str) -> str:
    heads, width = graph.bert.heads, graph.bert.width

    def by_head(part: str, order: list[int]) -> str:
        value = graph.linear(f"{name}.attention.self.{part}", hidden)
        return graph.add("Transpose", graph.add("Reshape", value, graph.ints(0, 0, heads, width // heads)), perm=order)

    products = graph.add("MatMul", by_head("query", [0, 2, 1, 3]), by_head("key", [0, 2, 3, 1]))
    scores = graph.add("Add", graph.add("Div", products, graph.scalar(math.sqrt(width // heads))), bias)
    read = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), by_head("value", [0, 2, 1, 3]))
    joined = graph.add("Reshape", graph.add("Transpose", read, perm=[0, 2, 1, 3]), graph.ints(0, 0, width))
    attended = graph.add("Add", graph.linear(f"{name}.attention.output.dense", joined), hidden)
    attended = graph.normalized(f"{name}.attention.output.LayerNorm", attended)
    inner = _gelu(graph, graph.linear(f"{name}.intermediate.dense", attended))
    outer = graph.add("Add", graph.linear(f"{name}.output.dense", inner), attended)
    return graph.normalized(f"{name}.output.LayerNorm", outer)


def _gelu(graph: Graph, value: str) -> str:
    """x · (1 + erf(x / √2)) / 2"""
    error = graph.add("Erf", graph.add("Div", value, graph.scalar(math.sqrt(2))))
    return graph.add("Mul", graph.add("Mul", value, graph.add("Add", error, graph.scalar(1))), graph.scalar(0.5))


def _pool(graph: Graph, pooling: str, hidden: str) -> None:
    if pooling == "cls":
        graph.add("Gather", hidden, graph.constant(0, "int64"), axis=1, output="vector")
        return
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", graph.ints(2)), to=1)
    total = graph.add("ReduceSum", graph.add("Mul", hidden, mask), graph.ints(1), keepdims=0)
    count = graph.add("Max", graph.add("ReduceSum", mask, graph.ints(1), keepdims=0), graph.scalar(1e-9))
    graph.add("Div", total, count, output="vector")
