"""The user → lines: [profile] of the config, whose empty keys say nothing, and the terminal that kb is asked at."""

from __future__ import annotations

import os
import sys

from kb.context.node_input import NodeInput
from kb.context.question_subjects import asks_about


def lines_of_identity(given: NodeInput) -> list[str]:
    """Who answers."""
    return _line("the assistant: ", given.profile.identity)


def lines_of_traits(given: NodeInput) -> list[str]:
    """Who asks."""
    profile = given.profile
    return _line("the user is called ", profile.name) + _line("about the user: ", profile.traits)


def lines_of_style(given: NodeInput) -> list[str]:
    """How the user likes to be answered."""
    return _line("the user likes answers that are: ", given.profile.style)


def lines_of_modulation(given: NodeInput) -> list[str]:
    """How the assistant is to sound."""
    return _line("tone: ", given.profile.modulation)


def lines_of_client(given: NodeInput) -> list[str]:
    """Where kb runs: folder, locale, terminal."""
    if not given.gives_all and not asks_about(given.question, "here"):
        return []
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = "gone"
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or "not set"
    terminal = os.environ.get("TERM", "unknown") if sys.stdout.isatty() else "none, output goes to a pipe or file"
    return [f"folder: {folder}", f"locale: {locale}", f"terminal: {terminal}"]


def _line(label: str, value: str) -> list[str]:
    return [label + value.strip()] if value.strip() else []
