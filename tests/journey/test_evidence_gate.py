"""The evidence gate through the command line, on the fixture corpus: what it refuses, what it lets pass, what it says."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kb.ask import weigh
from kb.ask.pipeline import ask
from kb.ask.records import AskRequest
from kb.config import Config, EmbeddingConfig, LlmConfig, RagConfig
from kb.providers import PROVIDERS, Provider
from kb.runtime import Runtime, open_runtime
from tests.journey.conftest import Call
from tests.journey.scripted_model import PROVIDER, says

pytestmark = pytest.mark.usefixtures("default_readers")

FOREIGN = (
    "Which treaty ended the Thirty Years War in Westphalia?",
    "How do I roast a duck with orange sauce?",
    "Who discovered penicillin and in which year?",
)
FOREIGN_KOREAN = ("조선 시대의 과거 시험은 몇 년마다 열렸나요?", "당뇨병 환자가 피해야 할 음식은 무엇인가요?")
ANSWERED = (
    "How often must Marigold's mirror be cleaned?",
    "At what wind speed must Marigold's dome close?",
    "마리골드 거울은 며칠마다 청소해야 하나요?",
    "두 관측소는 언제 자매결연을 맺었습니까?",
)
# A row of a table in the question's language, and two in English: what is in both is not lost.
IN_A_TABLE = "오류 코드 E-133이 나오면 어떻게 해야 하나요?"


@pytest.mark.parametrize(("question", "mode"), [(FOREIGN[0], "hybrid"), (FOREIGN[1], "hybrid"), (FOREIGN[1], "vector")])
def test_a_question_of_another_corpus_is_refused_before_a_model_is_asked(
    kb: Call, corpus_home: Path, question: str, mode: str
) -> None:
    """A gate on fused scores alone lets it pass: the best fused score is at least .5."""
    result = kb("ask", question, "--mode", mode, "--json", home=corpus_home)
    answer = result.json()
    assert (result.code, answer["grounded"], answer["refusal_reason"]) == (1, False, "weak_evidence")
    retrieval = answer["retrieval"]
    assert retrieval["top_score"] >= retrieval["score_gate"]
    assert retrieval["evidence_score"] < retrieval["evidence_gate"] == RagConfig().evidence_gate
    assert retrieval["chunks_used"] > 0
    assert answer["usage"]["completion_tokens"] is None
    assert all(cited["marker"] is None and cited["citation"]["path"] for cited in answer["citations"])


@pytest.mark.parametrize("question", [*FOREIGN[:2], FOREIGN_KOREAN[0]])
def test_by_words_alone_as_well(kb: Call, corpus_home: Path, question: str) -> None:
    answer = kb("ask", question, "--mode", "lexical", "--json", home=corpus_home).json()
    assert answer["refusal_reason"] in ("weak_evidence", "no_chunks")


@pytest.mark.parametrize(
    ("mode", "question"), [*(("hybrid", question) for question in ANSWERED), *(("lexical", q) for q in ANSWERED[1::2])]
)
def test_what_the_corpus_answers_passes(kb: Call, corpus_home: Path, question: str, mode: str) -> None:
    result = kb("ask", question, "--mode", mode, "--json", home=corpus_home)
    retrieval = result.json()["retrieval"]
    assert result.code == 0
    assert retrieval["evidence_score"] >= retrieval["evidence_gate"]


def test_a_row_of_a_table_is_shown(kb: Call, corpus_home: Path) -> None:
    answer = kb("ask", IN_A_TABLE, "--json", home=corpus_home).json()
    assert answer["outcome"] in ("answered", "not_sure")
    assert "대기열" in answer["answer"]


def test_what_documents_in_another_language_alone_answer_is_not_refused(kb: Call, corpus_home: Path) -> None:
    """Most passages found are Korean; the English one that answers shares no word with the question, and is nearly as near."""
    answer = kb(
        "ask", "번개 위험이 있을 때 기상 마스트에서 몇 미터 떨어져야 하나요?", "--json", home=corpus_home
    ).json()
    assert answer["outcome"] == "not_sure"
    assert "50 metres" in answer["answer"]


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_words_that_ask_nothing_are_quoted_for_all_that(kb: Call, corpus_home: Path, mode: str) -> None:
    answer = kb("ask", "Kestrel 46", "--mode", mode, "--json", home=corpus_home).json()
    assert answer["outcome"] in ("answered", "not_sure")
    assert "Kestrel 46" in answer["citations"][0]["quote"]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (
            "What is the price of zircon in Lisbon?",
            ["No passage mentions ", "'zircon'", "I found no answer to this in your documents."],
        ),
        ("Who is the CEO of the Marigold telescope?", ["No passage mentions 'CEO'."]),
        (
            "세종대왕은 언제 태어났습니까?",
            ["문서 어디에도 ", "'세종대왕'", "문서에서 이 질문의 답을 찾지 못했습니다."],
        ),
    ],
)
def test_the_refusal_says_what_is_missing_and_where_it_looked(
    kb: Call, corpus_home: Path, question: str, wanted: list[str]
) -> None:
    result = kb("ask", question, home=corpus_home)
    assert result.code == 1
    for words in wanted:
        assert words in result.out
    assert re.search(r"^  1\. \S.*#L\d+(-L\d+)?$", result.out, re.M)
    assert result.out.count("#L") <= 3  # listed once
    assert "no model asked" in result.out or "모델에 묻지 않음" in result.out


def test_a_contraction_is_no_name_that_is_missing(kb: Call, corpus_home: Path) -> None:
    asked = kb(
        "ask", "I'm new here and haven't been told how often the mirror of Marigold is cleaned", home=corpus_home
    )
    assert "No passage mentions" not in asked.out
    assert asked.code == 0


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("Must Thistle's roof close at a wind of 14 m/s?", "exceeds 11 m/s"),
        ("Can 17 visitors be in the dome at the same time?", "No more than six visitors"),
    ],
)
def test_a_case_that_a_rule_decides_is_answered_by_the_rule(
    kb: Call, corpus_home: Path, question: str, rule: str
) -> None:
    asked = kb("ask", question, home=corpus_home)
    assert asked.code == 0
    assert rule in " ".join(asked.out.split())


def test_a_name_in_another_form_is_not_missing(kb: Call, corpus_home: Path) -> None:
    """Marigoold for Marigold: its index terms stand nowhere."""
    asked = kb("ask", "How often must the mirror of Marigoold be cleaned?", "--mode", "lexical", home=corpus_home)
    assert "No passage mentions" not in asked.out
    assert "14 days" in asked.out


def test_explain_shows_the_signals(kb: Call, corpus_home: Path) -> None:
    shown = kb("ask", FOREIGN[0], "--explain", home=corpus_home).out
    assert re.search(r"evidence gate 0\.\d+, evidence 0\.\d+", shown)
    assert re.search(r"evidence \(fitted\): cosine 0\.\d\d  sentence_cosine 0\.\d\d", shown)
    assert "in no packed passage: " in shown
    evidence = kb("ask", FOREIGN[0], "--explain", "--json", home=corpus_home).json()["explanation"]["evidence"]
    assert evidence["variant"] == "fitted"
    assert 0 <= evidence["signals"]["cosine"] <= 1
    assert kb("ask", FOREIGN[0], "--json", home=corpus_home).json().get("explanation") is None


def test_zero_turns_it_off(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_RAG__EVIDENCE_GATE", "0")
    answer = kb("ask", FOREIGN[0], "--json", home=corpus_home).json()
    assert answer["refusal_reason"] != "weak_evidence"
    assert answer["retrieval"]["evidence_gate"] == 0
    assert answer["retrieval"]["evidence_score"] is not None


def scripted(monkeypatch: pytest.MonkeyPatch, **rag: Any) -> tuple[Config, Any]:
    model = says("The mirror must be cleaned every 14 days [#1].")
    monkeypatch.setitem(PROVIDERS, PROVIDER, Provider(lambda config, scorers, notify: model))
    return Config(rag=RagConfig(**rag), llm=LlmConfig(provider=PROVIDER)), model


def test_the_model_is_not_asked(corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, model = scripted(monkeypatch)
    with open_runtime(corpus_home, config) as opened:
        refused = ask(opened, AskRequest(FOREIGN[0], k=4))
        assert refused.refusal_reason == "weak_evidence"
        assert model.requests == []
        assert refused.model.digest is None
        assert ask(opened, AskRequest(ANSWERED[0], k=4)).grounded


def test_a_refusal_of_the_score_gate_is_scored_as_well(corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, _ = scripted(monkeypatch, score_gate=1.0)
    with open_runtime(corpus_home, config) as opened:
        answer = ask(opened, AskRequest(FOREIGN[0], k=4))
    assert (answer.refusal_reason, answer.retrieval.chunks_used) == ("score_gate", 0)
    assert answer.retrieval.evidence_score is not None


def test_an_encoder_without_weights_is_told_and_refuses_less(
    corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home's vectors under another digest, as if another encoder had made them."""
    from kb.evidence import gate as evidence_gate

    config, _ = scripted(monkeypatch)
    told: list[str] = []
    with open_runtime(corpus_home, config, notify=told.append) as opened:
        fitted = [ask(opened, AskRequest(question, k=4)) for question in FOREIGN]
        known = {name: model for name, model in evidence_gate.load_models().items() if len(name) < 32}
        monkeypatch.setattr(evidence_gate, "load_models", lambda: known)
        unfitted = [ask(opened, AskRequest(question, k=4)) for question in FOREIGN]
        assert ask(opened, AskRequest(ANSWERED[0], k=4)).grounded
    for before, after in zip(fitted, unfitted, strict=True):
        assert (after.retrieval.evidence_score or 0) >= (before.retrieval.evidence_score or 0) - 0.05
    notes = [line for line in told if f"was not fitted to {EmbeddingConfig().model}" in line]
    assert len(notes) == 1


