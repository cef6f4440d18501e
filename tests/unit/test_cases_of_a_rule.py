"""Words and numbers that a question brings along, and the passage has in another form: a case of its rule, its own word for the thing."""

from __future__ import annotations

import pytest

from kb.evidence.naming import names_lacking
from kb.evidence.question import units_of
from kb.evidence.standing import Standing
from kb.text import analyze


@pytest.mark.parametrize(
    ("question", "quoted", "lacking"),
    [
        ("퇴직금이 260만 원인데 통장으로 받나요?", "300만 원 이하이면 통장으로도 받을 수 있습니다.", ()),
        (
            "2021년에 입사했는데 DB로 가입할 수 있나요?",
            "DB와 DC가 있다. 2019년 1월 1일 이후 입사자는 DC에만 가입한다.",
            (),
        ),
        ("Can I bring 30 kg of baggage?", "Baggage: up to 23 kg.", ()),
        ("I joined in 2021, do I get it?", "Whoever joined after 1 May 2019 gets it.", ()),
        # What bounds nothing of the kind.
        ("How many visitors came in 2021?", "In 2019 there were 300 visitors.", ("2021",)),
        ("Can I bring 30 dogs?", "Baggage: up to 23 kg.", ("30",)),
        ("260만 원은 누가 냈나요?", "총무가 300만 원을 냈습니다.", ("260",)),
    ],
)
def test_names_lacking(question: str, quoted: str, lacking: tuple[str, ...]) -> None:
    assert names_lacking(question, quoted) == lacking


@pytest.mark.parametrize(
    ("word", "text", "stands"),
    [
        ("stolen", "Theft of luggage must be reported to the police.", True),
        ("kids", "There is no fine on children's books.", True),
        ("fridge", "The refrigerator stands in the cellar.", True),
        ("cone", "The plastic collar stays on for ten days.", False),
        ("엘베", "승강기 교체 공사를 시작합니다.", True),
        ("핸드폰", "휴대전화는 학교에서 보관한다.", True),
        ("RustRover", "Rust has a compiler.", False),
        ("kids", "There is no fine on books.", False),
        ("엘베", "계단 공사를 시작합니다.", False),
    ],
)
def test_an_everyday_word_stands_where_the_documents_have_their_own(word: str, text: str, stands: bool) -> None:
    (unit,) = units_of(word)
    assert Standing([text], frozenset(analyze(text))).holds(unit) is stands
