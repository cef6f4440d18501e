"""A packed passage → its blocks (paragraphs, lists, code, tables) with their sentences, as offsets into the passage. Pure.

What no answer can quote is left out: rules, captions, link definitions, directives of documentation tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from kb.frozen import dataclass
from kb.language.tables import Table, find_tables
from kb.text import HEADING_ANCHOR, split_sentences

BlockKind = Literal["heading", "prose", "list", "code", "table"]
Span = tuple[int, int]

# So many lines of a code block are quoted; of what its last command prints, where that is longer than the second, the third.
CODE_LINES = 30
OUTPUT_LINES, KEPT_OUTPUT_LINES = 12, 8
# A longer line is no term.
MOST_TERM_CHARS = 120

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_FENCE = re.compile(r"^\s*(?:>\s?)*(```+|~~~+)")
# A command in a terminal: what follows it is what it prints.
_COMMAND = re.compile(r"\s*(?:>\s?)*[$❯]\s+\S(?!.*\$\s*$)")
# It goes on in the next lines.
_GOES_ON = re.compile(r"<<|\\\s*$|\b(?:do|then|\{)\s*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"^(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_NUMBER = re.compile(r"\s*(\d{1,3})[.)]\s")
# What a term means, in the line below it or behind a blank one.
_MEANING = re.compile(r"^ {0,3}:\s+\S")
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
# Rules, link definitions, lone tags and comments, fences of admonitions, include directives, captions.
_NO_SENTENCE = re.compile(
    r"^\s*(?:(?:[-=*_~^]\s*){3,}|\[[^\]]+\]:\s.*|<[^>]*>|<!--.*|(?:///|:::|!!!).*|\{[*%#{].*[*%#}]\}|\.\.\s+[\w-]+::.*"
    r"|(?:Filename|File name|File|파일|파일명|파일 이름):\s*\S+"
    r"|(?:Table|Figure|Listing|Fig\.|표|그림)\s+[\dA-Z][\w.-]*\s*[:.].*)\s*$"
)
_CODE_LINE = re.compile(
    r"^(?:\t| {4})|[{};]\s*$|^\s*(?://[/!]?|--)(?:\s|$)|^\s*(?:def|class|import|from|fn|let|use|pub|func|return)\s.*[:;({]\s*$"
)
_INDENTED = re.compile(r"^(?:\t| {4,})\S")
_SEPARATED = re.compile(r",(?!\s)|;(?!\s)|\t|\s\|\s")  # of the cells of a table without rules
_LINK_ONLY = re.compile(r"!?\[[^\[\]]*\](?:\([^()]*\)|\[[^\]]*\])|<?https?://\S+")
# What a reader of the page does not read where it stands: pictures, comments, definitions of links.
_UNSAID = re.compile(r"!\[[^\[\]]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])|^ {0,3}\[(?!\^)[^\]\n]+\]:\s[^\n]*$", re.M)
# Of a title: an escaped sign, which stays, or a mark of stress and code.
_MARKS = re.compile(r"\\([\[\]*_<>#`|~])|[*`]")
_ATTRIBUTES = re.compile(rf"{HEADING_ANCHOR}\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a passage.

    start, end  [start, end) in the passage, its fence included
    sentences   what can be the answer in it: sentences; of a table its rows; code as a whole
    title       of a heading
    level       of a heading, 1 is the highest; 0 of other blocks
    table       of a table whose cells are known
    """

    kind: BlockKind
    start: int
    end: int
    sentences: tuple[Span, ...] = ()
    title: str = ""
    level: int = 0
    table: Table | None = None


def find_blocks(text: str, heading: str = "") -> list[Block]:
    """The blocks of a passage, in order.

    heading  the last one above the passage: of a CSV file the names of its columns
    """
    tables = {table.start: table for table in find_tables(text, heading)}
    lines = _lines_in(text)
    blocks: list[Block] = []
    at = _end_of_begun_code(lines)
    if at > 1:
        blocks += _code(text, 0, _end(lines[at - 2]))
    while at < len(lines):
        start, line = lines[at]
        stop = at + 1
        if mark := _FENCE.match(line):
            while stop < len(lines) and not _closes(lines[stop][1], mark[1]):
                stop += 1
            stop = min(stop + 1, len(lines))
            blocks += _code(text, start, _end(lines[stop - 1]))
        elif titled := _HEADING.match(line):
            title = _MARKS.sub(r"\1", _ATTRIBUTES.sub("", titled[2]))
            blocks.append(Block("heading", start, _end(lines[at]), title=title, level=len(titled[1])))
        elif table := tables.get(start):
            while stop < len(lines) and lines[stop][0] < table.end:
                stop += 1
            told = tuple((row.start, row.end) for row in table.rows)
            blocks.append(Block("table", table.start, table.end, told, table=table))
        elif _TABLE_ROW.match(line):
            stop += 1  # a head without rows
        elif _BULLET.match(line):
            stop = _end_of_list(lines, at)
            blocks += _list(text, lines[at:stop])
        elif (stop_of_terms := _end_of_terms(lines, at)) > at:
            stop = stop_of_terms
            blocks += _list(text, lines[at:stop])
        elif _is_literal(text, lines, at, blocks):
            while stop < len(lines) and (_INDENTED.match(lines[stop][1]) or not lines[stop][1].strip()):
                stop += 1
            end = start + len(text[start : _end(lines[stop - 1])].rstrip())
            blocks.append(Block("code", start, end, ((start, end),)))
        elif _MEANING.match(line) and not blocks:
            while stop < len(lines) and lines[stop][1].strip():  # of a term in an earlier passage
                stop += 1
        elif _is_last(lines, at) and line[-1:] not in ".!?:" and any(has_terms(text, block) for block in blocks):
            pass  # a term whose meaning is in a later passage
        elif line.strip() and not _NO_SENTENCE.match(line):
            while stop < len(lines) and _goes_on(lines[stop][1]):
                stop += 1
            if stop < len(lines) and stop == at + 1 and re.match(r"^\s{0,3}(?:=+|-{2,})\s*$", lines[stop][1]):
                level = 1 if lines[stop][1].strip().startswith("=") else 2
                blocks.append(Block("heading", start, _end(lines[at]), title=line.strip(), level=level))
            elif heading and stop == at + 1 and " ".join(line.split()) == heading:
                # In the text of HTML and of Word files a heading has no mark.
                blocks.append(Block("heading", start, _end(lines[at]), title=line.strip(), level=2))
            else:
                blocks += _prose(text, lines[at:stop])
        at = stop
    return blocks


