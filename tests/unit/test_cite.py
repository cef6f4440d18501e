"""Markers in every form a model writes them in, refusal phrases, and the verdict by form."""

import pytest

from kb.ask.cite import has_refusal_phrase, is_refusal
from kb.ask.verify import judge_answer, verify
from kb.support.markers import find_markers, normalize_markers
from tests.unit.test_pack_and_prompt import chunk


@pytest.mark.parametrize(
    ("text", "markers"),
    [
        ("A [#1]. B [#2].", [1, 2]),
        ("[#2][#1][#2]", [2, 1]),
        ("| cell [#1] |", [1]),
        ("```\nx [#3]\n```", []),
        ("```\nx\n``` [#3]", [3]),
        ("`[#4]` is a marker [#3]", [3]),
        ("[#007] [#00] [#01]", []),
        ("[#0]", [0]),
        ("[1] [foo] [ #1 ] [#1a] vec![1] [label][1] [#1, #2] [#1234] [#]", []),
        ("［#1］", []),
        ("", []),
    ],
)
def test_find_markers(text: str, markers: list[int]) -> None:
    assert find_markers(text) == markers


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("근거가 부족하다", True),
        ("근거가 부족합니다.", True),
        ("근거 부족. KB 에 해당 내용 없음.", True),
        ("제공된 근거가 없습니다", True),
        ("The evidence is insufficient.", True),
        ("The evidence is insufficient to answer this.", True),
        ("There is not enough evidence here.", True),
        ("The evidence provided is not sufficient to say.", True),
        ("Insufficient evidence", True),
        ("The mirror is cleaned every 14 days [#1].", False),
        ("거울은 14일마다 닦는다 [#1].", False),
        ("Evidence of rain was found [#2].", False),
    ],
)
def test_refusal_phrases_of_both_languages(text: str, refuses: bool) -> None:
    assert has_refusal_phrase(text) is refuses


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("It is so [1].", "It is so [#1]."),
        ("It is so[1]. And so [2]", "It is so[#1]. And so [#2]"),
        ("so [#1, #2] [#1; 2]", "so [#1][#2] [#1][#2]"),
        ("so [#1-3] [#1–#3]", "so [#1][#2][#3] [#1][#2][#3]"),
        ("so 【#1】 [ #1 ] [# 1] ［＃1］ [#001]", "so [#1] [#1] [#1] [#1] [#1]"),
        ("so [^1], so [1, 2]", "so [#1], so [#1][#2]"),
        ("so 【1†source】", "so [#1]"),
        ("so [1], but so [#2]", "so [1], but so [#2]"),
        ("vec![1] list[1] = 2 [label][1] [1](page) [9] [2001-03] [#1a] [1234]", None),
        ("`a[1]` and\n```\n[1]\n```\n", None),
        ("높다[1].", "높다[#1]."),
    ],
)
def test_every_form_of_a_marker_is_read(text: str, normal: str | None) -> None:
    assert normalize_markers(text, [1, 2, 3]) == (text if normal is None else normal)


@pytest.mark.parametrize(
    ("text", "packed", "grounded"),
    [
        ("The tower is tall [#1].", [1, 2, 3], True),
        ("The tower is tall [#1][#2][#3].", [1], True),
        ("The tower is tall [#7].", [1, 2, 3], False),
        ("The tower is tall [1].", [1, 2, 3], True),
        ("Use vec![1] here.", [1, 2, 3], False),
        ("The tower is tall.", [1], False),
        ("The tower is tall.\n\n```\n[#1]\n```", [1], False),
        ("[#0]", [1], False),
        ("   ", [1], False),
        ("", [1], False),
    ],
)
def test_judge(text: str, packed: list[int], grounded: bool) -> None:
    checked = verify(text, {n: chunk(n, "The tower is tall.") for n in packed})
    assert judge_answer(checked, packed, must_hold=False)[0] is grounded


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("근거가 부족합니다", True),
        ("The evidence is insufficient [#1].", True),
        ('**"근거가 부족하다"** [#1]', True),
        ("There was no evidence of fire [#1].", False),
        ('The report says "we could not find evidence of a leak" [#1].', False),
        ("The inspectors could not find evidence of a leak [#1].", False),
    ],
)
def test_a_quote_is_no_refusal(text: str, refuses: bool) -> None:
    assert is_refusal(text, ["In May the inspectors could not find evidence of a leak. Nobody was hurt."]) is refuses
