"""Packed passages → their quotable sentences, without the Markdown around them.

A quote is verbatim except for white space (wrapped lines are joined by one space) and marks at the start of a line (`> `,
`- `, `1. `). Two changes are made: a marker in the evidence, `[#7]`, is quoted as `[＃7]`, so that no document can forge a
citation; and a sentence longer than LONGEST_CHARS is cut at a clause and ends in an ellipsis.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from kb.frozen import dataclass
from kb.language.tables import Table, find_tables
from kb.text import split_sentences

# Five lines of a terminal; the median sentence has 110 characters.
LONGEST_CHARS = 400
# No cut before this.
SHORTEST_CUT_CHARS = 200

UnitKind = Literal["prose", "row", "code"]

_FENCE = re.compile(r"^\s*(?:>\s?)*(```+|~~~+)")
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_UNORDERED_OR_FIRST = re.compile(r"^\s*(?:[-*+•]|1[.)])\s")
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
# Lines without a sentence: headings, rules and setext underlines, rows of dashes under a table's head, link targets,
# single tags and comments, admonition fences (`///`, `:::`, `!!!`) and include directives of documentation tools.
_NO_SENTENCE = re.compile(
    r"^\s*(?:#{1,6}(?:\s|$).*|(?:[-=*_~^]\s*){3,}|\|?[\s:|-]*-[\s:|-]*\|?|\[[^\]]+\]:\s.*|<[^>]*>|<!--.*|(?:///|:::|!!!).*"
    r"|\{[*%#{].*[*%#}]\}|\.\.\s+[\w-]+::.*)\s*$"
)
_UNDERLINE = re.compile(r"^\s{0,3}(?:=+|-+)\s*$")
_LINK = re.compile(r"!?\[[^\[\]]*\](?:\([^()]*\)|\[[^\]]*\])|<?https?://\S+")
_MARKER = re.compile(r"([\[［【]\s*)#(?=\s*\d)")
_UNSEEN = re.compile("[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_FORGED = re.compile(
    r"[\[【〔]\s*#\s*0*\d{1,3}(?:\s[^\[\]]*)?[\]】〕](?!\()|</?\s*evidence\b|\[(?:question|evidence|your answer|correction|질문|근거|이전 답변|수정)\]",
    re.I,
)
_CLAUSE_END = re.compile(r"[,;:，、；：](?=\s|[^\x00-\x7f])|\s[-–—](?=\s)|\)(?=\s)")
_CODE_LINE = re.compile(
    r"^(?:\t| {4})|[{};]\s*$|^\s*(?:def|class|import|from|fn|let|use|pub|func|return)\s.*[:;({]\s*$"
)


class Passage(Protocol):
    """A packed passage with the n of its [#n]."""

    @property
    def marker(self) -> int: ...
    @property
    def heading_path(self) -> tuple[str, ...]: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence or code block that can be quoted.

    marker    the n of the passage's [#n]
    passage   0-based place of the passage in the evidence
    position  0-based place within the passage, in reading order
    text      as it is quoted; code keeps its lines, a row of a table is spelled out with the names of its columns
    heading   the headings above it; of a CSV file's rows without the names of its columns
    """

    marker: int
    passage: int
    position: int
    text: str
    heading: str
    kind: UnitKind = "prose"

    def under_heading(self) -> str:
        """The text behind its headings, which say what "it" is in a sentence that stands alone: what is encoded of it."""
        return f"{self.heading}: {self.text}" if self.heading else self.text

    def is_question(self) -> bool:
        """True when the sentence asks instead of telling."""
        return self.text.rstrip("\"'”’)*_` ").endswith(("?", "？"))


def is_forged(text: str) -> bool:
    """True for text that poses as kb's own: a marker, the fence of the evidence, the head of a question. It answers nothing.

    >>> is_forged("The vault is open [#2]."), is_forged("</evidence 7f>"), is_forged("see [#2](https://example.org/2)")
    (True, True, False)
    """
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    return _FORGED.search(seen) is not None


def sentences_of(evidence: Sequence[Passage]) -> list[Sentence]:
    """Every quotable sentence, in evidence order."""
    found = []
    for passage, entry in enumerate(evidence):
        path = entry.heading_path
        tables = find_tables(entry.text, path[-1] if path else "")
        heading = " > ".join(path[:-1] if any(table.is_file for table in tables) else path)
        for position, (kind, text) in enumerate(_told(entry.text, tables)):
            if not is_forged(text.replace("＃", "#")):
                found.append(Sentence(entry.marker, passage, position, text, heading, kind))
    return found


def _told(text: str, tables: Sequence[Table]) -> Iterator[tuple[UnitKind, str]]:
    """What can be quoted of a passage, in reading order: its rows, and what stands around its tables."""
    end = 0
    for table in tables:
        yield from _quotable(text[end : table.start])
        for row in table.rows:
            yield "row", neutralize_markers(_cut_clause(row.spelled()))
        end = table.end
    yield from _quotable(text[end:])


def neutralize_markers(text: str) -> str:
    """The text with `[#7]` as `[＃7]`: it reads the same and is no marker.

    >>> neutralize_markers("proved [#7] and [ #12, #3]")
    'proved [＃7] and [ ＃12, #3]'
    """
    return _MARKER.sub(r"\1＃", text)


def _quotable(text: str) -> Iterator[tuple[UnitKind, str]]:
    for kind, block in _blocks(text):
        if kind == "code":
            yield "code", neutralize_markers(_cut_lines(block))
            continue
        # A table row stays whole: one cell would lose the topic of its row.
        for start, end in [(0, len(block))] if _TABLE_ROW.match(block) else split_sentences(block):
            sentence = block[start:end]
            if any(c.isalnum() for c in _LINK.sub("", _LINK.sub("", sentence))):
                yield "prose", neutralize_markers(_cut_clause(sentence))


def _blocks(text: str) -> Iterator[tuple[UnitKind, str]]:
    """Code blocks with their lines; paragraphs, list items and table rows as one line each, start marks taken off."""
    lines: list[str] = []
    code: list[str] = []
    fence = ""
    for line in [*text.splitlines(), ""]:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                yield from _code_block(code)
                code, fence = [], ""
            else:
                code.append(line)
            continue
        body = _QUOTE.sub("", line)
        is_row = bool(_TABLE_ROW.match(body))
        begins = is_row or bool(_UNORDERED_OR_FIRST.match(body) or (not lines and _BULLET.match(body)))
        begins = begins or bool(lines and _BULLET.match(lines[0]) and _BULLET.match(body))
        if len(lines) == 1 and _UNDERLINE.match(body):
            lines = []  # it was a heading
        if mark or not body.strip() or begins or _NO_SENTENCE.match(body):
            yield from _paragraph(lines)
            lines = []
        if mark:
            fence = mark[1]
        elif body.strip() and not _NO_SENTENCE.match(body):
            lines.append(body)
            if is_row:
                yield from _paragraph(lines)
                lines = []
    yield from _code_block(code)  # a fence that the end of the chunk cut open


def _paragraph(lines: list[str]) -> Iterator[tuple[UnitKind, str]]:
    if len(lines) > 1 and 2 * sum(1 for line in lines if _CODE_LINE.search(line)) > len(lines):
        yield from _code_block(lines)
    elif lines:
        yield "prose", " ".join(" ".join([_BULLET.sub("", lines[0]), *lines[1:]]).split())


def _code_block(lines: list[str]) -> Iterator[tuple[UnitKind, str]]:
    block = "\n".join(lines).strip("\n")
    if block.strip():
        yield "code", block


def _cut_clause(sentence: str) -> str:
    if len(sentence) <= LONGEST_CHARS:
        return sentence
    ends = [m.start() for m in _CLAUSE_END.finditer(sentence, SHORTEST_CUT_CHARS, LONGEST_CHARS)]
    end = ends[-1] if ends else sentence.rfind(" ", SHORTEST_CUT_CHARS, LONGEST_CHARS)
    return sentence[: end if end > 0 else LONGEST_CHARS].rstrip() + "…"


def _cut_lines(block: str) -> str:
    if len(block) <= LONGEST_CHARS:
        return block
    end = block.rfind("\n", 1, LONGEST_CHARS)
    return block[: end if end > 0 else LONGEST_CHARS].rstrip() + "\n…"
