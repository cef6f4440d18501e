"""Which language a text is in, and when that is better left open."""

from __future__ import annotations

import pytest

from kb.ingest.language import detect_language, is_plain_english
from tests.ingest.corpora import corpus


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ownership is Rust's most unique feature and has deep implications.", "en"),
        ("Das Eigentum ist die einzigartigste Eigenschaft dieser Sprache.", "de"),
        ("Le langage est très utile pour écrire des programmes.", "fr"),
        ("소유권은 러스트의 가장 독특한 특성입니다", "ko"),
        ("所有権はRustの最も独特な機能です", "ja"),
        ("所有权是 Rust 最独特的特性", "zh"),
        ("Η ιδιοκτησία είναι σημαντική", "el"),
        ("הבעלות היא תכונה ייחודית", "he"),
        ("Владение — самая уникальная особенность языка программирования", "ru"),
        ("This sentence is English, although 漢字 stand in the middle of it.", "en"),
        ("This sentence is English and names the Greek letters α and β.", "en"),
        ("", "und"),
        ("  \n", "und"),
        ("hi", "und"),
        ("12345 67 89 2024-01-01", "und"),
        ("```\nfor (i = 0; i < n; i++) { print(i); }\n```", "und"),
        ("https://example.org/a/long/path/that/reads/like/words", "und"),
    ],
)
def test_detects(text: str, language: str) -> None:
    assert detect_language(text, None) == language


def test_what_a_document_declares_is_believed() -> None:
    assert detect_language("English words in here, all of them.", "nl") == "nl"


def test_code_does_not_hide_the_prose() -> None:
    text = "```rust\nfn main() { let x = foo(bar); }\n```\n\n소유권 규칙을 먼저 알아보겠습니다.\n"
    assert detect_language(text * 3, None) == "ko"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_real_documents(language: str) -> None:
    pages = [page for page in sorted(corpus("fastapi-docs-en-ko").rglob("*.md")) if language in page.parts][::8]
    wrong = [page.name for page in pages if detect_language(page.read_text("utf-8"), None) not in (language, "und")]
    assert pages
    assert not wrong


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The store is a file, and it is not to be moved while the program that made it is at work on it or reads from it.", "en"),
        ("De winkel is een bestand en of het is als het was, is niet of nog niet op de lijst; het is de taak van wie er is.", "nl"),
        ("Butiken er for alle, og den er for dem, som er for sent, for det er for os at se, om det er for meget for en by.", "da"),
        ("On ne sait pas or on a dit, as-tu vu, que la mer est le lieu not\u00e9 de ce qui est on ne peut plus clair pour tous.", "fr"),
        ("As casas s\u00e3o as mesmas, for o que for, e as ruas s\u00e3o as que eram antes de as pessoas as terem deixado sozinhas.", "pt"),
    ],
)  # fmt: skip
def test_english_is_known_by_its_commonest_words(text: str, language: str) -> None:
    assert is_plain_english(text) == (language == "en")
    assert detect_language(text) == language
