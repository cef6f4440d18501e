"""A passage as it is stored → blocks of prose, code, tables and list items; the blocks that a query is about. Pure."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal

from kb.frozen import dataclass
from kb.text import HEADING_ANCHOR

Kind = Literal["prose", "item", "code", "table"]
Spans = Sequence[tuple[int, int]]

# Formats whose stored text is prose, in Markdown or without markup; the text of every other file is shown as code.
PROSE_SUFFIXES = frozenset(
    ".md .mdx .markdown .txt .rst .html .htm .xhtml .pdf .docx .pptx .xlsx .csv .tsv .epub .ipynb .adoc .org .log".split()
)
DELIMITERS = {".csv": ",", ".tsv": "\t"}
# What a hit shows: about six lines of prose at 80 columns, or so many of code or of a table.
MOST_CHARS = 420
MOST_ROWS = 8
CUT = "…"

_FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+#.-]*)")
_ITEM = re.compile(r"^\s*([-*+]|\d{1,3}[.)])\s+(.*)")
_HEADING = re.compile(rf"^#{{1,6}}\s+(.*?)\s*#*(?:{HEADING_ANCHOR})?\s*$")
_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """One stretch of a passage.

    lines     of code and of a table as they stand; prose and an item have one
    mark      of an item: "-" or "3."
    language  of code, as its fence or its file's name says; "" where neither does
    """

    kind: Kind
    lines: tuple[str, ...]
    mark: str = ""
    language: str = ""

    def text(self) -> str:
        """All of it, for counting matches."""
        return "\n".join(self.lines)


def is_code_file(path: str) -> bool:
    """Whether a file's stored text is program text.

    >>> is_code_file("src/main.rs"), is_code_file("README.md"), is_code_file("LICENSE")
    (True, False, False)
    """
    suffix = PurePosixPath(path).suffix.lower()
    return bool(suffix) and suffix not in PROSE_SUFFIXES


def blocks_of(text: str, path: str, headings: Collection[str] = ()) -> tuple[Block, ...]:
    """The blocks of a chunk's text, in order.

    headings  those that are shown above the passage: where the text begins with them, they are left out
    """
    if delimiter := DELIMITERS.get(PurePosixPath(path).suffix.lower()):
        rows = [
            [cell.replace("|", "\\|") for cell in row] for row in csv.reader(text.splitlines(), delimiter=delimiter)
        ]
        table = tuple(f"| {' | '.join(row)} |" for row in rows if row)
        return (Block("table", table),) if table else ()
    if is_code_file(path):
        suffix = PurePosixPath(path).suffix.lstrip(".")
        return (Block("code", tuple(text.rstrip().split("\n")), language=suffix),) if text.strip() else ()
    reading = _Reading(headings)
    lines = text.split("\n")
    fences = [line for line in lines if _FENCE.match(line)]
    if len(fences) % 2 and not _info(fences[0]):
        reading.fence = _FENCE_MARK  # the chunk begins inside of a fence
    for line in lines:
        reading.take(line)
    reading.flush()
    return tuple(reading.blocks)


_FENCE_MARK = "```"


def _info(line: str) -> str:
    found = _FENCE.match(line)
    return found[2] if found else ""


class _Reading:
    """Lines taken one by one; `flush` ends the block that is open."""

    def __init__(self, headings: Collection[str]) -> None:
        self.blocks: list[Block] = []
        self.fence = ""
        self._headings = {_bare(heading) for heading in headings}
        self._kind: Kind = "prose"
        self._open: list[str] = []
        self._mark = ""
        self._language = ""

    def take(self, line: str) -> None:
        """The next line of the text."""
        fence = _FENCE.match(line)
        if self.fence:
            if fence and fence[1].startswith(self.fence[:3]):
                self._kind = "code"
                self.flush()
                self.fence = ""
            else:
                self._kind = "code"
                self._open.append(line.rstrip())
        elif fence:
            self.flush()
            self.fence, self._language = fence[1], fence[2]
        elif line.lstrip().startswith("|") or (self._kind == "table" and "|" in line):
            self._begin("table")
            if not _RULE.match(line):
                self._open.append(line.strip())
        elif not line.strip():
            self.flush()
        elif heading := _HEADING.match(line):
            self.flush()
            if self.blocks or _bare(heading[1]) not in self._headings:
                self.blocks.append(Block("prose", (plain(heading[1]),)))
        elif item := _ITEM.match(line):
            self.flush()
            self._kind, self._mark = "item", item[1] if item[1][0].isdigit() else "-"
            self._open.append(item[2])
        else:
            if self._kind == "table":
                self.flush()
            self._open.append(re.sub(r"^\s*>+\s?", "", line).strip())

    def _begin(self, kind: Kind) -> None:
        if self._kind != kind:
            self.flush()
            self._kind = kind

    def flush(self) -> None:
        """End the block that is open."""
        if self._kind in ("code", "table"):
            lines = self._open
            while lines and not lines[0].strip():
                lines = lines[1:]
            if lines:
                self.blocks.append(Block(self._kind, tuple(lines), language=self._language))
        elif text := plain(" ".join(self._open)):
            self.blocks.append(Block(self._kind, (text,), mark=self._mark))
        self._kind, self._open, self._mark, self._language = "prose", [], "", ""


def plain(text: str) -> str:
    """Prose without the markup of links and emphasis, on one line; code keeps its backticks.

    >>> plain("See [the *book*](book.html) and `**kwargs`, **now**.")
    'See the book and `**kwargs`, now.'
    """
    parts = re.split(r"(`+[^`]+`+)", " ".join(text.split()))
    for at in range(0, len(parts), 2):
        part = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", parts[at])
        part = re.sub(r"\[([^\]]+)\]\[[^\]]*\]", r"\1", part)
        part = re.sub(r"\*\*(\S(?:.*?\S)?)\*\*", r"\1", part)
        part = re.sub(r"(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?![\w*])", r"\1", part)
        part = re.sub(r"(?<!\w)_([^\s_](?:[^_]*[^\s_])?)_(?!\w)", r"\1", part)
        parts[at] = re.sub(r"</?[a-zA-Z][^<>]{0,80}>", "", part)
    joined = "".join(parts)
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", joined).strip()  # a link whose text is code


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


def choose(blocks: Sequence[Block], spans_of: Callable[[str], Spans]) -> tuple[Block, ...]:
    """The stretch of a passage that says most about a query, short enough to be one of ten: neighbours of its best block.

    spans_of  where the query's words stand in a text
    """
    if not blocks:
        return ()
    cut = [_shorten(block, spans_of) for block in blocks]
    weights = [_weight(block, spans_of) for block in cut]
    best = weights.index(max(weights))
    first = last = best
    room = MOST_CHARS - _size(cut[best])
    # Down first: a passage is read on from where it begins to matter.
    while room > 0:
        if last + 1 < len(cut) and _size(cut[last + 1]) <= room:
            last += 1
            room -= _size(cut[last])
        elif first > 0 and _size(cut[first - 1]) <= room:
            first -= 1
            room -= _size(cut[first])
        else:
            break
    return tuple(cut[first : last + 1])


def _weight(block: Block, spans_of: Callable[[str], Spans]) -> int:
    """Distinct matched words: a table that repeats one says no more about it."""
    text = block.text()
    return len({text[start:end].casefold() for start, end in spans_of(text)})


def _size(block: Block) -> int:
    per_line = MOST_CHARS // MOST_ROWS
    return len(block.lines[0]) if block.kind in ("prose", "item") else per_line * len(block.lines)


def _shorten(block: Block, spans_of: Callable[[str], Spans]) -> Block:
    if block.kind in ("prose", "item"):
        text = block.lines[0]
        return block if len(text) <= MOST_CHARS else replace(block, lines=(_window(text, spans_of(text)),))
    head = block.lines[:1] if block.kind == "table" else ()
    rows = block.lines[len(head) :]
    most = MOST_ROWS - len(head)
    if block.kind == "table" and rows:  # long cells take several lines
        most = max(1, min(most, MOST_CHARS * len(rows) // sum(map(len, rows))))
    if len(rows) <= most:
        return block
    held = [len({row[start:end].casefold() for start, end in spans_of(row)}) for row in rows]
    sums = [sum(held[at : at + most]) for at in range(max(1, len(rows) - most + 1))]
    start = sums.index(max(sums))
    # A match stands with the lines before it, where there are some; a row of a table needs none.
    lead = 0 if block.kind == "table" else min(2, most - 1)
    if any(held):
        start = max(0, min(start, held.index(max(held[start : start + most]), start) - lead))
    shown = rows[start : start + most]
    while shown and not shown[-1].strip() and start + len(shown) < len(rows):
        shown = shown[:-1]
    mark = ("| " if block.kind == "table" else _indent(shown[0])) + CUT
    before = (mark,) if start else ()
    after = (mark,) if start + most < len(rows) else ()
    return replace(block, lines=(*head, *before, *shown, *after))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _window(text: str, spans: Spans) -> str:
    """The stretch of a long paragraph with the most matches, from the beginning of a sentence where one is near."""
    best, most = 0, -1
    for at, (left, _) in enumerate(spans):
        inside = {text[a:b].casefold() for a, b in spans[at:] if b <= left + MOST_CHARS - 60}
        if len(inside) > most:
            best, most = left, len(inside)
    start = 0
    if best > MOST_CHARS // 2:
        sentence = max(text.rfind(f"{sign} ", best - MOST_CHARS // 2, best) for sign in ".!?。")
        start = sentence + 2 if sentence > 0 else text.find(" ", best - 60) + 1
    end = len(text)
    if end - start > MOST_CHARS:
        space = text.rfind(" ", start, start + MOST_CHARS)
        end = space if space > start else start + MOST_CHARS
    return f"{f'{CUT} ' if start else ''}{text[start:end].strip()}{f' {CUT}' if end < len(text) else ''}"
