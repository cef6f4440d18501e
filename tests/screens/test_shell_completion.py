"""The completion scripts in the real shells, at a prompt, by the Tab key; a shell that is not installed is skipped."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyte
import pytest

from kb.cli.shell_scripts import completion_script
from tests.journey.conftest import corpus_home, corpus_master, own_environment

__all__ = ["corpus_home", "corpus_master", "own_environment"]

PATIENCE_SECONDS = 60
# What begins each shell without the user's own files, and how the script is loaded there.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "PS1='READY> '; source {script}"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "PROMPT='READY> '; autoload -Uz compinit; compinit -u -d {folder}/dump; source {script}",
    ),
    "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo -n 'READY> '; end; source {script}"),
}
# What is typed → what stands there after Tab.
TYPED = [
    ("kb sea", "kb search"),
    ("kb eval co", "kb eval compare"),
    ("kb search x --lang k", "kb search x --lang ko"),
    ("kb search --mod", "kb search --mode"),
    ("kb show guide/dep", r"kb show guide/deploying\ lampd.md"),
    ("kb ingest own-f", "kb ingest own-file.txt"),
    ("kb eval run own-s", "kb eval run own-suite.yaml"),
]


class Prompt:
    """A shell at a terminal: what is typed into it, and what then stands on the screen."""

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
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # fish leaves where it has no terminal of its own
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


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_in_the_real_shell(corpus_home: Path, tmp_path: Path, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    folder = tmp_path / "user"
    folder.mkdir()
    (folder / "own-file.txt").write_text("x")
    (folder / "own-suite.yaml").write_text("name: own\nqueries:\n  - {id: a, query: b, answerable: false}\n")
    script = tmp_path / f"kb.{shell}"
    script.write_text(completion_script(shell))
    words, load = SHELLS[shell]
    prompt = Prompt(words, folder, corpus_home)
    try:
        prompt.type(load.format(script=script, folder=tmp_path) + "\n")
        prompt.wait_for("\nREADY>")
        for typed, completed in TYPED:
            prompt.type(typed + "\t")
            prompt.wait_for(f"READY> {completed}")
            prompt.type("\x03")  # gives the line up; the next prompt is another one
            prompt.type("clear\n")
    finally:
        prompt.close()
