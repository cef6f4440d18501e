"""What evidence must reach where it lacks a word of the question."""

from __future__ import annotations

import pytest

from kb.ask.judge import LACKING_GATE, LACKING_NAME_GATE, LACKING_WORD_GATE, MOST_LACKING, least_probability


@pytest.mark.parametrize(
    ("lacking", "share", "query", "wanted"),
    [
        ((), 0.0, "How much does a licence cost?", 0.0),
        ((), MOST_LACKING, "summary of the poem by the bard", LACKING_GATE),
        (("licence",), 0.3, "How much does a licence cost?", LACKING_WORD_GATE),
        (("licence",), 0.9, "How much does a licence cost?", LACKING_GATE),
        (("RustRover",), 0.3, "How much does a RustRover licence cost?", LACKING_NAME_GATE),
        (("CEO", "bonus"), 0.3, "What bonus does the CEO get?", LACKING_NAME_GATE),
        (("1947",), 0.3, "why did the us send aid in 1947", LACKING_NAME_GATE),
        (("1947",), 0.9, "1947년에 왜 원조를 보냈나요?", LACKING_WORD_GATE),
        (("NASA",), 0.3, "NASA는 언제 세워졌나요?", LACKING_NAME_GATE),
        (("지르콘",), 0.3, "지르콘은 얼마인가요?", LACKING_WORD_GATE),
    ],
)
def test_least_probability(lacking: tuple[str, ...], share: float, query: str, wanted: float) -> None:
    assert least_probability(lacking, share, query) == wanted
