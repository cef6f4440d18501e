"""The context nodes: each has one provider, read only when a decision includes it, and measures what it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kb.context.abilities import tell_skills, tell_tools
from kb.context.library import tell_gists, tell_open_items
from kb.context.memory import tell_episodes, tell_facts, tell_focus, tell_return, tell_turns
from kb.context.occasion import NodeText, Occasion, fit_lines
from kb.context.profile import tell_identity, tell_modulation, tell_style, tell_traits
from kb.context.surroundings import tell_acts, tell_beginning, tell_client, tell_world

Provider = Callable[[Occasion], list[str]]

# In the order they are read, stand in a prompt, and get the budget: what the user said first, what kb is last.
PROVIDERS: dict[str, Provider] = {
    "facts": tell_facts,
    "working_memory": tell_turns,
    "focus": tell_focus,
    "episodic_memory": tell_episodes,
    "gists": tell_gists,
    "world_state": tell_world,
    "active_lists": tell_open_items,
    "user_traits": tell_traits,
    "communication_style": tell_style,
    "identity_context": tell_identity,
    "identity_modulation": tell_modulation,
    "warm_return_hint": tell_return,
    "onboarding_nudge": tell_beginning,
    "client_context": tell_client,
    "act_history": tell_acts,
    "available_skills": tell_skills,
    "available_tools": tell_tools,
}


def read_nodes(
    occasion: Occasion, included: Collection[str], ceilings: Mapping[str, int], budget_tokens: int
) -> tuple[NodeText, ...]:
    """Run the providers of the nodes that are included, those and no others; returns one text each, silent ones too.

    ceilings       node → tokens it may take at most
    budget_tokens  what all may take together; a node that comes when it is used up is read all the same, and says nothing
    """
    texts = []
    for node, provider in PROVIDERS.items():
        if node not in included:
            continue
        lines = provider(occasion)
        text, tokens = fit_lines(node, lines, min(ceilings.get(node, budget_tokens), budget_tokens))
        budget_tokens -= tokens
        texts.append(NodeText(node, text, tokens))
    return tuple(texts)
