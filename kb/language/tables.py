"""A passage → the tables in it, each row spelled out with the names of its columns. Pure.

A row alone, `E-133,low,queue`, has lost what its cells mean. Spelled out, "code: E-133; severity: low; subsystem: queue.", it
reads as a sentence to a reader, an encoder and a person.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from kb.frozen import dataclass

_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r"^\s*(?:>\s?)*(```+|~~~+)")
_PIPED = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
# As workbooks are read: cells parted by a bar between spaces. Then as files hold them.
_BAR = " | "
_DELIMITERS = "\t,;"
_QUOTED = re.compile(r'"[^"]*"')
# Fewer lines of fewer cells are no table, unless a heading names as many columns as they have.
LEAST_LINES, LEAST_CELLS = 3, 3


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    start, end  [start, end) in the passage
    cells       (name of the column, cell); the name is "" where it is unknown; empty cells are left out
    """

    start: int
    end: int
    cells: tuple[tuple[str, str], ...]

    def spelled(self) -> str:
        """The row as one line: "code: E-133; severity: low."."""
        return "; ".join(f"{name}: {cell}" if name else cell for name, cell in self.cells).rstrip(" .;") + "."


@dataclass(frozen=True, slots=True)
class Table:
    """A run of lines of a passage: the head, where it stands there, and the rows.

    start, end  [start, end) in the passage
    rows        without the head and the rule below it
    is_piped    written as Markdown writes tables, between bars
    is_file     its columns are named by the heading, as those of a CSV file are
    """

    start: int
    end: int
    rows: tuple[Row, ...]
    is_piped: bool
    is_file: bool


def find_tables(text: str, heading: str = "") -> list[Table]:
    """The tables in a passage, in order.

    heading  the last one above the passage: of a CSV file the names of its columns

    >>> [table] = find_tables("E-133,low,queue\\nE-152,low,api", "code, severity, subsystem")
    >>> [row.spelled() for row in table.rows]
    ['code: E-133; severity: low; subsystem: queue.', 'code: E-152; severity: low; subsystem: api.']
    """
    lines = [(match.start(), match.end(), match.group()) for match in _LINE.finditer(text)]
    tables: list[Table] = []
    fence = ""
    at = 0
    while at < len(lines):
        mark = _FENCE.match(lines[at][2])
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        stop, cells = (at, []) if fence or mark else _run(lines, at, heading)
        if rows := _named(lines[at:stop], cells, heading) if cells else []:
            is_piped = _PIPED.match(lines[at][2]) is not None
            is_file = not is_piped and len(_split(heading, ",")) == len(cells[0])
            tables.append(Table(lines[at][0], lines[stop - 1][1], tuple(rows), is_piped, is_file))
        at = max(stop, at + 1)
    return tables


def spell_out(text: str, tables: Sequence[Table]) -> str:
    """A passage with the rows of its tables spelled out, and their heads left out."""
    parts: list[str] = []
    end = 0
    for table in tables:
        parts += [text[end : table.start], "\n".join(row.spelled() for row in table.rows)]
        end = table.end
    return "".join([*parts, text[end:]])


def without_other_rows(text: str, tables: Sequence[Table], start: int, end: int) -> str:
    """A passage without those rows of the tables quoted from that the quote leaves out: they tell of other things.

    start, end  [start, end) of the quote in the passage

    >>> text = "E-1,low\\nE-2,high"
    >>> without_other_rows(text, find_tables(text, "code, severity"), 8, 16)
    '\\nE-2,high'
    """
    for table in reversed(tables):
        if table.start < end and start < table.end:
            for row in reversed(table.rows):
                if not (start <= row.start and row.end <= end):
                    text = text[: row.start] + text[row.end :]
    return text


def _run(lines: Sequence[tuple[int, int, str]], at: int, heading: str) -> tuple[int, list[list[str]]]:
    """(behind the last line of the table that begins here, the cells of its lines); no cells where none begins."""
    if _PIPED.match(lines[at][2]):
        stop = at
        while stop < len(lines) and _PIPED.match(lines[stop][2]):
            stop += 1
        return stop, [_piped(line) for _, _, line in lines[at:stop]]
    columns = len(_split(heading, ","))
    for delimiter in (_BAR, *_DELIMITERS) if at == 0 else (_BAR,):  # a file is a table from its first line on
        stop = at
        found: list[list[str]] = []
        while stop < len(lines) and not _PIPED.match(lines[stop][2]) and (cells := _split(lines[stop][2], delimiter)):
            found.append(cells)
            stop += 1
        width = max(map(len, found), default=0)
        if delimiter != _BAR and (stop < len(lines) or not _is_file(found, [line for *_, line in lines], delimiter)):
            continue
        if width == columns > 1 or (len(found) >= LEAST_LINES and width >= LEAST_CELLS):
            return stop, found
    return at + 1, []


def _is_file(cells: Sequence[Sequence[str]], lines: Sequence[str], delimiter: str) -> bool:
    """True where all lines have as many cells, and no blank stands behind what parts them, as it does behind a clause's comma."""
    parts_clauses = delimiter != "\t" and any(f"{delimiter} " in _QUOTED.sub("", line) for line in lines)
    return len({len(row) for row in cells}) == 1 and not parts_clauses


def _named(lines: Sequence[tuple[int, int, str]], cells: Sequence[Sequence[str]], heading: str) -> list[Row]:
    """The rows of one table: those below its head, under the head's names."""
    names = _split(heading, ",")
    if len(cells) > 1 and _RULE.match(lines[1][2]):
        names, first = list(cells[0]), 2
    elif len(names) == len(cells[0]):
        first = 1 if list(cells[0]) == names else 0
    elif _is_head(cells[0], cells[1:]) and not _PIPED.match(lines[0][2]):
        names, first = list(cells[0]), 1
    else:
        names, first = [], 0
    found = []
    for (start, end, line), row in zip(lines[first:], cells[first:], strict=True):
        kept = [(names[i] if i < len(names) else "", cell) for i, cell in enumerate(row) if cell]
        if kept and not _RULE.match(line):
            found.append(Row(start, end, tuple(kept)))
    return found


def _is_head(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """True for a line without a number above lines that all have one: a table may begin in another passage."""
    return len(set(first)) == len(first) and not _has_digit(first) and bool(others) and all(map(_has_digit, others))


def _has_digit(cells: Sequence[str]) -> bool:
    return any(c.isdigit() for cell in cells for c in cell)


def _piped(line: str) -> list[str]:
    return [" ".join(cell.replace("\\|", "|").split()) for cell in _CELL_EDGE.split(line.strip())[1:-1]]


def _split(line: str, delimiter: str) -> list[str]:
    """The cells of a line; empty for one that has no such delimiter."""
    if delimiter not in line:
        return []
    if delimiter == _BAR:
        return [" ".join(cell.split()) for cell in line.split(_BAR)]
    try:
        return [
            " ".join(cell.split()) for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        ]
    except csv.Error:
        return []
