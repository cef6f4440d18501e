"""Rules and a situation → the decision: which context nodes are worth their tokens, and why each is in or out.

Pure, and the same for the same input. What is left out here is work that nobody does: providers run for `included` only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kb.relevance.layers import LAYERS, Case, Move, Standing
from kb.relevance.rules import RETURNING, Rules, SignalValue, Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDecision:
    """One node: whether it is in, what it is counted as, and every layer's word on it in order.

    reasons  empty where nothing spoke against the node
    """

    node: str
    included: bool
    est_tokens: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one prompt gets; `included`, `excluded_hard` and `excluded_soft` part the nodes among them, sorted by name.

    mode               as the rules spell it, as given where they do not know it
    recovered_soft     soft exclusions that the budget brought back, in that order; they are in `included`
    deps_added         brought in because another node needs them
    overrides_applied  "urgency", "safety:NODE": those that held, whether or not the node was in already
    est_tokens         of all included nodes
    warnings           why everything is included, or that there are many nodes
    signals, nodes     with `explain`: what the decision rests on, and every node with its reasons
    line               with --bulk: which input line this answers, from 1
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
        """True when the node's provider is to run; False too for a name that is no node."""
        return node in self.included


def decide(rules: Rules, situation: Situation, *, explain: bool = False) -> Decision:
    """Choose the nodes for one prompt.

    An unknown mode and rules that are not enabled include every node; the decision's warnings say so.
    """
    mode = rules.mode_named(situation.mode)
    tokens = {**rules.token_estimates, **_known(rules, situation)}
    case = Case(
        rules=rules,
        mode=mode or situation.mode,
        signals=_visible_signals(situation),
        is_urgent=situation.urgency == "high",
        budget_tokens=situation.token_budget_remaining,
        tokens=tokens,
    )
    standing: dict[str, Standing] = dict.fromkeys(sorted(tokens), "in")
    trail: list[Move] = []
    warnings = list(rules.warnings)
    if rules.enabled and mode is None:
        warnings.append(f"unknown mode '{situation.mode}', so every node is included; {_modes_text(rules)}")
    if rules.enabled and mode is not None:
        for layer in LAYERS:
            step = layer(case, standing)
            standing.update((move.node, move.to) for move in step.moves)
            trail.extend(step.moves)
            if step.warning:
                warnings.append(step.warning)
    return _decision(case, standing, trail, warnings, explain=explain)


def log_line(decision: Decision) -> str:
    """The decision as one line of log, all fields of the seed in its form."""
    lists = ("excluded_hard", "excluded_soft", "recovered_soft", "deps_added", "overrides_applied")
    parts = [f"mode={' '.join(decision.mode.split())}"]
    parts += [f"{name}=[{', '.join(getattr(decision, name))}]" for name in lists]
    parts += [f"total_included={len(decision.included)}", f"est_tokens={decision.est_tokens}"]
    return "[CONTEXT RELEVANCE] " + " | ".join(parts)


def _visible_signals(situation: Situation) -> dict[str, SignalValue]:
    """What rules may ask for: the signals, the pause, and the urgency where one is given."""
    signals = {**situation.signals, RETURNING: situation.returning_from_silence}
    if situation.urgency is not None:
        signals["urgency"] = situation.urgency
    return signals


def _known(rules: Rules, situation: Situation) -> dict[str, int]:
    return {node: count for node, count in situation.measured_tokens.items() if node in rules.token_estimates}


def _modes_text(rules: Rules) -> str:
    return f"there are: {', '.join(rules.masks)}" if rules.masks else "the rules have no modes"


def _decision(
    case: Case, standing: dict[str, Standing], trail: Sequence[Move], warnings: Sequence[str], *, explain: bool
) -> Decision:
    by = {where: tuple(n for n, s in standing.items() if s == where) for where in ("in", "hard", "soft")}
    overrides = ["urgency"] if any(move.cause == "urgency" for move in trail) else []
    overrides += [f"safety:{move.node}" for move in trail if move.cause == "safety"]
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
        nodes=tuple(_explained(case, node, where, trail) for node, where in standing.items()) if explain else None,
    )


def _explained(case: Case, node: str, where: Standing, trail: Sequence[Move]) -> NodeDecision:
    return NodeDecision(
        node=node,
        included=where == "in",
        est_tokens=case.tokens[node],
        reasons=tuple(move.why for move in trail if move.node == node),
    )
