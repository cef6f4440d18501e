"""How many passages to show → how far down a ranking to look for them; and a number of them in words."""

from __future__ import annotations

# Candidates for each passage that may be shown, and how many at least: context expansion asks as many of its queries.
CANDIDATES_PER_PASSAGE, LEAST_CANDIDATES = 3, 12


def candidate_depth(k: int) -> int:
    """How far down a ranking candidates are looked at, for a known text or for repetitions."""
    return max(CANDIDATES_PER_PASSAGE * k, LEAST_CANDIDATES)


def passages_text(count: int) -> str:
    """A number of passages in words."""
    return f"{count:,} passage{'' if count == 1 else 's'}"
