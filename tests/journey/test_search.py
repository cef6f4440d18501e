"""kb search: what a hit holds, how it is scored and ordered, and what the filters let through."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journey.conftest import Call

QUERY = "mirror cleaning"
SCORE_KINDS = {"lexical": "bm25", "vector": "cosine", "hybrid": "convex"}


def without_times(response: dict[str, Any]) -> dict[str, Any]:
    response["took_ms"] = 0
    (response.get("trace") or {}).pop("stage_ms", None)
    return response


@pytest.mark.parametrize("mode", SCORE_KINDS)
def test_a_hit_says_where_and_how_it_was_found(kb: Call, corpus_home: Path, mode: str) -> None:
    found = kb("search", QUERY, "--mode", mode, "-k", 5, "--json", home=corpus_home)
    response = found.json()
    hits = response["hits"]
    assert (found.code, len(found.out.splitlines()), len(hits)) == (0, 1, 5)
    assert (response["query"], response["mode"]) == (QUERY, mode)
    assert [hit["rank"] for hit in hits] == [1, 2, 3, 4, 5]
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    top = hits[0]
    assert (top["path"], top["title"]) == ("guide/marigold-telescope.md", "The Marigold telescope")
    assert top["heading_path"][-1] == "Cleaning"
    assert top["tags"] == ["marigold", "optics", "telescope"]
    assert (top["order_kind"], top["retrieval"]["method"]) == (SCORE_KINDS[mode], mode)
    assert top["score_kind"] == "probability"
    assert all(0 < hit["score"] < 1 for hit in hits)
    assert top["citation"]["uri"].startswith("guide/marigold-telescope.md#L")
    assert (top["retrieval"]["lexical_rank"] is None) == (mode == "vector")
    assert (top["retrieval"]["vector_rank"] is None) == (mode == "lexical")
    own = {"lexical": "lexical_score", "vector": "vector_score", "hybrid": "fusion_score"}[mode]
    assert top["order_score"] == top["retrieval"][own]


def test_convex_scores_can_be_recomputed_from_the_trace(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_SEARCH__FEEDBACK_CHUNKS", "0")
    response = kb("search", QUERY, "-k", 60, "--explain", "--json", home=corpus_home).json()
    by = response["trace"]["fusion"]
    assert (by["vector_share"], by["feedback"]) == (0.6, [])
    for hit in response["hits"]:
        found = hit["retrieval"]
        meaning = max(0.0, (found["vector_score"] - by["background"]) / (1 - by["background"]))
        expected = 0.4 * (found["lexical_score"] or 0) / by["best_lexical"] + 0.6 * meaning
        assert hit["retrieval"]["fusion_score"] == pytest.approx(expected / by["ceiling"], abs=1e-6)
        assert hit["retrieval"]["fusion_score"] < 1


def test_feedback_names_the_passages_it_mixes_in(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def search() -> dict[str, Any]:
        response: dict[str, Any] = kb("search", QUERY, "-k", 20, "--explain", "--json", home=corpus_home).json()
        return response

    with_feedback = search()
    monkeypatch.setenv("KB_SEARCH__FEEDBACK_CHUNKS", "0")
    plain = search()
    mixed_in = with_feedback["trace"]["fusion"]["feedback"]
    assert mixed_in == [hit["chunk_id"] for hit in plain["hits"][:10]]
    cosines = [{h["chunk_id"]: h["retrieval"]["vector_score"] for h in r["hits"]} for r in (plain, with_feedback)]
    for chunk_id in cosines[0].keys() & cosines[1].keys():  # feedback moves the order, not what the cosine says
        assert cosines[0][chunk_id] == pytest.approx(cosines[1][chunk_id], abs=1e-6)


def test_rrf_scores_can_be_recomputed_from_the_two_ranks(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_SEARCH__FUSION", "rrf")
    response = kb("search", QUERY, "-k", 60, "--explain", "--json", home=corpus_home).json()
    ranks = [{row["chunk_id"]: row["rank"] for row in response["trace"][name]} for name in ("lexical", "vector")]
    expected = {
        chunk_id: sum(1 / (60 + places[chunk_id]) for places in ranks if chunk_id in places) * 61 / 2
        for chunk_id in ranks[0] | ranks[1]
    }
    order = sorted(expected, key=lambda chunk_id: (-expected[chunk_id], ranks[0].get(chunk_id, 10**6), chunk_id))
    assert [hit["chunk_id"] for hit in response["hits"]] == order[:60]
    for hit in response["hits"]:
        assert hit["order_kind"] == "rrf"
        assert hit["order_score"] == pytest.approx(expected[hit["chunk_id"]], abs=1e-12)
        found = hit["retrieval"]
        assert (found["lexical_rank"], found["vector_rank"]) == tuple(p.get(hit["chunk_id"]) for p in ranks)
        assert hit["order_score"] <= (0.5 if None in (found["lexical_rank"], found["vector_rank"]) else 1.0)
    assert response["hits"][0]["order_score"] >= 0.5


def test_raw_scores_order_each_list_and_ties_fall_to_the_chunk_id(kb: Call, corpus_home: Path) -> None:
    """The emergency card lies in two folders, byte for byte the same."""
    response = kb("search", "emergency card radio channel", "--explain", "--json", home=corpus_home).json()
    for name in ("lexical", "vector"):
        rows = [(-row["score"], row["chunk_id"]) for row in response["trace"][name]]
        assert rows == sorted(rows)
        assert [row["rank"] for row in response["trace"][name]] == list(range(1, len(rows) + 1))
    card = next(hit for hit in response["hits"] if hit["path"].endswith("emergency-card.txt"))
    (twin,) = card["also_in"]
    assert (card["path"], twin["path"]) == ("ops/binder/emergency-card.txt", "ops/emergency-card.txt")
    assert card["chunk_id"] < twin["chunk_id"]
    scores = {row["chunk_id"]: row["score"] for row in response["trace"]["lexical"]}
    assert scores[card["chunk_id"]] == scores[twin["chunk_id"]]


def test_the_same_search_gives_the_same_bytes(kb: Call, corpus_home: Path) -> None:
    first, second = (kb("search", "wind limits", "--explain", "--json", home=corpus_home).json() for _ in range(2))
    assert set(first["trace"]["stage_ms"]) == set(second["trace"]["stage_ms"])
    assert without_times(first) == without_times(second)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("retry_budget_seconds", "guide/lampd-config.md"),
        ("pick_next_exposure", "code/lamp_queue.py"),
        ("PickNextExposure", "code/lamp_queue.py"),
        ("ExposureRequest", "code/lamp_queue.py"),
        ("smooth_level", "code/tide_filter.rs"),
        ("pageSize", "code/lamp-api.rst"),
        ("E-133", "ops/error-codes.csv"),
        ("거울 청소", "ko/마리골드-망원경.md"),
        ("망원경", "ko/마리골드-망원경.md"),
        ("자매결연", "ko/sister-station.md"),
        ("mirrors cleaned", "guide/marigold-telescope.md"),
        ("ＭＩＲＲＯＲ ＣＬＥＡＮＩＮＧ", "guide/marigold-telescope.md"),
    ],
)
def test_words_identifiers_and_korean_are_found_by_lexical_search(
    kb: Call, corpus_home: Path, query: str, path: str
) -> None:
    found = kb("search", query, "--mode", "lexical", "-k", 10, "--json", home=corpus_home)
    assert path in [hit["path"] for hit in found.json()["hits"]]


def test_what_kbignore_excludes_is_never_found(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "Zorvelquist", "--mode", "lexical", home=corpus_home)
    assert (found.code, found.out) == (1, "")
    assert "zorvelquist" in found.err
    everything = kb("search", "Zorvelquist second dome plan", "-k", 200, "--json", home=corpus_home).json()
    assert not [hit for hit in everything["hits"] if "draft" in hit["path"] or "Zorvelquist" in hit["snippet"]]
    assert "drafts/" not in kb("list", home=corpus_home).out


def test_k_and_min_score_cut_the_list(kb: Call, corpus_home: Path) -> None:
    every = kb("search", QUERY, "--mode", "lexical", "-k", 50, "--json", home=corpus_home).json()["hits"]
    few = kb("search", QUERY, "--mode", "lexical", "-k", 3, "--json", home=corpus_home).json()["hits"]
    assert few == every[:3]
    gate = str(every[4]["score"])
    above = kb("search", QUERY, "--mode", "lexical", "--min-score", gate, "-k", 50, "--json", home=corpus_home).json()
    assert [h["chunk_id"] for h in above["hits"]] == [h["chunk_id"] for h in every if h["score"] >= every[4]["score"]]
    nothing = kb("search", QUERY, "--mode", "lexical", "--min-score", 999, home=corpus_home)
    assert (nothing.code, nothing.out) == (1, "")
    assert "--min-score 999" in nothing.err


@pytest.mark.parametrize("value", ["0", "-1", "x", "1001"])
def test_a_senseless_k_is_refused(kb: Call, corpus_home: Path, value: str) -> None:
    assert kb("search", "mirror", "-k", value, home=corpus_home).code == 2


# ---- filters: option values → which of `kb list`'s documents pass

FILTERS: list[tuple[list[str], Callable[[dict[str, Any]], bool]]] = [
    (["--tag", "optics"], lambda d: "optics" in d["tags"]),
    (["--tag", "OPTICS", "--tag", "food"], lambda d: bool({"optics", "food"} & set(d["tags"]))),
    (["--source", "kept"], lambda d: d["source"] == "kept"),
    (["--source", "kept", "--source", "corpus"], lambda d: True),
    (["--path", "guide/*.md"], lambda d: d["path"].startswith("guide/") and d["path"].endswith(".md")),
    (["--path", "ops/"], lambda d: d["path"].startswith("ops/")),
    (["--path", "night-access-policy.md"], lambda d: d["path"].endswith("night-access-policy.md")),
    (
        ["--path", "ops/**/*.md", "--path", "*.rs"],
        lambda d: (d["path"][:4] == "ops/" and d["path"][-3:] == ".md") or d["path"][-3:] == ".rs",
    ),
    (["--type", "code"], lambda d: d["type"] == "code"),
    (["--type", "html", "--type", "notebook"], lambda d: d["type"] in ("html", "notebook")),
    (["--lang", "ko"], lambda d: d["language"] == "ko"),
    (["--lang", "ko-KR"], lambda d: d["language"] == "ko"),
    (["--since", "2031-05-02"], lambda d: d["modified_at"] >= "2031-05-02"),
    (["--until", "2031-05-02"], lambda d: d["modified_at"] < "2031-05-03"),
    (["--since", "2031-05-01", "--until", "2031-05-01"], lambda d: d["modified_at"][:10] == "2031-05-01"),
    (["--since", "2031-05-02T10:00:00+09:00"], lambda d: d["modified_at"] >= "2031-05-02T01:00:00Z"),
    (["--tag", "telescope", "--lang", "ko"], lambda d: "telescope" in d["tags"] and d["language"] == "ko"),
    (
        ["--tag", "optics", "--path", "guide/*", "--type", "markdown"],
        lambda d: "optics" in d["tags"] and d["path"][:6] == "guide/",
    ),
]


@pytest.fixture
def dated_home(corpus_home: Path) -> Path:
    """The corpus with two sources and files of three days."""
    store = sqlite3.connect(corpus_home / "kb.sqlite")
    store.execute("INSERT INTO sources (source, root) VALUES ('kept', NULL)")
    store.execute("UPDATE documents SET source = 'kept' WHERE path LIKE 'notes/%'")
    day = 1_935_403_200  # 2031-05-01T12:00:00Z
    store.execute("UPDATE documents SET mtime_ns = (? + 86400 * (doc_id % 3)) * 1000000000", [day])
    store.commit()
    store.close()
    return corpus_home


def test_filters_mean_the_same_on_list_and_search(kb: Call, dated_home: Path) -> None:
    everything = kb("list", "--json", home=dated_home).json()["documents"]
    for options, passes in FILTERS:
        expected = [d["doc_id"] for d in everything if passes(d)]
        assert expected, options
        listed = kb("list", *options, "--json", home=dated_home).json()["documents"]
        assert [d["doc_id"] for d in listed] == expected, options
        found = kb("search", "the 을", "--mode", "lexical", "-k", 300, *options, "--json", home=dated_home)
        assert {hit["doc_id"] for hit in found.json()["hits"]} <= set(expected), options


@pytest.mark.parametrize("mode", SCORE_KINDS)
def test_filters_are_applied_before_retrieval(
    kb: Call, corpus_home: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With lists only three deep, a document far down the ranking still fills them when it alone may be found."""
    monkeypatch.setenv("KB_SEARCH__DEPTH", "3")
    only = ("--path", "ops/generator.md", "-k", 3, "--json")
    hits = kb("search", "mirror of the telescope", "--mode", mode, *only, home=corpus_home).json()["hits"]
    unfiltered = kb("search", "mirror of the telescope", "--mode", mode, "-k", 3, "--json", home=corpus_home).json()
    assert {hit["path"] for hit in unfiltered["hits"]} & {"ops/generator.md"} == set()
    if mode == "lexical":  # it finds only chunks that hold a word of the query
        assert hits == [] or {hit["path"] for hit in hits} == {"ops/generator.md"}
        hits = kb("search", "the", "--mode", mode, *only, home=corpus_home).json()["hits"]
    assert len(hits) == 3
    assert {hit["path"] for hit in hits} == {"ops/generator.md"}


