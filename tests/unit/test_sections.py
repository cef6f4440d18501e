"""A run of chunks → the rest of the section that it was cut out of."""

from __future__ import annotations

from dataclasses import replace

from kb.packing.sections import LEAD_SECTION_CHARS, MOST_BEFORE_CHARS, MOST_BEHIND_CHARS, WITH_BELOW_CHARS, extend_run
from kb.records import Chunk
from kb.store.chunks import make_citation


def chunk(position: int, heading: str, chars: int = 500) -> Chunk:
    return Chunk(
        chunk_id=position, doc_id=1, source="s", path="a.md", title="T", heading_path=("Manual", *heading.split("/")), text="x" * chars,
        citation=make_citation("a.md", position + 1, position + 1, None, None), token_count=5, position=position,
        start=position * 1000, end=position * 1000 + chars, text_hash="", tags=(), indexed_at="",
    )  # fmt: skip


def extended(chunks: list[Chunk], *run: int) -> list[int]:
    around = {each.position: each for each in chunks}
    return [each.position for each in extend_run([around[position] for position in run], around)]


def test_a_run_grows_to_the_edges_of_its_section() -> None:
    chunks = [chunk(n, "Install" if n < 2 else "Caching" if n < 5 else "Remove") for n in range(7)]
    assert extended(chunks, 3) == [2, 3, 4]
    assert extended(chunks, 0) == [0, 1]
    assert extended(chunks, 6) == [5, 6]


def test_a_run_over_two_sections_grows_into_both() -> None:
    chunks = [chunk(n, "Install" if n < 3 else "Caching") for n in range(6)]
    assert extended(chunks, 2, 3) == [0, 1, 2, 3, 4, 5]


def test_of_a_long_section_whole_chunks_are_added_up_to_a_length() -> None:
    chunks = [chunk(n, "Caching") for n in range(20)]
    found = extended(chunks, 10)
    assert found[0] == 10 - MOST_BEFORE_CHARS // 500
    assert found[-1] == 10 + MOST_BEHIND_CHARS // 500


def test_a_chunk_that_is_not_at_hand_ends_the_section() -> None:
    chunks = [chunk(n, "Caching") for n in (1, 2, 4, 5)]
    assert extended(chunks, 4) == [4, 5]


def test_behind_a_short_section_come_those_below_it_up_to_a_length() -> None:
    lead = LEAD_SECTION_CHARS
    chunks = [chunk(0, "Install", lead), *(chunk(n, f"Install/Step {n}", 300) for n in range(1, 5)), chunk(5, "Remove")]
    assert extended(chunks, 0) == list(range(1 + (WITH_BELOW_CHARS - lead) // 300))
    assert extended([chunks[0], chunk(1, "Remove"), chunk(2, "Install/Step 2")], 0) == [0]
    assert extended([chunk(0, "Install", lead + 1), *chunks[1:]], 0) == [0]


def test_of_a_document_without_a_heading_nothing_is_below() -> None:
    chunks = [replace(chunk(0, "A"), heading_path=()), chunk(1, "A")]
    assert extended(chunks, 0) == [0]


def test_a_section_below_does_not_bring_what_is_beside_it() -> None:
    chunks = [chunk(0, "Install"), chunk(1, "Install/Step 1"), chunk(2, "Install/Step 2"), chunk(3, "Remove")]
    assert extended(chunks, 1) == [1]
    assert extended(chunks, 0) == [0, 1, 2]
