"""kb watch: changes are found, whatever they are; it ends cleanly."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journey.conftest import Call
from tests.journey.folders import BREAD, COMETS, OTTERS, assert_complete, documents, fill, paths_found

Start = Callable[..., subprocess.Popen[bytes]]
BURST = 300


class Watcher:
    """A running `kb watch --json`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def until(self, name: str) -> dict[str, Any]:
        """The next event of this name."""
        assert self.process.stdout
        for line in self.process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event["event"] == name:
                return event
        raise AssertionError(f"it ended before {name}")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", "all-MiniLM-L6-v2")
    return tmp_path / "home"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"otters.md": OTTERS, ".gitignore": "drafts/\n"})


@pytest.fixture
def watcher(kb_process: Start, home: Path, notes: Path) -> Iterator[Watcher]:
    process = kb_process("watch", notes, "--json", home=home)
    watcher = Watcher(process)
    assert watcher.until("words")["counts"] == {"new": 1}
    assert watcher.until("watching")["paths"] == [str(notes)]
    yield watcher
    process.kill()
    process.communicate()


def test_changes_are_found_as_they_settle(kb: Call, watcher: Watcher, home: Path, notes: Path) -> None:
    fill(notes, {"comets.md": COMETS, "drafts/bread.md": BREAD, ".git/comets.md": COMETS})
    assert watcher.until("words")["counts"] == {"new": 1}
    assert paths_found(kb, home, "comet", "lexical") == {"comets.md"}
    assert watcher.until("vectors")["vector_share"] == 1
    assert_complete(home)
    (notes / "comets.md").rename(notes / "tails.md")
    assert watcher.until("words")["counts"] == {"moved": 1}
    (notes / "tails.md").unlink()
    assert watcher.until("words")["counts"] == {"pruned": 1}
    assert paths_found(kb, home, "comet", "lexical") == set()
    watcher.process.send_signal(signal.SIGINT)
    assert watcher.until("stopped")
    assert watcher.process.wait(30) == 0


def test_a_burst_is_few_batches(watcher: Watcher, home: Path, notes: Path) -> None:
    fill(notes, {f"{n % 7}/lamp-{n}.md": f"Lamp {n} hangs in harbour {n % 13}.\n" for n in range(BURST)})
    found, batches = 0, 0
    while found < BURST:
        found += watcher.until("words")["counts"].get("new", 0)
        batches += 1
    assert (found, len(documents(home))) == (BURST, BURST + 1)
    assert batches < BURST // 10


def test_what_cannot_be_read_is_tried_again(kb: Call, watcher: Watcher, home: Path, notes: Path) -> None:
    hidden = notes / "hidden.pdf"
    hidden.write_bytes(b"%PDF-1.7 half of it is not written yet")
    assert watcher.until("words")["counts"] == {"failed": 1}
    hidden.rename(notes / "hidden.md")
    (notes / "hidden.md").write_text(COMETS)
    assert watcher.until("words")["counts"] == {"new": 1}
    assert "comet" in COMETS.lower()
    assert paths_found(kb, home, "comet", "lexical") == {"hidden.md"}


def test_without_anything_to_watch(kb: Call, home: Path) -> None:
    refused = kb("watch", home=home)
    assert refused.code == 2
    assert "nothing to watch yet" in refused.err
    assert kb("watch", home / "none", home=home).code == 2
