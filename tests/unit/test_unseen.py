"""Which evidence an answer may be made of: questions that ask for more, and new evidence that carries the answer."""

from __future__ import annotations

import pytest

from kb.ask.unseen import MARGIN, asks_for_more, carries_the_answer


@pytest.mark.parametrize(
    "question",
    [
        "What else is known about the mirror?",
        "Anything else on Bertha?",
        "Who else signs?",
        "Is there anything more about E-114?",
        "Any other rules for the dome?",
        "Any more limits?",
        "Tell me more about lampd.",
        "Besides that, what does the keeper do?",
        "또 다른 규정이 있나요?",
        "그 밖에 무엇을 점검하나요?",
        "그 외에 알아둘 것은?",
        "이 외에 필요한 것은?",
        "다른 방법은 없나요?",
        "거울에 대해 더 알려 주세요",
        "추가로 할 일은?",
    ],
)
def test_questions_that_ask_for_more(question: str) -> None:
    assert asks_for_more(question)


@pytest.mark.parametrize(
    "question",
    [
        "How often must the mirror be cleaned?",
        "How much more does Bertha give than Pip?",
        "Is there more than one telescope?",
        "What is the other telescope called?",
        "Which telescope has some other filter than r?",
        "Does any other telescope have a g filter?",
        "시슬은 마리골드와 다른 점이 무엇인가요?",
        "거울은 며칠마다 청소하나요?",
        "마리골드와 다른 망원경은 무엇인가요?",
        "더 큰 망원경은 무엇인가요?",
        "",
    ],
)
def test_questions_that_do_not(question: str) -> None:
    assert not asks_for_more(question)


@pytest.mark.parametrize(
    ("fresh", "everything", "more", "expected"),
    [
        (0.80, 0.80, False, True),
        (0.85, 0.80, False, True),
        (0.80, 0.80 + MARGIN + 0.01, False, False),
        (0.14, 0.14, False, False),  # below the gate, however strong
        (0.16, 0.90, True, True),
        (0.14, 0.90, True, False),
    ],
)
def test_new_evidence_must_carry_the_answer(fresh: float, everything: float, more: bool, expected: bool) -> None:
    assert carries_the_answer(fresh, everything, 0.15, wants_more=more) is expected
