"""What people see: whole screens of a terminal, by its emulator. A percentage stands as P%, seconds as N s."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.journey.conftest import corpus_home, corpus_master, default_readers, own_environment
from tests.journey.ollama import use
from tests.llm.recorded_server import Pause, RecordedServer, Reply, last_line, line
from tests.screens.emulator import Screen, show

__all__ = ["corpus_home", "corpus_master", "default_readers", "own_environment"]

SEARCH = """\
 1  The Marigold telescope › … › Cleaning                P%
    guide/marigold-telescope.md#L28-L35
    The mirror must be cleaned every 14 days. Use carbon
    dioxide snow, held at arm's length and swept from the
    top edge to the bottom; never touch the surface with
    cloth, however clean the cloth claims to be. Cleaning
    takes about an hour, most of it spent waiting for the
    mirror to warm up again so that it does not fog."""
KOREAN = """\
 1  마리골드 망원경 › 거울 관리                          P%
    ko/마리골드-망원경.md#L20-L26
    거울은 14일마다 청소해야 한다. 이산화탄소 눈을 위에서
    아래로 뿌려 먼지를 떨어내며, 아무리 깨끗한 천이라도
    표면에 대지 않는다. 물로 씻는 방법은 시슬 망원경에만
    해당하므로 절대로 따라 하면 안 된다.
    알루미늄 코팅은 3년마다 새로 입힌다. 거울은 5월에 섬을
    떠나 보통 5주 뒤에 돌아온다."""
CODE = """\
 1  def backoff_delay_seconds(attempt: int) -> float     P%
    code/lamp_queue.py#L62-L64
    │ def backoff_delay_seconds(attempt: int) -> float:
    │     \"\"\"The delay doubles with each attempt, from 2 se…
    │     return min(FIRST_RETRY_SECONDS * 2.0**attempt, LO…"""
SEARCHES = [("mirror cleaning", SEARCH), ("거울 청소", KOREAN), ("backoff delay", CODE)]


def steady(text: str) -> str:
    """Without the numbers that differ from run to run."""
    text = re.sub(r"\d+%", "P%", text)
    return re.sub(r"\d+(\.\d+)? s\b", "N s", text)


@pytest.mark.parametrize(("query", "shown"), SEARCHES, ids=["english", "korean", "code"])
def test_a_search_on_sixty_columns(corpus_home: Path, query: str, shown: str) -> None:
    screen = show("search", query, "--mode", "lexical", "-n", "1", home=corpus_home, columns=60)
    assert steady(screen.text()).replace("  P%", " P%") == shown.replace("  P%", " P%")
    assert all(len(line) <= 60 for line in screen.lines)


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_of_a_search_is_broken_by_the_terminal(corpus_home: Path, columns: int) -> None:
    """On a screen that is much wider the same lines come out: kb has broken them all itself."""
    arguments = ("search", "what to do with error codes of the lamp queue", "--mode", "lexical", "-n", "8")
    narrow = show(*arguments, home=corpus_home, columns=columns, rows=200)
    longest = max(narrow.raw.decode().split("\r\n"), key=lambda text: len(_bare(text)))
    assert len(_bare(longest)) <= columns


def _bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_matches_are_marked_and_code_is_coloured(corpus_home: Path) -> None:
    arguments = ("search", "backoff delay", "--mode", "lexical", "-n", "1")
    screen = show(*arguments, home=corpus_home)
    assert {"backoff_delay_seconds", "delay"} <= set(screen.styled("red"))
    assert "return" in screen.styled("magenta")
    assert "code/lamp_queue.py#L62-L64" in screen.styled("cyan")
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b[" not in show(*arguments, home=corpus_home, environment=plain).raw


def test_a_citation_is_a_link_where_the_terminal_has_links(corpus_home: Path) -> None:
    arguments = ("search", "dome jam incident", "--mode", "lexical", "-n", "3", "--path", "ops/*")
    linked = show(*arguments, home=corpus_home, environment={"FORCE_HYPERLINK": "1"}).raw.decode()
    targets = re.findall(r"\x1b\]8;;(file://[^\x1b]+)\x1b", linked)
    assert any(target.endswith("ops/incident%2331-dome-jam.md#L1") or "#L" in target for target in targets)
    assert all("fixtures/corpus/ops/" in target for target in targets)
    assert b"\x1b]8" not in show(*arguments, home=corpus_home).raw


def test_an_answer_without_a_model(corpus_home: Path) -> None:
    screen = show("ask", "how often must the mirror be cleaned", "--mode", "lexical", home=corpus_home)
    lines = [steady(line) for line in screen.lines]
    assert lines[0] == "Care of the mirror › Cleaning"
    assert lines[-3:] == [
        "[#1] guide/marigold-telescope.md#L32-L35",
        "     The Marigold telescope › Care of the mirror › Cleaning",
        "quoted from your documents, no language model · N s",
    ]
    assert sum("every 14 days" in line for line in lines) == 1


@pytest.mark.usefixtures("default_readers")
@pytest.mark.parametrize("question", ["what are the wind limits", "how is a mirror kept clean"])
def test_an_answer_of_several_quotes_is_there_once(corpus_home: Path, question: str) -> None:
    """What follows the first quote is written as it is; only a model's text is rendered as Markdown."""
    screen = show("ask", question, "--mode", "lexical", home=corpus_home, rows=80)
    assert [line for line in screen.lines if "See also:" in line] == ["See also:"]
    paragraphs = [line for line in screen.lines if len(line) > 40 and "#L" not in line]
    assert sorted(paragraphs) == sorted(set(paragraphs))


def ask_a_model(
    text: str, home: Path, monkeypatch: pytest.MonkeyPatch, *, rows: int = 40, plain: bool = False
) -> Screen:
    steps: list[bytes | Pause] = [Pause(0.6)]
    for word in re.findall(r"\S+\s*", text):
        steps += [line(word), Pause(0.01)]
    with RecordedServer([Reply((*steps, last_line()))]) as server:
        use(server, monkeypatch)
        words = ["ask", "how often must the mirror be cleaned", "--mode", "lexical", *(["--plain"] if plain else [])]
        return show(*words, home=home, rows=rows)


MARKDOWN = """\
The mirror must be cleaned **every 14 days** [#1].

- Use carbon dioxide snow [#1].
- Never touch the surface with cloth [#1].
- Cleaning is done by the night cook [#1].

```sh
lampctl drain --wait
```
"""


def test_a_models_markdown_is_rendered_and_doubts_are_marked_in_place(
    corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = ask_a_model(MARKDOWN, corpus_home, monkeypatch)
    text = screen.text()
    assert screen.lines[0] == "The mirror must be cleaned every 14 days [#1]."
    assert "•" in text
    assert "**" not in text
    assert "```" not in text
    assert re.search(r"night cook\s+\[#1\]\. ⚠", text)
    assert "searching" not in text
    assert "writing" not in text
    assert text.count("every 14 days") == 1  # nothing of what was drawn before stays
    plain = ask_a_model(MARKDOWN, corpus_home, monkeypatch, plain=True)
    assert "**every 14 days**" in plain.text()


def test_an_answer_that_is_not_backed_is_there_once_with_its_marks_and_what_the_documents_say(
    corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    false = "The mirror must be cleaned every 15 days [#1]."
    screen = ask_a_model(f"{false} The cook is fond of it [#1].", corpus_home, monkeypatch)
    text = " ".join(screen.text().split())
    assert text.startswith("The model's answer is not what your documents say.")
    assert f"{false} [✗ the documents say otherwise] The cook is fond of it [#1]. [? not confirmed]" in text
    assert text.count("The mirror must be cleaned every 15 days [#1].") == 1
    assert "every 14 days" in text.split("The closest in your documents:")[1]
    assert re.search(r"grounded ✗ \(the documents say otherwise\)", text)


def test_an_answer_higher_than_the_screen_is_there_once_and_whole(
    corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = ask_a_model(
        "\n\n".join(["The mirror must be cleaned every 14 days [#1]."] * 12), corpus_home, monkeypatch, rows=12
    )
    assert screen.lines[-1].startswith("✓ checked against your documents")
    assert _replayed(screen).count("The mirror must be cleaned every 14 days [#1].") == 12


def _replayed(screen: Screen) -> str:
    """All lines that ever scrolled away, and those on the screen."""
    import pyte

    history = pyte.HistoryScreen(60, 12, history=2000, ratio=1)
    pyte.ByteStream(history).feed(screen.raw)
    above = ["".join(row[at].data for at in range(60)) for row in history.history.top]
    return "\n".join([*above, *history.display])


def test_the_spinner_says_what_is_going_on(corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = ask_a_model("Every 14 days [#1].", corpus_home, monkeypatch).raw.decode()
    assert re.search(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] (searching|reading \d+ passages).* … \d s", raw)


@pytest.mark.parametrize("columns", [60, 80])
def test_help_is_not_cut(tmp_path: Path, columns: int) -> None:
    for words in (["--help"], ["answers"], ["search", "-h"]):
        screen = show(*words, home=tmp_path / "none", columns=columns, rows=120)
        assert "..." not in screen.text().replace("[ARGS]...", "")
        assert all(len(_bare(text)) <= columns for text in screen.raw.decode().split("\r\n"))


def test_a_hostile_model_cannot_reach_the_terminal(corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "The mirror must be cleaned every 14 days [#1]. \x1b]0;owned\x07\x1b[2J\x1b[31m`\x1b[41m` \x9b5m\r\b"
    screen = ask_a_model(hostile, corpus_home, monkeypatch)
    assert screen.cells.title == ""
    assert "\x1b]0" not in screen.raw.decode("utf-8", "replace")
    assert "\x1b[2J" not in screen.raw.decode("utf-8", "replace")
    assert "␛" in screen.text()
