"""A folder that other people filled: no file in it stops an ingest, and none costs another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kb.ingest import guarded_reading
from tests.ingest.hostile import FILES, make_names, make_places
from tests.journey.conftest import Call
from tests.journey.folders import fill, paths_found

GOOD = {
    "before.md": "# Otters\n\nOtters hold hands while they sleep.\n",
    "zz after.html": "<html><body><h1>Comets</h1><p>Comets are dirty snowballs.</p></body></html>",
}
EVIL = "gap of two billion rows.xlsx"
SEAS = ("sea of NULs.txt", "UTF-16 sea of NULs.txt", "replacement characters.txt", "random bytes.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    fill(folder, GOOD)
    return folder


def ingest(kb: Call, folder: Path, home: Path, *options: str) -> Any:
    report = kb("ingest", folder, *options, "--json", home=home).json()
    return report["counts"], {one["path"]: one["reason"] for one in report["not_indexed"]}


def test_a_file_that_stops_its_reader_costs_itself_alone_and_is_not_tried_again(
    kb: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_reading, "cpu_seconds", lambda size_bytes: 0.8)
    monkeypatch.setattr(guarded_reading, "WALL_PER_CPU", 600)  # on a busy machine a second of the processor takes long
    home = tmp_path / "home"
    ingest(kb, folder, home, "--words-only")
    (folder / EVIL).write_bytes(FILES[EVIL]())
    (folder / "zz after.html").write_bytes(GOOD["zz after.html"].replace("dirty", "icy").encode())
    counts, reasons = ingest(kb, folder, home, "--dry-run")  # which remembers nothing
    assert (counts["updated"], counts["failed"]) == (1, 1)
    counts, reasons = ingest(kb, folder, home, "--words-only")
    assert (counts["updated"], counts["failed"]) == (1, 1)
    assert "took more than 1 seconds of processor time" in reasons[EVIL]
    assert "zz after.html" in paths_found(kb, home, "icy snowballs")

    counts, reasons = ingest(kb, folder, home, "--words-only")
    assert (counts["unchanged"], counts["skipped"], counts["failed"]) == (2, 1, 0)
    assert reasons[EVIL].startswith("not tried again, because it has not changed: reading it took")

    counts, _ = ingest(kb, folder, home, "--retry", "--words-only")
    assert counts["failed"] == 1

    (folder / EVIL).write_bytes(b"not a workbook")
    counts, reasons = ingest(kb, folder, home, "--words-only")
    assert (counts["failed"], "damaged" in reasons[EVIL]) == (1, True)


def test_places_and_names_of_every_kind(kb: Call, folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    places = make_places(folder, tmp_path / "outside")
    names = make_names(folder)
    for name in SEAS:
        (folder / name).write_bytes(FILES[name]())
    counts, reasons = ingest(kb, folder, home, "--words-only")
    assert counts["failed"] == 0
    assert {place.name for place in places} <= set(reasons)
    assert {reasons[name] for name in (*SEAS, "sparse sea.txt")} == {"the content is binary, though its name says text"}
    unread = len(reasons) - len(places) - len(SEAS)
    assert counts["new"] == len(GOOD) + names - unread
    assert "before.md" in paths_found(kb, home, "otters sleep")
    assert not [
        path for path in paths_found(kb, home, "secret of the neighbours") if "private" in path or "out" in path
    ]
    assert not os.path.exists("out")


@pytest.mark.parametrize("name", ["stops.txt", "stops and blanks.txt", "names.txt"])
def test_texts_without_joints_are_read_to_their_end(kb: Call, folder: Path, tmp_path: Path, name: str) -> None:
    """Their chunks are made in this process, which has no limits: a search that grows with the square would not end."""
    (folder / name).write_bytes(FILES[name]()[:150_000])
    counts, _ = ingest(kb, folder, tmp_path / "home", "--dry-run", "--include-generated")
    assert (counts["failed"], counts["new"]) == (0, 3)
