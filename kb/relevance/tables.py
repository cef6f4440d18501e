"""A parsed rules file → checked tables with every fault in it, and how one file's tables are laid over another's.

A fault is named by the path of keys that leads to it: neither of the standard parsers tells lines.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from kb.relevance.rules import COMPARISONS, RETURNING, Condition, Predicate, SignalRule, split_key
from kb.relevance.signals import SIGNAL_NAMES

Path = tuple[str | int, ...]

# More than any prompt holds: a larger number is a slip.
MOST_TOKENS = 1_000_000
# How like a signal of ours a name must be to be taken for a slip of the pen, as difflib measures it (1 is equal).
MISSPELT = 0.85

_TYPE_NAMES = {dict: "a table", list: "a list", str: "text", bool: "true or false", int: "a whole number"}

# It is the heading above the node's text in a prompt, too.
_NODE_NAME = re.compile(r"[^\W\d]\w{0,63}")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong; `at` leads to it, empty for the whole file."""

    at: Path
    what: str

    @property
    def place(self) -> str:
        """The path as people write it: `signal_rules.facts[0].when`; empty for the whole file."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{_bare(part)}" for part in self.at)
        return "".join(parts).removeprefix(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one file, checked; None for one that is not in it. See `Rules` for what each holds.

    nodes  the file's own nodes → their texts, empty for one that says nothing
    """

    enabled: bool | None = None
    extends: bool | None = None
    nodes: Mapping[str, str] | None = None
    token_estimates: Mapping[str, int] | None = None
    template_masks: Mapping[str, Mapping[str, bool]] | None = None
    signal_rules: Mapping[str, tuple[SignalRule, ...]] | None = None
    urgency_overrides: tuple[str, ...] | None = None
    dependencies: Mapping[str, tuple[str, ...]] | None = None
    safety_overrides: Mapping[str, tuple[Condition, ...]] | None = None
    soft_recovery_budget: int | None = None
    soft_recovery_priority: tuple[str, ...] | None = None
    max_included_nodes: int | None = None


def check_tables(document: Any, *, nodes: Collection[str] | None) -> tuple[Tables, list[str], list[Fault]]:
    """The tables of a parsed file, what is odd about them, and what is wrong.

    nodes  the nodes that kb has; None where the file itself says so, by its token estimates. The file may add its own
    """
    if not isinstance(document, Mapping):
        return Tables(), [], [Fault((), f"the file holds {_kind(document)}, not a table")]
    if nodes is None:
        nodes = frozenset(document["token_estimates"])
    own = document.get("nodes")
    checker = _Checker(nodes, own if isinstance(own, Mapping) else {})
    read: dict[str, Callable[[Path, Any], Any]] = {
        "enabled": lambda at, value: checker.typed(at, value, bool),
        "extends": lambda at, value: checker.typed(at, value, bool),
        "nodes": lambda at, value: checker.table(at, value, checker.own_node),
        "token_estimates": lambda at, value: checker.by_node(at, value, checker.tokens),
        "template_masks": lambda at, value: checker.table(at, value, checker.mask),
        "signal_rules": lambda at, value: checker.by_node(at, value, checker.signal_rules),
        "urgency_overrides": checker.node_list,
        "dependencies": lambda at, value: checker.by_node(at, value, checker.node_list),
        "safety_overrides": lambda at, value: checker.by_node(at, value, checker.conditions),
        "soft_recovery_budget": checker.tokens,
        "soft_recovery_priority": checker.node_list,
        "max_included_nodes": lambda at, value: checker.whole_number(at, value, low=1, high=1000),
    }
    found = {}
    for name, value in document.items():
        if name in read:
            found[name] = read[name]((name,), value)
        else:
            checker.fault((name,), f"unknown key '{name}'{_nearest_hint(name, read)}")
    return Tables(**found), list(dict.fromkeys(checker.warnings)), checker.faults


