"""`kb --home DIR help ask`: global options before "help" are none of the words that it is asked about."""

from __future__ import annotations

import pytest

from kb.cli.main import run


@pytest.mark.parametrize("words", [["help", "ask"], ["--home", "x", "help", "ask"], ["--json", "help", "ask"]])
def test_help_about_a_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words, json=False) == 0
    assert "QUESTION" in capsys.readouterr().out
