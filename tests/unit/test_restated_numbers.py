"""A claim's numbers as its texts write equal ones: so words can be compared, and a model need not convert."""

import pytest

from kb.support.check import VERIFIED, check_support
from kb.support.numbers import restate_numbers


@pytest.mark.parametrize(
    ("claim", "text", "restated"),
    [
        ("It bakes for 2,400 seconds.", "Bake it for 40 minutes.", "It bakes for 40 minutes."),
        ("2 senators left.", "Both, two senators of ours, left.", "two senators left."),
        ("Chapter five discusses it.", "Chapter 5 discusses it; five hens do not.", "Chapter 5 discusses it."),
        # The number stands in the text within another one only.
        ("Listing 20-2 has 2 traits.", "Listing 20-2 has two traits.", "Listing 20-2 has two traits."),
        ("3번 굽고 2400초가 지나면 꺼낸다.", "세 번 굽고 40분이 지나면 꺼낸다.", "세 번 굽고 40분이 지나면 꺼낸다."),
        ("사과 3개를 샀다.", "그는 사과 세 개를 샀다.", "사과 세 개를 샀다."),
        ("It has 12 parts, then 2 parts.", "12 parts come, then two parts.", "It has 12 parts, then two parts."),
        ("There are 25 and 2.", "There are 25 and two.", "There are 25 and two."),
        # What is written so already, or counts something else, or is another number, stays.
        ("It bakes for 40 minutes.", "Bake it for 2,400 seconds, or 40 minutes.", "It bakes for 40 minutes."),
        ("Of them 2400 came.", "It takes 40 minutes.", "Of them 2400 came."),
        ("2 traits are there.", "Two apples are there.", "2 traits are there."),
        ("교황 6세는 늙었다.", "여섯 번째 교황이다.", "교황 6세는 늙었다."),
        ("It bakes for 3 minutes.", "Bake it for 40 minutes.", "It bakes for 3 minutes."),
        ("The code is 0000.", "The code has 0 digits.", "The code is 0000."),
        ("It is red.", "It has two doors.", "It is red."),
        ("It is cleaned every fortnight.", "Clean it every 14 days.", "It is cleaned every 14 days."),
        ("A report is due fortnightly.", "A report is due every 2 weeks.", "A report is due every 2 weeks."),
        ("It takes a fortnight.", "It takes a fortnight.", "It takes a fortnight."),
        # Korean ones, whose endings stay.
        ("처음 석 달은 수습입니다.", "수습 기간은 3개월입니다.", "처음 3개월은 수습입니다."),
        ("열흘은 겨울에 쓴다.", "그중 10일은 겨울에 써야 한다.", "10일은 겨울에 쓴다."),
        ("넉 달이 걸린다.", "3개월이 걸린다.", "넉 달이 걸린다."),
        ("비용은 1,250만 원이다.", "12,500,000원을 냈다.", "비용은 12,500,000원이다."),
        # Periods.
        ("회비는 매달 5천 원이다.", "회비는 한 달에 5,000원이다.", "회비는 한 달에 5,000원이다."),
        ("휴가는 1년에 28일이다.", "한 해 휴가는 28일이다.", "휴가는 한 해 28일이다."),
        ("Members pay £60 per year.", "They pay £60 a year.", "Members pay £60 a year."),
        ("Members pay £60 per year.", "They pay £5 a month.", "Members pay £60 per year."),
        ("It is wound each day.", "It is wound every day, and it rings once a day.", "It is wound each day."),
        ("It is wound every day.", "It is wound every day.", "It is wound every day."),
        ("It fell a year later.", "It is cleaned every year; it fell in 1990.", "It fell a year later."),
        ("It stood for a year.", "It is cleaned every year.", "It stood for a year."),
        ("It costs £5 each year.", "It stood for a year.", "It costs £5 each year."),
        ("매달 쉰다.", "월·수·금에 쉰다.", "매달 쉰다."),
        ("한 해 동안 닫는다.", "매년 닫는다.", "한 해 동안 닫는다."),
        ("매달 5,000원을 낸다.", "월 5,000원이다.", "월 5,000원을 낸다."),
        ("Within the year it fell.", "It fell a year later.", "Within the year it fell."),
        # Times of day.
        ("It begins at 19:30.", "On Sunday at 7.30 p.m. the choir sings.", "It begins at 7.30 p.m."),
        ("It is open until 16:00.", "It is open from 1 to 4 p.m. every day.", "It is open until 4 p.m."),
        ("도서관은 17시까지 연다.", "도서관은 오후 5시에 닫는다.", "도서관은 오후 5시까지 연다."),
        ("It begins at 19:30.", "It begins at 19:30, not at 7.30 p.m.", "It begins at 19:30."),
        # Bounds: the same in other words, and those that the text's number keeps and is near.
        ("No more than 15 may climb it.", "At most 15 people may climb it.", "At most 15 may climb it."),
        ("There are at least 20 hens.", "It has no fewer than 20 hens.", "There are no fewer than 20 hens."),
        ("It is more than 40 metres tall.", "It is 41 metres tall.", "It is 41 metres tall."),
        ("It takes just under 2,500 seconds.", "It takes 2,400 seconds.", "It takes 2,400 seconds."),
        ("About 40 metres of it are red.", "It is 41 metres tall.", "41 metres of it are red."),
        # Not kept, not near, of another kind, or of several.
        ("At most 15 may climb it.", "At least 15 people may climb it.", "At most 15 may climb it."),
        ("It is more than 40 metres tall.", "It is 39 metres tall.", "It is more than 40 metres tall."),
        ("It is more than 40 metres tall.", "It is 400 metres tall.", "It is more than 40 metres tall."),
        ("It has more than 40 steps.", "It is 41 metres tall.", "It has more than 40 steps."),
        ("It has more than 40 steps.", "It has 41 rooms.", "It has more than 40 steps."),
        ("It is over 40 metres tall.", "It is 41 metres tall and 42 metres wide.", "It is over 40 metres tall."),
    ],
)
def test_an_equal_number_of_the_same_kind_is_written_as_the_text_does(claim: str, text: str, restated: str) -> None:
    assert restate_numbers(claim, [text]) == restated


def test_a_text_that_differs_in_how_it_writes_a_number_backs_the_claim() -> None:
    text = "If the list has fewer than three items, the condition is true and the program ends at once."
    assert check_support("If the list has fewer than 3 items, the program ends.", [text]).score >= VERIFIED
    assert check_support("If the list has fewer than 4 items, the program ends.", [text]).status != "verified"


def test_a_copy_with_an_equal_number_is_a_copy() -> None:
    text = "The recipe has three steps, and each of them takes 40 minutes."
    assert check_support("The recipe has 3 steps, and each of them takes 2400 seconds.", [text]).score > 0.9
    assert (
        check_support("According to the recipe, it has 3 steps, and each of them takes 41 minutes.", [text]).score
        < 0.25
    )


def test_numbers_in_code_stay_as_they_are() -> None:
    block = "```\nset_delay(2400 seconds)\n```"
    assert check_support(block, ["Use set_delay(40 minutes)."]).status != "verified"