class _Checker:
    """Reads values as what they must be; a value that is not becomes a fault and None."""

    def __init__(self, nodes: Collection[str], own: Iterable[str]) -> None:
        self.built_in = nodes
        self.nodes = frozenset([*nodes, *own])
        self.faults: list[Fault] = []
        self.warnings: list[str] = []

    def fault(self, at: Path, what: str) -> None:
        self.faults.append(Fault(at, what))

    def typed(self, at: Path, value: Any, wanted: type[T]) -> T | None:
        if isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool):
            return value
        self.fault(at, f"{_name(at)} must be {_TYPE_NAMES[wanted]}, not {_kind(value)}")
        return None

    def whole_number(self, at: Path, value: Any, *, low: int, high: int) -> int | None:
        number = self.typed(at, value, int)
        if number is not None and not low <= number <= high:
            self.fault(at, f"{_name(at)} must be from {low:,} to {high:,}, not {number:,}")
        return number

    def tokens(self, at: Path, value: Any) -> int | None:
        return self.whole_number(at, value, low=0, high=MOST_TOKENS)

    def table(self, at: Path, value: Any, read: Callable[[Path, Any], T | None]) -> dict[str, T]:
        table = self.typed(at, value, dict) or {}
        found = {name: read((*at, name), inner) for name, inner in table.items()}
        return {name: inner for name, inner in found.items() if inner is not None}

    def by_node(self, at: Path, value: Any, read: Callable[[Path, Any], T | None]) -> dict[str, T]:
        found = self.table(at, value, read)
        for name in value if isinstance(value, dict) else ():
            self.node((*at, name), name)
        return found

    def node(self, at: Path, name: str) -> bool:
        if name not in self.nodes:
            hint = _nearest_hint(name, self.nodes) or "; a node of your own needs an entry in 'nodes'"
            self.fault(at, f"unknown node '{name}'{hint}")
        return name in self.nodes

    def own_node(self, at: Path, value: Any) -> str | None:
        """The text of a node that the file adds; empty where it gives none."""
        name = str(at[-1])
        if name in self.built_in:
            self.fault(at, f"'{name}' is a node that kb has already")
        elif not _NODE_NAME.fullmatch(name):
            self.fault(at, f"a node cannot be named '{name}': use up to 64 letters, digits and _")
        node = self.typed(at, value, dict)
        for key in node or {}:
            if key != "text":
                self.fault((*at, key), f"unknown key '{key}'{_nearest_hint(key, ['text'])}")
        return None if node is None else self.typed((*at, "text"), node.get("text", ""), str)

    def mask(self, at: Path, value: Any) -> dict[str, bool]:
        return self.by_node(at, value, lambda inner, wanted: self.typed(inner, wanted, bool))

    def node_list(self, at: Path, value: Any) -> tuple[str, ...]:
        names: list[str] = []
        for place, inner in enumerate(self.typed(at, value, list) or ()):
            name = self.typed((*at, place), inner, str)
            if name is None:
                continue
            self.node((*at, place), name)
            if name in names:
                self.fault((*at, place), f"'{name}' is named twice in {_name(at)}")
            names.append(name)
        return tuple(names)

    def _objects(self, at: Path, value: Any, keys: tuple[str, ...]) -> Iterable[tuple[Path, dict[str, Any]]]:
        """The tables of a list, or the one table that stands in its place; each must have a `when`."""
        alone = isinstance(value, dict)
        for place, inner in enumerate([value] if alone else self.typed(at, value, list) or ()):
            here = at if alone else (*at, place)
            rule = self.typed(here, inner, dict)
            if rule is None:
                continue
            for name in rule:
                if name not in keys:
                    self.fault((*here, name), f"unknown key '{name}'{_nearest_hint(name, keys)}")
            if "when" not in rule:
                self.fault(here, f"{_name(here)} has no 'when'; an empty one means always")
            yield here, rule

    def signal_rules(self, at: Path, value: Any) -> tuple[SignalRule, ...]:
        rules = []
        for here, rule in self._objects(at, value, ("when", "strength")):
            strength = rule.get("strength", "soft")
            if strength not in ("hard", "soft"):
                self.fault((*here, "strength"), f"strength must be 'hard' or 'soft', not {_shown(strength)}")
                strength = "soft"
            rules.append(SignalRule(self.condition((*here, "when"), rule.get("when", {})), strength))
        return tuple(rules)

    def conditions(self, at: Path, value: Any) -> tuple[Condition, ...]:
        objects = self._objects(at, value, ("when",))
        return tuple(self.condition((*here, "when"), rule.get("when", {})) for here, rule in objects)

    def condition(self, at: Path, value: Any) -> Condition:
        return Condition(tuple(self.table(at, value, self.predicate).values()))

    def predicate(self, at: Path, value: Any) -> Predicate | None:
        key = str(at[-1])
        signal, suffix = split_key(key)
        if not signal or split_key(signal)[1]:
            what = f"'{key}' names no signal" if not signal else f"'{key}' is ambiguous: a signal named '{signal}'"
            self.fault(
                at, f"{what} cannot be told from a comparison; name it without {', '.join(COMPARISONS)} at its end"
            )
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self.fault(at, f"{_name(at)} must be a number that is finite")
        elif signal == RETURNING and (suffix not in ("", "_eq") or not isinstance(value, bool)):
            self.fault(at, f"{RETURNING} is true or false; compare it with one of them")
        elif suffix not in ("", "_eq") and (isinstance(value, bool) or not isinstance(value, int | float)):
            self.fault(
                at,
                f"'{key}' compares the signal '{signal}' with a number, not {_kind(value)}; "
                f"a signal cannot be named '{key}'",
            )
        elif not isinstance(value, bool | int | float | str):
            self.fault(at, f"{_name(at)} must be true, false, a number or text, not {_kind(value)}")
        else:
            self._warn_of_a_slip(signal)
            return Predicate(signal, suffix, value)
        return None

    def _warn_of_a_slip(self, signal: str) -> None:
        """Any signal may be used, since callers may send their own; but one that looks like ours is likely meant to be it."""
        if signal not in SIGNAL_NAMES and (near := difflib.get_close_matches(signal, SIGNAL_NAMES, 1, MISSPELT)):
            self.warnings.append(f"kb computes no signal '{signal}'; did you mean '{near[0]}'?")


