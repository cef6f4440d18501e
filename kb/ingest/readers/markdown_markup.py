"""Markdown → the markup in it that no reader of the page would see, as edits: tags, components, anchors, directives. Pure.

Each edit keeps its line breaks, so that line n of what is left is line n of the file. Code is left as it is, but for the
include directives of book tools, which stand for code that is not there, and for the colours of a console. Link definitions go, and the
brackets of `[text]` that one of them defines; `[text][ref]` stays.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cache

from kb.drafts import Edit
from kb.ingest.readers.markdown_boxes import MARKS, box_edits
from kb.ingest.readers.markdown_code import code_and_prose
from kb.ingest.readers.markdown_signs import CODE, ENTITY, sign_edits
from kb.ingest.readers.markdown_tables import table_edits
from kb.ingest.readers.raised import raised

# What a page colours its console with, and the fences where it does.
_CONSOLE = re.compile(r"[ \t]*(?:>[ \t]?)*(?:`{3,}|~{3,})[ \t]*console\b")
_COLOUR = re.compile(r"</?(?:font|span|b|u|i)(?:\s[^<>\n]*)?>")
_INCLUDE = re.compile(
    r"^[ \t]*(?:\{\{\s*#\w+[^{}\n]*\}\}|\{!>?[ \t]*[\w@-]*[./][^\n!]*!\}|;?-{1,3}8<-{1,3}[ \t]*[\"'][^\n]*)[ \t]*$",
    re.M,
)
# The elements of HTML, but for those that are more often a type or a placeholder in prose: <T>, <name>, <path>.
_TAGS = (
    "a abbr address article aside audio b blockquote body br button caption center cite code col colgroup dd del details dfn "
    "div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hr html i iframe img input ins "
    "kbd label li main mark nav object ol p picture pre q rp rt ruby s samp script section small span strike strong style sub "
    "summary sup svg table tbody td tfoot th thead tr tt u ul var video wbr"
).split()
_TAG = re.compile(rf"</?(?:{'|'.join(_TAGS)})(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?/?>", re.I)
_RAISED = re.compile(r"<sup>([^<>\s](?:[^<>]{0,40}[^<>\s])?)</sup>", re.I)
_MARKS_ITEM = re.compile(r"[ \t]*(?:[-+*>#|=]|\d+[.)])")
# So much of what stands before tells whether a raised text is an exponent.
_BASE_CHARS = 8
# What begins a stretch that no reader sees: a comment, or an element, whose name is then in one of the groups.
_UNSEEN = re.compile(
    r"<!--|\{/\*|<(script|style)\b[^<>]*>|<(caption)\b[^<>]*>|<(span|p|div)\s[^<>]*class=[\"']?caption\b[^<>]*>",
    re.I,
)
_ENDS_OF_COMMENTS = {"<!--": re.compile("-->"), "{/*": re.compile(r"\*/\}")}
# A component of MDX: it has attributes, closes itself, or is closed somewhere.
_COMPONENT = re.compile(
    r"(?:(?<![\w<])<|(?<!<)<(?=/))(?P<end>/?)(?P<name>[A-Z]\w*(?:\.\w+)*)(?P<said>(?:\s+(?:[^<>\"'{}]|\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\})*)?)>"
)
_ATTRIBUTE = re.compile(r"\b(?:title|label|description|caption)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LINES = re.compile(
    r"^ {0,3}\[[^\]\n^][^\]\n]*\]:[ \t]*\n?[ \t]*\S+(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$"  # link definitions
    r"|^[ \t]*///[^\n]*$|^[ \t]*:::+[^\n]*$"  # fences of admonitions
    r"|^[ \t]*--8<--[^\n]*$|^[ \t]*<<<[ \t]*[@./~][^\n]*$"  # another file, put in here
    r"|^[ \t]*(?:\[\[_?toc_?\]\]|\[toc\]|\$\{toc\}|\{:toc\})[ \t]*$"  # a list of contents, put in here
    r"|^[ \t]*\{\*[^\n]*\*\}[ \t]*$|^[ \t]*\{%[^\n]*%\}[ \t]*$|^[ \t]*\{\{[<%#][^\n]*\}\}[ \t]*$",  # directives of site builders
    re.M | re.I,
)
# Of links; the anchors of headings stay, whose words find the section: `## 기능 { #features }`.
_ATTRIBUTES = re.compile(r"(?<=\))\{:?[ \t]*[#.][\w.#:-][^{}\n]*\}", re.M)
# Of paragraphs, at their end. A run of blanks is looked at once.
_LAST_ATTRIBUTES = re.compile(r"^(?![ \t]*#)[^\n]*?(?<![ \t])([ \t]*\{:?[ \t]*(?:[#.][\w-]+[ \t]*)+\}[ \t]*)$", re.M)
_ICON = re.compile(r":(?:fontawesome|material|octicons|simple)-[\w-]+:(?:\{[^{}\n]*\})?[ \t]*")
# `> [!NOTE]` of GitHub, `> [!tip]-` of Obsidian.
_ALERT = re.compile(r"^[ \t]*(?:>[ \t]?)+(\[![A-Za-z][\w-]*\][+-]?[ \t]*)", re.M)
_MODULE_LINES = re.compile(
    r"^import\s+(?:[\w*{][^'\";]*?\sfrom\s+)?['\"][^'\"\n]+['\"];?[ \t]*$|^export\s+(?:const|let|default|function)\b[^\n]*$",
    re.M,
)


def markup_edits(text: str, start: int = 0, *, is_mdx: bool = False) -> tuple[Edit, ...]:
    """The edits that take a text's markup out, in order; they do not overlap.

    start   what stands before it is no Markdown
    is_mdx  lines that import and export are module code
    """
    code, prose = code_and_prose(text, start)
    found = [edit for a, b in code for edit in _in_code(text, a, b)]
    found += _in_prose(prose, is_mdx)
    found += [*sign_edits(text, prose), *table_edits(prose, start)]
    found += box_edits(text, prose, start) if MARKS.search(prose, start) else []
    edits: list[Edit] = []
    for edit in sorted(found, key=lambda edit: (edit.start, edit.start < edit.end, -edit.end)):
        if not edits or edit.start >= edits[-1].end:
            edits.append(edit)
    return tuple(edits)


def without_boxes(text: str, start: int = 0) -> str:
    """A text whose tabs and boxes of MkDocs are plain Markdown, line for line."""
    if not MARKS.search(text, start):
        return text
    return _edited(text, [*box_edits(text, code_and_prose(text, start)[1], start)])


def without_markup(text: str) -> str:
    """A whole text without its markup."""
    return _edited(text, markup_edits(text))


def _edited(text: str, edits: Sequence[Edit]) -> str:
    out, at = [], 0
    for edit in edits:
        out += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*out, text[at:]])


def _in_code(text: str, start: int, end: int) -> Iterator[Edit]:
    """The include directives of a code block; the whole of one that holds nothing else. Blanks behind its fences, which stand for tags."""
    included = [Edit(m.start(), m.end(), "") for m in _INCLUDE.finditer(text, start, end)]
    block = text[start:end]
    if included and not _INCLUDE.sub("", block).split("\n", 1)[-1].strip(" \t\n>`~"):
        yield Edit(start, end, _newlines(block))
        return
    yield from included
    opening = block.partition("\n")[0]
    for part in (opening, block):
        if (kept := len(part.rstrip(" \t"))) < len(part):
            yield Edit(start + kept, start + len(part), "")
    if _CONSOLE.match(block) and _COLOUR.search(block):
        for match in re.finditer(rf"{_COLOUR.pattern}|{ENTITY.pattern}", block):
            yield Edit(start + match.start(), start + match.end(), _plain(match.group()))


def _in_prose(prose: str, is_mdx: bool) -> Iterator[Edit]:
    for start, end in _unseen(prose):
        yield Edit(start, end, _newlines(prose[start:end]))
    for pattern in [_LINES, _ATTRIBUTES, _ICON, *([_MODULE_LINES] if is_mdx else [])]:
        for match in pattern.finditer(prose):
            yield Edit(match.start(), match.end(), _newlines(match.group()))
    for pattern in (_ALERT, _LAST_ATTRIBUTES):
        for match in pattern.finditer(prose):
            yield Edit(*match.span(1), "")
    for match in _RAISED.finditer(prose):
        before, text = prose[max(0, match.start() - _BASE_CHARS) : match.start()], " ".join(match[1].split())
        opening, _, closing = raised(before, text).partition(text)
        # Its line breaks come last, or first where what follows would begin a list: "- 1", "1) is".
        breaks = _newlines(match.group())
        first, last = (breaks, "") if _MARKS_ITEM.match(prose, match.end()) else ("", breaks)
        yield Edit(match.start(), match.end(), f"{opening}{first}{text}{closing}{last}")
    for match in _TAG.finditer(prose):
        is_break = re.match(r"</?(?:br|td|th|hr|p|li|div|dd|dt)\b", match.group(), re.I)
        # `one`</span><span>`other`: without what stood between they would be one word.
        is_between = prose[match.start() - 1 : match.start()] == CODE and prose[match.end() : match.end() + 1] == "<"
        yield Edit(match.start(), match.end(), _newlines(match.group()) or (" " if is_break or is_between else ""))
    closed = set(re.findall(r"</([A-Z]\w*(?:\.\w+)*)\s*>", prose))
    for match in _COMPONENT.finditer(prose):
        is_whole = match["said"].rstrip().endswith("/")
        if match["end"] or is_whole or "=" in match["said"] or match["name"] in closed:
            told = [one or other for one, other in _ATTRIBUTE.findall(match["said"])]
            shown = ". ".join(told) if is_whole else ""
            yield Edit(match.start(), match.end(), shown.replace("\n", " ") + _newlines(match.group()))


def _unseen(prose: str) -> Iterator[tuple[int, int]]:
    """The stretches that no reader sees, from what begins them to what ends them; what nothing ends is none."""
    unended: set[str] = set()  # looked for once: thousands of open comments would be a search to the end each
    at = 0
    while begins := _UNSEEN.search(prose, at):
        at = begins.end()
        name = next((group for group in begins.groups() if group), begins.group()).lower()
        if name in unended:
            continue
        if ends := (_ENDS_OF_COMMENTS.get(name) or _end_of(name)).search(prose, at):
            at = ends.end()
            yield begins.start(), at
        else:
            unended.add(name)


@cache
def _end_of(element: str) -> re.Pattern[str]:
    return re.compile(rf"</{element}\s*>", re.I)


def _plain(markup: str) -> str:
    """What a character reference stands for; nothing for a tag."""
    return "" if markup.startswith("<") else html.unescape(markup)


def _newlines(text: str) -> str:
    return "\n" * text.count("\n")
