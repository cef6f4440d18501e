"""Workbooks (.xlsx) → each sheet a heading and tables of its filled cells; values, not formulas."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from typing import Any

from kb.drafts import Parsed
from kb.ingest.readers.compose import Composition, one_line
from kb.ingest.readers.container import open_container
from kb.ingest.readers.front_matter import primary_language, tags_of

_MOST_CELLS = 2_000_000  # per workbook, empty cells within its rows included: about 100 MB of Python strings


def read_xlsx(raw: bytes, path: str) -> Parsed:
    """A workbook; empty rows part the tables of a sheet, and a table's section is its range of cells."""
    import warnings

    import openpyxl

    open_container(raw, path)
    composition = Composition()
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of styles and extensions that it drops
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        budget = _MOST_CELLS
        for sheet in book.worksheets:
            if budget <= 0:
                break
            composition.add("heading", sheet.title, level=1, section=sheet.title)
            budget = _add_sheet(composition, sheet, budget)
        about = book.properties
        book.close()
    if budget <= 0:
        notes.append(f"only the first {_MOST_CELLS:,} cells were read")
    return composition.parsed(
        title=one_line(about.title or "") or None,
        tags=tags_of(about.keywords),
        language=primary_language(about.language),
        note="; ".join(notes) or None,
    )


def _add_sheet(composition: Composition, sheet: Any, budget: int) -> int:
    """Add the tables of one sheet; returns how many more cells may be read."""
    from openpyxl.utils import get_column_letter

    for first_row, rows in _tables(sheet):
        filled = [[at for at, cell in enumerate(row) if cell] for row in rows]
        left, right = min(cells[0] for cells in filled if cells), max(cells[-1] for cells in filled if cells)
        area = f"{get_column_letter(left + 1)}{first_row}:{get_column_letter(right + 1)}{first_row + len(rows) - 1}"
        cut = [[*row, *[""] * (right + 1 - len(row))][left : right + 1] for row in rows]
        text = "\n".join(" | ".join(row).rstrip(" |") for row in cut)
        composition.add("table" if left != right else "paragraph", text, section=f"{sheet.title}!{area}")
        budget -= sum(map(len, rows))
        if budget <= 0:
            break
    return budget


def _tables(sheet: Any) -> Iterator[tuple[int, list[list[str]]]]:
    """Runs of rows that have text, each with the number of its first row."""
    rows: list[list[str]] = []
    # The file may declare wrong dimensions, or the whole sheet; stored rows are read instead.
    sheet.reset_dimensions()
    number = filled = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        row = [_shown(value) for value in cells]
        if any(row):
            rows.append(row)
            filled += len(row)
            if filled > _MOST_CELLS:
                break
        elif rows:
            yield number - len(rows), rows
            rows = []
    if rows:
        yield number - len(rows) + 1, rows


def _shown(value: object) -> str:
    """A cell as people see it: dates without a midnight, numbers without a trailing ".0"."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, float):
        return f"{value:.15g}"
    return one_line(value).replace("|", "¦") if isinstance(value, str) else str(value)
