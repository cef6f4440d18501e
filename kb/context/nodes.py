"""The context nodes: each has one provider, which is called only when the relevance decision includes the node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kb.context import corpus_nodes, journal_nodes, kb_nodes, user_nodes
from kb.context.node_input import NodeInput, NodeText, fit_lines

Provider = Callable[[NodeInput], list[str]]

# Node → its provider: the node's text for a question, line by line.
# The order is that of the prompt and of the budget: what the user told kb comes first, what kb can do last.
PROVIDERS: dict[str, Provider] = {
    "facts": journal_nodes.lines_of_facts,
    "working_memory": journal_nodes.lines_of_turns,
    "focus": journal_nodes.lines_of_focus,
    "episodic_memory": journal_nodes.lines_of_episodes,
    "gists": corpus_nodes.lines_of_gists,
    "world_state": corpus_nodes.lines_of_world,
    "active_lists": corpus_nodes.lines_of_open_items,
    "user_traits": user_nodes.lines_of_traits,
    "communication_style": user_nodes.lines_of_style,
    "identity_context": user_nodes.lines_of_identity,
    "identity_modulation": user_nodes.lines_of_modulation,
    "warm_return_hint": journal_nodes.lines_of_return,
    "onboarding_nudge": kb_nodes.lines_of_beginning,
    "client_context": user_nodes.lines_of_client,
    "act_history": journal_nodes.lines_of_acts,
    "available_skills": kb_nodes.lines_of_skills,
    "available_tools": kb_nodes.lines_of_tools,
}


def read_nodes(
    given: NodeInput, included: Collection[str], ceilings: Mapping[str, int], budget_tokens: int
) -> tuple[NodeText, ...]:
    """Run the providers of the included nodes, and no others; returns one text each, empty ones too.

    A node that a rules file adds has the text of that file; it comes after the others.

    ceilings       node → its maximum of tokens
    budget_tokens  maximum of all together; a node that is read when it is used up has an empty text
    """
    texts = []
    known = [node for node in PROVIDERS if node in included]
    for node in [*known, *sorted(node for node in included if node not in PROVIDERS)]:
        lines = PROVIDERS[node](given) if node in PROVIDERS else given.node_texts.get(node, "").splitlines()
        text, tokens = fit_lines(node, lines, min(ceilings.get(node, budget_tokens), budget_tokens))
        budget_tokens -= tokens
        texts.append(NodeText(node, text, tokens))
    return tuple(texts)
