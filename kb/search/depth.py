"""How many passages to show → how far down a ranking to look for them; and numbers of them in words."""

from __future__ import annotations

# Candidates for each passage that may be shown, and how many at least: context expansion asks as many of its queries.
CANDIDATES_PER_PASSAGE, LEAST_CANDIDATES = 3, 12


def candidate_depth(k: int) -> int:
    """How far down a ranking candidates are looked at, for a known text or for repetitions."""
    return max(CANDIDATES_PER_PASSAGE * k, LEAST_CANDIDATES)


def passages_text(count: int) -> str:
    """A number of passages in words."""
    return f"{count:,} passage{'' if count == 1 else 's'}"


def vectors_text(share: float) -> str:
    """How many of the chunks have a vector, in words; never 100 % while one has none.

    >>> vectors_text(0.6249), vectors_text(0.9999)
    ('vectors for 62 % of the chunks', 'vectors for 99 % of the chunks')
    """
    return f"vectors for {min(99, int(100 * share))} % of the chunks"
