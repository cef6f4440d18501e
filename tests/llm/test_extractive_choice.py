"""Of the best sentences, the one whose quote answers best as it would be shown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kb.llm.extractive import ExtractiveModel
from kb.llm.extractive_choice import BY_LOGIT, READ_CHARS, READ_QUOTES, UNDECIDED, as_read, choose_quote, quotes_of
from kb.llm.extractive_quote import Quote
from kb.llm.extractive_rank import Asked, Candidate
from kb.llm.protocol import Evidence, GenerateRequest, Token

QUESTION = "How do I update it?"


def candidate(passage: int, start: int = 0, heading: str = "Caching") -> Candidate:
    return Candidate(passage, 0, start, start + 10, f"sentence {passage}", heading, "", "prose", path=heading)


def quoted(each: Candidate, chars: int = 100) -> Quote:
    return Quote(f"quote {each.passage} ".ljust(chars, "x"), each.start, each.start + 50, None)


def chosen(
    candidates: Sequence[Candidate], scores: Sequence[float], logits: dict[int, float], question: str = QUESTION
) -> int:
    """The passage whose quote is chosen; each is read as the logits say."""

    def read(asked: str, texts: Sequence[str]) -> list[float]:
        assert asked == question
        return [next(logit for n, logit in logits.items() if f"quote {n} " in text) for text in texts]

    order = sorted(range(len(candidates)), key=lambda i: -scores[i])
    choices = quotes_of(candidates, scores, order, quoted)
    return candidates[choose_quote(read, Asked.of(question), choices, candidates).at].passage


def test_a_quote_that_reads_better_is_shown_before_a_sentence_that_scores_higher() -> None:
    candidates = [candidate(n) for n in range(2)]
    assert chosen(candidates, [1.0, 0.9], {0: -4.0, 1: 5.0}) == 1
    assert chosen(candidates, [1.0, 0.9], {0: 4.0, 1: 4.1}) == 0
    assert chosen(candidates, [3.0, 0.9], {0: -4.0, 1: 5.0}) == 0


def test_a_longer_quote_wins_where_the_rest_is_equal() -> None:
    candidates = [candidate(0), candidate(1)]
    quotes = [quoted(candidates[0], 60), quoted(candidates[1], 900)]
    choices = quotes_of(candidates, [1.0, 1.0], [0, 1], lambda each: quotes[each.passage])
    assert choose_quote(lambda asked, texts: [1.0] * len(texts), Asked.of(QUESTION), choices, candidates).at == 1


@pytest.mark.parametrize(("question", "passage"), [(QUESTION, 0), ("What is it?", 1)])
def test_where_steps_are_asked_for_a_recap_is_no_answer(question: str, passage: int) -> None:
    candidates = [candidate(0), candidate(1, heading="Chapter > Summary")]
    assert chosen(candidates, [1.0, 1.0], {0: 0.0, 1: 6.0}, question) == passage


def test_without_a_reader_or_in_korean_the_best_sentence_decides() -> None:
    candidates = [candidate(0), candidate(1)]
    choices = quotes_of(candidates, [1.0, 0.9], [0, 1], quoted)
    assert choose_quote(None, Asked.of(QUESTION), choices, candidates).at == 0
    assert choose_quote(lambda asked, texts: [], Asked.of(QUESTION), choices, candidates).at == 0
    assert choose_quote(lambda asked, texts: [0.0, 9.0], Asked.of("어떻게 하나요?"), choices, candidates).at == 0


def test_a_stretch_is_read_once_and_only_so_many() -> None:
    candidates = [candidate(0), candidate(0, start=20), *(candidate(n) for n in range(1, 6))]
    choices = quotes_of(candidates, [1.0] * 7, range(7), quoted)
    assert [candidates[choice.at].passage for choice in choices] == [0, 1, 2]
    assert len(choices) == READ_QUOTES


def test_the_reader_is_given_headings_and_beginning() -> None:
    candidates = [candidate(0, heading="Manual > Caching"), candidate(1)]
    given: list[str] = []

    def read(asked: str, texts: Sequence[str]) -> list[float]:
        given.extend(texts)
        return [0.0] * len(texts)

    choices = quotes_of(candidates, [1.0, 1.0], [0, 1], lambda each: quoted(each, 5000))
    choose_quote(read, Asked.of(QUESTION), choices, candidates)
    assert given[0].startswith("Manual › Caching quote 0")
    assert all(len(text) == READ_CHARS for text in given)


def test_the_model_shows_what_reads_best_as_a_whole() -> None:
    """Paragraph by paragraph the first passage is as good; only the second one's section answers."""
    evidence = (
        Evidence(1, "Update the lamp with care.\n\nIt is heavy."),
        Evidence(2, "Update the lamp at night.\n\nTurn it twice."),
    )

    def read(asked: str, texts: Sequence[str]) -> list[float]:
        return [9.0 if "at night" in text and "twice" in text else 0.0 for text in texts]

    request = GenerateRequest(
        system="",
        user="",
        question="How do I update the lamp?",
        evidence=evidence,
        language="en",
        max_tokens=500,
        evidence_score=0.9,
    )
    first = next(event for event in ExtractiveModel(read=read).generate_stream(request) if isinstance(event, Token))
    assert first.quoted is not None
    assert first.quoted.marker == 2


@pytest.mark.parametrize(
    ("second", "again", "passage", "read_again"),
    [
        (1.5, [0.0, 4.0], 1, [0, 1]),  # nearly as good to the first reader, better to the second
        (1.5, [0.0, 1.0], 0, [0, 1]),
        (1.5, [], 0, [0, 1]),  # it could not be read
        (2.0 - (UNDECIDED + 0.1) / BY_LOGIT, [0.0, 9.0], 0, []),  # the first reader has decided
    ],
)
def test_a_second_reader_decides_between_what_is_as_good_to_the_first(
    second: float, again: list[float], passage: int, read_again: list[int]
) -> None:
    candidates = [candidate(0), candidate(1), candidate(2)]
    choices = quotes_of(candidates, [1.0, 1.0, 1.0], [0, 1, 2], quoted)
    given: list[str] = []

    def second_reader(asked: str, texts: Sequence[str]) -> list[float]:
        given.extend(texts)
        return again

    chosen_one = choose_quote(
        lambda asked, texts: [2.0, second, -9.0], Asked.of(QUESTION), choices, candidates, second_reader
    )
    assert candidates[chosen_one.at].passage == passage
    assert [text.partition("quote ")[2][:1] for text in given] == [str(n) for n in read_again]


def test_what_stands_above_the_paragraph_that_answers_is_not_read() -> None:
    option = Quote("- Type: `number`\n- Default: `2`\n\nHow fast it turns.", 0, 50, (32, 50))
    assert as_read(candidate(0), option) == "Caching How fast it turns."
    assert as_read(candidate(0), option, with_list=True).startswith("Caching - Type: `number`")
    items = Quote("- a lamp\n- a coat\n\nThat is all.", 0, 50, (2, 8))
    assert as_read(candidate(0), items) == "Caching - a lamp - a coat That is all."


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("How do I install the pump on Windows?", 1),
        ("Where is the pump's file on windows?", 1),
        ("Is the pump on Windows slow?", 0),
        ("How do I install the pump?", 0),
    ],
)
def test_steps_on_one_operating_system_are_no_steps_on_another(question: str, passage: int) -> None:
    candidates = [candidate(0, heading="Linux"), candidate(1, heading="Windows")]
    assert chosen(candidates, [1.2, 1.0], {0: 0.0, 1: 0.0}, question) == passage
