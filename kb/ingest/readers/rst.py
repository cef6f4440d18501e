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
from kb.ingest.readers.rst_markup import FIELD, TOLD_OPTIONS, Markup

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_DIRECTIVE = re.compile(r"\.\. (?:\|[^|]+\| )?([A-Za-z][\w:.+-]*?)\s?::(?:\s+(.*))?$")
_EXPLICIT = re.compile(r"(\.\.|__)(\s|$)")
_NOTE_TARGET = re.compile(r"\.\. \[[^\]]+\]\s")  # a footnote or a citation: part of the document's text
_BULLET = re.compile(r"([-*+•‣⁃]|(?:\(?(?:\d+|[A-Za-z]|[ivxlcdmIVXLCDM]+|#)[.)]))(\s+|$)")
_GRID_EDGE = re.compile(r"\+([-=]+\+)+\s*$")
_SIMPLE_EDGE = re.compile(r"=+( +=+)+\s*$")
_ROLE = re.compile(r":[\w.:+-]+:`~?!?([^`<]*?)(?:\s*<[^`>]*>)?`")
_LINK = re.compile(r"`([^`<]+?)(?:\s*<[^`>]*>)?`_{0,2}")
_MARKUP = re.compile(r"``|\*\*|(?<!\w)\*|\*(?!\w)|(?<!\w)\||\|_{0,2}(?!\w)|`")
_CODE = frozenset(
    "code code-block sourcecode parsed-literal math prompt console doctest testcode "
    "productionlist graphviz mermaid uml ipython jupyter-execute".split()
)
# Fields at the top of a page that tell a builder what to do with it.
_PAGE_FIELDS = frozenset("orphan nocomments tocdepth nosearch".split())
# They describe a thing of code, or a setting, which their argument names.
_DOMAINS = frozenset("py c cpp js rb go php http std".split())
_OBJECTS = frozenset(
    "function class method attribute data exception classmethod staticmethod property decorator option envvar confval setting "
    "describe object program cmdoption django-admin templatetag templatefilter fieldlookup".split()
)
_TABLES = frozenset({"csv-table", "list-table", "table"})
# The content of these directives is not text: settings, markup of another format, other files.
_SILENT = frozenset(
    "raw include image toctree contents default-role role meta index highlight currentmodule module sectnum header "
    "footer testsetup autosummary literalinclude".split()
)


def read_rst(raw: bytes, path: str) -> Parsed:
    """A reStructuredText file; its title is its first section's, its tags those of a `:tags:` or `:keywords:` field."""
    decoded = decode(raw)
    lines = Lines(decoded.text)
    scan = _Scan(lines)
    blocks = tuple(scan.blocks())
    title = next((block.title for block in blocks if block.kind == "heading" and block.level == 1), None)
    fields: dict[str, str] = {}
    for line in range(min(len(lines), 40)):
        if match := FIELD.match(lines[line]):
            fields.setdefault(match.group(1).lower(), match.group(2) or "")
    tags = tags_of(fields.get("tags") or fields.get("keywords"))
    language = primary_language(fields.get("lang") or fields.get("language"))
    title = fields.get("title") or title
    return Parsed(decoded.text, blocks, title, tags, language, True, decoded.note, edits=scan.markup.edits())


