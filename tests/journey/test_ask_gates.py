"""The gates of an ask go by relevance: in every mode, under every fusion, in whatever order hits are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.journey.conftest import Call

QUESTIONS = ("How often must the mirror be cleaned?", "At what wind speed must Marigold's dome close?")


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_the_score_gate_compares_a_relevance_between_0_and_1(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, mode: str, fusion: str
) -> None:
    monkeypatch.setenv("KB_SEARCH__FUSION", fusion)
    monkeypatch.setenv("KB_RAG__SCORE_GATE", "0.99")
    refused = kb("ask", QUESTIONS[0], "--mode", mode, "--json", home=corpus_home).json()
    assert refused["refusal_reason"] == "score_gate"
    assert [place["marker"] for place in refused["citations"]] == [None] * 3
    monkeypatch.setenv("KB_RAG__SCORE_GATE", "0.01")
    passed = kb("ask", QUESTIONS[0], "--mode", mode, "--json", home=corpus_home).json()
    assert passed["refusal_reason"] != "score_gate"
    assert passed["retrieval"]["top_score"] == refused["retrieval"]["top_score"]  # the hit's own, of its own kind


@pytest.mark.parametrize("question", [*QUESTIONS, "Who painted the Mona Lisa?"])
def test_the_order_of_hits_decides_no_gate(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    answers: dict[str, Any] = {}
    for order in ("relevance", "stability"):
        monkeypatch.setenv("KB_SEARCH__ORDER", order)
        answers[order] = kb("ask", question, "--json", home=corpus_home).json()
    one, other = answers["relevance"], answers["stability"]
    assert [one[name] for name in ("answer", "grounded", "refusal_reason")][1:] == [
        other[name] for name in ("answer", "grounded", "refusal_reason")
    ][1:]
    assert one["retrieval"]["top_score"] == other["retrieval"]["top_score"]
    assert one["retrieval"]["evidence_score"] == pytest.approx(other["retrieval"]["evidence_score"], abs=0.02)


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_what_is_far_below_the_best_is_not_packed(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, fusion: str
) -> None:
    monkeypatch.setenv("KB_SEARCH__FUSION", fusion)
    used = {}
    for share in ("0", "0.5", "1"):
        monkeypatch.setenv("KB_RAG__LEAST_SHARE", share)
        answer = kb("ask", QUESTIONS[0], "--json", home=corpus_home).json()
        used[share] = answer["retrieval"]["chunks_used"]
    assert used["0"] == 10
    assert used["0.5"] < 10
    assert used["1"] == 1


def test_a_refusal_names_a_document_without_lines_once(
    kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every passage of it is the same place to open."""
    from docx import Document

    home, folder = tmp_path / "home", tmp_path / "notes"
    folder.mkdir()
    report = Document()
    for ship in ("Petrel", "Gannet", "Fulmar", "Puffin"):
        report.add_heading(ship, 1)
        for day in range(30):
            report.add_paragraph(
                f"On day {day} the ferry {ship} carried mail, coal and {day} sacks of flour to the island."
            )
    report.save(str(folder / "ferries.docx"))
    (folder / "coal.md").write_text("# Coal\n\nThe island burns coal from the ferry in two stoves.\n")
    assert kb("ingest", folder, "--words-only", home=home).code == 0
    monkeypatch.setenv("KB_RAG__SCORE_GATE", "1")
    places = kb("ask", "Which ferry carried coal to the island?", "--mode", "lexical", "--json", home=home).json()[
        "citations"
    ]
    assert sorted(place["citation"]["uri"] for place in places) == ["coal.md#L1-L3", "ferries.docx"]
