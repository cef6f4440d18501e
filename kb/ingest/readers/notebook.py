"""Jupyter notebooks (.ipynb) → their Markdown, code and short outputs; a block's section is "cell n"."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kb.drafts import Parsed
from kb.errors import ParseFailed
from kb.ingest.decode import decode
from kb.ingest.readers.compose import Composition
from kb.ingest.readers.markdown import markdown_blocks
from kb.ingest.readers.markdown_markup import without_markup

_LONGEST_OUTPUT_CHARS = 2_000  # a short output is context for its code; the log of a training run is not


def read_notebook(raw: bytes, path: str) -> Parsed:
    """A notebook; cells are numbered from 1 in the order of the file."""
    decoded = decode(raw)
    if not decoded.text.strip():
        return Parsed("", ())
    try:
        notebook = json.loads(decoded.text)
    except ValueError as error:
        raise _broken(path, f"it is not valid JSON ({error})") from error
    cells = _cells(notebook)
    if cells is None:
        raise _broken(path, "it has no cells")
    composition = Composition()
    shortened = 0
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, Mapping):
            shortened += _add_cell(composition, cell, f"cell {number}")
    notes = (decoded.note, f"{shortened} long outputs were left out" if shortened else None)
    return composition.parsed(
        title=_title(notebook) or composition.top_heading(), note="; ".join(filter(None, notes)) or None
    )


def _cells(notebook: object) -> list[Any] | None:
    """The cells of a notebook of format 4, or of the worksheets of format 3."""
    if not isinstance(notebook, Mapping):
        return None
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):
        cells = [
            cell for sheet in notebook["worksheets"] if isinstance(sheet, Mapping) for cell in sheet.get("cells", ())
        ]
    return cells if isinstance(cells, list) else None


def _add_cell(composition: Composition, cell: Mapping[str, Any], section: str) -> int:
    """Add one cell; returns how many of its outputs were too long."""
    source = _joined(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "markdown":
        source = without_markup(source)
        for block in markdown_blocks(source):
            text = block.title if block.kind == "heading" else source[block.start : block.end]
            composition.add(block.kind, text, level=block.level, section=section)
    elif kind == "heading":
        composition.add("heading", source, level=int(cell.get("level") or 1), section=section)
    elif kind == "code":
        composition.add("code", source, section=section)
    elif kind == "raw":
        composition.add("paragraph", source, section=section)
    outputs = [_output_text(output) for output in cell.get("outputs") or () if isinstance(output, Mapping)]
    for text in outputs:
        if len(text) <= _LONGEST_OUTPUT_CHARS:
            composition.add("code", text, section=section)
    return sum(len(text) > _LONGEST_OUTPUT_CHARS for text in outputs)


def _output_text(output: Mapping[str, Any]) -> str:
    """What a cell printed or returned, as plain text; empty for images, errors and widgets."""
    if "text" in output:
        return _joined(output["text"])
    found = output.get("data")
    return _joined(found.get("text/plain")) if isinstance(found, Mapping) else ""


def _joined(source: object) -> str:
    """A notebook's text, which is one string or a list of its lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _title(notebook: Mapping[str, Any]) -> str | None:
    about = notebook.get("metadata")
    title = about.get("title") if isinstance(about, Mapping) else None
    return title if isinstance(title, str) else None


def _broken(path: str, why: str) -> ParseFailed:
    return ParseFailed(f"cannot read {path}: {why}", fix="open and save it again in Jupyter", path=path)
