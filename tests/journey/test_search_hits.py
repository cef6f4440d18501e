"""What a hit says: how probable it is in every mode, what is a copy of it, and what is shown where nothing was found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.journey.conftest import Call

MODES = ("lexical", "vector", "hybrid")
ELSEWHERE = "Which enzyme repairs strand breaks in bacterial plasmids?"


@pytest.mark.parametrize("mode", MODES)
def test_a_score_is_a_probability_and_falls_with_the_rank(kb: Call, corpus_home: Path, mode: str) -> None:
    hits = kb("search", "how often are the mirrors cleaned", "--mode", mode, "--json", home=corpus_home).json()["hits"]
    scores = [hit["score"] for hit in hits]
    assert all(0 < score < 1 for score in scores)
    if mode != "hybrid":  # there a document's further passages come a little later
        assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.5


@pytest.mark.parametrize("mode", ["lexical"])
def test_where_nothing_is_likely_the_nearest_is_a_maybe(kb: Call, corpus_home: Path, mode: str) -> None:
    found = kb("search", ELSEWHERE, "--mode", mode, "--json", home=corpus_home)
    response = found.json()
    assert (found.code, response["hits"], response["documents"]) == (1, [], [])
    assert 1 <= len(response["maybe"]) <= 3
    assert "likely" in response["hint"]
    shown = kb("search", ELSEWHERE, "--mode", mode, home=corpus_home)
    assert shown.code == 1
    assert re.search(r"^ 1  .* maybe \d+%$", shown.out.splitlines()[0])
    assert "no hits" in shown.err
    asked_for = kb("search", ELSEWHERE, "--mode", mode, "--min-score", 0, "--json", home=corpus_home)
    assert asked_for.code == 0
    nearest = [hit["chunk_id"] for hit in response["maybe"]]
    assert [hit["chunk_id"] for hit in asked_for.json()["hits"][: len(nearest)]] == nearest


def test_paths_name_only_what_was_found(kb: Call, corpus_home: Path) -> None:
    found = kb("search", ELSEWHERE, "--mode", "lexical", "--paths", home=corpus_home)
    assert (found.code, found.out) == (1, "")


@pytest.mark.parametrize("query", ["E-133", "retry_budget_seconds", "망원경", "Marigold"])
def test_a_word_that_is_there_is_always_found(kb: Call, corpus_home: Path, query: str) -> None:
    for mode in ("lexical", "hybrid"):
        assert kb("search", query, "--mode", mode, "--json", home=corpus_home).code == 0


def test_copies_are_named_under_the_hit(kb: Call, corpus_home: Path) -> None:
    shown = kb("search", "emergency card radio channel", home=corpus_home)
    assert "also in ops/emergency-card.txt#L1" in shown.out
    whole = kb("search", "emergency card radio channel", "--json", home=corpus_home).json()
    places = [hit["chunk_id"] for hit in whole["hits"]] + [c["chunk_id"] for h in whole["hits"] for c in h["also_in"]]
    assert len(set(places)) == len(places)


def test_a_file_of_two_sources_is_told_apart_by_its_source(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("The ferry to Norderney leaves at the blue pier every morning.\n")
    for source in ("first", "second"):
        assert kb("ingest", folder, "--source", source, "--words-only", home=home).code == 0
    shown = kb("search", "ferry to Norderney", "--mode", "lexical", home=home).out
    assert re.search(r"also in ferry\.md#L1 \(source (first|second)\)", shown)


def test_the_first_hits_are_the_same_however_many_are_shown(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    """Copies are looked for below what is shown, and as far for one hit as for many: `kb eval` judges a hundred."""
    folder = tmp_path / "copies"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.md").write_text("The ferry to Norderney leaves at the blue pier every morning.\n")
    assert kb("ingest", folder, home=corpus_home).code == 0
    few, many = (
        kb("search", "ferry to Norderney", "--mode", "lexical", "-k", k, "--json", home=corpus_home).json()["hits"]
        for k in (1, 100)
    )
    assert few == many[:1]
    assert len(few[0]["also_in"]) == 39


def test_hits_are_also_listed_by_document(kb: Call, corpus_home: Path) -> None:
    response = kb("search", "how often are the mirrors cleaned", "--json", home=corpus_home).json()
    of = {hit["rank"]: hit["doc_id"] for hit in response["hits"]}
    assert sorted(rank for group in response["documents"] for rank in group["ranks"]) == sorted(of)
    assert all({of[rank] for rank in group["ranks"]} == {group["doc_id"]} for group in response["documents"])
    firsts = [group["ranks"][0] for group in response["documents"]]
    assert firsts == sorted(firsts)


def test_a_fusion_by_ranks_is_shown_as_it_is(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_SEARCH__FUSION", "rrf")
    response = kb("search", "emergency card radio channel", "--explain", "--json", home=corpus_home).json()
    ranked = [row["chunk_id"] for row in response["trace"]["ranking"]]
    assert [hit["chunk_id"] for hit in response["hits"]] == ranked[:10]
    assert not any(hit["also_in"] for hit in response["hits"])
    assert [hit["order_score"] for hit in response["hits"]] == [r["score"] for r in response["trace"]["ranking"][:10]]
