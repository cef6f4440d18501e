"""Real commands on fixtures/corpus → docs/images/*.svg: the picture of a terminal in the README, and the screens of docs/screens.md.

Run it from the checkout after a change of what the commands print: `python docs/make_pictures.py`. Each command runs in a
pseudo-terminal, so the pictures show the colours and the wrapping that a user sees.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import struct
import sys
import tempfile
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME
from rich.text import Text

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
COMMANDS = (
    'kb search "mirror cleaning" -k 2',
    'kb ask "How long does the mast battery last?"',
    'kb ask "Who won the football cup?"',
)
SUITE = "fixtures/suites/corpus.yaml"


@dataclass(frozen=True)
class Screen:
    """One picture: its commands in order, on a terminal of so many columns.

    is_light  dark letters on white
    is_new    in a home that has nothing yet
    """

    commands: tuple[str, ...]
    columns: int
    is_light: bool = False
    is_new: bool = False


# In this order, in one home: later ones show what earlier ones left.
SCREENS = {
    "session": Screen(COMMANDS, 110),
    "first-run": Screen(("kb", "kb status"), 60, is_new=True),
    "help": Screen(("kb help",), 80, is_light=True),
    "search-60": Screen(("kb search mirror cleaning -n 3",), 60, is_light=True),
    "search-korean": Screen(("kb search 거울 청소 -n 3",), 80),
    "search-code": Screen(("kb search backoff delay --mode lexical -n 3",), 120),
    "search-filter": Screen(("kb search mirror --type markdwn", "kb list --lang ko"), 80, is_light=True),
    "ask-korean": Screen(
        ("kb ask '거울은 며칠마다 청소하나요?'", "kb ask '축구 대회는 누가 이겼나?'"), 80, is_light=True
    ),
    "answers": Screen(("kb answers list", "kb answers show 1"), 80),
    "eval": Screen((f"kb eval run {SUITE} --mode lexical",), 120),
    "eval-gate": Screen((f"kb eval run {SUITE} --mode lexical --gate 'mrr>=0.9' --quiet",), 80, is_light=True),
    "eval-init": Screen(("kb eval init -o mine.yaml -n 6", "head -24 mine.yaml"), 80),
}


def main() -> None:
    """Ingest, run the commands of each screen in a pseudo-terminal, and draw what came."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "fixtures").symlink_to(ROOT / "fixtures")
        (work / "kb").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kb "$@"\n')
        (work / "kb").chmod(0o755)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("KB_")},
            "KB_HOME": f"{folder}/home",
            "KB_LLM__PROVIDER": "extractive",
            "PYTHONPATH": str(ROOT),
            "PATH": f"{work}:{os.environ['PATH']}",
            "TERM": "xterm-256color",
        }
        IMAGES.mkdir(exist_ok=True)
        in_terminal("kb ingest fixtures/corpus --quiet", work, 80, environment)
        for name, screen in SCREENS.items():
            home = {"KB_HOME": f"{folder}/none"} if screen.is_new else {}
            draw(name, screen, work, {**environment, **home})


def draw(name: str, screen: Screen, work: Path, environment: Mapping[str, str]) -> None:
    """One picture."""
    console = Console(record=True, width=screen.columns, file=open(os.devnull, "w"))  # noqa: SIM115
    for command in screen.commands:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        shown = in_terminal(command, work, screen.columns, environment)
        shown = shown.replace(str(Path(environment["KB_HOME"]).parent), "~")
        console.print(Text.from_ansi(shown.replace("\r\n", "\n").rstrip("\n")))
        console.print()
    # rich's own template loads a font from a CDN; the reader's monospace font does as well.
    template = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    theme = DEFAULT_TERMINAL_THEME if screen.is_light else SVG_EXPORT_THEME
    console.save_svg(str(IMAGES / f"{name}.svg"), title="kb", code_format=template, unique_id=name, theme=theme)


def in_terminal(command: str, work: Path, columns: int, environment: Mapping[str, str]) -> str:
    """What a command prints on a terminal of so many columns, without what it wiped out again."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(work)
        words = shlex.split(command)
        os.execvpe(words[0], words, dict(environment))
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so when the last writer has gone
            break
        if not piece:
            break
        shown += piece
    os.waitpid(process, 0)
    os.close(terminal)
    return re.sub(r"[^\n]*\r(?:\x1b\[K)+", "", shown.decode("utf-8"))


if __name__ == "__main__":
    main()
