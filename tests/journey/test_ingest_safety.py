"""An ingest that is killed, interrupted or not alone loses nothing, blocks no reader, and says who is in the way."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kb.embed.model_files import ENGLISH_MODEL
from kb.store.database import open_for_writing
from tests.forked_kb import OWN_MODELS
from tests.journey.conftest import ROOT, Call
from tests.journey.folders import (
    COMETS,
    MODES,
    OTTERS,
    assert_complete,
    assert_sound,
    counted,
    documents,
    fill,
    ingest,
    many_files,
    paths_found,
    rows,
    search,
)

Start = Callable[..., subprocess.Popen[bytes]]
FILES = 40
# Table → a kill while rows are added to it; None: anywhere from the first moment on.
MOMENTS = ("documents", "embeddings", None, "embeddings")
SMALL_BATCHES = """
import os, sys
from pathlib import Path
from kb.config import load_config
from kb.ingest.pipeline import ingest
from kb.ingest.request import IngestRequest
from kb.runtime import open_runtime
home = Path(sys.argv[1])
with open_runtime(home, load_config(None, home, os.environ), write=True) as kb:
    ingest(kb, IngestRequest((Path(sys.argv[2]),), embed_batch=4), lambda event: None)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def wait_for_more_rows(home: Path, table: str, process: subprocess.Popen[bytes]) -> None:
    """Until the process has committed some, or ended."""
    known, deadline = count_rows(home, table), time.monotonic() + 60
    while count_rows(home, table) <= known and process.poll() is None:
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.002)


def start_small_batches(home: Path, folder: Path) -> subprocess.Popen[bytes]:
    """An ingest that commits its vectors a few at a time, so that a short one can be killed between two batches."""
    return subprocess.Popen(
        [sys.executable, "-c", SMALL_BATCHES, str(home), str(folder)], stderr=subprocess.DEVNULL, cwd=ROOT
    )


def state_of(home: Path) -> list[Any]:
    """All documents and the texts of their chunks, ids left out."""
    return rows(
        home,
        "SELECT source, path, title, content_hash, position, text, embed_hash FROM documents JOIN chunks USING (doc_id)"
        " ORDER BY source, path, position",
    )


