"""A run of chunks and those around it → the run with the rest of the section that it was cut out of. Pure.

A chunk is a few paragraphs. What its section is about stands at the section's beginning, and its code, list or next step behind: in
other chunks, which the search need not have found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.records import Chunk

# So much of a section is added before a run and behind it, in whole chunks; so many chunks away at most.
MOST_BEFORE_CHARS, MOST_BEHIND_CHARS, REACH_CHUNKS = 2_400, 1_600, 6


def extend_run(run: Sequence[Chunk], around: Mapping[int, Chunk]) -> list[Chunk]:
    """The run with its neighbours under the same headings, in reading order.

    run     adjacent chunks of one document, in reading order
    around  position → chunk of the same document; the run may be among them
    """
    before = _beside(run[0], -1, around, MOST_BEFORE_CHARS)
    behind = _beside(run[-1], 1, around, MOST_BEHIND_CHARS)
    return [*reversed(before), *run, *behind]


def _beside(end: Chunk, step: int, around: Mapping[int, Chunk], most_chars: int) -> list[Chunk]:
    """The section's chunks from one end of a run outwards, while they are not too much."""
    taken: list[Chunk] = []
    used = 0
    position = end.position + step
    while (chunk := around.get(position)) and chunk.heading_path == end.heading_path:
        used += len(chunk.text)
        if used > most_chars:
            break
        taken.append(chunk)
        position += step
    return taken
