"""How each editor is told the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.cli.editors import EDITORS, editor_words, find_pdf_viewer

FILE = "/notes/a file.md"
PLUS = ["+13", FILE]
COLON = [f"{FILE}:13"]


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("vi", PLUS),
        ("vim -p", ["-p", *PLUS]),
        ("/usr/bin/nvim", PLUS),
        ("vim.basic", PLUS),
        ("nano", PLUS),
        ("emacs -nw", ["-nw", *PLUS]),
        ("emacs-29.4", PLUS),
        ("emacsclient -t", ["-t", *PLUS]),
        ("kak", PLUS),
        ("micro", PLUS),
        ("code --wait", ["--wait", "--goto", *COLON]),
        ("code-insiders", ["--goto", *COLON]),
        (r'"C:\Program Files\Cursor\Cursor.exe"', ["--goto", *COLON]),
        ("subl -n", ["-n", *COLON]),
        ("hx", COLON),
        ("zed", COLON),
        ("idea", ["--line", "13", FILE]),
        ("/opt/idea/bin/idea.sh", ["--line", "13", FILE]),
        ("idea64.exe", ["--line", "13", FILE]),
        ("pycharm", ["--line", "13", FILE]),
        ("kate", ["-l", "13", FILE]),
        ("notepad++.exe", ["-n13", FILE]),
        ("an-editor-nobody-knows --wait", ["--wait", *PLUS]),
        ("own --at {line} {file}", ["--at", "13", FILE]),
        ("own {file}:{line}", COLON),
    ],
)
def test_an_editor_gets_file_and_line_its_own_way(editor: str, words: list[str]) -> None:
    assert editor_words(editor, FILE, 13)[1:] == words


@pytest.mark.parametrize("editor", EDITORS)
def test_without_a_line_an_editor_gets_the_file_alone(editor: str) -> None:
    assert editor_words(editor, FILE, None) == [editor, FILE]


def test_a_pdf_is_opened_at_its_page_where_there_is_a_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    assert find_pdf_viewer("/a.pdf", 3) is None
    for name, words in (("firefox", ["file:///a.pdf#page=3"]), ("zathura", ["--page=3", "/a.pdf"])):
        program = tmp_path / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert find_pdf_viewer("/a.pdf", 3) == [name, *words]
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert find_pdf_viewer("/a.pdf", 3) is None
