"""Text for a terminal or a pipe: made harmless, coloured only where colour is wanted; data and messages kept apart.

Data goes to stdout, messages to stderr. Rich is not needed for lines of text and is not imported here.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TextIO
from urllib.parse import quote

from kb.cli.wrap import terminal_columns, wrap_message
from kb.errors import InvalidInput, KbError
from kb.places import is_url
from kb.records import Citation
from kb.wire import error_json
from kb.wire import harmless as harmless

ColourChoice = Literal["auto", "always", "never"]
COLOUR_CHOICES: tuple[ColourChoice, ...] = ("auto", "always", "never")
CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
# What grep and ripgrep mark a match with: it can be read on a light background and on a dark one.
MATCH = ("bold", "red")
# Terminals that make a link of OSC 8, by the variable that they set: https://github.com/Alhadis/OSC8-Adoption
LINKING_VARIABLES = ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "DOMTERM", "ALACRITTY_WINDOW_ID")
LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby")
LEAST_VTE_VERSION = 5000

# Under the first word after "error: ".
ERROR_INDENT = 7
# What --color says, for the whole process: every line that is printed asks for it.
_choice: ColourChoice = "auto"
# Of a spinner that is turning on the line where a message would begin.
_clear_line: Callable[[], None] | None = None


def choose_colour(wanted: str | None) -> None:
    """Take what --color says; None is what the terminal and the environment say.

    raises  InvalidInput
    """
    global _choice
    known = next((choice for choice in COLOUR_CHOICES if choice == (wanted or "auto").lower()), None)
    if known is None:
        raise InvalidInput(f"--color is '{wanted}'", fix=f"use {', '.join(COLOUR_CHOICES)}")
    _choice = known


def harmless_line(text: str) -> str:
    """Harmless, and on one line: for paths, titles and other short text from documents."""
    return harmless(re.sub(r"[\n\t]+", " ", text))


def has_colour(stream: TextIO) -> bool:
    """Whether a stream gets colours: --color decides, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal.

    See https://no-color.org and https://force-color.org.
    """
    if _choice != "auto":
        return _choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_links(stream: TextIO) -> bool:
    """Whether a terminal makes links of OSC 8; FORCE_HYPERLINK (1 or 0) decides where it is set."""
    if forced := os.environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False
    vte = os.environ.get("VTE_VERSION", "")
    return (
        os.environ.get("TERM_PROGRAM") in LINKING_PROGRAMS
        or any(name in os.environ for name in LINKING_VARIABLES)
        or (vte.isdecimal() and int(vte) >= LEAST_VTE_VERSION)
    )


def linked(text: str, root: str | None, citation: Citation) -> str:
    """Text that opens the cited place when it is clicked, on a terminal that can do that.

    text  harmless already
    root  the folder of the citation's source; None where there is no file
    """
    if root is None or is_url(root) or not has_links(sys.stdout):
        return text
    place = f"#L{citation.start_line}" if citation.start_line else f"#page={citation.page}" if citation.page else ""
    import socket  # 10 ms that only a terminal with links needs

    target = f"file://{quote(socket.gethostname())}{quote(str(Path(root) / citation.path))}{place}"
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


def styled(text: str, *names: str, stream: TextIO | None = None) -> str:
    """Text in colours where the stream (stdout when None) shows them."""
    if not text or not has_colour(stream or sys.stdout):
        return text
    return f"\x1b[{';'.join(CODES[name] for name in names)}m{text}\x1b[0m"


def say(text: str = "") -> None:
    """One line of data."""
    print(text)


def say_message(text: str) -> None:
    """A sentence for a person on stdout, harmless already, broken between words on a terminal."""
    print(wrap_message(text, terminal_columns()))


def hold_line(clear: Callable[[], None] | None) -> None:
    """Say how to clear the line that is drawn over and over; None when there is none any more."""
    global _clear_line
    _clear_line = clear


def tell(text: str) -> None:
    """One line of message, on stderr."""
    if _clear_line:
        _clear_line()
    shown = wrap_message(harmless(text), terminal_columns(sys.stderr))
    for line in shown.split("\n"):
        print(styled(line, "dim", stream=sys.stderr), file=sys.stderr, flush=True)


def print_error(error: KbError, *, json: bool) -> None:
    """An error as it looks everywhere, on stderr: two lines, or one line of error.v1."""
    if json:
        print(error_json(error), file=sys.stderr, flush=True)
    else:
        columns = terminal_columns(sys.stderr)
        problem = wrap_message(f"error: {harmless(error.problem)}", columns, ERROR_INDENT).removeprefix("error:")
        fix = wrap_message(f"  fix: {harmless(error.fix)}", columns, ERROR_INDENT - 2)
        print(f"{styled('error:', 'bold', 'red', stream=sys.stderr)}{problem}\n{fix}", file=sys.stderr, flush=True)


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "chunk"), counted(2000, "chunk")
    ('1 chunk', '2,000 chunks')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown_path(root: str | None, path: str) -> str:
    """A stored path as this machine can open it from the current folder; the stored one when it has no root."""
    if root is None:
        return path
    if is_url(root):
        return f"{root}/{path}"
    absolute = Path(root) / path
    try:
        return str(absolute.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(absolute)
