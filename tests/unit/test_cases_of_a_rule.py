"""Words and numbers that a question brings along, and the passage has in another form: a case of its rule, its own word for the thing."""

from __future__ import annotations

import pytest

from kb.evidence.cases import is_case
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
        ("Who approves a trip for 7,000 euros?", "A trip that costs more than €5,000 needs the director.", ()),
        ("Is it open on Tuesday?", "Open Wednesday to Sunday.", ()),
        ("Is it open on Tuesday?", "It opens at nine.", ("Tuesday",)),
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
    ("words", "question", "text"),
    [
        (("412",), "Can she carry 412 kg of freight?", "She carries nine passengers and up to 300 kg of freight."),
        (("17",), "Can 17 visitors be in the dome?", "No more than six visitors may be in the dome."),
        (("14",), "Must the roof close at 14 m/s?", "It must close when the wind exceeds 11 m/s."),
        (("12",), "Power was gone for 12 minutes. Do I start again?", "After less than 20 minutes you may go on."),
        (("50",), "Can I take 50 mg a day?", "Never take more than 40 mg in 24 hours."),
        (("Monday",), "Is it open on Monday?", "- Wednesday to Sunday 11:00 to 16:00"),
        (("24", "December"), "Is it open on 24 December?", "- April to September: daily"),
        (("July",), "When is the last entry in July?", "- April to September: daily 10:00 to 17:30"),
        (("18", "45"), "Can I call at 18:45?", "Call us from 9:00 to 17:30."),
        (("23", "30"), "Can I take a taxi at 23:30?", "Taxi: only between 22:00 and 6:00."),
        (("10",), "Can a 10 year old take it?", "It is used in children from 12 years of age."),
        (("70",), "What does a 70-year-old pay?", "Senior (from 65): half."),
        (("15",), "We are 15 people, is it cheaper?", "Groups of 12 or more get 20 % off."),
        (("11",), "Does it run on Windows 11?", "Windows is supported inside WSL 2."),
        (("24",), "12월 24일에 여나요?", "11월부터 2월까지는 닫습니다."),
        (("화요일",), "화요일에도 여나요?", "수~일 11:00~16:00"),
        (("5",), "5살은 얼마예요?", "6세 미만은 무료입니다."),
        (("15",), "15명인데 할인되나요?", "12인 이상 단체는 20% 할인됩니다."),
        (("19",), "19시에 전화해도 되나요?", "상담은 9시부터 18시까지입니다."),
    ],
)
def test_what_a_text_rules_has_cases(words: tuple[str, ...], question: str, text: str) -> None:
    assert [word for word in words if is_case(word, question, ["Nothing of it.", text])] == list(words)


@pytest.mark.parametrize(
    ("word", "question", "text"),
    [
        ("412", "Can she carry 412 kg?", "The engine weighs 412 kg. She carries up to 300 kg."),
        ("30", "Can I bring 30 dogs?", "Baggage: up to 23 kg."),
        ("Monday", "What is cooked on Monday?", "Mondays: soup. Tuesdays: pasta."),
        ("December", "What is told of December?", "It opened in March."),
        ("sun", "How hot is the sun?", "Open daily, Monday to Sunday."),
        ("may", "How may I pay?", "Open from April to September."),
        ("May", "May 15 visitors come in?", "Open from April to September."),
        ("15", "My son is 15, may he swim?", "The book sold over 300 copies."),
        ("80", "What if the port is 80?", "Call us from 9:00 to 17:00."),
        ("300", "Why did 300 students occupy the hall?", "She belonged to the class of 1968."),
        ("Tuesday", "What did the mayor say on Tuesday?", "The newspaper is published daily."),
        ("100", "100세트를 주문할까요?", "6세 미만은 무료입니다."),
        ("3", "3세대 모델은 뭔가요?", "6세 미만은 무료입니다."),
        ("304", "그 사고로 죽은 304명은 누구인가요?", "회의실은 20명까지 들어갑니다."),
        ("70", "Which bus is number 70?", "Senior (from 65): half."),
        ("45", "Who has seat 45?", "Open from 9:00 to 17:30."),
        ("people", "We are 15 people, is it cheaper?", "Groups of 12 or more get 20 % off."),
        ("11", "Does it run on Windows 11?", "It runs on Linux."),
        ("11", "Which 11 windows are broken?", "Windows is supported inside WSL 2."),
        ("2021", "How many came in 2021?", "300 came since May 2019."),
        ("24", "24일에 뭐 해요?", "11월부터 2월까지는 닫습니다."),
    ],
)
def test_of_other_words_nothing_is_ruled(word: str, question: str, text: str) -> None:
    assert not is_case(word, question, [text])


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
