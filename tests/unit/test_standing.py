"""Whether a word of a question stands in passages, in whatever form; who is not named where somebody speaks."""

from __future__ import annotations

import pytest

from kb.evidence.question import units_of
from kb.evidence.standing import Standing, is_first_person
from kb.text import analyze

TEXT = """Dust of the Sahara reaches Japan. Pythagoras of Samos. Bogotá lies high. Volkswagen was founded in 1937.
The United States of America. The endoplasmic reticulum. Hydrocarbon chains. RustRover's rival is CLion, written in Rust
for the rover. It cost 1,200 dollars."""


def stands(question: str, text: str = TEXT) -> dict[str, bool]:
    held = Standing([text], frozenset(analyze(text)))
    return {unit.text: held.holds(unit) for unit in units_of(question)}


@pytest.mark.parametrize(
    "word",
    [
        *("Saharan", "Japanese", "Pythagorean", "Bogota", "Volkwagen", "reticulm", "hydrocarbons", "USA", "carbon"),
        *("Rust", "RustRover", "1937", "1200", "1,200", "USD"),
    ],
)
def test_a_word_in_another_form_stands_there(word: str) -> None:
    assert stands(f"about {word}")[word]


@pytest.mark.parametrize(
    "word", ["Oracle", "CEO", "1938", "120", "FastRover", "Toyota", "stations", "UAE", "Samoa", "1,201", "euros"]
)
def test_another_word_does_not(word: str) -> None:
    assert not stands(f"about {word}")[word]


def test_a_name_in_one_word_is_not_there_because_its_parts_are() -> None:
    assert not stands("about RustRover", "Rust is a language.")["RustRover"]


@pytest.mark.parametrize(
    ("number", "text", "held"),
    [
        ("0.9.4", "It is out since 0.9.2; see 0, 9 and 4.", False),
        ("0.9.2", "Out since 0.9.2.", True),
        ("3.12", "Needs Python 3.12.1", True),
        ("3.1", "Needs Python 3.12", False),
        ("1.5", "It takes 21.5 minutes, 1 or 5 times", False),
        ("3.5", "v3.5부터 된다", True),
        ("0.5", "It moves at .5 m/s.", True),
        ("0.5", "It moves at 10.5 m/s.", False),
    ],
)
def test_a_version_is_not_there_because_its_parts_are(number: str, text: str, held: bool) -> None:
    assert stands(f"about {number}", text)[number] is held


@pytest.mark.parametrize(
    ("unit", "text", "held"),
    [
        ("euros", "The fee is €40.", True),
        ("kilometres", "The walk is 12 km long.", True),
        ("유로", "수수료는 €40입니다.", True),
        ("pounds", "The fee is £40.", True),
        ("euros", "The fee is $40.", False),
        ("minutes", "It takes 3 hours.", False),
        ("kilometres", "The walk takes 3 h.", False),
        ("euros", "Signs such as € stand before it.", False),
    ],
)
def test_a_unit_stands_there_by_its_sign(unit: str, text: str, held: bool) -> None:
    assert stands(f"{unit} 40", text)[unit] is held


def test_a_name_is_no_unit() -> None:
    assert not stands("Did Watt marry?", "The lamp uses 60 W.")["Watt"]


def test_a_number_may_be_two() -> None:
    assert stands("ports 80,443", "It uses ports 80 and 443.")["80,443"]
    assert not stands("a trip for 5,000", "It took 5 days.")["5,000"]


def test_a_korean_word_stands_there_with_another_particle() -> None:
    assert stands("거울은 언제 청소하나요?", "거울을 닦는다. 청소는 매주 한다.") == {"거울": True, "청소": True}
    assert not stands("지르콘은 얼마인가요?", "거울을 닦는다.")["지르콘"]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Tonight I ask Congress to pass my bill. I will sign it, and my administration will keep its word.", True),
        ("In this chapter we write our first program. Let's look at what it does, line by line, and run it.", False),
        (
            "The dome closes at dusk. The keeper wrote: nothing moves here. The mirror is cleaned every other week.",
            False,
        ),
    ],
)
def test_who_speaks_in_the_first_person(text: str, spoken: bool) -> None:
    assert is_first_person([text]) == spoken
