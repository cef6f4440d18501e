"""Whole commands over indexes that other engines keep: nothing above `kb/index` knows which these are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.index.registry import DEFAULT_LEXICAL, DEFAULT_VECTOR, LEXICAL_ENGINES, VECTOR_ENGINES
from tests.contract.toy_engines import TOY_LEXICAL, TOY_VECTOR
from tests.journey.conftest import Call

QUERY = "wind limits of the telescope"


def test_commands_run_on_engines_that_are_one_entry_each(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = [
        hit["chunk_id"] for hit in kb("search", QUERY, "--mode", "vector", "--json", home=corpus_home).json()["hits"]
    ]
    monkeypatch.setitem(LEXICAL_ENGINES, DEFAULT_LEXICAL, TOY_LEXICAL)
    monkeypatch.setitem(VECTOR_ENGINES, DEFAULT_VECTOR, TOY_VECTOR)
    found = kb("search", QUERY, "--mode", "vector", "--json", home=corpus_home)
    assert "rebuilding the vector index (it was built from other documents or by another version)" in found.err
    assert [hit["chunk_id"] for hit in found.json()["hits"]] == near
    filtered = kb("search", QUERY, "--path", "ops/*", "--json", home=corpus_home).json()["hits"]
    assert filtered
    assert all(hit["path"].startswith("ops/") for hit in filtered)
    asked = kb("ask", "Above which sustained wind does Thistle's roof have to be shut?", "--json", home=corpus_home)
    assert asked.code == 0
    assert kb("doctor", home=corpus_home).out.count("both match the store") == 1
    kinds = {row["name"]: row["kind"] for row in kb("status", "--json", home=corpus_home).json()["indexes"]}
    assert kinds == {"lexical": "toy", "vector": "toy"}


def test_without_bounds_lists_are_fused_by_their_ranks(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The toy counts words: no score of it means the same for another query."""
    monkeypatch.setitem(LEXICAL_ENGINES, DEFAULT_LEXICAL, TOY_LEXICAL)
    hits = kb("search", QUERY, "--mode", "hybrid", "--json", home=corpus_home).json()["hits"]
    assert {hit["order_kind"] for hit in hits} == {"rrf"}
    monkeypatch.setenv("KB_SEARCH__FUSION", "rrf")
    asked_for = kb("search", QUERY, "--mode", "hybrid", "--json", home=corpus_home).json()["hits"]
    assert [(hit["chunk_id"], hit["score"]) for hit in hits] == [(hit["chunk_id"], hit["score"]) for hit in asked_for]