def is_item(line: str) -> bool:
    """True for a line that begins an item of a list."""
    return bool(_BULLET.match(line))


def has_terms(text: str, block: Block) -> bool:
    """True for a list of terms, each with what it means below it."""
    return block.kind == "list" and not is_item(text[block.start :])


def items_of(text: str, block: Block) -> list[Span]:
    """The items of a list, with the lines that belong to them."""
    body = text[block.start : block.end]
    if has_terms(text, block):
        lines = _lines_in(body)
        starts = [start for n, (start, _) in enumerate(lines) if _is_term(lines, n)]
    else:
        starts = [start for start, _ in _lines_of(body) if is_item(text[block.start + start :])]
    ends = [*starts[1:], block.end - block.start]
    return [
        (block.start + a, block.start + len(text[block.start : block.start + b].rstrip()))
        for a, b in zip(starts, ends, strict=True)
    ]


def first_number(text: str, block: Block) -> int | None:
    """The number of a list's first item; None of other lists and blocks."""
    mark = _NUMBER.match(text, block.start) if block.kind == "list" else None
    return int(mark[1]) if mark else None


def _lines_in(text: str) -> list[tuple[int, str]]:
    """Where each line begins, and the line; empty ones too."""
    return [(match.start(), match.group().rstrip("\n")) for match in _LINE.finditer(text) if match.group()]


def _lines_of(text: str) -> Iterator[Span]:
    for match in re.finditer(r"[^\n]+", text):
        yield match.span()


def _end(line: tuple[int, str]) -> int:
    return line[0] + len(line[1].rstrip())


def _closes(line: str, fence: str) -> bool:
    mark = _FENCE.match(line)
    return bool(mark and mark[1].startswith(fence) and not line.strip(" \t>`~"))


def _goes_on(line: str) -> bool:
    starts_other = _FENCE.match(line) or _HEADING.match(line) or _TABLE_ROW.match(line) or _BULLET.match(line)
    return bool(line.strip()) and not starts_other and not _NO_SENTENCE.match(line)


def _end_of_list(lines: list[tuple[int, str]], at: int) -> int:
    """Behind the last line of a list: blank lines between items and indented lines belong to it."""
    stop = at + 1
    while stop < len(lines):
        line = lines[stop][1]
        if _FENCE.match(line) or _HEADING.match(line) or _NO_SENTENCE.match(line):
            break
        following = next((later for _, later in lines[stop:] if later.strip()), "")
        if not line.strip() and not (_BULLET.match(following) or following[:2].isspace()):
            break
        if line.strip() and _indent(line) < _indent(lines[at][1]):
            break  # left of the marks: it goes on below the list
        stop += 1
    return stop


def _is_term(lines: list[tuple[int, str]], at: int) -> bool:
    """True for a line whose meaning is told below it, by a line that begins with a colon."""
    line = lines[at][1]
    if not _goes_on(line) or line[:1].isspace() or len(line) > MOST_TERM_CHARS or (at and lines[at - 1][1].strip()):
        return False
    below = next((later for _, later in lines[at + 1 : at + 3] if later.strip()), "")
    return not _MEANING.match(line) and _MEANING.match(below) is not None


def _is_last(lines: list[tuple[int, str]], at: int) -> bool:
    """True for a line that stands alone at the end."""
    return not any(line.strip() for _, line in lines[at + 1 :]) and not (at and lines[at - 1][1].strip())


