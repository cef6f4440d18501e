"""reStructuredText → blocks over the file's own text, by its layout alone: no directive is run, no file is included.

A scan of our own, and not docutils: docutils runs directives while it parses, gives no end lines, and gives line
numbers that are off by one or more for lists, tables and titles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.drafts import Block, BlockKind, Parsed
from kb.ingest.decode import decode
from kb.ingest.readers.front_matter import primary_language, tags_of
from kb.ingest.readers.lines import Lines

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_DIRECTIVE = re.compile(r"\.\. (?:\|[^|]+\| )?([A-Za-z][\w:.+-]*?)\s?::(?:\s+(.*))?$")
_EXPLICIT = re.compile(r"(\.\.|__)(\s|$)")
_NOTE_TARGET = re.compile(r"\.\. \[[^\]]+\]\s")  # a footnote or a citation: part of the document's text
_BULLET = re.compile(r"([-*+•‣⁃]|(?:\(?(?:\d+|[A-Za-z]|[ivxlcdmIVXLCDM]+|#)[.)]))(\s+|$)")
_FIELD = re.compile(r":([A-Za-z][\w -]*):(?:\s+(.*))?$")
_GRID_EDGE = re.compile(r"\+([-=]+\+)+\s*$")
_SIMPLE_EDGE = re.compile(r"=+( +=+)+\s*$")
_ROLE = re.compile(r":[\w.:+-]+:`~?!?([^`<]*?)(?:\s*<[^`>]*>)?`")
_LINK = re.compile(r"`([^`<]+?)(?:\s*<[^`>]*>)?`_{0,2}")
_MARKUP = re.compile(r"``|\*\*|(?<!\w)\*|\*(?!\w)|(?<!\w)\||\|_{0,2}(?!\w)|`")
_CODE = frozenset(
    "code code-block sourcecode parsed-literal math literalinclude prompt console doctest testcode "
    "productionlist graphviz mermaid uml ipython jupyter-execute".split()
)
_TABLES = frozenset({"csv-table", "list-table", "table"})
# The content of these directives is not text: settings, markup of another format, other files.
_SILENT = frozenset(
    "raw include image toctree contents default-role role meta index highlight currentmodule module sectnum header "
    "footer testsetup autosummary".split()
)


def read_rst(raw: bytes, path: str) -> Parsed:
    """A reStructuredText file; its title is its first section's, its tags those of a `:tags:` or `:keywords:` field."""
    decoded = decode(raw)
    lines = Lines(decoded.text)
    blocks = tuple(_Scan(lines).blocks())
    title = next((block.title for block in blocks if block.kind == "heading" and block.level == 1), None)
    fields: dict[str, str] = {}
    for line in range(min(len(lines), 40)):
        if match := _FIELD.match(lines[line]):
            fields.setdefault(match.group(1).lower(), match.group(2) or "")
    tags = tags_of(fields.get("tags") or fields.get("keywords"))
    language = primary_language(fields.get("lang") or fields.get("language"))
    return Parsed(decoded.text, blocks, fields.get("title") or title, tags, language, True, decoded.note)


