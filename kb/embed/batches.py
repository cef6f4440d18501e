"""Many texts → unit vectors through sentence-transformers: the reference, and the fast way for large batches.

Importing torch and sentence-transformers takes 4-5 s, so that happens on first use.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.arrays import FloatMatrix
from kb.embed.model_files import ModelFiles, work_offline
from kb.embed.tokens import replace_surrogates
from kb.errors import ModelError
from kb.extras import is_installed, require

if TYPE_CHECKING:
    from concurrent.futures import Future

# Padded tokens that go through the model together. CPU time per text, MiniLM in bf16 on one thread, 40 to 250 tokens:
# 820 tokens 35.9 ms, 1640 36.2, 3300 37.4, 6600 39.9 (the activations leave the caches); model.encode in batches of 32
# 44.6. Small batches also spread evenly over the cores.
TOKENS_PER_BATCH = 1024
TEXTS_PER_BATCH = 32
LIBRARIES = ("torch", "sentence_transformers")
# 48 threads were seen to corrupt the heap, and more than these gain nothing for small models.
MOST_THREADS = 16
# So many texts are sorted by length together, so that progress is steady and memory bounded.
TEXTS_PER_WINDOW = 2048


class BatchEncoder:
    """One sentence-transformers model on the CPU, loaded on first use."""

    def __init__(
        self,
        files: ModelFiles,
        batch_size: int = TEXTS_PER_BATCH,
        *,
        bf16: bool | None = None,
        load: Callable[[ModelFiles], Any] | None = None,
    ) -> None:
        """
        batch_size  texts per batch at most; TOKENS_PER_BATCH makes batches of long texts smaller
        bf16        None: on if the CPU multiplies bf16 in hardware
        load        None: load_sentence_transformer
        """
        self._load = load or load_sentence_transformer
        self._files = files
        self._batch_size = batch_size
        self._bf16 = has_bf16() if bf16 is None else bf16
        self._model: Any = None

    @property
    def is_loaded(self) -> bool:
        """Whether torch and the weights are in memory already."""
        return self._model is not None

    def load(self) -> Any:
        """The SentenceTransformer itself, float32, in evaluation mode. Raises ModelError."""
        if self._model is None:
            self._model = self._load(self._files)
        return self._model

    def encode(self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None) -> FloatMatrix:
        """Vectors of texts, cut at the model's limit: (n, d) float32, unit rows, in the order given.

        A text without a token or without a finite vector gets a row of zeros, similar to nothing.
        on_batch  called after each batch with the number of texts done so far; an exception it raises ends the work
        """
        import numpy as np

        model = self.load()
        vectors = np.zeros((len(texts), self._files.dimensions), dtype=np.float32)
        clean = [replace_surrogates(text) for text in texts]
        done = 0
        for start in range(0, len(clean), TEXTS_PER_WINDOW):
            window = clean[start : start + TEXTS_PER_WINDOW]
            for rows, found in self._run_batches(model, window):
                vectors[[start + row for row in rows]] = found
                done += len(rows)
                if on_batch:
                    on_batch(done)
        return vectors

    def _run_batches(self, model: Any, texts: list[str]) -> Iterator[tuple[list[int], FloatMatrix | float]]:
        """(rows, their vectors) per batch; each core works on a batch of its own.

        Threads that share a batch wait for the slowest after every operation: 12 texts a second on 2 cores at load 7,
        against 33 with a batch per core. On a quiet machine the difference is small.
        """
        from concurrent.futures import ThreadPoolExecutor  # 10 ms that a query does without

        import torch

        lengths = self._token_lengths(model, texts)
        threads = count_threads()
        room = max(1, min(TOKENS_PER_BATCH, sum(lengths) // threads))
        batches = list(plan_batches(lengths, self._batch_size, room))
        torch.set_num_threads(1 if len(batches) > 1 else threads)
        waiting: deque[tuple[list[int], Future[FloatMatrix]]] = deque()
        with ThreadPoolExecutor(threads, thread_name_prefix="kb-encoder") as pool:
            for rows in batches:
                if not lengths[rows[0]]:
                    yield rows, 0.0
                    continue
                # Tokenized in this thread: a tokenizer's padding and truncation are shared state.
                features = model.preprocess([texts[row] for row in rows])
                waiting.append((rows, pool.submit(self._forward, model, features)))
                if len(waiting) > threads:
                    yield _finished(waiting)
            while waiting:
                yield _finished(waiting)

    def _forward(self, model: Any, features: dict[str, Any]) -> FloatMatrix:
        import torch

        # model.encode() takes 4 % longer: prompts, sorting, its progress bar.
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=self._bf16):
            output = model(features)["sentence_embedding"]
        return unit_rows(output.float().numpy())

    def _token_lengths(self, model: Any, texts: list[str]) -> list[int]:
        """Lengths in tokens: sorting by characters makes batches 10 % longer, and tokenizing takes 1 % of the time."""
        with quiet():
            ids = model.tokenizer(texts, truncation=True, max_length=self._files.max_length)["input_ids"]
        return [len(found) for found in ids]


def _finished(waiting: deque[tuple[list[int], Future[FloatMatrix]]]) -> tuple[list[int], FloatMatrix]:
    rows, future = waiting.popleft()
    return rows, future.result()


def plan_batches(
    lengths: Sequence[int],
    batch_size: int,
    tokens_per_batch: int = TOKENS_PER_BATCH,
    most_padding: int = TOKENS_PER_BATCH,
) -> Iterator[list[int]]:
    """Rows, longest text first, in batches of similar length; rows of length 0 have batches of their own.

    lengths           tokens per text
    batch_size        texts per batch at most
    tokens_per_batch  tokens per batch at most, with padding; one longer text is a batch of its own
    most_padding      tokens of padding per batch at most
    """
    batch: list[int] = []
    padding = 0
    for row in sorted(range(len(lengths)), key=lambda row: (-lengths[row], row)):
        longest = lengths[batch[0]] if batch else 0
        is_full = len(batch) == batch_size or (len(batch) + 1) * longest > tokens_per_batch
        padding += longest - lengths[row] if batch else 0
        if batch and (is_full or padding > most_padding or (longest and not lengths[row])):
            yield batch
            batch, padding = [], 0
        batch.append(row)
    if batch:
        yield batch


def unit_rows(matrix: FloatMatrix) -> FloatMatrix:
    """Rows scaled to length 1; a row that is zero or not finite becomes zeros. (n, d) float32 to the same."""
    import numpy as np

    finite = np.where(np.isfinite(matrix).all(axis=1, keepdims=True), matrix, np.float32(0))
    lengths = np.linalg.norm(finite, axis=1, keepdims=True)
    return np.ascontiguousarray(finite / np.maximum(lengths, np.float32(1e-12)), dtype=np.float32)


def has_libraries() -> bool:
    """Whether sentence-transformers can run here."""
    return all(is_installed(library) for library in LIBRARIES)


def load_sentence_transformer(files: ModelFiles) -> Any:
    """The SentenceTransformer of a model folder, on the CPU, float32; its noise kept off the terminal.

    raises  ModelError, ExtraMissing
    """
    require(f"the encoder {files.model_id} needs", *LIBRARIES)
    work_offline()
    try:
        with quiet():
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging as transformers_logging

            hide_progress: Callable[[], None] = transformers_logging.disable_progress_bar
            hide_progress()
            model = SentenceTransformer(files.folder, device="cpu", local_files_only=True)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"the encoder {files.model_id} cannot be loaded: {error}",
            fix="run kb doctor, or set embedding.model to multilingual-e5-small",
            folder=files.folder,
        ) from error
    model.eval()
    model.max_seq_length = files.max_length
    return model


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings, no progress bars and no log lines below ERROR from the libraries used inside."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    previous = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(previous)


@cache
def has_bf16() -> bool:
    """Whether the CPU multiplies bf16 in hardware. Elsewhere autocast is slower than float32."""
    try:
        flags = Path("/proc/cpuinfo").read_text(errors="replace").split()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def count_threads() -> int:
    """Cores this process may use, MOST_THREADS at most, and OMP_NUM_THREADS at most where that is set, as for other libraries."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked_for = os.environ.get("OMP_NUM_THREADS", "")
    if asked_for.isdecimal() and int(asked_for):
        allowed = min(allowed, int(asked_for))
    return min(allowed, MOST_THREADS)
