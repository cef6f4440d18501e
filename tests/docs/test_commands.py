"""Every command and every Python example of the README and of docs/ runs, with the exit code and output that the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import PAGES, blocks_of
from tests.docs.shell import RunKb, lines_of, run_line

# The pages whose subject is an answer are run with the models that read; on the others these take time alone.
READ = ("README", "ask", "getting-started", "index", "reader")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page: Path, workspace: Path, run_kb: RunKb, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem in READ:
        monkeypatch.delenv("KB_READER__MODEL")
    variables: dict[str, Any] = {}
    for block in blocks_of(page):
        place = f"{page.name}:{block.line}"
        if block.title:
            (workspace / block.title).write_text(block.text + "\n", encoding="utf-8")
        elif block.language == "sh" and not block.not_run:
            for line in lines_of(block.text):
                ran = run_line(line.text, run_kb)
                assert ran.exit_code == line.exit_code, f"{place}: {line.text}\n{ran.out}\n{ran.err}"
        elif block.language == "python" and not block.not_run:
            exec(compile(block.text, place, "exec"), variables)
        elif block.language == "console":
            _check_session(block.text, place, run_kb)


def _check_session(text: str, place: str, run_kb: RunKb) -> None:
    """A `$ command` with its output: every line that the page shows is printed, in this order on its stream.

    A line … stands for any number of lines, a … at the end of a line for any text.
    """
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        [line] = lines_of(command)
        ran = run_line(line.text, run_kb)
        assert ran.exit_code == line.exit_code, f"{place}: {line.text}\n{ran.out}\n{ran.err}"
        streams = [_without_times(ran.out).splitlines(), _without_times(ran.err).splitlines()]
        for expected in _without_times(shown).splitlines():
            if expected.strip() not in ("…", ""):
                assert any(_advance(stream, expected.rstrip()) for stream in streams), (
                    f"{place}: not printed by {line.text}: {expected}\n{ran.out}\n{ran.err}"
                )


def _advance(stream: list[str], expected: str) -> bool:
    """Drop the lines of a stream up to the expected one; False, and nothing dropped, where it is not there."""
    beginning = expected.removesuffix("…")
    for at, actual in enumerate(stream):
        if actual.rstrip() == expected or (beginning != expected and actual.startswith(beginning)):
            del stream[: at + 1]
            return True
    return False


def _without_times(text: str) -> str:
    """Text without durations and days, which differ between two runs."""
    return re.sub(r"\d+(\.\d+)? (ms|s)\b|\b20\d\d-\d\d-\d\d\b", "TIME", text)


def test_few_blocks_are_not_run() -> None:
    left_out = [
        f"{block.page.name}:{block.line} {block.not_run}"
        for page in PAGES
        for block in blocks_of(page)
        if block.not_run
    ]
    assert len(left_out) <= 14, left_out
    assert sum(block.language in ("sh", "console") for page in PAGES for block in blocks_of(page)) > 4 * len(left_out)
