"""One contract for both ways a text becomes a vector, and the choice between them."""

from __future__ import annotations

import gc
import json
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb.config import EmbeddingConfig
from kb.embed.batches import BatchEncoder, plan_batches, unit_rows
from kb.embed.device import TOKENS_PER_BATCH, Device, has_bf16, may_have_gpu
from kb.embed.encoder import CHARS_PER_TOKEN, TORCH_PAYS_FROM_CHARS, TextEncoder
from kb.embed.export import ExportFailed, find_export, find_failure, make_export
from kb.embed.fast import FastEncoder
from kb.embed.model_files import ENGLISH_MODEL, find_model
from kb.embed.probes import is_recorded, probe_texts, reference_vectors
from kb.embed.registry import open_encoder
from kb.errors import ModelError
from tests.embed.small_model import DIMENSIONS, save_small_model

texts = [
    "What does the borrow checker do?",
    "소유권은 러스트의 가장 독특한 기능입니다.",
    "emoji 🎉🚀 and \x00\x07\x1b[31m control \u202e characters",
    "lone \ud800 surrogate \udfff",
    "short",
    "A text that is far longer than the model can take. " * 400,
    "",
    "   \n\t",
    "short",
]
LEAST = 0.9999
EXACT = Device("cpu", bf16=False, texts_per_batch=4)


@pytest.fixture(scope="module")
def batches(encoder_cache: Path) -> BatchEncoder:
    return BatchEncoder(find_model(ENGLISH_MODEL, encoder_cache))


@pytest.fixture(scope="module")
def fast(encoder_cache: Path, batches: BatchEncoder) -> FastEncoder:
    export = find_export(encoder_cache, batches._files.digest)
    assert export is not None
    return FastEncoder(export)


@pytest.fixture(params=["sentence-transformers", "onnx"])
def encoder(request: pytest.FixtureRequest, batches: BatchEncoder, fast: FastEncoder) -> BatchEncoder | FastEncoder:
    return batches if request.param == "sentence-transformers" else fast


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prompts = {"query": "ask: ", "document": "read: "}
    return save_small_model(tmp_path_factory.mktemp("small"), pooling="cls", prompts=prompts)


def open_quietly(cache: Path, lines: list[str] | None = None, **changes: Any) -> TextEncoder:
    changes = {"model": ENGLISH_MODEL} | changes
    return open_encoder(replace(EmbeddingConfig(), **changes), cache, (lines if lines is not None else []).append)


def test_threads_share_one_encoder_and_let_go_of_it(encoder_cache: Path, fast: FastEncoder) -> None:
    """What one server's threads open is one session; the vectors are those of one thread."""
    asked = [f"{text} {number}" for number in range(6) for text in texts[:5]]

    def encode(number: int) -> tuple[FastEncoder, Any]:
        encoder = open_quietly(encoder_cache)
        vectors = encoder._encode_few(asked)
        return encoder._fast[True], vectors

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(encode, range(4)))
    assert len({id(shared) for shared, _ in found}) == 1
    assert all((vectors == found[0][1]).all() for _, vectors in found)
    assert np.allclose(found[0][1], fast.encode(asked), atol=1e-5)
    gone = weakref.ref(found[0][0])
    del found
    gc.collect()
    assert gone() is None


def test_rows_are_unit_float32_in_order(encoder: BatchEncoder | FastEncoder) -> None:
    vectors = encoder.encode(texts)
    assert (vectors.shape, vectors.dtype, vectors.flags.c_contiguous) == ((len(texts), 384), np.float32, True)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for row, text in enumerate(texts):
        assert encoder.encode([text])[0] @ vectors[row] >= LEAST


def test_equal_texts_have_equal_vectors_in_any_batch(encoder: BatchEncoder | FastEncoder) -> None:
    vectors = encoder.encode([*texts, *reversed(texts)])
    assert (vectors[: len(texts)] * vectors[len(texts) :][::-1]).sum(axis=1).min() >= LEAST


def test_progress_ends_with_the_number_of_texts(encoder: BatchEncoder | FastEncoder) -> None:
    done: list[int] = []
    encoder.encode(texts * 3, done.append)
    assert done == sorted(done)
    assert done[-1] == 3 * len(texts)
    assert len(done) > 1


def test_exception_from_the_callback_ends_the_work(encoder: BatchEncoder | FastEncoder) -> None:
    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoder.encode(texts, interrupt)


def test_no_text_gives_no_row(encoder: BatchEncoder | FastEncoder) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_both_ways_agree(batches: BatchEncoder, fast: FastEncoder) -> None:
    everything = [*texts, *probe_texts]
    assert (batches.encode(everything) * fast.encode(everything)).sum(axis=1).min() >= LEAST


