"""A change of settings, reader or encoder redoes what it affects, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kb.ingest.readers import READERS
from tests.journey.conftest import Call
from tests.journey.folders import (
    BREAD,
    COMETS,
    OTTERS,
    assert_complete,
    counted,
    documents,
    execute,
    fill,
    ingest,
    paths_found,
    rows,
)

LONG = "# Winds\n\n" + "".join(
    f"The wind of day {n} came over hill {n} and fell asleep in valley {n}. " for n in range(30)
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"otters.md": OTTERS, "winds.txt": LONG})


def test_settings_redo_what_they_affect(kb: Call, home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ingest(kb, home, notes)
    known = documents(home)

    monkeypatch.setenv("KB_SEARCH__K", "3")
    monkeypatch.setenv("KB_EMBEDDING__BATCH_SIZE", "4")
    report = ingest(kb, home, notes)
    assert (counted(report), report["corpus_revision"]) == ({"unchanged": 2}, first["corpus_revision"])

    monkeypatch.setenv("KB_CHUNKING__TARGET_TOKENS", "64")
    report = ingest(kb, home, notes)
    assert counted(report) == {"updated": 1, "unchanged": 1}, "the otters read the same"
    assert report["chunks_written"] > first["chunks_written"] - 1
    assert report["cache_hits"] == 1
    assert documents(home) == known

    monkeypatch.setenv("KB_EMBEDDING__DOCUMENT_PREFIX", "text: ")
    report = ingest(kb, home, notes)
    assert counted(report) == {"unchanged": 2}, "the same chunks, with other vectors"
    assert report["vectors_written"] == len(rows(home, "SELECT chunk_id FROM chunks"))
    assert_complete(home)
    assert counted(ingest(kb, home, notes)) == {"unchanged": 2}


def test_a_new_reader_version_reads_its_files_again(
    kb: Call, home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(kb, home, notes)
    known = documents(home)
    reader = READERS["markdown"]
    monkeypatch.setitem(READERS, "markdown", replace(reader, version=reader.version + 1))
    report = ingest(kb, home, notes)
    assert report["phase_ms"]["parse"] > 0
    assert (counted(report), report["vectors_written"]) == ({"unchanged": 2}, 0), "read again, and found the same"
    assert documents(home) == known
    assert counted(ingest(kb, home, notes)) == {"unchanged": 2}


def mismatch(kb: Call, home: Path) -> Any:
    refused = kb("search", "otter", "--mode", "vector", "--json", home=home)
    assert refused.code == 2
    return json.loads(refused.err.splitlines()[-1])


def test_another_encoder_is_refused_and_then_healed(kb: Call, home: Path, notes: Path) -> None:
    """First its name alone differs, then its vectors too, then they are missing altogether."""
    ingest(kb, home, notes)
    execute(home, "UPDATE meta SET value = 'another' WHERE name = 'encoder_digest'")
    assert mismatch(kb, home)["code"] == "embedding_mismatch"
    assert paths_found(kb, home, "otter") == {"otters.md"}, "search by words needs no encoder"
    report = ingest(kb, home, notes)
    assert (counted(report), report["vectors_written"]) == ({"unchanged": 2}, 0)
    assert "otters.md" in paths_found(kb, home, "otter", "vector")

    execute(home, "UPDATE encoders SET digest = 'another'")
    execute(home, "UPDATE meta SET value = 'another' WHERE name = 'encoder_digest'")
    execute(home, "UPDATE documents SET signature = 'of another'")
    assert mismatch(kb, home)["code"] == "embedding_mismatch"
    report = ingest(kb, home, notes)
    assert counted(report) == {"unchanged": 2}, "read again, and found the same"
    assert report["vectors_written"] == len(rows(home, "SELECT chunk_id FROM chunks"))
    assert rows(home, "SELECT count(*) FROM embeddings JOIN encoders USING (encoder_id) WHERE digest = 'another'") == [
        (0,)
    ]
    assert "otters.md" in paths_found(kb, home, "otter", "vector")

    execute(home, "DELETE FROM embeddings")
    report = ingest(kb, home, notes)
    assert counted(report) == {"unchanged": 2}
    assert report["vectors_written"] == rows(home, "SELECT count(*) FROM chunks")[0][0]
    assert_complete(home)
    assert "otters.md" in paths_found(kb, home, "otter", "vector")


def test_another_encoder_is_healed_for_what_is_out_of_reach(kb: Call, home: Path, notes: Path, tmp_path: Path) -> None:
    """Documents whose files are not part of this ingest get vectors of the present encoder too."""
    ingest(kb, home, notes)
    execute(home, "UPDATE encoders SET digest = 'another'")
    execute(home, "UPDATE meta SET value = 'another' WHERE name = 'encoder_digest'")
    ingest(kb, home, fill(tmp_path / "more", {"comets.md": COMETS, "bread.md": BREAD}))
    assert_complete(home)
    assert paths_found(kb, home, "otter", "vector") >= {"otters.md", "comets.md"}
