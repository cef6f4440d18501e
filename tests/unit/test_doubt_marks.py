"""Marks behind the sentences of an answer that does not stand, by what is known against each."""

from __future__ import annotations

import pytest

from kb.ask.doubt_marks import mark_sentences
from kb.ask.records import SentenceCheck, SentenceStatus, Verification
from kb.language.registry import LANGUAGES
from kb.support.check import NOT_FOUND

EXACT = "18 hours is not there"


@pytest.mark.parametrize(
    ("status", "reasons", "score", "mark"),
    [
        ("verified", (), 0.9, ""),
        ("contradicted", (EXACT,), 0.1, "✗ the documents say otherwise"),
        ("unsupported", (EXACT,), 0.1, "✗ not in these passages"),
        ("unsupported", (NOT_FOUND,), 0.1, "? not confirmed"),
        ("unsupported", (), 0.1, "? not confirmed"),
        ("weak", (EXACT,), 0.4, "✗ only partly in these passages"),
        ("weak", (NOT_FOUND,), 0.4, "? not confirmed"),
        ("likely", (), 0.6, "≈ in other words"),
        ("misattributed", (NOT_FOUND,), 0.1, ""),  # true, and backed by another passage
        ("uncited", (NOT_FOUND,), 0.1, "? not confirmed"),
        ("uncited", (), 0.9, ""),
    ],
)
def test_what_kb_only_does_not_find_is_not_called_false(
    status: SentenceStatus, reasons: tuple[str, ...], score: float, mark: str
) -> None:
    check = SentenceCheck(start=5, end=9, text="Two.", markers=(1,), status=status, score=score, reasons=reasons)
    verification = Verification(status="unsupported", verified=0, total=1, coverage=1.0, sentences=(check,))
    text, moved = mark_sentences("One. Two. Three.", verification, LANGUAGES["en"].replies, "Lead: ")
    assert text == f"Lead: One. Two.{f' [{mark}]' if mark else ''} Three."
    assert text[moved.sentences[0].start : moved.sentences[0].end] == "Two."
