"""Rules and a situation → the decision: which context nodes are worth their tokens, and why each is in or out.

Seven layers run in the order of LAYERS. Each is a pure function with the same signature: it reads the status of every node
and returns the nodes whose status changes, with the reason. "hard" means that a free budget does not bring the node back;
the later layers for urgency, dependencies and safety may. Providers run for `Decision.included` only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from kb.frozen import dataclass
from kb.relevance.rules import RETURNING, Rules, SignalValue, Situation

Status = Literal["in", "hard", "soft"]
Cause = Literal["mask", "signal", "urgency", "recovery", "dependency", "safety"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDecision:
    """One node: whether it is included, the tokens it counts for, and the reason of every layer that changed it.

    reasons  in the order of the layers; empty for a node that no layer excluded
    """

    node: str
    included: bool
    est_tokens: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The nodes of one prompt; each is in one of `included`, `excluded_hard` and `excluded_soft`, sorted by name.

    mode               as the rules spell it; as given where the rules do not know it
    recovered_soft     soft exclusions that the budget brought back, in that order; they are in `included`
    deps_added         included because another node needs them
    overrides_applied  "urgency", "safety:NODE": those that held, whether or not the node was in already
    est_tokens         of all included nodes
    warnings           why everything is included, or that there are many nodes
    signals, nodes     with `explain`: the signals that were read, and every node with its reasons
    line               with --bulk: the number of the input line, from 1
    """

    schema_version: Literal["relevance.v1"] = "relevance.v1"
    mode: str
    included: tuple[str, ...]
    excluded_hard: tuple[str, ...] = ()
    excluded_soft: tuple[str, ...] = ()
    recovered_soft: tuple[str, ...] = ()
    deps_added: tuple[str, ...] = ()
    overrides_applied: tuple[str, ...] = ()
    est_tokens: int
    token_budget_remaining: int
    warnings: tuple[str, ...] = ()
    signals: Mapping[str, bool | int | float | str | None] | None = None
    nodes: tuple[NodeDecision, ...] | None = None
    line: int | None = None

    def includes(self, node: str) -> bool:
        """True when the node's provider is to run; False for an unknown name."""
        return node in self.included


@dataclass(frozen=True, slots=True)
class Case:
    """What the layers read: the situation with a known mode, and with the pause and the urgency among its signals.

    tokens  node → its measured average where there is one, else its estimate
    """

    rules: Rules
    mode: str
    signals: Mapping[str, SignalValue]
    is_urgent: bool
    budget_tokens: int
    tokens: Mapping[str, int]

    def tokens_of(self, nodes: Collection[str]) -> int:
        """The tokens of several nodes together."""
        return sum(map(self.tokens.__getitem__, nodes))

    def forced(self) -> list[tuple[str, str]]:
        """(node, text of the first condition that holds) for each node whose safety override applies, in rule order."""
        return [
            (node, text)
            for node, conditions in self.rules.safety_overrides.items()
            if (text := next((c.text for c in conditions if c.holds(self.signals)), None)) is not None
        ]


@dataclass(frozen=True, slots=True)
class Move:
    """A node gets a status; the one it has already where the layer would have included it anyway."""

    node: str
    to: Status
    cause: Cause
    why: str


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one layer."""

    moves: tuple[Move, ...] = ()
    warning: str | None = None


Layer = Callable[[Case, Mapping[str, Status]], Step]


def mask_by_template(case: Case, status: Mapping[str, Status]) -> Step:
    """1: nodes that the mode's prompt has no place for are excluded, hard."""
    mask = case.rules.masks[case.mode]
    why = f"{case.mode} has no place for it"
    return Step(tuple(Move(node, "hard", "mask", why) for node in status if node not in mask))


def exclude_by_signal(case: Case, status: Mapping[str, Status]) -> Step:
    """2: a signal rule that holds excludes its node; of several, a hard one counts before a soft one."""
    moves = []
    for node, rules in case.rules.signal_rules.items():
        if status[node] != "in":
            continue
        matching = [rule for rule in rules if rule.when.holds(case.signals)]
        if matching:
            rule = next((r for r in matching if r.strength == "hard"), matching[0])
            moves.append(Move(node, rule.strength, "signal", f"{rule.strength} rule: {rule.when.text}"))
    return Step(tuple(moves))


def force_when_urgent(case: Case, status: Mapping[str, Status]) -> Step:
    """3: an urgent prompt gets the nodes of `urgency_overrides`."""
    if not case.is_urgent:
        return Step()
    return Step(tuple(Move(node, "in", "urgency", "urgent") for node in case.rules.urgency_overrides))


