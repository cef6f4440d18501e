"""Options and config keys that the README and docs/ name exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.hooks import all_commands
from tests.docs.blocks import PAGES, ROOT, blocks_of, prose_of

# Options that the pages name and that are of no command.
FOREIGN_OPTIONS = {"--install-completion", "--show-completion", "--no-cache"}
# Words with a dot that look like a key of a section and are none: modules and files.
NO_KEYS = {
    "ask.md",
    "context.md",
    "graph.md",
    "tags.md",
    "relevance.md",
    "search.md",
    "tags.json",
    "corpus.jsonl",
    "corpus.db",
}


@pytest.fixture(scope="module")
def options() -> frozenset[str]:
    """Every option of every command."""
    return frozenset(name for _, command in all_commands() for name in _names(command))


@pytest.fixture(scope="module")
def keys() -> dict[str, Any]:
    """config.toml as it is read: section → key → default."""
    return tomllib.loads((ROOT / "config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_options_exist(page: Path, options: frozenset[str]) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", _own_words(page)))
    assert named - options - FOREIGN_OPTIONS == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_config_keys_exist(page: Path, keys: dict[str, Any]) -> None:
    for code in re.findall(r"`([^`\n]+)`", prose_of(page)):
        named = re.match(r"([a-z_]+(?:\.[a-z_]+)+)(?: = .*)?$", code)
        if named and named[1].split(".")[0] in keys and named[1] not in NO_KEYS:
            assert _value(keys, named[1]) is not None, f"{page.name}: {named[1]}"
    for variable in set(re.findall(r"\bKB_([A-Z_]+?)__([A-Z_]+)\b", page.read_text(encoding="utf-8"))):
        section, key = (part.lower() for part in variable)
        assert _value(keys, f"{section}.{key}") is not None, f"{page.name}: KB_{section}__{key}"


def test_toml_blocks_hold_known_keys(keys: dict[str, Any]) -> None:
    for page in PAGES:
        for block in blocks_of(page):
            if block.language == "toml" and block.title == "config.toml":
                for section, table in tomllib.loads(block.text).items():
                    assert set(table) <= set(keys[section]), f"{page.name}:{block.line}"


def test_the_page_of_libraries_has_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"].get("full", [])]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w, -]+) \|", page.partition("## Libraries")[2], flags=re.MULTILINE)
    named = {name for row in rows for name in row.split(", ")}
    assert {re.match(r"[\w.-]+", line)[0] for line in needed} - named == set()  # type: ignore[index]


def _own_words(page: Path) -> str:
    """What a page says, blocks that no test runs left out."""
    return "\n".join([prose_of(page), *(block.text for block in blocks_of(page) if not block.not_run)])


def _names(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from parameter.opts
        yield from parameter.secondary_opts
    yield "--help"


def _value(keys: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        keys = keys.get(part) if isinstance(keys, dict) else None
    return keys
