"""The seven layers: each looks at where the nodes stand and says which of them move, and why.

All are pure and share one signature; `decide.py` applies their moves in the order of LAYERS. Hard exclusion means "not by
budget": urgency, dependencies and safety, which stand below it in that order, may bring a hard-excluded node back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from kb.relevance.rules import Rules, SignalValue

Standing = Literal["in", "hard", "soft"]
Cause = Literal["mask", "signal", "urgency", "recovery", "dependency", "safety"]


@dataclass(frozen=True, slots=True)
class Case:
    """A situation made ready: the mode is one of the rules', the pause is among the signals.

    tokens  node → what it is counted as: measured where it was, else estimated
    """

    rules: Rules
    mode: str
    signals: Mapping[str, SignalValue]
    is_urgent: bool
    budget_tokens: int
    tokens: Mapping[str, int]

    def tokens_of(self, nodes: Collection[str]) -> int:
        """What the nodes take together."""
        return sum(map(self.tokens.__getitem__, nodes))

    def forced(self) -> list[tuple[str, str]]:
        """The nodes whose safety conditions hold, in the order of the rules, each with the first that does."""
        return [
            (node, text)
            for node, conditions in self.rules.safety_overrides.items()
            if (text := next((c.text for c in conditions if c.holds(self.signals)), None)) is not None
        ]

    def settled(self, nodes: frozenset[str]) -> frozenset[str]:
        """The nodes with all that dependencies and safety will add to them."""
        return self.rules.with_dependencies(nodes | {node for node, _ in self.forced()})


@dataclass(frozen=True, slots=True)
class Move:
    """A node gets a standing; the one it has already, where a layer would have brought it in anyway."""

    node: str
    to: Standing
    cause: Cause
    why: str


@dataclass(frozen=True, slots=True)
class Step:
    """What one layer does."""

    moves: tuple[Move, ...] = ()
    warning: str | None = None


Layer = Callable[[Case, Mapping[str, Standing]], Step]


def included_in(standing: Mapping[str, Standing]) -> frozenset[str]:
    """The nodes that are in."""
    return frozenset(node for node, where in standing.items() if where == "in")


def mask_by_template(case: Case, standing: Mapping[str, Standing]) -> Step:
    """1: what the mode's prompt has no place for is out, hard."""
    mask = case.rules.masks[case.mode]
    why = f"{case.mode} has no place for it"
    return Step(tuple(Move(node, "hard", "mask", why) for node in standing if node not in mask))


def exclude_by_signal(case: Case, standing: Mapping[str, Standing]) -> Step:
    """2: a rule whose conditions all hold leaves its node out; of several the strongest counts."""
    moves = []
    for node, rules in case.rules.signal_rules.items():
        if standing[node] != "in":
            continue
        matching = [rule for rule in rules if rule.when.holds(case.signals)]
        if matching:
            rule = next((r for r in matching if r.strength == "hard"), matching[0])
            moves.append(Move(node, rule.strength, "signal", f"{rule.strength} rule: {rule.when.text}"))
    return Step(tuple(moves))


def force_when_urgent(case: Case, standing: Mapping[str, Standing]) -> Step:
    """3: an urgent prompt gets the nodes that give wider awareness."""
    if not case.is_urgent:
        return Step()
    return Step(tuple(Move(node, "in", "urgency", "urgent") for node in case.rules.urgency_overrides))


def recover_within_budget(case: Case, standing: Mapping[str, Standing]) -> Step:
    """4: soft exclusions come back one by one, in priority order, while more than the recovery budget is free.

    A node must fit together with all that it and the safety overrides bring along later, so that what recovery adds
    never takes the decision over the budget.
    """
    moves: list[Move] = []
    included = included_in(standing)
    for node in case.rules.soft_recovery_priority:
        if standing[node] != "soft":
            continue
        free = case.budget_tokens - case.tokens_of(included)
        if free <= case.rules.soft_recovery_budget:
            break
        if case.tokens_of(case.settled(included | {node})) <= case.budget_tokens:
            included |= {node}
            moves.append(Move(node, "in", "recovery", f"{free} tokens were free"))
    return Step(tuple(moves))


def add_dependencies(case: Case, standing: Mapping[str, Standing]) -> Step:
    """5: what an included node depends on comes with it, to the end of the chain."""
    return Step(_dependency_moves(case, included_in(standing)))


def _dependency_moves(case: Case, included: frozenset[str]) -> tuple[Move, ...]:
    found = set(included)
    waiting = sorted(included)
    moves = []
    for node in waiting:
        for needed in case.rules.dependencies.get(node, ()):
            if needed not in found:
                found.add(needed)
                waiting.append(needed)
                moves.append(Move(needed, "in", "dependency", f"{node} needs it"))
    return tuple(moves)


def force_for_safety(case: Case, standing: Mapping[str, Standing]) -> Step:
    """6: what must be there under a condition is in, and what it depends on with it."""
    forced = tuple(Move(node, "in", "safety", f"safety: {why}") for node, why in case.forced())
    if not forced:
        return Step()
    return Step(forced + _dependency_moves(case, included_in(standing) | {move.node for move in forced}))


def cap_nodes(case: Case, standing: Mapping[str, Standing]) -> Step:
    """7: too many nodes are warned about. None is dropped: each is in because a rule wants it."""
    count, most = len(included_in(standing)), case.rules.max_included_nodes
    return Step(warning=f"{count} nodes are included, more than {most}" if count > most else None)


LAYERS: tuple[Layer, ...] = (
    mask_by_template,
    exclude_by_signal,
    force_when_urgent,
    recover_within_budget,
    add_dependencies,
    force_for_safety,
    cap_nodes,
)
