"""What documents are about by their openings, and which of them a question names."""

from __future__ import annotations

import pytest

from kb.evidence.openings import OPENING_CHARS, Opening, is_month, says
from kb.evidence.question import units_of
from kb.evidence.subjects import NO_SUBJECTS, Subjects, find_subjects, without_names, words_lacking

LEASES = {
    1: Opening("leases/14-canal-terrace.md", "Tenancy agreement", "# Tenancy agreement\n\nProperty: 14 Canal Terrace"),
    2: Opening(
        "leases/rowan-cottage.txt", "AGREEMENT", "This agreement is for the letting of Rowan Cottage to the Hugheses."
    ),
    3: Opening(
        "leases/milner-street-27.md", "Tenancy agreement", "Address: 27 Milner Street. Sharers: four, from 1 May 2024."
    ),
    4: Opening("handbook.md", "Handbook", "For all our houses. The road is private."),
}
MINUTES = {
    1: Opening("회의록_2025-03.md", "청솔빌라 월례 회의록", "3월 20일, 로비에서"),
    2: Opening("회의록_2025-04.md", "청솔빌라 월례 회의록", "4월 17일, 로비에서"),
    3: Opening("출장보고서_부산.md", "출장 보고서", "출장자: 홍보팀 강다온"),
    4: Opening("출장보고서_제주.md", "출장 보고서", "출장자: 영업팀 류가온"),
    5: Opening("규정.md", "출장비 규정", "모든 직원에게 적용한다."),
}


def subjects(question: str, openings: dict[int, Opening], common: tuple[str, ...] = ()) -> Subjects:
    """Each word stands in one chunk of every document that tells it, and in one of document 4 where it is common."""
    units = units_of(question)
    holding = {
        unit.text: {i: frozenset({i}) for i, o in openings.items() if says(unit, question, o.told())}
        | ({4: frozenset({40, 41, 42, 43})} if unit.text in common else {})
        for unit in units
    }
    return find_subjects(question, units, openings, holding)


@pytest.mark.parametrize(
    ("question", "naming"),
    [
        ("Can they keep a dog in Canal Terrace?", {"Canal": {1}, "Terrace": {1}}),
        ("dogs in canal terrace?", {"canal": {1}, "terrace": {1}}),  # as its path calls it
        ("When do the Hugheses pay?", {"Hugheses": {2}}),  # a name, which its text alone has
        ("27 milner street, who mows the lawn?", {"27": {3}, "milner": {3}, "street": {3}}),
        ("What is the deposit for the tenancy?", {}),  # a plain word, of which two are of one kind
        ("Is the road closed?", {}),  # a plain word, which no path and no title has
        ("What did we agree on in 2024?", {}),  # many documents are of a year
        ("Is a dog allowed?", {}),
    ],
)
def test_what_a_question_names(question: str, naming: dict[str, set[int]]) -> None:
    assert {word: set(about) for word, about in subjects(question, LEASES).naming.items()} == naming


def test_a_word_that_others_say_as_often_names_nothing() -> None:
    assert subjects("dogs in rowan?", LEASES).naming.keys() == {"rowan"}
    assert subjects("dogs in rowan?", LEASES, common=("rowan",)).naming == {}
    # Under a capital it is a name, though it is mentioned elsewhere as often and more; not where it is met everywhere.
    assert subjects("Dogs in Canal Terrace?", LEASES, common=("Canal",)).naming.keys() == {"Canal", "Terrace"}
    assert subjects("Dogs in Rowan?", LEASES, common=("Rowan",)).naming == {}


def test_words_side_by_side_are_a_name_where_an_opening_has_them_under_capitals() -> None:
    lease = {
        1: Opening("lease-7.md", "Lease", "Property: Quarry Mews"),
        2: Opening("lease-8.md", "Lease", "Quarry Lane"),
    }
    assert subjects("dogs at quarry mews?", lease).naming == {"quarry": frozenset({1}), "mews": frozenset({1})}
    assert subjects("is there a quarry near the mews?", lease).naming == {}