def test_a_filter_that_lets_nothing_through_is_named(kb: Call, corpus_home: Path) -> None:
    for command in (["search", "mirror"], ["list"]):
        found = kb(*command, "--tag", "no-such-tag", "--lang", "ko", home=corpus_home)
        assert (found.code, found.out) == (1, "")
        assert "--tag no-such-tag --lang ko" in found.err
    found = kb("search", "mirror", "--tag", "no-such-tag", "--json", home=corpus_home)
    assert (found.code, found.json()["hits"]) == (1, [])
    assert "--tag no-such-tag" in found.json()["hint"]


@pytest.mark.parametrize(
    "options",
    [["--since", "someday"], ["--until", ""], ["--path", "[z-a]"], ["--mode", "fuzzy"], ["--min-score", "nan"]],
)
def test_a_filter_that_means_nothing_is_refused(kb: Call, corpus_home: Path, options: list[str]) -> None:
    found = kb("search", "mirror", *options, home=corpus_home)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: ")
    assert "bug" not in found.err


def test_the_ends_of_time_are_dates(kb: Call, corpus_home: Path) -> None:
    found = kb("list", "--since", "0001-01-01", "--until", "9999-12-31", home=corpus_home)
    assert (found.code, len(found.out.splitlines())) == (0, 32)


