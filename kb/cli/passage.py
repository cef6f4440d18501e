"""A hit's text → lines for the terminal: prose wrapped at words, code in colours, tables as tables, matches marked.

Rich is imported for code and tables alone; most hits are prose.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from kb.cli.blocks import CUT, Block, Spans
from kb.cli.terminal import MATCH, harmless, has_colour, styled
from kb.cli.wrap import columns_of, wrap_spans

if TYPE_CHECKING:  # annotations alone: rich is 50 ms
    from rich.console import RenderableType
    from rich.text import Text

SpansOf = Callable[[str], Spans]

# Names for rich. No bright colours and no blue: one cannot be read on white, the other on black.
MATCH_STYLE = " ".join(MATCH)
CODE_STYLES = {
    ("Comment",): "dim",
    ("Keyword",): "magenta",
    ("Operator", "Word"): "magenta",
    ("Literal", "String"): "green",
    ("Literal", "Number"): "cyan",
    ("Name", "Function"): "bold",
    ("Name", "Class"): "bold",
}
# Rows of a table that do not fit are wrapped inside of their columns; wider than this they are not drawn.
LEAST_TABLE_COLUMNS = 40
UNLIMITED_COLUMNS = 10_000


def passage_lines(blocks: Sequence[Block], columns: int, spans_of: SpansOf) -> list[str]:
    """The lines of a passage, an empty one around code and tables.

    columns   the room for a line; 0 for a pipe, where nothing is wrapped
    spans_of  where the query's words stand in a text
    """
    out: list[str] = []
    before = ""
    for block in blocks:
        if out and {"code", "table"} & {before, block.kind}:
            out.append("")
        out += _LINES[block.kind](block, columns, spans_of)
        before = block.kind
    return out


def _prose(block: Block, columns: int, spans_of: SpansOf) -> list[str]:
    return marked_lines(block.lines[0], columns, spans_of)


def _item(block: Block, columns: int, spans_of: SpansOf) -> list[str]:
    mark = "•" if block.mark == "-" else block.mark
    indent = columns_of(mark) + 1
    lines = marked_lines(block.lines[0], max(columns - indent, 1) if columns else 0, spans_of)
    return [f"{mark} {line}" if at == 0 else " " * indent + line for at, line in enumerate(lines)]


def marked_lines(text: str, columns: int, spans_of: SpansOf) -> list[str]:
    """A text wrapped at words, with its matches marked; harmless."""
    spans = spans_of(text)
    return [_marked(text, start, end, spans) for start, end in wrap_spans(text, columns)]


def _marked(text: str, start: int, end: int, spans: Spans) -> str:
    """The stretch [start, end) of a text, with the matches inside it marked."""
    out, at = [], start
    for left, right in spans:
        left, right = max(left, start), min(right, end)
        if left < right:
            out += [harmless(text[at:left]), styled(harmless(text[left:right]), *MATCH)]
            at = right
    return "".join(out) + harmless(text[at:end])


def _code(block: Block, columns: int, spans_of: SpansOf) -> list[str]:
    bar = styled("│", "dim")
    lines = [line.expandtabs(4) for line in block.lines]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip() and line.strip() != CUT), default=0)
    lines = [line[indent:] if line.strip() != CUT else line[min(indent, len(line) - 1) :] for line in lines]
    room = columns - 2 if columns else 0
    if has_colour(sys.stdout):
        return [f"{bar} {line}".rstrip() for line in _coloured(lines, block.language, room, spans_of)]
    return [f"{bar} {harmless(_cut(line, room))}".rstrip() for line in lines]


def _cut(line: str, room: int) -> str:
    if not room or columns_of(line) <= room:
        return line
    while columns_of(line) > room - 1:
        line = line[:-1]
    return line.rstrip() + CUT


def _coloured(lines: Sequence[str], language: str, room: int, spans_of: SpansOf) -> list[str]:
    """Lines of code with rich's syntax highlighting, the matches marked over it; cut only after they were coloured."""
    from rich.style import Style
    from rich.syntax import ANSISyntaxTheme, Syntax

    theme = ANSISyntaxTheme({name: Style.parse(style) for name, style in CODE_STYLES.items()})
    code = "\n".join(harmless(line) for line in lines)
    text = Syntax(code, language.lower() or "text", theme=theme).highlight(code)
    for start, end in spans_of(code):
        text.stylize(MATCH_STYLE, start, end)
    rows = text.split("\n", allow_blank=True)[: len(lines)]
    for row in rows:
        row.rstrip()
        row.truncate(room or UNLIMITED_COLUMNS, overflow="ellipsis")
        row.no_wrap = True
    return [_drawn(row, columns=UNLIMITED_COLUMNS)[0].rstrip() for row in rows]


def _table(block: Block, columns: int, spans_of: SpansOf) -> list[str]:
    rows = [_cells(line) for line in block.lines]
    if columns < LEAST_TABLE_COLUMNS:
        return [_marked(line, 0, len(line), spans_of(line)) for line in block.lines]
    from rich.table import Table as Grid

    most = max(len(row) for row in rows)
    used = [at for at in range(most) if any(at < len(row) and row[at] for row in rows)]
    grid = Grid(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for _ in used:
        grid.add_column(overflow="fold")
    for number, row in enumerate(rows):
        style = "bold" if number == 0 and len(rows) > 1 and rows[1] != [CUT] else None
        grid.add_row(*(_cell(row[at] if at < len(row) else "", spans_of) for at in used), style=style)
    return [line.rstrip() for line in _drawn(grid, columns)]


def _cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; a bar behind a backslash belongs to its cell."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _cell(text: str, spans_of: SpansOf) -> Text:
    from rich.text import Text

    shown = Text(harmless(text))
    for start, end in spans_of(text):
        shown.stylize(MATCH_STYLE, start, end)
    return shown


def _drawn(what: RenderableType, columns: int) -> list[str]:
    from rich.console import Console

    out = StringIO()
    colour = has_colour(sys.stdout)
    console = Console(
        file=out,
        width=columns,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
        highlight=False,
    )
    console.print(what)
    return out.getvalue().rstrip("\n").split("\n")


_LINES: dict[str, Callable[[Block, int, SpansOf], list[str]]] = {
    "prose": _prose,
    "item": _item,
    "code": _code,
    "table": _table,
}
