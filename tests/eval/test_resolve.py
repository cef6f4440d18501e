"""Labels find their chunks by what they say, however the document is cut."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from kb.config import load_config
from kb.errors import NotIndexed, SuiteInvalid
from kb.eval.records import Label, Query, Suite
from kb.eval.resolve import resolve_labels, resolve_suite
from kb.eval.suite import load_suite
from kb.records import Chunk
from kb.runtime import open_runtime
from kb.store.chunks import make_citation
from tests.work import count_calls

FIXTURE = Path(__file__).parents[2] / "fixtures" / "suites" / "corpus.yaml"


def make_chunks(
    text: str, cuts: Sequence[int], path: str = "a.md", source: str = "s", doc_id: int = 1, headings: Sequence[str] = ()
) -> list[Chunk]:
    """A text cut at offsets; heading paths as "A > B", one a chunk."""
    bounds = [0, *cuts, len(text)]
    return [
        Chunk(
            chunk_id=doc_id * 100 + i,
            doc_id=doc_id,
            source=source,
            path=path,
            title=path,
            heading_path=tuple(headings[i].split(" > ")) if headings else (),
            text=text[start:end],
            citation=make_citation(path, i + 1, i + 1, None, None),
            token_count=1,
            position=i,
            start=start,
            end=end,
            text_hash="",
            tags=(),
            indexed_at="",
        )
        for i, (start, end) in enumerate(pairwise(bounds))
    ]


def suite_of(*labels: Label) -> Suite:
    return Suite("s", "s.yaml", "", "", (Query(id="q", text="?", labels=labels),))


def resolve(chunks: Sequence[Chunk], *labels: Label, paths: Sequence[str] = ("a.md", "b/c.md")) -> dict[int, int]:
    return resolve_labels(suite_of(*labels), lambda path: [c for c in chunks if c.path == path], paths)["q"]


def fault_of(chunks: Sequence[Chunk], *labels: Label) -> str:
    with pytest.raises(SuiteInvalid) as caught:
        resolve(chunks, *labels)
    return caught.value.problem.split("\n", 1)[1]


TEXT = "The mirror is  cleaned\nevery 14 days. The dome is closed at dawn. 시슬은 석 주마다 닦는다."


@pytest.mark.parametrize(
    ("anchor", "cuts", "found"),
    [
        ("cleaned every 14 days", [], [100]),
        ("cleaned every 14 days", [38], [100]),
        ("The dome is closed", [38], [101]),
        ("days. The dome", [38], [100, 101]),
        ("is cleaned every", [18], [100, 101]),
        ("is cleaned every", [22], [100, 101]),
        ("mirror is cleaned every 14 days. The dome", [15, 38, 50], [100, 101, 102]),
        ("\n14   days.", [38], [100]),
        ("１４ days", [], [100]),
        ("시슬은 석 주마다", [70], [100, 101]),
    ],
)
def test_an_anchor_is_found_whatever_the_cuts(anchor: str, cuts: list[int], found: list[int]) -> None:
    assert list(resolve(make_chunks(TEXT, cuts), Label("a.md", anchor=anchor))) == found


def test_every_cut_gives_the_chunks_that_hold_the_anchor() -> None:
    anchor = "every 14 days."
    start = TEXT.index(anchor)
    for cut in range(1, len(TEXT)):
        expected = [100] * (start < cut) + [101] * (start + len(anchor) > cut)
        assert list(resolve(make_chunks(TEXT, [cut]), Label("a.md", anchor=anchor))) == expected, cut


def test_the_highest_grade_counts_where_labels_overlap() -> None:
    chunks = make_chunks(TEXT, [38])
    labels = (Label("a.md", anchor="The dome"), Label("a.md", anchor="closed at", grade=3), Label("a.md", anchor="14"))
    assert resolve(chunks, *labels) == {101: 3, 100: 1}


@pytest.mark.parametrize(
    ("anchor", "message"),
    [
        ("The mirror was cleaned every 14 days", 'the nearest is "The mirror is cleaned every 14 days.'),
        ("the dome is closed", 'the nearest is "The dome is closed'),
        ("시슬은 두 주마다 닦는다", '"시슬은 석 주마다 닦는다.'),
        ("zzzz", "nothing in it is like it"),
        ("e", "times in a.md: a.md#L1, a.md#L1, a.md#L1, a.md#L1, …; quote more of the passage"),
        (" is ", '"is" appears 2 times in a.md: a.md#L1, a.md#L2;'),
    ],
)
def test_an_anchor_without_one_place_is_a_fault(anchor: str, message: str) -> None:
    assert message in fault_of(make_chunks(TEXT, [38]), Label("a.md", anchor=anchor, line=7))


def test_case_counts() -> None:
    assert resolve(make_chunks("Pip hums. pip hums.", []), Label("a.md", anchor="Pip hums.")) == {100: 1}


HEADINGS = ["Guide", "Guide > Safety", "Guide > Safety > Fire", "Guide > Notes", "Log > Notes"]


@pytest.mark.parametrize(
    ("heading", "found"),
    [("Guide", [100, 101, 102, 103]), ("Safety", [101, 102]), ("Fire", [102]), (" Ｌog", [104])],
)
def test_a_heading_stands_for_every_chunk_under_it(heading: str, found: list[int]) -> None:
    chunks = make_chunks("abcde", [1, 2, 3, 4], headings=HEADINGS)
    assert list(resolve(chunks, Label("a.md", heading=heading))) == found


def test_a_heading_that_is_not_there_once_is_a_fault() -> None:
    chunks = make_chunks("abcde", [1, 2, 3, 4], headings=HEADINGS)
    assert "no heading 'Safty' in a.md; the nearest is 'Safety'" in fault_of(chunks, Label("a.md", heading="Safty"))
    assert "appears 2 times in a.md: a.md#L4, a.md#L5; use an anchor" in fault_of(
        chunks, Label("a.md", heading="Notes")
    )
    again = make_chunks("abc", [1, 2], headings=["Log > Today", "Log > Else", "Log > Today"])
    assert "'Today' appears 2 times" in fault_of(again, Label("a.md", heading="Today"))
    assert "it has no heading" in fault_of(make_chunks("abc", []), Label("a.md", heading="Today"))


def test_twins_must_say_the_same() -> None:
    """One path in two sources: either of two equal texts answers; with different ones the label is ambiguous."""
    first = make_chunks(TEXT, [38])
    equal = make_chunks(TEXT, [22], source="t", doc_id=2)
    assert resolve([*first, *equal], Label("a.md", anchor="14 days", grade=2)) == {100: 2, 201: 2}
    other = make_chunks(TEXT.upper(), [], source="t", doc_id=2)
    assert "'a.md' is in 2 sources with different texts: name it as s/a.md, t/a.md" in fault_of(
        [*first, *other], Label("a.md", anchor="14 days")
    )


def test_all_faults_come_at_once() -> None:
    labels = (Label("A.md", anchor="x", line=9), Label("a.md", anchor="zzzz", line=3), Label("q", heading="y", line=5))
    lines = fault_of(make_chunks(TEXT, []), *labels).split("\n")
    assert [line.split(" ")[0] for line in lines] == ["s.yaml:3:", "s.yaml:5:", "s.yaml:9:"]
    assert lines[1].endswith("q: no document 'q'")
    assert lines[2].endswith("q: no document 'A.md', did you mean 'a.md'?")


def test_the_nearest_text_of_a_large_document_is_found_in_steps_that_grow_with_it() -> None:
    def fault(lines: int) -> str:
        said = " ".join(f"line {i} says nothing of note" for i in range(lines))
        text = f"{said} but here the seal barked twice. " + "x " * 999
        return fault_of(make_chunks(text, []), Label("a.md", anchor="but there the seal barks twice"))

    assert "the seal barked twice." in fault(20_000)
    once, twice = (count_calls(lambda n=n: fault(n)).total() for n in (2_000, 4_000))
    assert twice < 2.4 * once


def test_the_fixture_suite_resolves_fully(corpus_home: Path) -> None:
    suite = load_suite(FIXTURE)
    with open_runtime(corpus_home, load_config(None, corpus_home, {})) as kb:
        judged = resolve_suite(kb, suite)
    assert list(judged) == [query.id for query in suite.queries]
    for query in suite.queries:
        assert bool(judged[query.id]) == query.answerable, query.id
        assert set(judged[query.id].values()) <= {label.grade for label in query.labels}


def test_a_source_can_be_named(corpus_home: Path) -> None:
    label = Label("corpus/guide/glossary.md", anchor="UTC, all year round.")
    with open_runtime(corpus_home, load_config(None, corpus_home, {})) as kb:
        assert len(resolve_suite(kb, suite_of(label))["q"]) == 1


def test_an_empty_knowledge_base(corpus_home: Path) -> None:
    import sqlite3

    with sqlite3.connect(corpus_home / "kb.sqlite") as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM documents")
    connection.close()
    with open_runtime(corpus_home, load_config(None, corpus_home, {})) as kb, pytest.raises(NotIndexed):
        resolve_suite(kb, suite_of())
