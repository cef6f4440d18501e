"""Which language a text is in, and when that is better left open."""

from __future__ import annotations

import pytest

from kb.ingest.language import detect_language
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