def test_relevance_means_the_same_in_every_mode_fusion_and_order(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(mode: str, fusion: str = "convex", order: str = "relevance") -> dict[str, Any]:
        monkeypatch.setenv("KB_SEARCH__FUSION", fusion)
        monkeypatch.setenv("KB_SEARCH__ORDER", order)
        response: dict[str, Any] = kb("search", QUERY, "--mode", mode, "--explain", "--json", home=corpus_home).json()
        return response

    def relevance(response: dict[str, Any]) -> dict[int, float]:
        return {row["chunk_id"]: row["relevance"] for row in response["trace"]["ranking"]}

    convex = found("hybrid")
    assert relevance(convex) == {row["chunk_id"]: row["score"] for row in convex["trace"]["ranking"]}
    assert relevance(found("hybrid", "rrf")) == relevance(convex)
    assert relevance(found("hybrid", order="stability")) == relevance(convex)
    background = convex["trace"]["fusion"]["background"]
    for hit in found("vector")["hits"]:
        expected = max(0.0, (hit["order_score"] - background) / (1 - background))
        assert hit["retrieval"]["relevance"] == pytest.approx(expected)
    words = found("lexical")
    values = list(relevance(words).values())
    assert values == sorted(values, reverse=True), "it orders as BM25 does"
    assert 0 < values[0] <= 1
    assert [hit["retrieval"]["relevance"] for hit in words["hits"]] == values[: len(words["hits"])]
