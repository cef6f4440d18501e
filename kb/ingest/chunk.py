"""A parsed document → chunks that follow its structure, with about the same amount of text in every language.

Headings begin chunks and never end one; a page never shares a chunk with the next; code and tables stay whole while
they fit. Length is counted in units of kb.text_units; what the encoder reads of a text bounds it besides.
Every chunk is a stretch of the source, without its markup: `text == parsed.shown(start, end)`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kb.drafts import Block, ChunkDraft, Parsed
from kb.frozen import dataclass
from kb.text import split_sentences
from kb.text_units import unit_starts

# Bump when the same document would be cut differently.
CHUNKER_VERSION = 3

# White space has no units and no tokens; a chunk of 10,000 blanks would be unreadable.
MAX_CHARS_PER_UNIT = 12
# A last piece shorter than this share of the target joins the piece before it, if both fit.
SMALL_REST = 0.25
# A section up to so many times the target stays whole, if the encoder reads it in one go: .435 against .430 nDCG@10 in
# hybrid search on Cranfield.
WHOLE_SECTION = 1.3

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ruler:
    """Measures stretches of one text.

    units       character offset of each unit of length, ascending
    tokens      character offset of each token that the encoder reads, ascending
    max_tokens  the most tokens that the encoder reads at once
    """

    units: Sequence[int]
    tokens: Sequence[int]
    max_tokens: int

    def length(self, start: int, end: int) -> int:
        """Units that begin in [start, end), and at least one per MAX_CHARS_PER_UNIT characters."""
        counted = bisect_left(self.units, end) - bisect_left(self.units, start)
        return max(counted, (end - start) // MAX_CHARS_PER_UNIT)

    def fits(self, start: int, end: int, most_units: int) -> bool:
        """Whether [start, end) has at most so many units, and the encoder reads it in one go."""
        if self.length(start, end) > most_units:
            return False
        return bisect_left(self.tokens, end) - bisect_left(self.tokens, start) <= self.max_tokens

    def longest(self, start: int, end: int, most_units: int) -> int:
        """Where the longest stretch that begins at `start`, ends by `end` and fits would end."""
        unit, token = bisect_left(self.units, start) + most_units, bisect_left(self.tokens, start) + self.max_tokens
        by_units = self.units[unit] if unit < len(self.units) else end
        by_tokens = self.tokens[token] if token < len(self.tokens) else end
        return min(end, by_units, by_tokens, start + most_units * MAX_CHARS_PER_UNIT)


# Letters of scripts that a vocabulary may lack: not ASCII, and not Han, which is a token a character in every vocabulary.
_FOREIGN_LETTERS = re.compile(r"[^\W\d_\x00-\x7f\u3400-\u9fff]")


def read_tokens(text: str, starts: Sequence[int]) -> Sequence[int]:
    """The tokens of a text that an encoder reads as words or parts of words; they bound a chunk, the others do not.

    A tokenizer that has a token for each letter of a script, or more, spells the script out: its vectors are not used.

    starts  character offset of each token, ascending
    """
    if text.isascii():
        return starts
    letters = {match.start() for match in _FOREIGN_LETTERS.finditer(text)}
    read = [start for start in starts if start not in letters]
    return read if letters and len(starts) - len(read) >= len(letters) else starts


@dataclass(frozen=True, slots=True)
class _Section:
    """The blocks between two headings, with the headings that lead to them.

    lead  where the headings that open the first chunk begin; None without any, or when they stand on the page before
    """

    heading_path: tuple[str, ...]
    lead: int | None
    blocks: tuple[Block, ...]


def chunk_document(
    parsed: Parsed, token_starts: Callable[[str], list[int]], target_tokens: int, max_tokens: int
) -> list[ChunkDraft]:
    """Cut a document.

    token_starts   the encoder's tokenizer: character offset of every token of a text
    target_tokens  chunks are filled up to about so many units of length
    max_tokens     no chunk has more units, nor more tokens that the encoder reads
    returns        chunks in order, positions 0, 1, 2 …; empty when there is no text
    """
    ruler = Ruler(unit_starts(parsed.text), read_tokens(parsed.text, token_starts(parsed.text)), max_tokens)
    newlines = [m.start() for m in re.finditer("\n", parsed.text)] if parsed.has_lines else []
    target = min(target_tokens, max_tokens)
    chunks: list[ChunkDraft] = []
    for section in _sections(parsed.blocks):
        for blocks, (start, end) in _section_spans(parsed.text, section, ruler, target, max_tokens):
            text = parsed.shown(start, end)
            if not text or text.isspace():
                continue
            chunks.append(
                ChunkDraft(
                    position=len(chunks),
                    start=start,
                    end=end,
                    text=text,
                    heading_path=section.heading_path + _common_path(blocks),
                    token_count=ruler.length(start, end),
                    start_line=bisect_left(newlines, start) + 1 if parsed.has_lines else None,
                    end_line=bisect_left(newlines, end - 1) + 1 if parsed.has_lines else None,
                    page=blocks[0].page,
                    section=_section_label(blocks),
                )
            )
    return chunks


def _common_path(blocks: Sequence[Block]) -> tuple[str, ...]:
    """The definitions that all of the blocks stand in."""
    path = blocks[0].path
    while any(block.path[: len(path)] != path for block in blocks):
        path = path[:-1]
    return path


def _section_label(blocks: Sequence[Block]) -> str | None:
    labels = list(dict.fromkeys(b.section for b in blocks if b.section))
    return f"{labels[0]} – {labels[-1]}" if len(labels) > 1 else labels[0] if labels else None


def _sections(blocks: Sequence[Block]) -> list[_Section]:
    """Headings gather until text follows; those at the very end, with no text to lead, join the section before."""
    sections: list[_Section] = []
    path: list[tuple[int, str]] = []
    leading: list[Block] = []
    body: list[Block] = []

    def close() -> None:
        start = leading[0].start if leading and leading[0].page == body[0].page else None
        sections.append(_Section(tuple(title for _, title in path), start, tuple(body)))

    for block in blocks:
        if block.kind != "heading":
            body.append(block)
            continue
        if body:
            close()
            leading, body = [], []
        leading.append(block)
        path = [(level, title) for level, title in path if level < block.level]
        if block.title:
            path.append((block.level, block.title))
    if body:
        close()
    elif leading and sections:
        sections[-1] = replace(sections[-1], blocks=sections[-1].blocks + tuple(leading))
    elif leading:
        sections.append(_Section(tuple(title for _, title in path), None, tuple(leading)))
    return sections


def _section_spans(
    text: str, section: _Section, ruler: Ruler, target: int, limit: int
) -> Iterator[tuple[list[Block], Span]]:
    """The section's chunks as ([blocks], (start, end)), filled up to the target."""
    first, last = section.blocks[0], section.blocks[-1]
    start = first.start if section.lead is None else section.lead
    if first.page == last.page and ruler.fits(start, last.end, min(limit, int(WHOLE_SECTION * target))):
        # Not cut: its halves would compete in every ranking.
        yield list(section.blocks), (start, last.end)
        return
    pieces = list(_pieces(text, section, ruler, target, limit))
    groups: list[list[tuple[Block, Span]]] = []
    for block, span in pieces:
        if (
            groups
            and _belongs(groups[-1], block, span, ruler, target)
            and _fits(groups[-1], block, span, ruler, target)
        ):
            groups[-1].append((block, span))
        else:
            groups.append([(block, span)])
    merged: list[list[tuple[Block, Span]]] = []
    for group in groups:
        size = ruler.length(group[0][1][0], group[-1][1][1])
        if (
            merged
            and size < SMALL_REST * target
            and _belongs(merged[-1], *group[0], ruler, target)
            and _fits(merged[-1], *group[-1], ruler, limit)
        ):
            merged[-1] += group
        else:
            merged.append(group)
    for group in merged:
        yield [block for block, _ in group], (group[0][1][0], group[-1][1][1])