class _Scan:
    """One pass over the lines; a section's level is the order in which its kind of adornment was first met."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.styles: list[tuple[str, bool]] = []

    def blocks(self) -> Iterator[Block]:
        line = 0
        while line < len(self.lines):
            if self.lines.is_blank(line):
                line += 1
                continue
            found, line = self.step(line)
            yield from found

    def step(self, line: int) -> tuple[list[Block], int]:
        """The blocks that begin at a line with text, and the line after them."""
        text = self.lines[line]
        if section := self.section(line):
            return section
        if _GRID_EDGE.match(text.strip()) or _SIMPLE_EDGE.match(text.strip()):
            return self.table(line)
        if _EXPLICIT.match(text):
            return self.explicit(line)
        if text.lstrip().startswith(">>> "):
            stop = self.run_end(line)
            return self.one("code", line, stop), stop
        if _BULLET.match(text.lstrip()) and not self.is_sentence(line):
            stop = self.indented_end(line + 1, self.lines.indent(line))
            return self.one("list", line, stop), stop
        if self.lines.indent(line):
            stop = self.run_end(line)
            return self.one("quote", line, stop), stop
        return self.paragraph(line)

    def section(self, line: int) -> tuple[list[Block], int] | None:
        """A title with a line of punctuation below it, or below and above it."""
        text = self.lines[line]
        above = bool(_ADORNMENT.match(text))
        at = line + 1 if above else line
        if at + 1 >= len(self.lines) or self.lines.is_blank(at):
            return self.transition(line) if above else None
        title, below = self.lines[at].strip(), self.lines[at + 1]
        match = _ADORNMENT.match(below)
        # Docutils takes an underline shorter than its title from four characters on.
        fits = match and (len(below.rstrip()) >= len(title) or len(below.rstrip()) >= 4)
        if not fits or (above and below.strip()[0] != text[0]) or (not above and self.lines.indent(at)):
            return self.transition(line) if above else None
        style = (below[0], above)
        if style not in self.styles:
            self.styles.append(style)
        level = min(self.styles.index(style) + 1, 6)
        clean = plain_title(title)
        block = self.lines.block("heading", line, at + 2, level=level, title=clean) if clean else None
        return [block] if block else [], at + 2

    def transition(self, line: int) -> tuple[list[Block], int] | None:
        text = self.lines[line].rstrip()
        alone = line + 1 >= len(self.lines) or self.lines.is_blank(line + 1)
        return ([], line + 1) if len(text) >= 4 and alone else None

    def table(self, line: int) -> tuple[list[Block], int]:
        stop = self.run_end(line)
        if _SIMPLE_EDGE.match(self.lines[line].strip()):
            # Blank lines are allowed between the rows of a simple table; it ends with an edge before a blank line.
            at, edge = line + 1, self.lines[line].strip()
            while at < len(self.lines) and at < line + 5_000:
                ends = at + 1 >= len(self.lines) or self.lines.is_blank(at + 1)
                if self.lines[at].strip() == edge and ends:
                    stop = at + 1
                    break
                at += 1
        return self.one("table", line, stop), stop

    def explicit(self, line: int) -> tuple[list[Block], int]:
        """A directive, a comment or a target: it begins with two dots."""
        text, stop = self.lines[line].rstrip(), self.indented_end(line + 1, self.lines.indent(line))
        match = _DIRECTIVE.match(text)
        if not match:
            return (self.one("paragraph", line, stop), stop) if _NOTE_TARGET.match(text) else ([], stop)
        name = (
            match.group(1).rpartition(":")[2].lower() if match.group(1).startswith("code:") else match.group(1).lower()
        )
        if name in _SILENT:
            return [], stop
        if name in _CODE:
            return self.one("code", line, stop), stop
        if name in _TABLES:
            return self.one("table", line, stop), stop
        # Notes, figures, functions …: argument and content are prose, options (":width: 3") are not.
        body = line + 1
        while body < stop and (_FIELD.match(self.lines[body].strip()) and not self.lines.is_blank(body)):
            body += 1
        blocks = self.one("paragraph", line, line + 1) if match.group(2) and name not in ("figure",) else []
        while body < stop:
            if self.lines.is_blank(body):
                body += 1
                continue
            found, after = self.nested(body, stop)
            blocks += found
            body = after
        return blocks, stop

    def nested(self, line: int, stop: int) -> tuple[list[Block], int]:
        end = min(self.run_end(line), stop)
        literal = self.lines[end - 1].rstrip().endswith("::") and not self.lines[line].lstrip().startswith("..")
        blocks = self.one("paragraph", line, end)
        if not literal:
            return blocks, end
        after = min(self.indented_end(end, self.lines.indent(line)), stop)
        return blocks + self.one("code", end, after), max(after, end)

    def paragraph(self, line: int) -> tuple[list[Block], int]:
        """A paragraph, with the definition indented under it; after "::" the indented lines are a literal block."""
        stop = line + 1
        while stop < len(self.lines) and not self.lines.is_blank(stop) and not self.starts_section(stop):
            stop += 1
        blocks = self.one("paragraph", line, stop)
        if not self.lines[stop - 1].rstrip().endswith("::"):
            return blocks, stop
        if self.lines[line].strip() == "::":
            blocks = []
        after = self.indented_end(stop, self.lines.indent(line))
        return blocks + self.one("code", stop, after), max(after, stop)

    def starts_section(self, line: int) -> bool:
        return (
            line + 1 < len(self.lines) and not self.lines.indent(line) and _EXPLICIT.match(self.lines[line]) is not None
        )

    def is_sentence(self, line: int) -> bool:
        """True where "A. Einstein" only looks like a list item: the next line goes on at the margin."""
        following = line + 1
        if following >= len(self.lines) or self.lines.is_blank(following):
            return False
        margin = self.lines.indent(line)
        return self.lines.indent(following) <= margin and not _BULLET.match(self.lines[following].lstrip())

    def run_end(self, line: int) -> int:
        """The next blank line."""
        while line < len(self.lines) and not self.lines.is_blank(line):
            line += 1
        return line

    def indented_end(self, line: int, margin: int) -> int:
        """The line after those that are indented deeper than a margin; blank lines between them belong to them."""
        stop = line
        while line < len(self.lines):
            if not self.lines.is_blank(line):
                if self.lines.indent(line) <= margin:
                    break
                stop = line + 1
            line += 1
        return stop

    def one(self, kind: BlockKind, first: int, stop: int) -> list[Block]:
        block = self.lines.block(kind, first, stop) if stop > first else None
        return [block] if block else []


def plain_title(title: str) -> str:
    """A title without its inline markup: roles, links, emphasis, literals."""
    title = _LINK.sub(r"\1", _ROLE.sub(r"\1", title))
    return " ".join(_MARKUP.sub("", title).split())