def _end_of_terms(lines: list[tuple[int, str]], at: int) -> int:
    """Behind the last line of a list of terms and what they mean; `at` where none begins here."""
    stop = at
    while stop < len(lines) and _is_term(lines, stop):
        stop += 1
        while stop < len(lines) and not _is_term(lines, stop):
            line = lines[stop][1]
            following = next((later for _, later in lines[stop:] if later.strip()), "")
            is_part = _MEANING.match(following) or following[:2].isspace()
            if _FENCE.match(line) or _HEADING.match(line) or (not lines[stop - 1][1].strip() and not is_part):
                break
            stop += 1
    while stop > at and not lines[stop - 1][1].strip():
        stop -= 1
    return stop


def _end_of_begun_code(lines: list[tuple[int, str]]) -> int:
    """Behind the fence of code that began in an earlier passage, as a long one does that is cut; 0 where none did.

    A fence that names a language opens code. So where one stands inside code, what had seemed to open it closed it.
    """
    opened = ""
    first = -1
    for number, (_, line) in enumerate(lines):
        mark = _FENCE.match(line)
        if mark is None or (opened and not mark[1].startswith(opened)):
            continue
        is_bare = not line.strip(" \t>`~")
        if first < 0:
            if not is_bare:
                return 0
            first = number
        if not opened:
            opened = mark[1]
        elif is_bare:
            opened = ""
        else:
            return first + 1
    if not opened or first < 1:
        return 0
    return first + 1 if _is_code(lines[:first]) and not _is_code(lines[first + 1 :]) else 0


def _is_code(lines: list[tuple[int, str]]) -> bool:
    told = [line for _, line in lines if line.strip()]
    return bool(told) and 2 * sum(1 for line in told if _CODE_LINE.search(line)) > len(told)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_literal(text: str, lines: list[tuple[int, str]], at: int, blocks: list[Block]) -> bool:
    """True for an indented block that the paragraph above announces, as reStructuredText and Markdown write code."""
    if not _INDENTED.match(lines[at][1]) or not blocks or blocks[-1].kind != "prose" or lines[at - 1][1].strip():
        return False
    return text[: blocks[-1].end].endswith(":")


def _code(text: str, start: int, end: int) -> list[Block]:
    body = text[start:end].split("\n", 1)[-1].rstrip("`~ \n")
    return [Block("code", start, end, ((start, end),))] if body.strip() and "\n" in text[start:end] else []


def _list(text: str, lines: list[tuple[int, str]]) -> list[Block]:
    start, end = lines[0][0], max(_end(line) for line in lines)
    spans: list[Span] = []
    block = Block("list", start, end)
    for a, b in items_of(text, block):
        mark = _BULLET.match(text[a:b])
        told = _told(text, a + (mark.end() if mark else 0), b)
        if not mark and len(told) > 1 and "\n" not in text[slice(*told[0])]:
            told[:2] = [(told[0][0], told[1][1])]  # a term and what it means
        spans += told
    return [Block("list", start, end, tuple(spans))] if spans else []


def _prose(text: str, lines: list[tuple[int, str]]) -> list[Block]:
    start, end = lines[0][0], _end(lines[-1])
    if len(lines) > 1 and _is_code(lines):
        return [Block("code", start, end, ((start, end),))]
    if len(lines) > 1 and all(len(_SEPARATED.findall(line)) > 1 for _, line in lines):
        return [Block("table", start, end, tuple((a, a + len(line.rstrip())) for a, line in lines))]
    spans = _told(text, start, end)
    return [Block("prose", start, end, tuple(spans))] if spans else []


def _told(text: str, start: int, end: int) -> list[Span]:
    """The sentences of a stretch that say something besides a link."""
    spans = [(start + a, start + b) for a, b in split_sentences(text[start:end])]
    return [(a, b) for a, b in spans if any(c.isalnum() for c in _LINK_ONLY.sub("", text[a:b]))]


def is_beside(text: str, block: Block, other: Block) -> bool:
    """True where nothing stands between two blocks but pictures, comments and targets of links."""
    between = text[block.end : other.start]
    return not between.strip() or not _UNSAID.sub("", _without_comments(between)).strip()


def _without_comments(text: str) -> str:
    """Without those that are closed."""
    kept, *others = text.split("<!--")
    for other in others:
        comment, end, behind = other.partition("-->")
        kept += behind if end else f"<!--{comment}"
    return kept


def code_span(text: str, block: Block, *, is_answer: bool = False) -> Span:
    """A code block, up to its first CODE_LINES lines, without most of a long output at its end.

    is_answer  any of its lines may be what is asked for
    """
    lines = text[block.start : block.end].split("\n")
    kept = CODE_LINES
    last = max((n for n, line in enumerate(lines) if _COMMAND.match(line)), default=None)
    if last is not None and not is_answer:
        while lines[last].rstrip().endswith("\\") and last + 1 < len(lines):
            last += 1
        is_open = _GOES_ON.search(lines[last]) or any(lines[last].count(mark) % 2 for mark in "'\"")
        if not is_open and sum(not _FENCE.match(line) for line in lines[last + 1 :]) > OUTPUT_LINES:
            kept = min(kept, last + 1 + KEPT_OUTPUT_LINES)
    if len(lines) <= kept:
        return block.start, block.end
    return block.start, block.start + len("\n".join(lines[:kept]).rstrip())
