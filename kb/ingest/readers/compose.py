"""Pieces of extracted text, in order → one text with blocks. For the formats whose own text has no lines to cite."""

from __future__ import annotations

import re

from kb.drafts import Block, BlockKind, Parsed
from kb.ingest.decode import without_unstorable

_BLANKS = re.compile(r"[^\S\n]+")
_CONTROLS = re.compile(r"[\x01-\x08\x0e-\x1b\x7f\u200b\ufeff\u00ad]")
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def one_line(text: str) -> str:
    """The text with every run of white space as one blank: a title, a table cell."""
    return " ".join(_CONTROLS.sub("", without_unstorable(text)).split())


def tidy(text: str, *, keep_indent: bool = False) -> str:
    """The text as it is stored: newlines as "\\n", no controls or soft hyphens, no blanks at line ends or doubled."""
    text = _CONTROLS.sub("", _NEWLINES.sub("\n", without_unstorable(text)))
    if keep_indent:
        return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")).rstrip()
    return "\n".join(line.strip() for line in _BLANKS.sub(" ", text).strip().split("\n"))


class Composition:
    """A text that grows block by block, with a blank line between them."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0

    def add(
        self, kind: BlockKind, text: str, *, level: int = 0, page: int | None = None, section: str | None = None
    ) -> None:
        """Append one block; white space alone is left out. A heading is put on one line, and is its own title."""
        text = one_line(text) if kind == "heading" else tidy(text, keep_indent=kind in ("code", "list"))
        if not text or text.isspace():
            return
        title = text if kind == "heading" else ""
        level = min(max(level, 1), 6) if kind == "heading" else 0
        start = self._length
        self._blocks.append(Block(kind, start, start + len(text), level, title, page, section))
        self._pieces.append(text)
        self._length += len(text) + 2

    def __len__(self) -> int:
        """Characters so far."""
        return max(self._length - 2, 0)

    def top_heading(self) -> str | None:
        """The first heading of the highest level: what a document without a title of its own is called."""
        headings = (block for block in self._blocks if block.kind == "heading")
        top = min(headings, key=lambda block: block.level, default=None)
        return top.title if top else None

    def parsed(
        self,
        *,
        title: str | None = None,
        tags: tuple[str, ...] = (),
        language: str | None = None,
        note: str | None = None,
    ) -> Parsed:
        """The whole."""
        text = "\n\n".join(self._pieces)
        return Parsed(text, tuple(self._blocks), one_line(title or "") or None, tags, language, False, note)
