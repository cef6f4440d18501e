"""A plain text → its headings, its tables and its lists of two columns, which no markup tells; and edits that mark them as Markdown does. Pure.

A heading stands below a blank line, is short, ends in no full stop, and has text below it. It is in capitals, numbered as others are,
underlined, marked with a sign (■), or in brackets; one alone of its kind is none, and where much of a text looks like headings, nothing is.
Edits keep the line breaks, so that line n of what is left is line n of the file.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from kb.drafts import Edit
from kb.frozen import dataclass
from kb.ingest.readers.lines import Lines

# A longer line is no heading.
MOST_HEADING_CHARS = 80
# Of one kind there are so many, but for what is underlined.
LEAST_OF_A_KIND = 2
# Where a larger share of the lines looks like headings, they are something else.
MOST_HEADINGS = 0.4
LEAST_ROWS = 3

_RULE = re.compile(r"\s*([=\-~_*#])\1{2,}\s*$")
_DECORATED = re.compile(r"\s*([*=\-~_])\1+\s+\S.*\s\1{2,}\s*$")
_RULES = re.compile(r"\s*(?:-{2,}|={2,})(?:\s+(?:-{2,}|={2,}))*\s*$")
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})[.)]?\s+(?P<title>\S.*)$")
_ARTICLE = re.compile(
    r"(?:제\s?\d{1,3}(?:장|절|조)|(?:Chapter|Section|Article|Part|Appendix)\s+(?:\d{1,3}|[IVXLC]+|[A-Z])\b)", re.I
)
_SIGN = re.compile(r"(?:[■□◆◇●○▣▶▷◈★☆]\s*|#{1,3}\s+)(?P<title>\S.*)$")
_BRACKETS = re.compile(r"(?:\[[^\[\]]{2,40}\]|【[^【】]{2,40}】|<[^<>]{2,40}>)$")
# 24/036  ALLOTMENTS: a number that is kept on a list, and what it is of.
_CODED = re.compile(r"^\d[\d/.-]*\s+(?=\S)")
_COLUMNS = re.compile(r"\t+| {2,}")
_SENTENCE_ENDS = re.compile(r"(?:[.,;!?。…]|[가-힣](?:니다|세요|어요|아요|해요|했다|한다|이다|였다|된다)[.!]?)$")
_LIST_MARK = re.compile(r"\s*(?:[-*+•·※>|]|\d{1,3}[.)])\s")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading on lines first..stop-1, with the rule below it."""

    first: int
    stop: int
    level: int
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Lines first..stop-1, each with the same number of cells; rules between them have none."""

    first: int
    stop: int
    rows: tuple[tuple[int, tuple[str, ...]], ...]


def headings_of(lines: Lines) -> list[Heading]:
    """The headings of a plain text, in order.

    >>> [(h.level, h.title) for h in headings_of(Lines("WATER\\nCold only.\\nMax. 8 bar.\\n\\nPOWER\\n230 volts."))]
    [(1, 'WATER'), (2, 'POWER')]
    """
    found = [heading for line in range(len(lines)) if (heading := _heading(lines, line))]
    found = [*_in_sequence([h for h in found if h.kind == "numbered"]), *(h for h in found if h.kind != "numbered")]
    counts = Counter(heading.kind for heading in found)
    kept = sorted(
        (h for h in found if counts[h.kind] >= LEAST_OF_A_KIND or h.kind == "underlined"), key=lambda h: h.first
    )
    filled = sum(not lines.is_blank(line) for line in range(len(lines)))
    return kept if len(kept) <= MOST_HEADINGS * filled else []


def columns_of(lines: Lines, headings: Sequence[Heading]) -> list[Columns]:
    """The tables and lists of two columns that blanks keep apart, in order."""
    taken = {line for heading in headings for line in range(heading.first, heading.stop)}
    found: list[Columns] = []
    line = 0
    while line < len(lines):
        rows, stop = ([], line) if line in taken else _rows(lines, line, taken)
        if _is_table(lines, rows):
            found.append(Columns(line, rows[-1][0] + 1, tuple(rows)))
        line = max(stop, line + 1)  # no run of rows is read twice
    return found


def edits_of(lines: Lines, headings: Sequence[Heading], columns: Sequence[Columns]) -> tuple[Edit, ...]:
    """Headings with #, tables with bars between their cells, lists of two columns as "- name: value"."""
    edits: list[Edit] = []

    def replace(line: int, text: str) -> None:
        edits.append(Edit(lines.starts[line], lines.end_of(line), text))

    for heading in headings:
        replace(heading.first, f"{'#' * heading.level} {heading.title}")
        for line in range(heading.first + 1, heading.stop):
            replace(line, "")
    for table in columns:
        cells = dict(table.rows)
        rule = table.first + 1
        # The head in place of its rule: nothing stands between it and the rows.
        if rule not in cells and rule < table.stop:
            cells[rule] = cells.pop(table.first)
        for line in range(table.first, table.stop):
            replace(line, _row(cells[line]) if line in cells else "")
    return tuple(sorted(edits, key=lambda edit: edit.start))


def _row(cells: Sequence[str]) -> str:
    if len(cells) > 2:
        return " | ".join(cells)
    name, value = cells
    return f"- {name.rstrip(' :：')}: {value.lstrip(' :：')}"


