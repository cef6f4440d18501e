"""A command on a terminal of its own, and what a person sees there: pyte emulates the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyte
import pytest

from tests.forked_kb import KB, take_terminal

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
    words = [*KB, *map(str, arguments), "--home", str(home)]
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


class Prompt:
    """A program at a terminal: what is typed into it, and what then stands on the screen."""

    def __init__(self, words: list[str], folder: Path, home: Path) -> None:
        self._screen = pyte.Screen(120, 40)
        self._stream = pyte.ByteStream(self._screen)
        self._terminal, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "HOME": str(folder), "KB_HOME": str(home), "HISTFILE": ""}
        environment["LC_ALL"] = "C.UTF-8"
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            cwd=folder,
            start_new_session=True,
            preexec_fn=take_terminal,  # fish leaves where it has no terminal of its own
        )
        os.close(slave)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait_for(self, text: str) -> None:
        """Read until the text stands on the screen; fail with the screen after a long while."""
        end = time.monotonic() + PATIENCE_SECONDS
        while text not in self.shown():
            ready, _, _ = select.select([self._terminal], [], [], max(end - time.monotonic(), 0))
            if not ready:
                pytest.fail(f"waited for {text!r}:\n{self.shown()}")
            read = os.read(self._terminal, 65536)
            if b"\x1b[c" in read:  # fish asks what terminal this is, and waits for it
                self.type("\x1b[?1;2c")
            self._stream.feed(read)

    def shown(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
