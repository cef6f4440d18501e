"""What a path means: sources and roots, standard input, odd names, odd bytes, links."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.journey.conftest import Call
from tests.journey.folders import (
    BREAD,
    COMETS,
    OTTERS,
    counted,
    documents,
    fill,
    ingest,
    paths_found,
    rows,
    search,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_path_inside_a_known_source_is_its_document(kb: Call, home: Path, tmp_path: Path) -> None:
    notes = fill(tmp_path / "notes", {"otters.md": OTTERS, "sky/comets.md": COMETS, "sky/deep/bread.md": BREAD})
    ingest(kb, home, notes)
    known = documents(home)
    assert counted(ingest(kb, home, notes / "otters.md")) == {"unchanged": 1}
    fill(notes, {"sky/comets.md": COMETS + "Twice.\n"})
    (notes / "otters.md").unlink()
    (notes / "sky/deep/bread.md").unlink()
    assert counted(ingest(kb, home, notes / "sky")) == {"updated": 1, "pruned": 1}
    assert documents(home) == {name: known[name] for name in ("notes/otters.md", "notes/sky/comets.md")}


def test_a_file_first_and_its_folder_later_is_one_source(kb: Call, home: Path, tmp_path: Path) -> None:
    notes = fill(tmp_path / "notes", {"otters.md": OTTERS, "comets.md": COMETS})
    assert counted(ingest(kb, home, notes / "otters.md")) == {"new": 1}
    assert counted(ingest(kb, home, notes)) == {"new": 1, "unchanged": 1}
    assert list(documents(home)) == ["notes/comets.md", "notes/otters.md"]


def test_two_roots_with_the_same_paths(kb: Call, home: Path, tmp_path: Path) -> None:
    one = fill(tmp_path / "a" / "docs", {"readme.md": OTTERS})
    two = fill(tmp_path / "b" / "docs", {"readme.md": COMETS})
    assert counted(ingest(kb, home, one, two)) == {"new": 2}
    assert list(documents(home)) == ["docs/readme.md", "docs-2/readme.md"]
    (one / "readme.md").unlink()
    fill(one, {"other.md": BREAD})
    assert counted(ingest(kb, home, one)) == {"new": 1, "pruned": 1}
    assert list(documents(home)) == ["docs/other.md", "docs-2/readme.md"]


def test_paths_that_overlap_are_read_once(kb: Call, home: Path, tmp_path: Path) -> None:
    docs = fill(tmp_path / "docs", {"a.md": OTTERS, "sub/b.md": COMETS, "drafts/c.md": BREAD, ".kbignore": "drafts\n"})
    assert counted(ingest(kb, home, docs, docs / "sub", docs, docs / "a.md")) == {"new": 2}
    assert counted(ingest(kb, home, docs, docs / "drafts")) == {"new": 1, "unchanged": 2}
    assert counted(ingest(kb, home, docs, docs / "drafts")) == {"unchanged": 3}, "named, so it is not ignored"
    ignored = fill(tmp_path / "all", {"x/y.md": OTTERS, ".kbignore": "*\n"})
    assert counted(ingest(kb, home, ignored, ignored / "x")) == {"new": 1}


def test_a_source_around_another_warns(kb: Call, home: Path, tmp_path: Path) -> None:
    work = fill(tmp_path / "work", {"a.md": OTTERS, "project/b.md": COMETS})
    ingest(kb, home, work / "project")
    (warning,) = ingest(kb, home, work)["warnings"]
    assert "source 'project' lies inside" in warning
    assert not ingest(kb, home, work)["warnings"]


def test_names_of_sources(kb: Call, home: Path, tmp_path: Path) -> None:
    docs = fill(tmp_path / "docs", {"a.md": OTTERS})
    other = fill(tmp_path / "other", {"b.md": COMETS})
    ingest(kb, home, docs, "--source", "mine")
    assert list(documents(home)) == ["mine/a.md"]
    assert counted(ingest(kb, home, docs, "--source", "mine")) == {"unchanged": 1}
    assert counted(ingest(kb, home, docs)) == {"unchanged": 1}
    for name in ("mine", "a/b", "", "stdin", "-", "a b", "a\nb"):
        refused = kb("ingest", other, "--source", name, home=home)
        assert refused.code == 2, name
        assert "fix:" in refused.err
    assert kb("ingest", docs, other, "--source", "both", home=home).code == 2
    assert list(documents(home)) == ["mine/a.md"]


def test_standard_input(kb: Call, home: Path, tmp_path: Path) -> None:
    assert counted(ingest(kb, home, "-", "--title", "Otter notes", stdin=OTTERS.encode())) == {"new": 1}
    known = documents(home)
    assert list(known) == ["stdin/Otter-notes.md"]
    same = ingest(kb, home, "-", "--title", "Otter notes", stdin=OTTERS.encode())
    assert counted(same) == {"unchanged": 1}
    changed = ingest(kb, home, "-", "--title", "Otter notes", stdin=BREAD.encode())
    assert counted(changed) == {"updated": 1}
    assert documents(home) == known
    assert not paths_found(kb, home, "neighbour river")
    ingest(kb, home, fill(tmp_path / "docs", {"a.md": COMETS}))
    assert paths_found(kb, home, "sourdough") == {"Otter-notes.md"}
    for title in ("C", "C#", "C++", "a/b", "a-b"):
        assert counted(ingest(kb, home, "-", "--title", title, stdin=title.encode())) == {"new": 1}, title


@pytest.mark.parametrize(
    "arguments",
    [["-"], ["-", "--title", " "], ["-", "--title", "T", "--source", "s"], ["-", "elsewhere"], ["/none/such"], []],
)
def test_calls_that_cannot_be_meant(kb: Call, home: Path, arguments: list[str]) -> None:
    refused = kb("ingest", *arguments, home=home, stdin="text")
    assert refused.code == 2
    assert "fix:" in refused.err
    assert not rows(home, "SELECT 1 FROM documents") if (home / "kb.sqlite").exists() else True


def test_a_title_is_for_standard_input(kb: Call, home: Path, tmp_path: Path) -> None:
    assert kb("ingest", fill(tmp_path / "d", {"a.md": OTTERS}), "--title", "T", home=home).code == 2


def test_odd_names_and_bytes(kb: Call, home: Path, tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "odd",
        {
            "a#b 100% 🦦.md": OTTERS,
            "nul.txt": b"A badger\x00 digs\x00 deep.",
            "bom.md": "﻿# Lynx\n\nA lynx has tufted ears.\n",
            "crlf.md": "# Hare\r\n\r\nThe hare sleeps\r\nin a form.\r\n",
            "empty.md": "",
            "line\nbreak.md": COMETS,
            "\u202egpj.md": "The mole spells backwards.\n",
        },
    )
    bad = os.path.join(os.fsencode(folder), b"bad\xff.md")
    with open(bad, "wb") as file:
        file.write(BREAD.encode())
    report = ingest(kb, home, folder)
    assert counted(report) == {"new": 6, "skipped": 2}
    assert {o["path"] for o in report["not_indexed"]} == {"bad\\xff.md", "line\\nbreak.md"}
    assert [o["path"] for o in report["notes"] if o["reason"] == "holds no text"] == ["empty.md"]
    assert search(kb, home, "otter")[0]["citation"]["uri"].startswith("a%23b 100%25 🦦.md#L")
    (hare,) = search(kb, home, "hare")
    assert hare["citation"]["start_line"] <= 3 <= hare["citation"]["end_line"]
    assert search(kb, home, "lynx")[0]["title"] == "Lynx"
    assert paths_found(kb, home, "badger") == {"nul.txt"}
    assert counted(ingest(kb, home, folder)) == {"unchanged": 6, "skipped": 2}
    shown = kb("ingest", folder, "--verbose", home=home)
    assert "\u202e" not in shown.out + shown.err
    assert "bad\\xff.md" in shown.out
    for name in (os.fsdecode(bad), folder / "line\nbreak.md"):
        assert counted(ingest(kb, home, name)) == {"skipped": 1}
    Path(os.fsdecode(b"%b/dir\xff" % os.fsencode(tmp_path))).mkdir()
    fill(Path(os.fsdecode(b"%b/dir\xff" % os.fsencode(tmp_path))), {"a.md": OTTERS})
    refused = kb("ingest", os.fsdecode(b"%b/dir\xff" % os.fsencode(tmp_path)), home=home)
    assert refused.code == 2
    assert "not valid UTF-8" in refused.err


def test_links(kb: Call, home: Path, tmp_path: Path) -> None:
    outside = fill(tmp_path / "outside", {"secret.md": BREAD})
    folder = fill(tmp_path / "linked", {"otters.md": OTTERS, "sub/comets.md": COMETS})
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "self").symlink_to("self")
    (folder / "out").symlink_to(outside)
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "twice.md").symlink_to("otters.md")
    report = ingest(kb, home, folder)
    assert counted(report) == {"new": 2, "skipped": 5}
    assert all("symbolic link" in o["reason"] for o in report["not_indexed"])
    assert not paths_found(kb, home, "sourdough")


def test_generated_files_are_left_out_unless_asked_for(kb: Call, tmp_path: Path) -> None:
    minified = "var sextant=1;" + "".join(f'function a{i}(b,c){{return b.d(c,"{i}")||e[{i}]}}' for i in range(400))
    notes = fill(
        tmp_path / "notes", {"a.md": BREAD, "yarn.lock": "sextant@^1.0:\n  version 1.2\n", "site.js": minified}
    )
    home = tmp_path / "home"
    found = kb("ingest", notes, "--words-only", "--json", home=home)
    assert found.code == 0
    events = map(json.loads, found.out.splitlines())
    assert {e["path"]: e["reason"] for e in events if e.get("result") == "skipped"} == {
        "yarn.lock": "made by a machine: a lock file, by its name",
        "site.js": "made by a machine: minified code",
    }
    assert kb("search", "sextant", "--mode", "lexical", home=home).code == 1
    assert kb("ingest", notes, "--include-generated", "--words-only", home=home).code == 0
    assert len(kb("search", "sextant", "--mode", "lexical", "--paths", home=home).out.splitlines()) == 2
