"""Doubts marked where they stand: behind a sentence, and below code and tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb.ask.records import Answer, AnswerRetrieval, SentenceCheck, Usage, Verification
from kb.cli.answer_footer import footer, mark_doubts
from kb.records import ModelRef


def answer_of(text: str, *doubtful: str) -> Answer:
    checks = tuple(
        SentenceCheck(
            start=text.index(part),
            end=text.index(part) + len(part),
            text=part,
            markers=(1,),
            status="unsupported",
            score=0.1,
        )
        for part in doubtful
    )
    return Answer(
        trace_id="0",
        question="Why?",
        answer=text,
        citations=(),
        grounded=True,
        refusal_reason=None,
        model=ModelRef("m:1", "ollama"),
        embedding=None,
        prompt_template_version="rag-v2",
        retrieval=AnswerRetrieval(
            mode="lexical",
            k=3,
            score_gate=0.1,
            top_score=0.9,
            chunks_returned=3,
            chunks_used=2,
            corpus_revision=1,
        ),
        usage=Usage(prompt_tokens=1, completion_tokens=1, latency_ms=2345.0, first_token_ms=None),
        created_at="2026-11-22T00:00:00Z",
        verification=Verification(
            status="weak" if doubtful else "verified",
            verified=3 - len(doubtful),
            total=3,
            coverage=1.0,
            sentences=checks,
        ),
    )


DOUBT = "**⚠ not backed by [#1]**"


@pytest.mark.parametrize(
    ("text", "doubtful", "marked"),
    [
        ("One. Two [#1]. Three.", ["Two [#1]."], f"One. Two [#1]. {DOUBT} Three."),
        ("One.\n\n- Two.\n- Three.", ["Two.", "Three."], f"One.\n\n- Two. {DOUBT}\n- Three. {DOUBT}"),
        ("```sh\nrm x\n```\nEnd.", ["rm x"], f"```sh\nrm x\n```\n\n{DOUBT}\n\nEnd."),
        ("```sh\nrm x\n```", ["rm x\n```"], f"```sh\nrm x\n```\n\n{DOUBT}\n\n"),
        ("| a |\n|---|\n| 1 |\n| 2 |\n\nEnd.", ["| 1 |"], f"| a |\n|---|\n| 1 |\n| 2 |\n\n{DOUBT}\n\nEnd."),
        ("One.", [], "One."),
    ],
)
def test_doubts_are_marked_where_they_stand(text: str, doubtful: list[str], marked: str) -> None:
    assert mark_doubts(answer_of(text, *doubtful)) == marked


def test_a_korean_answer_has_its_doubts_in_korean() -> None:
    answer = replace(answer_of("하나. 둘 [#1].", "둘 [#1]."), question="왜 그런가요?")
    assert mark_doubts(answer) == "하나. 둘 [#1]. **⚠ [#1]에 없음**"
    refused = replace(answer, grounded=False, refusal_reason="not_backed")
    assert footer(refused).startswith("근거 ✗ (확인하지 못함)")
    assert footer(replace(refused, question="Why?")).startswith("grounded ✗ (not confirmed)")


def test_the_verdict_names_what_is_worst() -> None:
    answer = replace(
        answer_of("One. Two. Three.", "One.", "Two.", "Three."), grounded=False, refusal_reason="not_backed"
    )
    assert answer.verification
    doubted, missing, against = answer.verification.sentences
    missing = replace(missing, reasons=("'Ada' is not named there",))
    against = replace(against, status="contradicted", reasons=("'14' stands for '15'",))
    for checks, said in (
        ((doubted,), "not confirmed"),
        ((doubted, missing), "not in these passages"),
        ((doubted, missing, against), "the documents say otherwise"),
    ):
        told = replace(answer, verification=replace(answer.verification, sentences=checks))
        assert footer(told).startswith(f"grounded ✗ ({said}) · ")


def test_the_verdict_is_one_line_in_the_language_of_the_question() -> None:
    assert footer(answer_of("One.")) == "✓ checked against your documents · m:1 · 2.3 s"
    assert footer(answer_of("One.", "One.")).startswith("⚠ doubtful: 1 of 3 sentences")
    assert footer(replace(answer_of("One."), question="왜 그런가요?")).startswith("✓ 문서와 대조함")


def test_an_answer_in_other_words_has_no_tick_and_its_marks_only_where_some_of_it_has_one() -> None:
    answer = answer_of("One. Two.", "One.", "Two.")
    assert answer.verification
    one, two = (replace(check, status="likely", score=0.8) for check in answer.verification.sentences)
    told = replace(answer, verification=replace(answer.verification, status="likely", sentences=(one, two)))
    assert footer(told).startswith("≈ may be in your documents, in other words")
    assert mark_doubts(told) == "One. Two."
    backed = replace(two, status="verified")
    told = replace(answer, verification=replace(answer.verification, status="likely", sentences=(one, backed)))
    assert mark_doubts(told) == "One. **≈ [#1] may say this in other words** Two."
    uncited = replace(answer, question="왜 그런가요?", verification=replace(
        answer.verification, status="weak", sentences=(replace(one, markers=()), answer.verification.sentences[1])
    ))  # fmt: skip
    assert mark_doubts(uncited).startswith("One. **≈ 인용은 없지만 문서에 다른 말로 있을 수 있음** Two. **⚠ ")
    assert footer(uncited).startswith("⚠ 3문장 중 1문장은 확인되지 않음")


def test_an_answer_that_cites_the_wrong_passage_is_not_called_doubtful() -> None:
    answer = answer_of("One [#1]. Two [#1].", "Two [#1].")
    assert answer.verification
    misplaced = replace(answer.verification.sentences[0], status="misattributed", misattributed_to=2)
    told = replace(answer, verification=replace(answer.verification, status="weak", sentences=(misplaced,)))
    assert footer(told).startswith("⚠ in your documents, but not where the answer says · ")
