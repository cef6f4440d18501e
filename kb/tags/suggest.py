"""Phrases → candidate tags of the closed vocabulary: the rules of the retrieval contract, step by step. Pure.

normalize → neighbours → project → inject → filter → context → fuse → truncate and pin → merge. The caller passes the two
sources of scores; every rule holds for any source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from kb.frozen import dataclass
from kb.tags.records import Candidate, PhraseCandidate, PhraseReport, Suggestions, SuggestOptions
from kb.tags.vocabulary import Vocabulary
from kb.tags.words import expand_phrases, key_of, lookup_of, normalize_phrase

if TYPE_CHECKING:
    from kb.arrays import FloatVector

# A tag without a context gets this quantile of the context scores that the phrase's other tags have.
MISSING_CONTEXT_QUANTILE = 0.10


class NeighbourSource(Protocol):
    """Finds the tokens most like a lookup."""

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """For each lookup up to `k` tokens with their likeness, best first. Tokens may be tags, aliases, or neither."""


class ContextSource(Protocol):
    """Knows how well tags go together; see `kb.tags.context.Context`."""

    def knows(self, lookup: str) -> bool:
        """True when a lookup is a term of the context's vocabulary."""

    def query(self, weights: Mapping[str, float]) -> FloatVector | None:
        """Weighted lookups as one vector; None when none is a term."""

    def cosines(self, vector: FloatVector, tags: Iterable[str]) -> dict[str, float]:
        """Each tag that has a row, with its cosine to a vector."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One candidate of one phrase before it has a context: its score and the token that the score is for."""

    score: float
    token: str


def suggest(
    phrases: Sequence[str],
    vocabulary: Vocabulary,
    source: NeighbourSource,
    context: ContextSource | None,
    options: SuggestOptions,
    blocked: frozenset[str] = frozenset(),
) -> Suggestions:
    """Candidates for phrases, with a report for each phrase, which the caller may drop.

    context  None without a trained context: scores are the neighbours' alone
    blocked  canonical tags that must not appear, whatever names them
    """
    expanded = expand_phrases(phrases)
    lookups = [lookup_of(phrase) for phrase in expanded]
    # In sorted order: the last bits of scores depend on how arithmetic is batched, and must not depend on the phrases' order.
    ordered = sorted(lookups)
    near = dict(zip(ordered, source.neighbours(ordered, options.per_phrase_k), strict=True)) if ordered else {}
    found = {
        lookup: _allowed(_gather(lookup, near[lookup], vocabulary), vocabulary, blocked, options.min_count)
        for lookup in lookups
    }
    contexts = _contexts(lookups, found, context, options)
    given = {normalize_phrase(phrase): phrase for phrase in reversed(phrases)}
    reports = []
    for phrase, lookup in zip(expanded, lookups, strict=True):
        rows = _score(found[lookup], contexts, vocabulary, options.context_weight)
        required = [tag for tag in vocabulary.project(lookup) if tag in found[lookup]]
        known = context is not None and context.knows(lookup)
        reports.append(
            PhraseReport(
                phrase=given.get(phrase, phrase),
                normalized=phrase,
                lookup=lookup,
                tfidf_vocab=known,
                oov_terms=() if known else (lookup,),
                candidates=tuple(pin(rows, required, options.per_phrase_final_k)),
            )
        )
    candidates = merge(reports)[: options.global_k]
    return Suggestions(candidates=tuple(candidates), phrases=tuple(reports), query_has_context=contexts is not None)


def _gather(lookup: str, near: Sequence[tuple[str, float]], vocabulary: Vocabulary) -> dict[str, _Found]:
    """Neighbours as canonical tags, the best token of each; then what the phrase itself names, with 1.0."""
    best: dict[str, _Found] = {}
    for token, score in near:
        for tag in vocabulary.project(token):
            held = best.get(tag)
            if held is None or (-score, token) < (-held.score, held.token):
                best[tag] = _Found(score, token)
    for tag in vocabulary.project(lookup):
        best[tag] = _Found(1.0, lookup)
    return best