def _belongs(group: list[tuple[Block, Span]], block: Block, span: Span, ruler: Ruler, target: int) -> bool:
    """Whether a block goes on in the group's chunk: in code, definitions share one only while they are small."""
    last, (start, end) = group[-1][0], (group[0][1][0], group[-1][1][1])
    return last.path == block.path or max(ruler.length(start, end), ruler.length(*span)) < SMALL_REST * target


def _fits(group: list[tuple[Block, Span]], block: Block, span: Span, ruler: Ruler, limit: int) -> bool:
    first, (start, _) = group[0]
    return first.page == block.page and ruler.fits(start, span[1], limit)


def _pieces(text: str, section: _Section, ruler: Ruler, target: int, limit: int) -> Iterator[tuple[Block, Span]]:
    """The section's blocks, the headings glued to the first, those that are too long cut at their natural joints."""
    for i, block in enumerate(section.blocks):
        start = section.lead if i == 0 and section.lead is not None else block.start
        whole_up_to = limit if block.kind in ("code", "table") else target
        if ruler.fits(start, block.end, whole_up_to):
            yield block, (start, block.end)
            continue
        for span in _cut(text, (start, block.end), ruler, target, _JOINTS[block.kind]):
            yield block, span


def _cut(text: str, span: Span, ruler: Ruler, target: int, joints: Sequence[Callable[[str], list[Span]]]) -> list[Span]:
    """Cut a stretch at the first kind of joint, its parts at the next kind where they are still too long, and refill."""
    start, end = span
    if ruler.fits(start, end, target):
        return [span]
    if not joints:
        return _cut_hard(text, span, ruler, target)
    parts = [(start + a, start + b) for a, b in joints[0](text[start:end])]
    small = [piece for part in parts for piece in _cut(text, part, ruler, target, joints[1:])]
    filled: list[Span] = []
    for piece in small:
        if filled and ruler.fits(filled[-1][0], piece[1], target):
            filled[-1] = (filled[-1][0], piece[1])
        else:
            filled.append(piece)
    return filled


