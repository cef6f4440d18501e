"""How an answer came about: in the language of its question, from what is stored of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kb.ask.story import DOUBTFUL, SENTENCES, StoryFacts, stored_fault, stored_outcome, tell_story
from kb.language.registry import question_language
from kb.support.check import NOT_FOUND

FACTS = StoryFacts(
    question="How high is the mast?",
    standalone=None,
    chunks_returned=10,
    top_score=0.53,
    evidence_score=0.9,
    evidence_gate=0.18,
    is_quote=False,
    model="qwen2.5:3b",
    chunks_used=3,
    checked=(1, 2),
    doubtful=(("unsupported", "It is green."),),
    novelty=None,
    rests_on=(),
    outcome="answered",
)


def test_a_story_in_order() -> None:
    assert tell_story(FACTS, 5) == [
        "The search found 10 passages; the best is 53% likely to be relevant.",
        "It is 90% probable that they answer the question. That is enough: below 18% I say nothing.",
        "qwen2.5:3b read 3 passages and wrote 2 sentences; 1 of them hold against the text they cite.",
        "  not backed: It is green.",
        "Everything that was kept of it: kb answers show 5 --json",
    ]


def test_a_korean_refusal_has_no_english_sentence() -> None:
    facts = replace(
        FACTS, question="축구 대회는 누가 이겼나?", evidence_score=0.06, model=None, checked=None, doubtful=()
    )
    *told, last = tell_story(replace(facts, outcome="not_in_documents"), 2)
    assert [question_language(line) for line in told] == ["ko"] * 3
    assert told[-1] == "그래서 답하지 않았습니다: 답을 찾지 못함."
    assert "kb answers show 2" in last


def test_every_language_has_every_sentence() -> None:
    assert len({frozenset(words) for words in SENTENCES.values()}) == 1
    assert DOUBTFUL.keys() == SENTENCES.keys()


@pytest.mark.parametrize(
    ("reason", "score", "outcome"),
    [
        (None, 0.9, "answered"),
        ("no_chunks", None, "not_in_documents"),
        ("weak_evidence", 0.1, "not_in_documents"),
        ("weak_evidence", 0.3, "not_sure"),
        ("llm_self_judge", 0.9, "not_sure"),
        ("llm_truncated", 0.9, "broken_off"),
    ],
)
def test_how_a_stored_answer_ended(reason: str | None, score: float | None, outcome: str) -> None:
    assert stored_outcome(reason, score, 0.18) == outcome


def test_a_stored_answer_ended_as_it_said() -> None:
    said = "I found no answer to this in your documents. No passage mentions 'hotel'."
    assert stored_outcome("weak_evidence", 0.3, 0.18, said) == "not_in_documents"
    assert stored_outcome("weak_evidence", 0.3, 0.18, "문서에서 이 질문의 답을 찾지 못했습니다.") == "not_in_documents"


@pytest.mark.parametrize(
    ("sentences", "fault"),
    [
        ([("contradicted", ["'5' stands for '6'"]), ("unsupported", [])], "contradicted"),
        ([("unsupported", ["6 is not there"])], "unsupported"),
        ([("weak", [NOT_FOUND]), ("verified", [])], "unconfirmed"),
        ([("likely", [])], "in_other_words"),
    ],
)
def test_what_was_wrong_with_a_stored_answer(sentences: list[tuple[str, list[str]]], fault: str) -> None:
    checks = [{"status": status, "reasons": reasons} for status, reasons in sentences]
    assert stored_fault(json.dumps({"status": "unsupported", "sentences": checks})) == fault
    assert stored_fault(None) == ""
