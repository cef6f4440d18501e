"""Chunks that stand side by side → one passage, no text said twice, its citation the union of their lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kb.records import Chunk
from kb.store.chunks import last_headings, make_citation

# White space that the chunker leaves out between two chunks, and a mark that a reader does, such as `!!! important "Title"`;
# more means that text was left out.
LARGEST_GAP_CHARS = 80
# Before code it may be more: mostly that is a comment on how the code was made. Of the 1,360 times that a chunk follows another one in a
# section of the Rust book, 203 have 81 to 400 characters between them.
LARGEST_GAP_BEFORE_CODE_CHARS = 400
FENCES = ("```", "~~~")


def merge_adjacent(chunks: Sequence[Chunk], centre: int) -> list[tuple[Chunk, tuple[int, ...]]]:
    """Chunks of one document, in reading order, as few passages as exact citations allow.

    centre   chunk_id whose passage keeps this id; the others carry that of their first chunk
    returns  each passage with the chunk_ids it is made of, in reading order; a page break, or more text that is in no
             chunk, begins another passage
    """
    groups: list[list[Chunk]] = []
    for chunk in chunks:
        if groups and _joins(groups[-1][-1], chunk):
            groups[-1].append(chunk)
        else:
            groups.append([chunk])
    return [(_merge(group, centre), tuple(chunk.chunk_id for chunk in group)) for group in groups]


def _joins(before: Chunk, after: Chunk) -> bool:
    most = LARGEST_GAP_BEFORE_CODE_CHARS if after.text.startswith(FENCES) else LARGEST_GAP_CHARS
    if after.position != before.position + 1 or after.start - before.end > most:
        return False
    if after.citation.start_line is None or before.citation.end_line is None:
        # Places without lines are pages and sections: a passage has one of each.
        return (before.citation.page, before.citation.section) == (after.citation.page, after.citation.section)
    return after.citation.start_line - before.citation.end_line <= LARGEST_GAP_CHARS


def _merge(group: Sequence[Chunk], centre: int) -> Chunk:
    first, last = group[0], group[-1]
    if first is last:
        return first
    text, end, tokens = first.text, first.end, first.token_count
    for before, chunk in pairwise(group):
        if chunk.start < end:
            text += chunk.text[end - chunk.start :]
        else:
            text += _gap(before, chunk, end) + chunk.text
        tokens += chunk.token_count
        end = max(end, chunk.end)
    kept = next((chunk for chunk in group if chunk.chunk_id == centre), first)
    place = first.citation
    headings = _shared_headings(group) or kept.heading_path
    section = kept.citation.section
    if section == last_headings(kept.heading_path):  # and no place of its own, as in a .docx
        section = last_headings(headings)
    return replace(
        kept,
        heading_path=headings,
        text=text,
        citation=make_citation(first.path, place.start_line, last.citation.end_line, place.page, section),
        token_count=tokens,
        position=first.position,
        start=first.start,
        end=end,
    )


def _gap(before: Chunk, after: Chunk, end: int) -> str:
    """What stood between two chunks: white space, with as many line breaks as their lines are apart; of a comment before code no more."""
    width = after.start - end
    first, last = after.citation.start_line, before.citation.end_line
    if first is None or last is None:
        return "\n\n" if width > 1 else " " * width
    breaks = first - last - before.text.endswith("\n")
    spaces = max(0, width - breaks)
    return " " * (spaces if spaces <= LARGEST_GAP_CHARS else 0) + "\n" * breaks


def _shared_headings(group: Sequence[Chunk]) -> tuple[str, ...]:
    shared = group[0].heading_path
    for chunk in group[1:]:
        while chunk.heading_path[: len(shared)] != shared:
            shared = shared[:-1]
    return shared
