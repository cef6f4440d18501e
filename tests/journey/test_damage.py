"""What the disk did to a home: kb doctor finds it, --repair mends what can be derived, and searches go on meanwhile."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.journey.conftest import CORPUS, Call

DEEP = {"file", "texts", "every_vector", "index_entries"}


def change(home: Path, *statements: str) -> None:
    connection = sqlite3.connect(home / "kb.sqlite")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def failed(kb: Call, home: Path, *options: str) -> set[str]:
    found = kb("doctor", "--json", *options, home=home)
    names = {check["name"] for check in found.json()["checks"] if check["status"] == "fail"}
    assert found.code == (3 if names else 0)
    return names


def hits(kb: Call, home: Path) -> list[Any]:
    found = kb("search", "wind limits of the telescope", "--json", home=home)
    assert found.code == 0, found.err
    assert "Traceback" not in found.err
    return [hit["citation"]["uri"] for hit in found.json()["hits"]]


@pytest.mark.parametrize(
    ("statement", "seen_always", "seen_deep"),
    [
        (
            "UPDATE embeddings SET vector = zeroblob(7) WHERE embedding_id % 5 = 0",
            {"vectors"},
            {"every_vector", "index_entries"},
        ),
        ("UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE embedding_id = 4", set(), {"every_vector"}),
        ("UPDATE meta SET value = 'no number' WHERE name = 'corpus_revision'", {"store"}, set()),
    ],
)
def test_what_can_be_derived_is_repaired(
    kb: Call, corpus_home: Path, statement: str, seen_always: set[str], seen_deep: set[str]
) -> None:
    before = hits(kb, corpus_home)
    change(corpus_home, statement)
    hits(kb, corpus_home)
    assert failed(kb, corpus_home) == seen_always
    assert failed(kb, corpus_home, "--deep") == seen_always | seen_deep
    assert failed(kb, corpus_home, "--repair", "--deep") == set()
    assert hits(kb, corpus_home) == before


def test_what_stands_only_in_files_is_named_and_read_again(kb: Call, corpus_home: Path) -> None:
    kb("ingest", CORPUS, home=corpus_home)
    before = hits(kb, corpus_home)
    change(
        corpus_home,
        "UPDATE chunks SET heading_path = '[\"broken' WHERE chunk_id = 3",
        "UPDATE chunks SET text = text || ' altered' WHERE chunk_id = 9",
        "UPDATE chunks SET start_line = start_line + 1 WHERE chunk_id = 30",
        "UPDATE documents SET title = 'another' WHERE doc_id = 20",
    )
    hits(kb, corpus_home)
    assert failed(kb, corpus_home) == {"store"}
    found = kb("doctor", "--deep", "--json", home=corpus_home)
    detail = next(check["detail"] for check in found.json()["checks"] if check["name"] == "texts")
    assert detail.count("corpus/") == 4
    repaired = kb("doctor", "--deep", "--repair", home=corpus_home)
    assert "4 documents were altered; ingest their folders again" in repaired.err
    assert kb("ingest", CORPUS, home=corpus_home).code == 0
    assert failed(kb, corpus_home, "--deep") == set()
    assert hits(kb, corpus_home) == before


def test_an_altered_answer_is_named(kb: Call, corpus_home: Path) -> None:
    kb("ask", "How often must the mirror of Marigold be cleaned?", home=corpus_home)
    kb("remember", "The key is under the mat.", home=corpus_home)
    assert failed(kb, corpus_home, "--deep") == set()
    change(corpus_home, "UPDATE answers SET answer = 'never'", "UPDATE facts SET text = 'The key is lost.'")
    found = kb("doctor", "--deep", "--repair", home=corpus_home)
    assert found.code == 3
    assert "kb answers rm" in found.err
    assert "fact 1 was altered" in found.err


def test_deep_adds_its_checks(kb: Call, corpus_home: Path) -> None:
    plain = {check["name"] for check in kb("doctor", "--json", home=corpus_home).json()["checks"]}
    deep = {check["name"] for check in kb("doctor", "--deep", "--json", home=corpus_home).json()["checks"]}
    assert deep - plain == DEEP


def test_a_store_that_cannot_be_migrated_is_said_to_be_that(kb: Call, corpus_home: Path) -> None:
    change(corpus_home, "DELETE FROM _sqlite_migrations WHERE name = 'm011_seals'")  # its columns are there already
    found = kb("doctor", "--repair", home=corpus_home)
    assert found.code == 2
    assert "cannot be brought up to date, it stays as it was" in found.err
