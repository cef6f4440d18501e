"""kb search --rerank: the reader orders the hits, and where there is none, or none that knows the language, the search does."""

from pathlib import Path

import pytest

from tests.journey.conftest import Call

pytestmark = pytest.mark.usefixtures("default_readers")

QUESTION = "How often must the mirror of Marigold be cleaned?"


def test_the_reader_orders_the_hits(kb: Call, corpus_home: Path) -> None:
    hits = kb("search", QUESTION, "--rerank", "-k", 5, "--json", home=corpus_home).json()["hits"]
    assert {hit["order_kind"] for hit in hits} == {"reader"}
    assert [hit["order_score"] for hit in hits] == sorted((hit["order_score"] for hit in hits), reverse=True)
    assert all(0 <= hit["retrieval"]["reader"] <= 1 for hit in hits)
    assert hits[0]["heading_path"][-1] == "Cleaning"


@pytest.mark.parametrize("mode", ["lexical", "vector"])
def test_one_retriever_alone_can_be_reordered(kb: Call, corpus_home: Path, mode: str) -> None:
    hits = kb("search", QUESTION, "--rerank", "--mode", mode, "--json", home=corpus_home).json()["hits"]
    assert {hit["order_kind"] for hit in hits} == {"reader"}
    assert all(0 <= hit["order_score"] <= 1 for hit in hits)
    assert "guide/marigold-telescope.md" in {hit["path"] for hit in hits[:2]}


def test_a_plain_search_reads_nothing(kb: Call, corpus_home: Path) -> None:
    hits = kb("search", QUESTION, "--json", home=corpus_home).json()["hits"]
    assert {hit["retrieval"]["reader"] for hit in hits} == {None}


def test_a_question_in_another_language_keeps_the_order_of_the_search(kb: Call, corpus_home: Path) -> None:
    asked = "鏡はどのくらいの頻度で掃除しますか"
    plain = kb("search", asked, "--json", home=corpus_home).json()["hits"]
    found = kb("search", asked, "--rerank", "--json", home=corpus_home)
    assert [hit["chunk_id"] for hit in found.json()["hits"]] == [hit["chunk_id"] for hit in plain]
    assert "does not know this language: the order is that of the search" in found.err


def test_a_korean_question_is_read(kb: Call, corpus_home: Path) -> None:
    hits = kb("search", "메리골드 망원경의 거울은 얼마나 자주 닦나요?", "--rerank", "--json", home=corpus_home).json()[
        "hits"
    ]
    assert {hit["order_kind"] for hit in hits} == {"reader"}
    assert any(hit["retrieval"]["reader"] for hit in hits)


def test_without_a_reader_the_search_goes_on_and_says_so(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_READER__MODEL", "/no/such/reader")
    found = kb("search", QUESTION, "--rerank", "--json", home=corpus_home)
    assert {hit["order_kind"] for hit in found.json()["hits"]} == {"convex"}
    assert "note: going on without a reader: no reader '/no/such/reader'" in found.err
