"""Ingesting again: what is new, edited, renamed, gone or a twin is done right, and nothing more is done."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.journey.conftest import Call
from tests.journey.folders import (
    BREAD,
    COMETS,
    MODES,
    OTTERS,
    assert_complete,
    counted,
    documents,
    fill,
    ingest,
    paths_found,
    rows,
    search,
    tree_of,
)

LONG = "# Tides\n\n" + "\n\n".join(
    f"## Harbour {n}\n\n" + f"The tide at harbour {n} turns when the moon of week {n} stands above pier {n}. " * 6
    for n in range(6)
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", {"otters.md": OTTERS, "sky/comets.md": COMETS})


def test_new_then_unchanged_then_touched(kb: Call, home: Path, notes: Path) -> None:
    first = ingest(kb, home, notes)
    assert counted(first) == {"new": 2}
    assert first["chunks_written"] == first["vectors_written"] == 2
    before = rows(home, "SELECT * FROM documents")

    again = kb("ingest", notes, "--json", home=home)
    assert counted(again.json()) == {"unchanged": 2}
    assert "document_started" not in again.out, "an unchanged file was opened"
    assert again.json()["corpus_revision"] == first["corpus_revision"]
    assert rows(home, "SELECT * FROM documents") == before

    os.utime(notes / "otters.md")
    touched = kb("ingest", notes, "--json", home=home)
    assert counted(touched.json()) == {"unchanged": 2}
    assert touched.out.count("document_started") == 1
    assert touched.json()["corpus_revision"] == first["corpus_revision"]
    assert "document_started" not in kb("ingest", notes, "--json", home=home).out, "the new time was not noted"
    ((moment,),) = rows(home, "SELECT mtime_ns FROM documents WHERE path = 'otters.md'")
    assert moment == (notes / "otters.md").stat().st_mtime_ns


def test_an_edit_replaces_the_text_and_embeds_only_what_changed(kb: Call, home: Path, notes: Path) -> None:
    fill(notes, {"tides.md": LONG})
    ingest(kb, home, notes)
    known = documents(home)
    (chunk_count,) = rows(home, "SELECT count(*) FROM chunks JOIN documents USING (doc_id) WHERE path = 'tides.md'")[0]
    assert chunk_count >= 4
    fill(notes, {"tides.md": LONG.replace("moon of week 2", "zeppelin of week 2")})
    report = ingest(kb, home, notes)
    assert counted(report) == {"updated": 1, "unchanged": 2}
    assert documents(home) == known
    assert report["chunks_written"] == chunk_count
    assert (report["vectors_written"], report["cache_hits"]) == (1, chunk_count - 1)
    for mode in MODES:
        texts = [hit["snippet"] for hit in search(kb, home, "moon of week 2", mode)]
        assert texts
        assert not any("moon of week 2" in text for text in texts), mode
        assert search(kb, home, "zeppelin", mode)[0]["path"] == "tides.md"
    assert rows(home, "SELECT count(*) FROM embeddings") == rows(home, "SELECT count(*) FROM chunks")


def test_an_edit_that_empties_a_file_leaves_nothing_of_it(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    fill(notes, {"otters.md": ""})
    report = ingest(kb, home, notes)
    assert counted(report) == {"updated": 1, "unchanged": 1}
    assert [note["reason"] for note in report["notes"]] == ["holds no text"]
    assert not paths_found(kb, home, "otter")
    assert rows(home, "SELECT count(*) FROM embeddings") == [(1,)]


def test_renames_and_moves_keep_the_document(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    known = documents(home)
    (notes / "river").mkdir()
    (notes / "otters.md").rename(notes / "lutra.md")
    (notes / "sky" / "comets.md").rename(notes / "river" / "comets.md")
    report = ingest(kb, home, notes)
    assert counted(report) == {"moved": 2}
    assert {(o["moved_from"], o["path"]) for o in report["moved"]} == {
        ("otters.md", "lutra.md"),
        ("sky/comets.md", "river/comets.md"),
    }
    assert report["vectors_written"] == 0
    assert documents(home) == {
        "notes/lutra.md": known["notes/otters.md"],
        "notes/river/comets.md": known["notes/sky/comets.md"],
    }
    for mode in MODES:
        assert paths_found(kb, home, "otter comet", mode) == {"lutra.md", "river/comets.md"}


def test_deleted_then_restored(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    (notes / "otters.md").unlink()
    kept = ingest(kb, home, notes, "--no-prune")
    assert counted(kept) == {"unchanged": 1}
    assert paths_found(kb, home, "otter") == {"otters.md"}
    report = ingest(kb, home, notes)
    assert counted(report) == {"unchanged": 1, "pruned": 1}
    assert report["pruned"] == ["notes/otters.md"]
    for mode in MODES:
        assert paths_found(kb, home, "otter", mode) <= {"sky/comets.md"}
    fill(notes, {"otters.md": OTTERS})
    assert counted(ingest(kb, home, notes)) == {"new": 1, "unchanged": 1}
    assert paths_found(kb, home, "otter") == {"otters.md"}


def test_two_files_swap_their_names(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    fill(notes, {"otters.md": COMETS, "sky/comets.md": OTTERS})
    report = ingest(kb, home, notes)
    assert (counted(report), report["vectors_written"]) == ({"updated": 2}, 0)
    assert paths_found(kb, home, "otter") == {"sky/comets.md"}


def test_twins_are_two_documents_and_one_embedding(kb: Call, home: Path, notes: Path) -> None:
    fill(notes, {"copy.md": OTTERS})
    report = ingest(kb, home, notes)
    assert (counted(report), report["vectors_written"], report["cache_hits"]) == ({"new": 3}, 2, 1)
    assert paths_found(kb, home, "otter") == {"otters.md", "copy.md"}
    known = documents(home)

    fill(notes, {"copy.md": BREAD})
    assert counted(ingest(kb, home, notes)) == {"updated": 1, "unchanged": 2}
    assert documents(home) == known
    assert paths_found(kb, home, "otter") == {"otters.md"}
    assert paths_found(kb, home, "sourdough") == {"copy.md"}

    fill(notes, {"copy.md": OTTERS})
    ingest(kb, home, notes)
    (notes / "otters.md").unlink()
    assert counted(ingest(kb, home, notes)) == {"pruned": 1, "unchanged": 2}
    for mode in MODES:
        assert "copy.md" in paths_found(kb, home, "otter", mode)
    assert_complete(home)


def test_an_empty_root_forgets_nothing(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    for path in ("otters.md", "sky/comets.md"):
        (notes / path).unlink()
    report = ingest(kb, home, notes)
    assert counted(report) == {}
    assert "kept its 2 documents" in report["warnings"][0]
    assert "unmounted" in kb("ingest", notes, home=home).err
    assert len(documents(home)) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_forgets_nothing(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    (notes / "sky").chmod(0)
    try:
        report = ingest(kb, home, notes)
    finally:
        (notes / "sky").chmod(0o755)
    assert counted(report) == {"unchanged": 1, "skipped": 1}
    assert "sky cannot be read" in report["warnings"][0]
    assert len(documents(home)) == 2


def test_what_is_ignored_now_is_forgotten(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    fill(notes, {".kbignore": "sky/\n"})
    report = ingest(kb, home, notes)
    assert counted(report) == {"unchanged": 1, "pruned": 1}
    assert report["ignored"] >= 1
    assert set(documents(home)) == {"notes/otters.md"}


def test_an_edit_that_cannot_be_parsed_keeps_the_earlier_text(kb: Call, home: Path, tmp_path: Path) -> None:
    from docx import Document

    folder = tmp_path / "papers"
    folder.mkdir()
    paper = Document()
    paper.add_paragraph("The walrus reads its contract twice.")
    paper.save(str(folder / "paper.docx"))
    fill(folder, {"broken.docx": b"PK\x03\x04 not a document"})
    first = ingest(kb, home, folder, code=1)
    assert counted(first) == {"new": 1, "failed": 1}
    assert "earlier" not in first["not_indexed"][0]["reason"]

    fill(folder, {"paper.docx": b"PK\x03\x04 garbage"})
    again = ingest(kb, home, folder, code=1)
    assert counted(again) == {"failed": 2}
    reason = next(o["reason"] for o in again["not_indexed"] if o["path"] == "paper.docx")
    assert reason.endswith("its earlier text stays searchable")
    assert paths_found(kb, home, "walrus") == {"paper.docx"}
    plain = kb("ingest", folder, home=home)
    assert plain.code == 1
    assert "earlier text stays searchable" in plain.out
    assert "fix:" in plain.out
    assert counted(ingest(kb, home, folder, "--dry-run", code=1)) == {"failed": 2}


def test_force_reads_everything_again(kb: Call, home: Path, notes: Path) -> None:
    ingest(kb, home, notes)
    known = documents(home)
    report = ingest(kb, home, notes, "--force")
    assert report["phase_ms"]["parse"] > 0
    assert (counted(report), report["vectors_written"]) == ({"unchanged": 2}, 0), "read again, and found the same"
    assert documents(home) == known


def test_a_dry_run_changes_nothing(kb: Call, home: Path, notes: Path) -> None:
    planned = ingest(kb, home, notes, "--dry-run")
    assert (counted(planned), planned["dry_run"]) == ({"new": 2}, True)
    assert not home.exists()

    ingest(kb, home, notes)
    fill(notes, {"sky/comets.md": COMETS + "More.\n", "bread.md": BREAD})
    (notes / "otters.md").rename(notes / "lutra.md")
    os.utime(notes / "bread.md", (time.time() - 99, time.time() - 99))
    before = tree_of(home)
    planned = ingest(kb, home, notes, "--dry-run")
    assert counted(planned) == {"new": 1, "updated": 1, "moved": 1}
    assert tree_of(home) == before
    shown = kb("ingest", notes, "--dry-run", home=home)
    assert "would be: 1 new, 1 updated, 1 moved" in shown.out
    assert tree_of(home) == before
    (notes / "lutra.md").unlink()
    assert counted(ingest(kb, home, notes, "--dry-run")) == {"new": 1, "updated": 1, "pruned": 1}
    stdin = ingest(kb, home, "-", "--title", "Note", "--dry-run", stdin=b"A thought.")
    assert counted(stdin) == {"new": 1}
    assert tree_of(home) == before


def test_an_edit_that_keeps_size_and_time_is_seen(kb: Call, tmp_path: Path) -> None:
    note = tmp_path / "notes" / "a.md"
    note.parent.mkdir()
    note.write_text("The gate opens at seven.\n")
    home = tmp_path / "home"
    assert kb("ingest", note.parent, home=home).code == 0
    before = note.stat()
    note.write_text("The gate opens at eight.\n")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert kb("ingest", note.parent, home=home).code == 0
    assert kb("search", "eight", "--mode", "lexical", home=home).code == 0
    assert kb("search", "seven", "--mode", "lexical", home=home).code == 1
