"""Korean verbs that differ in politeness alone are one; those that differ in anything else are not."""

from __future__ import annotations

import pytest

from kb.support.check import VERIFIED, check_support
from kb.support.endings import restate_ending, stem_of


@pytest.mark.parametrize(
    "words",
    [
        "없다 없습니다 없어요 없음",
        "한다 합니다 해요 함",
        "했다 했습니다 했어요 했음",
        "된다 됩니다 돼요 되어요 됨",
        "이다 입니다 이에요 예요 임",
        "먹는다 먹습니다 먹어요",
        "좋다 좋습니다 좋아요",
        "간다 갑니다",
        "크다 큽니다",
        "212개이다 212개입니다 212개이에요 212개예요",
    ],
)
def test_one_verb_in_many_forms(words: str) -> None:
    assert len({stem_of(word) for word in words.split()}) == 1
    assert all(stem_of(word) for word in words.split())


@pytest.mark.parametrize("word", ["학교", "등대에", "없고", "하세요", "합니까", "다", "음", "", "마음", "바다로"])
def test_no_statement(word: str) -> None:
    assert stem_of(word) == ""


@pytest.mark.parametrize(
    ("one", "other"), [("없다", "있습니다"), ("한다", "했습니다"), ("된다", "합니다"), ("먹는다", "막습니다")]
)
def test_another_verb_or_tense(one: str, other: str) -> None:
    assert stem_of(one) != stem_of(other)


@pytest.mark.parametrize(
    ("claim", "text", "restated"),
    [
        ("개는 들어갈 수 없습니다.", "개는 들어갈 수 없다.", "개는 들어갈 수 없다."),
        ("개는 들어갈 수 없다", "개는 들어갈 수 없습니다. 끝.", "개는 들어갈 수 없습니다"),
        ("문을 닫습니다.", "문은 닫혀 있다.", "문을 닫습니다."),
        # The text has it as it is, too.
        ("개는 없습니다.", "소는 없다. 개는 없습니다.", "개는 없습니다."),
        # In the middle of a sentence it may be part of what is said otherwise.
        ("개는 없습니다.", "개는 없다고 그가 말했다.", "개는 없습니다."),
        ("It is red.", "빨갛다.", "It is red."),
    ],
)
def test_the_last_verb_is_written_as_a_sentence_of_the_text_ends(claim: str, text: str, restated: str) -> None:
    assert restate_ending(claim, [text]) == restated


def test_a_polite_copy_is_backed_and_a_polite_lie_is_not() -> None:
    text = "12세 미만의 아이는 어른과 함께 들어가야 한다. 개는 등대에 들어갈 수 없다."
    assert check_support("개는 등대에 들어갈 수 없습니다.", [text]).score >= VERIFIED
    assert check_support("12세 미만의 아이는 어른과 함께 들어가야 합니다.", [text]).score >= VERIFIED
    assert check_support("개는 등대에 들어갈 수 있습니다.", [text]).status == "contradicted"
    assert check_support("고양이는 등대에 들어갈 수 없습니다.", [text]).score < VERIFIED
