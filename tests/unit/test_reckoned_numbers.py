"""Numbers that a text has in another form, and numbers that may be reckoned from two of its: neither is called missing."""

from __future__ import annotations

import pytest

from kb.language.quantities import facts_of
from kb.support.clauses import are_opposite, words_of
from kb.support.faults import find_faults
from kb.text import split_sentences


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("two and a half hours", "150 minutes"),
        ("an hour and a half", "90 minutes"),
        ("a year and a half", "18 months"),
        ("half an hour", "30 minutes"),
        ("half a million", "500,000"),
        ("2시간 반", "150분"),
        ("두 시간 반이 걸린다", "150분"),
        ("반년이 걸린다", "6개월"),
        ("석 달이 걸린다", "3개월"),
        ("넉 장을", "네 장을"),
    ],
)
def test_halves(one: str, other: str) -> None:
    (mine,), (its,) = facts_of(one).quantities, facts_of(other).quantities
    assert (mine.kind, mine.value) == (its.kind, its.value)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("about 2.20 p.m. on Monday", {860}),
        ("1 to 5 p.m.", {780, 1020}),
        ("9 to 5 p.m.", {1020}),  # it begins in the morning
        ("9.30 a.m. to 4.45 p.m.", {570, 1005}),
        ("오후 1시부터 5시까지", {780, 1020}),
        ("오전 9시~12시", {540, 720}),
    ],
)
def test_hours(text: str, minutes: set[int]) -> None:
    assert facts_of(text).times == minutes


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("Guests pay four pounds.", "Guests pay £4.", False),
        ("Guests pay five pounds.", "Guests pay £4.", True),
        ("The flour weighs four pounds.", "The flour weighs 4 kg.", True),
        ("It was four degrees over its limit.", "It had 9 °C, against a limit of 5 °C.", False),
        ("It had four degrees.", "It had 9 °C, against a limit of 5 °C.", True),  # nothing says that it is a difference
        ("It was six degrees over its limit.", "It had 9 °C, against a limit of 5 °C.", True),
        ("It closes two hours earlier in winter.", "It is open until 21:00, in winter until 19:00.", False),
        ("It closes three hours earlier in winter.", "It is open until 21:00, in winter until 19:00.", True),
        ("It was mended two days after the storm.", "The storm came on 14 March; on 16 March it was mended.", False),
        ("The firm closed after her, in 2002.", "She died in 1998, four years before the firm closed.", False),
        ("The firm closed after her, in 2003.", "She died in 1998, four years before the firm closed.", True),
        ("2016년에 집을 옮겼다.", "2015년에 불이 났고, 이듬해 집을 옮겼다.", False),
        ("2017년에 집을 옮겼다.", "2015년에 불이 났고, 이듬해 집을 옮겼다.", True),
        ("학생은 절반인 1만 원을 낸다.", "회비는 2만 원이며 학생은 절반만 낸다.", False),
        ("학생은 절반인 2만 5천 원을 낸다.", "회비는 2만 원이며 학생은 절반만 낸다.", True),
    ],
)
def test_what_may_be_reckoned_is_not_missing(claim: str, text: str, missing: bool) -> None:
    assert bool(find_faults(claim, [text], text).absent) is missing


@pytest.mark.parametrize(
    ("claim", "text", "against"),
    [
        ("Without a guide you may not use it.", "It may be used only with a guide.", False),
        ("학생은 연구원이 없으면 쓸 수 없다.", "학생은 연구원이 있을 때만 쓸 수 있다.", False),
        ("학생은 쓸 수 없다.", "학생은 연구원이 있으면 쓸 수 있다.", True),
        ("Caps are needed, though not in the paddling pool.", "Caps are compulsory but not in the paddling pool.", False),
        ("Hives stand no closer than 3 metres to it.", "Each hive must stand at least 3 metres from it.", False),
        ("You pay at most £250, never more than that.", "You pay up to £250.", False),
        ("The path over the pass is easier than that through the gorge.", "The path through the gorge is easier than that over the pass.", True),
        ("36 crates of cream were thrown away.", "By then the room had 9 degrees: eleven crates of cream were thrown away.", True),
        ("Registers are kept in the north store at 8 °C.", "Registers are kept in the north store at 16 °C, photographs in the east store at 8 °C.", True),
        ("Photographs are kept in the east store at 8 °C.", "Registers are kept in the north store at 16 °C, photographs in the east store at 8 °C.", False),
        ("A swim costs €3 for children.", "A swim costs €6.50 for adults and €3 for children.", False),
        ("The pond is smaller than the lake.", "The lake is bigger than the pond.", False),
        ("The pond is bigger than the lake.", "The lake is bigger than the pond.", True),
        ("The first 12 weeks are a trial.", "The apprenticeship lasts three years; 12 weeks of it are a trial.", False),
        ("It can be seen from the beginning of April to the end of October.", "It is open from April to October.", False),
        ("Dogs have to stay off the trams unless they are assistance dogs.", "Dogs are not allowed on the trams, except assistance dogs.", False),
        ("Petra Lusser halted her group.", "Petra Lusser teaches. Ms Lusser halted her group.", False),
        ("회의는 19시 30분에 시작되었다.", "회의는 저녁 7시 반에 시작되었다.", False),
        ("The alarm went off at 2:40 a.m. on 14 March.", "At 02:40 on Tuesday 14 March the alarm sounded.", False),
    ],
)  # fmt: skip
def test_what_the_text_says_otherwise(claim: str, text: str, against: bool) -> None:
    assert bool(find_faults(claim, [text], text).against) is against


