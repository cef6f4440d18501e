"""What a sentence claims for certain: decided, regardless, more than, cannot; held against a text that says less or otherwise."""

from __future__ import annotations

import pytest

from kb.support.faults import DENIED, find_faults

MEETING = "The committee proposes to raise the rent to £135 from January 2025; the members will vote on this."
VOTED = "The members agreed to raise the rent to £135 from January 2025."
FLOOD = "The flood of 2007 came 20 cm short of the mark of 1947, which is cut into the post."
PARKING = "방문 차량은 한 달 60시간까지 무료, 넘으면 1시간에 500원입니다."
CHOIR = "- 매주 화요일 저녁 7시 30분 ~ 9시 30분, 은행동 주민센터"
DUES = "석 달 이상 쉬면 쉬는 동안은 단비를 내지 않습니다. 두 달까지는 그대로 냅니다."
THEFT = "도난은 현지 경찰 신고서가 필요합니다. 경찰에 갈 수 없으면 호텔이나 가이드의 확인서로 대신할 수 있습니다."
PLANS = "2019년 이후 입사자는 DC에만 가입합니다."
BABY = "It needn't be declared unless there have been complications."


@pytest.mark.parametrize(
    ("claim", "text", "against"),
    [
        ("The members have decided to raise the rent to £135 from January 2025.", MEETING, True),
        ("The members have decided to raise the rent to £135 from January 2025.", VOTED, False),
        ("It is proposed to raise the rent to £135 from January 2025.", MEETING, False),
        (
            "We change the function in Listing 9-9 to return an error.",
            "We change the function in Listing 9-7 to return an error.",
            True,
        ),
        (
            "We change the function in Listing 9–7 to return an error.",
            "We change the function in Listing 9-7 to return an error.",
            False,
        ),
        ("It stayed 20 cm below the 1947 mark on the post.", FLOOD, False),
        ("무료 60시간을 넘으면 1시간에 500원입니다.", PARKING, False),
        ("저녁 7시 30분부터 은행동 주민센터에서 연습합니다.", CHOIR, False),
        ("호텔이나 가이드의 확인서로 대신할 수 없습니다.", THEFT, True),
        ("호텔이나 가이드의 확인서로 대신할 수 있습니다.", THEFT, False),
        ("2019년 이후 입사자는 DB에 가입할 수 없습니다.", PLANS, False),
        ("It only has to be declared if there have been complications.", BABY, False),
    ],
)
def test_against(claim: str, text: str, against: bool) -> None:
    assert bool(find_faults(claim, [text, "a notice"], text).against) is against


@pytest.mark.parametrize(
    ("claim", "text", "unsaid"),
    [
        ("쉬는 동안에는 기간과 관계없이 단비를 내지 않습니다.", DUES, ("'관계없이' is not said there",)),
        (
            "You pay nothing regardless of how long you stay away.",
            "You pay nothing if you stay away for three months.",
            ("'regardless of' is not said there",),
        ),
        ("You pay nothing regardless of how long you stay away.", "You pay nothing, however long you stay away.", ()),
    ],
)
def test_unsaid(claim: str, text: str, unsaid: tuple[str, ...]) -> None:
    assert find_faults(claim, [text, "a notice"], text).unsaid[:1] == unsaid


def test_the_same_words_with_a_denial_mean_the_opposite() -> None:
    """No reader outweighs that; one may where other words are used."""
    copied = find_faults("Dogs may not enter the old tower at night.", ["Dogs enter the old tower at night."], "")
    assert copied.against
    assert not copied.may_be_said_otherwise()
    other = find_faults("호텔이나 가이드의 확인서로 대신할 수 없습니다.", [THEFT], THEFT)
    assert other.against == ("the text says the opposite of '호텔이나 가이드의 확인서로 대신할 수 없습니다.'",)
    assert DENIED not in other.against
