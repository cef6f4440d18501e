"""A query → the keys of the names it may hold, longest first. The store tells which of them the graph knows."""

from __future__ import annotations

import re
from collections.abc import Collection

from kb.frozen import dataclass
from kb.graph.names import is_common, name_key
from kb.language.korean_particles import strip_particle
from kb.language.registry import has_letters

# Bounds the work for a page pasted as a query.
MOST_WORDS = 64
LONGEST_NAME_WORDS = 6
_WORD = re.compile(r"\S+")
_TRIM = " \t\"'`“”‘’*~.,;:!?()[]{}<>«»「」『』…"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words `first` to `last` (exclusive) of a query as keys, with and without the particle at the end."""

    first: int
    last: int
    keys: tuple[str, ...]


def candidates_of(query: str) -> list[Candidate]:
    """Runs of words, the longest first, then from left to right.

    >>> [c.keys for c in candidates_of("lampd는 왜?")]
    [('lampd는 왜',), ('lampd는', 'lampd'), ('왜',)]
    """
    words = [match.group().strip(_TRIM) or match.group() for match in _WORD.finditer(query[:20_000])][:MOST_WORDS]
    found = []
    for size in range(min(LONGEST_NAME_WORDS, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            run = words[first : first + size]
            if size > 1 or not is_common(run[0].casefold()):
                found.append(Candidate(first, first + size, _keys(run)))
    return found


def _keys(run: list[str]) -> tuple[str, ...]:
    variants = [" ".join(run)]
    if has_letters("ko", run[-1]):
        variants.append(" ".join([*run[:-1], strip_particle(run[-1])]))
    elif run[-1].endswith(("'s", "’s")):
        variants.append(" ".join([*run[:-1], run[-1][:-2]]))
    return tuple(key for key in dict.fromkeys(name_key(variant) for variant in variants) if key)


def choose_longest(candidates: list[Candidate], known: Collection[str]) -> list[str]:
    """The known keys in the order of the query; a name inside a longer known one is left out."""
    taken: set[int] = set()
    chosen: list[tuple[int, str]] = []
    for candidate in candidates:
        key = next((key for key in candidate.keys if key in known), None)
        span = set(range(candidate.first, candidate.last))
        if key is not None and not span & taken:
            taken |= span
            chosen.append((candidate.first, key))
    return list(dict.fromkeys(key for _, key in sorted(chosen)))
