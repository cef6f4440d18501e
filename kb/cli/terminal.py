"""Text for a terminal or a pipe: made harmless, coloured only where colour is wanted; data and messages kept apart.

Data goes to stdout, messages to stderr. Rich is not needed for lines of text and is not imported here.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TextIO

from kb.errors import KbError
from kb.wire import error_json
from kb.wire import harmless as harmless

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


def harmless_line(text: str) -> str:
    """Harmless, and on one line: for paths, titles and other short text from documents."""
    return harmless(re.sub(r"[\n\t]+", " ", text))


def has_colour(stream: TextIO) -> bool:
    """True for a terminal on which colour is not switched off (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, *names: str, stream: TextIO | None = None) -> str:
    """Text in colours where the stream (stdout when None) shows them."""
    if not text or not has_colour(stream or sys.stdout):
        return text
    return f"\x1b[{';'.join(CODES[name] for name in names)}m{text}\x1b[0m"


def highlighted(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """Text, made harmless, with stretches in bold where stdout shows it.

    spans  [start, end) offsets into the text as given
    """
    out, at = [], 0
    for start, end in spans:
        out += [harmless(text[at:start]), styled(harmless(text[start:end]), "bold", "yellow")]
        at = end
    return "".join(out) + harmless(text[at:])


def say(text: str = "") -> None:
    """One line of data."""
    print(text)


def tell(text: str) -> None:
    """One line of message, on stderr."""
    print(styled(harmless(text), "dim", stream=sys.stderr), file=sys.stderr, flush=True)


def print_error(error: KbError, *, json: bool) -> None:
    """An error as it looks everywhere, on stderr: two lines, or one line of error.v1."""
    if json:
        print(error_json(error), file=sys.stderr, flush=True)
    else:
        label = styled("error:", "bold", "red", stream=sys.stderr)
        print(f"{label} {harmless(error.problem)}\n  fix: {harmless(error.fix)}", file=sys.stderr, flush=True)


def shown_path(root: str | None, path: str) -> str:
    """A stored path as this machine can open it from the current folder; the stored one when it has no root."""
    if root is None:
        return path
    absolute = Path(root) / path
    try:
        return str(absolute.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(absolute)
