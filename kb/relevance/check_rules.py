"""A parsed rules file → checked tables, and every fault in it with its path of keys; the parsers tell no line numbers."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

from kb.frozen import dataclass
from kb.relevance.rules import COMPARISONS, RETURNING, Condition, Predicate, SignalRule, describe_value, split_key
from kb.relevance.signals import SIGNAL_NAMES

Path = tuple[str | int, ...]
# Name of a table or setting → its checked value; a file's tables hold only what the file names.
Tables = dict[str, Any]

# More tokens than any prompt holds: a larger number is a mistake.
MOST_TOKENS = 1_000_000
# How like a known signal a name must be to be taken for a typing mistake, as difflib measures it (1 is equal).
MISSPELT = 0.85

_TYPE_NAMES = {dict: "a table", list: "a list", str: "text", bool: "true or false", int: "a whole number"}
# The name is also the heading above the node's text in a prompt.
_NODE_NAME = re.compile(r"[^\W\d]\w{0,63}")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake; `at` leads to it, empty for the whole file."""

    at: Path
    what: str

    @property
    def place(self) -> str:
        """The path as people write it: `signal_rules.facts[0].when`; empty for the whole file."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{_quoted_key(part)}" for part in self.at)
        return "".join(parts).removeprefix(".")


def check_tables(document: Any, *, nodes: Collection[str] | None) -> tuple[Tables, list[str], list[Fault]]:
    """(checked tables, warnings, faults) of a parsed file.

    nodes  the nodes that kb has; None takes them from the file's own token estimates. The file may add its own
    """
    if not isinstance(document, Mapping):
        return {}, [], [Fault((), f"the file holds {describe_value(document)}, not a table")]
    own = document.get("nodes")
    built_in = document["token_estimates"] if nodes is None else nodes
    checker = _Checker(built_in, own if isinstance(own, Mapping) else {})
    tables = {}
    for name, value in document.items():
        if read := checker.readers.get(name):
            tables[name] = read((name,), value)
        else:
            checker.fault((name,), f"unknown key '{name}'{_did_you_mean(name, checker.readers)}")
    return tables, list(dict.fromkeys(checker.warnings)), checker.faults


class _Checker:
    """Reads values as the types they must have; a value of another type becomes a fault and None."""

    def __init__(self, nodes: Collection[str], own: Iterable[str]) -> None:
        self.built_in = nodes
        self.nodes = frozenset([*nodes, *own])
        self.faults: list[Fault] = []
        self.warnings: list[str] = []
        self.readers: dict[str, Callable[[Path, Any], Any]] = {
            "enabled": lambda at, value: self.typed(at, value, bool),
            "extends": lambda at, value: self.typed(at, value, bool),
            "nodes": lambda at, value: self.table(at, value, self.own_node),
            "token_estimates": lambda at, value: self.by_node(at, value, self.tokens),
            "template_masks": lambda at, value: self.table(at, value, self.mask),
            "signal_rules": lambda at, value: self.by_node(at, value, self.signal_rules),
            "urgency_overrides": self.node_list,
            "dependencies": lambda at, value: self.by_node(at, value, self.node_list),
            "safety_overrides": lambda at, value: self.by_node(at, value, self.conditions),
            "soft_recovery_budget": self.tokens,
            "soft_recovery_priority": self.node_list,
            "max_included_nodes": lambda at, value: self.whole_number(at, value, low=1, high=1000),
        }

    def fault(self, at: Path, what: str) -> None:
        self.faults.append(Fault(at, what))

    def typed(self, at: Path, value: Any, wanted: type[T]) -> T | None:
        if isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool):
            return value
        self.fault(at, f"{_last_key(at)} must be {_TYPE_NAMES[wanted]}, not {describe_value(value)}")
        return None

    def whole_number(self, at: Path, value: Any, *, low: int, high: int) -> int | None:
        number = self.typed(at, value, int)
        if number is not None and not low <= number <= high:
            self.fault(at, f"{_last_key(at)} must be from {low:,} to {high:,}, not {number:,}")
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

    def keys(self, at: Path, table: Mapping[str, Any], known: Iterable[str]) -> None:
        for name in table:
            if name not in known:
                self.fault((*at, name), f"unknown key '{name}'{_did_you_mean(name, known)}")

    def node(self, at: Path, name: str) -> None:
        if name not in self.nodes:
            hint = _did_you_mean(name, self.nodes) or "; a node of your own needs an entry in 'nodes'"
            self.fault(at, f"unknown node '{name}'{hint}")

    def own_node(self, at: Path, value: Any) -> str | None:
        """The text of a node that the file adds; empty where it gives none."""
        name = str(at[-1])
        if name in self.built_in:
            self.fault(at, f"'{name}' is a node that kb has already")
        elif not _NODE_NAME.fullmatch(name):
            self.fault(at, f"a node cannot be named '{name}': use up to 64 letters, digits and _")
        node = self.typed(at, value, dict)
        if node is None:
            return None
        self.keys(at, node, ("text",))
        return self.typed((*at, "text"), node.get("text", ""), str)

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
                self.fault((*at, place), f"'{name}' is named twice in {_last_key(at)}")
            names.append(name)
        return tuple(names)

    def rows(self, at: Path, value: Any, keys: tuple[str, ...]) -> Iterable[tuple[Path, dict[str, Any]]]:
        """The tables of a list, or one table that stands in its place; each must have a `when`."""
        alone = isinstance(value, dict)
        for place, inner in enumerate([value] if alone else self.typed(at, value, list) or ()):
            here = at if alone else (*at, place)
            row = self.typed(here, inner, dict)
            if row is None:
                continue
            self.keys(here, row, keys)
            if "when" not in row:
                self.fault(here, f"{_last_key(here)} has no 'when'; an empty one means always")
            yield here, row

    def signal_rules(self, at: Path, value: Any) -> tuple[SignalRule, ...]:
        rules = []
        for here, row in self.rows(at, value, ("when", "strength")):
            strength = row.get("strength", "soft")
            if strength not in ("hard", "soft"):
                self.fault((*here, "strength"), f"strength must be 'hard' or 'soft', not {describe_value(strength)}")
                strength = "soft"
            rules.append(SignalRule(self.condition((*here, "when"), row.get("when", {})), strength))
        return tuple(rules)

    def conditions(self, at: Path, value: Any) -> tuple[Condition, ...]:
        rows = self.rows(at, value, ("when",))
        return tuple(self.condition((*here, "when"), row.get("when", {})) for here, row in rows)

    def condition(self, at: Path, value: Any) -> Condition:
        return Condition(tuple(self.table(at, value, self.predicate).values()))

    def predicate(self, at: Path, value: Any) -> Predicate | None:
        key = str(at[-1])
        signal, suffix = split_key(key)
        if fault := _predicate_fault(key, signal, suffix, value):
            self.fault(at, fault)
            return None
        # Callers may send signals of their own, so any name is allowed; one that is almost a known name is a mistake.
        if signal not in SIGNAL_NAMES and (near := difflib.get_close_matches(signal, SIGNAL_NAMES, 1, MISSPELT)):
            self.warnings.append(f"kb computes no signal '{signal}'; did you mean '{near[0]}'?")
        return Predicate(signal, suffix, value)


def _predicate_fault(key: str, signal: str, suffix: str, value: Any) -> str | None:
    """What is wrong with one comparison of a `when`; None for a correct one."""
    if not signal or split_key(signal)[1]:
        what = f"'{key}' names no signal" if not signal else f"'{key}' is ambiguous: a signal named '{signal}'"
        return f"{what} cannot be told from a comparison; name it without {', '.join(COMPARISONS)} at its end"
    if isinstance(value, float) and not math.isfinite(value):
        return f"'{key}' must be a number that is finite"
    if signal == RETURNING and (suffix not in ("", "_eq") or not isinstance(value, bool)):
        return f"{RETURNING} is true or false; compare it with one of them"
    if suffix not in ("", "_eq") and (isinstance(value, bool) or not isinstance(value, int | float)):
        return (
            f"'{key}' compares the signal '{signal}' with a number, not {describe_value(value)}; "
            f"a signal cannot be named '{key}'"
        )
    if not isinstance(value, bool | int | float | str):
        return f"'{key}' must be true, false, a number or text, not {describe_value(value)}"
    return None


def find_cycles(dependencies: Mapping[str, tuple[str, ...]], given: Mapping[str, tuple[str, ...]]) -> list[Fault]:
    """A fault for each cycle that following the dependencies in order meets, naming its nodes.

    given  the dependencies of the file at hand: the fault is placed at the first edge of the cycle that it sets
    """
    faults: list[Fault] = []
    finished: set[str] = set()
    path: list[str] = []

    def follow(node: str) -> None:
        if node in path:
            cycle = path[path.index(node) :]
            edges = zip(cycle, [*cycle[1:], node], strict=True)
            at = next(((child, parent) for child, parent in edges if parent in given.get(child, ())), None)
            place = ("dependencies", at[0], given[at[0]].index(at[1])) if at else ("dependencies",)
            faults.append(Fault(place, f"circular dependency: {' → '.join([*cycle, node])}"))
        elif node not in finished:
            path.append(node)
            for needed in dependencies.get(node, ()):
                follow(needed)
            path.pop()
            finished.add(node)

    for node in [*given, *dependencies]:
        follow(node)
    return faults


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f", did you mean '{near[0]}'?" if near else ""


def _last_key(at: Path) -> str:
    """The last key of a path, with the list positions behind it: `focus[0]`."""
    last = next((i for i in reversed(range(len(at))) if isinstance(at[i], str)), 0)
    return f"'{at[last]}{''.join(f'[{part}]' for part in at[last + 1 :])}'"


def _quoted_key(key: str) -> str:
    """A key as it stands in a dotted path: in quotes where it needs them."""
    return key if re.fullmatch(r"[\w-]+", key) else json.dumps(key, ensure_ascii=False)
