"""The context nodes: each has one provider, read only when a decision includes it, and measures what it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module

from kb.context.node_input import NodeInput, NodeText, fit_lines

Provider = Callable[[NodeInput], list[str]]

# Node → module:function of its provider, imported when the node is read: a greeting reads three of them.
# In the order they are read, stand in a prompt, and get the budget: what the user said first, what kb is last.
PROVIDERS: dict[str, str] = {
    "facts": "memory:tell_facts",
    "working_memory": "memory:tell_turns",
    "focus": "memory:tell_focus",
    "episodic_memory": "memory:tell_episodes",
    "gists": "library:tell_gists",
    "world_state": "surroundings:tell_world",
    "active_lists": "library:tell_open_items",
    "user_traits": "profile:tell_traits",
    "communication_style": "profile:tell_style",
    "identity_context": "profile:tell_identity",
    "identity_modulation": "profile:tell_modulation",
    "warm_return_hint": "memory:tell_return",
    "onboarding_nudge": "surroundings:tell_beginning",
    "client_context": "surroundings:tell_client",
    "act_history": "surroundings:tell_acts",
    "available_skills": "abilities:tell_skills",
    "available_tools": "abilities:tell_tools",
}


def provider_of(node: str) -> Provider:
    """The provider of a node: what it has to say of a question, line by line. A rules file's own node says its text."""
    if node not in PROVIDERS:
        return lambda given: given.node_texts.get(node, "").splitlines()
    module, _, name = PROVIDERS[node].partition(":")
    provider: Provider = getattr(import_module(f"kb.context.{module}"), name)
    return provider


def read_nodes(
    given: NodeInput, included: Collection[str], ceilings: Mapping[str, int], budget_tokens: int
) -> tuple[NodeText, ...]:
    """Run the providers of the nodes that are included, those and no others; returns one text each, silent ones too.

    ceilings       node → tokens it may take at most
    budget_tokens  what all may take together; a node that comes when it is used up is read all the same, and says nothing
    """
    texts = []
    known = [node for node in PROVIDERS if node in included]
    for node in [*known, *sorted(node for node in included if node not in PROVIDERS)]:
        lines = provider_of(node)(given)
        text, tokens = fit_lines(node, lines, min(ceilings.get(node, budget_tokens), budget_tokens))
        budget_tokens -= tokens
        texts.append(NodeText(node, text, tokens))
    return tuple(texts)
