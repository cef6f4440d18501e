"""A run of chunks and those around it → the run with the rest of the section that it was cut out of. Pure.

A chunk is a few paragraphs. What its section is about stands at the section's beginning, and its code, list or next step behind: in
other chunks, which the search need not have found. A short section may only lead over to those below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.records import Chunk

# So much of a section is added before a run and behind it, in whole chunks; so many chunks away at most.
MOST_BEFORE_CHARS, MOST_BEHIND_CHARS, REACH_CHUNKS = 2_400, 1_600, 6
# Behind a section that is no longer than the first, those below it are added, up to the second in all.
LEAD_SECTION_CHARS, WITH_BELOW_CHARS = 800, 1_600


def extend_run(run: Sequence[Chunk], around: Mapping[int, Chunk]) -> list[Chunk]:
    """The run with its neighbours under the same headings, in reading order; where the section is short, with those below it.

    run     adjacent chunks of one document, in reading order
    around  position → chunk of the same document; the run may be among them
    """
    before = _beside(run[0], -1, around, MOST_BEFORE_CHARS)
    behind = _beside(run[-1], 1, around, MOST_BEHIND_CHARS)
    section = [*reversed(before), *run, *behind]
    return [*section, *_below(section, around)]


def _below(section: Sequence[Chunk], around: Mapping[int, Chunk]) -> list[Chunk]:
    """The chunks of the sections below one that is short."""
    path = section[-1].heading_path
    used = sum(len(chunk.text) for chunk in section if chunk.heading_path == path)
    if not path or used > LEAD_SECTION_CHARS:
        return []
    taken: list[Chunk] = []
    position = section[-1].position + 1
    while (
        (chunk := around.get(position))
        and len(chunk.heading_path) > len(path)
        and chunk.heading_path[: len(path)] == path
    ):
        used += len(chunk.text)
        if used > WITH_BELOW_CHARS:
            break
        taken.append(chunk)
        position += 1
    return taken


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