def test_what_most_documents_are_about_names_none() -> None:
    everywhere = {i: Opening(f"{i}.md", "Marigold", "") for i in range(4)}
    found = subjects("Is Marigold open?", everywhere)
    assert (found.words, found.naming, found.unsaid) == ({}, {}, {})
    assert subjects("Is Marigold open?", {1: everywhere[1]}).naming == {"Marigold": frozenset({1})}


def test_words_of_each_document() -> None:
    found = subjects("Can they keep a dog in Canal Terrace?", LEASES)
    assert (found.of(1), found.of(2)) == ("Canal Terrace", "")
    assert (found.not_of(1), found.not_of(2)) == ((), ("Canal", "Terrace"))
    assert found.named() == {1}
    assert found.lacks_names(2, "Dogs are welcome.")
    assert not found.lacks_names(2, "Dogs are welcome, as in Canal Terrace.")
    assert not found.lacks_names(1, "One cat may be kept.")
    assert found.bare_question() == "Can they keep a dog ?"
    assert (found.are_alike(1, 3), found.are_alike(1, 2), found.are_alike(4, 1)) == (True, True, False)
    assert not NO_SUBJECTS.lacks_names(1, "")


def test_nothing_is_left_out_where_two_are_compared() -> None:
    found = subjects("Is the rent of Canal Terrace more than that of Rowan Cottage?", LEASES)
    assert (found.named(), found.naming) == (set(), {})


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("How do I set 10 workers?", "10-install.md"),
        ("Can I get a refund within 14 days?", "chapter-14.md"),
        ("Is it open to 20 guests?", "minutes/2024-03-20.md"),
        ("Was it paid in 2024?", "budget-2024.md"),
        ("Is it at Kingston?", "kingsley.md"),  # like it, and not it
        ("이사는 언제 해?", "사회.md"),
    ],
)
def test_what_is_no_name(question: str, path: str) -> None:
    assert subjects(question, {1: Opening(path, "", ""), 2: Opening("b.md", "", "")}).naming == {}


@pytest.mark.parametrize(
    ("question", "path", "number"),
    [
        ("Is a dog allowed at 14 Canal Terrace?", "14-canal-terrace.md", "14"),
        ("ND-120 호스는 몇 mm야?", "설명서_ND-120.md", "120"),
        ("모래내로 88 지하는 몇 시까지야?", "계약서_모래내로88.md", "88"),
        ("What is new in version 3.0?", "companion-3.0.txt", "3.0"),
    ],
)
def test_numbers_that_name(question: str, path: str, number: str) -> None:
    openings = {1: Opening(path, "", ""), 2: Opening("b.md", "", ""), 3: Opening("c.md", "", "")}
    assert subjects(question, openings).naming[number] == {1}


def test_a_definition_is_told_by_whoever_says_the_name() -> None:
    pages = {1: Opening("jwt.md", "JWT tokens", ""), 2: Opening("forms.md", "Forms", ""), 3: Opening("c.md", "C", "")}
    assert subjects("What is a JWT?", pages).words == {}
    assert subjects("How long is a JWT valid?", pages).words == {1: ("JWT",)}


def test_plain_words_give_way_to_names() -> None:
    """The notes of 3.0 call it Companion, those of 2.4 an app."""
    notes = {
        1: Opening("companion-3.0.txt", "COMPANION 3.0", ""),
        2: Opening("release-2.4.md", "App 2.4", ""),
        3: Opening("trip.md", "Trip", ""),
    }
    assert subjects("What is new in app version 3.0?", notes).naming == {"3.0": frozenset({1})}


@pytest.mark.parametrize(
    ("question", "document", "unsaid"),
    [
        ("강릉 출장 총 비용이 얼마였어?", 3, ("강릉",)),
        ("부산 출장 총 비용이 얼마였어?", 3, ()),
        ("부산 출장 총 비용이 얼마였어?", 4, ("부산",)),
        ("청솔빌라 9월 회의에서 뭘 정했지?", 1, ("9",)),
        ("3월 회의에서 뭘 정했지?", 2, ("3",)),
        ("3월 회의에서 뭘 정했지?", 1, ()),
        ("장미라 씨 출장은 언제야?", 3, ("장미라",)),
        ("강릉에서 출장비는 얼마야?", 3, ()),  # with a particle it is where, and not which
        ("404 출장은 뭐야?", 3, ()),
        ("강릉 숙박은 어땠어?", 3, ()),  # of no kind that documents are called by
    ],
)
def test_which_one_of_its_kind(question: str, document: int, unsaid: tuple[str, ...]) -> None:
    assert subjects(question, MINUTES).unsaid.get(document, ()) == unsaid


