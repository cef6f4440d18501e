"""A block and the section that it stands in → what is quoted of the section: all of it where it is short. Pure.

A paragraph alone often says half: what it is about stands above it, and its code or list below (`benchmarks/manuals.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.language.sentences import is_forged
from kb.llm.extractive_blocks import Block, Span, code_span, is_beside
from kb.llm.extractive_rank import leans

# A kind of block and [start, end) of what is quoted of it.
Piece = tuple[str, Span]

# A section up to this is quoted whole.
WHOLE_CHARS = 900
# Of a longer one is quoted from its beginning where that is no further away than the first, else from the block on; up to the second.
LEAD_CHARS, MOST_CHARS = 1_000, 1_400
# A section of paragraphs up to the first leads over to those below it; so much of them is added that all is no longer than the second.
LEAD_SECTION_CHARS, WITH_BELOW_CHARS = 500, 1_200
# Of a block so much is read to see whether it leans on the one before.
OPENING_CHARS = 60

# A paragraph that speaks of the code before it, and one that needs code beside it.
_ON_CODE = re.compile(
    r"\W*(?:this|that|these|those|the|and this|but this)\s+(?:\w+\s+)?(?:error|code|output|example|message|listing|snippet|command|program|line)s?\b"
    r"|\W*(?:이|위|위의|앞의|해당)\s+(?:코드|예제|예시|출력|오류|명령|명령어|메시지)",
    re.I,
)
_WITH_CODE = re.compile(
    r"\W*(?:here\b|(?:now,?\s+)?let[’']s\b|in (?:this|the following) (?:example|case|code)\b|여기(?:에?서)?(?=[\s,])|이 예[제시]에서)"
    r"|.*?\b(?:listing|figure) \d",
    re.I | re.S,
)
# A note in a quotation that has a title of its own.
_TITLED_NOTE = re.compile(r"[\s>]*#{1,6}\s")


def whole_section(text: str, blocks: Sequence[Block], at: int) -> list[Piece]:
    """All blocks of a section, where it is short; empty otherwise, and for a table.

    text    the passage
    blocks  of the passage; `at` is the number of one
    """
    first, last = _section_of(text, blocks, at)
    if blocks[last].end - blocks[first].start > WHOLE_CHARS:
        return []
    return _pieces(text, blocks, first, at, last)


def part_of_section(text: str, blocks: Sequence[Block], at: int) -> list[Piece]:
    """Whole blocks of a long section one after another, the given one among them; empty where that is too long, and for a table."""
    first, last = _section_of(text, blocks, at)
    if blocks[at].start - blocks[first].start > LEAD_CHARS:
        first = _own_beginning(text, blocks, at, first)
    end = at
    while end < last:
        below = blocks[end + 1]
        # A paragraph is added where all fits; code, which may be announced, where what is shown of it does.
        chars = _shown_chars(text, blocks[first : end + 2], blocks[at])
        if (chars if below.kind == "code" else below.end - blocks[first].start) > MOST_CHARS:
            break
        end += 1
    return _pieces(text, blocks, first, at, end)


def lead_with_below(text: str, blocks: Sequence[Block], at: int, *, opens_page: bool = False) -> list[Piece]:
    """A short section of paragraphs and the sections below it that follow, with their headings; empty where there are none.

    What is left out between them is a piece of its own, of the kind "gap".

    opens_page  where no heading stands before it, it stands below the title of the page
    """
    first, last = _section_of(text, blocks, at)
    level = blocks[first - 1].level if first else int(opens_page)
    pieces = _pieces(text, blocks, first, at, last)
    if not level or {kind for kind, _ in pieces} != {"prose"}:
        return []
    if pieces[-1][1][1] - pieces[0][1][0] > LEAD_SECTION_CHARS:
        return []
    room = WITH_BELOW_CHARS - _chars(pieces)
    found: list[Piece] = []
    for titles, below in _sections_below(text, blocks, last + 1, level):
        fitting = [piece for n, piece in enumerate(below) if _chars(below[: n + 1]) <= room]
        is_whole = len(fitting) == len(below)
        if not fitting or (found and not is_whole):
            break
        found += [*titles, *fitting]
        room -= _chars(fitting)
        if not is_whole:
            break
    if not found:
        return []
    is_parted = text[pieces[-1][1][1] : found[0][1][0]].strip() != ""
    gap: list[Piece] = [("gap", (pieces[-1][1][1], found[0][1][0]))] if is_parted else []
    return [*pieces, *gap, *found]


def _sections_below(
    text: str, blocks: Sequence[Block], at: int, level: int
) -> Iterator[tuple[list[Piece], list[Piece]]]:
    """The sections from a heading on that stand below this level: their headings, and what is quoted of them.

    It ends with the first that is too long, of which is the beginning, and before one of which nothing can be quoted.
    """
    titles: list[Piece] = []
    while at < len(blocks):
        block = blocks[at]
        if block.kind == "heading":
            if block.level <= level:
                return
            titles.append(("heading", (block.start, block.end)))
            at += 1
            continue
        first, last = _section_of(text, blocks, at)
        end = last
        while end > first and blocks[end].end - block.start > MOST_CHARS:
            end -= 1
        pieces = _pieces(text, blocks, first, first, end)
        if not titles or not pieces:
            return
        yield titles, pieces
        if end < last:
            return
        titles, at = [], last + 1


def _chars(pieces: Sequence[Piece]) -> int:
    return sum(end - start for _, (start, end) in pieces)


def _pieces(text: str, blocks: Sequence[Block], first: int, at: int, last: int) -> list[Piece]:
    """The blocks from the first to the last, without those before and behind the given one that say nothing alone."""
    begin = first
    first = next((n + 1 for n in range(at - 1, first - 1, -1) if _lacks_code(text, blocks, begin, n, at)), first)
    last = next((n - 1 for n in range(at + 1, last + 1) if _lacks_code(text, blocks, first, n, last)), last)
    is_whole = first > 0 and blocks[first - 1].kind == "heading"
    while first < at and blocks[first].kind != "prose" and not is_whole:  # what it belongs to stands in another passage
        first += 1
    run = blocks[first : last + 1]
    if blocks[at].kind == "table" or _shown_chars(text, run, blocks[at]) > MOST_CHARS:
        return []
    if is_forged(text[run[0].start : run[-1].end]):
        return []
    return [(block.kind, _shown_span(text, block, blocks[at])) for block in run]


def _shown_span(text: str, block: Block, own: Block) -> Span:
    """A block, of code as much as is shown; `own` holds the answer."""
    return code_span(text, block, is_answer=block is own) if block.kind == "code" else (block.start, block.end)


def _shown_chars(text: str, run: Sequence[Block], own: Block) -> int:
    """From the first block to the last, without what is not shown of code."""
    spans = [_shown_span(text, block, own) for block in run]
    return run[-1].end - run[0].start - sum(block.end - end for block, (_, end) in zip(run, spans, strict=True))


def _lacks_code(text: str, blocks: Sequence[Block], first: int, at: int, last: int) -> bool:
    """True for a paragraph that speaks of code which no block shows: a document may draw it from a file of its own.

    first, last  numbers of the blocks that may be quoted
    """
    block = blocks[at]
    if block.kind != "prose" or any(shown.kind in ("code", "list") for shown in blocks[first:at]):
        return False
    if _ON_CODE.match(text, block.start):
        return True
    is_followed = at < last and blocks[at + 1].kind in ("code", "list")
    return not is_followed and _WITH_CODE.match(text[block.start : block.end]) is not None


def _section_of(text: str, blocks: Sequence[Block], at: int) -> tuple[int, int]:
    """The numbers of the first and the last block between two headings, tables, or edges of notes."""

    def belong(one: Block, other: Block) -> bool:
        is_running = not {one.kind, other.kind} & {"heading", "table"} and is_beside(text, one, other)
        return is_running and not _TITLED_NOTE.match(text, other.start)

    first = last = at
    while first and belong(blocks[first - 1], blocks[first]):
        first -= 1
    while last + 1 < len(blocks) and belong(blocks[last], blocks[last + 1]):
        last += 1
    return first, last


def _own_beginning(text: str, blocks: Sequence[Block], at: int, first: int) -> int:
    """The block itself, or the paragraph before it where it says little without that."""
    block = blocks[at]
    needs_lead = block.kind in ("list", "code") or leans(text[block.start :][:OPENING_CHARS])
    return at - 1 if needs_lead and at > first and blocks[at - 1].kind == "prose" else at
