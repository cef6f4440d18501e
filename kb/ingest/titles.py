"""A document's title: its own, else its first heading, else a PDF's first line, else its file's name made readable. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from kb.drafts import Parsed

# A first line that is longer is a sentence and no title.
LONGEST_LINE_CHARS = 100
# Names that programs use: what they hold is called by the very name.
_NAMED_AS_IT_IS = frozenset({"code", "notebook"})

# What stands for a heading there is a function, or the first row of a table.
_WITHOUT_HEADINGS = frozenset({"code", "text", "xlsx"})


def title_of(parsed: Parsed, path: str, type: str) -> str:
    """On one line, never empty.

    >>> title_of(Parsed("", ()), "papers/retry-budgets_2024.txt", "text")
    'Retry budgets 2024'
    >>> title_of(Parsed("", ()), "src/lamp_queue.py", "code")
    'lamp_queue'
    """
    headings = (block.title for block in parsed.blocks if block.title)
    heading = next(headings, None) if type not in _WITHOUT_HEADINGS else None
    first_line = _first_line(parsed.text) if type == "pdf" else None
    return " ".join((parsed.title or heading or first_line or _readable_name(path, type)).split())


def _first_line(text: str) -> str | None:
    """The first line with a word in it, where it may be a title."""
    line = next((line.strip() for line in text.split("\n") if re.search(r"[^\W\d_]{2}", line)), "")
    return line if 0 < len(line) <= LONGEST_LINE_CHARS and not line.endswith((".", ",", ";", ":")) else None


def _readable_name(path: str, type: str) -> str:
    stem = PurePosixPath(path).stem or path
    if type in _NAMED_AS_IT_IS:
        return stem
    words = " ".join(re.sub(r"[-_+]+|%20", " ", stem).split())
    return words[:1].upper() + words[1:] if words else stem
