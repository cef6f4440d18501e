"""A search over a home whose indexes are missing, stale or damaged: it repairs them, says so, and finds the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kb.index.stamp import RESERVE
from tests.cut import cut_file
from tests.forked_kb import KB
from tests.journey.conftest import ROOT, Call

QUERY = ("search", "wind limits of the telescope", "-k", 20, "--json")


def hits_of(kb: Call, home: Path, *options: str) -> list[dict[str, Any]]:
    found = kb(*QUERY, *options, home=home)
    assert found.code == 0, found.err
    hits: list[dict[str, Any]] = found.json()["hits"]
    return hits


def delete_all(index: Path) -> None:
    shutil.rmtree(index)


def delete_stamps(index: Path) -> None:
    for stamp in index.glob("*.json"):
        stamp.unlink()


def corrupt_stamps(index: Path) -> None:
    for stamp in index.glob("*.json"):
        stamp.write_text(stamp.read_text()[:40])


def make_stamps_lists(index: Path) -> None:
    for stamp in index.glob("*.json"):
        stamp.write_text("[1, 2]")


def stamp_another_format(index: Path) -> None:
    for stamp in index.glob("*.json"):
        stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"format": "older"}))


def delete_places(index: Path) -> None:
    for place in index.iterdir():
        if place.is_dir():
            shutil.rmtree(place)
        elif place.suffix != ".json":
            place.unlink()


def truncate_files(index: Path) -> None:
    for file in list(index.rglob("*")):
        if (file.is_file() and file.parent != index) or file.suffix == "":
            cut_file(file, file.stat().st_size // 2) if file.is_file() else None


def empty_files(index: Path) -> None:
    for file in list(index.rglob("*")):
        if file.is_file() and file.name not in ("lexical.json", "vector.json"):
            cut_file(file, 0)


def delete_one_segment_file(index: Path) -> None:
    next(iter(index.rglob("*.store"))).unlink()


DAMAGES: list[Callable[[Path], None]] = [
    delete_all,
    delete_stamps,
    corrupt_stamps,
    make_stamps_lists,
    stamp_another_format,
    delete_places,
    truncate_files,
    empty_files,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d.__name__)
def test_damaged_indexes_are_rebuilt_and_find_the_same(
    kb: Call, corpus_home: Path, damage: Callable[[Path], None]
) -> None:
    before = hits_of(kb, corpus_home)
    damage(corpus_home / "index")
    found = kb(*QUERY, home=corpus_home)
    assert found.code == 0, found.err
    assert found.json()["hits"] == before
    assert "building the lexical index" in found.err
    assert "building the vector index" in found.err
    again = kb(*QUERY, home=corpus_home)
    assert (again.json()["hits"], again.err) == (before, "")
    assert len([entry for entry in (corpus_home / "index").iterdir() if entry.name != RESERVE]) == 4


def test_a_missing_segment_file_is_noticed(kb: Call, corpus_home: Path) -> None:
    before = hits_of(kb, corpus_home, "--mode", "lexical")
    delete_one_segment_file(corpus_home / "index")
    assert hits_of(kb, corpus_home, "--mode", "lexical") == before


def test_an_older_copy_of_the_store_gets_its_indexes_back(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    before = hits_of(kb, corpus_home)
    copy = tmp_path / "copy.sqlite"
    assert kb("backup", copy, home=corpus_home).code == 0
    assert kb("rm", "guide/*", home=corpus_home).code == 0
    assert {hit["path"].split("/")[0] for hit in hits_of(kb, corpus_home)} != {"guide"}
    for leftover in corpus_home.glob("kb.sqlite*"):
        leftover.unlink()
    shutil.copy(copy, corpus_home / "kb.sqlite")
    found = kb(*QUERY, home=corpus_home)
    assert found.json()["hits"] == before
    newer, older = re.findall(r"lexical index \(built from revision (\d+), the documents are at (\d+)\)", found.err)[0]
    assert int(newer) == int(older) + 1


def test_a_diverged_store_of_the_same_revision_is_told_apart(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    """Two copies that each lost one document stand at the same revision and hold different things."""
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(corpus_home / "kb.sqlite", other / "kb.sqlite")
    kb("rm", "guide/marigold-telescope.md", home=corpus_home)
    kb("rm", "guide/thistle-telescope.md", home=other)
    expected = hits_of(kb, other)
    shutil.copy(other / "kb.sqlite", corpus_home / "kb.sqlite")
    found = kb(*QUERY, home=corpus_home)
    assert "built from other documents" in found.err
    assert found.json()["hits"] == expected


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_the_store_alone_is_the_whole_knowledge_base(kb: Call, corpus_home: Path, tmp_path: Path, mode: str) -> None:
    elsewhere = tmp_path / "else where#1?%"
    elsewhere.mkdir()
    shutil.copy(corpus_home / "kb.sqlite", elsewhere)
    assert hits_of(kb, elsewhere, "--mode", mode) == hits_of(kb, corpus_home, "--mode", mode)


def test_an_index_folder_that_cannot_be_made_is_an_error_with_a_fix(kb: Call, corpus_home: Path) -> None:
    shutil.rmtree(corpus_home / "index")
    (corpus_home / "index").write_text("in the way")
    found = kb(*QUERY, home=corpus_home)
    error = json.loads(found.err.splitlines()[-1])
    assert (found.code, found.out, error["code"]) == (2, "", "io_error")
    assert str(corpus_home / "index") in error["fix"]


bound_by_modes = pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="root can write everywhere, and setpriv is not here"
)


@pytest.fixture
def foreign_home(corpus_home: Path) -> Iterator[Path]:
    """The corpus in a folder that may be read and not be written."""
    for entry in [corpus_home, *corpus_home.rglob("*")]:
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    yield corpus_home
    for entry in [corpus_home, *corpus_home.rglob("*")]:
        entry.chmod(0o755)


def without_rights(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A real process that file modes bind; root gives up the capability to overrule them."""
    words = [*KB, *arguments, "--home", str(home)]
    if os.geteuid() == 0:
        words = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", *words]
    return subprocess.run(words, capture_output=True, text=True)


