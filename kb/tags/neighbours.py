"""The neighbour sources: FastText, character n-grams, both mixed. Each turns a lookup into tokens by likeness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kb.config import NeighbourFinder
from kb.tags.fasttext import FastTextIndex
from kb.tags.grams import GramIndex
from kb.tags.suggest import NeighbourSource
from kb.tags.words import fold, is_sayable

if TYPE_CHECKING:
    from kb.arrays import FloatVector


def _nearest(scores: FloatVector | None, tokens: Sequence[str], lookup: str, k: int) -> list[tuple[str, float]]:
    """The `k` best tokens, best first, ties by token; the lookup itself is no neighbour of its own."""
    import numpy as np

    if scores is None or not k:
        return []
    wanted = min(k + 1, len(scores))
    # All that reach the last place's score, so that what stands on it does not depend on how they were partitioned.
    least = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
    rows = np.flatnonzero(scores >= least)
    order = rows[np.lexsort((rows, -scores[rows]))]
    own = fold(lookup)
    found = [(tokens[row], float(scores[row])) for row in order[: k + 1] if fold(tokens[row]) != own]
    return found[:k]


class FastTextNeighbours:
    """Cosines of FastText vectors; tokens sorted, so that equal ones come in their order."""

    def __init__(self, index: FastTextIndex, tokens: Sequence[str]) -> None:
        self._index, self._tokens = index, tokens

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """See NeighbourSource."""
        sayable = [fold(lookup) if is_sayable(lookup) else "" for lookup in lookups]
        scores = self._index.score(sayable)
        return [_nearest(s, self._tokens, lookup, k) for s, lookup in zip(scores, lookups, strict=True)]


class GramNeighbours:
    """Likeness of character n-grams; a token that shares nothing with the lookup is no neighbour."""

    def __init__(self, index: GramIndex, tokens: Sequence[str]) -> None:
        self._index, self._tokens = index, tokens

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """See NeighbourSource."""
        return [_positive(_nearest(self._index.score(lookup), self._tokens, lookup, k)) for lookup in lookups]


class MixedNeighbours:
    """Both sources' likeness of every token, as one: (1 − weight) · n-grams + weight · FastText.

    FastText's cosines are set off so that random tags are at 0: as they come, a random pair would outrank a good likeness
    of letters. Weights by benchmarks/tags.py --grid, recall@1 on held-out aliases: .05 .835, .1 .838, .2 .829, .4 .815.
    """

    def __init__(self, grams: GramIndex, fasttext: FastTextIndex, tokens: Sequence[str], weight: float) -> None:
        self._grams, self._fasttext, self._tokens, self._weight = grams, fasttext, tokens, weight

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """See NeighbourSource."""
        offset = self._fasttext.random_cosine
        sayable = [fold(lookup) if is_sayable(lookup) else "" for lookup in lookups]
        found = []
        for lookup, cosines in zip(lookups, self._fasttext.score(sayable), strict=True):
            scores = self._grams.score(lookup) * (1 - self._weight)
            if cosines is not None:
                scores = scores + self._weight * (cosines - offset) / max(1 - offset, 1e-6)
            found.append(_positive(_nearest(scores, self._tokens, lookup, k)))
        return found


def _positive(found: list[tuple[str, float]]) -> list[tuple[str, float]]:
    return [(token, score) for token, score in found if score > 0]


def make_source(
    kind: NeighbourFinder, tokens: Sequence[str], grams: GramIndex, fasttext: FastTextIndex | None, weight: float
) -> NeighbourSource:
    """The configured source; n-grams alone where FastText was not trained.

    weight  FastText's share in the mixture, in [0, 1]
    """
    if fasttext is None or kind == "ngrams":
        return GramNeighbours(grams, tokens)
    sources: dict[str, Callable[[], NeighbourSource]] = {
        "fasttext": lambda: FastTextNeighbours(fasttext, tokens),
        "both": lambda: MixedNeighbours(grams, fasttext, tokens, weight),
    }
    return sources[kind]()
