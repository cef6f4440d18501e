"""Follow-ups made complete: a table of turns, English and Korean, and what must hold for any text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kb.ask.complete import is_named
from kb.ask.records import AskRequest
from kb.followup.records import Standalone, context_of, shown_sentence
from kb.followup.standalone import MOST_CHARS, make_standalone

NAMES = frozenset({"heron", "egret", "brewd", "왜가리", "백로"})

BOILER = "How often must Heron's boiler be drained?"
KOREAN_BOILER = "왜가리 보일러는 며칠마다 비워야 하나요?"

# question before, follow-up, the sentence that a person would write, the rule
SENTENCES = [
    (BOILER, "and Egret's?", "How often must Egret's boiler be drained?", "swap"),
    (BOILER, "What about egret?", "How often must egret's boiler be drained?", "swap"),
    ("What aperture does Egret have?", "no sorry, I meant Heron", "What aperture does Heron have?", "swap"),
    (BOILER, "why?", "Why must Heron's boiler be drained?", "question-word"),
    ("How do I install brewd on Linux?", "and on Windows?", "How do I install brewd on Windows?", "swap"),
    ("When does the ferry leave on Mondays?", "and on Fridays?", "When does the ferry leave on Fridays?", "swap"),
    ("When does the ferry leave?", "on Sundays too?", "When does the ferry leave on Sundays?", "swap"),
    (KOREAN_BOILER, "백로는요?", "백로 보일러는 며칠마다 비워야 하나요?", "swap"),
    ("배는 월요일에 언제 출발하나요?", "금요일에는요?", "배는 금요일에는 언제 출발하나요?", "swap"),
]


@pytest.mark.parametrize(("before", "asked", "sentence", "why"), SENTENCES)
def test_a_name_a_time_or_a_question_word_is_exchanged(before: str, asked: str, sentence: str, why: str) -> None:
    found = make_standalone(asked, before, NAMES.__contains__)
    assert (found.question, found.why) == (sentence, why)
    assert shown_sentence(found.question, asked) == sentence


# question before, follow-up, the rule
JOINED = [
    (BOILER, "and its filter?", "swap"),
    (BOILER, "Who does it?", "question-word"),
    (BOILER, "how often?", "question-word"),
    (BOILER, "is it heavy?", "pronoun"),
    (BOILER, "anything else?", "more"),
    ("How do I install brewd on Linux?", "how do I remove it?", "pronoun"),
    (KOREAN_BOILER, "그럼 필터는?", "swap"),
    (KOREAN_BOILER, "왜요?", "question-word"),
    (KOREAN_BOILER, "그건 누가 하나요?", "pronoun"),
    # Words that fit no place of a plain question: "How can I get the downtown of SF from the downtown hotel?"
    ("How can I get to the Kite library from the downtown hotel?", "I mean the downtown of SF", "swap"),
    ("Which is better: renting or buying?", "Gifting?", "swap"),
    ("What benefits does it offer?", "Heron?", "swap"),
    (f"{KOREAN_BOILER} 왜요?", "백로는요?", "swap"),
    ("E-114는 무슨 뜻이에요?", "E-141은요?", "swap"),
    ("What does Heron cost, and who pays Egret?", "and brewd?", "swap"),
    ("How many rooms does Heron have?", "why?", "question-word"),
    ("How often must Heron's boiler or Egret's boiler be drained?", "and brewd's?", "swap"),
]


@pytest.mark.parametrize(("before", "asked", "why"), JOINED)
def test_what_no_sentence_is_sure_for_is_joined_and_not_shown(before: str, asked: str, why: str) -> None:
    found = make_standalone(asked, before, NAMES.__contains__)
    assert (found.question, found.why) == (f"{before} {asked}", why)
    assert shown_sentence(found.question, asked) is None
    assert context_of(found.question, asked) == before


def test_a_model_reads_the_question_as_typed_with_the_one_before_it() -> None:
    joined = AskRequest("who does it?", standalone=f"{BOILER} who does it?")
    assert joined.asked("en") == f"who does it?\n(Asked before: {BOILER})"
    assert joined.own_question == "who does it?"
    completed = AskRequest("and Egret?", standalone="How old is Egret?")
    assert (completed.asked("en"), completed.own_question) == ("How old is Egret?", "How old is Egret?")
    assert AskRequest("How old is Egret?").asked("en") == "How old is Egret?"


def test_a_question_that_names_its_own_thing_goes_on_from_nothing() -> None:
    asked = "How do I install Brewd?"
    found = make_standalone(asked, "How is a path parameter declared?", NAMES.__contains__, lambda question: True)
    assert found == Standalone(asked)


def test_a_question_that_begins_with_its_topic_goes_on_from_nothing() -> None:
    asked = "flapjacks: what temperature?"
    assert make_standalone(asked, BOILER, NAMES.__contains__, lambda question: True) == Standalone(asked)


def test_a_question_that_goes_on_is_joined_to_those_before_it() -> None:
    asked = "what happens after a typo?"
    first = make_standalone(asked, BOILER, NAMES.__contains__, lambda question: True)
    assert first == Standalone(f"{BOILER} {asked}", "continued")
    second = make_standalone("is it heavy?", first.question, NAMES.__contains__)
    assert context_of(second.question, "is it heavy?") == f"{BOILER} {asked}"


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
    "How long does the filter hold before it clogs?",
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
    assert make_standalone(asked, BOILER, NAMES.__contains__) == Standalone(asked)


def test_a_chain_keeps_its_topic() -> None:
    last = BOILER
    for asked in ("and Egret's?", "why?", "who says so?"):
        last = make_standalone(asked, last, NAMES.__contains__).question
    assert last == "Why must Egret's boiler be drained? who says so?"


def test_without_an_earlier_question_nothing_changes() -> None:
    assert make_standalone("and Egret's?", "").question == "and Egret's?"


@given(st.text(max_size=80), st.text(max_size=80))
@example(",", "ᄀ")
def test_any_text_gives_a_question_that_holds_or_replaces_it(asked: str, before: str) -> None:
    found = make_standalone(asked, before)
    assert found == make_standalone(asked, before)
    assert bool(found.question.strip()) or not asked.strip()
    assert found.question.endswith(asked) or found.why in ("complete", "swap", "question-word")


def test_a_pasted_text_is_left_alone_and_takes_no_time() -> None:
    text = "and it was " * MOST_CHARS
    assert make_standalone(text, "How old is Heron?").question == text


def test_of_a_long_chain_the_first_questions_are_kept() -> None:
    last = BOILER
    for _ in range(40):
        last = make_standalone("and who does it then?", last).question
    assert last.startswith(BOILER)
    assert len(last) < 2 * MOST_CHARS