def recover_within_budget(case: Case, status: Mapping[str, Status]) -> Step:
    """4: soft exclusions come back one by one, in priority order, while more than the recovery budget is free.

    A node comes back only if it fits together with everything that dependencies and safety overrides will add later, so
    that recovery never takes the decision over the budget.
    """
    moves: list[Move] = []
    included = _included(status)
    forced = {node for node, _ in case.forced()}
    for node in case.rules.soft_recovery_priority:
        if status[node] != "soft":
            continue
        free = case.budget_tokens - case.tokens_of(included)
        if free <= case.rules.soft_recovery_budget:
            break
        final = case.rules.with_dependencies(included | {node} | forced)
        if case.tokens_of(final) <= case.budget_tokens:
            included |= {node}
            moves.append(Move(node, "in", "recovery", f"{free} tokens were free"))
    return Step(tuple(moves))


def add_dependencies(case: Case, status: Mapping[str, Status]) -> Step:
    """5: the nodes that an included node depends on are included, to the end of the chain."""
    return Step(_dependency_moves(case, _included(status)))


def force_for_safety(case: Case, status: Mapping[str, Status]) -> Step:
    """6: the nodes of `safety_overrides` whose condition holds are included, with their dependencies."""
    forced = tuple(Move(node, "in", "safety", f"safety: {why}") for node, why in case.forced())
    if not forced:
        return Step()
    return Step(forced + _dependency_moves(case, _included(status) | {move.node for move in forced}))


def cap_nodes(case: Case, status: Mapping[str, Status]) -> Step:
    """7: too many nodes give a warning. None is dropped: each is in because a rule wants it."""
    count, most = len(_included(status)), case.rules.max_included_nodes
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


def decide(rules: Rules, situation: Situation, *, explain: bool = False) -> Decision:
    """Choose the nodes for one prompt.

    An unknown mode and rules that are not enabled include every node; the decision's warnings say so.
    """
    mode = rules.mode_named(situation.mode)
    signals = {**situation.signals, RETURNING: situation.returning_from_silence}
    if situation.urgency is not None:
        signals["urgency"] = situation.urgency
    measured = {node: count for node, count in situation.measured_tokens.items() if node in rules.token_estimates}
    case = Case(
        rules=rules,
        mode=mode or situation.mode,
        signals=signals,
        is_urgent=situation.urgency == "high",
        budget_tokens=situation.token_budget_remaining,
        tokens={**rules.token_estimates, **measured},
    )
    status: dict[str, Status] = dict.fromkeys(sorted(case.tokens), "in")
    trail: list[Move] = []
    warnings = list(rules.warnings)
    if rules.enabled and mode is None:
        modes = f"there are: {', '.join(rules.masks)}" if rules.masks else "the rules have no modes"
        warnings.append(f"unknown mode '{situation.mode}', so every node is included; {modes}")
    if rules.enabled and mode is not None:
        for layer in LAYERS:
            step = layer(case, status)
            status.update((move.node, move.to) for move in step.moves)
            trail.extend(step.moves)
            if step.warning:
                warnings.append(step.warning)
    return _decision(case, status, trail, warnings, explain=explain)


def log_line(decision: Decision) -> str:
    """The decision as one line of log."""
    lists = ("excluded_hard", "excluded_soft", "recovered_soft", "deps_added", "overrides_applied")
    parts = [f"mode={' '.join(decision.mode.split())}"]
    parts += [f"{name}=[{', '.join(getattr(decision, name))}]" for name in lists]
    parts += [f"total_included={len(decision.included)}", f"est_tokens={decision.est_tokens}"]
    return "[CONTEXT RELEVANCE] " + " | ".join(parts)


def _included(status: Mapping[str, Status]) -> frozenset[str]:
    return frozenset(node for node, where in status.items() if where == "in")


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


def _decision(
    case: Case, status: Mapping[str, Status], trail: Sequence[Move], warnings: Sequence[str], *, explain: bool
) -> Decision:
    by = {where: tuple(n for n, s in status.items() if s == where) for where in ("in", "hard", "soft")}
    overrides = ["urgency"] if any(move.cause == "urgency" for move in trail) else []
    overrides += [f"safety:{move.node}" for move in trail if move.cause == "safety"]
    nodes = tuple(
        NodeDecision(
            node=node,
            included=where == "in",
            est_tokens=case.tokens[node],
            reasons=tuple(move.why for move in trail if move.node == node),
        )
        for node, where in status.items()
        if explain
    )
    return Decision(
        mode=case.mode,
        included=by["in"],
        excluded_hard=by["hard"],
        excluded_soft=by["soft"],
        recovered_soft=tuple(move.node for move in trail if move.cause == "recovery"),
        deps_added=tuple(move.node for move in trail if move.cause == "dependency"),
        overrides_applied=tuple(overrides),
        est_tokens=case.tokens_of(by["in"]),
        token_budget_remaining=case.budget_tokens,
        warnings=tuple(warnings),
        signals=case.signals if explain else None,
        nodes=nodes if explain else None,
    )