def test_killed_at_any_moment(kb: Call, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it saves words, while it saves vectors, and anywhere; each time, what was committed is there."""
    monkeypatch.setenv("KB_EMBEDDING__MODEL", ENGLISH_MODEL)
    folder = many_files(tmp_path / "notes", FILES, sentences=2)
    undisturbed = tmp_path / "undisturbed"
    assert ingest(kb, undisturbed, folder)["counts"]["new"] == FILES
    chance = random.Random(7)
    stored = embedded = killed = 0
    for moment in MOMENTS:
        process = start_small_batches(home, folder)
        if moment:
            wait_for_more_rows(home, moment, process)
            time.sleep(chance.uniform(0, 0.01))
        else:
            time.sleep(chance.uniform(0.1, 2))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        # A reader first, with what the killed process left: nothing has been mended by a writer yet.
        found = kb("search", "lighthouse storm", "--mode", "lexical", "--json", home=home)
        assert count_rows(home, "documents") >= stored, "what was committed is lost"
        assert count_rows(home, "embeddings") >= embedded, "vectors that were committed are lost"
        stored, embedded = count_rows(home, "documents"), count_rows(home, "embeddings")
        if stored:
            assert (found.code, bool(found.json()["hits"])) == (0, True), found.err
            assert_sound(home)
        else:
            assert '"code":"not_indexed"' in found.err
    assert killed >= 2
    report = ingest(kb, home, folder)
    assert report["counts"]["new"] + report["counts"]["unchanged"] == FILES
    assert state_of(home) == state_of(undisturbed)
    for mode in MODES:
        ours, theirs = (search(kb, place, "log 1 of storm 14", mode) for place in (home, undisturbed))
        assert sorted(hit["score"] for hit in ours) == pytest.approx(sorted(hit["score"] for hit in theirs), abs=1e-4)
    assert not [p for p in (home / "index").glob("*.json") if p.stem not in ("lexical", "vector")]


def count_rows(home: Path, table: str) -> int:
    """How many there are; none in a store that is not there, or has no tables yet."""
    try:
        return int(rows(home, f"SELECT count(*) FROM {table}")[0][0])
    except sqlite3.OperationalError:
        return 0


def test_interrupted_then_completed(
    kb: Call, kb_process: Start, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", ENGLISH_MODEL)
    folder = many_files(tmp_path / "notes", 200, sentences=1)
    process = kb_process("ingest", folder, "--json", home=home, command=OWN_MODELS)
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if b'"document_finished"' in line:
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"stopping after the document in hand" in err
    report = json.loads(out.splitlines()[-1])
    events = [json.loads(line) for line in [*lines, *out.splitlines()[:-1]]]
    assert [e["event"] for e in events if e["event"] in ("completed", "aborted")] == ["aborted"]
    assert report["interrupted"]
    assert 0 < report["counts"]["new"] < 200
    assert len(documents(home)) == report["counts"]["new"]
    assert_sound(home)
    assert paths_found(kb, home, "lighthouse", "hybrid")
    rest = ingest(kb, home, folder)
    assert counted(rest) == {"new": 200 - report["counts"]["new"], "unchanged": report["counts"]["new"]}


def test_a_second_interrupt_stops_at_once(kb_process: Start, home: Path, tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", {"a.md": OTTERS})
    text = "".join(f"Sentence {n} of a very long document about canal {n} and lock {n}. " for n in range(8_000))
    fill(folder, {"b.txt": text})
    process = kb_process("ingest", folder, "--json", home=home, command=OWN_MODELS)
    assert process.stdout
    for line in process.stdout:
        if b'"document_started"' in line and b"b.txt" in line:
            break
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["event"] == "aborted"
    assert rows(home, "PRAGMA quick_check") == [("ok",)]


@contextmanager
def another_writer(home: Path) -> Iterator[int]:
    """A process that holds the lock, with a note as kb leaves it, until the end or its own."""
    code = (
        "import sys, time; from pathlib import Path; from kb.store.lock import writer_lock\n"
        f"sys.argv = ['kb', 'ingest', 'big-folder']\n"
        f"with writer_lock(Path({str(home)!r}), 0, print):\n    print('held', flush=True); time.sleep(120)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def test_writers_take_turns(
    kb: Call, kb_process: Start, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = fill(tmp_path / "notes", {"otters.md": OTTERS})
    ingest(kb, home, notes)
    fill(notes, {"comets.md": COMETS})
    with another_writer(home) as pid:
        monkeypatch.setenv("KB_INGEST__LOCK_WAIT_SECONDS", "0")
        refused = kb("ingest", notes, "--json", home=home)
        assert refused.code == 2
        error = json.loads(refused.err.splitlines()[-1])
        assert error["code"] == "locked"
        assert f"process {pid} (kb ingest big-folder" in error["message"]
        monkeypatch.setenv("KB_INGEST__LOCK_WAIT_SECONDS", "60")

        # Readers do not wait, not even while a transaction is open; nor does saying what would be done.
        with closing(sqlite3.connect(home / "kb.sqlite", isolation_level=None)) as writing:
            writing.execute("BEGIN IMMEDIATE")
            writing.execute("UPDATE meta SET value = 'x' WHERE name = 'corpus_state'")
            assert paths_found(kb, home, "otter", "hybrid") == {"otters.md"}
            assert kb("status", "--json", home=home).json()["schema_version"] == "status.v1"
            assert f"process {pid}" in kb("status", home=home).out
            assert counted(ingest(kb, home, notes, "--dry-run")) == {"new": 1, "unchanged": 1}
            writing.execute("ROLLBACK")

        given_up = kb_process("ingest", notes, home=home)
        assert given_up.stderr
        assert f"waiting for process {pid} (kb ingest big-folder".encode() in given_up.stderr.readline()
        given_up.send_signal(signal.SIGINT)
        given_up.communicate(timeout=10)
        assert given_up.returncode == 130

        waiting = kb_process("ingest", notes, home=home)
        assert waiting.stderr
        assert b"waiting for" in waiting.stderr.readline()
        assert waiting.poll() is None
    # The other was killed: its lock went with it, and the note it left misleads nobody.
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert paths_found(kb, home, "comet") == {"comets.md"}
    assert kb("status", "--json", home=home).json().get("writer") is None


def test_two_first_ingests_at_once(
    kb: Call, kb_process: Start, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", ENGLISH_MODEL)
    one = fill(tmp_path / "one", {"otters.md": OTTERS})
    two = fill(tmp_path / "two", {"comets.md": COMETS})
    started = [kb_process("ingest", folder, home=home) for folder in (one, two)]
    for process in started:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert list(documents(home)) == ["one/otters.md", "two/comets.md"]
    assert_complete(home)
    assert paths_found(kb, home, "otter comet") == {"otters.md", "comets.md"}


def test_no_transaction_is_open_while_the_encoder_works(
    kb_process: Start, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer gets the store at once, whenever it asks; a reader that stays for long delays nobody."""
    monkeypatch.setenv("KB_EMBEDDING__MODEL", ENGLISH_MODEL)
    folder = many_files(tmp_path / "notes", 12, sentences=60)
    open_for_writing(home).close()
    process = kb_process("ingest", folder, "--json", home=home, command=OWN_MODELS)
    asked = 0
    with (
        closing(sqlite3.connect(home / "kb.sqlite", isolation_level=None, timeout=0.5)) as beside,
        closing(sqlite3.connect(home / "kb.sqlite", isolation_level=None)) as reader,
    ):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        while process.poll() is None:
            beside.execute("BEGIN IMMEDIATE")
            beside.execute("ROLLBACK")
            asked += 1
            time.sleep(0.02)
        assert process.stdout
        report = json.loads(process.stdout.read().splitlines()[-1])
    assert process.returncode == 0
    assert report["phase_ms"]["embed"] > 600, "the encoder's work was too short to tell"
    assert asked >= 20
    assert len(documents(home)) == 12
    assert not (home / "write.lock.owner").exists()
