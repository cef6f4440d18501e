"""A query whose first evidence is in the window → what a composed context adds to it, with pressure and without."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kb.context.pipeline import compose
from kb.context.records import ContextRequest, ContextResponse
from kb.eval.records import Query, Scores, Suite
from kb.eval.resolve import resolve_suite
from kb.knowledge_base import KnowledgeBase
from kb.rank.known_text import known_text_from_blocks
from kb.rank.novelty import NoveltySettings
from kb.records import Filters, SearchMode
from kb.text import estimate_tokens

# Figures are new relevant tokens per context of this size.
BUDGET_TOKENS = 500


def resolve_windows(kb: KnowledgeBase, suite: Suite) -> dict[str, tuple[int, ...]]:
    """Query id → the chunks that its window's labels stand for, in the order of their ids; only queries that have some.

    raises  SuiteInvalid with every label that does not resolve
    """
    queries = tuple(replace(query, labels=query.window) for query in suite.queries if query.window)
    if not queries:
        return {}
    return {i: tuple(sorted(chunks)) for i, chunks in resolve_suite(kb, replace(suite, queries=queries)).items()}


def context_scores(
    kb: KnowledgeBase, query: Query, mode: SearchMode, filters: Filters, window_chunks: Sequence[int]
) -> Scores:
    """Facts and their tokens in the context of a query: with its window, and as if there were none (`_plain`)."""
    chunks = kb.corpus.fetch_chunks(window_chunks)
    blocks = [chunks[i].text for i in window_chunks if i in chunks]
    window = known_text_from_blocks(blocks, NoveltySettings.of(kb.config.novelty).shape)
    request = ContextRequest(
        query=query.text,
        mode=mode,
        k=kb.config.context.k,
        filters=filters,
        max_tokens=BUDGET_TOKENS,
        known_text=window,
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
    """The passages that are wanted and that no block holds → their length in tokens, estimated."""
    known = [collapse(block) for block in blocks]
    wanted = [collapse(anchor) for anchor in anchors]
    return {fact: estimate_tokens(fact) for fact in wanted if not any(fact in block for block in known)}


def facts_held(response: ContextResponse, facts: Mapping[str, int]) -> dict[str, int]:
    """Those of the facts that stand in one of the context's passages."""
    texts = [collapse(passage.text) for passage in response.passages]
    return {fact: tokens for fact, tokens in facts.items() if any(fact in text for text in texts)}


def collapse(text: str) -> str:
    """NFKC, white space as one space: as labels are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
