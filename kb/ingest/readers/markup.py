"""A tree of HTML elements → blocks: for web pages and the chapters of an EPUB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kb.drafts import BlockKind
from kb.ingest.readers.compose import Composition, one_line

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_SILENT = frozenset(
    "script style template noscript svg head iframe object embed audio video canvas map select button input textarea "
    "datalist nav dialog".split()
)
_CONTAINERS = frozenset(
    "html body div section article main header footer aside figure figcaption details summary form fieldset address p "
    "center hgroup search tbody thead tfoot tr td th caption dd dt li legend hr".split()
)
_TABLE_PARTS = ("h1", "h2", "h3", "pre", "ul", "ol", "table", "blockquote")
_SPACES = re.compile(r"[^\S\xa0]+|\xa0")


class BlockWalk:
    """Walks elements in document order and adds their blocks to a composition.

    page, section  given to every block
    """

    def __init__(self, composition: Composition, *, page: int | None = None, section: str | None = None) -> None:
        self._composition = composition
        self._page = page
        self._section = section
        self._inline: list[str] = []

    def add(self, element: Any) -> None:
        """Add the content of an element."""
        self._walk(element)
        self._flush()

    def _walk(self, element: Any) -> None:
        self._text(element.text)
        for child in element:
            tag = child.tag if isinstance(child.tag, str) else ""
            tag = tag.rpartition("}")[2].lower()
            if tag and tag not in _SILENT and not _is_hidden(child):
                self._element(child, tag)
            self._text(child.tail)

    def _element(self, element: Any, tag: str) -> None:
        if tag in _HEADINGS:
            self._block("heading", inline_text(element), _HEADINGS[tag])
        elif tag == "pre":
            self._block("code", "".join(_raw_text(element)))
        elif tag in ("ul", "ol", "menu"):
            for entry in _list_entries(element):
                self._block("list", entry)
        elif tag == "dl":
            self._definitions(element)
        elif tag == "table":
            self._table(element)
        elif tag == "blockquote":
            self._block("quote", inline_text(element))
        elif tag == "br":
            self._inline.append("\n")
        elif tag in _CONTAINERS:
            self._flush()
            self._walk(element)
            self._flush()
        else:
            self._walk(element)

    def _text(self, text: str | None) -> None:
        if text:
            self._inline.append(_SPACES.sub(" ", text))

    def _flush(self) -> None:
        text, self._inline = "".join(self._inline), []
        if text and not text.isspace():
            self._composition.add("paragraph", text, page=self._page, section=self._section)

    def _block(self, kind: BlockKind, text: str, level: int = 0) -> None:
        self._flush()
        self._composition.add(kind, text, level=level, page=self._page, section=self._section)

    def _definitions(self, element: Any) -> None:
        entry: list[str] = []
        for child in element.iter("dt", "dd"):
            if child.tag == "dt" and len(entry) > 1:
                self._block("list", ": ".join(entry))
                entry = []
            entry.append(one_line(inline_text(child)))
        self._block("list", ": ".join(entry))

    def _table(self, element: Any) -> None:
        """Rows as lines; a table that only lays a page out, with blocks in its cells or one column, is walked through."""
        rows = [_cells(row) for row in element.iter("tr")]
        if any(True for _ in element.iter(*_TABLE_PARTS) if _ is not element) or max(map(len, rows), default=0) < 2:
            self._flush()
            return self._walk(element)
        return self._block("table", table_text(rows))


def table_text(rows: list[list[str]]) -> str:
    """Rows of cells as lines of "a | b | c"; rows without any text are left out."""
    lines = (" | ".join(one_line(cell).replace("|", "¦") for cell in row) for row in rows if any(map(str.strip, row)))
    return "\n".join(line.rstrip(" |") if line.endswith("| ") else line for line in lines)


def inline_text(element: Any) -> str:
    """The text of an element; line breaks only where the page has one."""
    text = "".join(_inline_pieces(element))
    return re.sub(r" ?\n[ \n]*", "\n", text).strip()


def _inline_pieces(element: Any) -> Iterator[str]:
    yield _SPACES.sub(" ", element.text or "")
    for child in element:
        tag = child.tag.rpartition("}")[2].lower() if isinstance(child.tag, str) else "script"
        if tag == "br":
            yield "\n"
        elif tag not in _SILENT and not _is_hidden(child):
            breaks = "\n" if tag in _CONTAINERS or tag in _HEADINGS or tag in ("ul", "ol", "pre", "table") else ""
            yield breaks
            yield from _inline_pieces(child)
            yield breaks
        yield _SPACES.sub(" ", child.tail or "")


def _raw_text(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            yield "\n" if child.tag == "br" else ""
            yield from _raw_text(child)
        yield child.tail or ""


def _list_entries(element: Any) -> Iterator[str]:
    """One text per item of the outermost list, the items of inner lists indented below it."""
    ordered = element.tag == "ol"
    number = 0
    for child in element:
        if not isinstance(child.tag, str) or _is_hidden(child):
            continue
        if child.tag in ("ul", "ol"):
            yield from _list_entries(child)
            continue
        number += 1
        inner = [nested for nested in child.iter("ul", "ol") if nested is not child and _owner(nested) is child]
        lines = inline_text(_without(child, inner)).split("\n")
        mark = f"{number}. " if ordered else "- "
        own = mark + ("\n" + " " * len(mark)).join(lines)
        nested_lines = [line for nested in inner for entry in _list_entries(nested) for line in entry.split("\n")]
        if own.strip() != mark.strip() or nested_lines:
            yield "\n".join([own, *("  " + line for line in nested_lines)])


def _owner(element: Any) -> Any:
    """The list item that a nested list belongs to."""
    parent = element.getparent()
    while parent is not None and parent.tag not in ("li", "item"):
        parent = parent.getparent()
    return parent


def _without(element: Any, parts: list[Any]) -> Any:
    """A copy of an element without some of its descendants, their tails kept."""
    if not parts:
        return element
    import copy

    clone = copy.deepcopy(element)
    for nested in [found for found in clone.iter("ul", "ol") if found is not clone]:
        if nested.getparent() is not None:
            nested.clear(keep_tail=True)
    return clone


def _cells(row: Any) -> list[str]:
    return [one_line(inline_text(cell)) for cell in row if isinstance(cell.tag, str) and cell.tag in ("td", "th")]


def _is_hidden(element: Any) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = element.get("style")
    return style is not None and re.search(r"display\s*:\s*none|visibility\s*:\s*hidden", style, re.I) is not None
