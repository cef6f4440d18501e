"""A file and a line → the words that start an editor there; a PDF and a page → a viewer. Each editor has its own way.

See `less`, which starts $VISUAL and $EDITOR as `editor +LINE FILE`: what is not known by name gets that.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath

Arguments = Callable[[str, int], list[str]]


def _plus(file: str, line: int) -> list[str]:
    return [f"+{line}", file]


def _colon(file: str, line: int) -> list[str]:
    return [f"{file}:{line}"]


def _goto(file: str, line: int) -> list[str]:
    return ["--goto", f"{file}:{line}"]


def _long_option(file: str, line: int) -> list[str]:
    return ["--line", str(line), file]


def _short_option(file: str, line: int) -> list[str]:
    return ["-l", str(line), file]


def _number_option(file: str, line: int) -> list[str]:
    return [f"-n{line}", file]


_WAYS: tuple[tuple[Arguments, str], ...] = (
    (_plus, "vi vim nvim gvim mvim view nano pico emacs emacsclient kak micro joe jed ne mg vis gedit bbedit"),
    (_colon, "subl sublime_text hx helix zed zeditor lapce mcedit"),
    (_goto, "code code-insiders codium vscodium cursor windsurf positron trae"),
    (_long_option, "idea pycharm webstorm goland clion rubymine phpstorm rider rustrover studio fleet"),
    (_short_option, "kate kwrite mate"),
    (_number_option, "notepad++"),
)
EDITORS: Mapping[str, Arguments] = {name: way for way, names in _WAYS for name in names.split()}

# Viewers that open a PDF at a page, in the order in which they are looked for: readers first, then a browser.
PDF_VIEWERS: Mapping[str, Callable[[str, int], list[str]]] = {
    "zathura": lambda file, page: [f"--page={page}", file],
    "sioyek": lambda file, page: ["--page", str(page), file],
    "okular": lambda file, page: ["--page", str(page), file],
    "evince": lambda file, page: [f"--page-index={page}", file],
    "papers": lambda file, page: [f"--page-index={page}", file],
    "atril": lambda file, page: [f"--page-index={page}", file],
    "xreader": lambda file, page: [f"--page-index={page}", file],
    "mupdf": lambda file, page: [file, str(page)],
    "xpdf": lambda file, page: [file, str(page)],
    "qpdfview": lambda file, page: [f"{file}#{page}"],
    "SumatraPDF": lambda file, page: ["-page", str(page), file],
    "firefox": lambda file, page: [f"{Path(file).as_uri()}#page={page}"],
    "google-chrome": lambda file, page: [f"{Path(file).as_uri()}#page={page}"],
    "chromium": lambda file, page: [f"{Path(file).as_uri()}#page={page}"],
}


def editor_words(editor: str, file: str, line: int | None) -> list[str]:
    """The words that open a file at a line.

    editor  what $VISUAL or $EDITOR says, with its options; {file} and {line} in it are replaced
    line    None opens the file

    >>> editor_words("code --wait", "/a b.md", 13)
    ['code', '--wait', '--goto', '/a b.md:13']
    >>> editor_words("/usr/bin/vim", "/a.md", 13), editor_words("hx", "/a.md", None)
    (['/usr/bin/vim', '+13', '/a.md'], ['hx', '/a.md'])
    >>> editor_words("my-editor --at {line} {file}", "/a.md", 13)
    ['my-editor', '--at', '13', '/a.md']
    """
    words = shlex.split(editor)
    if any("{file}" in word for word in words):
        return [word.replace("{file}", file).replace("{line}", str(line or 1)) for word in words]
    return [*words, *(EDITORS.get(_name(words[0]), _plus)(file, line) if line else [file])]


def _name(program: str) -> str:
    """A program's name without folder, ending and version: /opt/idea.sh, vim.basic and emacs-29 are known."""
    name = PurePath(program.replace("\\", "/")).name.lower()
    if name in EDITORS:
        return name
    bare = re.sub(r"\.(exe|cmd|bat|sh|app|basic|tiny|gtk3?|nox|appimage)$", "", name)
    return bare if bare in EDITORS else re.sub(r"(-?\d+(\.\d+)*|64)$", "", bare)


def find_pdf_viewer(file: str, page: int) -> list[str] | None:
    """The words that show a page of a PDF on this desktop; None where no viewer is known, or there is no desktop."""
    has_desktop = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if not has_desktop:
        return None
    return next(([name, *words(file, page)] for name, words in PDF_VIEWERS.items() if shutil.which(name)), None)


def start_in_background(words: Sequence[str]) -> None:
    """Start a viewer that lives on after kb."""
    nowhere = subprocess.DEVNULL
    subprocess.Popen(list(words), stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def show_in_pager(text: str) -> bool:
    """Show a text in $PAGER, else in less; False where neither can be started.

    A text that fits on the screen stays there, without a key to press.
    """
    words = shlex.split(os.environ.get("PAGER") or "less")
    environment = {"LESS": "FRX", "LESSCHARSET": "utf-8", **os.environ}
    try:
        subprocess.run(words, input=text, text=True, errors="replace", env=environment, check=False)
    except OSError:
        return False
    return True
