"""A command on a terminal of its own, and what a person sees there: pyte emulates the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyte

PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Screen:
    """What stands on the terminal after the command: the lines without blanks at their ends, and each cell."""

    lines: list[str]
    cells: pyte.Screen
    raw: bytes

    def text(self) -> str:
        return "\n".join(self.lines)

    def styled(self, colour: str) -> list[str]:
        """The stretches that are shown in this colour, in reading order."""
        found: list[str] = []
        for row in range(self.cells.lines):
            before = False
            for column in range(self.cells.columns):
                cell = self.cells.buffer[row][column]
                if cell.fg == colour:
                    found = [*found[:-1], found[-1] + cell.data] if before else [*found, cell.data]
                before = cell.fg == colour
        return found


def show(
    *arguments: str | Path, home: Path, columns: int = 60, rows: int = 60, environment: Mapping[str, str] | None = None
) -> Screen:
    """Run `kb …` on a terminal of this size to its end."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    words = [sys.executable, "-m", "kb", *map(str, arguments), "--home", str(home)]
    own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "TERM_PROGRAM")}
    process = subprocess.Popen(
        words,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**own, "TERM": "xterm-256color", "PAGER": "cat", **(environment or {})},
        start_new_session=True,
    )
    os.close(slave)
    raw = b""
    while True:
        try:
            got = os.read(master, 65536)
        except OSError:  # EIO: the process has ended
            break
        if not got:
            break
        raw += got
    process.wait(PATIENCE_SECONDS)
    os.close(master)
    screen = pyte.Screen(columns, rows)
    pyte.ByteStream(screen).feed(raw)
    lines = [line.rstrip() for line in screen.display]
    while lines and not lines[-1]:
        lines.pop()
    return Screen(lines, screen, raw)
