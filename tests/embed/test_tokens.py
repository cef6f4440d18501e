"""Token offsets: as the tokenizer gives them, whatever the length of the text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kb.config import EmbeddingConfig
from kb.embed.model_files import ENGLISH_MODEL, find_model
from kb.embed.registry import open_encoder
from kb.embed.tokens import WINDOW_CHARS, Tokens, load_tokenizer
from kb.errors import ModelError


@pytest.fixture(scope="module")
def tokens(encoder_cache: Path) -> Tokens:
    files = find_model("all-MiniLM-L6-v2", encoder_cache)
    return Tokens(Path(files.folder), files.max_tokens)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        (" \n\t ", []),
        ("one two", [0, 4]),
        ("  don't", [2, 5, 6]),
        ("naïve \ud800 é", [0, 8]),  # BERT drops what is not a character
        ("x\ud800y z", [0, 2, 4]),
        ("日本 x", [0, 1, 3]),
    ],
)
def test_offsets_of_known_texts(tokens: Tokens, text: str, starts: list[int]) -> None:
    assert tokens.token_starts(text) == starts


def test_max_tokens_leaves_room_for_special_tokens(tokens: Tokens) -> None:
    assert tokens.max_tokens == 254


def test_windows_do_not_change_the_tokens(tokens: Tokens) -> None:
    text = "Ownership is Rust's most unique feature; 소유권은 독특합니다.\n" * 6000
    assert len(text) > 3 * WINDOW_CHARS
    encoding = load_tokenizer(Path(tokens._folder)).encode(text, add_special_tokens=False)
    assert tokens.token_starts(text) == [start for start, _ in encoding.offsets]


@pytest.mark.parametrize("unit", ["x", "a.b", "안녕"])
def test_long_text_without_space(tokens: Tokens, unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    starts = tokens.token_starts(text)
    assert starts == sorted(starts)
    assert len(starts) >= len(text) // WINDOW_CHARS
    assert starts[-1] < len(text)


def test_model_without_tokenizer_json_is_converted(tmp_path: Path, tokens: Tokens) -> None:
    source = Path(tokens._folder)
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json", "config.json"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    text = "Ownership moves, 소유권 déjà vu"
    assert Tokens(tmp_path, 254).token_starts(text) == tokens.token_starts(text)


def test_model_without_any_tokenizer_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded"):
        Tokens(tmp_path, 254).token_starts("text")


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("What is ownership?", 0, 0),
        ("E-114", 0, 0),
        ("café naïve Straße Ünïcödé", 0, 0),
        ("→ ✓ 42", 0, 0),
        ("", 0, 0),
        ("소유권이란 무엇인가?", 1, 1),
        ("물", 1, 1),
        ("Что такое владение", 1, 1),
        ("สวัสดีครับ", 1, 1),
        ("Rust ownership 모델의 핵심 규칙은 뭐야?", 0.3, 0.49),
        ("retry_budget_seconds 기본값", 0.1, 0.3),
        ("bad \ud800 surrogate", 0, 0.1),
    ],
)
def test_the_english_encoder_knows_what_it_cannot_read(
    text: str, least: float, most: float, encoder_cache: Path
) -> None:
    encoder = open_encoder(replace(EmbeddingConfig(), model=ENGLISH_MODEL), encoder_cache, lambda line: None)
    assert least <= encoder.unread_share(text) <= most
