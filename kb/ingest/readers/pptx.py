"""Slides (.pptx) → a heading, the texts, tables and notes of each slide; the slide's number is its page."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from kb.drafts import Parsed
from kb.ingest.readers.compose import Composition, one_line
from kb.ingest.readers.container import open_container
from kb.ingest.readers.front_matter import primary_language, tags_of
from kb.ingest.readers.markup import table_text


def read_pptx(raw: bytes, path: str) -> Parsed:
    """A presentation; a slide without a title gets no heading. Charts give their titles and categories."""
    import pptx

    open_container(raw, path)
    presentation = pptx.Presentation(io.BytesIO(raw))
    composition = Composition()
    faults: list[int] = []
    for number, slide in enumerate(presentation.slides, start=1):
        if not _add_slide(composition, slide, number):
            faults.append(number)
    about = presentation.core_properties
    note = f"parts of slides {', '.join(map(str, faults))} could not be read" if faults else None
    # PowerPoint puts this title into every file it makes.
    title = one_line(about.title or "")
    return composition.parsed(
        title=title if title.lower() not in ("", "powerpoint presentation", "slide 1") else composition.top_heading(),
        tags=tags_of(about.keywords),
        language=primary_language(about.language),
        note=note,
    )


def _add_slide(composition: Composition, slide: Any, number: int) -> bool:
    """Add one slide; False when a part of it is missing from the file, or is a kind of chart that cannot be read."""
    is_whole = True
    heading = slide.shapes.title
    if heading is not None and heading.has_text_frame:
        composition.add("heading", heading.text_frame.text, level=2 if number > 1 else 1, page=number)
    for shape in _shapes(slide.shapes):
        if heading is not None and shape.shape_id == heading.shape_id:
            continue
        try:
            _add_shape(composition, shape, number)
        except (KeyError, ValueError, AttributeError):
            is_whole = False
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        composition.add("paragraph", slide.notes_slide.notes_text_frame.text, page=number)
    return is_whole


def _add_shape(composition: Composition, shape: Any, number: int) -> None:
    if shape.has_text_frame:
        _add_text(composition, shape.text_frame, number)
    elif getattr(shape, "has_table", False):
        rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
        composition.add("table", table_text(rows), page=number)
    elif getattr(shape, "has_chart", False):
        composition.add("table", _chart_text(shape.chart), page=number)


def _shapes(shapes: Any) -> Iterator[Any]:
    """All shapes from top to bottom as they lie on the slide, those in groups too."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _add_text(composition: Composition, frame: Any, number: int) -> None:
    """A text frame: its bullets as one list, or its paragraphs."""
    paragraphs = [(paragraph.level or 0, paragraph.text.strip()) for paragraph in frame.paragraphs]
    filled = [(level, text) for level, text in paragraphs if text]
    if len(filled) > 1:
        composition.add("list", "\n".join("  " * level + f"- {text}" for level, text in filled), page=number)
    elif filled:
        composition.add("paragraph", filled[0][1], page=number)


def _chart_text(chart: Any) -> str:
    """A chart as a table: its title, then one row per category with the value of each series."""
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    plot = next(iter(chart.plots), None)
    if plot is None:
        return one_line(title)
    series = list(plot.series)
    columns = [list(one.values) for one in series]
    rows = [["", *(one_line(one.name or "") for one in series)]]
    for at, category in enumerate(plot.categories):
        values = (column[at] if at < len(column) else None for column in columns)
        rows.append([str(category), *("" if value is None else f"{value:g}" for value in values)])
    return "\n".join(filter(None, (one_line(title), table_text(rows))))
