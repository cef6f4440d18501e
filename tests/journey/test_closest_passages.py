"""Quotes that may not answer are shown as the closest passages: not sure, exit 1, no tick."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.ask.pipeline import ask
from kb.ask.records import Answer, AskRequest
from kb.config import Config, LlmConfig, RagConfig
from kb.language.registry import LANGUAGES
from kb.providers import PROVIDERS, Provider
from kb.runtime import open_runtime
from tests.journey.conftest import Call
from tests.journey.scripted_model import PROVIDER, says

pytestmark = pytest.mark.usefixtures("default_readers")

ASKED = (
    ("At what wind speed must Marigold's dome close?", "en", "not sure"),
    ("오류 코드 E-133은 무슨 뜻인가요?", "ko", "확실하지 않음"),
)
# What both gates would have to be to take near misses for answers: the readers tell most of them.
SURE_OF_NEAR_MISSES = 0.1


@pytest.fixture
def never_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_RAG__SURE_GATE", "1")


@pytest.mark.usefixtures("never_sure")
@pytest.mark.parametrize(("question", "language", "state"), ASKED)
def test_the_passages_are_quoted_under_a_line_that_says_it(
    kb: Call, corpus_home: Path, question: str, language: str, state: str
) -> None:
    lead = LANGUAGES[language].replies["closest_quoted"]
    shown = kb("ask", question, "--mode", "lexical", home=corpus_home)
    assert shown.code == 1
    assert shown.out.startswith(lead)
    assert "✓" not in shown.out
    assert state in shown.out.splitlines()[-1]
    answer = kb("ask", question, "--mode", "lexical", "--json", home=corpus_home).json()
    assert (answer["outcome"], answer["refusal_reason"], answer["grounded"]) == ("not_sure", "weak_evidence", False)
    assert answer.get("verification") is None
    for cited in answer["citations"]:
        assert cited["quote"]
        assert f"[#{cited['marker']}]" in answer["answer"]
        assert f"[#{cited['marker']}] {cited['citation']['uri']}" in shown.out


@pytest.mark.parametrize(
    ("question", "language", "says"),
    [
        ("How much does recoating Marigold's mirror cost?", "en", "lacks_price"),
        ("마리골드 거울을 다시 코팅하는 데 얼마가 드나요?", "ko", "lacks_price"),
        ("Which night of April 2024 had the best seeing?", "en", "lacks_names"),
        ("동백 망원경의 풍속 한계는 초속 몇 미터인가요?", "ko", "lacks_names"),
    ],
)
def test_what_tells_no_price_or_is_of_something_else_is_no_answer(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, question: str, language: str, says: str
) -> None:
    """However likely the gate finds it: the passages are about the mirror and name no sum, and about March, not April."""
    for gate in ("SURE_GATE", "EVIDENCE_GATE"):
        monkeypatch.setenv(f"KB_RAG__{gate}", str(SURE_OF_NEAR_MISSES))
    answer = kb("ask", question, "--json", home=corpus_home).json()
    assert answer["retrieval"]["evidence_score"] > SURE_OF_NEAR_MISSES
    assert (answer["outcome"], answer["refusal_reason"]) == ("not_sure", "weak_evidence")
    words = {"en": "'April'", "ko": "'동백'"}[language]
    assert answer["answer"].startswith(LANGUAGES[language].replies[says].format(words=words))


def test_a_row_about_another_thing_is_no_answer(kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table has a row of HOWE-1 and a row of that day; none is both."""
    rows = [("PTOM-1", "2024-10-20", 3.08), ("HOWE-1", "2024-10-19", 2.51), ("PTOM-1", "2024-10-18", 2.9)]
    rows += [(f"KELD-{n}", "2024-10-17", 1 + n / 100) for n in range(2, 40)]
    folder, home = tmp_path / "levels", tmp_path / "home"
    folder.mkdir()
    lines = [f"{station},{day},{level}" for station, day, level in rows]
    (folder / "levels.csv").write_text(
        "station,day,level of the water in metres\n" + "\n".join(lines), encoding="utf-8"
    )
    assert kb("ingest", str(folder), home=home).code == 0
    for gate in ("SURE_GATE", "EVIDENCE_GATE"):
        monkeypatch.setenv(f"KB_RAG__{gate}", "0.001")
    answered = kb("ask", "What was the level of the water at HOWE-1 on 2024-10-19?", "--json", home=home).json()
    assert answered["outcome"] == "answered"
    assert "- level of the water in metres: 2.51" in answered["answer"]
    asked = kb("ask", "What was the level of the water at HOWE-1 on 2024-10-20?", "--json", home=home).json()
    assert asked["outcome"] == "not_sure"
    assert asked["answer"].startswith(LANGUAGES["en"].replies["lacks_names"].split("{")[0])


@pytest.mark.parametrize(
    "question", ["What is the day set point of zone 2.6?", "What is the date format of the zircon ledger?"]
)
def test_no_day_of_the_documents_is_answered_with_today(kb: Call, corpus_home: Path, question: str) -> None:
    answer = kb("ask", question, "--json", home=corpus_home).json()
    assert answer["outcome"] in ("not_sure", "not_in_documents")
    assert "Today is" not in answer["answer"]