@bound_by_modes
def test_a_read_only_home_can_be_searched(foreign_home: Path) -> None:
    found = without_rights("search", "mirror cleaning", "--mode", "lexical", home=foreign_home)
    assert (found.returncode, found.stderr) == (0, "")
    assert "guide/marigold-telescope.md#L" in found.stdout
    for arguments in (["list"], ["status"], ["show", "doc:3"]):
        assert without_rights(*arguments, home=foreign_home).returncode == 0
    removed = without_rights("rm", "doc:3", "--json", home=foreign_home)
    assert (removed.returncode, json.loads(removed.stderr)["code"]) == (2, "io_error")


@bound_by_modes
def test_a_home_of_an_older_kb_that_may_only_be_read_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "old"
    home.mkdir()
    with closing(sqlite3.connect(home / "kb.sqlite")) as store:
        store.executescript((ROOT / "fixtures" / "stores" / "m001.sql").read_text(encoding="utf-8"))
    (home / "kb.sqlite").chmod(0o444)
    home.chmod(0o555)
    said = without_rights("list", home=home)
    home.chmod(0o755)
    assert said.returncode == 2
    assert "was written by an older kb, and cannot be brought up to date" in said.stderr


@bound_by_modes
def test_an_altered_index_that_may_not_be_written_is_refused(foreign_home: Path) -> None:
    stamp = foreign_home / "index" / "lexical.json"
    stamp.chmod(0o644)
    stamp.write_text(stamp.read_text().replace('"revision": ', '"revision": 9'))
    found = without_rights("search", "mirror cleaning", "--mode", "lexical", "--json", home=foreign_home)
    error = json.loads(found.stderr.splitlines()[-1])
    assert (found.returncode, found.stdout, error["code"]) == (2, "", "io_error")


@bound_by_modes
def test_a_read_only_home_can_be_asked_and_says_that_it_keeps_nothing(foreign_home: Path) -> None:
    question = "How often must the mirror of Marigold be cleaned?"
    found = without_rights("ask", question, "--model", "extractive", home=foreign_home)
    assert "14 days" in found.stdout
    assert found.returncode == 0
    assert "this answer is not kept in the history: " in found.stderr


@bound_by_modes
def test_a_log_that_cannot_be_read_is_an_error_and_not_an_older_state(corpus_home: Path) -> None:
    """A killed writer leaves a log; without a -shm file, which a read-only folder forbids, SQLite would overlook it."""
    script = (
        "import sys, os; from pathlib import Path; from kb.store.database import open_for_writing;"
        "c = open_for_writing(Path(sys.argv[1])); c.execute('DELETE FROM documents'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(corpus_home)], check=True)
    assert (corpus_home / "kb.sqlite-wal").stat().st_size > 0
    (corpus_home / "kb.sqlite-shm").unlink()
    for entry in [corpus_home, *corpus_home.rglob("*")]:
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    found = without_rights("list", "--json", home=corpus_home)
    error = json.loads(found.stderr.splitlines()[-1])
    assert (found.returncode, found.stdout, error["code"]) == (2, "", "io_error")
    for entry in [corpus_home, *corpus_home.rglob("*")]:
        entry.chmod(0o755)
    assert without_rights("list", home=corpus_home).returncode == 1
