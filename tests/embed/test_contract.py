"""What every kind of encoder promises, through one test: the embedded one, a folder with prefixes, a server, a toy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kb.config import EmbeddingConfig, LlmConfig
from kb.embed.model_files import find_model
from kb.embed.protocol import Encoder
from kb.embed.registry import ENCODERS, open_encoder
from tests.llm.recorded_server import RecordedServer

TEXTS = [
    "An otter holds hands with its neighbour.",
    "혜성은 태양 가까이에서만 꼬리를 가진다.",
    "",
    'fn main() { println!("{x:?}"); }',
    "Sourdough rises overnight because wild yeast is slow but steady. " * 40,
]


def folder_with_prefixes(folder: Path, cache: Path) -> Path:
    """The default encoder under a name of the E5 family, and so with its prefixes; nothing is exported anew."""
    return Path(shutil.copytree(find_model("all-MiniLM-L6-v2", cache).folder, folder / "e5-small"))


@pytest.fixture(params=["multilingual", "embedded", "folder", "ollama", "toy"])
def encoder(
    request: pytest.FixtureRequest, tmp_path: Path, encoder_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Encoder]:
    monkeypatch.setitem(ENCODERS, "toy", "tests.embed.toy_encoder:open_toy")
    with RecordedServer(models={"nomic-embed-text:latest": "a" * 64}) as server:
        names = {
            "multilingual": "multilingual-e5-small",
            "embedded": "all-MiniLM-L6-v2",
            "ollama": "ollama:nomic-embed-text",
            "toy": "toy:words",
        }
        kind = request.param
        name = str(folder_with_prefixes(tmp_path, encoder_cache)) if kind == "folder" else names[kind]
        yield open_encoder(EmbeddingConfig(model=name), encoder_cache, print, LlmConfig(endpoint=server.url))


def test_vectors_are_unit_rows_in_the_order_of_the_texts(encoder: Encoder) -> None:
    done: list[int] = []
    vectors = encoder.encode_documents(TEXTS, done.append)
    assert vectors.shape == (len(TEXTS), encoder.dimensions)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert all(abs(length - 1) < 1e-3 or length == 0 for length in lengths)
    assert lengths[0] > 0
    one_by_one = np.vstack([encoder.encode_documents([text]) for text in TEXTS])
    assert np.abs(vectors - one_by_one).max() < 2e-3
    assert not done or (done == sorted(done) and done[-1] == len(TEXTS))
    assert encoder.encode_documents([]).shape == (0, encoder.dimensions)


def test_queries_and_documents_are_prefixed_and_sentences_are_not(encoder: Encoder) -> None:
    text = TEXTS[0]
    if encoder.model_id == "multilingual-e5-small":
        pytest.skip("compares sentences with its own prefix, less their mean (tests of kb/embed/centre.py)")
    plain = encoder.encode_sentences([encoder.query_prefix + text, encoder.document_prefix + text])
    assert np.abs(plain[0] - encoder.encode_query(text)).max() < 2e-3
    assert np.abs(plain[1] - encoder.encode_documents([text])[0]).max() < 2e-3


def test_tokens_begin_inside_the_text_in_order(encoder: Encoder) -> None:
    for text in TEXTS:
        starts = encoder.token_starts(text)
        assert starts == sorted(starts)
        assert all(0 <= start < len(text) for start in starts)
        assert bool(starts) == bool(text.strip())
        assert 0 <= encoder.unread_share(text) <= 1
    assert encoder.max_tokens > 0


def test_it_says_what_it_is(encoder: Encoder) -> None:
    assert len(encoder.digest) == 64
    assert encoder.model_id in encoder.describe()
    assert str(encoder.dimensions) in encoder.describe()
