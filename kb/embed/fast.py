"""A query, or a few texts → unit vectors through onnxruntime, which the first search of a process waits for.

Imports numpy, onnxruntime, and tokenizers where the vocabulary is not a table of pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from kb.arrays import FloatMatrix
from kb.embed.batches import plan_batches, unit_rows
from kb.embed.bert import WORDS
from kb.embed.graphs import GRAPH, open_graph
from kb.embed.packed import REQUIREMENT, PackedWords, find_packed
from kb.embed.registry import are_many_expected
from kb.embed.tokens import load_tokenizer, replace_surrogates
from kb.embed.unigram import FILE as PIECES
from kb.embed.unigram import Unigram
from kb.frozen import dataclass

QUESTIONS_FOLDER = "questions"
# Most texts of a batch; plan_batches makes batches of long texts smaller.
TEXTS_PER_BATCH = 32
# Padding of a batch, in tokens, that costs as much as one batch more: 8 ms in which the weights come from memory, .3 ms a token
# (multilingual-e5-small). Thirty-two queries of 5 to 35 tokens then take six sevenths of the time.
MOST_PADDING = 24


@dataclass(frozen=True, slots=True)
class Export:
    """An exported model on disk.

    folder      holds model.onnx, weights.bin, and tokenizer.json or pieces.npy; QUESTIONS_FOLDER in it, where there is one, a
                graph in 8 bits for queries
    inputs      the graph's inputs, in order
    dimensions  length of a vector
    max_length  tokens it takes, special tokens counted
    pad_id      token that fills short rows
    left_pad    whether short rows are filled on the left
    parity      least cosine to sentence-transformers over the probe texts
    """

    folder: str
    inputs: tuple[str, ...]
    dimensions: int
    max_length: int
    pad_id: int
    left_pad: bool
    parity: float


def open_fast(export: Export, *, for_questions: bool = False) -> FastEncoder:
    """The encoder of an export: one for all threads of a process, for as long as one of them holds it.

    for_questions  the one for queries and sentences, where the export has one: its vectors have a cosine of .9998 to the others
    Raises the exceptions of onnxruntime for damaged files.
    """
    graph = QUESTIONS_FOLDER if for_questions and (Path(export.folder) / QUESTIONS_FOLDER).is_dir() else ""
    with _opening:
        found = _opened.get((export, graph))
        if found is None:
            found = _opened[export, graph] = FastEncoder(export, graph)
        return found


class FastEncoder:
    """An onnxruntime session over an exported model, with its tokenizer; several threads may encode at once."""

    def __init__(self, export: Export, graph: str = "") -> None:
        """Open the session: 20 ms. Raises the exceptions of onnxruntime for damaged files.

        graph  the folder inside the export's with the graph to take
        """
        self._export = export
        folder = Path(export.folder)
        self._token_ids = _open_tokenizer(folder, export.max_length)
        # For many texts optimized and packed for this CPU: 5.7 ms of processor time a query in batches of 32 instead of 6.9. The
        # first query of a command does not wait for that: a query takes twice as long, a batch 5 % longer.
        are_many = are_many_expected()
        self._words = PackedWords(_packed_file()) if WORDS in export.inputs else None
        self._session = open_graph(folder / graph / GRAPH, is_final=not are_many, is_prepacked=are_many)
        # A table of pieces remembers words; the session needs no lock.
        self._reading = Lock()

    def encode(self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None) -> FloatMatrix:
        """Vectors of texts, cut at the model's limit: (n, d) float32, unit rows, in the order given.

        A text without a token or without a finite vector gets a row of zeros, similar to nothing.
        on_batch  called after each batch with the number of texts done so far; an exception it raises ends the work
        """
        import numpy as np

        with self._reading:
            token_ids = self._token_ids([replace_surrogates(text) for text in texts])
        vectors = np.zeros((len(texts), self._export.dimensions), dtype=np.float32)
        done = 0
        for rows in plan_batches([len(ids) for ids in token_ids], TEXTS_PER_BATCH, most_padding=MOST_PADDING):
            if token_ids[rows[0]]:
                vectors[rows] = self._encode_batch([token_ids[row] for row in rows])
            done += len(rows)
            if on_batch:
                on_batch(done)
        return vectors

    def _encode_batch(self, token_ids: list[list[int]]) -> FloatMatrix:
        """token_ids  the longest first"""
        import numpy as np

        width = len(token_ids[0])
        ids = np.full((len(token_ids), width), self._export.pad_id, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, found in enumerate(token_ids):
            place = slice(width - len(found), width) if self._export.left_pad else slice(len(found))
            ids[row, place] = found
            mask[row, place] = 1
        features: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        if self._words:
            features[WORDS] = self._words.rows(ids)
        (vectors,) = self._session.run(None, {name: features[name] for name in self._export.inputs})
        return unit_rows(vectors)


_opened: WeakValueDictionary[tuple[Export, str], FastEncoder] = WeakValueDictionary()
_opening = Lock()


def _packed_file() -> Path:
    found = find_packed()
    if found is None:
        raise FileNotFoundError(f"{REQUIREMENT} is not installed any more")
    return found


def _open_tokenizer(folder: Path, max_length: int) -> Callable[[list[str]], list[list[int]]]:
    """Texts → their token ids, special tokens included, max_length at most."""
    if (folder / PIECES).is_file():
        pieces = Unigram(folder, max_length)
        return lambda texts: pieces.encode(texts, max_length)
    tokenizer = load_tokenizer(folder)
    tokenizer.enable_truncation(max_length)
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts)]
