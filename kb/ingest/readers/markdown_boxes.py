"""Markdown → the tabs and boxes of MkDocs in it, as edits that make plain Markdown of them. Pure.

`=== "Windows"` opens a tab, `!!! tip "Title"` and `??? note` a box; what belongs to them is set in by four blanks, which to
CommonMark is code. Its lines are moved out, and the title comes before the first of them: "Windows: Use `irm` …". The options
below a line that stands for a module's documentation (`::: package.module`) say nothing to a reader, and go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.drafts import Edit

# By so many blanks the body is set in.
STEP = 4
_OPENS = re.compile(
    r" *(?:===[!+]? +\"(?P<tab>[^\"\n]+)\"|(?:!!!|\?\?\?\+?) +[\w-]+(?: +[\w-]+)*(?: +\"(?P<box>[^\"\n]*)\")?|(?P<module>:::) +[\w.]+)[ \t]*"
)
# What has none of these at the start of a line has no tab.
MARKS = re.compile(r"^ *(?:===|!!!|\?\?\?|:::)", re.M)
_LINE = re.compile(r"[^\n]*\S[^\n]*")
# A title cannot stand on the line of a fence, a list, a table, a heading, a quote, or one more tab.
_NO_SENTENCE = re.compile(r"[ \t]*(?:\x00|```|~~~|[-*+] |\d+[.)] |\||#|>|===|!!!|\?\?\?|:::)")


def box_edits(text: str, prose: str, start: int = 0) -> Iterator[Edit]:
    """The edits, in order; none overlap, and each keeps the line breaks.

    prose  the text, with \\x00 for code: what looks like a tab in it is none
    start  what stands before it is no Markdown
    """
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text, start)]
    # The columns at which they begin, and whether they are left out; outermost first.
    bodies: list[tuple[int, bool]] = []
    title = ""
    for number, (begin, end) in enumerate(lines):
        indent = _indent(text, begin)
        while bodies and indent < bodies[-1][0]:
            bodies.pop()
        moved = " " * (indent - STEP * len(bodies))
        opens = _OPENS.fullmatch(prose, begin, end)
        body = lines[number + 1] if opens and number + 1 < len(lines) else None
        if bodies and bodies[-1][1]:
            yield Edit(begin, end, "")
        elif opens and body and _indent(text, body[0]) >= indent + STEP:
            said = _before((opens["tab"] or opens["box"] or "").strip())
            is_sentence = _NO_SENTENCE.match(prose, *body) is None
            yield Edit(begin, end, f"{moved}{title}{'' if is_sentence else said}".rstrip())
            title = f"{said} " if said and is_sentence else ""
            bodies.append((indent + STEP, opens["module"] is not None))
        elif bodies:
            at = begin + indent
            yield Edit(begin, at, moved)
            if title:  # a part of the paragraph, which may begin a chunk
                yield Edit(at, at + 1, title + text[at])
            title = ""


def _indent(text: str, begin: int) -> int:
    """Blanks from the start of the line on; a line is given from its first character."""
    at = begin
    while at < len(text) and text[at] == " ":
        at += 1
    return at - begin


def _before(title: str) -> str:
    return title if not title or title[-1] in ".:!?" else f"{title}:"
