"""A question about the difference of two things that two documents tell, each of one."""

from __future__ import annotations

from pathlib import Path

from tests.journey.conftest import Call

NOTES = {
    "kestrel.md": "# Kestrel\n\nKestrel is the queue that keeps the orders of the workshop until a clerk has read them.\n\nIt runs on the old machine.\n",
    "merlin.md": "# Merlin\n\nMerlin is the ledger in which the clerks write what an order has cost.\n\nIt is closed at the end of each year.\n",
    "tower.md": "# Tower\n\nThe tower was built of granite, and its lamp burns colza oil.\n",
}


def test_both_are_searched_for_and_quoted(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    kb("ingest", folder, home=home)
    found = kb("ask", "What is the difference between Kestrel and Merlin?", "-k", "1", "--json", home=home)
    answer = found.json()
    assert found.code == 0, answer
    assert {each["citation"]["path"] for each in answer["citations"]} == {"kestrel.md", "merlin.md"}
    assert answer["answer"].index("Kestrel is the queue") < answer["answer"].index("Merlin is the ledger")


def test_a_thing_that_no_document_names_is_not_made_up(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    kb("ingest", folder, home=home)
    found = kb("ask", "What is the difference between Kestrel and Goshawk?", "--json", home=home)
    assert found.code == 1
    assert "'Goshawk'" in found.json()["answer"]


def test_a_quote_that_names_one_of_the_two_alone_does_not_answer(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "notes"
    folder.mkdir()
    text = "# Lathe\n\nThe lathe keeps its tools in a drawer of its own.\n\n# Trade\n\nThe guild asks whether sawdust or chips are swept.\n"
    (folder / "lathe.md").write_text(text, encoding="utf-8")
    kb("ingest", folder, home=home)
    found = kb("ask", "lathe or chips, which keeps its tools in a drawer?", "--json", home=home)
    assert found.code == 1
    assert "does not mention 'chips'" in found.json()["answer"]