def test_batches_agree_with_plain_sentence_transformers(batches: BatchEncoder) -> None:
    plain = batches.load().encode(list(probe_texts), normalize_embeddings=True, show_progress_bar=False)
    assert (batches.encode(list(probe_texts)) * plain).sum(axis=1).min() >= LEAST


def test_recorded_vectors_are_those_of_sentence_transformers(batches: BatchEncoder) -> None:
    assert is_recorded(batches._files.digest)
    plain = batches.load().encode(list(probe_texts), normalize_embeddings=True, show_progress_bar=False)
    assert (reference_vectors(batches._files, batches.load) * plain).sum(axis=1).min() >= 0.999999


def test_graph_written_from_the_weights_is_the_model(fast: FastEncoder, batches: BatchEncoder) -> None:
    exact = BatchEncoder(batches._files, device=EXACT)
    everything = [*texts, *probe_texts]
    assert (exact.encode(everything) * fast.encode(everything)).sum(axis=1).min() >= 0.99999


def test_a_model_on_another_device_gives_the_same_vectors(batches: BatchEncoder) -> None:
    """ "cpu:0" is the processor, and goes the way of a GPU: a model of its own, batches that are moved there, large ones."""
    there = BatchEncoder(
        batches._files, device=Device("cpu:0", False, tokens_per_batch=32_768, texts_per_batch=512, batches_at_once=2)
    )
    everything = [*texts, *probe_texts]
    assert there.has_gpu()
    assert not there.is_loaded
    assert (there.encode(everything) * batches.encode(everything)).sum(axis=1).min() >= LEAST
    assert there.is_loaded
    assert there.load() is not there._on_gpu


def test_a_device_that_fails_is_an_error_with_a_fix(batches: BatchEncoder) -> None:
    """torch's device "meta" computes shapes and no numbers."""
    with pytest.raises(ModelError, match="cannot use the GPU") as error:
        BatchEncoder(batches._files, device=Device("meta", False)).encode(["short"])
    assert "CUDA_VISIBLE_DEVICES=-1" in (error.value.fix or "")


@pytest.mark.parametrize(
    ("files", "seen"), [((), False), (("nvidiactl", "null"), False), (("nvidia3",), True), (("dxg",), True)]
)
def test_a_gpu_is_looked_for_without_torch(tmp_path: Path, files: tuple[str, ...], seen: bool) -> None:
    for name in files:
        (tmp_path / name).touch()
    assert may_have_gpu(tmp_path) == seen


