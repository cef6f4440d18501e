"""Hits → the evidence that fits into the prompt. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.ask.choose import Passage
from kb.ask.prompt import render_entry
from kb.ask.records import PackedChunk
from kb.records import Chunk
from kb.text import estimate_tokens

# Kept free beside prompt and question: chat template, rounding of the estimate (seed: 256).
RESERVE_TOKENS = 256


def evidence_budget(max_context_tokens: int, model_context_tokens: int, fixed_tokens: int, answer_tokens: int) -> int:
    """Tokens that evidence may take: the configured ceiling, or what the model's window leaves, whichever is less.

    fixed_tokens   system prompt and question
    answer_tokens  kept free for the answer, which shares the window
    """
    return min(max_context_tokens, model_context_tokens - fixed_tokens - answer_tokens - RESERVE_TOKENS)


def pack_passages(passages: Sequence[Passage], budget_tokens: int, fence: str = "") -> list[PackedChunk]:
    """Number passages in order and take those that fit; one that does not is passed over, the first always goes in.

    fence  as in `pack_chunks`
    """
    packed: list[PackedChunk] = []
    used = 0
    for passage in passages:
        entry = render_entry(len(packed) + 1, passage.chunk, fence)
        size = estimate_tokens(entry)
        if not packed or used + size <= budget_tokens:
            packed.append(PackedChunk(len(packed) + 1, passage.chunk, passage.score, entry, passage.members))
            used += size
    return packed


def pack_chunks(ranked: Sequence[tuple[Chunk, float]], budget_tokens: int, fence: str = "") -> list[PackedChunk]:
    """Number chunks in rank order and take them until the next would overflow the budget; the first always goes in.

    ranked  (chunk, score), best first
    fence   the tag of the headers, or one that is as long while it is not known
    """
    packed: list[PackedChunk] = []
    used = 0
    for chunk, score in ranked:
        entry = render_entry(len(packed) + 1, chunk, fence)
        size = estimate_tokens(entry)
        if packed and used + size > budget_tokens:
            break
        packed.append(PackedChunk(len(packed) + 1, chunk, score, entry))
        used += size
    return packed


def with_fence(packed: Sequence[PackedChunk], fence: str) -> list[PackedChunk]:
    """The same passages with the tag in their headers."""
    return [replace(p, entry=render_entry(p.marker, p.chunk, fence)) for p in packed]
