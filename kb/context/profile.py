"""[profile] of the config → lines: who answers, who asks, how to answer. Empty keys say nothing."""

from __future__ import annotations

from kb.context.occasion import Occasion


def tell_identity(occasion: Occasion) -> list[str]:
    """Who answers."""
    return _told("the assistant: ", occasion.profile.identity)


def tell_traits(occasion: Occasion) -> list[str]:
    """Who asks."""
    profile = occasion.profile
    return _told("the user is called ", profile.name) + _told("about the user: ", profile.traits)


def tell_style(occasion: Occasion) -> list[str]:
    """How the user likes to be answered."""
    return _told("the user likes answers that are: ", occasion.profile.style)


def tell_modulation(occasion: Occasion) -> list[str]:
    """How the assistant is to sound."""
    return _told("tone: ", occasion.profile.modulation)


def _told(label: str, value: str) -> list[str]:
    return [label + value.strip()] if value.strip() else []
