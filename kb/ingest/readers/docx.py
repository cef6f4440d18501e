"""Word documents (.docx) → headings, paragraphs, lists, code and tables in their order. Headers and footers are left out."""

from __future__ import annotations

import io
import re
from typing import Any

from kb.drafts import BlockKind, Parsed
from kb.ingest.readers.compose import Composition, one_line
from kb.ingest.readers.container import open_container
from kb.ingest.readers.front_matter import primary_language, tags_of
from kb.ingest.readers.markup import table_text

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_HEADING = re.compile(r"(?i)(?:heading|überschrift|titre|título|titolo|kop|rubrik|标题|見出し|제목)\s*_?(\d)")
# "Head A", "B-head": what publishers call the levels below a chapter's title.
_PUBLISHERS_HEADING = re.compile(r"(?i)(?:head\s*([a-e])|([a-e])[- ]?head|(chapter\s*title))$")
_CODE = re.compile(r"(?i)(?:source\s?)?code|verbatim|(?:html )?preformatted|listing$")
_NO_CODE = re.compile(r"(?i)caption|label|title|number|reference")
_MONOSPACED = re.compile(r"(?i)courier|consolas|menlo|monaco|\bmono\b|monospace")
_QUOTE = re.compile(r"(?i)quote|zitat|citation|blockquote")
# Deleted text, instructions of fields, and the copy of a drawing that is kept for old programs.
_LEFT_OUT = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", f"{_MC}Fallback"})


def read_docx(raw: bytes, path: str) -> Parsed:
    """A Word document; its title is the one in its properties, or that of a paragraph in the style "Title"."""
    import docx

    open_container(raw, path)
    document = docx.Document(io.BytesIO(raw))
    walk = _Walk(document)
    walk.add(document.element.body)
    walk.flush()
    about = document.core_properties
    title = walk.title or one_line(about.title or "")
    tags = tags_of(about.keywords)
    return walk.composition.parsed(
        title=title or walk.composition.top_heading(), tags=tags, language=primary_language(about.language)
    )


class _Walk:
    """Adds the parts of a body in document order; paragraphs of code in a row are one block."""

    def __init__(self, document: Any) -> None:
        self.composition = Composition()
        self.title: str | None = None
        self._styles = {style.style_id: style for style in document.styles}
        self._default = document.styles.default(1)  # WD_STYLE_TYPE.PARAGRAPH
        self._code: list[str] = []

    def add(self, parent: Any) -> None:
        """Add the paragraphs and tables of a body, a content control or a text box."""
        for child in parent:
            if child.tag == f"{_W}p":
                self._paragraph(child)
            elif child.tag == f"{_W}tbl":
                self.flush()
                self._table(child)
            elif child.tag in (
                f"{_W}sdt",
                f"{_W}sdtContent",
                f"{_W}ins",
                f"{_W}moveTo",
                f"{_W}smartTag",
                f"{_W}customXml",
            ):
                self.add(child)

    def flush(self) -> None:
        """End a run of code."""
        if self._code:
            self.composition.add("code", "\n".join(self._code))
            self._code = []

    def _paragraph(self, element: Any) -> None:
        text = _text_of(element)
        names = self._style_names(element)
        level = self._level(element, names)
        if level is None and self._is_code(element, text, names):
            self._code.append(text)
            return
        self.flush()
        if "title" in (name.lower() for name in names) and self.title is None and text.strip():
            self.title = one_line(text)
            self.composition.add("heading", text, level=1)
        elif level is not None:
            self.composition.add("heading", text, level=level)
        else:
            self._body_text(element, text, names)
        for box in element.iter(f"{_W}txbxContent"):
            if not any(ancestor.tag == f"{_MC}Fallback" for ancestor in box.iterancestors()):
                self.add(box)

    def _body_text(self, element: Any, text: str, names: list[str]) -> None:
        kind: BlockKind = "paragraph"
        numbering = element.find(f"{_W}pPr/{_W}numPr")
        if numbering is not None or any(name.lower().startswith("list") for name in names):
            depth = numbering.find(f"{_W}ilvl") if numbering is not None else None
            indent = "  " * int(depth.get(f"{_W}val") or 0) if depth is not None else ""
            kind, text = "list", f"{indent}- {text.strip()}" if text.strip() else ""
        elif any(_QUOTE.search(name) for name in names):
            kind = "quote"
        self.composition.add(kind, text)

    def _style_names(self, element: Any) -> list[str]:
        """The paragraph's style, and those it is based on."""
        found = element.find(f"{_W}pPr/{_W}pStyle")
        style = self._styles.get(found.get(f"{_W}val")) if found is not None else self._default
        names: list[str] = []
        while style is not None and len(names) < 10:
            names.append(style.name or "")
            style = style.base_style
        return names

    def _level(self, element: Any, names: list[str]) -> int | None:
        """1 to 6 for a heading, by its own outline level or its style's name; None for other text."""
        outline = element.find(f"{_W}pPr/{_W}outlineLvl")
        if outline is not None and (outline.get(f"{_W}val") or "").isdigit():
            value = int(outline.get(f"{_W}val"))
            return min(value + 1, 6) if value < 9 else None
        for name in names:
            if match := _HEADING.match(name):
                return min(max(int(match.group(1)), 1), 6)
            if match := _PUBLISHERS_HEADING.match(name):
                letter = match.group(1) or match.group(2)
                return "abcde".index(letter.lower()) + 2 if letter else 1
        return None

    def _is_code(self, element: Any, text: str, names: list[str]) -> bool:
        """True by its style's name, or for a monospaced font throughout and characters that prose does not have."""
        if any(_CODE.match(name) and not _NO_CODE.search(name) for name in names):
            return True
        fonts = [run.find(f"{_W}rPr/{_W}rFonts") for run in element.iter(f"{_W}r") if run.find(f"{_W}t") is not None]
        if not fonts or not (re.search(r"[(){}\[\];=<>]", text) or text[:1].isspace() or self._code):
            return False
        return all(font is not None and _MONOSPACED.search(font.get(f"{_W}ascii") or "") for font in fonts)

    def _table(self, element: Any) -> None:
        rows = []
        for row in element.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl")) is element:
                rows.append([_cell_text(cell) for cell in row if cell.tag == f"{_W}tc"])
        if max(map(len, rows), default=0) < 2:
            # A frame around text, not a table.
            for cell in element.iterfind(f"{_W}tr/{_W}tc"):
                self.add(cell)
            return
        self.composition.add("table", table_text(rows))


def _cell_text(cell: Any) -> str:
    return one_line(" ".join(_text_of(paragraph) for paragraph in cell.iter(f"{_W}p")))


def _text_of(paragraph: Any) -> str:
    """The visible words of a paragraph: with inserted text and equations, without deleted text and text boxes."""
    pieces: list[str] = []
    waiting = list(reversed(paragraph))
    while waiting:
        element = waiting.pop()
        tag = element.tag
        if tag in _LEFT_OUT or tag == f"{_W}txbxContent" or tag == f"{_W}pPr":
            continue
        if tag in (f"{_W}t", f"{_M}t"):
            pieces.append(element.text or "")
        elif tag in (f"{_W}tab", f"{_W}ptab"):
            pieces.append("\t")
        elif tag in (f"{_W}br", f"{_W}cr"):
            pieces.append("\n")
        elif tag == f"{_W}noBreakHyphen":
            pieces.append("-")
        else:
            waiting.extend(reversed(element))
    return "".join(pieces)
