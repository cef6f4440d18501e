"""Scores of all tokens → the neighbours of a lookup. The scores are FastText's, those of character n-grams, or both mixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kb.config import NeighbourFinder
from kb.tags.fasttext import FastTextIndex
from kb.tags.grams import GramIndex
from kb.tags.words import fold, is_sayable

if TYPE_CHECKING:
    from kb.arrays import FloatVector

# lookups → for each the score of every token, (tokens,); None when nothing of the lookup is known
Scorer = Callable[[Sequence[str]], Sequence["FloatVector | None"]]


class Neighbours:
    """A NeighbourSource over the scores of sorted tokens.

    only_positive  a token with a score of 0 or less is not a neighbour
    """

    def __init__(self, tokens: Sequence[str], score: Scorer, *, only_positive: bool = True) -> None:
        self._tokens, self._score, self._only_positive = tokens, score, only_positive

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """See NeighbourSource."""
        return [self._nearest(s, lookup, k) for lookup, s in zip(lookups, self._score(lookups), strict=True)]

    def _nearest(self, scores: FloatVector | None, lookup: str, k: int) -> list[tuple[str, float]]:
        """The `k` best tokens, best first, ties by token; the lookup is not a neighbour of itself."""
        import numpy as np

        if scores is None or not k:
            return []
        wanted = min(k + 1, len(scores))
        # All tokens that reach the last place's score: which of them comes last must not depend on the partition.
        least = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        rows = np.flatnonzero(scores >= least)
        order = rows[np.lexsort((rows, -scores[rows]))][: k + 1]
        own = fold(lookup)
        near = [(self._tokens[row], float(scores[row])) for row in order if fold(self._tokens[row]) != own][:k]
        return [(token, score) for token, score in near if score > 0 or not self._only_positive]


def gram_neighbours(grams: GramIndex, tokens: Sequence[str]) -> Neighbours:
    """By the likeness of character n-grams; a token that shares nothing with the lookup is not a neighbour."""
    return Neighbours(tokens, lambda lookups: [grams.score(lookup) for lookup in lookups])


def fasttext_neighbours(fasttext: FastTextIndex, tokens: Sequence[str]) -> Neighbours:
    """By the cosines of FastText vectors."""
    return Neighbours(tokens, lambda lookups: fasttext.score(_sayable(lookups)), only_positive=False)


def mixed_neighbours(grams: GramIndex, fasttext: FastTextIndex, tokens: Sequence[str], weight: float) -> Neighbours:
    """By both: (1 − weight) · n-grams + weight · FastText.

    FastText's cosines are shifted so that a random pair of tags scores 0: unshifted, it would outrank good likeness of
    letters. Weights by benchmarks/tags.py --grid, recall@1 on held-out aliases: .05 .835, .1 .838, .2 .829, .4 .815.
    """
    offset = fasttext.random_cosine

    def score(lookups: Sequence[str]) -> list[FloatVector]:
        mixed = []
        for lookup, cosines in zip(lookups, fasttext.score(_sayable(lookups)), strict=True):
            scores = grams.score(lookup) * (1 - weight)
            if cosines is not None:
                scores = scores + weight * (cosines - offset) / max(1 - offset, 1e-6)
            mixed.append(scores)
        return mixed

    return Neighbours(tokens, score)


def _sayable(lookups: Sequence[str]) -> list[str]:
    """Lookups as FastText knows them; empty for one without a letter or digit."""
    return [fold(lookup) if is_sayable(lookup) else "" for lookup in lookups]


def make_source(
    kind: NeighbourFinder, tokens: Sequence[str], grams: GramIndex, fasttext: FastTextIndex | None, weight: float
) -> Neighbours:
    """The configured source; n-grams alone where FastText was not trained.

    weight  FastText's share in the mixture, in [0, 1]
    """
    if fasttext is None or kind == "ngrams":
        return gram_neighbours(grams, tokens)
    if kind == "fasttext":
        return fasttext_neighbours(fasttext, tokens)
    return mixed_neighbours(grams, fasttext, tokens, weight)
