"""What the disk did to a home: kb doctor finds it, --repair mends what can be derived, and searches go on meanwhile."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from tests.journey.conftest import Call

DEEP = {"file", "texts", "every_vector", "index_entries"}


def change(home: Path, *statements: str) -> None:
    connection = sqlite3.connect(home / "kb.sqlite")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def checks(kb: Call, home: Path, *options: str) -> dict[str, Any]:
    """Name → check, of `kb doctor`, whose exit code fits."""
    found = kb("doctor", "--json", *options, home=home)
    checks = {check["name"]: check for check in found.json()["checks"]}
    assert found.code == (3 if failing(checks) else 0)
    return checks


def failing(checks: dict[str, Any]) -> set[str]:
    return {name for name, check in checks.items() if check["status"] == "fail"}


def hits(kb: Call, home: Path) -> list[Any]:
    found = kb("search", "wind of the telescope", "--json", home=home)
    assert found.code == 0, found.err
    assert "Traceback" not in found.err
    return [hit["citation"]["uri"] for hit in found.json()["hits"]][:3]  # further ones have equal scores


def test_what_can_be_derived_is_repaired(kb: Call, small_home: Path) -> None:
    before = hits(kb, small_home)
    change(
        small_home,
        "UPDATE embeddings SET vector = zeroblob(7) WHERE embedding_id IN (1, 2)",
        "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE embedding_id = 4",
        "UPDATE meta SET value = 'no number' WHERE name = 'corpus_revision'",
    )
    hits(kb, small_home)
    plain = checks(kb, small_home)
    assert failing(plain) == {"store", "vectors"}
    assert plain["vectors"]["detail"].startswith("2 vectors have another length")
    deep = checks(kb, small_home, "--deep")
    assert deep.keys() - plain.keys() == DEEP
    assert failing(deep) == {"store", "vectors", "every_vector"}
    assert deep["every_vector"]["detail"].startswith("3 vectors")
    assert failing(checks(kb, small_home, "--repair", "--deep")) == set()
    assert hits(kb, small_home) == before


def test_what_cannot_be_derived_is_named_with_what_to_do(kb: Call, small_master: Path, small_home: Path) -> None:
    """Documents are read again, from their files; answers and facts go when they are removed."""
    before = hits(kb, small_home)
    kb("ask", "How often must the mirror be cleaned?", "--mode", "lexical", home=small_home)
    kb("remember", "The key is under the mat.", home=small_home)
    change(
        small_home,
        "UPDATE chunks SET heading_path = '[\"broken' WHERE chunk_id = 1",
        "UPDATE chunks SET text = text || ' altered' WHERE chunk_id = 2",
        "UPDATE chunks SET start_line = start_line + 1 WHERE chunk_id = 3",
        "UPDATE documents SET title = 'another' WHERE doc_id = 4",
        "UPDATE documents SET size_bytes = size_bytes + 1 WHERE doc_id = 5",
        "UPDATE answers SET answer = 'never'",
        "UPDATE facts SET text = 'The key is lost.'",
    )
    hits(kb, small_home)
    deep = checks(kb, small_home, "--deep")
    assert failing(deep) == {"store", "texts"}
    detail = deep["texts"]["detail"]
    assert (detail.count("notes/"), "and 2 more" in detail) == (5, True)
    repaired = kb("doctor", "--deep", "--repair", home=small_home)
    assert repaired.code == 3
    assert "5 documents were altered; ingest their folders again" in repaired.err
    assert "fact 1 was altered and cannot be mended; tell it again after: kb forget 1" in repaired.err
    assert "kb answers rm" in repaired.err
    for words in (["ingest", small_master / "notes"], ["answers", "rm", "last", "--yes"], ["forget", "1"]):
        assert kb(*words, home=small_home).code == 0, words
    assert failing(checks(kb, small_home, "--deep")) == set()
    assert hits(kb, small_home) == before


def test_a_column_of_another_name_is_found_and_no_bug(kb: Call, small_home: Path) -> None:
    """One byte of the statement that made a table, as a disk changes it."""
    change(
        small_home,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = replace(sql, 'heading_path', 'heading_qath') WHERE name = 'chunks'",
        "UPDATE sqlite_schema SET sql = replace(sql, 'mtime_ns', 'mtime_os') WHERE name = 'documents'",
    )
    found = kb("search", "mirror", "--mode", "lexical", home=small_home)
    assert found.code == 2
    assert found.err.startswith("error: kb.sqlite is damaged: table chunks is not defined as kb defines it")
    deep = checks(kb, small_home, "--deep")
    assert deep["store"]["status"] == "fail"
    assert "table documents is not defined as kb defines it" in deep["store"]["detail"]


def test_a_store_that_cannot_be_migrated_is_said_to_be_that(kb: Call, small_home: Path) -> None:
    change(small_home, "DELETE FROM _sqlite_migrations WHERE name = 'm011_seals'")  # its columns are there already
    found = kb("doctor", "--repair", home=small_home)
    assert found.code == 2
    assert "cannot be brought up to date, it stays as it was" in found.err
