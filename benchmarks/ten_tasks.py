"""Ten tasks of a newcomer: commands, keystrokes and screens of kb, each really run on a terminal, beside qmd and haiku.rag.

    python benchmarks/ten_tasks.py [--markdown]

A keystroke is a character or an Enter; what is typed again after a mistake counts again, nothing is completed or taken from a
history. A screen is 24 lines of 80 columns. The commands of qmd and haiku.rag are those of their public manuals (README.md of
tobi/qmd, docs/cli.md of ggozad/haiku.rag); they are counted and not run. None: they have no command for it.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.llm.recorded_server import RecordedServer, whole  # noqa: E402, it stands beside this folder

COLUMNS, ROWS = 80, 24
QUESTION = "how often must the mirror be cleaned"
FOLLOW_UP = "and Thistle's?"
MODEL = "qwen2.5:3b"
CI = "kb eval run suite.yaml --gate 'hit@10>=0.8' --drafts"


@dataclass(frozen=True)
class Task:
    """What is typed, an entry a line; a chat's lines stand behind the command that begins it.

    qmd, haiku  None where there is no command for it
    """

    name: str
    kb: tuple[str, ...]
    qmd: tuple[str, ...] | None
    haiku: tuple[str, ...] | None


FILE = "~/notes/guide/marigold-telescope.md"
TASKS = (
    Task("find the passage", ("kb search mirror cleaning",), ('qmd query "mirror cleaning"',), ('haiku-rag search "mirror cleaning"',)),
    # Neither opens files: the path is typed, with the line where it is shown, else it is searched for in the editor.
    Task("open it in the editor at its line", ("kb open 1",), (f"vi +28 {FILE}",), (f"vi {FILE}", "/every 14 days")),
    Task("ask", (f"kb ask {QUESTION}",), None, (f'haiku-rag ask "{QUESTION}"',)),
    Task("follow up", ("kb chat", QUESTION, FOLLOW_UP, "/quit"), None, ("haiku-rag chat", QUESTION, FOLLOW_UP, "/quit")),
    Task("see why", ("kb answers show last",), ('qmd query --explain "mirror cleaning"',), None),
    Task(
        "fix a wrong filter",
        ("kb search mirror --type markdwn", "kb search mirror --type markdown"),
        ('qmd query "mirror" -c note', "qmd collection list", 'qmd query "mirror" -c notes'),
        ("haiku-rag search mirror -f \"uri LIKE '%.mdx'\"", "haiku-rag list", "haiku-rag search mirror -f \"uri LIKE '%.md'\""),
    ),
    Task("read changed files again", ("kb ingest ~/notes",), ("qmd update", "qmd embed"), ("haiku-rag add-src ~/notes",)),
    Task(
        "answer with another model",
        (f"kb models use {MODEL}",),
        None,
        (f"ollama pull {MODEL}", "haiku-rag init-config haiku.rag.yaml", "vi haiku.rag.yaml", "/qa:", f"o  model: {MODEL}", ":wq"),
    ),
    Task("gate CI", ("kb eval init", CI.removesuffix(" --drafts")), None, None),
    Task(
        "back up",
        ("kb backup ~/kb.sqlite",),
        ("cp ~/.cache/qmd/index.sqlite ~/qmd.sqlite",),
        ("cp -r ~/.local/share/haiku.rag/haiku.rag.lancedb ~/",),
    ),
)  # fmt: skip


def keystrokes(lines: tuple[str, ...]) -> int:
    """Characters and an Enter for each line."""
    return sum(len(line) + 1 for line in lines)


class Terminal:
    """A shell with kb on its PATH, and how many lines it has shown."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        home = folder / "user"
        (home / "notes").parent.mkdir()
        (home / "notes").symlink_to(ROOT / "fixtures" / "corpus")
        program = folder / "kb"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kb "$@"\n')
        program.chmod(0o755)
        own = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
        own |= {"PATH": f"{folder}:{own['PATH']}", "HOME": str(home), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        own |= {"KB_HOME": f"{folder}/home", "EDITOR": "true", "PS1": "", "KB_LLM__PROVIDER": "extractive"}
        own |= {"KB_LLM__ENDPOINT": endpoint}
        own |= {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())}
        self._environment, self._folder = own, home

    def run(self, command: str, typed: tuple[str, ...] = ()) -> tuple[int, int]:
        """(exit code, lines shown) of a command; what is typed into it comes when its prompt stands there."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        process = subprocess.Popen(
            ["bash", "--norc", "-c", command],
            stdin=slave, stdout=slave, stderr=slave, env=self._environment, cwd=self._folder, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        screen = pyte.Screen(COLUMNS, 2000)
        stream = pyte.ByteStream(screen)
        waiting = list(typed)
        prompts = 0
        while True:
            ready, _, _ = select.select([master], [], [], 0.5)
            try:
                read = os.read(master, 65536) if ready else b""
            except OSError:
                break
            stream.feed(read)
            shown = [line.rstrip() for line in screen.display]
            now = sum(line.startswith("› ") or line == "›" for line in shown)
            if waiting and now > prompts and not ready:
                prompts = now
                os.write(master, (waiting.pop(0) + "\r").encode())
            if not ready and process.poll() is not None:
                break
        os.close(master)
        return process.wait(), sum(bool(line.rstrip()) for line in screen.display)


def run_kb(task: Task, terminal: Terminal) -> tuple[list[int], int]:
    """(exit codes, screens) of a task's commands; a chat's lines are typed into it."""
    if task.kb[0] == "kb chat":
        code, lines = terminal.run(task.kb[0], task.kb[1:])
        return [code], -(-lines // ROWS)
    codes, screens = [], 0
    for command in task.kb:
        wanted = CI if command.startswith("kb eval run") else command  # the drafts are judged by a person, not here
        if "--drafts" in wanted:
            wanted = wanted.replace(" --gate 'hit@10>=0.8'", "")
        code, lines = terminal.run(wanted)
        codes.append(code)
        screens += max(-(-lines // ROWS), 1)
    return codes, screens


def main() -> None:
    """Run the tasks in their order and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="a table for a page")
    is_markdown = parser.parse_args().markdown
    rows = []
    tags = whole({"models": [{"name": MODEL, "digest": "a" * 64, "size": 1_929_912_432, "details": {}}]})
    with tempfile.TemporaryDirectory() as folder, RecordedServer(routes={"/api/tags": tags}) as server:
        terminal = Terminal(Path(folder), server.url)
        terminal.run("kb ingest ~/notes --quiet")
        for task in TASKS:
            codes, screens = run_kb(task, terminal)
            peers = [f"{len(p)} / {keystrokes(p)}" if p else "–" for p in (task.qmd, task.haiku)]
            rows.append([task.name, f"{len(task.kb)} / {keystrokes(task.kb)}", str(screens), *peers])
            print(f"{task.name}: exit codes {codes}", file=sys.stderr)
    heads = [
        "task",
        "kb: lines / keystrokes",
        "kb: screens",
        "qmd: lines / keystrokes",
        "haiku.rag: lines / keystrokes",
    ]
    if is_markdown:
        for cells in (heads, ["---"] * len(heads), *rows):
            print(f"| {' | '.join(cells)} |")
    else:
        for cells in (heads, *rows):
            print("".join(f"{cell:<36}" for cell in cells).rstrip())


if __name__ == "__main__":
    main()
