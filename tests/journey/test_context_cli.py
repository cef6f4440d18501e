"""kb context: the block, the window, the budget, what is said when there is nothing, and what can go wrong."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kb.text import estimate_tokens
from tests.journey.conftest import CORPUS, Call
from tests.journey.test_citations import is_in_lines
from tests.schemas import check_wire

QUERY = "How often must Marigold's mirror be cleaned?"
TOP = "guide/marigold-telescope.md"


def context(kb: Call, home: Path, *words: str | Path, **options: Any) -> dict[str, Any]:
    """context.v1, checked against its schema."""
    found = kb("context", *words, "--json", home=home, **options)
    response: dict[str, Any] = found.json()
    check_wire(response, "context.v1")
    assert found.code == (0 if response["text"] else 1)
    assert response["budget"]["total"]["used"] <= response["budget"]["total"]["share"]
    return response


def chunk_text(kb: Call, home: Path, query: str = QUERY, rank: int = 0) -> tuple[int, str]:
    """(chunk_id, text) of a hit."""
    hit = kb("search", query, "--json", home=home).json()["hits"][rank]
    with sqlite3.connect(home / "kb.sqlite") as store:
        row = store.execute("SELECT text FROM chunks WHERE chunk_id = ?", [hit["chunk_id"]]).fetchone()
    return hit["chunk_id"], row[0]


def test_the_bare_output_is_the_block(kb: Call, corpus_home: Path) -> None:
    found = kb("context", QUERY, home=corpus_home)
    response = context(kb, corpus_home, QUERY)
    assert (found.code, found.err) == (0, "")
    assert found.out == response["text"] + "\n"
    assert f"[{TOP}#L28-L35]\n> ## Care of the mirror\n>\n> ### Cleaning\n>\n> The mirror must be cleaned" in found.out
    assert estimate_tokens(response["text"]) == response["budget"]["total"]["used"] <= 500
    assert response["budget"]["tokenizer"] == "kb-estimate"
    assert response["debug"] is None


def test_cited_lines_are_where_the_text_stands(kb: Call, corpus_home: Path) -> None:
    shortened = 0
    for query in (QUERY, "dome", "lampd configuration", "거울 청소", "generator"):
        for tokens in (120, 300, 2000):
            for passage in context(kb, corpus_home, query, "--max-tokens", str(tokens), "-k", "9")["passages"]:
                place = passage["citation"]
                shortened += passage["is_shortened"]
                if place["start_line"] is not None:
                    lines = (
                        (CORPUS / passage["path"]).read_text().splitlines()[place["start_line"] - 1 : place["end_line"]]
                    )
                    assert is_in_lines(
                        "restructuredtext" if passage["path"].endswith(".rst") else "", passage["text"], lines
                    )
    assert shortened


@pytest.mark.parametrize("tokens", [50, 77, 200, 500, 2000])
def test_the_budget_holds(kb: Call, corpus_home: Path, tokens: int) -> None:
    response = context(kb, corpus_home, "lampd dome Bertha", "--max-tokens", str(tokens), "-k", "20")
    budget = response["budget"]
    assert budget["chunks"]["used"] <= budget["chunks"]["share"] == tokens * 60 // 100
    assert budget["graph"]["used"] <= budget["graph"]["share"] == tokens * 30 // 100
    assert budget["tokenizer"] == "kb-estimate"
    assert estimate_tokens(response["text"]) == budget["total"]["used"] <= tokens


# ---- text that the reader already has


def test_the_top_passage_verbatim_in_the_window_is_suppressed(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    chunk_id, text = chunk_text(kb, corpus_home)
    (tmp_path / "window.md").write_text(f"Earlier in this chat:\n\n{text}\n\nThanks!")
    plain = context(kb, corpus_home, QUERY)
    pressed = context(kb, corpus_home, QUERY, "--seen", tmp_path / "window.md", "--debug")
    assert plain["passages"][0]["chunk_id"] == chunk_id
    assert chunk_id not in [p["chunk_id"] for p in pressed["passages"]]
    assert pressed["passages"]
    assert pressed["omitted"] == 1
    row = next(c for c in pressed["debug"]["candidates"] if c["candidate_id"] == str(chunk_id))
    assert (row["overlap_ratio"], row["adjusted_score"], row["reason"]) == (1.0, 0.0, "exact_duplicate")
    assert plain["admissibility_token"] == pressed["admissibility_token"]


def test_a_passage_that_the_window_holds_half_of_is_demoted_and_stays(
    kb: Call, corpus_home: Path, tmp_path: Path
) -> None:
    chunk_id, text = chunk_text(kb, corpus_home)
    words = text.split(" ")
    (tmp_path / "half.md").write_text(" ".join(words[: len(words) // 2 + 2]))
    pressed = context(
        kb, corpus_home, QUERY, "--seen", tmp_path / "half.md", "--debug", "-k", "9", "--max-tokens", "2000"
    )
    row = next(c for c in pressed["debug"]["candidates"] if c["candidate_id"] == str(chunk_id))
    assert 0.4 <= row["overlap_ratio"] <= 0.6
    assert 0 < row["adjusted_score"] < row["original_score"]
    assert chunk_id in [p["chunk_id"] for p in pressed["passages"]]
    assert pressed["omitted"] == 0


def test_when_all_of_the_first_are_duplicates_the_search_is_widened(
    kb: Call, corpus_home: Path, tmp_path: Path
) -> None:
    plain = context(kb, corpus_home, QUERY, "-k", "3")
    words: list[str | Path] = []
    for rank in range(3):
        path = tmp_path / f"shown-{rank}.md"
        path.write_text(chunk_text(kb, corpus_home, rank=rank)[1])
        words += ["--seen", path]
    pressed = context(kb, corpus_home, QUERY, "-k", "3", "--debug", *words)
    shown = {p["chunk_id"] for p in plain["passages"]}
    assert pressed["debug"]["expansion_triggered"]
    assert pressed["debug"]["expansion_queries"]
    assert pressed["passages"]
    assert not shown & {p["chunk_id"] for p in pressed["passages"]}
    assert pressed["admissibility_token"] == plain["admissibility_token"]
    assert [p["text"] for p in pressed["paths"]] == [p["text"] for p in plain["paths"]]


def test_the_token_is_the_traversals_in_every_case(
    kb: Call, corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "What depends on lampd when the dome stalls?"
    issued = kb("graph", query, "--json", home=corpus_home).json()["admissibility_token"]
    plain = context(kb, corpus_home, query)
    block = tmp_path / "block.md"
    block.write_text(plain["text"])
    everything = tmp_path / "everything.md"
    with sqlite3.connect(corpus_home / "kb.sqlite") as store:
        everything.write_text("\n\n".join(row[0] for row in store.execute("SELECT text FROM chunks")))
    cases: list[list[str | Path]] = [
        [],
        ["--seen", block],
        ["--seen", everything],
        ["--no-novelty", "--seen", block],
    ]
    for words in cases:
        found = context(kb, corpus_home, query, *words)
        assert found["admissibility_token"] == issued
        assert (f"admissibility: {issued}" in found["text"]) == (
            f"admissibility: {issued}" in plain["text"]
        ) or not found["text"]
    assert context(kb, corpus_home, query, "--no-graph")["admissibility_token"] is None


def test_paths_are_pressed_less_than_passages(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    plain = context(kb, corpus_home, "lampd")
    assert plain["paths"]
    (tmp_path / "path.txt").write_text(plain["paths"][0]["text"])
    pressed = context(kb, corpus_home, "lampd", "--seen", tmp_path / "path.txt", "--debug")
    assert plain["paths"][0]["text"] not in [p["text"] for p in pressed["paths"]]
    rows = [c for c in pressed["debug"]["candidates"] if c["source"] == "path" and 0.2 < c["overlap_ratio"] < 1]
    for row in rows:
        expected = row["original_score"] * (1 - 0.6 * row["overlap_ratio"] ** 1.35)
        assert row["adjusted_score"] == pytest.approx(expected)


# ---- without a window


def test_without_a_window_nothing_changes(
    kb: Call, corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "window.md").write_text(chunk_text(kb, corpus_home)[1])
    for words in (["context", QUERY], ["context", QUERY, "--json"], ["search", QUERY]):
        plain = kb(*words, home=corpus_home)
        monkeypatch.setenv("KB_NOVELTY__ENABLED", "false")
        off = kb(*words, home=corpus_home)
        ignored = kb(*words, "--seen", tmp_path / "window.md", home=corpus_home)
        monkeypatch.delenv("KB_NOVELTY__ENABLED")
        assert plain == off == ignored
    assert (
        kb("context", QUERY, "--no-novelty", "--seen", tmp_path / "window.md", home=corpus_home).out
        == kb("context", QUERY, home=corpus_home).out
    )
    assert not (corpus_home / "counters.sqlite").exists()


def test_an_unrelated_window_costs_nothing(kb: Call, corpus_home: Path) -> None:
    window = Path(__file__).parents[2] / "kb" / "config" / "sections.py"
    assert kb("context", QUERY, "--seen", window, home=corpus_home).out == kb("context", QUERY, home=corpus_home).out


def test_debug_leaves_the_block_alone(kb: Call, corpus_home: Path) -> None:
    plain, debugged = kb("context", QUERY, home=corpus_home), kb("context", QUERY, "--debug", home=corpus_home)
    assert plain.out == debugged.out
    assert "seen text: 0 spans" in debugged.err
    fields = ("overlap_ratio", "original_score", "self_ref_penalty_applied", "expansion_triggered")
    assert not any(name in kb("context", QUERY, "--json", home=corpus_home).out for name in fields)


# ---- windows as they come


def test_a_pipe_of_contexts_goes_on_to_what_is_new(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    first = kb("context", QUERY, home=corpus_home)
    second = kb("context", QUERY, "--seen", "-", home=corpus_home, stdin=first.out)
    assert (second.code, second.out != first.out) == (0, True)
    lines = {line for line in first.out.splitlines() if line.startswith("> ") and len(line) > 40}
    assert lines
    assert not lines & set(second.out.splitlines())


def test_a_fingerprint_stands_for_its_text(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    chunk_id, text = chunk_text(kb, corpus_home)
    (tmp_path / "window.md").write_text("Before.\n" * 30 + text + "\nAfter." * 30)
    printed = kb("context", "fingerprint", tmp_path / "window.md", home=corpus_home)
    assert printed.code == 0
    check_wire(json.loads(printed.out), "window_fingerprint.v1")
    piped = kb("context", "fingerprint", "-", home=corpus_home, stdin=(tmp_path / "window.md").read_text())
    assert json.loads(piped.out)["fp_version"] == json.loads(printed.out)["fp_version"]
    (tmp_path / "window.json").write_text(printed.out)
    pressed = context(kb, corpus_home, QUERY, "--seen-fingerprint", tmp_path / "window.json", "--debug", "-k", "9")
    row = next(c for c in pressed["debug"]["candidates"] if c["candidate_id"] == str(chunk_id))
    assert row["is_estimate"]
    assert row["overlap_ratio"] >= 0.6
    assert pressed["omitted"] == 0  # an estimate alone leaves nothing out
    assert pressed["passages"][0]["chunk_id"] != chunk_id


def test_the_whole_corpus_in_the_window_leaves_nothing(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    with sqlite3.connect(corpus_home / "kb.sqlite") as store:
        (tmp_path / "all.md").write_text("\n\n".join(row[0] for row in store.execute("SELECT text FROM chunks")))
    found = kb("context", QUERY, "--no-graph", "--seen", tmp_path / "all.md", home=corpus_home)
    assert (found.code, found.out) == (1, "")
    assert found.err == "nothing to add: everything that was found (15 passages) was seen already\n"


@pytest.mark.parametrize("raw", [b"", b"\n \n", b"\x7fELF\x02\x01\x01" + bytes(range(9)) * 30, b"\xff\xfe"])
def test_a_window_without_text_changes_nothing_and_is_said(
    kb: Call, corpus_home: Path, tmp_path: Path, raw: bytes
) -> None:
    (tmp_path / "window").write_bytes(raw)
    found = kb("context", QUERY, "--seen", tmp_path / "window", home=corpus_home)
    assert found.out == kb("context", QUERY, home=corpus_home).out
    assert "the seen text is empty" in found.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--seen", "/no/such/file"], "no file '/no/such/file'"),
        (["--seen", "/"], "is a folder"),
        (["--seen", "-", "--seen", "-"], "named twice"),
        (["--seen-fingerprint", str(CORPUS / "README.md")], "cannot be read"),
        (["--max-tokens", "49"], "context.max_tokens"),
        (["--max-tokens", "many"], "--max-tokens"),
        (["--limit", "0"], "context.k"),
        (["--metrics", "/no/such/folder/file"], "the metrics cannot be written"),
        (["--project", "a", "--cwd", "b"], "both name a project"),
        (["--mode", "lexical", "--expand-tags"], "--expand-tags"),
        (["--since", "someday"], "someday"),
    ],
)
def test_what_cannot_be_used_is_an_error_with_a_fix(
    kb: Call, corpus_home: Path, words: list[str], problem: str
) -> None:
    found = kb("context", QUERY, *words, home=corpus_home, stdin="x")
    assert (found.code, found.out) == (2, "")
    first, second = found.err.splitlines()
    assert problem in first
    assert second.startswith("  fix: ")


def test_nothing_is_found(kb: Call, corpus_home: Path) -> None:
    found = kb("context", "zzzqqq", "--mode", "lexical", home=corpus_home)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("nothing to add: nothing was found. looked in")
    assert kb("context", "", home=corpus_home).code == 2


def test_filters_hold(kb: Call, corpus_home: Path) -> None:
    response = context(kb, corpus_home, "거울", "--lang", "ko")
    assert response["passages"]
    assert all(p["path"].startswith("ko/") for p in response["passages"])


def test_the_project_is_the_folders_name(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    by_name = kb("context", "dome", "--project", "corpus", "--json", home=corpus_home)
    by_folder = kb("context", "dome", "--cwd", tmp_path / "corpus", "--json", home=corpus_home)
    assert by_name.out == by_folder.out
    assert by_name.json()["passages"] == context(kb, corpus_home, "dome")["passages"]


# ---- what fails falls back


def test_an_expansion_that_fails_keeps_the_first_pass(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    """By vectors alone the word index is first needed to weigh the query's words; here it can be neither read nor made."""
    words: list[str | Path] = ["context", QUERY, "--mode", "vector", "-k", "2"]
    for rank in range(2):
        (tmp_path / f"{rank}.md").write_text(chunk_text(kb, corpus_home, rank=rank)[1])
        words += ["--seen", tmp_path / f"{rank}.md"]
    for path in (corpus_home / "index").glob("lexical*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (corpus_home / "index" / "lexical.json").mkdir()
    found = context(kb, corpus_home, *words[1:], "--debug")
    assert found["text"]
    assert found["debug"]["expansion_triggered"]
    assert found["debug"]["expansion_queries"] == []
    assert any(note.startswith("warning: widening the search failed") for note in found["notes"])
    assert found["admissibility_token"] == context(kb, corpus_home, QUERY, "--mode", "vector")["admissibility_token"]


# ---- counters


def test_requests_are_counted_logged_and_exported(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    assert kb("status", "--json", home=corpus_home).json()["novelty"] is None
    (tmp_path / "window.md").write_text(chunk_text(kb, corpus_home)[1])
    words = ["--seen", tmp_path / "window.md"]
    found = kb("context", QUERY, *words, "--verbose", "--metrics", tmp_path / "kb.prom", home=corpus_home)
    logged = json.loads(next(line for line in found.err.splitlines() if line.startswith("{")))
    assert (logged["query"], logged["exact_duplicate_count"], logged["session_id"]) == (QUERY, 1, None)
    assert logged["candidate_count"] == logged["penalized_count"] + logged["novel_result_count"]
    page = (tmp_path / "kb.prom").read_text()
    assert f"context_gateway_selfref_candidates_total {logged['candidate_count']}\n" in page
    kb("search", QUERY, *words, home=corpus_home)
    totals = kb("status", "--json", home=corpus_home).json()["novelty"]
    assert (totals["requests"], totals["exact_duplicates"]) == (2, 2)
    assert "2 requests with seen text" in kb("status", home=corpus_home).out


def test_a_home_that_cannot_count_answers_all_the_same(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    (tmp_path / "window.md").write_text(chunk_text(kb, corpus_home)[1])
    expected = kb("context", QUERY, "--seen", tmp_path / "window.md", home=corpus_home)
    (corpus_home / "counters.sqlite").unlink()
    (corpus_home / "counters.sqlite").mkdir()
    assert kb("context", QUERY, "--seen", tmp_path / "window.md", home=corpus_home) == expected
    assert kb("status", home=corpus_home).code == 0
