"""Answers are broken between words at a terminal's edge, whatever the pieces they come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.cli.wrap import LEAST_COLUMNS, WordWrap, columns_of


def written(pieces: list[str], columns: int) -> str:
    wrap = WordWrap(columns)
    return "".join(wrap.feed(piece) for piece in pieces) + wrap.finish()


def test_a_word_that_does_not_fit_begins_the_next_line() -> None:
    assert (
        written(["The mirror must be cle", "aned every 14 days."], 20)
        == "The mirror must be \ncleaned every 14 \ndays."
    )


def test_hangul_takes_two_columns() -> None:
    lines = written(["마리골드 거울은 14일마다 청소해야 한다."], 20).split("\n")
    assert max(map(columns_of, lines)) <= 20
    assert len(lines) > 1


@pytest.mark.parametrize("columns", [0, 5])
def test_a_pipe_and_a_sliver_pass_it_through(columns: int) -> None:
    assert written(["one two  three\tfour\n"], columns) == "one two  three\tfour\n"


@given(
    st.lists(st.text(alphabet="abc 거울.\n", max_size=14), max_size=12),
    st.integers(min_value=LEAST_COLUMNS, max_value=40),
)
def test_nothing_is_lost_and_no_line_is_too_long(pieces: list[str], columns: int) -> None:
    assert written(pieces, columns).split() == "".join(pieces).split()
    out = written(["".join(pieces)], columns)
    for line in out.split("\n"):
        # A word wider than the terminal is broken by the terminal itself.
        if all(columns_of(word) <= columns for word in line.split()):
            assert columns_of(line.rstrip()) <= columns
