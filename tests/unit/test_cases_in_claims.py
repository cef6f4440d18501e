"""Claims about an amount that the question gives, which the passages only bound: read by the bound, never a tick by chance."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kb.ask.records import SentenceCheck
from kb.ask.verify import verify
from kb.cli.doubts import reason_in
from kb.support.cases import Restated, restate_cases
from kb.support.check import check_support
from kb.support.faults import is_copy
from tests.unit.test_pack_and_prompt import chunk

TRIP = "A trip that costs more than €5,000 needs the approval of the director."
DOME = "No more than six visitors may be in the dome at the same time."
FREIGHT = "She carries nine passengers and up to 300 kg of freight."
PASSAGES = {
    1: chunk(1, f"{TRIP} {DOME}"),
    2: chunk(2, FREIGHT),
    3: chunk(3, "300만 원 이하이면 통장으로 받을 수 있습니다."),
}


@pytest.mark.parametrize(
    ("question", "claim", "text", "read"),
    [
        ("Who approves a trip for 7,000 euros?", "A trip for 7,000 euros needs approval.", TRIP, "A trip for more than €5,000 needs approval."),
        ("Who approves a trip for 3,000 euros?", "A trip for 3,000 euros needs approval.", TRIP, "A trip for less than €5,000 needs approval."),
        ("Can 4 visitors come?", "Yes, 4 visitors may come.", DOME, "Yes, no more than six visitors may come."),
        ("Can 17 visitors come?", "17 visitors may come.", DOME, "more than six visitors may come."),
        ("Is 14 m/s too much?", "At 14 m/s it closes.", "It closes when the wind exceeds 11 m/s.", "At more than 11 m/s it closes."),
        ("260만 원이면요?", "260만 원은 통장으로 받습니다.", "300만 원 이하이면 통장으로 받습니다.", "300만 원 이하는 통장으로 받습니다."),
        ("3명이 면회할 수 있나요?", "3명이 면회할 수 있습니다.", "한 번에 2명까지 면회할 수 있다.", "2명 초과가 면회할 수 있습니다."),
        # The one that it states itself, and the nearer one of two.
        ("A seat for 26 kg?", "At 26 kg he rides, since the seat takes up to 22 kg.", "A trailer takes up to 40 kg, for a child, at its back. The seat takes up to 22 kg.", "At more than 22 kg he rides, since the seat takes up to 22 kg."),
        ("Does a trip for 900 euros need it?", "A trip for 900 euros needs it.", f"A hotel costs up to €200. {TRIP}", "A trip for less than €5,000 needs it."),
    ],
)  # fmt: skip
def test_a_case_is_put_as_the_bound(question: str, claim: str, text: str, read: str) -> None:
    assert restate_cases(claim, [text], question).text == read


@pytest.mark.parametrize(
    ("question", "claim", "text"),
    [
        ("Who approves a trip?", "A trip for 7,000 euros needs approval.", TRIP),
        ("What is approved from 7,000 euros on?", "A trip for more than 7,000 euros needs approval.", TRIP),
        ("Is a trip for 7,000 euros paid?", "A trip for 7,000 euros is paid.", f"{TRIP} One for €7,000 was paid."),
        ("Can she carry 412 dogs?", "She can carry 412 dogs.", FREIGHT),
        ("Can she carry 300 kg?", "She can carry 300 kg.", FREIGHT),
        ("Is it 250 metres long?", "The bridge is 250 metres long.", "The bridge is over 200 metres long."),
        (
            "Are there 9,000 inhabitants?",
            "The town has 9,000 inhabitants.",
            "The town has more than 5,000 inhabitants.",
        ),
        ("다리가 250미터예요?", "이 다리는 길이가 250미터입니다.", "이 다리는 길이가 200미터 이상입니다."),
        # What denies, of a rule that does not: no matter of words.
        ("Is my 7 kg bag too heavy?", "Your 7 kg bag is too heavy.", "Bags may weigh up to 5 kg."),
        ("Are 4 visitors too many?", "4 visitors in the dome are too many.", DOME),
        ("Is 900 euros much?", "```\nlimit = 900 euros\n```", TRIP),
        ("What of 2021?", "In 2021 a trip needs approval.", TRIP),
    ],
)
def test_no_other_amount_is(question: str, claim: str, text: str) -> None:
    assert restate_cases(claim, [text], question) == Restated(claim)


def checked(
    text: str, question: str, reader: float | None = None, passages: Sequence[int] = (1, 2, 3)
) -> SentenceCheck:
    read = None if reader is None else lambda pairs: [reader for _ in pairs]
    (sentence,) = verify(text, {n: PASSAGES[n] for n in passages}, read=read, question=question).verification.sentences
    return sentence


def test_what_keeps_to_the_bound_is_backed() -> None:
    asked = "Who approves a trip for 7,000 euros?"
    sentence = checked("A trip that costs 7,000 euros needs the approval of the director [#1].", asked)
    assert sentence.status == "likely"
    assert sentence.text == "A trip that costs 7,000 euros needs the approval of the director."
    unasked = checked("A trip that costs 7,000 euros needs the approval of the director [#1].", "Who approves a trip?")
    assert unasked.status == "contradicted"


@pytest.mark.parametrize(
    ("text", "question", "reason"),
    [
        ("She carries 412 kg of freight [#2].", "Can she carry 412 kg?", "412 kg is more than 300 kg"),
        ("Yes, 17 visitors may be in the dome at the same time [#1].", "Can 17 visitors be there?", "17 visitors are more than six visitors"),
        ("A trip that costs €900 needs the approval of the director [#1].", "Does one for €900?", "€900 is less than €5,000"),
    ],
)  # fmt: skip
def test_what_does_not_is_contradicted_and_says_why(text: str, question: str, reason: str) -> None:
    sentence = checked(text, question)
    assert sentence.status == "contradicted"
    assert sentence.reasons[0] == reason


def test_no_reckoning_gets_a_tick_and_a_reader_may_doubt_it() -> None:
    said, asked = (
        "A trip for 7,000 euros has to have the director's approval [#1].",
        "Who approves one for 7,000 euros?",
    )
    assert checked(said, asked, 0.99).status == "likely"
    assert checked(said, asked, 0.2).status not in ("verified", "likely")


def test_of_two_tiers_the_case_is_in_the_narrower_one() -> None:
    text = "Orders over €50 ship for €5. Orders over €100 ship free of charge."
    asked = "What does shipping cost for an order of €150?"
    assert (
        restate_cases("An order of €150 ships free of charge.", [text], asked).text
        == "An order of over €100 ships free of charge."
    )
    passages = {1: chunk(1, text)}
    (sentence,) = verify("An order of €150 ships for €5 [#1].", passages, question=asked).verification.sentences
    assert sentence.status not in ("verified", "likely")


def test_another_bound_is_still_told_where_nothing_was_reckoned() -> None:
    assert checked(
        "More than six visitors may be in the dome at the same time [#1].", "How many may be there?"
    ).reasons == ("it says 'more than 6', the text does not",)


def test_the_reason_in_korean() -> None:
    assert reason_in("ko", "412 kg is more than 300 kg") == "412 kg: 300 kg 초과"


def test_half_of_a_denial_is_no_copy() -> None:
    assert not is_copy("more than six visitors may be in the dome at the same time.", DOME)
    assert is_copy("no more than six visitors may be in the dome at the same time.", DOME)
    assert check_support("More than six visitors may be in the dome at the same time.", [DOME]).status == "contradicted"
