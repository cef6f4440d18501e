"""A backup is whole or not there, whatever kills it; a restored home answers as the first one did."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.journey.conftest import Call

# Copies a store to a file while every page written takes a moment, so that a kill meets it at work.
SLOW_BACKUP = """
import sys, time
from pathlib import Path
from kb.store.backup import write_backup
from kb.store.database import open_for_reading
connection = open_for_reading(Path(sys.argv[1]))
import kb.store.backup as backup
check = backup.check_backup
backup.check_backup = lambda path: (print("written", flush=True), time.sleep(30), check(path))
write_backup(connection, Path(sys.argv[2]))
"""


def found(kb: Call, home: Path) -> list[str]:
    result = kb("search", "mirror", "--mode", "lexical", "--json", home=home)
    return [hit["citation"]["path"] for hit in json.loads(result.out)["hits"]]


def test_a_killed_backup_leaves_no_file_of_that_name(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    command = [sys.executable, "-c", SLOW_BACKUP, str(corpus_home), str(copy)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
    assert not copy.exists()
    assert len(list(tmp_path.glob("copy.sqlite.*.part"))) == 1
    assert kb("backup", copy, home=corpus_home).code == 0
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.sqlite"]


def test_a_backup_can_be_restored_elsewhere_and_in_place(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    copy, other = tmp_path / "copy.sqlite", tmp_path / "other"
    before = found(kb, corpus_home)
    assert before
    assert kb("backup", copy, home=corpus_home).code == 0
    assert kb("restore", copy, home=other).code == 0
    assert found(kb, other) == before
    (corpus_home / "kb.sqlite").write_bytes(b"damaged")
    refused = kb("restore", copy, home=corpus_home)
    assert (refused.code, "--replace" in refused.err) == (2, True)
    restored = kb("restore", copy, "--replace", home=corpus_home)
    assert (restored.code, "kb.sqlite.replaced" in restored.err) == (0, True)
    assert (corpus_home / "kb.sqlite.replaced").read_bytes() == b"damaged"
    assert found(kb, corpus_home) == before


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"\x00" * 500])
def test_what_is_no_backup_is_refused(kb: Call, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "copy.sqlite").write_bytes(content)
    result = kb("restore", tmp_path / "copy.sqlite", home=tmp_path / "home")
    assert (result.code, len(result.err.splitlines())) == (2, 2)
    assert not (tmp_path / "home" / "kb.sqlite").exists()


def test_another_program_s_database_is_refused(kb: Call, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "copy.sqlite") as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    assert "is no knowledge base" in kb("restore", tmp_path / "copy.sqlite", home=tmp_path / "home").err


def test_a_cut_backup_is_refused(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    assert kb("backup", copy, home=corpus_home).code == 0
    copy.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])
    assert kb("restore", copy, home=tmp_path / "home").code == 2


def test_the_file_alone_has_what_was_just_written(kb: Call, small_home: Path, tmp_path: Path) -> None:
    """Also while another process reads, and so keeps SQLite's log: who copies the file takes everything along."""
    (tmp_path / "copy").mkdir()
    with closing(sqlite3.connect(small_home / "kb.sqlite")) as reader:
        reader.execute("SELECT count(*) FROM facts").fetchone()
        assert kb("remember", "The key is under the mat.", home=small_home).code == 0
        shutil.copy(small_home / "kb.sqlite", tmp_path / "copy")
    assert "under the mat" in kb("facts", home=tmp_path / "copy").out
