"""The context nodes: each has one provider, read only when a decision includes it, and measures what it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kb.context import corpus_nodes, journal_nodes, kb_nodes, user_nodes
from kb.context.node_input import NodeInput, NodeText, fit_lines

Provider = Callable[[NodeInput], list[str]]

# Node → its provider: what it has to say to a question, line by line.
# In the order they are read, stand in a prompt, and get the budget: what the user said first, what kb is last.
PROVIDERS: dict[str, Provider] = {
    "facts": journal_nodes.tell_facts,
    "working_memory": journal_nodes.tell_turns,
    "focus": journal_nodes.tell_focus,
    "episodic_memory": journal_nodes.tell_episodes,
    "gists": corpus_nodes.tell_gists,
    "world_state": corpus_nodes.tell_world,
    "active_lists": corpus_nodes.tell_open_items,
    "user_traits": user_nodes.tell_traits,
    "communication_style": user_nodes.tell_style,
    "identity_context": user_nodes.tell_identity,
    "identity_modulation": user_nodes.tell_modulation,
    "warm_return_hint": journal_nodes.tell_return,
    "onboarding_nudge": kb_nodes.tell_beginning,
    "client_context": user_nodes.tell_client,
    "act_history": journal_nodes.tell_acts,
    "available_skills": kb_nodes.tell_skills,
    "available_tools": kb_nodes.tell_tools,
}


def read_nodes(
    given: NodeInput, included: Collection[str], ceilings: Mapping[str, int], budget_tokens: int
) -> tuple[NodeText, ...]:
    """Run the providers of the nodes that are included, and no others; one text each, those without a line too.

    A node that a rules file adds says the text that stands in the file; it comes after the others.

    ceilings       node → tokens it may take at most
    budget_tokens  what all may take together; a node that is read when it is used up says nothing
    """
    texts = []
    known = [node for node in PROVIDERS if node in included]
    for node in [*known, *sorted(node for node in included if node not in PROVIDERS)]:
        lines = PROVIDERS[node](given) if node in PROVIDERS else given.node_texts.get(node, "").splitlines()
        text, tokens = fit_lines(node, lines, min(ceilings.get(node, budget_tokens), budget_tokens))
        budget_tokens -= tokens
        texts.append(NodeText(node, text, tokens))
    return tuple(texts)
