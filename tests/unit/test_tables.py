"""Tables in passages: which lines are one, what its columns are called, and how a row reads alone."""

from __future__ import annotations

import pytest

from kb.language.sentences import sentences_of
from kb.language.tables import find_tables, spell_out, without_other_rows
from kb.llm.protocol import Evidence

NAMES = "code, severity, meaning"
CSV = 'code,severity,meaning\nE-1,low,"Stopped, and started again"\nE-2,,Lost'
CSV_LINES = "Size | Price | Left\nM6 | 1.20 | 9\nM8 | 1.50 | 4"
PIPED = "| Day | Check |\n|---|:-:|\n| Mon | Start `a \\| b` |"


@pytest.mark.parametrize(
    ("text", "heading", "spelled"),
    [
        (CSV, NAMES, ["code: E-1; severity: low; meaning: Stopped, and started again.", "code: E-2; meaning: Lost."]),
        ("E-3,low,Full", NAMES, ["code: E-3; severity: low; meaning: Full."]),  # the last chunk of a file
        ("사과\t1,200원\n배\t2,000원", "품목, 값", ["품목: 사과; 값: 1,200원.", "품목: 배; 값: 2,000원."]),
        (PIPED, "Checks", ["Day: Mon; Check: Start `a | b`."]),
        ("| Mon | Start |", "Checks", ["Mon; Start."]),  # its head stands in another passage
        ("Size | Price | Left\nM6 | 1.20 | 9\nM8 | 1.50 | 4", "Bolts", ["Size: M6; Price: 1.20; Left: 9.", "Size: M8; Price: 1.50; Left: 4."]),
        ("M6 | steel | box\nM8 | steel | box\nM9 | brass | bag", "Bolts", ["M6; steel; box.", "M8; steel; box.", "M9; brass; bag."]),
    ],
)  # fmt: skip
def test_a_row_is_spelled_out(text: str, heading: str, spelled: list[str]) -> None:
    tables = find_tables(text, heading)
    assert [row.spelled() for table in tables for row in table.rows] == spelled
    for table in tables:
        assert all("\n" not in text[row.start : row.end] for row in table.rows)


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Packages, crates, and modules\nare names, scopes, and paths", "Packages, Crates, and Modules"),  # clauses
        ("```\n| a | b |\n|---|---|\n| 1 | 2 |\n```", ""),
        ("fn add(a: i32, b: i32) -> i32 {\n    a + b\n}", "fn add(a: i32, b: i32)"),
        ("It is `1 | 2 | 3`.", ""),
        ("One line, and another.", "Names"),
        ("", ""),
    ],
)
def test_what_is_no_table(text: str, heading: str) -> None:
    assert find_tables(text, heading) == []
    assert spell_out(text, []) == text


def test_what_stands_around_a_table_stays() -> None:
    text = f"Do these:\n\n{PIPED}\n\nThen rest."
    assert spell_out(text, find_tables(text)) == "Do these:\n\nDay: Mon; Check: Start `a | b`.\n\nThen rest."
    told = [(s.kind, s.text) for s in sentences_of([Evidence(1, text)])]
    assert told == [("prose", "Do these:"), ("row", "Day: Mon; Check: Start `a | b`."), ("prose", "Then rest.")]


def test_the_names_of_columns_are_no_heading_of_their_rows() -> None:
    assert [s.heading for s in sentences_of([Evidence(1, "E-3,low,Full", ("Codes", NAMES))])] == ["Codes"]


def test_rows_that_a_quote_leaves_out_are_left_out() -> None:
    text = f"Before.\n\n{CSV_LINES}\n\n{PIPED}"
    tables = find_tables(text)
    row = tables[0].rows[1]
    left = without_other_rows(text, tables, row.start, row.end)
    assert "M8" in left
    assert "M6" not in left
    assert PIPED in left  # of another table nothing is quoted
    assert without_other_rows(text, tables, 0, 7) == text
