"""[profile] of the config → lines: who answers, who asks, how to answer. Empty keys say nothing."""

from __future__ import annotations

from kb.context.node_input import NodeInput


def tell_identity(given: NodeInput) -> list[str]:
    """Who answers."""
    return _told("the assistant: ", given.profile.identity)


def tell_traits(given: NodeInput) -> list[str]:
    """Who asks."""
    profile = given.profile
    return _told("the user is called ", profile.name) + _told("about the user: ", profile.traits)


def tell_style(given: NodeInput) -> list[str]:
    """How the user likes to be answered."""
    return _told("the user likes answers that are: ", given.profile.style)


def tell_modulation(given: NodeInput) -> list[str]:
    """How the assistant is to sound."""
    return _told("tone: ", given.profile.modulation)


def _told(label: str, value: str) -> list[str]:
    return [label + value.strip()] if value.strip() else []