def merge_tables(base: Tables, over: Tables) -> Tables:
    """One file's tables laid over another's: what it names it sets, mask by mask and node by node; the rest stays.

    With `extends = false` in `over` nothing of `base` stays but its token estimates, without which no node would exist.
    """
    if over.extends is False:
        base = Tables(
            token_estimates=base.token_estimates,
            soft_recovery_budget=base.soft_recovery_budget,
            max_included_nodes=base.max_included_nodes,
        )
    merged: dict[str, Any] = {}
    for entry in fields(Tables):
        below, above = getattr(base, entry.name), getattr(over, entry.name)
        if isinstance(above, Mapping) and isinstance(below, Mapping):
            above = {**below, **above}
        merged[entry.name] = below if above is None else above
    masks = {
        mode: {**(base.template_masks or {}).get(mode, {}), **mask}
        for mode, mask in (over.template_masks or {}).items()
    }
    merged["template_masks"] = {**(base.template_masks or {}), **masks}
    return replace(over, **merged)


def find_cycles(dependencies: Mapping[str, tuple[str, ...]], given: Mapping[str, tuple[str, ...]]) -> list[Fault]:
    """A fault for every circle that following the dependencies in order runs into, naming its nodes.

    given  those of the file at hand: the fault is put at the first edge of the circle that it sets
    """
    faults: list[Fault] = []
    finished: set[str] = set()
    path: list[str] = []

    def follow(node: str) -> None:
        if node in path:
            circle = path[path.index(node) :]
            steps = list(zip(circle, [*circle[1:], node], strict=True))
            at = next(((child, parent) for child, parent in steps if parent in given.get(child, ())), None)
            place = ("dependencies", at[0], given[at[0]].index(at[1])) if at else ("dependencies",)
            faults.append(Fault(place, f"circular dependency: {' → '.join([*circle, node])}"))
        elif node not in finished:
            path.append(node)
            for needed in dependencies.get(node, ()):
                follow(needed)
            path.pop()
            finished.add(node)

    for node in [*given, *dependencies]:
        follow(node)
    return faults


def _nearest_hint(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f", did you mean '{near[0]}'?" if near else ""


def _name(at: Path) -> str:
    """The last key of a path, with the elements behind it: `focus[0]`."""
    last = next((i for i in reversed(range(len(at))) if isinstance(at[i], str)), 0)
    return f"'{at[last]}{''.join(f'[{part}]' for part in at[last + 1 :])}'"


def _bare(key: str) -> str:
    """A key as it stands in a dotted path: in quotes where it needs them."""
    return key if re.fullmatch(r"[\w-]+", key) else json.dumps(key, ensure_ascii=False)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"the number {value!r}"
    if isinstance(value, bool | int | str):
        return _shown(value)
    return next((name for kind, name in _TYPE_NAMES.items() if isinstance(value, kind)), f"a {type(value).__name__}")


def _shown(value: Any) -> str:
    """A value as the file has it, cut short."""
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
