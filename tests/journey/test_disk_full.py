"""A full disk: a message with the path and the free space, exit 2, nothing lost, and healed when there is room."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.journey.conftest import ROOT, Call
from tests.journey.folders import assert_sound, documents, many_files, paths_found

FILL_BYTES = 1 << 16


def mount(folder: Path, size: str) -> bool:
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return bool(shutil.which("mount")) and subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system of its own, of `request.param` size."""
    folder = tmp_path / "disk"
    if os.geteuid() != 0 or not mount(folder, request.param):
        pytest.skip("no right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Use up what is free, to the last page."""
    filling = disk / "filling"
    with filling.open("wb", buffering=0) as file:
        for size in (FILL_BYTES, 4096):
            try:
                while file.write(b"\0" * size) == size:
                    pass
            except OSError:
                continue
    return filling


@pytest.mark.parametrize("disk", ["300k", "700k", "1100k"], indirect=True)
def test_ingest_on_a_small_disk_says_where_and_how_much_is_free(kb: Call, disk: Path, tmp_path: Path) -> None:
    """No room for the schema, for the documents, for the index; a full disk meets vectors as it meets documents."""
    notes = many_files(tmp_path / "notes", 40, sentences=12)
    found = kb("ingest", notes, "--words-only", "--quiet", home=disk / "home")
    assert found.code == 2
    assert len(found.err.strip().splitlines()) == 2, found.err
    assert f"{disk / 'home'}" in found.err
    assert "MB" in found.err
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
    assert kb("ingest", notes, "--words-only", "--quiet", home=disk / "home").code == 0
    assert len(documents(disk / "home")) == 40
    assert_sound(disk / "home")
    assert "1/light-007.md" in paths_found(kb, disk / "home", "lighthouse 7")


@pytest.mark.parametrize("disk", ["16m"], indirect=True)
def test_on_a_full_disk_questions_are_answered_and_rm_makes_room(
    kb: Call, disk: Path, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_READER__MODEL", "none")
    home = disk / "home"
    shutil.copytree(corpus_home, home)
    filling = fill(disk)
    assert kb("search", "mirror", "--mode", "lexical", home=home).code == 0
    asked = kb("ask", "How often must the mirror of Marigold be cleaned?", "--mode", "lexical", home=home)
    assert (asked.code, "14 days" in asked.out) == (0, True)
    assert "not kept in the history" in asked.err
    for words in (["backup", disk / "copy.sqlite"], ["reindex"]):
        failed = kb(*words, home=home)
        assert (failed.code, "MB" in failed.err) == (2, True)
        assert "bug" not in failed.err
    assert sorted(entry.name for entry in disk.iterdir()) == ["filling", "home"]
    before = shutil.disk_usage(disk).free
    removed = kb("rm", "guide/*", home=home)
    assert removed.code == 0, removed.err
    assert "the disk is full: removed the indexes" in removed.err
    assert shutil.disk_usage(disk).free >= before
    filling.unlink()
    assert kb("search", "mirror", "--mode", "lexical", home=home).code == 0
    assert kb("doctor", home=home).code == 0


@pytest.mark.parametrize("disk", ["8m"], indirect=True)
def test_rm_makes_room_where_the_indexes_have_none(kb: Call, disk: Path, tmp_path: Path) -> None:
    """A home of a few notes: what its indexes take is less than SQLite's log needs. An ingest has put a reserve aside."""
    home, notes = disk / "home", many_files(tmp_path / "notes", 12, sentences=12)
    assert kb("ingest", notes, "--words-only", home=home).code == 0
    fill(disk)
    removed = kb("rm", "0/*", home=home)
    assert (removed.code, "removed the indexes" in removed.err) == (0, True), removed.err
    assert set(documents(home).keys()) == {f"notes/{n % 3}/light-{n:03d}.md" for n in range(12) if n % 3}


@pytest.mark.parametrize("disk", ["600k", "1m", "3m"], indirect=True)
def test_an_older_store_on_a_full_disk_stays_as_it_was(kb: Call, disk: Path) -> None:
    home = disk / "home"
    home.mkdir()
    with closing(sqlite3.connect(home / "kb.sqlite")) as store:
        store.executescript((ROOT / "fixtures" / "stores" / "m001.sql").read_text(encoding="utf-8"))
        before = store.execute("SELECT * FROM answers").fetchall()
    filling = fill(disk)
    failed = kb("doctor", "--repair", home=home)
    assert (failed.code, str(home) in failed.err, "MB" in failed.err) == (2, True, True), failed.err
    with closing(sqlite3.connect(home / "kb.sqlite")) as store:
        assert store.execute("SELECT * FROM answers").fetchall() == before
    filling.unlink()
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
    assert kb("doctor", "--repair", home=home).code == 0
    assert len(kb("answers", "list", "--json", home=home).json()["answers"]) == len(before) == 3
