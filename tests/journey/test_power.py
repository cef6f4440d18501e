"""The power fails: what the disk had not confirmed is lost, the store opens. benchmarks/chaos_power.py pulls the plug 200 times."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import chaos_indexes
from benchmarks.chaos_power import Event, pull_the_plug, read_call
from tests.journey.conftest import ROOT

LARGE_INDEX = """
import sys
from pathlib import Path
from kb.config import SearchConfig
from kb.index import checksum, vector_index
from kb.index.keeper import write_index
from kb.index.stamp import Origin
checksum.READ_AT_MOST_BYTES = int(sys.argv[2])
rows, origin = [(n, bytes(60) + b"\\0\\0\\x80?") for n in range(1, 9)], Origin(1, "state", "digest", 16)
write_index(Path(sys.argv[1]), vector_index.VECTORS, origin, SearchConfig(), lambda w: w.upsert(iter(rows)))
"""


@pytest.fixture
def strace() -> None:
    if (
        not shutil.which("strace")
        or subprocess.run(["strace", "-qq", "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("strace is not installed, or there is no right to trace a process")


def test_the_store_opens_at_an_acknowledged_state(strace: None) -> None:
    assert pull_the_plug(25, 4, 1) == {"sound": 25}
    assert pull_the_plug(25, 4, 1, is_disk_honest=False)["sound"] < 25


def test_an_index_that_lost_pages_is_never_believed() -> None:
    ends = chaos_indexes.pull_the_plug(12, 1)
    assert ends["wrong"] == 0
    assert ends["0 of 2 built anew"] < 12


@pytest.mark.parametrize(("most_bytes", "is_synced"), [(0, True), (16_000_000, False)])
def test_an_index_that_is_not_read_in_full_is_synced_before_its_stamp(
    strace: None, tmp_path: Path, most_bytes: int, is_synced: bool
) -> None:
    log = tmp_path / "calls"
    trace = ["strace", "-f", "-y", "-qq", "-e", "trace=fsync,rename", "-o", log, sys.executable, "-c", LARGE_INDEX]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*trace, tmp_path / "index", str(most_bytes)], env=environment, check=True)
    before, found, _ = log.read_text().partition('vector.json")')
    assert found, "the stamp was not renamed into its place"
    synced = re.findall(r"fsync\(\d+<[^>]*\.unfinished/([^>]+)>", before)
    written = {file.name for file in (tmp_path / "index").rglob("*/*") if file.is_file()}
    assert len(written) >= 3
    assert set(synced) == (written if is_synced else set())


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
