"""Markdown → tables whose lines have no bars at their edges, as edits that put these there. Pure.

`Path|Alias` above `:--|:--` is a table to a page; to what reads a passage later, lines of prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.drafts import Edit

# The rule below the head: `:--|:--`, without a bar at its beginning.
_RULE = re.compile(r"^ {0,3}:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$", re.M)
_BAR = re.compile(r"(?<!\\)\|")


def table_edits(prose: str, start: int = 0) -> Iterator[Edit]:
    """A bar before and behind each line of such a table, in order.

    prose  a text with CODE for each character of code
    start  what stands before it is no Markdown
    """
    at = start
    for rule in _RULE.finditer(prose, start):
        head_end = rule.start() - 1
        head_start = prose.rfind("\n", 0, max(head_end, 0)) + 1
        columns = rule.group().strip().strip("|").count("|") + 1
        if head_end <= start or _cells(prose[head_start:head_end]) != columns:
            continue
        at = max(at, head_start)  # behind the table before, which may hold this rule
        while at < len(prose):
            end = prose.find("\n", at)
            end = len(prose) if end < 0 else end
            line = prose[at:end].rstrip()
            if not line.strip() or (at > rule.end() and not _BAR.search(line)):
                break
            if not line.lstrip().startswith("|"):
                yield Edit(at, at, "| ")
            if not line.endswith("|") or line.endswith("\\|"):
                yield Edit(at + len(line), at + len(line), " |")
            at = end + 1


def _cells(line: str) -> int:
    return len(_BAR.split(line.strip().strip("|")))
