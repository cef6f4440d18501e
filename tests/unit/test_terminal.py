"""Text on its way to a terminal: made harmless, coloured only where wanted."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.cli.terminal import harmless, harmless_line, has_colour, styled
from kb.wire import TERMINAL_DANGERS


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("over\rwritten", "over␍written"),
        ("\x00\x08\x7f", "␀␈<U+007F>"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\u202eb\u2066c", "a<U+202E>b<U+2066>c"),
        ("zero\u200bwidth\ufeff", "zero<U+200B>width<U+FEFF>"),
        ("line\u2028end", "line<U+2028>end"),
        ("lone \udcff", "lone <U+DCFF>"),
        ("tag \U000e0041", "tag <U+E0041>"),
        ("소유권 🍲 é", "소유권 🍲 é"),
    ],
)
def test_harmless(text: str, shown: str) -> None:
    assert harmless(text) == shown


@given(st.text())
def test_nothing_that_drives_a_terminal_is_left(text: str) -> None:
    shown = harmless(text)
    assert not TERMINAL_DANGERS.search(shown)
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") for c in shown)
    assert harmless(shown) == shown
    assert "\n" not in harmless_line(text)
    shown.encode()


def test_a_line_stays_a_line() -> None:
    assert harmless_line("a\n\nb\tc\r\nd") == "a b c␍ d"


@pytest.mark.parametrize(
    ("environment", "stream", "coloured"),
    [
        ({}, Terminal(), True),
        ({"NO_COLOR": ""}, Terminal(), True),
        ({"NO_COLOR": "1"}, Terminal(), False),
        ({"TERM": "dumb"}, Terminal(), False),
        ({}, io.StringIO(), False),
    ],
)
def test_colour_only_on_terminals_that_want_it(
    environment: dict[str, str], stream: io.StringIO, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_colour(stream) is coloured
    assert styled("x", "bold", "red", stream=stream) == ("\x1b[1;31mx\x1b[0m" if coloured else "x")
    assert styled("", "bold", stream=stream) == ""
