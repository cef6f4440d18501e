"""kb chat in a pipe and on a terminal, kb sessions, follow-ups through the real command line."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.config import Config
from kb.eval.sessions import run_sessions
from kb.eval.suite import parse_suite
from kb.store.database import open_for_reading
from kb.store.sessions import list_sessions, session_turns
from tests.journey.conftest import Call
from tests.schemas import check_wire

FIRST = "How often must Marigold's mirror be cleaned?"
TALK = ["--mode", "lexical", "--session", "mirrors"]


@pytest.mark.parametrize("word", ["exit", "Quit", "종료", "/exit"])
def test_a_word_ends_a_chat(kb: Call, corpus_home: Path, word: str) -> None:
    ended = kb("chat", home=corpus_home, stdin=f"{word}\nHow long does the mast battery last?\n")
    assert (ended.code, ended.out) == (0, "")


def test_a_pipe_is_answered_line_by_line(kb: Call, corpus_home: Path) -> None:
    found = kb("chat", *TALK, home=corpus_home, stdin=f"{FIRST}\n\nand Thistle's?\nthanks!\n/sources\n")
    assert found.code == 0, found.err
    assert "every 14 days" in found.out
    assert "every 21 days" in found.out
    assert "searched for: How often must Thistle's mirror be cleaned?" in found.out
    assert "You're welcome" in found.out
    # After thanks, the sources are still those of the answer before it.
    assert "guide/thistle-telescope.md#L" in found.out.split("You're welcome")[1]


def test_json_is_one_answer_a_line_and_commands_speak_on_stderr(kb: Call, corpus_home: Path) -> None:
    found = kb("chat", *TALK, "--json", home=corpus_home, stdin=f"{FIRST}\n/why\nand Thistle's?\n")
    answers = found.events()
    assert [a["schema_version"] for a in answers] == ["answer.v1", "answer.v1"]
    assert [a["standalone_question"] for a in answers] == [None, "How often must Thistle's mirror be cleaned?"]
    assert [a["question"] for a in answers] == [FIRST, "and Thistle's?"]
    assert "The search found" in found.err


def test_one_bad_line_does_not_end_the_talk(kb: Call, corpus_home: Path) -> None:
    found = kb("chat", *TALK, home=corpus_home, stdin=f"/sorces\n/open 7\n{'x' * 30_000}\n{FIRST}\n/open 7\n/open 1\n")
    assert found.code == 0
    assert "no command /sorces" in found.err
    assert "did you mean /sources?" in found.err
    assert "has no place 7" in found.err
    assert found.err.count("error:") == 3
    assert "nothing was asked yet" in found.out
    assert "guide/marigold-telescope.md:" in found.out


@pytest.mark.parametrize(
    ("lines", "code"),
    [("", 0), ("/help\n/quit\n", 0), ("thanks\n", 0), ("zzyzx qwfp?\n", 1), (f"/quit\n{FIRST}\n", 0)],
)
def test_exit_codes(kb: Call, corpus_home: Path, lines: str, code: int) -> None:
    assert kb("chat", *TALK, home=corpus_home, stdin=lines).code == code


def test_a_session_goes_on_where_it_was_left(kb: Call, corpus_home: Path) -> None:
    kb("chat", *TALK, home=corpus_home, stdin=f"{FIRST}\n")
    found = kb("chat", "--mode", "lexical", "--continue", "--json", home=corpus_home, stdin="and Thistle's?\n")
    assert found.json()["standalone_question"] == "How often must Thistle's mirror be cleaned?"
    connection = open_for_reading(corpus_home)
    try:
        assert [(s.session_id, s.turns) for s in list_sessions(connection)] == [("mirrors", 2)]
        assert session_turns(connection, "mirrors")[1].standalone_question == found.json()["standalone_question"]
    finally:
        connection.close()


def test_another_session_inherits_nothing(kb: Call, corpus_home: Path) -> None:
    lines = f"{FIRST}\n/new\nand Thistle's?\n/sessions\n"
    found = kb("chat", *TALK, home=corpus_home, stdin=lines)
    assert "searched for:" not in found.out
    assert found.out.count(" turns, last ") == 2


def test_facts_are_told_back_and_never_cited(kb: Call, corpus_home: Path) -> None:
    lines = "/remember The user's name is Petra.\nwhat's my name?\n/why\n"
    found = kb("chat", *TALK, home=corpus_home, stdin=lines)
    assert "You told me on" in found.out
    assert "Petra" in found.out
    assert "It comes from what you told kb, not from a document." in found.out
    assert "[#" not in found.out


def test_a_session_is_saved_once(kb: Call, corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = f"/save\n{FIRST}\n/save\n/save\n/save none/x.md\n/why\n"
    found = kb("chat", *TALK, "--session", "a / b", home=corpus_home, stdin=lines)
    assert "nothing was asked yet" in found.out
    assert "saved 1 turn to a-b.md" in found.out
    assert (tmp_path / "a-b.md").read_text().startswith(f"# a / b\n\n## {FIRST}\n")
    assert ("a-b.md is there already" in found.err, "cannot write none/x.md" in found.err) == (True, True)
    assert "I asked no language model" in found.out


def test_window_lists_what_was_shown(kb: Call, corpus_home: Path) -> None:
    found = kb("chat", *TALK, home=corpus_home, stdin=f"/window\n{FIRST}\n/window\n")
    assert "this session has shown no passage yet" in found.out
    assert "count as known:" in found.out
    assert "guide/marigold-telescope.md#L" in found.out.split("count as known:")[1]


def test_session_and_continue_exclude_each_other(kb: Call, corpus_home: Path) -> None:
    found = kb("chat", *TALK, "--continue", home=corpus_home, stdin="")
    assert (found.code, "exclude each other" in found.err) == (2, True)
    assert kb("chat", "--session", " \t", home=corpus_home, stdin="").code == 2


class TestSessions:
    def test_list_show_export_rm(self, kb: Call, corpus_home: Path, tmp_path: Path) -> None:
        kb("chat", *TALK, home=corpus_home, stdin=f"{FIRST}\nand Thistle's?\n")
        listed = kb("sessions", "list", "--json", home=corpus_home).json()
        assert [(s["session_id"], s["turns"]) for s in listed["sessions"]] == [("mirrors", 2)]
        shown = kb("sessions", "show", "mirrors", "--json", home=corpus_home).json()
        assert [t["question"] for t in shown["turns"]] == [FIRST, "and Thistle's?"]
        assert shown["turns"][0]["places"][0]["uri"].startswith("guide/marigold-telescope.md#L")
        file = tmp_path / "talk.md"
        assert kb("sessions", "export", "mirrors", "-o", file, home=corpus_home).code == 0
        text = file.read_text()
        assert f"## {FIRST}\n" in text
        assert "every 14 days" in text
        assert "- [#1] guide/marigold-telescope.md#L" in text
        assert kb("sessions", "rm", "mirrors", home=corpus_home).code == 0
        gone = kb("sessions", "list", home=corpus_home)
        assert (gone.code, gone.out) == (1, "")

    def test_an_unknown_session_names_the_nearest(self, kb: Call, corpus_home: Path) -> None:
        kb("chat", *TALK, home=corpus_home, stdin=f"{FIRST}\n")
        found = kb("sessions", "show", "miror", home=corpus_home)
        assert (found.code, "did you mean: mirrors?" in found.err) == (2, True)

    def test_objects_are_what_their_schemas_say(self, kb: Call, corpus_home: Path) -> None:

        kb("chat", *TALK, home=corpus_home, stdin=f"{FIRST}\n")
        for words in (["sessions", "list"], ["sessions", "show", "mirrors"]):
            found = kb(*words, "--json", home=corpus_home).json()
            check_wire(found, found["schema_version"])
            assert found.get("turns") or found.get("sessions"), "an empty object would be valid as well"


SUITE = b"""
queries:
  - {id: a-1, session: a, query: "How often must Marigold's mirror be cleaned?", lang: en, kind: opening, split: dev,
     must_contain: ["14 days"], relevant: [{path: guide/marigold-telescope.md, anchor: "The mirror must be cleaned every 14 days.", grade: 2}]}
  - {id: a-2, session: a, query: "and Thistle's?", standalone: "How often is Thistle's mirror washed?", lang: en, kind: swap, split: dev,
     must_contain: ["21 days"], relevant: [{path: guide/thistle-telescope.md, heading: "Washing the mirror", grade: 2}]}
  - {id: a-3, session: a, query: "thanks", answerable: false, lang: en, kind: thanks, expect_mode: ACKNOWLEDGE}
  - {id: a-4, session: a, query: "what's my name?", answerable: false, facts: ["The user's name is Petra."], lang: en, kind: fact,
     after_hours: 5, must_contain: ["Petra"], expect_mode: RESPOND}
