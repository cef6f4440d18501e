"""How strongly a claim says a thing that the text says without that strength."""

from __future__ import annotations

import pytest

from kb.support.check import VERIFIED, support_score
from kb.support.strength import unsaid_strength


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Every keeper must link to a page of the harbour.", "A keeper may link to a page of the harbour."),
        ("Only the largest harbours make the logs public.", "Harbours make the logs public, old ones too."),
        ("You must clean the lamp at dusk.", "In the harbour keepers clean the lamp at dusk."),
        ("A lamp of oil is optional in the harbour.", "The harbour has a lamp of oil."),
        ("The lamp of the pier always burns by night.", "The lamp of the pier burns by night."),
        ("등대지기는 반드시 항구 안내에 기록을 남긴다.", "등대지기는 항구 안내에 기록을 남긴다."),
        ("램프를 켜는 유일한 사람은 등대지기다.", "램프를 켜는 사람은 등대지기다."),
        ("램프는 항상 밤에 빛난다.", "램프는 밤에 빛난다."),
    ],
)
def test_strength_that_the_text_lacks_is_unsaid(claim: str, text: str) -> None:
    assert list(unsaid_strength(claim, [text])), claim
    assert support_score(claim, [text]) < VERIFIED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("You must clean the lamp at dusk.", "Clean the lamp at dusk."),
        ("You must run the lamp at dusk.", "First, run lamps at dusk."),
        ("The lamp has to be cleaned each day.", "Keepers need to clean the lamp each day."),
        ("Only keepers may light the lamp.", "Nobody except keepers may light the lamp."),
        ("You can only light the lamp by hand.", "The lamp cannot be lit by anything but a hand."),
        ("A second lamp is not required here.", "You may add a second lamp here."),
        ("The lamp always burns by night.", "The lamp burns every night."),
        ("A keeper is not required to light the lamp.", "No keeper is needed to light the lamp."),
        ("램프는 반드시 닦아야 합니다.", "램프를 닦으세요."),
        ("등대지기만 램프를 켤 수 있다.", "등대지기 외에는 아무도 램프를 켤 수 없다."),
        ("The lamp burns by night.", "The lamp burns by night."),
    ],
)
def test_strength_that_the_text_has_in_other_words_is_said(claim: str, text: str) -> None:
    assert list(unsaid_strength(claim, [text])) == []


def test_strength_is_looked_for_where_the_matter_is() -> None:
    texts = ["The lamp of the pier burns by night.", "Boats must never cross the bar of the harbour."]
    assert list(unsaid_strength("The lamp of the pier must burn by night.", texts))
    assert list(unsaid_strength("The lamp of the pier must burn by night.", [])) == []
