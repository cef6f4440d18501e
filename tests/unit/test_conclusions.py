"""What follows about a case of the question from a rule that a sentence states, and what becomes of such a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kb.support.asked import read_asked
from kb.support.conclusions import conclusion_of


@pytest.mark.parametrize(
    ("question", "claim", "follows"),
    [
        ("26 kg, may he ride?", "At 26 kg he is too heavy, because the seat is permitted only up to 22 kg.", True),
        ("26 kg, may he ride?", "At 26 kg he may ride, because the seat is permitted only up to 22 kg.", False),
        ("20 kg, may he ride?", "At 20 kg he may ride, because the seat is permitted only up to 22 kg.", True),
        ("I owe £13.", "No, you cannot renew while you owe more than £10, so with £13 it is not possible.", True),
        ("I owe £13.", "You cannot renew while you owe more than £10, so with £13 it is possible.", False),
        (
            "A 10-hour flight in business class?",
            "A 10-hour flight may be in business class, as it is allowed for more than eight hours.",
            True,
        ),
        ("Is 11 too young?", "The course is for ages 12 to 18, so an 11-year-old is too young.", True),
        ("May a 14-year-old take it?", "The course is for ages 12 to 18, so a 14-year-old may take it.", True),
        ("He is 5.", "A 5-year-old is not admitted, as children under 6 may not go there.", True),
        ("On Postgres 12?", "Postgres 12 is too old; Postgres 13 or later is required.", True),
        ("90 minutes?", "90 minutes are allowed, because a stay of up to 2 hours is.", True),
        ("3만 8천 원은 누가 내나요?", "5만 원 이하는 임차인이 내므로 3만 8천 원은 임차인이 냅니다.", True),
        ("6명인데요?", "아니요, 5명까지라 6명은 못 합니다.", True),
        ("6명인데요?", "5명까지라 6명도 할 수 있습니다.", False),
        ("만 73세는요?", "만 50세부터 70세까지라서 만 73세는 가입할 수 없습니다.", True),
        ("37.1도인데요?", "37.5도 이상이면 면회할 수 없으므로 37.1도는 면회할 수 있습니다.", True),
        # A bound denies nothing, whatever words it is in.
        ("Is a bag of 7 kg allowed?", "Bags must not exceed 5 kg, so a bag of 7 kg is allowed.", False),
        ("Is a bag of 7 kg allowed?", "Bags must not exceed 5 kg, so a bag of 7 kg is not allowed.", True),
        ("17 visitors?", "No more than six visitors may come in, so 17 visitors may come in.", False),
        ("4 visitors?", "No more than six visitors may come in, so 4 visitors may come in.", True),
    ],
)
def test_what_follows(question: str, claim: str, follows: bool) -> None:
    found = conclusion_of(claim, question)
    assert found is not None
    assert found.follows is follows


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("May he ride?", "At 26 kg he is too heavy, because the seat is permitted up to 22 kg."),
        ("26 kg, may he?", "At 26 kg he is too heavy."),
        ("26 kg, may he?", "He may not, because 26 kg is more than 22 kg."),
        ("26 kg, may he?", "At 26 kg he may not, because the road is shorter than 22 km."),
        ("22 kg, may he?", "At 22 kg he may, because the seat is permitted up to 22 kg."),
        # What is free is not paid for: nothing tells which says no.
        ("3 hours?", "Parking is free for stays under 2 hours, so for 3 hours you do not pay."),
        ("10세는요?", "6세 미만은 무료이므로 10세는 요금을 내지 않습니다."),
        # A range of something else.
        ("A 5-year-old?", "The course takes 2 to 6 hours, so a 5-year-old may take it."),
        ("5 people?", "It is open from 10:00 to 18:00, so 5 people may come."),
        # Of something that neither the rule nor the question names.
        ("A dog of 8 kg?", "Dogs up to 10 kg may travel in the cabin, so dogs of 8 kg may eat on the velvet seats."),
        ("At 18:30?", "You may call at 18:30, because the desk is open for more than 8 hours."),
    ],
)
def test_nothing_follows_without_a_case_and_a_bound_on_such_amounts(question: str, claim: str) -> None:
    assert conclusion_of(claim, question) is None


def test_the_rule_may_stand_in_the_sentence_before() -> None:
    found = conclusion_of(
        "At 52 km/h the stage does not stop.", "It says 52 km/h.", "The stage does not stop below 60 km/h."
    )
    assert found is not None
    assert found.rule == "The stage does not stop below 60 km/h."
    assert conclusion_of("A 5-year-old gets a drink.", "He is 5.", "Children under 6 enter the park.") is None


SEAT = "The rear child seat is permitted up to 22 kg. With luggage the bike carries 27 kg."
CLAIM = "At 26 kg he is too heavy, because the rear child seat is permitted only up to 22 kg."


def told(claim: str, *, sure_of: str = "", before: Sequence[str] = ()) -> str:
    """How a sentence ends for a reader that is sure of what has these words, and finds nothing else."""

    def read(pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.99 if sure_of and sure_of in said else 0.01 for said, _ in pairs]

    claims = [*before, claim]
    return read_asked(claims, [(SEAT, "Bikes")] * len(claims), "He weighs 26 kg, may he ride?", None, read)[-1].status


def test_a_conclusion_from_the_texts_own_rule_is_likely_and_no_more() -> None:
    assert told(CLAIM) == "likely"  # the rule is a copy
    assert told("At 26 kg he is too heavy, because the rear child seat is permitted only up to 27 kg.") != "likely"
    assert told("At 26 kg he may ride, because the rear child seat is permitted only up to 22 kg.") != "likely"
    said = "At 26 kg he may not ride, because the rear child seat must be permitted up to 22 kg."
    assert told(said) != "likely"  # "must" for "is"
    assert told("At 26 kg Otto is too heavy, because the rear child seat is permitted only up to 22 kg.") != "likely"


def test_what_the_texts_deny_is_no_conclusion() -> None:
    dogs = "Dogs up to 10 kg may travel in the cabin. Dogs may not sit on the seats."
    claim = "Dogs up to 10 kg may travel in the cabin, so a dog of 8 kg may sit on the seats."
    for text, ends in ((dogs, "doubted"), (dogs.partition(" Dogs may")[0], "likely")):
        (one,) = read_asked(
            [claim], [(text, "Dogs")], "Can my dog of 8 kg sit on the seats?", None, lambda p: [0.02] * len(p)
        )
        assert ("likely" if one.status == "likely" else "doubted") == ends


def test_a_rule_in_other_words_needs_a_reader_that_is_sure_of_it() -> None:
    said = "At 26 kg he is too heavy, since small children may sit behind up to 22 kg."
    assert told(said) != "likely"
    assert told(said, sure_of="small children") == "likely"
