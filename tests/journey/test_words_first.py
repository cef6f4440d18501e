"""Words first: what is read can be searched by words, vectors follow, and what was stopped goes on."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.ingest.unfinished import FILE_NAME
from tests.forked_kb import OWN_MODELS
from tests.journey.conftest import Call
from tests.journey.folders import (
    BREAD,
    COMETS,
    OTTERS,
    assert_complete,
    counted,
    documents,
    fill,
    ingest,
    many_files,
    paths_found,
)

Start = Callable[..., subprocess.Popen[bytes]]
SMALL = "all-MiniLM-L6-v2"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", SMALL)
    return tmp_path / "home"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"otters.md": OTTERS, "comets.md": COMETS, "bread.md": BREAD})


def test_words_alone_then_vectors(kb: Call, home: Path, notes: Path) -> None:
    done = kb("ingest", notes, "--words-only", home=home)
    assert done.code == 0
    assert "vectors for 0 % of the chunks, the rest with: kb ingest --resume" in done.out
    for mode in ("lexical", "hybrid"):
        assert paths_found(kb, home, "comet", mode) == {"comets.md"}
    found = kb("search", "comet", "--json", home=home).json()
    assert "vectors for 0 % of the chunks; the others are found by words alone" in found["note"]
    assert kb("status", "--json", home=home).json()["chunks_without_vector"] == 3

    (notes / "more.md").write_text("A sextant measures angles between a star and the horizon.\n")
    assert ingest(kb, home, notes / "more.md")["vector_share"] == 1, "any ingest makes what is missing"
    assert_complete(home)

    assert "vectors for" not in (kb("search", "comet", "--json", home=home).json()["note"] or "")


def test_part_of_the_vectors(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    more = fill(notes.parent / "more", {"sextant.md": "A sextant measures the angle of a star."})
    assert ingest(kb, home, more, "--words-only")["vector_share"] == 0.75
    found = kb("search", "angle of a star", "--json", home=home).json()
    assert "vectors for 75 % of the chunks" in found["note"]
    assert found["hits"][0]["path"] == "sextant.md"
    assert "vectors for 75 %" in kb("status", home=home).out


def test_all_can_be_searched_by_words_before_the_vectors_are_made(
    kb: Call, kb_process: Start, home: Path, tmp_path: Path
) -> None:
    folder = many_files(tmp_path / "notes", 200, sentences=8)
    process = kb_process("ingest", folder, "--json", home=home, command=OWN_MODELS)
    assert process.stdout
    for line in process.stdout:
        event = json.loads(line)
        if event.get("event") == "words_indexed" and event["done"] == 200:
            break
    assert event["waiting"] > 0
    process.send_signal(signal.SIGSTOP)  # before it comes further with its vectors
    try:
        assert len(paths_found(kb, home, "lighthouse", "lexical")) >= 10
        assert kb("status", "--json", home=home).json()["chunks_without_vector"] > 0
    finally:
        process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out.splitlines()[-1])["vector_share"] < 1
    assert not (home / FILE_NAME).exists(), "all files were read"


def test_what_was_stopped_goes_on_without_paths(kb: Call, kb_process: Start, home: Path, tmp_path: Path) -> None:
    folder = many_files(tmp_path / "notes", 150, sentences=1)
    process = kb_process("ingest", folder, "--json", home=home, command=OWN_MODELS)
    assert process.stdout
    for line in process.stdout:
        if b'"document_finished"' in line:
            process.kill()
            break
    process.communicate(timeout=60)
    assert (home / FILE_NAME).exists()
    assert len(documents(home)) < 150
    resumed = kb("ingest", "--resume", "--json", home=home)
    assert resumed.code == 0, resumed.err
    assert sum(counted(json.loads(resumed.out.splitlines()[-1])).values()) == 150
    assert len(documents(home)) == 150
    assert_complete(home)
    assert not (home / FILE_NAME).exists()
    assert kb("ingest", "--resume", home=home).code == 0, "nothing is left to do"


@pytest.mark.parametrize("more", [("notes",), ("--force",), ("--words-only",)])
def test_resume_stands_alone(kb: Call, home: Path, more: tuple[str, ...]) -> None:
    refused = kb("ingest", "--resume", *more, home=home)
    assert refused.code == 2
    assert "--resume" in refused.err
    assert kb("ingest", home=home).code == 2