def test_encoding_prints_nothing(batches: BatchEncoder, capfd: pytest.CaptureFixture[str]) -> None:
    BatchEncoder(batches._files).encode(texts)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("lengths", "batch_size", "batches"),
    [
        ([], 4, []),
        ([3, 9, 3], 2, [[1, 0], [2]]),
        ([0, 5, 0], 8, [[1], [0, 2]]),
        ([TOKENS_PER_BATCH * 2, 1], 8, [[0], [1]]),
        ([TOKENS_PER_BATCH // 2] * 3, 8, [[0, 1], [2]]),
    ],
)
def test_batches_are_planned_by_length(lengths: list[int], batch_size: int, batches: list[list[int]]) -> None:
    assert list(plan_batches(lengths, batch_size)) == batches


def test_batches_hold_little_padding() -> None:
    assert list(plan_batches([30, 9, 8, 8], 32, most_padding=24)) == [[0, 1], [2, 3]]
    assert list(plan_batches([30, 25, 20, 8], 32, most_padding=24)) == [[0, 1, 2], [3]]


def test_row_that_is_not_finite_becomes_zeros() -> None:
    rows = np.array([[3, 4], [np.nan, 1], [np.inf, 1], [0, 0]], dtype=np.float32)
    assert np.allclose(unit_rows(rows), [[0.6, 0.8], [0, 0], [0, 0], [0, 0]])


def test_the_english_encoder_ranks_by_meaning(encoder_cache: Path) -> None:
    encoder = open_quietly(encoder_cache)
    query = encoder.encode_query("How do I keep a value from being freed twice?")
    documents = encoder.encode_documents(["Ownership rules prevent double frees.", "Bake the bread for an hour."])
    assert query.shape == (384,)
    assert documents[0] @ query > documents[1] @ query
    assert encoder.token_starts("one two") == [0, 4]
    assert encoder.encode_documents([]).shape == encoder.encode_sentences([]).shape == (0, 384)


def test_prefixes_are_applied(encoder_cache: Path) -> None:
    encoder = open_quietly(encoder_cache, query_prefix="query: ", document_prefix="passage: ")
    plain = encoder.encode_sentences(["query: rust", "passage: rust", "rust"])
    assert np.allclose(encoder.encode_query("rust"), plain[0], atol=1e-5)
    assert np.allclose(encoder.encode_documents(["rust"])[0], plain[1], atol=1e-5)
    assert plain[2] @ plain[0] < LEAST


def test_torch_is_loaded_only_when_there_is_enough_to_do(encoder_cache: Path) -> None:
    encoder = open_quietly(encoder_cache)
    encoder.encode_documents(["one document"] * 5)
    assert not encoder._batches.is_loaded
    assert not encoder._is_torch_worth_it(["x"], expected_texts=20)
    longest = "x" * (encoder.max_tokens * CHARS_PER_TOKEN)
    half = [longest * 100] * (TORCH_PAYS_FROM_CHARS // len(longest) // 2)  # the model cuts what is longer
    assert not encoder._is_torch_worth_it(half, expected_texts=0)
    assert encoder._is_torch_worth_it([*half, longest, longest], expected_texts=0) == has_bf16()
    assert open_quietly(encoder_cache)._is_torch_worth_it(["x"], expected_texts=5000) == has_bf16()


def test_model_by_path_uses_its_pooling_and_prompts(small_model: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    encoder = open_quietly(tmp_path, lines, model=str(small_model))
    assert (encoder.dimensions, encoder.max_tokens, encoder.files.pooling) == (DIMENSIONS, 62, "cls")
    assert "prepared on first use" in encoder.describe()
    vectors = np.stack([encoder.encode_query(text) for text in texts])
    assert lines == ["preparing the fast query encoder (once per model)…"]
    reference = BatchEncoder(encoder.files, device=EXACT).encode(["ask: " + text for text in texts])
    assert (vectors * reference).sum(axis=1).min() >= LEAST
    assert encoder.encode_documents(["rust"])[0] @ encoder.encode_sentences(["read: rust"])[0] >= LEAST
    assert "fp32 through ONNX," in encoder.describe()


def test_damaged_export_falls_back_and_is_made_again(small_model: Path, tmp_path: Path) -> None:
    first = open_quietly(tmp_path, model=str(small_model))
    vector, digest = first.encode_query("text"), first.digest
    del first  # who has it open does not see the damage
    (tmp_path / "encoders" / digest / "model.onnx").write_bytes(b"damaged")
    lines: list[str] = []
    assert open_quietly(tmp_path, lines, model=str(small_model)).encode_query("text") @ vector >= 0.999
    assert "damaged" in lines[0]
    open_quietly(tmp_path, model=str(small_model)).encode_query("text")
    assert find_export(tmp_path, digest) is not None


def test_two_exports_at_once_make_one(small_model: Path, tmp_path: Path) -> None:
    files = find_model(str(small_model), tmp_path)
    loaded: list[Any] = []

    def load() -> Any:
        loaded.append(BatchEncoder(files).load())
        return loaded[-1]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: make_export(files, tmp_path, load), range(2))
    assert first == second == find_export(tmp_path, files.digest)
    assert len(loaded) == 1


def test_first_documents_leave_an_export_for_the_first_query(small_model: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    encoder = open_quietly(tmp_path, lines, model=str(small_model))
    left_over = tmp_path / "encoders" / f"{encoder.digest}.0000.unfinished"
    left_over.mkdir(parents=True)
    encoder.encode_documents(["one", "two"])
    assert find_export(tmp_path, encoder.digest) is not None
    assert not left_over.exists()


def test_failed_parity_is_recorded_and_not_tried_again(small_model: Path, tmp_path: Path) -> None:
    import torch

    files = find_model(str(small_model), tmp_path)
    model = BatchEncoder(files).load()

    class Drifting(torch.nn.Module):
        """Gives another vector for the same text on every call, so that no recording of it can be right."""

        calls = 0

        def forward(self, features: dict[str, Any]) -> dict[str, Any]:
            self.calls += 1
            features["sentence_embedding"] = features["sentence_embedding"].roll(self.calls, dims=1)
            return features

    model.append(Drifting())
    with pytest.raises(ExportFailed, match="differ from the model's"):
        make_export(files, tmp_path, lambda: model)
    assert find_export(tmp_path, files.digest) is None
    assert "differ" in (find_failure(tmp_path, files.digest) or "")
    assert not list((tmp_path / "encoders").glob("*.unfinished"))
    lines: list[str] = []
    encoder = open_quietly(tmp_path, lines, model=str(small_model))
    assert np.isfinite(encoder.encode_query("text")).all()
    assert lines == [
        f"encoding with sentence-transformers, which is slow to start: {find_failure(tmp_path, files.digest)}"
    ]
    note = tmp_path / "encoders" / f"{files.digest}.failed.json"
    note.write_text(json.dumps(json.loads(note.read_text()) | {"libraries": {"torch": "1.0"}}))
    assert find_failure(tmp_path, files.digest) is None


def test_cache_that_cannot_be_written_falls_back(small_model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    lines: list[str] = []
    encoder = open_quietly(tmp_path / "file", lines, model=str(small_model))
    assert np.isfinite(encoder.encode_query("text")).all()
    assert "cannot be written" in lines[-1]
