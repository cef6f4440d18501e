"""Two-step tasks: the reader has some evidence already → what a composed context adds to it, with novelty and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kb.context.pipeline import compose
from kb.context.records import ContextRequest, ContextResponse
from kb.eval.records import Query, Scores, Suite
from kb.eval.resolve import collapse, resolve_suite
from kb.packing.known_text import known_text_from_blocks
from kb.packing.novelty import NoveltySettings
from kb.records import Filters, SearchMode
from kb.runtime import Runtime
from kb.text import estimate_tokens

# Figures are new relevant tokens per context of this size.
BUDGET_TOKENS = 500


def resolve_known_chunks(kb: Runtime, suite: Suite) -> dict[str, tuple[int, ...]]:
    """Query id → the chunks that its window's labels name, by id; only queries with a window.

    raises  SuiteInvalid with every label that does not resolve
    """
    queries = tuple(replace(query, labels=query.window) for query in suite.queries if query.window)
    if not queries:
        return {}
    return {i: tuple(sorted(chunks)) for i, chunks in resolve_suite(kb, replace(suite, queries=queries)).items()}


def context_scores(
    kb: Runtime, query: Query, mode: SearchMode, filters: Filters, known_chunks: Sequence[int]
) -> Scores:
    """Share and tokens of the new facts in a query's context: with the text the reader knows, and as if there were none (`_plain`)."""
    chunks = kb.corpus.fetch_chunks(known_chunks)
    blocks = [chunks[i].text for i in known_chunks if i in chunks]
    known_text = known_text_from_blocks(blocks, NoveltySettings.of(kb.config.novelty).shape)
    request = ContextRequest(
        query=query.text,
        mode=mode,
        k=kb.config.context.k,
        filters=filters,
        max_tokens=BUDGET_TOKENS,
        known_text=known_text,
        is_evaluation=True,
    )
    facts = new_facts([label.anchor for label in query.labels if label.anchor], blocks)
    scores: Scores = {}
    for suffix, asked in (("", request), ("_plain", replace(request, use_novelty=False))):
        held = facts_held(compose(kb, asked), facts)
        scores[f"context_recall{suffix}"] = len(held) / len(facts) if facts else None
        scores[f"context_new_tokens{suffix}"] = float(sum(held.values())) if facts else None
    return scores


def new_facts(anchors: Sequence[str], blocks: Sequence[str]) -> dict[str, int]:
    """Anchors that no block contains → their estimated length in tokens."""
    known = [collapse(block) for block in blocks]
    wanted = [collapse(anchor) for anchor in anchors]
    return {fact: estimate_tokens(fact) for fact in wanted if not any(fact in block for block in known)}


def facts_held(response: ContextResponse, facts: Mapping[str, int]) -> dict[str, int]:
    """The facts that a passage of the context contains."""
    texts = [collapse(passage.text) for passage in response.passages]
    return {fact: tokens for fact, tokens in facts.items() if any(fact in text for text in texts)}
