"""Who decides about colour and links: --color, NO_COLOR, FORCE_COLOR, the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from kb.cli.terminal import choose_colour, has_colour, has_links
from kb.errors import InvalidInput

VARIABLES = (
    "NO_COLOR FORCE_COLOR FORCE_HYPERLINK TERM TERM_PROGRAM VTE_VERSION WT_SESSION KITTY_WINDOW_ID KONSOLE_VERSION"
    " DOMTERM ALACRITTY_WINDOW_ID"
).split()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def nothing_decided(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield
    choose_colour(None)


@pytest.mark.parametrize(
    ("option", "environment", "in_pipe", "on_terminal"),
    [
        (None, {}, False, True),
        ("auto", {}, False, True),
        (None, {"TERM": "dumb"}, False, False),
        (None, {"NO_COLOR": "1"}, False, False),
        (None, {"NO_COLOR": ""}, False, True),
        (None, {"FORCE_COLOR": "1"}, True, True),
        (None, {"FORCE_COLOR": "0"}, False, False),
        (None, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("always", {"NO_COLOR": "1"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
    ],
)
def test_colour(
    option: str | None,
    environment: dict[str, str],
    in_pipe: bool,
    on_terminal: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    choose_colour(option)
    assert (has_colour(io.StringIO()), has_colour(Terminal())) == (in_pipe, on_terminal)


def test_another_word_is_refused() -> None:
    with pytest.raises(InvalidInput, match="--color is 'sometimes'") as caught:
        choose_colour("sometimes")
    assert "auto, always, never" in caught.value.fix


@pytest.mark.parametrize(
    ("environment", "links"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"VTE_VERSION": "7200"}, True),
        ({"VTE_VERSION": "4800"}, False),
        ({"KITTY_WINDOW_ID": "1", "TERM": "dumb"}, False),
        ({"KITTY_WINDOW_ID": "1", "FORCE_HYPERLINK": "0"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_links(environment: dict[str, str], links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_links(Terminal()) is links
    assert has_links(io.StringIO()) is (environment.get("FORCE_HYPERLINK") == "1")
