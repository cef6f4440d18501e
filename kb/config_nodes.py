"""The sections of the configuration that the context nodes read: [relevance] and [profile]."""

from __future__ import annotations

from dataclasses import dataclass

from kb.setting import key


@dataclass(frozen=True, slots=True)
class RelevanceConfig:
    """Which context nodes are worth their tokens; `kb expert relevance` tries the rules."""

    enabled: bool = key(True, "false gives every prompt every node")
    rules: str = key("", "a JSON or TOML file of rules over the defaults, relative to this file")
    token_budget: int = key(
        4000,
        "tokens that context nodes may take in a prompt, beside the evidence, which comes first",
        low=0,
        high=100_000,
    )


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """Who asks and how to answer: context nodes for prompts, never evidence. Empty keys say nothing."""

    name: str = key("", "what you are called")
    traits: str = key("", "what is worth knowing about you")
    style: str = key("", "how you like to be answered: short, with examples …")
    identity: str = key("", "who answers: the assistant's name and role")
    modulation: str = key("", "how the assistant is to sound: dry, warm …")
