"""A question about the difference of two things that two documents tell, each of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.journey.conftest import Call, Result

NOTES = {
    "kestrel.md": "# Kestrel\n\nKestrel is the queue that keeps the orders of the workshop until a clerk has read them.\n\nIt runs on the old machine.\n",
    "merlin.md": "# Merlin\n\nMerlin is the ledger in which the clerks write what an order has cost.\n\nIt is closed at the end of each year.\n",
    "tower.md": "# Tower\n\nThe tower was built of granite, and its lamp burns colza oil.\n",
}


def ask(kb: Call, place: Path, notes: Mapping[str, str], *words: str) -> Result:
    """Ingest the notes and ask."""
    home, folder = place / "home", place / "notes"
    folder.mkdir()
    for name, text in notes.items():
        (folder / name).write_text(text, encoding="utf-8")
    kb("ingest", folder, home=home)
    return kb("ask", *words, "--json", home=home)


def test_both_are_searched_for_and_quoted(kb: Call, tmp_path: Path) -> None:
    found = ask(kb, tmp_path, NOTES, "What is the difference between Kestrel and Merlin?", "-k", "1")
    answer = found.json()
    assert found.code == 0, answer
    assert {each["citation"]["path"] for each in answer["citations"]} == {"kestrel.md", "merlin.md"}
    assert answer["answer"].index("Kestrel is the queue") < answer["answer"].index("Merlin is the ledger")


def test_a_thing_that_no_document_names_is_not_made_up(kb: Call, tmp_path: Path) -> None:
    found = ask(kb, tmp_path, NOTES, "What is the difference between Kestrel and Goshawk?")
    assert found.code == 1
    assert "'Goshawk'" in found.json()["answer"]


def test_a_quote_that_names_one_of_the_two_alone_does_not_answer(kb: Call, tmp_path: Path) -> None:
    text = "# Lathe\n\nThe lathe keeps its tools in a drawer of its own.\n\n# Trade\n\nThe guild asks whether sawdust or chips are swept.\n"
    found = ask(kb, tmp_path, {"lathe.md": text}, "lathe or chips, which keeps its tools in a drawer?")
    assert found.code == 1
    assert "does not mention 'chips'" in found.json()["answer"]


def test_what_was_shown_before_is_not_searched_for_once_more(kb: Call, tmp_path: Path) -> None:
    question = "What else is the difference between Kestrel and Merlin?"
    bell = "# The bell of Kestrel\n\nKestrel is also the bell that is rung in the yard when an order is late.\n"
    first = ask(kb, tmp_path, NOTES | {"bell.md": bell}, question).json()
    assert {"kestrel.md", "merlin.md"} <= {each["citation"]["path"] for each in first["citations"]}
    seen = ["--seen", tmp_path / "notes" / "kestrel.md"]
    more = kb("ask", question, *seen, "--json", home=tmp_path / "home").json()
    assert (more["outcome"] in ("answered", "not_sure"), more["novelty"]["used"]) == (True, "fresh")
    assert {each["citation"]["path"] for each in more["citations"]} == {"bell.md", "merlin.md"}
