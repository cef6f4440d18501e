"""Documents of one kind that say only at their heads which one they are: what is asked about one is answered from that one, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb import library
from kb.ask.pipeline import ask
from kb.ask.records import AskRequest
from kb.ask.subjects import find_within, read_subjects
from kb.config import Config, LlmConfig
from kb.language.registry import LANGUAGES
from kb.providers import PROVIDERS, Provider
from kb.runtime import open_runtime
from tests.journey.conftest import Call
from tests.journey.folders import fill
from tests.journey.scripted_model import PROVIDER, ScriptedModel, says

pytestmark = pytest.mark.usefixtures("default_readers")

CANAL = """# Tenancy agreement

Property: 14 Canal Terrace, Wexby
Landlord: M. Hardcastle
Date: 3 June 2024

## 1. Rent

The rent is £925 a month, paid in advance on the first by standing order.

## 2. Pets

One adult cat may be kept in the flat. Dogs are not allowed, not even for a visit.

## 3. Parking

The tenant may park one car in bay 7 of the rear court. Visitors use the street.
"""
ROWAN = """# Tenancy agreement

Property: Rowan Cottage, Upper Lathe
Landlord: M. Hardcastle
Date: 1 May 2024

## 1. Rent

The rent is £1,150 a month, paid in advance on the fifth by standing order.

## 2. Pets

Two dogs may be kept in the house as long as they sleep downstairs.

## 3. Heating

Oil is ordered by the tenant. The tank was full on the first day and is full on the last.
"""
MILNER = """# Tenancy agreement

Property: 27 Milner Street, Wexby
Landlord: M. Hardcastle
Date: 9 September 2024

## 1. Rent

The rent is £1,480 a month for all four rooms, paid in advance on the tenth.

## 2. Pets

No animals are kept in the house.

## 3. Guests

A guest may sleep in the house for three nights in a row, and for ten nights a month.
"""
HANDBOOK = """# Handbook for tenants

## Repairs

Call 01632 960 118 at any hour where water runs. Write to us about everything else.

## Waste

Bins are put out on Tuesday evening, the green ones every second week.
"""
BUSAN = """# 출장 보고서

- 출장지: 부산 벡스코
- 출장자: 홍보팀 강다온
- 기간: 2025년 4월 3일 ~ 4월 5일

## 1. 목적

여름 전시회에 부스를 열었다.

## 2. 비용

부스를 빌리는 데 2,400,000원, 숙박에 312,000원이 들었다.
"""
JEJU = """# 출장 보고서

- 출장지: 제주 대리점
- 출장자: 영업팀 류가온
- 기간: 2025년 6월 23일 ~ 6월 25일

## 1. 목적

대리점의 여름 판매를 도왔다.

## 2. 비용

