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
