"""reStructuredText → its markup as edits, so that what is indexed and quoted reads as Markdown does: roles and links as their words,
headings with #, code in fences, the content of a directive without its indentation. Pure.

Each edit keeps its line breaks, so that line n of what is left is line n of the file. No directive is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb.drafts import Edit
from kb.ingest.readers.lines import Lines

# Roles whose text is prose; that of all others is a name of code.
_PROSE = frozenset(
    "ref doc term abbr dfn guilabel menuselection sup sub strong emphasis title numref download keyword index "
    "superscript subscript title-reference".split()
)
_NUMBERED = {
    "pep": "PEP ",
    "pep-reference": "PEP ",
    "rfc": "RFC ",
    "rfc-reference": "RFC ",
    "issue": "#",
    "pr": "#",
    "ticket": "#",
}
_OBJECTS = frozenset("func meth class attr data exc mod obj const".split())
_CALLED = frozenset("func meth".split())
_ROLE = re.compile(r":(?P<role>[A-Za-z][\w.:+-]*):`(?P<body>[^`]+)`")
_LITERAL = re.compile(r"``(?P<code>[^`\n]+(?:\n[^`\n]+)?)``")
_LINK = re.compile(r"`(?P<words>[^`<]+?)(?:\s*<[^`<>]*>)?`__?(?!\w)")
_FOOTNOTE = re.compile(r"[ \t]?\[(?:#\w*|\*|\d+)\]_(?!\w)")
_TARGET = re.compile(r"^[ \t]*\.\. _(?P<name>[A-Za-z][\w-]*):", re.M)
_ESCAPE = re.compile(r"\\(?=[^\w\s\\])")
FIELD = re.compile(r":([A-Za-z][\w -]*):(?:\s+(.*))?$")
# What tells of the thing that a directive describes; its other options are settings of the page.
TOLD_OPTIONS = frozenset("default type value values required".split())
_EXPLAINED = re.compile(r"(?P<title>.+?)\s*<[^<>]*>$", re.S)
# What is said of a version, with a colon where more is said of it.
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_TITLED = frozenset(
    "admonition topic sidebar rubric tab group-tab tab-item code-tab dropdown card table list-table csv-table".split()
)
_BOXES = frozenset(
    "note tip warning important caution danger hint attention seealso tabs tab-set container only compound epigraph highlights".split()
)
_PICTURES = frozenset("image figure".split())


class Markup:
    """Collects the edits of one text; a scan of its lines says what stands where.

    lines  the text
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._edits: list[Edit] = []
        self._targets = frozenset(match["name"] for match in _TARGET.finditer(lines.text))

    def edits(self) -> tuple[Edit, ...]:
        """All of them, in order; where two meet, the first one holds, and of those that begin together the longest."""
        kept: list[Edit] = []
        for edit in sorted(self._edits, key=lambda e: (e.start, -e.end)):
            if not kept or edit.start >= kept[-1].end:
                kept.append(edit)
        return tuple(kept)

    def heading(self, line: int, stop: int, at: int, level: int, title: str) -> None:
        """A section title on line `at`, with the lines of punctuation around it, of lines line..stop-1."""
        for number in range(line, stop):
            self._replace(number, f"{'#' * level} {title}" if number == at else "")

    def hide(self, first: int, stop: int) -> None:
        """Lines first..stop-1, which are no text: comments, link targets, settings."""
        for number in range(first, stop):
            self._replace(number, "")

    def code(self, line: int, first: int, stop: int, language: str = "", *, in_list: bool = False) -> None:
        """Code on lines first..stop-1 in a fence, behind what introduces it on the lines from `line` on.

        As it is where no blank line stands before it, or no line after it: there is no room for a fence.

        in_list  keep its indentation, which tells that it belongs to a list item
        """
        lines = self._lines
        if first <= line or not lines.is_blank(first - 1) or stop >= len(lines) or not lines.is_blank(stop):
            return
        margin = min((lines.indent(n) for n in range(first, stop) if not lines.is_blank(n)), default=0)
        pad, taken = (" " * margin, 0) if in_list else ("", margin)
        for number in range(line, first - 1):
            self._replace(number, "")
        for number in range(first + 1, stop):
            self._dedent(number, taken)
        # Both fences reach over the edge of the code, into the line breaks around it, so that they are shown with it.
        begin, end = lines.starts[first] + _chars(lines[first], taken), lines.end_of(stop - 1)
        head, tail = lines.text[begin : begin + 1], lines.text[end - 1 : end]
        opened, closed = f"{pad}```{language}\n", f"\n{pad}```"
        if begin + 1 > end - 1:
            self._edits.append(Edit(lines.starts[first - 1], end + 1, opened + lines.text[begin:end] + closed))
            return
        self._edits.append(Edit(lines.starts[first - 1], begin + 1, opened + head))
        self._edits.append(Edit(end - 1, end + 1, tail + closed))

    def directive(self, line: int, name: str, argument: str, body: int, stop: int, level: int = 0) -> None:
        """The line of a directive, and its options, up to its content on lines body..stop-1, which loses its indentation.

        level  that of a heading, where its argument is one; 0 elsewhere
        """
        has_body = any(not self._lines.is_blank(n) for n in range(body, stop))
        self._replace(line, f"{'#' * level} {argument}" if level else self._said(name, argument, has_body=has_body))
        for number in range(line + 1, body):
            option = FIELD.match(self._lines[number].strip())
            told = option is not None and option[1] in TOLD_OPTIONS and bool(option[2])
            self._replace(number, f"- {option[1].capitalize()}: {inline(option[2])}" if option and told else "")
        margin = min((self._lines.indent(n) for n in range(body, stop) if not self._lines.is_blank(n)), default=0)
        for number in range(body, stop):
            self._dedent(number, margin)

    def prose(self, first: int, stop: int) -> None:
        """Roles, literals, links and footnotes on lines first..stop-1."""
        if first >= stop:
            return
        lines = self._lines
        begin, end = lines.starts[first], lines.end_of(stop - 1)
        for pattern, replaced in self._inline():
            for match in pattern.finditer(lines.text, begin, end):
                text = replaced(match)
                breaks = match.group().count("\n") - text.count("\n")
                if breaks >= 0:
                    self._edits.append(Edit(match.start(), match.end(), text + "\n" * breaks))

    def fields(self, first: int, stop: int) -> None:
        """A list of fields on lines first..stop-1 as one with bullets: ":Exit code 5: no tests" is about that code."""
        for number in range(first, stop):
            if FIELD.match(self._lines[number]):
                begin = self._lines.starts[number]
                self._edits.append(Edit(begin, begin + 1, "- "))

    def ends_in_colon(self, line: int) -> None:
        """A line that ends in "::" before code: one colon is left, none of a line of colons alone."""
        text = self._lines[line].rstrip()
        bare = text.removesuffix("::")
        end = self._lines.starts[line] + len(text)
        shown = "" if not bare.strip() or bare.endswith((" ", ".")) else ":"
        self._edits.append(Edit(end - 2, end, shown))

    def _inline(self) -> Iterator[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
        yield _ROLE, _role
        yield _LITERAL, lambda match: f"`{match['code']}`"
        yield _LINK, lambda match: match["words"]
        yield _FOOTNOTE, lambda match: ""
        yield _ESCAPE, lambda match: ""
        if self._targets:
            named = "|".join(sorted(map(re.escape, self._targets), key=len, reverse=True))
            yield re.compile(rf"(?<![\w`])(?P<name>{named})_(?!\w)"), lambda match: match["name"]

    def _said(self, name: str, argument: str, *, has_body: bool) -> str:
        said = inline(argument)
        if name in _VERSIONS:
            version, _, more = said.partition(" ")
            return f"{_VERSIONS[name]} {version}{': ' + more if more else ':' if has_body else '.'}"
        if name in _PICTURES:
            return ""
        if name in _BOXES:
            return said
        return f"**{said}**" if name in _TITLED and said else f"`{argument}`" if argument else ""

    def _replace(self, line: int, text: str) -> None:
        start, end = self._lines.starts[line], self._lines.end_of(line)
        if self._lines.text[start:end] != text:
            self._edits.append(Edit(start, end, text))

    def _dedent(self, line: int, margin: int) -> None:
        """Take the first columns of a line away."""
        begin, taken = self._lines.starts[line], _chars(self._lines[line], margin)
        if taken:
            self._edits.append(Edit(begin, begin + taken, ""))


def _chars(line: str, columns: int) -> int:
    """So many characters of white space begin a line, no more than a number of columns; a tab is one of them."""
    return min(columns, len(line) - len(line.lstrip())) if line.strip() else 0


def inline(text: str) -> str:
    """A text of one line without its inline markup.

    >>> inline("See :data:`DEBUG`, :doc:`the guide <guide>` and ``x = 1`` in the `docs <https://x.org>`_ [#]_.")
    'See `DEBUG`, the guide and `x = 1` in the docs.'
    """
    text = _LITERAL.sub(r"`\g<code>`", _ROLE.sub(_role, text))
    return _FOOTNOTE.sub("", _LINK.sub(lambda match: match["words"], text))


def _role(match: re.Match[str]) -> str:
    role, body = match["role"].rpartition(":")[2].lower(), match["body"]
    explained = _EXPLAINED.match(body)
    words = explained["title"] if explained else body.lstrip("!")
    if words.startswith("~"):
        words = words[1:].rpartition(".")[2]
    if role in _NUMBERED:
        return words if explained else _NUMBERED[role] + words
    if role in _PROSE:
        return words.removeprefix("/") if role == "doc" else words
    if role in _CALLED and not explained and not words.endswith(")"):
        words += "()"
    return f"`{words.removeprefix('.') if role in _OBJECTS else words}`"