class _Scan:
    """One pass over the lines; a section's level is the order in which its kind of adornment was first met."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.markup = Markup(lines)
        self.styles: list[tuple[str, bool]] = []
        self.level = 0  # of the section, and of the thing that is described, at a line

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
            return self.code(max(line - 1, 0), line, stop), stop
        if _BULLET.match(text.lstrip()) and not self.is_sentence(line):
            stop = self.indented_end(line + 1, self.lines.indent(line))
            self.list_item(line, stop)
            return self.one("list", line, stop), stop
        if self.lines.indent(line):
            stop = self.run_end(line)
            self.markup.prose(line, stop)
            return self.one("quote", line, stop), stop
        return self.paragraph(line)

    def code(self, line: int, first: int, stop: int, language: str = "") -> list[Block]:
        """Code on lines first..stop-1 as a block, in a fence where there is room for one; introduced on the lines from `line` on."""
        self.markup.code(line, first, stop, language)
        return self.one("code", first, stop)

    def list_item(self, line: int, stop: int) -> None:
        """The markup of a list item; code in it keeps its indentation."""
        begin = line
        while line < stop:
            text = self.lines[line].strip()
            match = _DIRECTIVE.match(text)
            after = min(self.indented_end(line + 1, self.lines.indent(line)), stop)
            if match and _name_of(match) in _CODE:
                self.markup.prose(begin, line)
                self.markup.code(
                    line, self.content(line + 1, after), after, (match.group(2) or "").strip(), in_list=True
                )
                begin = line = max(after, line + 1)
            elif text.endswith("::") and not match and after > line + 1 and self.lines.is_blank(line + 1):
                self.markup.prose(begin, line + 1)
                self.markup.ends_in_colon(line)
                self.markup.code(line + 1, self.content(line + 1, after), after, in_list=True)
                begin = line = max(after, line + 1)
            else:
                line += 1
        self.markup.prose(begin, stop)

    def content(self, line: int, stop: int) -> int:
        """The first line of what a directive holds, behind its options."""
        while line < stop and (self.lines.is_blank(line) or FIELD.match(self.lines[line].strip())):
            line += 1
        return line

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
        if clean:
            self.level = level
            self.markup.heading(line, at + 2, at, level, clean)
        block = self.lines.block("heading", at, at + 1, level=level, title=clean) if clean else None
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
        text, stop = self.lines[line].strip(), self.indented_end(line + 1, self.lines.indent(line))
        match = _DIRECTIVE.match(text)
        if not match:
            if not _NOTE_TARGET.match(text):
                self.markup.hide(line, stop)
                return [], stop
            self.markup.prose(line, stop)
            return self.one("paragraph", line, stop), stop
        name, argument = _name_of(match), (match.group(2) or "").strip()
        is_generated = name.startswith("auto") and all(self.lines.is_blank(n) for n in range(line + 1, stop))
        if name in _SILENT or is_generated:
            self.markup.hide(line, stop)
            return [], stop
        if name in _CODE:
            return self.code(line, self.content(line + 1, stop), stop, argument.split(" ")[0]), stop
        body = line + 1
        while body < stop and (FIELD.match(self.lines[body].strip()) and not self.lines.is_blank(body)):
            body += 1
        level = min(max(self.level, 1) + 1, 6) if argument and _is_object(name) and self.stands_alone(line, stop) else 0
        self.markup.directive(line, name, argument, body, stop, level)
        if name in _TABLES:
            self.markup.prose(body, stop)
            return self.one("table", line, stop), stop
        # Notes, figures, functions …: argument and content are prose, options (":width: 3") are not.
        blocks = self.one("paragraph", line, line + 1) if argument and name not in ("figure",) else []
        if level:
            title = argument.partition("(")[0].strip() or argument
            blocks = [
                block for block in [self.lines.block("heading", line, line + 1, level=level, title=title)] if block
            ]
        options = [match[1] for n in range(line + 1, body) if (match := FIELD.match(self.lines[n].strip()))]
        if TOLD_OPTIONS.intersection(options):
            blocks += self.one("list", line + 1, body)
        outer, self.level = self.level, level or self.level
        while body < stop:
            if self.lines.is_blank(body):
                body += 1
                continue
            found, body = self.nested(body, stop)
            blocks += found
        self.level = outer
        return blocks, stop

    def stands_alone(self, line: int, stop: int) -> bool:
        """Whether what a directive describes has content, and nothing that is not of it follows before the next heading.

        Only then may its name be a heading: what follows would stand below it.
        """
        margin = self.lines.indent(line)
        if all(self.lines.is_blank(n) for n in range(line + 1, stop)):
            return False
        while stop < len(self.lines):
            text = self.lines[stop].strip()
            match = _DIRECTIVE.match(text)
            is_silent = _EXPLICIT.match(text) and (
                _name_of(match) in _SILENT if match else not _NOTE_TARGET.match(text)
            )
            if not text or is_silent:
                stop = self.indented_end(stop + 1, self.lines.indent(stop)) if text else stop + 1
                continue
            if self.lines.indent(stop) < margin or (match and _is_object(_name_of(match))):
                return True
            below = self.lines[stop + 1] if stop + 1 < len(self.lines) else ""
            return any(len(text) > 2 and _ADORNMENT.match(text) for text in (text, below))
        return True

    def nested(self, line: int, stop: int) -> tuple[list[Block], int]:
        """The blocks that begin at a line of a directive's content."""
        if _EXPLICIT.match(self.lines[line].lstrip()):
            blocks, after = self.explicit(line)
            return blocks, max(min(after, stop), line + 1)
        end = min(self.run_end(line), stop)
        if self.lines[line].lstrip().startswith(">>> "):
            return self.code(line - 1, line, end), end
        self.markup.prose(line, end)
        blocks = self.one("paragraph", line, end)
        if not self.lines[end - 1].rstrip().endswith("::"):
            return blocks, end
        after = min(self.indented_end(end, self.lines.indent(line)), stop)
        if after <= end:
            return blocks, end
        self.markup.ends_in_colon(end - 1)
        return blocks + self.code(end, self.content(end, after), after), after

    def paragraph(self, line: int) -> tuple[list[Block], int]:
        """A paragraph, with the definition indented under it; after "::" the indented lines are a literal block."""
        stop = line + 1
        while stop < len(self.lines) and not self.lines.is_blank(stop) and not self.starts_section(stop):
            stop += 1
        self.markup.prose(line, stop)
        fields = [match for n in range(line, stop) if (match := FIELD.match(self.lines[n]))]
        if fields and all(match[1] in _PAGE_FIELDS for match in fields):
            self.markup.hide(line, stop)
            return [], stop
        if len(fields) > 1 and FIELD.match(self.lines[line]):
            self.markup.fields(line, stop)
            return self.one("list", line, stop), stop
        blocks = self.one("paragraph", line, stop)
        if not self.lines[stop - 1].rstrip().endswith("::"):
            return blocks, stop
        self.markup.ends_in_colon(stop - 1)
        if self.lines[line].strip() == "::":
            blocks = []
        after = self.indented_end(stop, self.lines.indent(line))
        if after <= stop:
            return blocks, stop
        return blocks + self.code(stop, self.content(stop, after), after), after

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


def _is_object(name: str) -> bool:
    """True for a directive that describes a thing: py:data, function, envvar."""
    domain, _, kind = name.rpartition(":")
    return domain in _DOMAINS if domain else kind in _OBJECTS


def _name_of(directive: re.Match[str]) -> str:
    """Its name without the domain of a code block: `code:block` is none."""
    name = directive.group(1)
    return (name.rpartition(":")[2] if name.startswith("code:") else name).lower()


def plain_title(title: str) -> str:
    """A title without its inline markup: roles, links, emphasis, literals."""
    title = _LINK.sub(r"\1", _ROLE.sub(r"\1", title))
    return " ".join(_MARKUP.sub("", title).split())