@pytest.mark.parametrize(
    ("path", "title", "held", "lacking"),
    [
        ("minutes-2024-02.md", "Minutes", ("February", "feb", "Feb"), ("March",)),
        ("report_20240317.txt", "Report", ("March",), ("February",)),
        ("회의록.md", "2025-06 회의록", (), ("June2",)),
        ("v2024-13.md", "Notes", (), ("December", "January")),
        ("x/tarn.brio-XL.v2.md", "Manual", ("tarn", "brio", "xl", "XL"), ("md", "xls")),
    ],
)
def test_words_of_a_name(path: str, title: str, held: tuple[str, ...], lacking: tuple[str, ...]) -> None:
    name = Opening(path, title, "").name()
    for word in (*held, *lacking):
        question = f"What of {word}?"
        (unit,) = units_of(question)
        assert says(unit, question, name) == (word in held), word


@pytest.mark.parametrize("path", ["", "/", "..", ".", "a/", ".hidden", "https://kb.example/"])
def test_a_path_without_a_name(path: str) -> None:
    assert Opening(path, "Title", "").name().splitlines()[1] == "Title"


def test_months_of_korean_questions() -> None:
    question = "3월 회의에서 5명이 뭘 정했지?"
    three, five = (next(unit for unit in units_of(question) if unit.text == number) for number in "35")
    assert (is_month(three, question), is_month(five, question)) == (True, False)
    assert says(three, question, "2025년 3월 20일")
    assert not says(three, question, "2025년 13월, 3일, 5월 3일")
    assert says(five, question, "5명")


def test_the_opening_ends() -> None:
    text = "x " * OPENING_CHARS + "Zephyr"
    (unit,) = units_of("Who is Zephyr?")
    assert not says(unit, "Who is Zephyr?", Opening("a.md", "A", text).told())


@pytest.mark.parametrize(
    ("question", "names", "bare"),
    [
        ("How much is the rent of the Rowan Cottage?", ["Rowan", "Cottage"], "How much is the rent ?"),
        ("Does Pike's estimate include scaffolding?", ["Pike's"], "Does estimate include scaffolding?"),
        ("ND-90 물통은 몇 리터야?", ["90"], "물통은 몇 리터야?"),
        ("달빛로 27 보증금은?", ["달빛", "27"], "보증금은?"),
        ("13월 3월 회의", ["3"], "13월 회의"),
        ("Where is Rowan Cottage?", ["Rowan", "Cottage"], ""),
    ],
)
def test_a_question_without_names(question: str, names: list[str], bare: str) -> None:
    assert without_names(question, names) == bare


def test_words_that_a_text_lacks() -> None:
    assert words_lacking(("Canal", "dog"), "A dog in Canal Terrace?", "Dogs: none.") == ("Canal",)
    assert words_lacking(("cat",), "A dog in Canal Terrace?", "") == ()  # no word of the question


def test_hangul_words_that_one_opening_has_help_to_choose() -> None:
    found = subjects(
        "벡스코 부스는 얼마야?", {**MINUTES, 3: Opening("출장보고서_부산.md", "출장 보고서", "출장지: 벡스코")}
    )
    assert (found.of(3), found.hinted_of(3), found.naming) == ("", "벡스코", {})
    assert subjects("로비에서 뭘 정했어?", MINUTES).hinted_of(1) == ""  # two have it


def test_what_two_are_called_is_part_of_the_name() -> None:
    manuals = {i: Opening(f"{name}.md", "Manual", "") for i, name in enumerate(("brio-s", "brio-xl", "cima", "vela"))}
    found = subjects("what's in the box of the brio xl", manuals)
    assert (found.naming.keys(), found.names(), found.bare_question()) == ({"xl"}, ("brio", "xl"), "what's in the box")
