"""Markers, refusal phrases and the verdict by form: the grammar of a marker is strict."""

import pytest

from kb.ask.cite import find_markers, has_refusal_phrase, judge_citations


@pytest.mark.parametrize(
    ("text", "markers"),
    [
        ("A [#1]. B [#2].", [1, 2]),
        ("[#2][#1][#2]", [2, 1]),
        ("| cell [#1] |", [1]),
        ("```\nx [#3]\n```", [3]),
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
    ("text", "packed", "grounded"),
    [
        ("Yes [#1].", [1, 2, 3], True),
        ("Yes [#1][#3].", [1, 2, 3], True),
        ("Yes [#7].", [1, 2, 3], False),
        ("Yes [#1][#7].", [1, 2, 3], False),
        ("Yes [1].", [1, 2, 3], False),
        ("Use vec![1] here.", [1, 2, 3], False),
        ("근거가 부족합니다", [1], False),
        ("The evidence is insufficient.", [1], False),
        ("A confident answer without any marker.", [1], False),
        ("[#0]", [1], False),
        ("The evidence is insufficient [#1].", [1], False),
        ('**"근거가 부족하다"** [#1]', [1], False),
        ("There was no evidence of fire [#1].", [1], True),
        ("   ", [1], False),
        ("", [1], False),
    ],
)
def test_judge(text: str, packed: list[int], grounded: bool) -> None:
    assert judge_citations(text, packed) == (grounded, None if grounded else "llm_self_judge")
