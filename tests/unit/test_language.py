"""What every language brings: tables that compile, the same replies, units that are known; and how they are joined."""

import re
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from kb.language.interface import Language, PatternKind, WordKind
from kb.language.korean_particles import (
    ALL_ENDINGS,
    NAME_PARTICLES,
    NEGATED_ENDINGS,
    QUESTION_ENDINGS,
    SPOKEN_PARTICLES,
    fitting_particle,
    strip_ending,
    strip_question_ending,
)
from kb.language.quantities import UNITS, facts_of
from kb.language.registry import LANGUAGES, pattern, question_language, says, words

ROOT = Path(__file__).parents[2]
SYMBOLS = {symbol for symbols in UNITS.values() for symbol in symbols}
each_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)


@each_language
def test_a_language_keeps_to_the_kinds_there_are(language: Language) -> None:
    assert set(language.words) <= set(get_args(WordKind))
    assert set(language.patterns) <= set(get_args(PatternKind))


@each_language
def test_words_are_written_as_they_are_looked_for(language: Language) -> None:
    for kind, listed in language.words.items():
        assert listed, kind
        assert all(word == word.casefold().strip() for word in listed), kind


@each_language
def test_a_language_with_letters_of_its_own_finds_nothing_in_a_text_without_them(language: Language) -> None:
    """Such a text is not searched for its patterns at all, so none of their alternatives may be in Latin letters alone."""
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line.isascii()]
    assert lines
    for kind, written in language.patterns.items():
        assert re.compile(written, re.I), kind
        if language.letters:
            assert not [line for line in lines if re.search(written, line, re.I)], kind


@each_language
def test_units_are_names_of_symbols_that_are_known(language: Language) -> None:
    assert {names.split()[0] for names in language.numbers.units} <= SYMBOLS


@each_language
def test_replies_are_those_of_the_first_language_with_the_same_blanks(language: Language) -> None:
    def blanks(reply: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(reply)}

    first = next(iter(LANGUAGES.values()))
    assert language.replies.keys() == first.replies.keys()
    for kind, reply in language.replies.items():
        assert blanks(reply) - {None} == blanks(first.replies[kind]) - {None}, kind


def test_every_kind_is_used_by_some_language() -> None:
    assert {kind for language in LANGUAGES.values() for kind in language.words} == set(get_args(WordKind))
    assert {kind for language in LANGUAGES.values() for kind in language.patterns} == set(get_args(PatternKind))


def test_patterns_of_all_languages_are_joined_for_a_text_in_any() -> None:
    assert says("thanks", "thanks, 고마워요")
    assert says("apology", "죄송합니다")
    assert pattern("thanks", "thanks").pattern != pattern("thanks", "고마워요").pattern
    assert {"sorry"}.isdisjoint(words("stop"))
    assert {"그", "and"} & words("beside_small_talk") == {"and"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("?!", "en"),
        ("naïve café", "en"),
        ("뭐야", "ko"),
        ("FastAPI 뭐야", "ko"),
        ("この本", "en"),
        ("Server-Sent Events란?", "ko"),
        ("FastAPI async def 차이?", "ko"),
        ("What does 미들웨어 mean?", "en"),
        ("The Book에서 소유권이란?", "ko"),
        ("do..while은 언제 쓰나요?", "ko"),
        ("The Garbage Collection Handbook은 누가 썼나요?", "ko"),
        ("How do I say 안녕하세요?", "en"),
    ],
)
def test_a_question_is_in_the_language_of_its_letters_else_in_the_first(text: str, language: str) -> None:
    assert question_language(text) == language


@pytest.mark.parametrize("table", [NAME_PARTICLES, SPOKEN_PARTICLES, QUESTION_ENDINGS, ALL_ENDINGS, NEGATED_ENDINGS])
def test_endings_stand_longest_first_and_once(table: tuple[str, ...]) -> None:
    assert [len(ending) for ending in table] == sorted((len(ending) for ending in table), reverse=True)
    assert len(set(table)) == len(table)


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("출처란", "출처"),
        ("소유권이라는", "소유권"),
        ("청소하나요", "청소"),
        ("저자는", "저자"),
        ("나는", "나는"),
        ("C는", "C"),
        ("이란", "이란"),
    ],
)
def test_a_word_of_a_question_loses_its_ending(word: str, bare: str) -> None:
    assert strip_question_ending(word) == bare


def test_an_ending_is_taken_off_only_where_a_stem_is_left() -> None:
    assert strip_ending("앞으로", ALL_ENDINGS, least_chars=3) == "앞으로"
    assert strip_ending("복제하려면", ALL_ENDINGS) == "복제"


@pytest.mark.parametrize(
    ("stem", "particle", "fitting"), [("거울", "를", "을"), ("시계", "과", "와"), ("돔", "에서", "에서")]
)
def test_a_particle_goes_with_the_sound_before_it(stem: str, particle: str, fitting: str) -> None:
    assert fitting_particle(stem, particle) == fitting


def test_one_text_may_count_in_two_languages() -> None:
    facts = facts_of("두 시간 and seven days, 2020년 5월 5일 or May 6, 2020")
    assert {(quantity.value, quantity.kind) for quantity in facts.quantities} == {(7200.0, "time"), (7.0, "day")}
    assert sorted((date.month, date.day) for date in facts.dates) == [(5, 5), (5, 6)]
