"""kb list, show, open, rm: documents looked at and forgotten."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journey.conftest import CORPUS, ROOT, Call

MARIGOLD = "guide/marigold-telescope.md"
PDF = ROOT / "fixtures" / "formats" / "sample.pdf"


def paths(kb: Call, home: Path) -> list[str]:
    return [d["path"] for d in kb("list", "--json", home=home).json()["documents"]]


def test_list_has_a_header_and_a_line_a_document(kb: Call, corpus_home: Path) -> None:
    lines = kb("list", home=corpus_home).out.splitlines()
    assert lines[0].split() == ["id", "type", "chunks", "lang", "path", "·", "title"]
    assert len(lines) == 32
    assert any("  guide/marigold-telescope.md · The Marigold telescope" in line for line in lines)


@pytest.mark.parametrize(
    "name",
    [
        MARIGOLD,
        "corpus/guide/marigold-telescope.md",
        "marigold-telescope.md",
        "doc:10",
        str(CORPUS / MARIGOLD),
        "./fixtures/corpus/ops/../guide/marigold-telescope.md",
    ],
)
def test_a_document_is_shown_by_any_of_its_names(
    kb: Call, corpus_home: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS.parents[1])
    shown = kb("show", name, "--json", home=corpus_home).json()
    assert shown["document"]["path"] == MARIGOLD
    assert "every 14 days" in shown["text"]


def test_lines_of_a_document(kb: Call, corpus_home: Path) -> None:
    lines = (CORPUS / MARIGOLD).read_text().split("\n")
    found = kb("show", MARIGOLD, "--lines", "28-35", home=corpus_home)
    assert found.out == "\n".join(lines[27:35]) + "\n"
    assert kb("show", MARIGOLD, "--lines", "30", "--json", home=corpus_home).json()["text"] == lines[29]
    for wrong in ("0", "9-3", "x", "99999"):
        assert kb("show", MARIGOLD, "--lines", wrong, home=corpus_home).code == 2
    assert "no lines" in kb("show", "incident-34-cable.html", "--lines", "1", home=corpus_home).err


def test_a_chunk_is_shown_by_its_id(kb: Call, corpus_home: Path) -> None:
    chunk_id = kb("search", "mirror cleaning", "--mode", "lexical", "--json", home=corpus_home).json()["hits"][0][
        "chunk_id"
    ]
    chunk = kb("show", chunk_id, "--json", home=corpus_home).json()
    assert (chunk["chunk_id"], chunk["path"]) == (chunk_id, MARIGOLD)
    text = kb("show", f"chunk:{chunk_id}", home=corpus_home).out
    assert text == f"{chunk['citation']['uri']}\n{chunk['text']}\n"


@pytest.mark.parametrize(
    "name", ["nothing", "doc:999", "999999", "doc:²", "²", "9" * 30, "doc:" + "9" * 5000, "", "/", "a\x00b"]
)
def test_what_is_not_there_is_not_found(kb: Call, corpus_home: Path, name: str) -> None:
    found = kb("show", name, "--json", home=corpus_home)
    assert (found.code, found.out, json.loads(found.err)["code"]) == (2, "", "not_found")


def test_an_ambiguous_or_misspelt_name_gets_suggestions(kb: Call, corpus_home: Path) -> None:
    assert "corpus/ops/archive/night-access-policy.md" in kb("show", "night-access-policy.md", home=corpus_home).err
    assert "did you mean: guide/glossary.md" in kb("show", "guide/glosary.md", home=corpus_home).err


# ---- open


@pytest.mark.parametrize(
    ("citation", "place"),
    [
        (f"{MARIGOLD}#L28-L35", f"{MARIGOLD}:28"),
        ("marigold-telescope.md:28", f"{MARIGOLD}:28"),
        (MARIGOLD, MARIGOLD),
        ("ops/incident%2331-dome-jam.md#L8", "ops/incident#31-dome-jam.md:8"),
        ("ops/incident#31-dome-jam.md", "ops/incident#31-dome-jam.md"),
        ("ops/incident#31-dome-jam.md:8", "ops/incident#31-dome-jam.md:8"),
        (f"{CORPUS}/guide/glossary.md:3", "guide/glossary.md:3"),
        ("guide/deploying lampd.md#L9", "guide/deploying lampd.md:9"),
    ],
)
def test_open_prints_the_place_in_a_pipe(
    kb: Call, corpus_home: Path, citation: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.chdir("/")
    found = kb("open", citation, home=corpus_home)
    assert (found.code, found.err) == (0, "")
    assert found.out == f"{str(CORPUS)[1:]}/{place}\n"


def test_open_starts_the_editor_at_the_line_on_a_terminal(corpus_home: Path, tmp_path: Path) -> None:
    editor = tmp_path / "my editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/arguments"\n')
    editor.chmod(0o755)
    main, terminal = pty.openpty()
    words = [sys.executable, "-m", "kb", "--home", str(corpus_home), "open", f"{MARIGOLD}#L28-L35"]
    environment = {**os.environ, "EDITOR": f"'{editor}' --wait"}
    done = subprocess.run(words, env=environment, stdout=terminal, stderr=subprocess.PIPE, text=True)
    os.close(terminal)
    os.close(main)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "arguments").read_text().split("\n")[:-1] == ["--wait", "+28", str(CORPUS / MARIGOLD)]


def test_a_number_names_a_hit_of_the_last_search(kb: Call, corpus_home: Path) -> None:
    query = ["search", "mirror cleaning", "--mode", "lexical", "-k", 3]
    hits = kb(*query, "--json", home=corpus_home).json()["hits"]
    assert (
        "no search" in kb("open", "2", home=corpus_home).err
    )  # what a script has searched for is not shown to anybody
    kb(*query, home=corpus_home)
    for hit in hits:
        chunk = kb("show", f"chunk:{hit['chunk_id']}", "--json", home=corpus_home).json()
        for name in (str(hit["rank"]), f"#{hit['rank']}", f"[#{hit['rank']}]"):
            place = kb("open", name, "--json", home=corpus_home).json()
            assert (place["path"], place["start_line"]) == (hit["file"], hit["citation"]["start_line"])
            assert kb("show", name, home=corpus_home).out == f"{hit['citation']['uri']}\n{chunk['text']}\n"
    missing = kb("open", "4", home=corpus_home)
    assert (missing.code, "use one of: 1, 2, 3" in missing.err) == (2, True)
    assert kb("show", str(hits[0]["chunk_id"]), "--json", home=corpus_home).json()["chunk_id"] == hits[0]["chunk_id"]


def test_a_number_that_the_last_search_did_not_show_is_no_chunk(kb: Call, corpus_home: Path) -> None:
    kb("search", "mirror", "-k", "2", home=corpus_home)
    found = kb("show", "3", home=corpus_home)
    assert (found.code, found.err) == (
        2,
        "error: the last search or answer has no place 3\n  fix: use one of: 1, 2\n",
    )
    assert kb("show", "chunk:3", home=corpus_home).code == 0


def test_a_number_names_a_citation_of_the_last_answer(kb: Call, corpus_home: Path) -> None:
    kb("search", "dome", "--mode", "lexical", home=corpus_home)
    question = ["ask", "How often must Marigold's mirror be cleaned?", "--mode", "lexical"]
    asked = kb(*question, home=corpus_home)
    uri = re.findall(r"^\[#1\] (\S+)", asked.out, re.MULTILINE)[0]
    assert kb("show", "1", home=corpus_home).out.startswith(f"{uri}\n")
    refused = kb("ask", "Who won the football cup of the telescope?", "--mode", "lexical", home=corpus_home)
    assert refused.code == 1
    assert kb("open", "2", home=corpus_home).code == 0


def test_a_citation_as_printed_is_shown(kb: Call, corpus_home: Path) -> None:
    lines = (CORPUS / MARIGOLD).read_text().split("\n")
    assert kb("show", f"{MARIGOLD}#L28-L35", home=corpus_home).out == "\n".join(lines[27:35]) + "\n"
    assert kb("show", f"{MARIGOLD}:30", home=corpus_home).out == lines[29] + "\n"
    assert kb("show", f"{MARIGOLD}#L1", "--lines", "2", home=corpus_home).code == 2
    assert "no lines" in kb("show", "incident-34-cable.html#L3", home=corpus_home).err


def test_a_page_is_shown_and_a_page_that_is_not_there_is_named(kb: Call, tmp_path: Path) -> None:
    home = tmp_path / "home"
    kb("ingest", PDF, home=home)
    listed = kb("list", "--json", home=home).json()["documents"][0]["path"]
    shown = kb("show", f"{listed}#page=1", "--json", home=home).json()
    assert shown["page"] == 1
    assert shown["text"]
    assert "has no text on page 99" in kb("show", f"{listed}#page=99", home=home).err
    assert kb("open", f"{listed}#page=1", home=home).out.endswith("#page=1\n")


def test_open_says_when_the_file_is_gone(kb: Call, tmp_path: Path) -> None:
    folder, home = tmp_path / "notes", tmp_path / "home"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nhere today\n")
    kb("ingest", folder, home=home)
    (folder / "a.md").unlink()
    found = kb("open", "a.md#L3", home=home)
    assert found.code == 2
    assert "not there any more" in found.err
    assert "kb show a.md" in found.err
    kb("ingest", "-", "--title", "Said", home=home, stdin="told on standard input\n")
    name = next(d["path"] for d in kb("list", "--json", home=home).json()["documents"] if d["path"] != "a.md")
    assert "standard input" in kb("open", name, home=home).err


# ---- rm


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (["guide/glossary.md"], ["guide/glossary.md"]),
        (["glossary.md", "doc:3"], ["code/lamp_queue.py", "guide/glossary.md"]),
        (
            ["code/*"],
            ["code/lamp-api.rst", "code/lamp_queue.py", "code/seeing-report-2024-03.ipynb", "code/tide_filter.rs"],
        ),
        (
            ["notes/", "*.csv"],
            ["notes/canteen-recipes.md", "notes/history.txt", "notes/writing-advice.md", "ops/error-codes.csv"],
        ),
    ],
)
def test_rm_forgets_what_was_named_and_nothing_else(
    kb: Call, corpus_home: Path, words: list[str], gone: list[str]
) -> None:
    before = paths(kb, corpus_home)
    found = kb("rm", *words, "--json", home=corpus_home)
    assert found.json()["removed"] == [f"corpus/{path}" for path in gone]
    assert paths(kb, corpus_home) == [path for path in before if path not in gone]
    assert all((CORPUS / path).is_file() for path in gone)
    searched = kb("search", "the", "--mode", "lexical", "-k", 300, "--json", home=corpus_home)
    assert searched.err == ""
    assert not {hit["path"] for hit in searched.json()["hits"]} & set(gone)


def test_rm_of_a_whole_source_leaves_an_empty_knowledge_base(kb: Call, corpus_home: Path) -> None:
    found = kb("rm", "--source", "corpus", home=corpus_home)
    assert found.code == 0
    assert "31 removed; their files are untouched" in found.err
    assert kb("list", home=corpus_home).code == 1
    emptied = kb("search", "mirror", "--json", home=corpus_home)
    assert (emptied.code, json.loads(emptied.err)["code"]) == (2, "not_indexed")
    assert kb("status", "--json", home=corpus_home).json()["documents"] == 0


@pytest.mark.parametrize("words", [[], ["nothing"], ["nothing*"], ["--source", "none"], ["glossary.md", "nothing"]])
def test_rm_of_what_is_not_there_removes_nothing(kb: Call, corpus_home: Path, words: list[str]) -> None:
    found = kb("rm", *words, home=corpus_home)
    assert (found.code, found.out) == (2, "")
    assert len(paths(kb, corpus_home)) == 31
