"""Numbers, dates and names out of a text: what is one, and how a message has it."""

from __future__ import annotations

import pytest

from kb.language.quantities import facts_of, missing_facts


@pytest.mark.parametrize(
    ("claim", "source", "missing"),
    [
        # A word behind a number is no part of it, unless it is a unit or a thing in the plural.
        ("A ride costs £58.00 on Sundays.", "A ride costs £9.", ["£58.00"]),
        ("It has 5 and more.", "", ["5"]),
        ("It is 5 metres high.", "", ["5 metres"]),
        ("It has 12 dogs.", "", ["12 dogs"]),
        ("이용료는 92,000원입니다.", "", ["92,000원"]),
        ("14일마다 닦습니다.", "", ["14일"]),
        # Dates as they are written.
        ("It opens on 1 June 2026.", "It opens in May.", ["1 June 2026"]),
        ("6월 1일에 엽니다.", "5월에 엽니다.", ["6월 1일"]),
        # A line break is a blank, and a name holds no number.
        ("Take it two hours before.", "Take it two\nhours before.", []),
        ("It was renewed on pay-gw-1 but not on pay-gw-2.", "Only one of the gateways has it.", []),
        ("Sea trade grew in the 1990s.", "Sea trade grew after 1990.", []),
        ("하루 열네 시간, 스물두 명이 일한다.", "하루 14시간, 22명이 일한다.", []),
        ("스무 살부터 들어간다.", "19살부터 들어간다.", ["스무 살"]),
        # Hours with their minutes are one length of time, and Korean numbers in words are numbers.
        ("It takes 2 hours and 40 minutes.", "It takes 160 min.", []),
        ("It takes 160 minutes.", "| ECO | 40 °C | 2 h 40 |", []),
        ("160분 걸립니다.", "2시간 40분이 걸린다.", []),
        ("2시간 30분 걸립니다.", "2시간 40분이 걸린다.", ["150분"]),
        ("It takes 2 hours, and 40 guests come.", "It takes 2 hours. 40 guests come.", []),
        ("권리금은 150만 원이었습니다.", "권리금을 백오십만 원 줬어요.", []),
        ("하루 80가마를 찧었습니다.", "하루에 여든 가마까지 찧었다.", []),
        ("오만 원입니다.", "5만 원을 냈다.", []),
        ("30년 전입니다.", "삼십 년 전이다.", []),
        ("이천만에 대해 말했다.", "말했다.", []),  # no number, but a name
        ("1회: 구두 경고", "첫 번째는 구두 경고", []),
        ("3회: 보관", "세 번째는 보관", []),
        # Hours with a part of the day.
        ("Only before 10 in the morning and after 6 in the evening.", "Before 10:00 and after 18:00.", []),
        ("It closes at nine at night.", "It closes at 21:00.", []),
        ("It closes at 8 in the evening.", "It closes at 21:00.", ["20:00"]),
    ],
)
def test_missing_numbers(claim: str, source: str, missing: list[str]) -> None:
    assert missing_facts(facts_of(claim), facts_of(source))[0] == missing


@pytest.mark.parametrize(
    ("claim", "source", "missing"),
    [
        ("값은 NaN이 됩니다.", "undefined는 `NaN`이 됩니다.", []),
        ("값은 `NaN`입니다.", "값은 NaN이다.", []),
        ("IE에서는 안 됩니다.", "IE에선 지원하지 않습니다.", []),
        ("값은 NaN이 됩니다.", "값은 0이 됩니다.", ["nan"]),
    ],
)
def test_names_before_korean_endings(claim: str, source: str, missing: list[str]) -> None:
    assert missing_facts(facts_of(claim), facts_of(source))[1] == missing


def test_a_decade_lasts_no_seconds() -> None:
    assert [q.kind for q in facts_of("It grew in the 1990s, for 90s.").quantities] == ["", "time"]
