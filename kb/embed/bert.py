"""A BERT encoder's folder → an ONNX graph from token ids to the pooled vector, without torch.

source  Devlin et al.: BERT, NAACL 2019; the layout of the weights is that of transformers' BertModel
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb.embed.model_files import ModelFiles, module_kinds, read_json

OPSET = 17  # the first with LayerNormalization
# The modules of sentence-transformers that this graph replaces; its reader scales the vectors to length 1.
KINDS = ("Transformer", "Pooling", "Normalize")
POOLINGS = ("mean", "cls")


def can_write_bert(files: ModelFiles) -> bool:
    """Whether a model is a BERT with float32 safetensors, GELU, absolute positions, and mean or cls pooling only."""
    folder = Path(files.folder)
    config = read_json(folder / "config.json")
    weights = folder / "model.safetensors"
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and files.pooling in POOLINGS
        and set(module_kinds(folder)) <= set(KINDS)
        and not read_json(folder / "sentence_bert_config.json").get("do_lower_case")
        and weights.is_file()
        and _is_float32(weights)
    )


def write_bert(files: ModelFiles, path: Path) -> tuple[str, ...]:
    """Write the graph of a model for which `can_write_bert` is true.

    returns  the names of its inputs, in order; each is (batch, length) int64. Its output is "vector", (batch, d) float32
    raises   KeyError, ValueError for weights of another architecture
    """
    from onnx import TensorProto, checker, helper, save_model
    from safetensors.numpy import load_file

    config = read_json(Path(files.folder) / "config.json")
    tensors = load_file(Path(files.folder) / "model.safetensors")
    graph = _Graph({name.removeprefix("bert."): tensor for name, tensor in tensors.items()})
    hidden = _embeddings(graph, config)
    bias = _attention_bias(graph)
    for layer in range(int(config["num_hidden_layers"])):
        hidden = _layer(graph, config, f"encoder.layer.{layer}", hidden, bias)
    _pool(graph, files.pooling, hidden)
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", files.dimensions])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )
    checker.check_model(model)
    save_model(model, path)
    return inputs


class _Graph:
    """Nodes and constants in the order of their addition; each value has a unique name."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._weights = weights

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
        return self.constant(self._weights[name], "float32")

    def linear(self, name: str, value: str) -> str:
        """value · Wᵀ + b"""
        product = self.add("MatMul", value, self.constant(self._weights[f"{name}.weight"].T, "float32"))
        return self.add("Add", product, self.weight(f"{name}.bias"))

    def normalized(self, name: str, value: str, config: Mapping[str, Any]) -> str:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", value, weight, bias, axis=-1, epsilon=float(config["layer_norm_eps"]))

    def ints(self, *values: int) -> str:
        return self.constant(values, "int64")

    def scalar(self, value: float) -> str:
        return self.constant(value, "float32")


def _embeddings(graph: _Graph, config: Mapping[str, Any]) -> str:
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    kinds = graph.add("Gather", graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
    length = graph.add("Shape", "input_ids", start=1)
    table = graph.weight("embeddings.position_embeddings.weight")
    places = graph.add("Slice", table, graph.ints(0), length, graph.ints(0))
    total = graph.add("Add", graph.add("Add", words, kinds), places)
    return graph.normalized("embeddings.LayerNorm", total, config)


def _attention_bias(graph: _Graph) -> str:
    """(batch, 1, 1, length): 0 for a token, a number below every score for padding."""
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", graph.ints(1, 2)), to=1)
    return graph.add("Mul", graph.add("Sub", graph.scalar(1), mask), graph.scalar(-1e9))


def _layer(graph: _Graph, config: Mapping[str, Any], name: str, hidden: str, bias: str) -> str:
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])

    def by_head(part: str, order: list[int]) -> str:
        value = graph.linear(f"{name}.attention.self.{part}", hidden)
        return graph.add("Transpose", graph.add("Reshape", value, graph.ints(0, 0, heads, width // heads)), perm=order)

    products = graph.add("MatMul", by_head("query", [0, 2, 1, 3]), by_head("key", [0, 2, 3, 1]))
    scores = graph.add("Add", graph.add("Div", products, graph.scalar(math.sqrt(width // heads))), bias)
    read = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), by_head("value", [0, 2, 1, 3]))
    joined = graph.add("Reshape", graph.add("Transpose", read, perm=[0, 2, 1, 3]), graph.ints(0, 0, width))
    attended = graph.add("Add", graph.linear(f"{name}.attention.output.dense", joined), hidden)
    attended = graph.normalized(f"{name}.attention.output.LayerNorm", attended, config)
    inner = _gelu(graph, graph.linear(f"{name}.intermediate.dense", attended))
    outer = graph.add("Add", graph.linear(f"{name}.output.dense", inner), attended)
    return graph.normalized(f"{name}.output.LayerNorm", outer, config)


def _gelu(graph: _Graph, value: str) -> str:
    """x · (1 + erf(x / √2)) / 2"""
    error = graph.add("Erf", graph.add("Div", value, graph.scalar(math.sqrt(2))))
    return graph.add("Mul", graph.add("Mul", value, graph.add("Add", error, graph.scalar(1))), graph.scalar(0.5))


def _pool(graph: _Graph, pooling: str, hidden: str) -> None:
    if pooling == "cls":
        graph.add("Gather", hidden, graph.constant(0, "int64"), axis=1, output="vector")
        return
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", graph.ints(2)), to=1)
    total = graph.add("ReduceSum", graph.add("Mul", hidden, mask), graph.ints(1), keepdims=0)
    count = graph.add("Max", graph.add("ReduceSum", mask, graph.ints(1), keepdims=0), graph.scalar(1e-9))
    graph.add("Div", total, count, output="vector")


def _is_float32(weights: Path) -> bool:
    """By the header of the file: 8 bytes with its length, then JSON."""
    with weights.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    kinds = {about["dtype"] for name, about in header.items() if name.endswith((".weight", ".bias"))}
    return kinds == {"F32"}
