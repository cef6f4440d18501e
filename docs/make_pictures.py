"""Real commands on fixtures/corpus → docs/images/session.svg, the picture of a terminal in the README.

Run it from the checkout after a change of what the commands print: `python docs/make_pictures.py`. Each command runs in a
pseudo-terminal, so the picture shows the colours and the wrapping that a user sees.
"""

from __future__ import annotations

import os
import pty
import re
import struct
import sys
import tempfile
import termios
from fcntl import ioctl
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "session.svg"
COLUMNS = 110
COMMANDS = (
    'kb search "mirror cleaning" -k 2',
    'kb ask "How long does the mast battery last?"',
    'kb ask "Who won the football cup?"',
)


def main() -> None:
    """Ingest, run each command in a pseudo-terminal, and draw what came."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("KB_")},
            "KB_HOME": f"{folder}/home",
            "KB_LLM__PROVIDER": "extractive",
            "TERM": "xterm-256color",
        }
        in_terminal(["ingest", str(ROOT / "fixtures" / "corpus"), "--quiet"], environment)
        console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            words = re.findall(r'"([^"]+)"|(\S+)', command.removeprefix("kb "))
            shown = in_terminal([quoted or word for quoted, word in words], environment)
            console.print(Text.from_ansi(shown.replace("\r\n", "\n").rstrip("\n")))
            console.print()
    # rich's own template loads a font from a CDN; the reader's monospace font does as well.
    template = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    PICTURE.parent.mkdir(exist_ok=True)
    console.save_svg(str(PICTURE), title="kb", code_format=template, unique_id="kb")


def in_terminal(words: list[str], environment: dict[str, str]) -> str:
    """What `kb WORDS…` prints on a terminal of COLUMNS columns."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, [sys.executable, "-m", "kb", *words], environment)
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
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
    return shown.decode("utf-8")


if __name__ == "__main__":
    main()
