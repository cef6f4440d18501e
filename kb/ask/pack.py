"""Hits → the evidence that fits into the prompt. Pure."""

from __future__ import annotations

from collections.abc import Sequence

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


def pack_chunks(ranked: Sequence[tuple[Chunk, float]], budget_tokens: int) -> list[PackedChunk]:
    """Number chunks in rank order and take them until the next would overflow the budget; the first always goes in.

    ranked  (chunk, score), best first
    """
    packed: list[PackedChunk] = []
    used = 0
    for chunk, score in ranked:
        entry = render_entry(len(packed) + 1, chunk)
        size = estimate_tokens(entry)
        if packed and used + size > budget_tokens:
            break
        packed.append(PackedChunk(len(packed) + 1, chunk, score, entry))
        used += size
    return packed
