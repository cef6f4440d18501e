"""Citations taken apart, ranges of lines, documents put together from chunks."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.cli.terminal import shown_path
from kb.errors import InvalidInput, NotFound
from kb.places import parse_citation, parse_line_range, select_lines
from kb.records import Chunk, Citation, Document
from kb.store.chunks import document_text, make_citation


@pytest.mark.parametrize(
    ("text", "path", "start", "end", "page"),
    [
        ("a/b.md", "a/b.md", None, None, None),
        ("a/b.md#L12-L34", "a/b.md", 12, 34, None),
        ("a/b.md#L12-34", "a/b.md", 12, 34, None),
        ("a/b.md#L7", "a/b.md", 7, 7, None),
        ("a.pdf#page=13", "a.pdf", None, None, 13),
        ("a/b.md:12", "a/b.md", 12, 12, None),
        ("a%23b%25.md#L1", "a#b%.md", 1, 1, None),
        ("a#b.md", "a#b.md", None, None, None),
        ("a#b.md#L3", "a#b.md", 3, 3, None),
        ("a#b%20.md:3", "a#b%20.md", 3, 3, None),
        ("with space.md#L2", "with space.md", 2, 2, None),
        ("마리골드.md#L2", "마리골드.md", 2, 2, None),
        ("a.md#L99999999999999", "a.md#L99999999999999", None, None, None),
    ],
)
def test_parse_citation(text: str, path: str, start: int | None, end: int | None, page: int | None) -> None:
    found = parse_citation(text)
    assert (found.path, found.start_line, found.end_line, found.page) == (path, start, end, page)


@pytest.mark.parametrize("text", ["", " ", "#L3", "#page=2"])
def test_what_names_no_file_is_no_citation(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_citation(text)


paths = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(lambda p: p.strip())


@given(paths, st.none() | st.tuples(st.integers(1, 10**6), st.integers(0, 10**4)), st.none() | st.integers(1, 10**4))
def test_every_citation_that_is_made_is_understood(path: str, lines: tuple[int, int] | None, page: int | None) -> None:
    start, end = (lines[0], lines[0] + lines[1]) if lines else (None, None)
    made = make_citation(path, start, end, None if lines else page, None)
    if not lines and page is None and path[-1].isdecimal() and ":" in path:
        return  # a path that itself ends like `x:12` reads as one with a line
    found = parse_citation(made.uri)
    assert (found.path, found.start_line, found.end_line, found.page) == (path, start, end, None if lines else page)


@pytest.mark.parametrize(("text", "lines"), [("12-34", (12, 34)), ("7", (7, 7)), ("L1-L2", (1, 2)), (" 3-3 ", (3, 3))])
def test_parse_line_range(text: str, lines: tuple[int, int]) -> None:
    assert parse_line_range(text) == lines


@pytest.mark.parametrize("text", ["", "0", "5-2", "a", "1-", "-3", "1-2-3", "1.5", "²", "9" * 5000])
def test_what_is_no_range_of_lines(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_line_range(text)


def chunks_of(source: str, spans: list[tuple[int, int]]) -> list[Chunk]:
    """Chunks of a text with lines, as ingest would make them of these spans."""
    return [make_chunk(source, start, end, position) for position, (start, end) in enumerate(spans)]


def make_chunk(source: str, start: int, end: int, position: int) -> Chunk:
    first = source.count("\n", 0, start) + 1
    cited = make_citation("a.md", first, first + source.count("\n", start, end), None, None)
    return bare_chunk(source[start:end], cited, start, end, position)


def bare_chunk(text: str, cited: Citation, start: int, end: int, position: int) -> Chunk:
    return Chunk(
        chunk_id=position + 1,
        doc_id=1,
        source="s",
        path="a.md",
        title="a",
        heading_path=(),
        text=text,
        citation=cited,
        token_count=1,
        position=position,
        start=start,
        end=end,
        text_hash="",
        tags=(),
        indexed_at="",
    )


@pytest.mark.parametrize(
    ("source", "spans", "text"),
    [
        ("a\nb\nc", [(0, 5)], "a\nb\nc"),
        ("a\n\n\nb", [(0, 1), (4, 5)], "a\n\n\nb"),
        ("---\nx\n---\nbody", [(10, 14)], "\n\n\nbody"),
        ("One. Two.", [(0, 4), (5, 9)], "One. Two."),
        ("One,  two", [(0, 4), (4, 9)], "One,  two"),
        ("x\nOne. Two.\ny", [(0, 6), (7, 13)], "x\nOne. Two.\ny"),
    ],
)
def test_chunks_become_the_lines_they_came_from(source: str, spans: list[tuple[int, int]], text: str) -> None:
    assert document_text(chunks_of(source, spans)) == (1, text)


def test_a_format_without_lines_is_put_together_as_paragraphs() -> None:
    cited = make_citation("a.pdf", None, None, 1, None)
    chunks = [bare_chunk("one", cited, 0, 3, 0), bare_chunk("two", cited, 4, 7, 1)]
    assert document_text(chunks) == (None, "one\n\ntwo")
    assert document_text([]) == (None, "")


@given(st.text("ab \n", min_size=1, max_size=60), st.lists(st.integers(1, 59), max_size=8, unique=True))
def test_chunks_without_gaps_give_back_the_text(source: str, cuts: list[int]) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(source)), len(source)]
    spans = list(pairwise(edges))
    assert document_text(chunks_of(source, spans)) == (1, source)


def document(path: str = "a.md", kind: str = "markdown") -> Document:
    return Document(
        doc_id=1,
        source="s",
        path=path,
        title="a",
        type=kind,
        language="en",
        tags=(),
        size_bytes=1,
        content_hash="",
        chunk_ids=(),
        modified_at="",
        indexed_at="",
    )


def test_select_lines() -> None:
    assert select_lines(document(), "a\nb\nc", 1, (2, 3)) == "b\nc"
    assert select_lines(document(), "a\nb\nc", 1, (3, 99)) == "c"
    with pytest.raises(NotFound, match="3 lines"):
        select_lines(document(), "a\nb\nc", 1, (4, 4))
    with pytest.raises(InvalidInput, match="no lines"):
        select_lines(document("a.pdf", "pdf"), "a", None, (1, 1))


def test_shown_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(None, "a.md") == "a.md"
    assert shown_path(str(tmp_path / "docs"), "a.md") == "docs/a.md"
    assert shown_path("/elsewhere", "a.md") == "/elsewhere/a.md"
