"""kb eval tune: what it prints, when it writes, and where."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.journey.conftest import Call


def write_suite(path: Path, entries: list[tuple[str, str, str]]) -> Path:
    lines = ["name: mine", "version: 1", "queries:"]
    for number, (query, document, heading) in enumerate(entries):
        lines += [f"  - id: q{number}", f'    query: "{query}"', "    relevant:"]
        lines += [f"      - {{path: {document}, heading: {heading}}}"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def many_pages(folder: Path) -> list[tuple[str, str, str]]:
    """Thirty-two pages, each found by its one rare word; the vectors of a nonsense word lead elsewhere."""
    folder.mkdir()
    entries = []
    for i in range(32):
        word = f"zq{i * 7919 % 100003}x"
        body = f"The drawer holds {word} and a few letters about the garden, the weather and the harbour in winter."
        (folder / f"page{i}.md").write_text(f"# Drawer {word}\n\n{body}\n", encoding="utf-8")
        entries.append((f"letters about the weather in the drawer with {word}", f"page{i}.md", f"Drawer {word}"))
    return entries


def test_a_gain_is_written_once_and_only_without_dry_run(
    kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", "all-MiniLM-L6-v2")  # cannot tell one made-up word from another
    home, pages = tmp_path / "home", tmp_path / "pages"
    suite = write_suite(tmp_path / "suite.yaml", many_pages(pages))
    assert kb("init", home=home).code == 0
    assert kb("ingest", pages, home=home).code == 0
    config = home / "config.toml"
    config.write_text("[search]\n# mine\nvector_share = 1.0  # vectors alone\nk = 7\n", encoding="utf-8")
    before = config.read_text(encoding="utf-8")
    tried = kb("eval", "tune", suite, "--dry-run", "--json", home=home)
    found = tried.json()
    assert (tried.code, found["verdict"], found["written"]) == (0, "gain", None), tried.err
    assert found["ci_low"] > 0
    assert found["current"]["weights"]["vector_share"] == 1.0
    assert config.read_text(encoding="utf-8") == before
    done = kb("eval", "tune", suite, home=home)
    assert done.code == 0
    assert "written to" in done.out
    text = config.read_text(encoding="utf-8")
    assert "# mine" in text
    assert tomllib.loads(text)["search"] == {"k": 7, **found["best"]["weights"]}


def test_few_questions_tell_nothing(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    entries = [("How often are the mirrors cleaned?", "guide/marigold-telescope.md", "Care of the mirror")]
    suite = write_suite(tmp_path / "suite.yaml", entries)
    found = kb("eval", "tune", suite, home=corpus_home)
    assert found.code == 1, found.err
    assert "too few questions to tell" in found.out
    assert not (corpus_home / "config.toml").exists()


def test_a_fusion_without_weights_cannot_be_tuned(
    kb: Call, corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_SEARCH__FUSION", "rrf")
    suite = write_suite(tmp_path / "suite.yaml", [("mirrors", "guide/marigold-telescope.md", "Care of the mirror")])
    found = kb("eval", "tune", suite, home=corpus_home)
    assert found.code == 2
    assert "which has no weights" in found.err
