"""Many texts → unit vectors through sentence-transformers: the reference, and the fast way for large batches.

Importing torch and sentence-transformers takes 4-5 s, so that happens on first use.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from kb.arrays import FloatMatrix
from kb.embed.device import TOKENS_PER_BATCH, Device, count_threads, find_device
from kb.embed.model_files import ModelFiles, work_offline
from kb.embed.tokens import replace_surrogates
from kb.errors import ModelError
from kb.extras import is_installed, require

if TYPE_CHECKING:
    from concurrent.futures import Future

LIBRARIES = ("torch", "sentence_transformers")
# So many texts are sorted by length together, so that progress is steady and memory bounded.
TEXTS_PER_WINDOW = 2048


class BatchEncoder:
    """One sentence-transformers model, loaded on first use; it computes on a GPU where torch has one."""

    def __init__(
        self, files: ModelFiles, *, device: Device | None = None, load: Callable[[ModelFiles], Any] | None = None
    ) -> None:
        """
        device  None: find_device, when the first texts are encoded
        load    None: load_sentence_transformer
        """
        self._load = load or load_sentence_transformer
        self._files = files
        self._device = device
        self._model: Any = None
        self._on_gpu: Any = None

    @property
    def is_loaded(self) -> bool:
        """Whether torch and the weights are in memory already."""
        return self._model is not None or self._on_gpu is not None

    def load(self) -> Any:
        """The SentenceTransformer itself on the processor, float32, in evaluation mode. Raises ModelError."""
        if self._model is None:
            self._model = self._load(self._files)
        return self._model

    def encode(self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None) -> FloatMatrix:
        """Vectors of texts, cut at the model's limit: (n, d) float32, unit rows, in the order given.

        A text without a token or without a finite vector gets a row of zeros, similar to nothing.
        on_batch  called after each batch with the number of texts done so far; an exception it raises ends the work
        """
        import numpy as np

        device, model = self._placed()
        vectors = np.zeros((len(texts), self._files.dimensions), dtype=np.float32)
        clean = [replace_surrogates(text) for text in texts]
        done = 0
        for start in range(0, len(clean), TEXTS_PER_WINDOW):
            window = clean[start : start + TEXTS_PER_WINDOW]
            for rows, found in self._run_batches(device, model, window):
                vectors[[start + row for row in rows]] = found
                done += len(rows)
                if on_batch:
                    on_batch(done)
        return vectors

    def has_gpu(self) -> bool:
        """Whether batches are computed on a GPU; imports torch to find out, where the system shows one."""
        self._device = self._device or find_device()
        return self._device.is_gpu

    def _placed(self) -> tuple[Device, Any]:
        """Where to compute, and the model there. An export reads the one on the processor, so a GPU has one of its own."""
        device = self._device = self._device or find_device()
        if not device.is_gpu:
            return device, self.load()
        if self._on_gpu is None:
            with _no_gpu_fails(self._files):
                self._on_gpu = self._load(self._files).to(device.name)
        return device, self._on_gpu

    def _run_batches(
        self, device: Device, model: Any, texts: list[str]
    ) -> Iterator[tuple[list[int], FloatMatrix | float]]:
        """(rows, their vectors) per batch; each core works on a batch of its own.

        Threads that share a batch wait for the slowest after every operation: 12 texts a second on 2 cores at load 7,
        against 33 with a batch per core. On a quiet machine the difference is small.
        """
        from concurrent.futures import ThreadPoolExecutor  # 10 ms that a query does without

        import torch

        lengths = self._token_lengths(model, texts)
        at_once = device.batches_at_once
        room = max(1, min(device.tokens_per_batch, sum(lengths) // at_once))
        batches = list(plan_batches(lengths, device.texts_per_batch, room, device.tokens_per_batch))
        torch.set_num_threads(1 if len(batches) > 1 else count_threads())
        waiting: deque[tuple[list[int], Future[FloatMatrix]]] = deque()
        with ThreadPoolExecutor(at_once, thread_name_prefix="kb-encoder") as pool:
            for rows in batches:
                if not lengths[rows[0]]:
                    yield rows, 0.0
                    continue
                # Tokenized in this thread: a tokenizer's padding and truncation are shared state.
                features = model.preprocess([texts[row] for row in rows])
                waiting.append((rows, pool.submit(self._forward, device, model, features)))
                if len(waiting) > at_once:
                    yield _finished(waiting)
            while waiting:
                yield _finished(waiting)

    def _forward(self, device: Device, model: Any, features: dict[str, Any]) -> FloatMatrix:
        import torch

        # model.encode() takes 4 % longer: prompts, sorting, its progress bar.
        with (
            _no_gpu_fails(self._files) if device.is_gpu else nullcontext(),
            torch.inference_mode(),
            torch.autocast(torch.device(device.name).type, torch.bfloat16, enabled=device.bf16),
        ):
            there = _moved(features, device.name) if device.is_gpu else features
            output = model(there)["sentence_embedding"].float().cpu()
        return unit_rows(output.numpy())

    def _token_lengths(self, model: Any, texts: list[str]) -> list[int]:
        """Lengths in tokens: sorting by characters makes batches 10 % longer, and tokenizing takes 1 % of the time."""
        with quiet():
            ids = model.tokenizer(texts, truncation=True, max_length=self._files.max_length)["input_ids"]
        return [len(found) for found in ids]


def _moved(features: dict[str, Any], device: str) -> dict[str, Any]:
    return {name: value.to(device) if hasattr(value, "to") else value for name, value in features.items()}


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
def _no_gpu_fails(files: ModelFiles) -> Iterator[None]:
    """What a GPU raises, as an error with a fix: no room left on it, or a GPU that is too old for this torch."""
    try:
        yield
    except RuntimeError as error:  # torch's errors of CUDA and of memory are of this class
        said = " ".join(str(error).split())[:200]
        raise ModelError(
            f"the encoder {files.model_id} cannot use the GPU: {said}",
            fix="free the GPU, or have the processor encode: CUDA_VISIBLE_DEVICES=-1 kb …",
        ) from error


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
