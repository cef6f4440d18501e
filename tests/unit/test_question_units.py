"""What a question asks about, in English, Korean and anything else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.evidence.question import Unit, strip_korean_endings, units_of
from kb.text import analyze


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How often must Marigold's mirror be cleaned?", ["Marigold's", "mirror", "cleaned"]),
        ("According to Biden, how many jobs were created in 2010?", ["Biden", "jobs", "created", "2010"]),
        ("What does retry_budget_seconds do?", ["retry_budget_seconds"]),
        ("FastAPI에서 쿼리 매개변수는 어떻게 선언하나요?", ["FastAPI", "쿼리", "매개변수", "선언"]),
        ("마리골드 거울은 며칠마다 청소해야 하나요?", ["마리골드", "거울", "청소"]),
        ("의존성 주입이란 무슨 뜻인가요?", ["의존성", "주입"]),
        ("노래섬 관측소의 소장은 누구인가요?", ["노래섬", "관측소", "소장"]),
        ("상태 코드는 몇 번인가요?", ["상태", "코드"]),
        ("Can I tell the landlord I'm leaving if we haven't paid?", ["landlord", "leaving", "paid"]),
        ("Is everybody's mirror the night watch's?", ["mirror", "night", "watch's"]),
        ("I can’t find O'Brien's badge, who'd help?", ["find", "O'Brien's", "badge", "help"]),
        ("望遠鏡はどこですか", ["望遠", "遠鏡"]),
    ],
)
def test_units(question: str, wanted: list[str]) -> None:
    assert [unit.text for unit in units_of(question)] == wanted


@pytest.mark.parametrize("question", ["what is it?", "who", "무엇인가요?"])
def test_a_question_of_frames_alone_keeps_its_terms(question: str) -> None:
    units = units_of(question)
    assert units
    assert all(unit.terms for unit in units)


@pytest.mark.parametrize("question", ["", "?!", "\ud800", "🙂"])
def test_a_question_without_a_word_has_no_unit(question: str) -> None:
    assert units_of(question) == []


def test_kinds() -> None:
    kinds = {unit.text: unit.kind for unit in units_of("Which port did Grace Hopper open for E-133 in 1952?")}
    assert kinds == {
        "port": "word", "Grace": "name", "Hopper": "name", "open": "word", "E": "name", "133": "number", "1952": "number"
    }  # fmt: skip


@pytest.mark.parametrize(
    "ending", ["은", "는", "이", "가", "을", "를", "에서", "에서는", "으로", "까지", "입니까", "인가요", "이란"]
)
def test_endings_come_off_and_never_leave_less_than_two_syllables(ending: str) -> None:
    assert strip_korean_endings("컨테이너" + ending) == "컨테이너"
    assert len(strip_korean_endings("돔" + ending)) >= 2


@pytest.mark.parametrize("ending", ["은", "를", "에서", "입니까?", "인가요?"])
def test_what_a_korean_word_shows_does_not_depend_on_its_ending(ending: str) -> None:
    """A text with another particle, or none, shows the word in full."""
    (unit,) = units_of("망원경" + ending)
    for text in ("망원경", "망원경의 거울", "큰 망원경이다"):
        assert unit.share_in(frozenset(analyze(text))) == 1.0


def test_shares() -> None:
    identifier = Unit("parse_config", tuple(analyze("parse_config")))
    assert identifier.share_in(frozenset(analyze("see parse_config"))) == 1.0
    assert identifier.share_in(frozenset(analyze("the config"))) == 0.5
    assert Unit("월드컵", ("월드", "드컵")).share_in(frozenset(["월드"])) == 0.5
    assert Unit("매개변수", tuple(analyze("매개변수"))).share_in(frozenset(["변수"])) == 0.0  # a third is chance


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_string_has_units_with_terms_the_index_knows(question: str) -> None:
    for unit in units_of(question):
        assert unit.terms
        assert unit.share_in(frozenset(unit.terms)) == 1.0
        assert unit.share_in(frozenset()) == 0.0