def test_a_follow_up_is_held_to_what_it_asks_itself(corpus_home: Path) -> None:
    """The text says how many passengers, which was asked before; not when the boat was built."""
    with open_runtime(corpus_home, Config(rag=RagConfig(evidence_gate=0.01, sure_gate=0.01))) as opened:
        first = ask(opened, AskRequest("How many passengers does the Petrel carry?", session_id="boat"))
        assert first.outcome == "answered"
        second = ask(opened, AskRequest("when was it built?", session_id="boat"))
    assert second.standalone_question == "How many passengers does the Petrel carry? when was it built?"
    assert second.outcome == "not_sure"
    assert second.answer.startswith(LANGUAGES["en"].replies["lacks_date"])


def test_a_follow_up_is_not_what_was_asked_before(corpus_home: Path) -> None:
    """The evidence is refused: the answer to the question before it is not repeated as this one's."""
    with open_runtime(corpus_home, Config(rag=RagConfig(evidence_gate=0.3))) as opened:
        ask(opened, AskRequest("How many passengers does the Petrel carry?", session_id="boat"))
        second = ask(opened, AskRequest("when was it built?", session_id="boat"))
    assert (second.outcome, second.refusal_reason) == ("not_in_documents", "weak_evidence")


@pytest.mark.usefixtures("never_sure")
def test_streamed_it_is_the_same_text_once(kb: Call, corpus_home: Path) -> None:
    words = ("ask", ASKED[0][0], "--mode", "lexical", "--stream")
    lines = [json.loads(line) for line in kb(*words, "--json", home=corpus_home).out.splitlines()]
    pieces = "".join(line["text"] for line in lines if line.get("event") == "token")
    assert pieces == lines[-1]["answer"]
    shown = kb(*words, home=corpus_home).out
    assert shown.count(LANGUAGES["en"].replies["closest_quoted"]) == 1
    assert "not an answer" not in shown


@pytest.mark.parametrize("gate", ["evidence_gate", "sure_gate"])
def test_either_gate_at_zero_lets_the_quotes_answer(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, gate: str
) -> None:
    monkeypatch.setenv("KB_RAG__SURE_GATE", "1")
    monkeypatch.setenv(f"KB_RAG__{gate.upper()}", "0")
    assert kb("ask", ASKED[0][0], "--mode", "lexical", home=corpus_home).code == 0


def test_a_model_is_asked_all_the_same(corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can say that it found no answer, and what it writes is held against the passages."""
    model = says("The dome must close when the sustained wind exceeds 15 m/s [#1].")
    monkeypatch.setitem(PROVIDERS, PROVIDER, Provider(lambda config, scorers, notify: model))
    config = Config(rag=RagConfig(sure_gate=1.0), llm=LlmConfig(provider=PROVIDER))
    with open_runtime(corpus_home, config) as opened:
        answer = ask(opened, AskRequest(ASKED[0][0], mode="lexical", k=4))
    assert len(model.requests) == 1
    assert (answer.grounded, answer.outcome) == (True, "answered")


def test_words_are_not_missed_in_passages_of_another_language(kb: Call, corpus_home: Path) -> None:
    """No passage of the English guide says 거울; that a Korean question is on it shows in its meaning alone."""
    found = kb("ask", "망원경 거울은 어떻게 청소하나요?", "--path", "guide/*", "--json", "--explain", home=corpus_home)
    answer = found.json()
    evidence = answer["explanation"]["evidence"]
    assert (evidence["missing"], evidence["signals"]["packed_coverage"]) == ([], None)
    assert evidence["signals"]["sentence_cosine"] > 0.2
    assert "언급이 없습니다" not in answer["answer"]


def test_quotes_that_find_no_sentence_speak_of_no_model(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for gate in ("EVIDENCE_GATE", "SURE_GATE"):
        monkeypatch.setenv(f"KB_RAG__{gate}", "0")
    replies = LANGUAGES["ko"].replies
    shown = kb("ask", "오리를 어떻게 굽나요?", home=corpus_home)
    assert shown.code == 1
    assert shown.out.startswith(f"{replies['not_sure']} {replies['no_sentence_fits']}\n")
    assert replies["model_found_none"] not in shown.out


def test_documents_of_one_subject_need_more_to_be_an_answer(corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(sure_gate: float) -> Answer:
        with open_runtime(corpus_home, Config(rag=RagConfig(sure_gate=sure_gate))) as opened:
            return ask(opened, AskRequest(ASKED[0][0]))

    score = asked(1.0).retrieval.evidence_score or 0.0  # with all that readers say
    below = score - 0.3 * (1 - score)  # half-way from there to 1 is above the score
    assert asked(below).outcome == "answered"
    monkeypatch.setattr("kb.ask.quotes.ONE_SUBJECT", 0.0)
    assert asked(below).outcome == "not_sure"
