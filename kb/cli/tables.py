"""Rows of text, shares and sparklines → a table as text for the terminal, laid out by rich."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from io import StringIO

from kb.cli.terminal import harmless_line
from kb.frozen import dataclass

BAR_CELLS = 16
BLOCKS = " ▁▂▃▄▅▆▇█"
# No line of a table is longer: in a pipe nothing is cut.
UNLIMITED_CELLS = 10_000

# Text; or a text, or a share in [0, 1] that is drawn as a bar, with its style.
Cell = str | tuple[str | float, str]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns under their heads, without lines. A column without a head gives way first in a narrow terminal.

    red  numbers of the rows that are shown in red
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str | None = None
    red: Collection[int] = ()


def draw(tables: Iterable[Table], *, width: int = UNLIMITED_CELLS, colour: bool = False) -> str:
    """Tables as lines without blanks at their ends, an empty line between two tables. Text is made harmless here."""
    from rich.bar import Bar
    from rich.console import Console, RenderableType
    from rich.table import Table as Grid
    from rich.text import Text

    def shown(cell: Cell) -> RenderableType:
        value, style = (cell, "") if isinstance(cell, str) else cell
        if isinstance(value, str):
            return Text(harmless_line(value), style)
        return Bar(1.0, 0.0, value, width=BAR_CELLS, color=style)

    out = StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None, legacy_windows=False
    )
    for table in tables:
        grid = Grid(box=None, pad_edge=False, show_header=bool(table.heads), title_justify="left")
        grid.title = Text(table.title, "bold") if table.title else None
        for head in table.heads:
            grid.add_column(Text(harmless_line(head)), no_wrap=bool(head))
        for at, row in enumerate(table.rows):
            grid.add_row(*map(shown, row), style="red" if at in table.red else None)
        console.print(grid)
        console.print()
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def sparkline(values: Sequence[float], top: float | None = None) -> str:
    """Values as blocks of eight heights up to `top`, the highest value when None; only 0 is blank.

    >>> sparkline([0, 1, 4, 8]), sparkline([0.5], 1.0)
    (' ▁▄█', '▄')
    """
    most = max(values, default=0) if top is None else top
    return "".join(BLOCKS[min(max(math.ceil(8 * value / most), 1), 8)] if value else " " for value in values)
