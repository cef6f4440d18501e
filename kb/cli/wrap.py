"""Streamed text, broken between words at the terminal's edge; unchanged in a pipe."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from typing import TextIO

# With this many columns to spare the beginning of a word is written at once: longer endings are rare.
SPARE_COLUMNS = 16
# Narrower terminals break lines themselves.
LEAST_COLUMNS = 20
# Longer lines are hard to read: the eye loses the beginning of the next.
MOST_READ_COLUMNS = 100


class WordWrap:
    """Holds back a word near the edge until it ends, and starts a new line where the word does not fit.

    columns  of the terminal; 0 passes everything through
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns if columns >= LEAST_COLUMNS else 0
        self._word = ""
        self._at = 0
        self._has_begun = False  # the beginning of the word is written already

    def feed(self, text: str) -> str:
        """What can be written by now."""
        if not self.columns:
            return text
        out = []
        for character in text:
            if character in " \n\t":
                out.append(self._end_word())
                out.append(self._space(character))
            else:
                self._word += character
        if self._word and self._at + columns_of(self._word) + SPARE_COLUMNS <= self.columns:
            out.append(self._end_word())
            self._has_begun = True
        return "".join(out)

    def finish(self) -> str:
        """The word that is held back."""
        return self._end_word()

    def _end_word(self) -> str:
        word, self._word = self._word, ""
        width = columns_of(word)
        broken = ""
        if self._at and not self._has_begun and self._at + width > self.columns:
            broken, self._at = "\n", 0
        self._at = (self._at + width) % self.columns if self._at + width > self.columns else self._at + width
        return broken + word

    def _space(self, character: str) -> str:
        self._has_begun = False
        if character == "\n":
            self._at = 0
            return character
        if self._at >= self.columns:
            self._at = 0
            return "\n"
        self._at += 1
        return " "


def columns_of(text: str) -> int:
    """How many columns a terminal takes for a text: Hangul, kana and Han take two, marks none.

    >>> columns_of("abc"), columns_of("거울")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrap_spans(text: str, columns: int) -> list[tuple[int, int]]:
    """[start, end) of each line of a text that is broken between words; a word that fits on no line is broken itself.

    columns  the room for a line; 0 leaves the text on one line

    >>> [("One two three"[a:b]) for a, b in wrap_spans("One two three", 8)]
    ['One two', 'three']
    """
    if not columns:
        return [(0, len(text))]
    lines: list[tuple[int, int]] = []
    start = end = used = 0
    for word in re.finditer(r"\S+", text):
        width = columns_of(text[word.start() : word.end()])
        gap = columns_of(text[end : word.start()]) if end > start else 0
        if end > start and used + gap + width > columns:
            lines.append((start, end))
            start, used, gap = word.start(), 0, 0
        elif end == start:
            start = word.start()
        used += gap + width
        end = word.end()
        while used > columns:
            at = start
            room = columns
            while at < end and columns_of(text[at]) <= room:
                room -= columns_of(text[at])
                at += 1
            at = max(at, start + 1)
            lines.append((start, at))
            start, used = at, columns_of(text[at:end])
    return [*lines, (start, end)]


# A command in a message: it stays on one line where it fits on one, so that it can be copied.
_COMMAND = re.compile(r"\bkb [^;,·()]*[^;,·()\s]")


def wrap_message(text: str, columns: int, indent: int = 2) -> str:
    """A message broken between words, commands kept whole; its further lines are indented.

    columns  the room for a line; 0 leaves the message as it is
    indent   of the lines that are added

    >>> print(wrap_message("nothing here yet; fill it with: kb ingest FOLDER", 40))
    nothing here yet; fill it with:
      kb ingest FOLDER
    """
    if columns < LEAST_COLUMNS:
        return text
    lines = []
    for line in text.split("\n"):
        whole = _COMMAND.sub(lambda command: command.group().replace(" ", "\0"), line)
        if any(columns_of(part) > columns - indent for part in whole.split()):
            whole = line
        own = len(line) - len(line.lstrip())
        spans = wrap_spans(whole, columns - indent - own)
        if columns_of(line) <= columns or not spans:
            lines.append(line)
            continue
        lines += [" " * (own + (indent if at else 0)) + line[start:end] for at, (start, end) in enumerate(spans)]
    return "\n".join(lines)


def reading_columns() -> int:
    """The room for lines that are read: the terminal's width, but no more than the eye follows; 0 for a pipe."""
    return min(terminal_columns(), MOST_READ_COLUMNS)


def terminal_columns(stream: TextIO | None = None) -> int:
    """The width of the terminal that a stream is, stdout when None; 0 for a pipe or a file."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else 0


def wrapped(text: str) -> str:
    """A whole text for stdout, broken between words on a terminal."""
    wrap = WordWrap(terminal_columns())
    return wrap.feed(text) + wrap.finish()
