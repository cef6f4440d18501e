"""What an ingest tells while it runs: NDJSON for scripts, lines in a pipe, a bar on a terminal, nothing when quiet."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from tests.forked_kb import KB
from tests.journey.conftest import Call
from tests.journey.folders import BREAD, COMETS, OTTERS, check_events, counted, fill


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "otters.md": OTTERS,
        "esc\u200b.md": COMETS,
        "photo.png": b"\x89PNG\r\n",
        "broken.pdf": b"%PDF-1.7 and then nothing",
        "blob": b"\x00\x01\x02\x03" * 40,
    }
    return fill(tmp_path / "notes", files)


def test_every_line_is_what_its_schema_says(kb: Call, home: Path, notes: Path) -> None:
    result = kb("ingest", notes, "--json", home=home)
    assert result.code == 1
    events = check_events(result)
    assert counted(events[-1]) == {"new": 2, "skipped": 2, "failed": 1}
    assert {o["path"]: o["result"] for o in events[-1]["not_indexed"]} == {
        "photo.png": "skipped",
        "blob": "skipped",
        "broken.pdf": "failed",
    }
    finished = [e for e in events if e.get("result") == "new"]
    assert all(
        {"read", "parse", "chunk", "graph", "notes", "save"} == set(e["ms"]) and e["chunks"] == 1 for e in finished
    )
    assert sorted(e["done"] for e in events if e.get("event") == "document_finished") == [1, 2, 3, 4, 5]
    assert "\u200b" not in result.out
    assert not result.err

    (notes / "otters.md").unlink()
    (notes / "broken.pdf").unlink()
    events = check_events(kb("ingest", notes, "--json", home=home))
    assert counted(events[-1]) == {"unchanged": 1, "skipped": 2, "pruned": 1}


def test_nothing_to_do_is_told_too(kb: Call, home: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    events = check_events(kb("ingest", empty, "--json", home=home))
    assert [e.get("event") for e in events] == ["scan_started", "scan_completed", "completed", None]
    assert counted(events[-1]) == {}
    assert "no files" in kb("ingest", empty, home=home).out


def test_a_run_that_fails_is_told_as_aborted(kb: Call, home: Path) -> None:
    result = kb("ingest", "/none/such", "--json", home=home)
    assert result.code == 2
    assert [e["event"] for e in result.events()] == ["scan_started", "aborted"]
    assert '"code":"not_found"' in result.err


def test_plain_lines_in_a_pipe(kb: Call, home: Path, notes: Path) -> None:
    result = kb("ingest", notes, home=home)
    assert "\x1b" not in result.out + result.err
    assert "\u200b" not in result.out + result.err
    assert "new: otters.md (1 chunk)" in result.err.splitlines()
    assert "an image" in result.out
    assert "broken.pdf" in result.out
    assert result.out.splitlines()[-1].startswith("done: 2 new, 2 skipped, 1 failed · 2 chunks")


def test_quiet_is_quiet(kb: Call, home: Path, notes: Path) -> None:
    result = kb("ingest", notes, "--quiet", home=home)
    assert (result.code, result.err) == (1, "")
    assert len(result.out.splitlines()) == 1
    for path in notes.iterdir():
        path.unlink()
    assert kb("ingest", notes, "--quiet", home=home).err == ""


def test_a_bar_on_a_terminal(home: Path, tmp_path: Path) -> None:
    text = "\n\n".join(f"# Part {n}\n\n" + f"Paragraph {n} tells of tree {n} and of bird {n}. " * 12 for n in range(12))
    folder = fill(tmp_path / "notes", {"long [b]name[/b].md": text, "bread.md": BREAD, "photo.png": b""})
    ours, theirs = pty.openpty()
    words = [*KB, "ingest", str(folder), "--home", str(home)]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = read_terminal(ours, 120)
    assert process.wait(30) == 0, shown
    assert "chunks/s" in shown
    assert "all 3 files can be searched by words" in shown
    assert "long [b]name[/b].md" in shown
    assert "done: 2 new, 1 skipped" in shown


def read_terminal(descriptor: int, seconds: float) -> str:
    """All that is written to a terminal until its other end is closed."""
    shown = b""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([descriptor], [], [], 1)[0]:
            continue
        try:
            part = os.read(descriptor, 65_536)
        except OSError:  # EIO: nobody has it open any more
            break
        if not part:
            break
        shown += part
    os.close(descriptor)
    return shown.decode(errors="replace")
