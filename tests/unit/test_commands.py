"""The table of commands: every entry can be called, its help fits, and published names lead to today's."""

from importlib import import_module

import pytest

from kb.cli.commands import COMMANDS, RENAMED_COMMANDS, RENAMED_OPTIONS, SECTIONS, present_names

# `kb --help` at 80 columns: two before the name, the longest name, two between.
ROOM_FOR_HELP = 80 - 4 - max(len(name) for name, entry in COMMANDS.items() if entry.renamed_to is None)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_entry_names_what_is_there(name: str) -> None:
    module, _, attribute = COMMANDS[name].place.partition(":")
    assert hasattr(import_module(module), attribute)


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if entry.renamed_to is None])
def test_help_fits_on_a_line(name: str) -> None:
    assert 10 < len(COMMANDS[name].help) <= ROOM_FOR_HELP


@pytest.mark.parametrize(
    ("given", "present"),
    [
        (["cswr", "show"], ["expert", "stability"]),
        (["cswr", "recalibrate", "--reset"], ["expert", "recalibrate", "--reset"]),
        (["relevance", "ACT", "--json"], ["expert", "relevance", "ACT", "--json"]),
        (["ask", "x", "--window", "a", "--mode-hint=ACT"], ["ask", "x", "--seen", "a", "--intent=ACT"]),
        (["context", "--k", "3", "--", "--k"], ["context", "--limit", "3", "--", "--k"]),
        (["search", "cswr", "show"], ["search", "cswr", "show"]),
        ([], []),
    ],
)
def test_published_names_lead_to_todays(given: list[str], present: list[str]) -> None:
    words, notes = present_names(given)
    assert words == present
    assert bool(notes) == (given != present)


def test_renamed_names_are_commands() -> None:
    assert {new[0] for new in RENAMED_COMMANDS.values()} <= set(COMMANDS)
    assert set(RENAMED_OPTIONS) <= set(COMMANDS)


def test_every_listed_command_stands_in_one_section() -> None:
    grouped = [name for names in SECTIONS.values() for name in names]
    assert sorted(grouped) == sorted(name for name, entry in COMMANDS.items() if entry.renamed_to is None)
