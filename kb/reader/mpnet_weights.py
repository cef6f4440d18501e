"""The weights of an English reader → an MPNet with a head that scores a pair, as a graph whose matrices are in 4 bits.

One file holds the whole model, matrices in blocks of 32 numbers with a scale each: 58 MB. The table of words, and that of places,
stay outside of the graph. The other file has two thin matrices beside each of the layers' and a head of its own (Hu et al.: LoRA,
ICLR 2022), in 4 bits too: 3 MB. `training/train_support.py` and `training/train_larger.py` write them.

source  Song et al.: MPNet, NeurIPS 2020; the weights that training began with are all-mpnet-base-v2 (Apache-2.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import Any

from kb.embed.bert import Bert, Graph, add_attention_bias, add_layer
from kb.reader.trained_weights import reader_model

MPNET_WEIGHTS = Path(__file__).parent / "claims_mpnet.npz"
# What is added to them, and put in the place of their head, to read questions.
QUESTIONS = Path(__file__).parent / "questions_mpnet.npz"
LAYERS, HEADS, WIDTH, EPSILON = 12, 12, 768, 1e-5
# Numbers that share a scale, the bits of one, and what is added to each so that it has no sign.
BLOCK, BITS, ZERO = 32, 4, 8
SCALE = ".scale"
# The table of words, that of places, and how much nearness counts for each head.
WORDS, PLACES, NEARNESS = "embeddings.word_embeddings", "embeddings.position_embeddings", "nearness"
NORM = "embeddings.LayerNorm"
# The file's names of the head: a dense layer over the first token, and the score.
POOL, SCORE = "pool", "score"
# What is added to a matrix, the product of two thin ones, behind its name.
DOWN, UP = "down", "up"
# Distances between tokens are counted one by one up to a quarter of BUCKETS on each side, then in steps that grow, to FARTHEST.
BUCKETS, FARTHEST = 32, 128
# Of the largest number of a block: scales that are tried for it, the best is kept.
_TRIED = tuple(top * kept for top in (-8.0, -7.0, 7.0, 8.0) for kept in (1.0, 1.06, 1.12, 1.2))


def to_blocks(values: Any) -> tuple[Any, Any]:
    """A matrix in 4 bits.

    values   (rows, width) float32, width a multiple of BLOCK
    returns  (rows, width / 2) uint8, the first of two numbers in the lower half, and (rows, width / BLOCK) float16 scales
    """
    import numpy as np

    rows, width = values.shape
    blocks = values.reshape(rows, width // BLOCK, BLOCK).astype(np.float32)
    place = np.abs(blocks).argmax(axis=2)
    largest = np.take_along_axis(blocks, place[:, :, None], axis=2)
    least = np.full(largest.shape, np.inf, dtype=np.float32)
    scales, whole = np.ones_like(largest), np.zeros(blocks.shape, dtype=np.int8)
    for top in _TRIED:
        scale = (largest / top).astype(np.float16).astype(np.float32)
        scale[scale == 0] = 1
        found = np.clip(np.round(blocks / scale), -ZERO, ZERO - 1)
        error = np.square(found * scale - blocks).sum(axis=2, keepdims=True)
        better = error < least
        least, scales = np.where(better, error, least), np.where(better, scale, scales)
        whole = np.where(better, found.astype(np.int8), whole)
    signless = (whole + ZERO).astype(np.uint8).reshape(rows, width)
    return signless[:, ::2] | signless[:, 1::2] << BITS, scales[:, :, 0].astype(np.float16)


def from_blocks(packed: Any, scales: Any) -> Any:
    """What `to_blocks` kept, float32; packed may have more axes before its last, as the scales then have."""
    import numpy as np

    numbers = np.stack([packed & 15, packed >> BITS], axis=-1).astype(np.float32) - ZERO
    blocks = numbers.reshape(*scales.shape, BLOCK) * scales.astype(np.float32)[..., None]
    return blocks.reshape(*packed.shape[:-1], -1)


def save_mpnet(weights: Mapping[str, Any], path: Path) -> None:
    """Write the file.

    weights  name → float32, by the names of `write_mpnet_graph`; matrices (outputs, inputs)
    """
    import numpy as np

    kept: dict[str, Any] = {}
    for name, value in sorted(weights.items()):
        if _is_in_blocks(name, value):
            kept[name], kept[name + SCALE] = to_blocks(value)
        else:
            kept[name] = value.astype(np.float16 if name == PLACES else np.float32)
    np.savez_compressed(path, **kept)


def _is_in_blocks(name: str, value: Any) -> bool:
    return value.ndim == 2 and name not in (PLACES, NEARNESS, f"{SCORE}.weight")


def load_mpnet(path: Path) -> dict[str, Any]:
    """The arrays of the file; raises what reading a damaged one raises."""
    import numpy as np

    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def nearness_buckets(length: int) -> Any:
    """(length, length) int64: the bucket, of BUCKETS, of how far the second token stands behind the first.

    source  Raffel et al.: T5, JMLR 2020, in both directions
    """
    import numpy as np

    ahead = np.arange(length)[None, :] - np.arange(length)[:, None]
    half, exact = BUCKETS // 2, BUCKETS // 4
    far = np.maximum(np.abs(ahead), 1)
    grown = exact + (np.log(far / exact) / log(FARTHEST / exact) * (half - exact)).astype(np.int64)
    return np.where(ahead > 0, half, 0) + np.where(far < exact, np.abs(ahead), np.minimum(grown, half - 1))


class BlockGraph(Graph):
    """A `Graph` whose products are of matrices in blocks."""

    def linear(self, name: str, value: str) -> str:
        """value · Wᵀ + b, and value · downᵀ · upᵀ where the weights have two thin matrices of this name."""
        product = self._product(f"{name}.weight", value)
        if f"{name}.{DOWN}" in self.bert.weights:
            product = self.add("Add", product, self._thin(f"{name}.{UP}", self._thin(f"{name}.{DOWN}", value)))
        return self.add("Add", product, self.weight(f"{name}.bias"))

    def _thin(self, name: str, value: str) -> str:
        """By a thin matrix, which in 32 bits takes less time than in blocks."""
        thin = from_blocks(self.bert.weights[name], self.bert.weights[name + SCALE])
        return self.add("MatMul", value, self.constant(thin.T, "float32"))

    def _product(self, name: str, value: str) -> str:
        packed, scales = self.bert.weights[name], self.bert.weights[name + SCALE]
        outputs, inputs = len(packed), packed.shape[1] * 2
        return self.add(
            "MatMulNBits",
            value,
            self.constant(packed.reshape(outputs, inputs // BLOCK, BLOCK // 2), "uint8"),
            self.constant(scales.reshape(-1), "float32"),
            domain="com.microsoft",
            K=inputs,
            N=outputs,
            bits=BITS,
            block_size=BLOCK,
            accuracy_level=4,  # what is multiplied is put into 8 bits, by blocks too
        )


def write_mpnet_graph(weights: Mapping[str, Any], most_tokens: int, path: Path) -> None:
    """Write the graph: words (batch, length, WIDTH) float32 and attention_mask (batch, length) int64 → score (batch, 1).

    weights  of `load_mpnet`, by the names of transformers' BertModel
    raises   KeyError, ValueError for weights of another architecture
    """
    from onnx import save_model

    graph = BlockGraph(Bert(weights, LAYERS, HEADS, WIDTH, EPSILON, "cls"))
    hidden = graph.normalized(NORM, "words")
    length = graph.add("Shape", "attention_mask", start=1)
    both, start = graph.add("Concat", length, length, axis=0), graph.ints(0, 0)
    buckets = graph.add("Slice", graph.constant(nearness_buckets(most_tokens), "int64"), start, both, graph.ints(0, 1))
    nearness = graph.add("Transpose", graph.add("Gather", graph.weight(NEARNESS), buckets), perm=[2, 0, 1])
    bias = graph.add("Add", add_attention_bias(graph), graph.add("Unsqueeze", nearness, graph.ints(0)))
    for layer in range(LAYERS):
        hidden = add_layer(graph, f"encoder.layer.{layer}", hidden, bias)
    first = graph.add("Gather", hidden, graph.constant(0, "int64"), axis=1)
    pooled = graph.add("Tanh", graph.linear(POOL, first))
    product = graph.add("MatMul", pooled, graph.constant(weights[f"{SCORE}.weight"].T, "float32"))
    graph.add("Add", product, graph.weight(f"{SCORE}.bias"), output="score")
    save_model(reader_model(graph), path)
