"""When something happened is not answered by when its opposite did."""

from __future__ import annotations

import pytest

from kb.language.asked import lacks_what_is_asked
from kb.language.events import tells_of_opposite


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        ("When did Lind die?", "Lind was born in Lund in 1923.", True),
        ("When was Lind born?", "Lind died on 3 May 1971.", True),
        ("When was Lind born?", "Lind was born in 1923 and died in 1971.", False),
        ("When did Lind die?", "Axel Lind (1923 – 1971) was an engineer.", False),
        ("When was Lind born?", "Axel Lind (3 May 1923–9 June 1971) was an engineer.", False),
        ("When did Lind die?", "In 1971 the dome was handed over to his heirs.", False),
        ("When does the shop close?", "The shop opens at 9:00.", True),
        ("When does the shop open?", "The shop opens at 9:00 and closes at 17:00.", False),
        ("What time does the ferry leave?", "It arrives at 15:20.", True),
        ("When are the hours of birth and death noted?", "Births are noted at 9:00.", False),
        ("린드는 언제 죽었나요?", "린드는 1923년에 태어났다.", True),
        ("린드가 태어난 해는 언제인가요?", "린드는 1971년에 사망하였다.", True),
        ("린드는 언제 죽었나요?", "린드(1923년 5월 3일 ~ 1971년 6월 9일)는 기술자이다.", False),
        ("가게는 몇 시에 닫나요?", "가게는 9시에 문을 연다.", True),
        ("가게는 몇 시에 닫나요?", "가게는 9시에 열고 6시에 닫는다.", False),
        ("배는 언제 출발하나요?", "배는 15:20에 도착한다.", True),
    ],
)
def test_the_opposite_event_is_not_the_one_asked_for(question: str, text: str, wanted: bool) -> None:
    assert tells_of_opposite(question, text) == wanted


def test_only_questions_for_a_time_are_held_to_their_event() -> None:
    assert lacks_what_is_asked("When did Lind die?", "Lind was born in 1923.") == "date"
    assert lacks_what_is_asked("How do I close the dome?", "The dome opens by the left lever.") is None


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("A minor release may add features.", "date"),
        ("The keepers march to the tower.", "date"),
        ("It came out in May.", None),
        ("RELEASED IN MAY", None),
        ("out on 3 may", None),
        ("out on march 3", None),
        ("the 5th of may", None),
        ("in early may", None),
        ("12 MAR", None),
        ("May be released later.", "date"),
    ],
)
def test_may_and_march_are_months_by_their_capital_or_a_number_beside_them(text: str, lacking: str | None) -> None:
    assert lacks_what_is_asked("When was version 2 released?", text) == lacking
