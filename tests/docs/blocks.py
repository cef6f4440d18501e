"""A Markdown page → its fenced blocks, with what the tests need to know of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(r"^(?P<mark>```+)(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\s*$")
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")


@dataclass(frozen=True)
class Block:
    """One fenced block.

    line      1-based line of its opening fence
    title     file name that the page gives it, or None
    not_run   why a test cannot run it (the comment `<!-- not run: … -->` on the line above), or None
    """

    page: Path
    line: int
    language: str
    title: str | None
    not_run: str | None
    text: str


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Block] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if not opening:
            at += 1
            continue
        end = lines.index(opening["mark"], at + 1)
        reason = _NOT_RUN.search(lines[at - 1]) if at else None
        text = "\n".join(lines[at + 1 : end])
        found.append(Block(page, at + 1, opening["language"], opening["title"], reason[1] if reason else None, text))
        at = end + 1
    return found


def prose_of(page: Path) -> str:
    """The page without its fenced blocks."""
    kept: list[str] = []
    mark = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        opening = _FENCE.match(line)
        if not mark and opening:
            mark = opening["mark"]
        elif mark and line == mark:
            mark = ""
        elif not mark:
            kept.append(line)
    return "\n".join(kept)
