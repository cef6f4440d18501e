"""kb eval init: a draft from documents, questions and searches, which measures nothing until a person has judged it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kb.eval.suite import load_suite
from kb.store.recent_searches import FoundPlace, note_search, read_searches
from tests.journey.conftest import Call
from tests.schemas import check_wire
from tests.screens.emulator import show

CLEANING = "guide/marigold-telescope.md#L28-L35"
KOREAN_CLEANING = "ko/마리골드-망원경.md#L20-L26"


def test_a_draft_is_of_the_users_own_documents_and_of_what_they_asked(
    kb: Call, corpus_home: Path, tmp_path: Path
) -> None:
    kb("ask", "How often must Marigold's mirror be cleaned?", "--mode", "lexical", home=corpus_home)
    kb("ask", "Who won the football cup?", "--mode", "lexical", home=corpus_home)
    note_search(corpus_home, "거울 청소", [FoundPlace("corpus", KOREAN_CLEANING), FoundPlace("corpus", CLEANING)], 100)
    note_search(corpus_home, "gone", [FoundPlace("corpus", "gone.md#L1-L2")], 100)
    path = tmp_path / "mine.yaml"
    found = kb("eval", "init", "-o", path, "--json", home=corpus_home)
    made = found.json()
    check_wire(made, "drafted_suite.v1")
    assert (found.code, made["drafts"]) == (0, 20)
    assert {name: made["origins"][name] for name in ("asked", "refused", "searched")} == {
        "asked": 1,
        "refused": 1,
        "searched": 1,
    }
    queries = {query["query"]: query for query in yaml.safe_load(path.read_text(encoding="utf-8"))["queries"]}
    assert all(query["draft"] for query in queries.values())
    assert queries["Who won the football cup?"]["answerable"] is False
    assert queries["거울 청소"]["lang"] == "ko"
    assert queries["거울 청소"]["relevant"][0]["path"] == "ko/마리골드-망원경.md"
    assert "14" in queries["How often must Marigold's mirror be cleaned?"]["relevant"][0]["anchor"]
    assert f"# Also found: {CLEANING}" in path.read_text(encoding="utf-8")

    again = kb("eval", "init", "-o", path, home=corpus_home)
    assert (again.code, "is there already" in again.err) == (2, True)
    refused = kb("eval", "run", path, home=corpus_home)
    assert (refused.code, "measures nothing yet: all its 20 queries are drafts" in refused.err) == (2, True)
    tried = kb("eval", "run", path, "--drafts", "--mode", "lexical", "--json", home=corpus_home)
    (run,) = tried.json()["runs"]  # so every label names exactly one place
    assert (tried.code, run["suite"], run["queries"]) == (0, "mine with 20 drafts", 20)
    for option in (["--gate", "mrr>=0"], ["--save", "x"], ["--junit", "x"], ["--baseline", "last"]):
        gated = kb("eval", "run", path, "--drafts", *option, home=corpus_home)
        assert (gated.code, "drafts gate nothing" in gated.err) == (2, True)


def test_what_was_judged_is_measured_without_the_other_drafts(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    kb("eval", "init", "-o", path, "-n", "3", "--path", "guide/*", home=corpus_home)
    text = path.read_text(encoding="utf-8")
    assert all(query.labels[0].path.startswith("guide/") for query in load_suite(path, with_drafts=True).queries)
    path.write_text(text.replace("    draft: true\n", "", 1), encoding="utf-8")
    found = kb("eval", "run", path, "--mode", "lexical", "--gate", "hit@10>=0", home=corpus_home)
    assert (found.code, f"2 drafts of {path} are left out" in found.err) == (0, True)


def test_korean_documents_get_a_korean_draft(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    path = tmp_path / "한국어.yaml"
    found = kb("eval", "init", "-o", path, "--lang", "ko", home=corpus_home)
    assert found.code == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# `kb eval init`이 만든 초안입니다.")
    assert "# From" not in text
    suite = load_suite(path, with_drafts=True)
    assert {query.slices["lang"] for query in suite.queries} == {"ko"}
    assert len(suite.queries) > 5


def test_only_searches_of_a_person_are_kept(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb("search", "by a script", "--mode", "lexical", home=corpus_home)
    assert read_searches(corpus_home) == []
    show("search", "mirror", "cleaning", "--mode", "lexical", "-n", "1", home=corpus_home)
    (kept,) = read_searches(corpus_home)
    assert (kept.query, kept.places[0].uri) == ("mirror cleaning", CLEANING)
    assert (corpus_home / "recent_searches.json").stat().st_mode & 0o077 == 0
    off = {"KB_HISTORY__KEEP_COMMANDS": "0"}
    show("search", "secret", "--mode", "lexical", home=corpus_home, environment=off)
    assert [search.query for search in read_searches(corpus_home)] == ["mirror cleaning"]


def test_the_oldest_search_goes_and_the_same_one_counts_once(tmp_path: Path) -> None:
    for query in ("a", "b", "a", "c"):
        assert note_search(tmp_path, query, [], keep=2)
    assert [search.query for search in read_searches(tmp_path)] == ["c", "a"]
    (tmp_path / "recent_searches.json").write_text("[{]", encoding="utf-8")
    assert read_searches(tmp_path) == []
    assert not note_search(tmp_path / "none", "a", [], keep=2)
