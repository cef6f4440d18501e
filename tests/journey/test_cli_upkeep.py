"""kb init, status, doctor, reindex, backup: a knowledge base looked after."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kb.config.load import MOST_HOME_BYTES
from kb.index.stamp import RESERVE
from kb.store.database import open_for_writing
from kb.store.lock import writer_lock
from tests.cut import cut_file
from tests.journey.conftest import Call
from tests.journey.folders import OTTERS, fill, paths_found


def search(kb: Call, home: Path, mode: str = "hybrid") -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = kb("search", "wind limits", "--mode", mode, "--json", home=home).json()["hits"]
    return hits


def checks(kb: Call, home: Path, *options: str, code: int = 0) -> dict[str, str]:
    found = kb("doctor", "--json", *options, home=home)
    assert found.code == code, found.out
    diagnosis = found.json()
    assert diagnosis["ok"] == (code == 0)
    for check in diagnosis["checks"]:
        assert (check["fix"] is None) == (check["status"] == "ok"), check
    return {check["name"]: check["status"] for check in diagnosis["checks"]}


def test_init_makes_a_home_with_a_commented_config(kb: Call, tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    found = kb("init", home=home)
    assert (found.code, found.err) == (0, "")
    text = (home / "config.toml").read_text()
    assert "# k = 10" in text
    (home / "config.toml").write_text("[search]\nk = 3\n")
    again = kb("init", home=home)
    assert again.code == 2
    assert "kb init --force" in again.err
    assert (home / "config.toml").read_text() == "[search]\nk = 3\n"
    assert kb("init", "--force", home=home).code == 0
    assert (home / "config.toml").read_text() == text
    assert kb("list", home=home).code == 1


def test_status_tells_what_is_there(kb: Call, corpus_home: Path) -> None:
    status = kb("status", "--json", home=corpus_home).json()
    assert (status["documents"], status["chunks_without_vector"], status["writer"]) == (31, 0, None)
    assert [(i["name"], i["up_to_date"], i["rows"]) for i in status["indexes"]] == [
        ("lexical", True, status["chunks"]),
        ("vector", True, status["chunks"]),
    ]
    assert sum(status["types"].values()) == 31
    text = kb("status", home=corpus_home).out
    assert f"{status['chunks']} chunks" in text
    shutil.rmtree(corpus_home / "index")
    status = kb("status", "--json", home=corpus_home).json()
    assert [i["up_to_date"] for i in status["indexes"]] == [False, False]
    assert not (corpus_home / "index").exists()


def test_status_names_the_writer_and_readers_do_not_wait(kb: Call, corpus_home: Path) -> None:
    with writer_lock(corpus_home, 0, lambda line: None):
        status = kb("status", "--json", home=corpus_home)
        assert f"process {os.getpid()}" in status.json()["writer"]
        assert f"process {os.getpid()}" in kb("doctor", home=corpus_home).out
        assert search(kb, corpus_home, "lexical")
    assert kb("status", "--json", home=corpus_home).json()["writer"] is None


def remove_vectors(home: Path) -> None:
    with sqlite3.connect(home / "kb.sqlite") as store:
        store.execute("DELETE FROM embeddings WHERE embedding_id % 9 = 0")
        store.execute("UPDATE meta SET value = value + 1 WHERE name = 'corpus_revision'")
    store.close()


def make_index_stale(home: Path) -> None:
    with sqlite3.connect(home / "kb.sqlite") as store:
        store.execute("UPDATE chunks SET heading_path = heading_path WHERE chunk_id < 9")  # written anew, the same
        store.execute("UPDATE meta SET value = value + 1 WHERE name = 'corpus_revision'")
    store.close()


def delete_index(home: Path) -> None:
    shutil.rmtree(home / "index")


def damage_index(home: Path) -> None:
    for file in list((home / "index").rglob("*")):
        if file.is_file() and file.name not in ("lexical.json", "vector.json"):
            cut_file(file, file.stat().st_size // 3)


@pytest.mark.parametrize(
    ("damage", "found", "code"),
    [
        (remove_vectors, {"vectors": "fail", "indexes": "warn"}, 3),
        (make_index_stale, {"indexes": "warn"}, 0),
        (delete_index, {"indexes": "warn"}, 0),
    ],
    ids=["vectors", "stale", "deleted"],
)
def test_doctor_finds_damage_and_repairs_it(
    kb: Call, corpus_home: Path, damage: Callable[[Path], None], found: dict[str, str], code: int
) -> None:
    before = search(kb, corpus_home)
    assert set(checks(kb, corpus_home).values()) == {"ok"}
    damage(corpus_home)
    seen = checks(kb, corpus_home, code=code)
    assert {name: status for name, status in seen.items() if status != "ok"} == found
    assert set(checks(kb, corpus_home, "--repair").values()) == {"ok"}
    after = search(kb, corpus_home)
    assert [hit["chunk_id"] for hit in after] == [hit["chunk_id"] for hit in before]
    assert [hit["score"] for hit in after] == pytest.approx([hit["score"] for hit in before])


def test_doctor_does_not_hide_a_damaged_index(kb: Call, corpus_home: Path) -> None:
    damage_index(corpus_home)
    found = kb("doctor", "--json", home=corpus_home)
    index = next(check for check in found.json()["checks"] if check["name"] == "indexes")
    assert index["status"] != "ok"
    assert set(checks(kb, corpus_home, "--repair").values()) == {"ok"}


@pytest.mark.parametrize("keep", [0, 100, 20_000, 200_000])
def test_a_damaged_store_is_unhealthy(kb: Call, corpus_home: Path, keep: int) -> None:
    os.truncate(corpus_home / "kb.sqlite", keep)
    found = kb("doctor", home=corpus_home)
    assert (found.code, found.err) == (3, "")
    assert "fix: " in found.out
    searched = kb("search", "mirror", home=corpus_home)
    assert (searched.code, searched.out) == (2, "")
    assert searched.err.startswith("error: ")
    assert "bug" not in searched.err


def test_doctor_without_a_knowledge_base(kb: Call, tmp_path: Path) -> None:
    assert checks(kb, tmp_path / "none")["store"] == "warn"
    repaired = kb("doctor", "--repair", home=tmp_path / "none")
    assert repaired.code == 2
    assert "no knowledge base" in repaired.err
    assert not (tmp_path / "none").exists()


def test_reindex_builds_both_indexes_anew(kb: Call, corpus_home: Path) -> None:
    before = search(kb, corpus_home)
    old = {entry.name for entry in (corpus_home / "index").iterdir()}
    assert kb("reindex", home=corpus_home).code == 0
    new = {entry.name for entry in (corpus_home / "index").iterdir()}
    assert new & old == {"lexical.json", "vector.json", RESERVE}
    assert search(kb, corpus_home) == before


def test_a_backup_made_while_somebody_writes_is_whole(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    before = search(kb, corpus_home)
    copy = tmp_path / "copies" / "kb.sqlite"
    missing = kb("backup", copy, home=corpus_home)
    assert missing.code == 2
    assert "no folder" in missing.err
    copy.parent.mkdir()
    writer = open_for_writing(corpus_home)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM documents WHERE path LIKE 'guide/%'")
    assert kb("backup", copy, home=corpus_home).code == 0
    writer.execute("ROLLBACK")
    writer.close()
    assert search(kb, copy.parent) == before
    again = kb("backup", copy, home=corpus_home)
    assert again.code == 2
    assert "exists" in again.err


@pytest.mark.parametrize("name", ["y" * 300, "/".join(["x" * 200] * 4)])
def test_a_home_whose_path_is_too_long_is_an_error(kb: Call, tmp_path: Path, name: str) -> None:
    for words in (["status"], ["remember", "x is y"], ["ingest", tmp_path]):
        found = kb(*words, home=tmp_path / name)
        assert (found.code, "the path of the data folder has" in found.err, "--home" in found.err) == (2, True, True)


def test_a_home_of_the_longest_path_works(kb: Call, tmp_path: Path) -> None:
    home = tmp_path
    while (left := MOST_HOME_BYTES - len(str(home)) - 1) > 0:
        home = home / ("z" * min(left, 200))
    fill(tmp_path / "notes", {"otters.md": OTTERS})
    assert kb("ingest", tmp_path / "notes", "--words-only", home=home).code == 0
    assert paths_found(kb, home, "otter") == {"otters.md"}