"""


def test_a_suite_of_conversations_is_lived_through(corpus_home: Path) -> None:
    before = (corpus_home / "kb.sqlite").read_bytes()
    results = run_sessions(corpus_home, Config(), parse_suite(SUITE, "suite.yaml"))
    assert [r.mode for r in results] == ["RESPOND", "RESPOND", "ACKNOWLEDGE", "RESPOND"]
    assert [r.is_right for r in results] == [True, True, None, True]
    assert [r.recall for r in results] == [1.0, 1.0, None, None]
    assert results[1].searched == "How often must Thistle's mirror be cleaned?"
    assert results[3].rests_on == ("facts",)
    thanks = results[2].cost
    assert (thanks.encoder_calls, thanks.index_opens, thanks.prompt_tokens) == (0, 0, 0)
    assert results[0].cost.encoder_calls > 0
    assert (corpus_home / "kb.sqlite").read_bytes() == before


def test_eval_sessions_compares_with_and_without(kb: Call, corpus_home: Path, tmp_path: Path) -> None:

    suite = tmp_path / "talks.yaml"
    suite.write_bytes(SUITE)
    found = kb("eval", "sessions", suite, "--json", home=corpus_home)
    assert found.code == 0, found.err
    report = found.json()
    check_wire(report, "eval_sessions.v1")
    assert (report["mode_matches"], report["mode_expected"]) == (2, 2)
    assert report["right_with"] == 1.0
    text = kb("eval", "sessions", suite, home=corpus_home).out
    assert "ACKNOWLEDGE, parser" in text
    suite.write_text("queries: [{id: a, query: mirror, answerable: false}]")
    assert "has no conversations" in kb("eval", "sessions", suite, home=corpus_home).err


PATIENCE_SECONDS = 30.0
# The line editor asks the terminal for bracketed pastes each time it begins a line.
PROMPTS = "\x1b[?2004h"


class Keyboard:
    """`kb chat` on a terminal of its own, typed into."""

    def __init__(self, start: Callable[..., subprocess.Popen[bytes]], home: Path) -> None:
        self._master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        options = {"stdin": slave, "stdout": slave, "stderr": slave, "env": environment, "start_new_session": True}
        self.process = start("chat", *TALK, home=home, **options)
        os.close(slave)
        self.text = ""

    def type(self, line: str) -> None:
        os.write(self._master, line.encode())

    def wait_for(self, wanted: str, times: int = 1) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while self.text.count(wanted) < times and time.monotonic() < end:
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self._master, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        assert self.text.count(wanted) >= times, self.text

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._master)


def test_on_a_terminal_lines_are_edited_and_ctrl_d_leaves(
    kb_process: Callable[..., subprocess.Popen[bytes]], corpus_home: Path
) -> None:
    keyboard = Keyboard(kb_process, corpus_home)
    try:
        keyboard.wait_for(PROMPTS)
        keyboard.type("nonsense that is given up\x03")
        keyboard.wait_for(PROMPTS, times=2)
        keyboard.type(f"{FIRST}\r")
        keyboard.wait_for("quoted from your documents")
        keyboard.wait_for(PROMPTS, times=3)
        keyboard.type("/sources\r")
        keyboard.wait_for("marigold-telescope.md#L", times=2)
        keyboard.wait_for(PROMPTS, times=4)
        keyboard.type("\x04")
        keyboard.wait_for("kb chat --session mirrors")
        assert keyboard.process.wait(PATIENCE_SECONDS) == 0
    finally:
        keyboard.close()
    connection = open_for_reading(corpus_home)
    try:
        assert [turn.question for turn in session_turns(connection, "mirrors")] == [FIRST]
    finally:
        connection.close()


def test_ask_in_a_session_makes_the_question_complete(kb: Call, corpus_home: Path) -> None:
    kb("ask", FIRST, *TALK, home=corpus_home)
    found = kb("ask", "and Thistle's?", *TALK, "--json", home=corpus_home).json()
    assert found["standalone_question"] == "How often must Thistle's mirror be cleaned?"
    shown = kb("answers", "replay", found["trace_id"], "--json", home=corpus_home)
    assert json.loads(shown.out)["is_same"], shown.out
