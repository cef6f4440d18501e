"""search and ask with a window, and sessions: what was shown comes later, what is new first, and an answer is never lost."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kb.ask.pipeline import ask as ask_question
from kb.ask.records import AskRequest
from kb.config import Config
from kb.context.pipeline import compose
from kb.context.records import ContextRequest
from kb.packing.known_text import known_text_from_text
from kb.records import SearchRequest
from kb.runtime import open_runtime
from kb.search.pipeline import search
from tests.journey.conftest import CORPUS, Call
from tests.schemas import check_wire

QUERY = "mirror cleaning"
QUESTION = "How often must Marigold's mirror be cleaned?"
MORE = "What else is known about cleaning Marigold's mirror?"


def text_of(home: Path, chunk_id: int) -> str:
    with sqlite3.connect(home / "kb.sqlite") as store:
        return str(store.execute("SELECT text FROM chunks WHERE chunk_id = ?", [chunk_id]).fetchone()[0])


def ask(kb: Call, home: Path, question: str, *words: str | Path) -> dict[str, Any]:
    answer: dict[str, Any] = kb("ask", question, "--json", *words, home=home).json()
    check_wire(answer, "answer.v1")
    return answer


# ---- search


def test_hits_that_the_window_holds_are_left_out_and_said(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    plain = kb("search", QUERY, "-k", 5, "--json", home=corpus_home).json()
    shown = plain["hits"][0]["chunk_id"]
    (tmp_path / "window.md").write_text(f"Before.\n\n{text_of(corpus_home, shown)}")
    found = kb("search", QUERY, "-k", 5, "--seen", tmp_path / "window.md", "--explain", "--json", home=corpus_home)
    response = found.json()
    check_wire(response, "search_response.v1")
    assert [hit["chunk_id"] for hit in response["hits"][:4]] == [hit["chunk_id"] for hit in plain["hits"][1:]]
    assert len(response["hits"]) == 5  # filled from farther down
    assert [hit["rank"] for hit in response["hits"]] == [1, 2, 3, 4, 5]
    for hit in response["hits"]:
        novelty = hit["retrieval"]["novelty"]
        assert hit["order_score"] == novelty["adjusted_score"]
        assert hit["retrieval"]["fusion_score"] >= hit["order_score"]
        assert novelty["penalty"] == pytest.approx(0.9 * novelty["overlap"] ** 1.35, abs=1e-5)
    assert response["trace"]["novelty"]["omitted"] == [shown]
    assert response["note"] == "left out 1 passage that you have seen already"
    shown_text = kb("search", QUERY, "--seen", tmp_path / "window.md", home=corpus_home)
    assert shown_text.err == "note: left out 1 passage that you have seen already\n"
    assert plain["hits"][0]["retrieval"]["novelty"] is None


def test_a_hit_that_overlaps_half_is_demoted_not_removed(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    plain = kb("search", QUERY, "--json", home=corpus_home).json()["hits"]
    words = text_of(corpus_home, plain[0]["chunk_id"]).split(" ")
    (tmp_path / "half.md").write_text(" ".join(words[: len(words) // 2 + 2]))
    pressed = kb("search", QUERY, "--seen", tmp_path / "half.md", "--json", home=corpus_home).json()["hits"]
    again = next(hit for hit in pressed if hit["chunk_id"] == plain[0]["chunk_id"])
    assert 0.4 <= again["retrieval"]["novelty"]["overlap"] <= 0.6
    assert again["order_score"] < plain[0]["order_score"]
    assert {hit["chunk_id"] for hit in pressed} == {hit["chunk_id"] for hit in plain}


def test_a_window_that_holds_everything_leaves_no_hit_and_says_why(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    with sqlite3.connect(corpus_home / "kb.sqlite") as store:
        (tmp_path / "all.md").write_text("\n\n".join(row[0] for row in store.execute("SELECT text FROM chunks")))
    found = kb("search", QUERY, "--mode", "lexical", "--seen", tmp_path / "all.md", home=corpus_home)
    assert (found.code, found.out) == (1, "")
    assert "everything that was found (" in found.err
    assert "was seen already" in found.err


def test_bulk_and_a_window_from_standard_input_exclude_each_other(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "--bulk", "--seen", "-", home=corpus_home, stdin="x\n")
    assert found.code == 2
    assert "both read standard input" in found.err
    piped = kb("search", QUERY, "--seen", "-", "--json", home=corpus_home, stdin="nothing of the kind")
    assert piped.json()["hits"][0]["retrieval"]["novelty"]["reason"] == "novel"


def test_every_mode_is_pressed(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    for mode in ("lexical", "vector", "hybrid"):
        top = kb("search", QUERY, "--mode", mode, "--json", home=corpus_home).json()["hits"][0]["chunk_id"]
        (tmp_path / "window.md").write_text(text_of(corpus_home, top))
        hits = kb("search", QUERY, "--mode", mode, "--seen", tmp_path / "window.md", "--json", home=corpus_home).json()
        assert top not in [hit["chunk_id"] for hit in hits["hits"]]


# ---- ask


def test_a_question_asked_again_keeps_its_answer_and_says_that_it_was_shown(kb: Call, corpus_home: Path) -> None:
    first = ask(kb, corpus_home, QUESTION, "--session", "s")
    again = kb("ask", QUESTION, "--session", "s", home=corpus_home)
    assert first["novelty"] is None
    assert again.code == 0
    assert "14 days" in again.out
    assert "note: the evidence was shown before, in answer 1\n" in again.err
    third = ask(kb, corpus_home, QUESTION, "--session", "s")
    assert third["novelty"]["used"] == "all"
    assert first["trace_id"] in third["novelty"]["shown_in"]
    assert ask(kb, corpus_home, QUESTION, "--session", "another")["novelty"] is None


def test_a_follow_up_that_asks_for_more_brings_new_evidence(kb: Call, corpus_home: Path) -> None:
    first = ask(kb, corpus_home, QUESTION, "--session", "s")
    more = ask(kb, corpus_home, "What else is there about Marigold's mirror?", "--session", "s")
    assert more["grounded"]
    assert more["novelty"]["used"] == "fresh"
    places = {c["citation"]["uri"] for c in first["citations"]}
    assert not places & {c["citation"]["uri"] for c in more["citations"]}


def test_when_there_is_nothing_new_a_question_for_more_is_refused(kb: Call, corpus_home: Path) -> None:
    path = str(CORPUS / "guide" / "marigold-telescope.md")
    answer = ask(kb, corpus_home, MORE, "--path", "guide/marigold-telescope.md", "--seen", path)
    assert (answer["grounded"], answer["refusal_reason"], answer["citations"]) == (False, "weak_evidence", [])
    assert answer["answer"] == "Nothing new: what was found on this was shown before, and nothing else answers it."
    assert answer["novelty"]["used"] == "none"
    page = "ko/마리골드-망원경.md"
    korean = ask(kb, corpus_home, "그 밖에 마리골드 거울은 어떻게 하나요?", "--path", page, "--seen", CORPUS / page)
    assert korean["answer"].startswith("새로운 내용이 없습니다.")
    found = kb("ask", MORE, "--path", "guide/marigold-telescope.md", "--seen", path, home=corpus_home)
    assert found.code == 1
    stored = kb("answers", "show", answer["trace_id"], "--json", home=corpus_home).json()
    assert "Nothing new" in json.dumps(stored)


def test_a_window_never_costs_the_answer(kb: Call, corpus_home: Path) -> None:
    answer = ask(kb, corpus_home, QUESTION, "--seen", str(CORPUS / "guide" / "marigold-telescope.md"))
    assert answer["grounded"]
    assert "14 days" in answer["answer"] or "14일" in answer["answer"]
    assert answer["novelty"]["used"] == "all"
    assert answer["novelty"]["shown_in"] == []


def test_an_unrelated_window_changes_nothing(kb: Call, corpus_home: Path) -> None:
    plain = ask(kb, corpus_home, QUESTION)
    windowed = ask(kb, corpus_home, QUESTION, "--seen", __file__)
    assert windowed["answer"] == plain["answer"]
    assert windowed["citations"] == plain["citations"]
    assert windowed["novelty"]["used"] == "fresh"


def test_refusals_have_shown_nothing(kb: Call, corpus_home: Path) -> None:
    refused = ask(kb, corpus_home, "Who painted the Mona Lisa?", "--session", "s")
    assert not refused["grounded"]
    assert ask(kb, corpus_home, QUESTION, "--session", "s")["novelty"] is None


def test_what_an_answer_showed_is_in_the_window_of_a_context(kb: Call, corpus_home: Path) -> None:
    plain = kb("context", QUESTION, "--json", home=corpus_home).json()
    answer = ask(kb, corpus_home, QUESTION, "--session", "s")
    pressed = kb("context", QUESTION, "--session", "s", "--json", home=corpus_home).json()
    cited = {c["citation"]["path"] for c in answer["citations"]}
    assert plain["passages"][0]["path"] in cited
    assert plain["passages"][0]["chunk_id"] not in [p["chunk_id"] for p in pressed["passages"]]
    assert kb("context", QUESTION, "--session", "another", "--json", home=corpus_home).json() == plain


def test_a_replayed_answer_knows_no_window(kb: Call, corpus_home: Path) -> None:
    first = ask(kb, corpus_home, QUESTION, "--session", "s")
    for words in ([], ["--fresh"]):
        replay = kb("answers", "replay", first["trace_id"], *words, home=corpus_home)
        assert replay.code == 0, replay.err


def test_seen_text_that_cannot_be_compared_fails_nothing(kb: Call, corpus_home: Path) -> None:
    """A search, a context and an answer are what they are without it, and say so."""
    seen = known_text_from_text((CORPUS / "guide" / "marigold-telescope.md").read_text())
    broken = replace(seen, whole=replace(seen.whole, simhash64=-1))  # more than 64 bits cannot hold
    warnings: list[str] = []
    with open_runtime(corpus_home, Config(), notify=warnings.append) as base:
        plain, without = ContextRequest(query=QUERY), SearchRequest(QUERY)
        block, expected = compose(base, replace(plain, known_text=broken)), compose(base, plain)
        assert block.text == expected.text
        assert block.admissibility_token == expected.admissibility_token
        assert next(note for note in block.notes if note not in expected.notes).startswith(
            "warning: comparing the passages with the seen text failed (OverflowError"
        )
        assert search(base, without, broken).hits == search(base, without).hits
        asked = AskRequest(QUESTION)
        assert ask_question(base, replace(asked, known_text=broken)).answer == ask_question(base, asked).answer
    failed = [warning.split(" failed (")[0] for warning in warnings if "failed" in warning]
    assert failed == [f"warning: comparing the {what} with the seen text" for what in ("hits", "evidence")]


def test_verbose_requests_log_one_line_each(kb: Call, corpus_home: Path) -> None:
    window = CORPUS / "guide" / "marigold-telescope.md"
    fields = (
        "session_id query candidate_count penalized_count exact_duplicate_count expansion_triggered novel_result_count"
    )
    for words in (["search", QUERY], ["ask", QUESTION], ["context", QUERY]):
        for options in ([], ["--json"]):
            found = kb(*words, "--seen", window, "--verbose", *options, home=corpus_home)
            lines = [json.loads(line) for line in found.err.splitlines() if line.startswith("{")]
            assert [list(line) for line in lines] == [fields.split()]
            assert lines[0]["query"] == words[1]
            assert lines[0]["candidate_count"] == lines[0]["penalized_count"] + lines[0]["novel_result_count"]
            assert lines[0]["exact_duplicate_count"] > 0
            quiet = kb(*words, "--seen", window, "--verbose", *options, "--quiet", home=corpus_home)
            assert not any(line.startswith("{") for line in quiet.err.splitlines())