항공권에 218,000원, 렌터카를 빌리는 데 136,000원이 들었다.
"""
FILES: dict[str, str | bytes] = {
    "tenancy-14-canal-terrace.md": CANAL,
    "tenancy-rowan-cottage.md": ROWAN,
    "tenancy-27-milner-street.md": MILNER,
    "handbook.md": HANDBOOK,
    "출장보고서_부산.md": BUSAN,
    "출장보고서_제주.md": JEJU,
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("same_kind")
    with library.open(folder / "home") as base:
        base.ingest(fill(folder / "documents", FILES))
    return folder / "home"


@pytest.mark.parametrize(
    ("question", "path", "quoted"),
    [
        ("Can they keep a dog in Canal Terrace?", "tenancy-14-canal-terrace.md", "Dogs are not allowed"),
        ("are dogs ok at rowan cottage", "tenancy-rowan-cottage.md", "Two dogs may be kept"),
        ("How much is the rent of Rowan Cottage?", "tenancy-rowan-cottage.md", "£1,150"),
        ("What is the rent at Milner Street?", "tenancy-27-milner-street.md", "£1,480"),
        ("부산 출장 때 부스 빌리는 데 얼마 들었어?", "출장보고서_부산.md", "2,400,000원"),
        ("제주 출장에서 렌터카는 얼마였어?", "출장보고서_제주.md", "136,000원"),
    ],
)
def test_the_clause_answers_and_not_the_head(kb: Call, home: Path, question: str, path: str, quoted: str) -> None:
    answer = kb("ask", question, "--json", home=home).json()
    first = answer["citations"][0]
    assert first["citation"]["path"] == path
    assert quoted in first["quote"]
    assert "Property:" not in answer["answer"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where may the tenant park at Rowan Cottage?", "'Rowan Cottage'"),  # Canal Terrace's says it
        ("How many nights may a guest sleep in the house at Canal Terrace?", "'Canal Terrace'"),  # Milner Street's does
    ],
)
def test_what_another_one_says_is_no_answer(kb: Call, home: Path, question: str, words: str) -> None:
    asked = kb("ask", question, "--json", home=home)
    answer = asked.json()
    assert (asked.code, answer["grounded"]) == (1, False)
    assert all(place["citation"]["path"] != "tenancy-27-milner-street.md" for place in answer["citations"][:1])
    if answer["outcome"] == "not_sure":
        assert answer["answer"].startswith(LANGUAGES["en"].replies["of_others"].format(words=words))


def test_of_what_no_document_is_of_nothing_is_answered(kb: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_RAG__SURE_GATE", "0.01")
    answer = kb("ask", "강릉 출장 때 렌터카는 얼마였어?", "--json", home=home).json()
    assert answer["outcome"] == "not_sure"
    assert answer["answer"].startswith(LANGUAGES["ko"].replies["lacks_names"].format(words="'강릉'"))


def test_of_a_document_whose_head_alone_was_found_the_clauses_are_searched(home: Path) -> None:
    request = AskRequest("Which bay may the tenant of Canal Terrace park in?")
    with open_runtime(home, Config()) as kb:
        head = next(c for c in kb.corpus.first_chunks(range(1, 9)).values() if c.path == "tenancy-14-canal-terrace.md")
        subjects = read_subjects(kb, request, [head])
        within = find_within(kb, request, subjects, [(head, 0.9)])
        everything = [(chunk, 0.5) for chunk in kb.corpus.chunks_of_document(head.doc_id)]
        assert find_within(kb, request, subjects, everything) == ()
    assert {chunk.path for chunk, _, _ in within} == {head.path}
    assert "bay 7" in within[0][0].text


def test_passages_of_others_are_not_packed(kb: Call, home: Path) -> None:
    answer = kb("ask", "Can they keep a dog in Canal Terrace?", "--explain", "--json", home=home).json()
    packed = {passage["citation"]["path"] for passage in answer["explanation"]["packed"]}
    assert packed == {"tenancy-14-canal-terrace.md"}


@pytest.mark.parametrize(
    "question", ["Can they keep a dog in Canal Terrace?", "Where may the tenant park at Rowan Cottage?"]
)
def test_replayed_it_ends_as_before(kb: Call, home: Path, question: str) -> None:
    trace = kb("ask", question, "--json", home=home).json()["trace_id"]
    replayed = kb("answers", "replay", trace, "--json", home=home).json()
    assert (replayed["is_same"], replayed["changes"]) == (True, [])


@pytest.mark.parametrize(
    ("said", "is_grounded"),
    [
        ("At Canal Terrace dogs are not allowed, not even for a visit [#{n}].", True),
        ("At Canal Terrace two dogs may be kept [#{n}].", False),
        ("At Rowan Cottage dogs are not allowed, not even for a visit [#{n}].", False),
    ],
)
def test_a_model_may_name_what_the_document_is_about(
    home: Path, monkeypatch: pytest.MonkeyPatch, said: str, *, is_grounded: bool
) -> None:
    """The clause says "the flat"; the head of its document says which."""

    def ask_model(model: ScriptedModel) -> bool:
        monkeypatch.setitem(PROVIDERS, PROVIDER, Provider(lambda config, scorers, notify: model))
        with open_runtime(home, Config(llm=LlmConfig(provider=PROVIDER))) as kb:
            return ask(kb, AskRequest("Can they keep a dog in Canal Terrace?")).grounded

    silent = says("I cannot tell.")
    ask_model(silent)
    evidence = silent.requests[0].evidence
    assert not any("Two dogs" in entry.text for entry in evidence)
    number = next(entry.marker for entry in evidence if "Dogs" in entry.text)
    assert ask_model(says(said.format(n=number))) is is_grounded
