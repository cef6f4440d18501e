"""The power fails: what the disk had not confirmed is lost, the store opens. benchmarks/chaos_power.py pulls the plug 200 times."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from benchmarks.chaos_power import Event, pull_the_plug, read_call


def test_the_store_opens_at_an_acknowledged_state() -> None:
    if (
        not shutil.which("strace")
        or subprocess.run(["strace", "-qq", "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("strace is not installed, or there is no right to trace a process")
    assert pull_the_plug(25, 8, 1) == {"sound": 25}
    assert pull_the_plug(25, 8, 1, is_disk_honest=False)["sound"] < 25


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (r'7 pwrite64(3</h/kb.sqlite>, "\x61\x62", 2, 4096) = 2', Event("write", "kb.sqlite", 4096, b"ab")),
        (r"7 fdatasync(4</h/kb.sqlite-wal>)        = 0", Event("sync", "kb.sqlite-wal")),
        (r"7 ftruncate(3</h/kb.sqlite>, 512) = 0", Event("cut", "kb.sqlite", 512)),
        (r'7 unlink("\x2f\x6b\x62\x2e\x73\x71\x6c\x69\x74\x65\x2d\x77\x61\x6c") = 0', Event("remove", "kb.sqlite-wal")),
        (r'7 write(2</dev/null>, "\x61\x63\x6b\x6e\x6f\x77\x6c\x65\x64\x67\x65\x64\x20\x33\x0a", 15) = 15', Event("ack", at=3)),
        (r'7 pwrite64(3</h/kb.sqlite>, "\x61", 1, 0) = -1 ENOSPC (No space left on device)', None),
        (r'7 pwrite64(5</h/other>, "\x61", 1, 0) = 1', None),
    ],
)  # fmt: skip
def test_calls_are_read(line: str, event: Event | None) -> None:
    assert read_call(line) == event
