"""A relevance decision → text for people: one line for the whole, then one for each node with its reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.cli.terminal import harmless_line, say, styled
from kb.relevance.decide import Decision, NodeDecision

if TYPE_CHECKING:  # an annotation alone: kb expert relevance asks no question
    from kb.ask.records import AnswerRelevance


def print_decision(decision: Decision) -> None:
    """The decision with every node, the included ones first; `explain` must have been set."""
    nodes = decision.nodes or ()
    say(
        f"{styled(harmless_line(decision.mode), 'bold')}: {len(decision.included)} of {len(nodes)} nodes, about"
        f" {decision.est_tokens:,} tokens; {decision.token_budget_remaining:,} are left"
    )
    if decision.signals:
        shown = ", ".join(
            f"{name} {_value_text(value)}" for name, value in decision.signals.items() if value is not None
        )
        say(styled(f"signals: {harmless_line(shown)}", "dim"))
    width = max((len(node.node) for node in nodes), default=0)
    for node in sorted(nodes, key=lambda n: (not n.included, n.node)):
        say(_node_line(decision, node, width))


def _node_line(decision: Decision, node: NodeDecision, width: int) -> str:
    state = "in" if node.included else "hard" if node.node in decision.excluded_hard else "soft"
    shown = styled(f"{state:<4}", *(("green",) if node.included else ("dim",)))
    reasons = harmless_line(" → ".join(node.reasons))
    return f"  {shown}  {node.node:<{width}} {node.est_tokens:>6,}  {styled(reasons, 'dim')}".rstrip()


def _value_text(value: bool | int | float | str | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def print_relevance(relevance: AnswerRelevance) -> None:
    """The decision for a question, then the tokens that each node contributed."""
    if relevance.decision is None:
        return
    say(styled(f"mode {harmless_line(relevance.mode)}: {relevance.chosen_by}", "dim"))
    print_decision(relevance.decision)
    given = [f"{node.node} {node.tokens}" for node in relevance.nodes if node.tokens]
    silent = [node.node for node in relevance.nodes if not node.tokens]
    say(styled(f"read, in tokens: {', '.join(given) or 'nothing'}", "dim"))
    if silent:
        say(styled(f"nothing to say: {', '.join(silent)}", "dim"))
