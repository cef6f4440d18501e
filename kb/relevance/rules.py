"""The records of relevance rules: conditions over signals, masks, overrides, and the situation that they are applied to.

`read_rules.py` reads and checks them. Knows no node's content.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from kb.frozen import dataclass

SignalValue = bool | int | float | str | None
Strength = Literal["hard", "soft"]

# True after a pause of the user. Conditions read it like a signal; a request without it means false.
RETURNING = "returning_from_silence"
# Tokens of a prompt's context where the caller names no budget.
DEFAULT_BUDGET_TOKENS = 4000


def _is_number(value: object) -> bool:
    """True for a value that can be ordered; booleans count as 0 and 1, as in Python."""
    return isinstance(value, int | float) and not math.isnan(value)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda actual, expected: _is_number(actual) and compare(actual, expected)


# suffix → its sign and its test
COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "_gte": (">=", _ordered(operator.ge)),
    "_lte": ("<=", _ordered(operator.le)),
    "_gt": (">", _ordered(operator.gt)),
    "_lt": ("<", _ordered(operator.lt)),
    "_eq": ("is", operator.eq),
}


def describe_value(value: object, table: str = "a table") -> str:
    """A wrong value as a message names it: its kind, or the value itself cut to 60 characters.

    table  what the format calls a dict
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return table if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def split_key(key: str) -> tuple[str, str]:
    """A predicate's key as the signal's name and its suffix; the suffix is empty for an exact match.

    >>> split_key("context_warmth_gte"), split_key("greeting_pattern")
    (('context_warmth', '_gte'), ('greeting_pattern', ''))
    """
    suffix = next((s for s in COMPARISONS if key.endswith(s)), "")
    return key.removesuffix(suffix), suffix


@dataclass(frozen=True, slots=True)
class Predicate:
    """One comparison of a signal with a value; false for a missing signal.

    suffix  one of COMPARISONS, or empty for an exact match
    """

    signal: str
    suffix: str
    value: bool | int | float | str
    test: Callable[[Any, Any], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", COMPARISONS[self.suffix or "_eq"][1])

    def holds(self, signals: Mapping[str, SignalValue]) -> bool:
        """True when the signal is present and compares as stated; text never compares with a number."""
        actual = signals.get(self.signal)
        return actual is not None and self.test(actual, self.value)

    def __str__(self) -> str:
        sign = COMPARISONS[self.suffix or "_eq"][0]
        value = str(self.value).lower() if isinstance(self.value, bool) else repr(self.value)
        return f"{self.signal} {sign} {value}"


@dataclass(frozen=True, slots=True)
class Condition:
    """Predicates that must all hold; an empty condition always holds.

    text  the condition in words
    """

    predicates: tuple[Predicate, ...]
    text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", " and ".join(map(str, self.predicates)) or "always")

    def holds(self, signals: Mapping[str, SignalValue]) -> bool:
        """True when every predicate does."""
        return all(predicate.holds(signals) for predicate in self.predicates)


@dataclass(frozen=True, slots=True)
class SignalRule:
    """Excludes a node while its condition holds.

    strength  hard: a free budget does not bring the node back; soft: it does
    """

    when: Condition
    strength: Strength


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A checked set of rules. Its nodes are the keys of `token_estimates`; every other table names only those.

    enabled               False includes every node, always
    token_estimates       node → tokens it is likely to take
    node_texts            nodes that the rules file adds → their text; they have no provider
    masks                 mode → the nodes its prompt has a place for
    signal_rules          node → rules that leave it out
    urgency_overrides     nodes that an urgent prompt gets
    dependencies          node → nodes that come with it; without a cycle
    safety_overrides      node → conditions that each bring it in
    soft_recovery_budget  tokens: soft exclusions come back while more than this is free
    soft_recovery_priority  the order in which they come back; a node that is not named here stays out
    max_included_nodes    more than this is warned about
    source                where they come from: a path, or "the defaults"
    warnings              likely mistakes that are not faults
    """

    enabled: bool
    token_estimates: Mapping[str, int]
    masks: Mapping[str, frozenset[str]]
    signal_rules: Mapping[str, tuple[SignalRule, ...]]
    urgency_overrides: tuple[str, ...]
    dependencies: Mapping[str, tuple[str, ...]]
    safety_overrides: Mapping[str, tuple[Condition, ...]]
    soft_recovery_budget: int
    soft_recovery_priority: tuple[str, ...]
    max_included_nodes: int
    source: str = "the defaults"
    warnings: tuple[str, ...] = ()
    node_texts: Mapping[str, str] = field(default_factory=dict)

    def signal_names(self) -> frozenset[str]:
        """Every signal that some rule reads."""
        conditions = [rule.when for rules in self.signal_rules.values() for rule in rules]
        conditions += [condition for found in self.safety_overrides.values() for condition in found]
        return frozenset(predicate.signal for condition in conditions for predicate in condition.predicates)

    def mode_named(self, mode: str) -> str | None:
        """The mode as the rules spell it, compared exactly and then without case; None for an unknown one."""
        if mode in self.masks:
            return mode
        alike = [name for name in self.masks if name.casefold() == mode.casefold()]
        return alike[0] if len(alike) == 1 else None

    def with_dependencies(self, nodes: frozenset[str]) -> frozenset[str]:
        """The nodes and everything they depend on, directly or not."""
        found, waiting = set(nodes), list(nodes)
        while waiting:
            for needed in self.dependencies.get(waiting.pop(), ()):
                if needed not in found:
                    found.add(needed)
                    waiting.append(needed)
        return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The input of one decision.

    mode                    the kind of answer; one of the rules' modes
    signals                 name → value; no predicate holds for a missing signal or None
    urgency                 "high" brings the urgency overrides in, anything else does nothing
    returning_from_silence  the user comes back after a pause
    token_budget_remaining  tokens the prompt may still take, the nodes of this decision included; may be negative
    measured_tokens         node → its measured average, used in place of the rules' estimate
    """

    mode: str
    signals: Mapping[str, SignalValue] = field(default_factory=dict)
    urgency: str | None = None
    returning_from_silence: bool = False
    token_budget_remaining: int = DEFAULT_BUDGET_TOKENS
    measured_tokens: Mapping[str, int] = field(default_factory=dict)