def _heading(lines: Lines, line: int) -> Heading | None:
    """The heading that begins on a line, if one does; of numbered ones only their sequence tells."""
    if len(lines[line]) > 2 * MOST_HEADING_CHARS:
        return None
    title = (
        " ".join(lines[line].strip("*=-~_# \t").split())
        if _DECORATED.match(lines[line])
        else " ".join(lines[line].split())
    )
    is_free = line == 0 or lines.is_blank(line - 1) or _RULE.match(lines[line - 1])
    gaps = _COLUMNS.findall(_CODED.sub("", lines[line].strip()))
    is_row = len(gaps) > 1 or any(len(gap) > 2 for gap in gaps)  # one double blank may be a slip: "2. Money  (Pete)"
    if (
        not title
        or not is_free
        or is_row
        or len(title) > MOST_HEADING_CHARS
        or lines.indent(line) > 3
        or _RULE.match(title)
    ):
        return None
    if line + 1 < len(lines) and (rule := _RULE.match(lines[line + 1])) and _is_as_long(rule[0], title):
        marked = _SIGN.match(title)
        return Heading(line, line + 2, 1 if rule[1] in "=#" else 2, marked["title"] if marked else title, "underlined")
    if not _has_text_below(lines, line) or _SENTENCE_ENDS.search(title):
        return None
    if marked := _SIGN.match(title):
        return Heading(line, line + 1, 2, marked["title"], "signed")
    if _BRACKETS.match(title):
        return Heading(line, line + 1, 2, title[1:-1].strip(), "in brackets")
    if _ARTICLE.match(title):
        return Heading(line, line + 1, 2, title, "article")
    numbered = _NUMBERED.match(title)
    if numbered and re.search(r"[.!?] [A-Z가-힣]", numbered["title"]):
        return None  # the first line of an item, of two sentences
    if numbered:
        return Heading(line, line + 1, min(2 + numbered["number"].count("."), 4), title, "numbered")
    is_first = all(lines.is_blank(at) or _RULE.match(lines[at]) for at in range(line))
    return Heading(line, line + 1, 1 if is_first else 2, title, "capitals") if _is_in_capitals(title) else None


def _is_as_long(rule: str, title: str) -> bool:
    """True for a rule that underlines a title, and does not part the page."""
    width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in title)
    return 0.6 * width <= len(rule.strip()) <= 1.6 * width + 2


def _has_text_below(lines: Lines, line: int) -> bool:
    """True where something else than the next heading, or the end, stands below."""
    below = next((at for at in range(line + 1, len(lines)) if not lines.is_blank(at)), None)
    return below is not None and not _RULE.match(lines[below])


def _is_in_capitals(title: str) -> bool:
    letters = [c for c in re.sub(r"\([^()]*\)", "", title) if c.isalpha()]
    is_told = len(letters) >= 4 and re.search(r"[A-Z]{3}", title) is not None
    return is_told and all(c.isupper() for c in letters)


def _in_sequence(found: Sequence[Heading]) -> Iterator[Heading]:
    """Those numbered 1, 2, 3 … one after another: a list of steps has no text between its numbers, and no blank line."""
    expected = 1
    run: list[Heading] = []
    for heading in found:
        number = heading.title.split(".")[0].split()[0].rstrip(")")
        if "." in heading.title.split()[0].rstrip("."):  # 4.2, within 4
            run.append(heading)
        elif number.isdigit() and int(number) == expected:
            run.append(heading)
            expected += 1
    yield from run if expected > LEAST_OF_A_KIND else ()


def _rows(lines: Lines, first: int, taken: set[int]) -> tuple[list[tuple[int, tuple[str, ...]]], int]:
    """(the lines from one on that have as many cells as it, with their cells; the line behind them)"""
    rows: list[tuple[int, tuple[str, ...]]] = []
    line = first
    while line < len(lines) and line not in taken:
        if rows and _RULES.match(lines[line]):
            line += 1
            continue
        is_beside = bool(rows) and len(rows[0][1]) == 2 and lines.indent(line) == lines.indent(rows[0][0])
        cells = _cells(lines[line], _second_of(lines[rows[0][0]]) if is_beside else None)
        is_row = len(cells) > 1 and all(cells) and not _LIST_MARK.match(lines[line])
        if not is_row or (rows and len(cells) != len(rows[0][1])):
            break
        rows.append((line, cells))
        line += 1
    return rows, line


def _is_table(lines: Lines, rows: Sequence[tuple[int, tuple[str, ...]]]) -> bool:
    """True for rows enough whose cells are no sentences; of two columns the second one begins at one place."""
    if len(rows) < LEAST_ROWS:
        return False
    sentences = sum(any(cell.endswith((".", "!", "?")) for cell in cells[:-1]) for _, cells in rows)
    if sentences >= len(rows) / 3:  # prose with two blanks behind a full stop
        return False
    return len(rows[0][1]) > 2 or len({_second_of(lines[line]) for line, _ in rows}) <= 2  # one by a single blank


def _cells(line: str, second: int | None) -> tuple[str, ...]:
    """The cells of a line; where its second one should begin, one blank before it is enough."""
    cells = tuple(cell.strip() for cell in _COLUMNS.split(line.strip()))
    if len(cells) == 1 and second is not None and second < len(line) and line[:second].isascii():
        return (line[:second].strip(), line[second:].strip()) if line[second - 1] == " " != line[second] else cells
    return cells


def _second_of(line: str) -> int:
    """Where a line's second cell begins, in columns of a type of one width; -1 where it has none."""
    text = line.expandtabs(8).rstrip()
    gap = re.search(r"\S(\s{2,})\S", text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text[: gap.end(1)]) if gap else -1
