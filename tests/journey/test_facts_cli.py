"""kb remember, forget, facts: told once, listed, forgotten for good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.store.memories import text_key
from tests.journey.conftest import Call
from tests.schemas import check_wire

PLOVER = "The office wifi is called Plover"


def test_a_fact_is_remembered_listed_and_forgotten(kb: Call, tmp_path: Path) -> None:
    home = tmp_path / "home"
    told = kb("remember", f"  {PLOVER} \n", home=home)
    assert (told.code, told.out, told.err) == (0, f"remembered as fact 1: {PLOVER}\n", "")
    assert kb("remember", "Standup is at 9", "--session", "work", home=home).code == 0
    listed = kb("facts", home=home)
    assert listed.code == 0
    first, second = listed.out.splitlines()
    assert first.startswith("1  ")
    assert first.endswith(PLOVER)
    assert second.endswith("Standup is at 9  (session work)")
    gone = kb("forget", "1", "fact:2", "1", home=home)
    assert (gone.code, gone.out.splitlines()) == (0, [f"forgot fact 1: {PLOVER}", "forgot fact 2: Standup is at 9"])
    empty = kb("facts", home=home)
    assert (empty.code, empty.out, empty.err) == (1, "", "no facts yet; add one with: kb remember TEXT\n")
    # An id is never used twice, and the words are out of the file.
    assert "fact 3" in kb("remember", PLOVER, home=home).out
    kb("forget", "3", home=home)
    assert b"Plover" not in b"".join(p.read_bytes() for p in home.glob("kb.sqlite"))


def test_the_same_fact_is_told_once(kb: Call, tmp_path: Path) -> None:
    kb("remember", PLOVER, home=tmp_path)
    again = kb("remember", "the  office WIFI is called plover.", home=tmp_path)
    assert again.code == 0
    assert again.out.startswith("known already, as fact 1 of 20")
    # What holds everywhere holds in a session; what holds in one session is new to the others.
    assert kb("remember", PLOVER, "--session", "a", "--json", home=tmp_path).json()["is_new"] is False
    assert kb("remember", "only here", "--session", "a", "--json", home=tmp_path).json()["is_new"] is True
    assert kb("remember", "only here", "--session", "b", "--json", home=tmp_path).json()["is_new"] is True


def test_wire_objects(kb: Call, tmp_path: Path) -> None:
    told = kb("remember", "열쇠는 부엌에 있다", "--json", home=tmp_path).json()
    listed = kb("facts", "--json", home=tmp_path).json()
    gone = kb("forget", "1", "--json", home=tmp_path).json()
    for thing in (told, listed, gone, told["fact"]):
        check_wire(thing, thing["schema_version"])
    assert listed["facts"] == [told["fact"]] == gone["forgotten"]
    assert (told["fact"]["text"], gone["answers"]) == ("열쇠는 부엌에 있다", 0)


def test_from_standard_input_and_harmless_on_a_terminal(kb: Call, tmp_path: Path) -> None:
    told = kb("remember", "-", home=tmp_path, stdin=b"red \x1b[31m alert\n\xff bell\x07")
    assert told.out == "remembered as fact 1: red ␛[31m alert \ufffd bell␇\n"
    assert "\x1b" not in kb("facts", home=tmp_path).out
    assert "\\u001b" in kb("facts", "--json", home=tmp_path).out


@pytest.mark.parametrize(
    ("words", "problem", "fix"),
    [
        (["remember", " . "], "the fact is empty", "say what to remember"),
        (["remember", "x" * 2001], "a fact of more than 2,000", "kb ingest -"),
        (["forget", "9"], "no fact 9", "there are: 1; see them"),
        (["forget", "1", "9", "10"], "no fact 9, 10", "there are: 1"),
        (["forget", "one"], "'one' is not the number", "kb facts"),
        (["forget", "9" * 19], "is not the number", "kb facts"),
    ],
)
def test_errors_name_the_fix_and_change_nothing(
    kb: Call, tmp_path: Path, words: list[str], problem: str, fix: str
) -> None:
    kb("remember", PLOVER, home=tmp_path)
    found = kb(*words, "--json", home=tmp_path)
    error = json.loads(found.err)
    assert (found.code, found.out) == (2, "")
    assert problem in error["message"]
    assert fix in error["fix"]
    assert len(kb("facts", "--json", home=tmp_path).json()["facts"]) == 1


def test_forgetting_nothing_says_so(kb: Call, tmp_path: Path) -> None:
    kb("remember", PLOVER, home=tmp_path)
    kb("forget", "1", home=tmp_path)
    assert "there are none" in kb("forget", "1", home=tmp_path).err


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("A b.", "a  B", True),
        ("Ａ b", "a b", True),
        ("비밀번호는 4411", "비밀번호는 4411.", True),
        ("v1.2", "v12", False),
        ("no", "no?", False),
    ],
)
def test_what_makes_no_difference_between_facts(one: str, other: str, same: bool) -> None:
    assert (text_key(one) == text_key(other)) is same