def _cut_hard(text: str, span: Span, ruler: Ruler, target: int) -> list[Span]:
    """Equal steps in units, moved back to white space where there is some: for text without any joint."""
    start, end = span
    pieces: list[Span] = []
    while start < end:
        stop = ruler.longest(start, end, target)
        if stop < end:
            space = max(text.rfind(" ", start, stop), text.rfind("\n", start, stop))
            stop = space + 1 if space > start + (stop - start) // 2 else stop
        if stop <= start:
            stop = min(end, start + 1)
        piece = text[start:stop]
        if piece.strip():
            left = len(piece) - len(piece.lstrip())
            pieces.append((start + left, start + len(piece.rstrip())))
        start = stop
    return pieces


def _split_at(pattern: re.Pattern[str]) -> Callable[[str], list[Span]]:
    """A splitter that ends a part after each match; white space around parts is left out, indentation is kept."""

    def split(text: str) -> list[Span]:
        ends = [m.end() for m in pattern.finditer(text)] + [len(text)]
        spans: list[Span] = []
        start = 0
        for stop in ends:
            piece = text[start:stop]
            if piece.strip():
                left = len(piece) - len(piece.lstrip("\n"))
                spans.append((start + left, start + len(piece.rstrip())))
            start = stop
        return spans

    return split


_PARAGRAPHS = _split_at(re.compile(r"\n[ \t]*\n"))
_LINES = _split_at(re.compile(r"\n"))
_CLAUSES = _split_at(re.compile(r"[;:,，；：、](?=\s)|[，；：、]"))

# Where a block that is too long may be cut: the first joint is tried first, the next where parts are still too long.
_JOINTS: dict[str, tuple[Callable[[str], list[Span]], ...]] = {
    "heading": (split_sentences, _CLAUSES),
    "paragraph": (_PARAGRAPHS, split_sentences, _LINES, _CLAUSES),
    "list": (_PARAGRAPHS, _LINES, split_sentences, _CLAUSES),
    "quote": (_PARAGRAPHS, split_sentences, _LINES, _CLAUSES),
    "code": (_PARAGRAPHS, _LINES),
    "table": (_LINES, _CLAUSES),
}


# A longer one would leave no room for the text. Counting the tokens of a heading of 400,000 characters for each of its
# chunks took more than ten minutes.
LONGEST_HEADING_CHARS = 2_000


def embedding_text(
    title: str, chunk: ChunkDraft, token_starts: Callable[[str], list[int]], max_tokens: int, headings: bool
) -> str:
    """What is embedded for a chunk: its place in words, then its text; never longer than the encoder reads.

    The outermost headings go first when there is no room for all; a heading that opens the chunk is not repeated, nor is
    one of more than LONGEST_HEADING_CHARS.
    """
    if not headings:
        return chunk.text
    named = [h for h in dict.fromkeys([title, *chunk.heading_path]) if 0 < len(h) <= LONGEST_HEADING_CHARS]
    place = [h for h in named if h not in chunk.text[: len(h) + 8]]
    room = max_tokens - len(token_starts(chunk.text))
    while place and len(token_starts(" > ".join(place))) + 1 > room:
        place.pop(0)
    return f"{' > '.join(place)}\n{chunk.text}" if place else chunk.text
