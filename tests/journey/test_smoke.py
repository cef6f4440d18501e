"""The main job, end to end."""

from pathlib import Path

from tests.journey.conftest import Call


def test_search_finds_the_passage(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "How often must the mirror be cleaned?", "--json", home=corpus_home)
    assert found.code == 0
    assert found.json()["hits"][0]["path"] == "guide/marigold-telescope.md"
