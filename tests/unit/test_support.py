"""Does a text back a claim: sentences of an answer, exact facts, negation, words exchanged, and the score of all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.language.quantities import facts_of, missing_facts
from kb.support.check import FEATURES, READ, VERIFIED, WEAK, load_models, support_score
from kb.support.claims import find_claims
from kb.support.overlap import best_window
from kb.support.polarity import contradicts, polarity_of
from kb.support.substitution import exchanged_words

EVIDENCE = (
    "The mirror of Marigold is cleaned every 14 days. The dome closes at 12 m/s, and it must not be opened before dawn. "
    "Professor Adams founded the station in May 1998 with 3 helpers."
)
KOREAN = "마리골드의 거울은 14일마다 청소한다. 돔은 초속 12미터에서 닫힌다. 관측소는 2020년 5월 5일에 문을 열었다."


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Red torches only. [#1] No phones [#2][#3].", [("Red torches only.", (1,)), ("No phones.", (2, 3))]),
        ("Here .ignore wins over -x . [#1]", [("Here .ignore wins over -x.", (1,))]),
        ("A lamp [#1]. [#2] Two lamps.", [("A lamp.", (1,)), ("Two lamps.", (2,))]),
        ("One is here.[#1] Two are there.[#2]", [("One is here.", (1,)), ("Two are there.", (2,))]),
        ("- One thing [#1]\n- Two things.[#2]", [("One thing", (1,)), ("Two things.", (2,))]),
        ("| a | b |\n|---|---|\n| 1 | 2 [#1] |\n", [("1, b 2", (1,))]),
        ("Here it is:\n```\nx = 1\n```\n[#1]", [("```\nx = 1\n```", (1,))]),
        ("거울은 닦는다 [#1] 렌즈는 둔다 [#2]", [("거울은 닦는다", (1,)), ("렌즈는 둔다", (2,))]),
        ("It opens at dawn\n\n[#1]\n\nIt closes.", [("It opens at dawn", (1,)), ("It closes.", ())]),
        ("# Head [#3]\n\n**Bold** is *so* [#1]", [("Bold is so", (1,))]),
        ("Use e.g. this [#1]. Dr. Kim said so [#2].", [("Use e.g. this.", (1,)), ("Dr. Kim said so.", (2,))]),
        ("[#1] It leads.", [("It leads.", (1,))]),
        ("What is it? Nothing:", []),
        ("", []),
        ("[#1]", []),
    ],
)
def test_claims(text: str, claims: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(claim.text, claim.markers) for claim in find_claims(text)] == claims


@given(
    st.lists(st.sampled_from(["A bird. ", "[#1]", " [#2].", "\n", "- ", "| x |", "```\n", "다 ", "그는 간다", "\n\n"]))
)
def test_claims_lie_in_the_text_one_after_another(pieces: list[str]) -> None:
    text = "".join(pieces)
    end = 0
    for claim in find_claims(text):
        assert end <= claim.start < claim.end <= len(text)
        end = claim.end


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1,000 lamps", "1000 lamps"),
        ("5 km", "5 kilometres"),
        ("5 km", "5000 m"),
        ("May 5, 2020", "2020-05-05"),
        ("2020년 5월 5일에", "on 5 May 2020"),
        ("in May 2020", "2020년 5월 5일"),
        ("at 10 pm", "22:00"),
        ("오후 10시", "22:00"),
        ("every seven days", "7일마다"),
        ("twenty-five percent", "25%"),
        ("3만 원", "30,000원"),
        ("두 명", "2명"),
        ("이틀 뒤", "2일 뒤"),
        ("1.5 million people", "1,500,000 people"),
        ("in 2021", "May 5, 2021"),
        ("one of the lamps", "a lamp"),
        ("the Canadian flag", "a flag of Canada"),
        ("at 127.0.0.1:7878", "at _127.0.0.1:7878_ in your browser"),
        ("the code is 0755", "0755 is the code"),
        ("since version 1.2.3", "1.2.3 is the first that can"),
        ("Python 3.11 or later", "Python 3.11.7 or later"),
        ("in 404.html", "in _404.html_"),
        ("Because GitHub limits requests", "GitHub limits requests"),
        ("Every GitHub repository", "each repository on GitHub"),
    ],
)
def test_facts_that_say_the_same(claim: str, source: str) -> None:
    assert missing_facts(facts_of(claim), facts_of(source)) == ([], [])


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("every 15 days", "every 14 days"),
        ("the code is 0000", "the code is 0"),
        ("chmod 0755", "chmod 755"),
        ("7 lamps", "lamp 007"),
        ("5 km", "5 m"),
        ("12 m/s", "12 km/h"),
        ("5 days", "5 weeks"),
        ("May 6", "May 5, 2020"),
        ("2020년 5월 6일", "2020-05-05"),
        ("at 10 pm", "10:00"),
        ("25%", "25 euros"),
        ("세 명", "2명"),
        ("with Professor Adams", "with Professor Baker"),
        ("since version 2.1.3", "since version 1.2.3"),
        ("at 10.0.0.1", "at 10.0.0.12"),
    ],
)
def test_facts_that_differ(claim: str, source: str) -> None:
    assert missing_facts(facts_of(claim), facts_of(source)) != ([], [])


@pytest.mark.parametrize(
    ("claim", "source", "against"),
    [
        ("The mirror is not cleaned every 14 days.", "The mirror is cleaned every 14 days.", True),
        ("The tank must exceed 5 m", "The tank must not exceed 5 m", True),
        ("It isn't open on Mondays", "It is open on Mondays", True),
        ("The dome closes at 12 m/s", "The dome closes at 12 m/s, and it must not be opened before dawn.", False),
        ("Smoking is not allowed indoors", "Smoking is prohibited indoors", False),
        ("It is not only open on Mondays", "It is open on Mondays", False),
        ("The keeper doesn't have to know the tide", "The keeper doesn't need to know the tide", False),
        ("The keeper has to know the tide", "The keeper doesn't need to know the tide", True),
        ("Many say “no”, and some say “yes” to the lamp", "Many say “no” and some say “yes” to the lamp", False),
        ('Many say "no" to the new lamp', "Many people say “no” to the new lamp", False),
        (
            "Light it from the pier rather than directly from the boat",
            "Light it from the pier and not directly from the boat",
            False,
        ),
        ("The lamp has no way of knowing the tide", "The lamp cannot know the tide", False),
        ("Prefer not to also spell out the tide", "Preferably do not spell out the tide too", False),
        ("The lamps do not have to come in any order", "There is no order required of the lamps", False),
        ("A slow way to count the lamps", "A slow way (that doesn't work) to count the lamps", False),
        ("새 등대의 램프는 다른 램프보다 쓰기가 쉽지 않습니다", "새 등대의 램프는 다른 램프보다 쓰기가 쉽습니다", True),
        ("거울은 14일마다 닦지 않습니다", "거울은 14일마다 닦습니다", True),
        ("거울은 14일마다 청소하지 않는다", "거울은 14일마다 청소한다.", True),
        ("방문객은 12명까지 들어갈 수 없다.", "방문객은 12명까지 들어갈 수 있다.", True),
        ("거울은 14일마다 청소한다", "거울은 14일마다 청소한다.", False),
    ],
)
def test_negation(claim: str, source: str, against: bool) -> None:
    assert contradicts(polarity_of(claim), polarity_of(source)) is against


def test_a_name_in_the_place_of_another_is_seen_though_the_passage_has_both() -> None:
    sentence = "Professor Adams founded the station with Clara Vale in 1998."
    assert exchanged_words("Professor Brown founded the station with Clara Vale in 1998.", sentence) == [
        ("Brown", "Adams")
    ]
    assert exchanged_words("Clara Vale founded the station with Professor Adams in 1998.", sentence) == []
    game = "The All Star Game is played every year in July."
    assert exchanged_words("The All-Star Game is played every year in July.", game) == []
    assert exchanged_words("The station was opened by Brown.", sentence) == []
    assert exchanged_words("Anything in GitHub is a record.", "All in GitHub is a record.") == []


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The mirror of Marigold is cleaned every 14 days.", EVIDENCE),
        ("The dome closes at 12 m/s.", EVIDENCE),
        ("- **The dome** closes at 12 m/s", EVIDENCE),
        ("The mirror of Marigold is cleaned every fourteen days", EVIDENCE),
        ("거울은 14일마다 청소한다.", KOREAN),
        ("관측소는 2020-05-05에 문을 열었다.", KOREAN),
    ],
)
def test_backed(claim: str, text: str) -> None:
    assert support_score(claim, [text]) >= VERIFIED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The mirror of Marigold is cleaned every 15 days.", EVIDENCE),
        ("The mirror of Marigold is not cleaned every 14 days.", EVIDENCE),
        ("The dome closes at 12 km/h.", EVIDENCE),
        ("The dome must be opened before dawn.", EVIDENCE),
        ("Professor Brown founded the station in May 1998 with 3 helpers.", EVIDENCE),
        ("Professor Adams founded the station in June 1998 with 3 helpers.", EVIDENCE),
        ("Bananas are yellow.", EVIDENCE),
        ("거울은 15일마다 청소한다.", KOREAN),
        ("거울은 14일마다 청소하지 않는다.", KOREAN),
        ("관측소는 2020년 6월 5일에 문을 열었다.", KOREAN),
    ],
)
def test_not_backed(claim: str, text: str) -> None:
    assert support_score(claim, [text]) < WEAK


def test_several_texts_back_together_what_none_does_alone() -> None:
    parts = ["The ferry Heron carries 42 passengers.", "The ferry Heron sails at 07:30."]
    claim = "The ferry Heron carries 42 passengers and sails at 07:30."
    assert support_score(claim, parts) >= VERIFIED
    assert max(support_score(claim, [part]) for part in parts) < VERIFIED


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_any_text_has_a_score(claim: str, evidence: list[str]) -> None:
    assert 0.0 <= support_score(claim, evidence) <= 1.0


def test_nothing_backs_nothing() -> None:
    assert support_score("The dome closes.", []) < WEAK


def test_the_best_window_is_the_shortest_that_says_it() -> None:
    window = best_window("The dome closes at 12 m/s.", EVIDENCE)
    assert EVIDENCE[window.start : window.end].startswith("The dome closes at 12 m/s")
    assert "Adams" not in EVIDENCE[window.start : window.end]


def test_signs_are_fixed() -> None:
    for name in ("words", "cosine"):
        signs = dict(zip(FEATURES, load_models()[name].weights, strict=True))
        assert all(signs[name] >= 0 for name in ("said", "window", "pairs", "cosine"))
        assert all(signs[name] <= 0 for name in ("names", "elsewhere"))
    read = dict(zip(READ, load_models()["reader"].weights, strict=True))
    assert read["reader"] > 0 >= read["unsaid"]