def test_scores_are_stored(kb: Call, corpus_home: Path) -> None:
    kb("ask", FOREIGN[0], home=corpus_home)
    with sqlite3.connect(corpus_home / "kb.sqlite") as connection:
        row = connection.execute("SELECT refusal_reason, evidence_gate, evidence_score, chunks_used FROM answers")
        reason, gate, score, used = row.fetchone()
    assert reason == "weak_evidence"
    assert 0 <= score < gate
    assert used > 0


@pytest.mark.parametrize(
    ("question", "sure_gate", "is_settled"),
    [(ANSWERED[0], 0.6, True), (ANSWERED[0], 1.0, False), (FOREIGN[0], 0.6, False)],
)
def test_a_second_reader_reads_no_more_than_the_gate_needs(
    corpus_home: Path, monkeypatch: pytest.MonkeyPatch, question: str, sure_gate: float, is_settled: bool
) -> None:
    """What it would read besides can only make the gate surer; a gate that is set higher needs it."""
    config, _ = scripted(monkeypatch, sure_gate=sure_gate)
    read: list[int] = []
    plain = Runtime.read

    def counting(self: Runtime, asked: str, texts: Sequence[str], *, again: bool = False) -> list[float] | None:
        read.extend([len(texts)] * again)
        return plain(self, asked, texts, again=again)

    monkeypatch.setattr(Runtime, "read", counting)
    scores = []
    for settled in (weigh.SETTLED, 2.0):
        monkeypatch.setattr(weigh, "SETTLED", settled)
        with open_runtime(corpus_home, config) as opened:
            scores.append(ask(opened, AskRequest(question, k=4)).retrieval.evidence_score or 0.0)
    rest = 2 * (weigh.READ_AGAIN - 1)
    assert read == ([2, 2, rest] if is_settled else [2, rest, 2, rest])
    assert scores[0] <= scores[1]
    assert scores[0] >= 0.9 if is_settled else scores[0] == scores[1]
