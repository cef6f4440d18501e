"""Expansion: the queries beside the request's, which terms they may use, and how two pools become one list."""

from __future__ import annotations

import pytest

from kb.context.expand import compress_query, fuse_pools, make_variants, without_dominant
from kb.graph.adjacent import AdjacentTerm
from kb.search.novelty import Counts, Penalized


def term(text: str, predicate: str | None = "relates_to_project", kind: str = "entity") -> AdjacentTerm:
    return AdjacentTerm(text, predicate, kind, 0.5)


def rarest(words: list[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


QUERY = "How does lampd retry an exposure"


@pytest.mark.parametrize(
    ("adjacent", "project", "expected"),
    [
        ([], None, ["lampd retry exposure"]),
        ([term("Bertha")], None, [f"{QUERY} Bertha", "lampd retry exposure"]),
        ([], "observatory", [f"{QUERY} observatory", "lampd retry exposure"]),
        ([term("Bertha")], "observatory", [f"{QUERY} Bertha", "lampd retry exposure"]),
        (
            [term("watchdog", "depends_on"), term("Bertha"), term("Pip")],
            None,
            [f"{QUERY} Bertha", f"{QUERY} watchdog", "lampd retry exposure"],
        ),
        ([term("watchdog", "conflicts_with")], None, [f"{QUERY} watchdog", "lampd retry exposure"]),
        ([term("lampd"), term("Retry")], None, ["lampd retry exposure"]),  # what the query says already adds nothing
    ],
)
def test_variants(adjacent: list[AdjacentTerm], project: str | None, expected: list[str]) -> None:
    assert list(make_variants(QUERY, adjacent, project, rarest)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("the mirror", "mirror"),
        ("mirror", "mirror"),
        ("mirror mirror", "mirror"),
        ("마리골드 거울은 어떻게 관리하나요", "마리골드 거울은 관리하나요"),
        ("one two three four five six seven", "three four five seven"),
        ("", ""),
    ],
)
def test_the_compressed_query_keeps_its_rarest_words_in_order(query: str, expected: str) -> None:
    assert compress_query(query, rarest) == expected


def test_there_are_at_most_four_queries_with_the_original() -> None:
    adjacent = [term(f"name{i}") for i in range(9)] + [term(f"dep{i}", "depends_on") for i in range(9)]
    assert len(make_variants(QUERY, adjacent, "p", rarest)) == 3


def test_terms_that_the_echoing_passages_say_are_not_searched_by() -> None:
    terms = (term("the watchdog"), term("Bertha"), term("grey junction box"))
    kept = without_dominant(terms, ["Bertha is a generator.", "Look at the grey junction box first."])
    assert [t.text for t in kept] == ["the watchdog"]
    assert without_dominant(terms, []) == terms


def penalized(scores: dict[int, float]) -> Penalized:
    return Penalized((), sorted(scores.items(), key=lambda row: -row[1]), (), Counts())


def test_pools_fuse_by_reciprocal_ranks() -> None:
    fused = fuse_pools(penalized({1: 0.9, 2: 0.2}), [penalized({2: 0.5, 4: 0.4})])
    assert [chunk_id for chunk_id, _ in fused] == [2, 1, 4]
    assert fused[0][1] == pytest.approx((1 / 62 + 1 / 61) / (2 / 61))


def test_an_expansion_that_found_nothing_changes_nothing() -> None:
    assert [chunk_id for chunk_id, _ in fuse_pools(penalized({1: 0.9, 2: 0.2}), [])] == [1, 2]