def test_a_verb_with_the_stem_of_an_adjective_has_no_opposite() -> None:
    first, last, lasts = words_of("first last lasts")
    assert are_opposite(first, last)
    assert not are_opposite(first, lasts)


def test_a_sentence_ends_behind_a_degree() -> None:
    text = "The room had 9 °C. Eleven crates were thrown away."
    assert [text[a:b] for a, b in split_sentences(text)] == ["The room had 9 °C.", "Eleven crates were thrown away."]


PLAY = "The play is at 19:30 – 21:30. 64 people came, and 58 stayed. Ada paid two thirds of the £1,140, Tom the rest."
LATE = "Baggage that is late: £40 a day for up to five days. Up to week 32 (week 28 with twins)."


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        # Of two numbers that the claim names.
        ("64 people came, 58 stayed and 6 people left.", PLAY, []),
        ("64 people came, 58 stayed and 8 people left.", PLAY, ["8"]),
        ("It fell by 50 %, from £1,500 to £750.", "| gifts | £1,500 | £750 |", []),
        ("It fell by 40 %, from £1,500 to £750.", "| gifts | £1,500 | £750 |", ["40 %"]),
        # Spans.
        ("It lasts two hours.", PLAY, []),
        ("It lasts three hours.", PLAY, ["three hours"]),
        ("11시부터 20분 동안 합니다.", "| 중환자실 | 오전 11시~11시 20분 |", []),
        ("11시부터 30분 동안 합니다.", "| 중환자실 | 오전 11시~11시 20분 |", ["30분"]),
        ("It stood still for three months.", "It stood still from July to September.", []),
        ("It stood still for four months.", "It stood still from July to September.", ["four months"]),
        ("5월 한 달 동안 신고합니다.", "해마다 5월 1일부터 31일까지 신고한다.", []),
        # Shares.
        ("Ada paid £760 and Tom £380.", PLAY, []),
        ("Ada paid £860 and Tom £380.", PLAY, ["£860"]),
        # All of it.
        ("You get at most £200 in all.", LATE, []),
        ("You get at most £250 in all.", LATE, ["£250"]),
        ("You get £200.", LATE, ["£200"]),
        ("It is four weeks less with twins.", LATE, []),
        # About.
        ("It runs for almost three and a half hours.", "| ECO | 3 h 25 |", []),
        ("It runs for almost four and a half hours.", "| ECO | 3 h 25 |", ["4.5 hours"]),
        # Years and days that the text has apart.
        ("He began on 12 September 2023.", "He began on 12 September. The year was 2023.", []),
        (
            "He began on 12 September 2022.",
            "He began on 12 September. The year was 2023, after 2022.",
            ["12 September 2022"],
        ),
        ("10월 12일로 미룹니다.", "10월 5일에 열고, 비가 오면 12일로 미룬다.", []),
        ("10월 13일로 미룹니다.", "10월 5일에 열고, 비가 오면 12일로 미룬다.", ["10월 13일"]),
        ("1983년에 시작했습니다.", "팔십삼년 봄이지.", []),
        ("1984년에 시작했습니다.", "팔십삼년 봄이지.", ["1984년"]),
        # A message has a number as the claim has it.
        ("It takes 3 hours and 10 minutes.", "It takes 3 h 25.", ["3 hours and 10 minutes"]),
        ("권리금은 백육십만 원이었다.", "권리금을 백오십만 원 줬어요.", ["백육십만 원"]),
    ],
)
def test_what_may_be_reckoned_from_what_is_there(claim: str, text: str, missing: list[str]) -> None:
    assert find_faults(claim, [text, "a report"], text).absent == tuple(f"{number} is not there" for number in missing)


def test_a_year_may_stand_in_the_heading() -> None:
    text = "He began on 12 September. In 2022 there were 41 of us."
    assert not find_faults("He began on 12 September 2023.", [text, "Report 2023"], text).absent
    assert find_faults("He began on 12 September 2023.", [text, "Report"], text).absent
