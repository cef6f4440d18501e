"""A run of chunks and those around it → the run with the rest of the section that it was cut out of. Pure.

A chunk is a few paragraphs. What its section is about stands at the section's beginning, and its code, list or next step behind: in
other chunks, which the search need not have found. A short section may only lead over to those below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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

    def beside(end: Chunk, step: int, most_chars: int, belongs: Callable[[tuple[str, ...]], bool]) -> list[Chunk]:
        """The chunks from one end outwards, while their headings belong and they are not too much."""
        taken: list[Chunk] = []
        position = end.position + step
        while (chunk := around.get(position)) and belongs(chunk.heading_path):
            most_chars -= len(chunk.text)
            if most_chars < 0:
                break
            taken.append(chunk)
            position += step
        return taken

    before = beside(run[0], -1, MOST_BEFORE_CHARS, lambda headings: headings == run[0].heading_path)
    behind = beside(run[-1], 1, MOST_BEHIND_CHARS, lambda headings: headings == run[-1].heading_path)
    section = [*reversed(before), *run, *behind]
    path = run[-1].heading_path
    used = sum(len(chunk.text) for chunk in section if chunk.heading_path == path)
    if path and used <= LEAD_SECTION_CHARS:
        section += beside(
            section[-1],
            1,
            WITH_BELOW_CHARS - used,
            lambda headings: len(headings) > len(path) and headings[: len(path)] == path,
        )
    return section
