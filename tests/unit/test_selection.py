"""Neighbourhoods by relevance, and the passages they are merged to."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.ask.cite import narrow_citation
from kb.packing.selection import Found, lift_scores, select_neighbourhoods
from kb.records import Chunk
from kb.search.passages import LARGEST_GAP_CHARS, merge_adjacent
from kb.store.chunks import last_headings, make_citation
from kb.support.overlap import Window

SOURCE = "# Mirror\n\nClean it.\nTwice.\n\n## Snow\n\nUse snow,\nnever cloth.\n"


def cut(*spans: tuple[int, int], path: str = "a.md") -> list[Chunk]:
    """Chunks of SOURCE, with the lines they stand on."""
    return [
        Chunk(
            chunk_id=10 + i, doc_id=1, source="s", path=path, title="T",
            heading_path=("Mirror",) if i == 0 else ("Mirror", "Snow"), text=SOURCE[a:b],
            citation=make_citation(path, SOURCE.count("\n", 0, a) + 1, SOURCE.count("\n", 0, b - 1) + 1, None, None),
            token_count=5, position=i, start=a, end=b, text_hash="", tags=(), indexed_at="",
        )
        for i, (a, b) in enumerate(spans)
    ]  # fmt: skip


def found(*rows: tuple[int, int, float], tokens: int = 100) -> list[Found]:
    return [Found(doc * 100 + position, doc, position, tokens, score) for doc, position, score in rows]


def ids(runs: list[list[Found]]) -> list[list[int]]:
    return [[f.chunk_id for f in run] for run in runs]


def test_neighbours_lift_each_other() -> None:
    assert lift_scores(found((1, 0, 0.5), (1, 1, 0.4), (2, 1, 0.4)), 0.1) == pytest.approx(
        {100: 0.54, 101: 0.45, 201: 0.4}
    )


def test_runs_are_in_reading_order_the_best_first() -> None:
    rows = found((1, 3, 0.5), (2, 5, 0.9), (1, 2, 0.6), (2, 7, 0.7))
    assert ids(select_neighbourhoods(rows, 1000, 10)) == [[205], [207], [102, 103]]


def test_what_scores_far_below_the_best_stays_out() -> None:
    rows = found((1, 0, 0.9), (2, 0, 0.41), (3, 0, 0.4))
    assert ids(select_neighbourhoods(rows, 1000, 10)) == [[100], [200]]
    assert ids(select_neighbourhoods(rows, 1000, 10, least_share=0)) == [[100], [200], [300]]


def test_a_chunk_that_does_not_fit_is_passed_over() -> None:
    rows = [Found(1, 1, 0, 90, 0.9), Found(2, 2, 0, 50, 0.8), Found(3, 3, 0, 10, 0.7)]
    assert ids(select_neighbourhoods(rows, 100, 10)) == [[1], [3]]
    assert ids(select_neighbourhoods(rows, 5, 10)) == [[1]]
    assert select_neighbourhoods([], 100, 10) == []


rows = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 6), st.floats(0, 1), st.integers(1, 300)),
    max_size=15,
    unique_by=lambda r: (r[0], r[1]),
)


@given(rows, st.integers(1, 1000), st.integers(1, 8))
def test_budgets_hold(drawn: list[tuple[int, int, float, int]], budget: int, most: int) -> None:
    each = [Found(d * 100 + p, d, p, tokens, score) for d, p, score, tokens in drawn]
    runs = select_neighbourhoods(each, budget, most)
    chosen = [f for run in runs for f in run]
    assert len(chosen) <= most
    assert len({f.chunk_id for f in chosen}) == len(chosen)
    if each:
        assert chosen
        assert sum(f.tokens for f in chosen) <= budget or len(chosen) == 1


def test_equals_stay_as_they_were_ranked() -> None:
    """Scores stop at 1, the ranking goes on."""
    rows = found((2, 0, 1.0), (1, 0, 1.0), (3, 0, 1.0))
    assert ids(select_neighbourhoods(rows, 1000, 2)) == [[200], [100]]


def test_adjacent_chunks_become_one_passage_with_the_source_text_and_lines() -> None:
    chunks = cut((0, 27), (29 - 1, len(SOURCE) - 1))
    ((passage, members),) = merge_adjacent(chunks, 11)
    assert members == (10, 11)
    assert passage.chunk_id == 11
    assert passage.citation.uri == "a.md#L1-L9"
    assert passage.text == SOURCE[: len(SOURCE) - 1]
    assert passage.heading_path == ("Mirror",)
    assert (passage.start, passage.end, passage.token_count) == (0, len(SOURCE) - 1, 10)


def test_overlapping_text_is_not_said_twice() -> None:
    ((passage, _),) = merge_adjacent(cut((0, 20), (10, 40)), 10)
    assert passage.text == SOURCE[:40]
    ((contained, _),) = merge_adjacent(cut((0, 40), (10, 20)), 10)
    assert contained.text == SOURCE[:40]


def test_a_gap_or_another_page_begins_another_passage() -> None:
    far = cut((0, 5), (5 + LARGEST_GAP_CHARS + 1, 5 + LARGEST_GAP_CHARS + 9))
    assert [members for _, members in merge_adjacent(far, 10)] == [(10,), (11,)]


def test_a_mark_that_was_left_out_parts_no_passage() -> None:
    """As long as `!!! important "Read this first"`."""
    (merged,) = merge_adjacent(cut((0, 5), (40, 50)), 10)
    assert merged[1] == (10, 11)


@pytest.mark.parametrize(("text", "parts"), [("```console\n$ pump on\n```", 1), ("Then open the valve.", 2)])
def test_a_comment_before_code_parts_no_passage_and_leaves_its_lines_alone(text: str, parts: int) -> None:
    """As the Rust book has them before what a command prints: more than 80 characters. Before other text they may have said something."""
    first, second = cut((0, 5), (40, 50))
    line = (first.citation.end_line or 0) + 6
    place = replace(second.citation, start_line=line, end_line=line)
    merged = merge_adjacent([first, replace(second, text=text, start=200, end=210, citation=place)], 10)
    assert len(merged) == parts
    assert parts == 2 or merged[0][0].text == first.text + "\n" * 6 + text


@given(st.lists(st.integers(1, len(SOURCE) - 1), min_size=1, max_size=6, unique=True), st.integers(0, 3))
def test_any_cut_of_the_source_is_put_together_again(cuts: list[int], overlap: int) -> None:
    edges = [0, *sorted(cuts), len(SOURCE)]
    chunks = cut(*((max(0, a - overlap), b) for a, b in pairwise(edges)))
    ((passage, members),) = merge_adjacent(chunks, 10)
    assert passage.text == SOURCE
    assert len(members) == len(edges) - 1
    place = passage.citation
    assert place.start_line == 1
    assert "\n".join(SOURCE.split("\n")[: place.end_line]).startswith(SOURCE.rstrip("\n"))


def test_a_passage_of_two_sections_is_cited_by_the_one_that_its_quote_begins_in() -> None:
    chunks = [
        replace(c, citation=replace(c.citation, section=last_headings(c.heading_path)))
        for c in cut((0, 27), (28, len(SOURCE)))
    ]
    ((passage, _),) = merge_adjacent(chunks, 11)
    assert passage.citation.section == "Mirror"
    for words, section in (("Twice.", "Mirror"), ("Use snow", "Mirror > Snow"), ("never", "Mirror > Snow")):
        at = passage.text.index(words)
        cited = narrow_citation(1, passage, [Window(at, at + len(words), 1.0)])
        assert cited.citation.section == section
    more = replace(passage, text=f"{passage.text}\n## Rain\n\nUse a roof.\n")  # beside the one before, not below it
    at = more.text.index("roof")
    assert narrow_citation(1, more, [Window(at, at + 4, 1.0)]).citation.section == "Mirror > Rain"
    place = replace(passage, citation=replace(passage.citation, section="Sheet 2"))  # a place of its own stays
    assert narrow_citation(1, place, [Window(30, 40, 1.0)]).citation.section == "Sheet 2"