def _allowed(
    found: dict[str, _Found], vocabulary: Vocabulary, blocked: frozenset[str], min_count: int
) -> dict[str, _Found]:
    """Without blocked tags and those known to be too rare, even where the phrase names them."""
    return {
        tag: row
        for tag, row in found.items()
        if tag not in blocked and not ((count := vocabulary.count(tag)) is not None and count < min_count)
    }


def _contexts(
    lookups: Sequence[str],
    found: Mapping[str, Mapping[str, _Found]],
    context: ContextSource | None,
    options: SuggestOptions,
) -> dict[str, float] | None:
    """The context score of each candidate that has one; None when the query has no context."""
    if context is None:
        return None
    weights = dict.fromkeys(lookups, 1.0)
    for tag in options.context_tags:
        key = key_of(tag)
        weights[key] = weights.get(key, 0.0) + options.context_tag_weight
    vector = context.query(weights)
    if vector is None:
        return None
    return context.cosines(vector, sorted({tag for rows in found.values() for tag in rows}))


def _score(
    found: Mapping[str, _Found], contexts: Mapping[str, float] | None, vocabulary: Vocabulary, weight: float
) -> list[PhraseCandidate]:
    """One phrase's candidates with their fused scores, best first."""
    default = missing_context(contexts[tag] for tag in found if tag in contexts) if contexts is not None else 0.0
    rows = []
    for tag, row in found.items():
        score = None if contexts is None else contexts.get(tag, default)
        rows.append(
            PhraseCandidate(
                tag=tag,
                alias_token=row.token,
                score_fasttext=row.score,
                score_context=score,
                score_combined=fuse(row.score, score, weight),
                context_imputed=contexts is not None and tag not in contexts,
                count=vocabulary.count(tag),
            )
        )
    return sorted(rows, key=_rank)


def fuse(score_fasttext: float, score_context: float | None, weight: float) -> float:
    """The two scores as one; the first alone where there is no context. Negative cosines stay negative."""
    if score_context is None:
        return score_fasttext
    return (1 - weight) * score_fasttext + weight * score_context


def missing_context(known: Iterable[float]) -> float:
    """The score of a tag without a context: the 10th percentile of the known ones, interpolated; 0.0 where none is known.

    >>> round(missing_context([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]), 6)
    0.19
    """
    ordered = sorted(known)
    if not ordered:
        return 0.0
    place = MISSING_CONTEXT_QUANTILE * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def pin(rows: Sequence[PhraseCandidate], required: Sequence[str], k: int) -> list[PhraseCandidate]:
    """The best `k` rows of a phrase; every required tag is kept, in place of the lowest that are not required.

    With more required tags than `k` the list is longer.
    """
    pinned = set(required)
    room = max(0, k - sum(1 for row in rows if row.tag in pinned))
    others = [row.tag for row in rows if row.tag not in pinned][:room]
    kept = pinned.union(others)
    return [row for row in rows if row.tag in kept]


def merge(reports: Iterable[PhraseReport]) -> list[Candidate]:
    """The phrases' lists as one, each tag once with the best of each score, best first."""
    found: defaultdict[str, list[tuple[str, PhraseCandidate]]] = defaultdict(list)
    for report in reports:
        for row in report.candidates:
            found[row.tag].append((report.normalized, row))
    merged = [
        Candidate(
            tag=tag,
            score_combined=max(row.score_combined for _, row in rows),
            score_fasttext=max(row.score_fasttext for _, row in rows),
            score_context=max((row.score_context for _, row in rows if row.score_context is not None), default=None),
            count=rows[0][1].count,
            sources=tuple(sorted({phrase for phrase, _ in rows})),
        )
        for tag, rows in found.items()
    ]
    return sorted(merged, key=_rank)


def _rank(row: Candidate | PhraseCandidate) -> tuple[float, int, str]:
    """Best first; of equal scores the more frequent tag, then the name."""
    return (-row.score_combined, -(row.count or 0), row.tag)
