"""Scores of tags for documents that have tags already → the least score at which each tag is applied. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from kb.frozen import dataclass

# doc_id → tag → score
Scores = Mapping[int, Mapping[str, float]]
# doc_id → its own tags
Truth = Mapping[int, frozenset[str]]

# Without documents to learn from: an exact name in a text scores 1.0 without context, and more than this with most contexts.
UNCALIBRATED_THRESHOLD = 0.75
# A tag with fewer documents has no threshold of its own.
LEAST_DOCUMENTS = 3
# With that many documents a tag's own threshold counts as much as the common one.
COMMON_WEIGHT_DOCUMENTS = 5.0


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The least score at which a tag is applied.

    common     for tags without one of their own
    per_tag    for tags with LEAST_DOCUMENTS documents or more
    documents  with tags, from which the thresholds were learned; 0 when they were not learned
    """

    common: float
    per_tag: Mapping[str, float] = field(default_factory=dict)
    documents: int = 0

    def of(self, tag: str) -> float:
        """The threshold of a tag."""
        return self.per_tag.get(tag, self.common)

    def choose(self, scores: Mapping[str, float]) -> list[tuple[str, float]]:
        """The tags of a document that reach their thresholds, best first, ties by name."""
        chosen = [(tag, score) for tag, score in scores.items() if score >= self.of(tag)]
        return sorted(chosen, key=lambda row: (-row[1], row[0]))


def calibrate(scores: Scores, truth: Truth) -> Thresholds:
    """The thresholds with the best F1 on documents that have tags: one for all pairs, and one for each frequent tag.

    A tag's own threshold is a mean with the common one, weighted by its documents: few documents say little.
    """
    documents = [doc_id for doc_id in sorted(truth) if doc_id in scores]
    if not documents:
        return Thresholds(UNCALIBRATED_THRESHOLD)
    positives = Counter(tag for doc_id in documents for tag in truth[doc_id])
    by_tag: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for doc_id in documents:
        for tag, score in scores[doc_id].items():
            by_tag[tag].append((score, tag in truth[doc_id]))
    common = best_cut((pair for pairs in by_tag.values() for pair in pairs), positives.total())
    if common is None:
        return Thresholds(UNCALIBRATED_THRESHOLD, {}, len(documents))
    per_tag = {}
    for tag, pairs in sorted(by_tag.items()):
        seen = positives[tag]
        own = best_cut(pairs, seen) if seen >= LEAST_DOCUMENTS else None
        if own is not None:
            share = seen / (seen + COMMON_WEIGHT_DOCUMENTS)
            per_tag[tag] = round(share * own + (1 - share) * common, 4)
    return Thresholds(round(common, 4), per_tag, len(documents))


def best_cut(pairs: Iterable[tuple[float, bool]], positives: int) -> float | None:
    """The least score to accept for the greatest F1, halfway to the next lower score; None when no right pair has a score.

    pairs      (score, is right)
    positives  how many are right, those without a score included
    """
    ordered: Sequence[tuple[float, bool]] = sorted(pairs, key=lambda pair: -pair[0])
    best, right = 0.0, 0
    cut: float | None = None
    for i, (score, is_right) in enumerate(ordered):
        right += is_right
        following = ordered[i + 1][0] if i + 1 < len(ordered) else score - 0.05
        if following == score:
            continue
        f1 = 2 * right / (i + 1 + positives)
        if f1 > best:
            best, cut = f1, (score + following) / 2
    return cut
