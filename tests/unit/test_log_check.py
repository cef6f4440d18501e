"""A damaged write-ahead log is found where SQLite would leave out transactions without a word."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from kb.store.database import open_for_writing, write_meta
from kb.store.log_check import find_log_fault


def make_log(tmp_path: Path) -> Path:
    """A home as a killed writer leaves it: three transactions in the log alone."""
    home, copy = tmp_path / "home", tmp_path / "copy"
    connection = open_for_writing(home)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(3):
        write_meta(connection, f"note {number}", "x" * 5000)
    shutil.copytree(home, copy)
    connection.close()
    return copy


def test_a_log_is_sound_until_a_byte_of_it_changes(tmp_path: Path) -> None:
    home = make_log(tmp_path)
    log = home / "kb.sqlite-wal"
    sound = log.read_bytes()
    assert find_log_fault(home) is None
    for at in (5, 18, 40, 60, len(sound) // 2, len(sound) - 9):
        log.write_bytes(sound[:at] + bytes([sound[at] ^ 4]) + sound[at + 1 :])
        fault = find_log_fault(home)
        assert fault is not None, at
        assert "lost" in fault
    connection = sqlite3.connect(home / "kb.sqlite")  # SQLite says nothing of the last of them
    assert connection.execute("SELECT count(*) FROM meta WHERE name LIKE 'note %'").fetchone() == (2,)
    connection.close()


def test_a_torn_tail_that_nobody_was_told_of_is_no_fault(tmp_path: Path) -> None:
    home = make_log(tmp_path)
    log = home / "kb.sqlite-wal"
    whole = log.read_bytes()
    log.write_bytes(whole[:-100])
    assert find_log_fault(home) is None
    assert find_log_fault(tmp_path) is None
