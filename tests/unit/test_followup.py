"""Follow-ups made complete: a table of turns, English and Korean, and what must hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.ask.complete import is_named
from kb.followup.records import Turn
from kb.followup.standalone import MOST_CHARS, make_standalone

NAMES = frozenset({"heron", "egret", "brewd", "왜가리", "백로"})

# question before, follow-up, what is searched for, the rule
TURNS = [
    ("How often must Heron's boiler be drained?", "and Egret's?", "How often must Egret's boiler be drained?", "swap"),
    (
        "How often must Heron's boiler be drained?",
        "What about egret?",
        "How often must egret's boiler be drained?",
        "swap",
    ),
    (
        "How often must Heron's boiler be drained?",
        "and its filter?",
        "How often must Heron's filter be drained?",
        "swap",
    ),
    ("How often must Heron's boiler be drained?", "why?", "Why must Heron's boiler be drained?", "question-word"),
    (
        "How often must Heron's boiler be drained?",
        "Who does it?",
        "How often must Heron's boiler be drained: Who does it?",
        "question-word",
    ),
    ("How often must Heron's boiler be drained?", "is it heavy?", "is Heron's boiler heavy?", "pronoun"),
    (
        "How often must Heron's boiler be drained?",
        "how heavy is the boiler?",
        "how heavy is the boiler of Heron?",
        "definite",
    ),
    (
        "How often must Heron's boiler be drained?",
        "anything else?",
        "How often must Heron's boiler be drained: anything else?",
        "more",
    ),
    ("How do I install brewd on Linux?", "and on Windows?", "How do I install brewd on Windows?", "swap"),
    ("How do I install brewd on Linux?", "how do I remove it?", "how do I remove brewd?", "pronoun"),
    ("When does the ferry leave on Mondays?", "and on Fridays?", "When does the ferry leave on Fridays?", "swap"),
    ("When does the ferry leave?", "on Sundays too?", "When does the ferry leave on Sundays?", "swap"),
    ("왜가리 보일러는 며칠마다 비워야 하나요?", "백로는요?", "백로 보일러는 며칠마다 비워야 하나요?", "swap"),
    ("왜가리 보일러는 며칠마다 비워야 하나요?", "그럼 필터는?", "왜가리 필터는 며칠마다 비워야 하나요?", "swap"),
    (
        "왜가리 보일러는 며칠마다 비워야 하나요?",
        "왜요?",
        "왜가리 보일러는 며칠마다 비워야 하나요: 왜요?",
        "question-word",
    ),
    ("왜가리 보일러는 며칠마다 비워야 하나요?", "그건 누가 하나요?", "왜가리 보일러는 누가 하나요?", "pronoun"),
    ("배는 월요일에 언제 출발하나요?", "금요일에는요?", "배는 금요일에는 언제 출발하나요?", "swap"),
]


@pytest.mark.parametrize(("before", "asked", "searched", "why"), TURNS)
def test_follow_ups_are_made_complete(before: str, asked: str, searched: str, why: str) -> None:
    found = make_standalone(asked, [Turn(before)], NAMES.__contains__)
    assert (found.question, found.why) == (searched, why)


def test_a_question_that_names_its_own_thing_goes_on_from_nothing() -> None:
    turns = [Turn("How is a path parameter declared?", title="Path parameters")]
    assert (
        make_standalone("How do I install Brewd?", turns, NAMES.__contains__, lambda question: True).why == "complete"
    )


def test_a_question_that_goes_on_gets_the_topic_and_the_page() -> None:
    turns = [Turn("How often must Heron's boiler be drained?", title="Heron")]
    first = make_standalone("what happens after a typo?", turns, NAMES.__contains__, lambda question: True)
    assert first.question == "what happens after a typo? (Heron's boiler, Heron)"
    # What was carried is not what the next question is about, but for its topic.
    second = make_standalone("is it heavy?", [*turns, Turn(first.question)], NAMES.__contains__)
    assert second.question == "is Heron's boiler heavy?"


@pytest.mark.parametrize(
    ("rows", "is_tag", "in_title", "expected"),
    [
        ([], False, True, False),
        ([("max_size", "code", 1)], False, False, True),
        ([("Bertha", "name", 2)], False, False, True),
        ([("Submit", "name", 1)], False, False, False),
        ([("Thistle", "name", 1)], True, False, True),
        ([("return", "code", 40)], False, False, False),
        ([("brewd", "code", 3)], False, True, True),
        ([("Body", "code", 19), ("body", "code", 3)], False, False, False),
    ],
)
def test_what_counts_as_a_name(rows: list[tuple[str, str, int]], is_tag: bool, in_title: bool, expected: bool) -> None:
    assert is_named(rows, is_tag, in_title) is expected


COMPLETE = [
    "Where is the password of the guest network?",
    "How do I restart brewd when it hangs?",
    "What is Egret and who built it?",
    "Is it possible to book a room for Egret?",
    "와이파이 비밀번호는 뭐예요?",
    "generator fuel type",
    "발전기 연료 종류",
    "백로는 언제 지어졌나요?",
]


@pytest.mark.parametrize("asked", COMPLETE)
def test_a_complete_question_inherits_nothing(asked: str) -> None:
    found = make_standalone(asked, [Turn("How often must Heron's boiler be drained?")], NAMES.__contains__)
    assert (found.question, found.why, found.carried) == (asked, "complete", ())


def test_a_person_is_taken_from_the_answer() -> None:
    turns = [Turn("Who looks after brewd?", "Dr. Mina Alder looks after brewd.")]
    assert make_standalone("Where does she work?", turns).question == "Where does Dr. Mina Alder work?"


def test_both_means_the_topics_of_two_turns() -> None:
    turns = [Turn("How old is Heron?"), Turn("How old is Egret?")]
    assert make_standalone("who built both of them?", turns).question == "who built Heron and Egret?"


def test_a_chain_keeps_its_topic() -> None:
    turns = [Turn("How often must Heron's boiler be drained?")]
    for asked in ("and Egret's?", "why?"):
        turns.append(Turn(make_standalone(asked, turns, NAMES.__contains__).question))
    assert turns[-1].question == "Why must Egret's boiler be drained?"


def test_without_turns_nothing_changes() -> None:
    assert make_standalone("and Egret's?", []).question == "and Egret's?"


@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=80), max_size=3))
def test_any_text_gives_a_question_and_the_same_one_again(asked: str, before: list[str]) -> None:
    turns = [Turn(text) for text in before]
    first, second = make_standalone(asked, turns), make_standalone(asked, turns)
    assert first == second
    assert bool(first.question.strip()) or not asked.strip()


def test_a_pasted_text_is_left_alone_and_takes_no_time() -> None:
    text = "and it was " * MOST_CHARS
    assert make_standalone(text, [Turn("How old is Heron?")]).question == text
