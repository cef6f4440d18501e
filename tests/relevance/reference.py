"""A second implementation of the relevance rules, slow and plain, for comparison with kb/relevance.

It shares nothing with kb/relevance: rules are functions, nodes are looked at one by one, the closure is taken by trying.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

S = dict[str, Any]

# node: estimate, RESPOND, CLARIFY, ACT, ACKNOWLEDGE (tokens; 1: the mode includes the node)
TABLE = {
    "identity_context": (150, 1, 1, 0, 1),
    "onboarding_nudge": (80, 1, 1, 0, 0),
    "user_traits": (300, 1, 1, 0, 1),
    "communication_style": (100, 1, 1, 1, 1),
    "active_lists": (400, 1, 1, 1, 1),
    "client_context": (100, 1, 1, 1, 0),
    "focus": (150, 1, 1, 1, 0),
    "working_memory": (600, 1, 1, 1, 0),
    "facts": (300, 1, 1, 1, 0),
    "gists": (500, 1, 1, 1, 0),
    "episodic_memory": (800, 1, 1, 1, 0),
    "act_history": (400, 1, 1, 1, 0),
    "available_skills": (200, 1, 0, 1, 0),
    "available_tools": (200, 0, 0, 1, 0),
    "world_state": (300, 1, 1, 1, 0),
    "warm_return_hint": (80, 0, 0, 0, 1),
    "identity_modulation": (100, 1, 1, 0, 1),
}
MODES = ["RESPOND", "CLARIFY", "ACT", "ACKNOWLEDGE"]


def at_least(name: str, value: float) -> Callable[[S], bool]:
    return lambda s: name in s and s[name] is not None and not isinstance(s[name], str) and s[name] >= value


def below(name: str, value: float) -> Callable[[S], bool]:
    return lambda s: name in s and s[name] is not None and not isinstance(s[name], str) and s[name] < value


def equal(name: str, value: Any) -> Callable[[S], bool]:
    return lambda s: name in s and s[name] is not None and s[name] == value


GREETING = equal("greeting_pattern", True)
SHORT = below("prompt_token_count", 6)
# The rules that exclude a node: the node, hard or soft, and conditions that must all hold
EXCLUSIONS: list[tuple[str, str, list[Callable[[S], bool]]]] = [
    ("episodic_memory", "soft", [at_least("context_warmth", 0.5), at_least("working_memory_turns", 2)]),
    ("episodic_memory", "soft", [GREETING]),
    ("episodic_memory", "hard", [below("information_density", 0.2)]),
    ("episodic_memory", "hard", [GREETING, SHORT]),
    ("world_state", "hard", [equal("implicit_reference", False), below("information_density", 0.5)]),
    ("world_state", "hard", [GREETING, SHORT]),
    ("working_memory", "hard", [GREETING, SHORT]),
    ("focus", "soft", [GREETING]),
    ("focus", "hard", [GREETING, SHORT]),
    ("available_skills", "hard", [below("tool_relevance_score", 0.1), equal("intent_needs_tools", False)]),
    ("facts", "hard", [equal("fact_count", 0)]),
    ("gists", "hard", [equal("gist_count", 0), at_least("working_memory_turns", 2)]),
    ("active_lists", "soft", []),
    ("active_lists", "soft", [GREETING]),
    ("active_lists", "hard", [GREETING, SHORT]),
    ("onboarding_nudge", "hard", [equal("intent_needs_tools", True)]),
]
NEEDS = [
    ("episodic_memory", "gists"),
    ("available_tools", "available_skills"),
    ("onboarding_nudge", "identity_context"),
    ("warm_return_hint", "identity_context"),
]
PRIORITY = ["episodic_memory", "working_memory", "world_state", "facts", "active_lists", "focus", "gists"]


def tokens(nodes: set[str]) -> int:
    return sum(TABLE[n][0] for n in nodes)


def close(nodes: set[str]) -> set[str]:
    while any(child in nodes and parent not in nodes for child, parent in NEEDS):
        nodes = nodes | {parent for child, parent in NEEDS if child in nodes}
    return nodes


def reference_map(mode: str, signals: S, urgent: bool, returning: bool, budget: int) -> dict[str, bool]:
    """node → in or out."""
    if mode not in MODES:
        return dict.fromkeys(TABLE, True)
    included = {n for n in TABLE if TABLE[n][1 + MODES.index(mode)]}
    holding = [(n, strength) for n, strength, tests in EXCLUSIONS if n in included and all(t(signals) for t in tests)]
    hard = {n for n, strength in holding if strength == "hard"}
    soft = {n for n, strength in holding} - hard
    included -= hard | soft
    if urgent:
        included |= {"working_memory", "world_state", "facts"}
        soft -= included
    forced = set()
    if returning:
        forced |= {"identity_context", "warm_return_hint", "user_traits"}
    if below("context_warmth", 0.3)(signals):
        forced |= {"identity_context"}
    if at_least("working_memory_turns", 1)(signals):
        forced |= {"working_memory"}
    for node in PRIORITY:
        room = budget - tokens(included)
        if (
            node in soft
            and room > 1500
            and room - TABLE[node][0] >= 0
            and tokens(close(included | {node} | forced)) <= budget
        ):
            included = included | {node}
    included = close(close(included) | forced)
    return {n: n in included for n in TABLE}


def original_nodes(mode: str, signals: S, urgent: bool, returning: bool, budget: int) -> set[str]:
    """The nodes that the original rules include. They do not know act_history, have no rule for short greetings, recover all
    soft exclusions at once, add no dependencies after the safety overrides, and include nothing for an unknown mode."""
    nodes = set(TABLE) - {"act_history"}
    included = {n for n in nodes if mode in MODES and TABLE[n][1 + MODES.index(mode)]}
    rules = [rule for rule in EXCLUSIONS if (rule[0], rule[2]) != ("episodic_memory", [GREETING, SHORT])]
    holding = [(n, strength) for n, strength, tests in rules if n in included and all(t(signals) for t in tests)]
    hard = {n for n, strength in holding if strength == "hard"}
    soft = {n for n, _ in holding} - hard
    included -= hard | soft
    if urgent:
        included |= {"working_memory", "world_state", "facts"}
    if budget - tokens(included) > 1500:
        included |= soft & set(PRIORITY)
    included = close(included)
    if returning:
        included |= {"identity_context", "warm_return_hint", "user_traits"}
    if below("context_warmth", 0.3)(signals):
        included |= {"identity_context"}
    if at_least("working_memory_turns", 1)(signals):
        included |= {"working_memory"}
    return included
