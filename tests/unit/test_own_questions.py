"""Which questions kb answers itself, by their words: about the user, the date, kb, earlier questions, open items."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kb.ask.own_questions import answer_own_question
from kb.ask.relevance_decision import include_asked_for
from kb.config import ProfileConfig
from kb.context.node_input import NodeInput
from kb.context.question_subjects import MOST_OWN_CHARS, OWN_NODES, asked_of_kb
from kb.evidence.about_user import tells_of_user_what
from kb.evidence.matching import match_strength
from kb.language.interface import OwnKind
from kb.language.manner import tidy
from kb.language.registry import words
from kb.relevance.decide import decide
from kb.relevance.read_rules import default_rules
from kb.relevance.signals import Conversation, compute_signals
from kb.store.store import Store

# What is asked → such questions, a bar between two.
FOR_KB = {
    "user": (
        "What is my name? | what's my name | Whats my name? | Do you know my name? | do you remember what my name is? | "
        "Can you tell me my name? | Who am I? | How old am I? | When is my birthday? | When was I born? | "
        "What's my email address? | what is my phone number again? | What is my favourite colour? | What do you know about me? | Where do I live? | "
        "What have I told you about me? | Hey, what's my name, do you remember? | what is my job? | I forgot, what's my address? | "
        "내 이름이 뭐야? | 제 이름이 뭐예요? | 제 이름이 뭔가요? | 내 이름은? | 내 이름 알아? | 내 이름이 뭐였지? | "
        "내 생일이 언제야? | 제 생일은 언제인가요? | 내 전화번호 알려줘 | 내 이메일 주소가 뭐야? | 나는 누구야? | "
        "내가 누구야? | 나 몇 살이야? | 내가 좋아하는 색이 뭐야? | 나에 대해 뭘 알고 있어? | 혹시 제 이름 기억하세요? | "
        "저는 누구인가요? | 내 나이는 몇 살이야? | 내가 사는 곳이 어디야? | "
    ),
    "date": (
        "What is today's date? | What's the date? | What's the date today? | What day is it? | What day is it today? | "
        "Which day of the week is it? | what is the current date | Can you tell me today's date? | What year is it? | what month is it now? | "
        "Today's date? | What day of the week is it today? | "
        "오늘 며칠이야? | 오늘이 며칠이지? | 오늘 날짜 알려줘 | 오늘 무슨 요일이야? | 오늘은 몇 월 며칠인가요? | "
        "오늘 날짜가 뭐야? | 오늘 날짜가 어떻게 돼? | 지금 몇 년도야? | 올해가 몇 년이야? | 오늘 요일이 뭐야? | "
        "오늘 날짜는? | "
    ),
    "time": (
        "What time is it? | What time is it now? | what's the time? | Do you know what time it is? | what is the current time? | "
        "Tell me the time | "
        "지금 몇 시야? | 몇 시야? | 지금 몇 시 몇 분이야? | 현재 시각 알려줘 | 지금 시간이 몇 시야? | "
        "지금 몇 시인가요? | "
    ),
    "abilities": (
        "What can kb do? | What can you do? | what can you do for me? | What does kb do? | who are you? | "
        "How do I use kb? | what are your features? | Which commands does kb have? | What can I ask you? | "
        "kb로 뭘 할 수 있어? | kb는 뭘 할 수 있나요? | 너는 뭘 할 수 있어? | 넌 누구야? | kb 사용법 알려줘 | "
        "kb 어떻게 써? | kb에는 어떤 기능이 있어? | 뭘 할 수 있어? | "
    ),
    "tools": ("What tools do you have? | Which tools can kb use? | kb에는 어떤 도구가 있어? | "),
    "earlier": (
        "What did I ask you before? | What did I ask? | what did I just ask you? | What was my last question? | What have I asked you so far? | "
        "what did I ask earlier? | What questions did I ask? | What did we talk about last time? | Do you remember what I asked you before? | "
        "내가 아까 뭐라고 물어봤지? | 내가 전에 뭘 물어봤지? | 아까 내가 뭐 물어봤어? | 마지막 질문이 뭐였지? | 내가 방금 뭐라고 물었지? | "
        "지금까지 무슨 질문을 했지? | 내 이전 질문은 뭐야? | 우리가 무슨 얘기를 했지? | "
    ),
    "tasks": (
        "Which tasks are open? | What tasks are still open? | what are my open tasks? | What's on my to-do list? | What do I still have to do? | "
        "what's left to do? | List my open items | Show me the open tasks | How many tasks are open? | how many open items are there? | "
        "Do I have any open tasks? | What is still open? | which items are not done yet? | What is still left to do? | What todos are left? | "
        "할 일이 뭐가 남았어? | 남은 할 일이 뭐야? | 할 일 목록 보여줘 | 내 할 일 알려줘 | 아직 남은 할 일은? | "
        "할 일이 몇 개 남았어? | 뭘 해야 해? | 미완료 항목이 뭐야? | 해야 할 일이 뭐가 있어? | 열린 작업이 뭐야? | "
        "할 일이 뭐가 남아 있나요? | "
    ),
}
# Questions to the documents that hold the same words.
FOR_DOCUMENTS = (
    "What is the name of the telescope? | What date was the mirror installed? | What can lampd do? | What is my name server? | "
    "What is my config file called? | What does my name field hold? | What is the name field for? | What time does the shop open? | "
    "What time is the meeting? | What day is the concert? | What is the date format? | What date is it due? | "
    "What is the date of the release? | What day was it built? | What is today's menu? | What is the time zone of Busan? | "
    "What is the time complexity of quicksort? | What year is it set in? | What year was it built? | What month is the fair? | "
    "What did I write about the lighthouse? | What did I ask the landlord? | What did I ask for in the tender? | What did we decide about the roof? | "
    "What did we talk about with the mayor? | What can I do with lampd? | What can you do with a raspberry pi? | How do I use the camera? | "
    "What are the features of FastAPI? | Which commands does git have? | What tools does the workshop have? | Which tools are needed to clean the mirror? | "
    "Which tasks are open to volunteers? | Which tasks are in the release plan? | What items are on the menu? | What is left of the castle? | "
    "What is on the list of approved vendors? | What is open source? | What is still unclear about the accident? | How many items does the museum hold? | "
    "Who am I supposed to call in an emergency? | Who is the keeper? | When is the birthday of the queen? | What is the address of the office? | "
    "What is her name? | What is your name in the play? | What is the phone number of the harbour? | How old is the lighthouse? | "
    "Where do otters live? | What is my role in the plan? | What is my wifi password? | When is my flight? | "
    "What is my favourite? | What questions did the jury ask? | What was the last question of the exam? | What did you say about mirrors? | "
    "What is a date? | What is time? | What is kb in chess notation? | What does kb ingest do? | "
    "How does kb rank hits? | What is today known as Busan? | 망원경의 이름이 뭐야? | 거울은 언제 설치됐어? | "
    "lampd로 뭘 할 수 있어? | 내 노트에서 이름 규칙은? | 내 이름 서버 주소가 뭐야? | 이름 규칙이 뭐야? | "
    "회의는 몇 시야? | 오늘 회의는 몇 시야? | 마감 날짜가 언제야? | 날짜 형식이 뭐야? | "
    "며칠마다 청소해야 해? | 오늘 며칠째 비가 와? | 무슨 요일에 문을 열어? | 몇 시에 닫아? | "
    "시간 복잡도가 뭐야? | 그는 몇 살이야? | 등대는 몇 년에 지어졌어? | FastAPI에는 어떤 기능이 있어? | "
    "git 명령어가 뭐야? | 작업장에는 어떤 도구가 있어? | 내가 집주인에게 뭘 물어봤지? | 시험의 마지막 질문이 뭐였지? | "
    "릴리스 계획의 할 일은 뭐야? | 관리인이 할 일은 뭐야? | 화재 때 해야 할 일은? | 사무실 주소가 뭐야? | "
    "내 프로젝트 이름이 뭐야? | 내 노트에 뭐가 있어? | 내가 쓴 보고서 제목이 뭐야? | 내가 좋아하는 책에서 주인공 이름이 뭐야? | "
    "내 여권 번호가 뭐야? | 누가 누구야? | 오늘의 메뉴가 뭐야? | 올해 예산이 얼마야? | "
    "남은 예산이 얼마야? | 서버에 남은 공간이 얼마나 있어? | "
)
KINDS: dict[str, OwnKind] = {
    "user": "own_user",
    "date": "own_date",
    "time": "own_time",
    "abilities": "own_abilities",
    "tools": "own_tools",
    "earlier": "own_earlier",
    "tasks": "own_tasks",
}
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def listed(table: str) -> list[str]:
    """The questions of a table."""
    return [question.strip() for question in table.split("|") if question.strip()]


ASKED = [(question, own) for own, table in FOR_KB.items() for question in listed(table)]


@pytest.mark.parametrize(("question", "own"), ASKED)
def test_a_question_to_kb_itself(question: str, own: str) -> None:
    assert asked_of_kb(question) == own
    # What is looked for first, because it is faster, stands in it.
    assert any(sign in tidy(question) for sign in words(KINDS[own]))
    assert len(question) <= MOST_OWN_CHARS


@pytest.mark.parametrize("question", listed(FOR_DOCUMENTS))
def test_a_question_to_the_documents(question: str) -> None:
    assert asked_of_kb(question) is None


@pytest.mark.parametrize(("question", "own"), ASKED)
def test_the_node_that_answers_is_included(question: str, own: str) -> None:
    """In a new knowledge base with one fact, in the first turn: no rule stands between the question and its answer."""
    rules = default_rules()
    signals = compute_signals(question, Conversation(fact_count=1, gist_count=0))
    decision = decide(rules, signals.situation("RESPOND"), explain=True)
    asked = include_asked_for(decision, OWN_NODES[asked_of_kb(question) or "user"], rules.token_estimates)
    assert set(OWN_NODES[asked_of_kb(question) or "user"]) & set(asked.included)
    assert set(asked.included) | set(asked.excluded_soft) | set(asked.excluded_hard) == set(rules.token_estimates)
    assert asked.nodes is not None
    assert {node.node for node in asked.nodes if node.included} == set(asked.included)
    assert sum(node.est_tokens for node in asked.nodes if node.included) == asked.est_tokens


@pytest.mark.parametrize(
    ("question", "text", "tells"),
    [
        ("What is my name?", "My name is Ada", True),
        ("What is my name?", "The user's name is Petra.", True),
        ("What is my name?", "I'm Petra, on the night watch", True),
        ("What is my name?", "name: Ada", True),
        ("What is my name?", "My first name is Ada", True),
        ("Who am I?", "My name is Ada", True),
        ("내 이름이 뭐야?", "My name is Ada", True),
        ("What is my name?", "제 이름은 민지예요", True),
        ("내 이름이 뭐야?", "내 이름은 민지", True),
        ("What is my name?", "My dog's name is Rex", False),
        ("What is my name?", "The office wifi name is Plover", False),
        ("내 이름이 뭐야?", "강아지 이름은 렉스", False),
        ("When is my birthday?", "My birthday is 4 May", True),
        ("내 생일이 언제야?", "My birthday is 4 May", True),
        ("When is my birthday?", "내 생일은 5월 4일", True),
        ("When is my birthday?", "Birthday: 4 May", True),
        ("When is my birthday?", "Ada's birthday is 4 May", True),
        ("When is my birthday?", "Tom's birthday is 4 May", False),
        ("When is my birthday?", "My wife's birthday is 4 May", False),
        ("What is my phone number?", "전화번호는 010-1234-5678", True),
        ("내 전화번호 알려줘", "My phone number is 010-1234-5678", True),
        ("What's my email address?", "my email address is ada@example.org", True),
        ("What's my email address?", "My birthday is 4 May", False),
        ("Where do I live?", "I live in Busan", True),
        ("What is my favourite colour?", "My favourite colour is teal", True),
        ("내가 좋아하는 색이 뭐야?", "My favorite color is teal", True),
        ("What is my favourite dinosaur?", "My favourite colour is teal", False),
    ],
)
def test_what_tells_of_the_user(question: str, text: str, tells: bool) -> None:
    assert tells_of_user_what(question, text, "Ada") is tells


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("사무실 wifi 비밀번호가 뭐야?", "The office wifi password is Plover", True),
        ("사무실 와이파이 이름이 뭐야?", "The office wifi is called Plover", True),
        ("What is the office wifi password?", "사무실 와이파이 비밀번호는 플로버", True),
        ("What is the address of the office?", "사무실 주소는 부산 해운대구다", True),
        ("회의는 언제야?", "The team meeting is every Monday at ten", True),
        ("사무실 wifi 비밀번호가 뭐야?", "The office wifi is called Plover", False),
        ("치과 예약이 언제야?", "The bank appointment is on 3 May", False),
        ("사무실 와이파이가 뭐야?", "the office wifi", False),
    ],
)
def test_a_fact_in_the_other_language(question: str, text: str, answers: bool) -> None:
    assert bool(match_strength(question, text)) is answers


def make_input(home: Path, question: str, **fields: object) -> NodeInput:
    """The input of a question to a new store."""
    store = Store(home, write=True)
    values = {
        "corpus": store.corpus, "journal": store.journal, "home": home, "profile": ProfileConfig(), "mode": "RESPOND",
        "now": NOW,
    }  # fmt: skip
    return NodeInput(question=question, **{**values, **fields})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> NodeInput:
    """The input of no question yet to a new store, which no question changes."""
    return make_input(tmp_path_factory.mktemp("empty"), "")


@pytest.mark.parametrize(("question", "own"), ASKED)
def test_each_is_answered_or_refused_in_an_empty_home(empty: NodeInput, question: str, own: str) -> None:
    told = answer_own_question(replace(empty, question=question), default_rules().token_estimates)
    if own == "tasks":
        assert told is None
        return
    assert told is not None
    assert told.node == ("" if own == "user" else OWN_NODES[own][-1])  # type: ignore[index]
    assert "{" not in told.text
    assert "}" not in told.text


def test_a_node_that_is_left_out_answers_nothing(tmp_path: Path) -> None:
    given = make_input(tmp_path, "What is my name?", profile=ProfileConfig(name="Ada"))
    told = answer_own_question(given, {"user_traits"})
    assert told is not None
    assert (told.node, told.text) == ("user_traits", "Your name is Ada, as your profile says.")
    assert answer_own_question(make_input(tmp_path, "What is today's date?"), {"user_traits"}) is None


def test_the_profile_tells_what_its_traits_say(tmp_path: Path) -> None:
    profile = ProfileConfig(traits="astronomer; lives in Busan; reads Korean")
    told = answer_own_question(make_input(tmp_path, "Where do I live?", profile=profile), {"user_traits"})
    assert told is not None
    assert told.text == "Your profile says about you: lives in Busan;"
