"""Whatever a file holds, reading it ends: with its text, or with a reason that costs this file alone."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.drafts import Parsed
from kb.errors import KbError, ParseFailed, ReaderStopped
from kb.ingest import guarded_reading
from kb.ingest.decode import is_machine_made
from kb.ingest.guarded_reading import FileReader
from kb.ingest.readers import READERS, read_file, reader_for
from kb.ingest.readers.reader import Reader
from tests.ingest.corpora import FORMATS
from tests.ingest.hostile import FILES, docx, epub, mutate, xlsx

PAGE = b"<html><body><h1>Otters</h1><p>They hold hands while they sleep.</p></body></html>"
SAMPLES = sorted(path for path in FORMATS.iterdir() if path.name.startswith("sample."))
MUTATIONS = 80
# benchmarks/chaos_files.py tries all of them, each in a run of its own, with the real limits.
STOPPED = ("form draws itself.pdf", "gap of two billion rows.xlsx")
REFUSED = ("bomb.docx", "locked.docx", "deep.ipynb", "page tree is a ring.pdf", "billion laughs.docx")


@pytest.fixture(scope="module")
def reader() -> Iterator[FileReader]:
    with FileReader() as reader:
        yield reader


def read(reader: FileReader, name: str, raw: bytes) -> Parsed:
    kind = reader_for(name)
    assert kind
    return reader.read(kind.name, raw, name)


def test_the_other_process_reads_as_this_one_does(reader: FileReader) -> None:
    for path in SAMPLES:
        kind = reader_for(path.name)
        assert kind
        raw = path.read_bytes()
        assert reader.read(kind.name, raw, path.name) == read_file(kind, raw, path.name), path.name


@pytest.mark.parametrize("name", STOPPED)
def test_a_file_that_would_not_end_is_stopped_and_the_next_one_is_read(
    reader: FileReader, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_reading, "cpu_seconds", lambda size_bytes: 0.8)
    with pytest.raises(ReaderStopped, match=r"crashed|seconds"):
        read(reader, name, FILES[name]())
    assert "hold hands" in read(reader, "a.html", PAGE).text


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_damaged_is_refused_without_harm(reader: FileReader, name: str) -> None:
    with pytest.raises(ParseFailed) as refused:
        read(reader, name, FILES[name]())
    assert not isinstance(refused.value, ReaderStopped)


def test_damaged_files_end_in_text_or_in_a_reason(reader: FileReader) -> None:
    chance = random.Random(16)
    whole = [(path.name, path.read_bytes()) for path in SAMPLES]
    whole += [
        ("a.docx", docx("<w:p><w:r><w:t>Otters</w:t></w:r></w:p>")),
        ("a.xlsx", xlsx('<row r="1"><c r="A1"><v>1</v></c></row>')),
        ("a.epub", epub("<p>Otters</p>")),
    ]
    reasons: list[tuple[str, str]] = []
    for _ in range(MUTATIONS):
        name, raw = chance.choice(whole)
        try:
            assert isinstance(read(reader, name, mutate(raw, chance)).text, str)
        except ParseFailed as error:
            reasons.append((error.problem, error.fix))
    assert all(problem and fix for problem, fix in reasons)


def test_no_module_of_the_working_folder_is_imported(tmp_path: Path) -> None:
    """The documents that are ingested often lie in the working folder, and other people wrote them."""
    for name in ("json", "lxml", "msgspec", "zipfile"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    root = str(Path(__file__).parents[2])
    code = (
        f"import sys; sys.path[:0] = [{root!r}]; from kb.ingest.guarded_reading import FileReader\n"
        "import os, msgspec, zipfile, json\n"
        f"os.chdir({str(tmp_path)!r}); sys.path.insert(0, '')\n"
        f"with FileReader() as reader: print(reader.read('html', {PAGE!r}, 'a.html').title)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert (done.stdout, (tmp_path / "imported").exists()) == ("Otters\n", False), done.stderr


def test_the_other_process_ends_with_its_owner() -> None:
    code = (
        "import sys, time; from kb.ingest.guarded_reading import FileReader\n"
        f"reader = FileReader(); reader.read('html', {PAGE!r}, 'a.html')\n"
        "print('ready', flush=True); time.sleep(60)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], text=True
    )
    assert owner.stdout
    assert owner.stdout.readline() == "ready\n"
    child = int(subprocess.run(["pgrep", "-P", str(owner.pid)], capture_output=True, text=True).stdout)
    owner.kill()
    owner.wait()
    deadline = time.monotonic() + 30
    while _is_running(child):
        assert time.monotonic() < deadline, "it goes on without its owner"
        time.sleep(0.02)


def _is_running(process: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout.strip()
    return bool(found) and not found.startswith("Z")


def test_a_missing_library_is_a_fault_of_the_installation() -> None:
    def import_something(raw: bytes, path: str) -> Parsed:
        raise ImportError("No module named 'lxml_html_clean'")

    broken = Reader("html", 1, (".html",), "text", import_something, has_lines=False)
    with pytest.raises(KbError, match="installation of kb is incomplete") as error:
        read_file(broken, PAGE, "a.html")
    assert "kb doctor" in error.value.fix


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (bytes(100_000), True),
        (b"\xff\xfe" + bytes(100_000), True),
        ("\ufffd".encode() * 10_000, True),
        (b"A heading and a sentence.\n" * 10 + bytes(10_000), True),
        (random.Random(1).randbytes(50_000), True),
        (b"plain text\n" * 5_000, False),
        ("words and 그림".encode("utf-16-le") * 5_000, False),
        ("글과 그림".encode("euc-kr") * 5_000, False),
        (b"one stray \x01 control\n" * 5_000, False),
        (b"\x1b[31mcolour\x1b[0m\n" * 5_000, False),
        (bytes(200) + b"a few bytes of text", False),
        (b"", False),
    ],
)
def test_tells_what_a_machine_made_from_text(raw: bytes, expected: bool) -> None:
    assert is_machine_made(raw) is expected


def test_every_hostile_file_has_a_reader() -> None:
    assert len(FILES) >= 40
    assert [name for name in FILES if (kind := reader_for(name)) is None or kind.name not in READERS] == []
