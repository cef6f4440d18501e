"""Candidates and what the reader already has → scores with the overlap taken off: repetition sinks, novelty stays. Pure.

    penalty = weight · overlap^1.35        adjusted = max(0, base · (1 - penalty))

An exact duplicate (the same sha256, or whole tokens of the known text) scores 0 and may be left out. Whatever else is
known of overlap only lowers a rank: an estimate never removes anything.

Source: "Self-Referential Context Penalization", its thresholds, weights and exponent as published; overlap by
containment (`kb/packing/overlap.py`). Its second trigger, that all of the first k repeat the known text, follows from the first.
SimHash sees only how often words occur: of a long passage that differs from one of the known text in one number, or in the order
of its halves, it says near-duplicate, which leaves .22 of the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from kb.config import NoveltyConfig
from kb.fingerprint import DEFAULT_SHAPE, Fingerprint, FingerprintCache, Shape, fingerprint_of
from kb.frozen import dataclass
from kb.normal_form import normalize, spaced
from kb.packing.known_text import KnownText
from kb.packing.overlap import counted_containment, estimated_containment, has_verbatim, nearest_simhash
from kb.shingles import token_hashes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

Source = Literal["chunk", "path"]
Reason = Literal["exact_duplicate", "near_duplicate", "self_referential", "partial", "novel"]

# Overlap of what SimHash calls a near-duplicate, at least.
NEAR_DUPLICATE_FLOOR = 0.90
# Overlap of anything but an exact duplicate, at most: a signature of 128 is 1.0 for 27 % of the pairs at Jaccard .99.
MOST_UNLIKE_EXACT = 0.999


@dataclass(frozen=True, slots=True)
class NoveltyCandidate:
    """One thing that could be shown.

    candidate_id  the chunk's id, or the place of the path in its slice
    base_score    what it was found with, higher is better
    """

    source: Source
    candidate_id: int
    text: str
    base_score: float


@dataclass(frozen=True, slots=True)
class OverlapAssessment:
    """How much of a candidate the reader already has.

    simhash_distance  bits to the nearest span, None where one of both has no word
    overlap_ratio     in [0, 1]; 1.0 only for an exact duplicate
    penalty           share of the score that is taken off, in [0, 1]
    is_estimate       from signatures, not counted in the known text
    """

    exact_match: bool
    simhash_distance: int | None
    overlap_ratio: float
    penalty: float
    reason: Reason
    is_estimate: bool


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate with its score after the penalty; `adjusted_score` is never above `base_score` unless that is negative."""

    source: Source
    candidate_id: int
    text: str
    base_score: float
    adjusted_score: float
    overlap: OverlapAssessment


@dataclass(frozen=True, slots=True)
class NoveltySettings:
    """What [novelty] says; the defaults are as published."""

    enabled: bool = True
    shape: Shape = DEFAULT_SHAPE
    duplicate_hamming_bits: int = 3
    trigger_overlap: float = 0.60
    min_novel: int = 2
    novel_overlap: float = 0.30
    near_duplicate_overlap: float = 0.85
    chunk_weight: float = 0.90
    path_weight: float = 0.60
    exponent: float = 1.35
    best_effort: bool = False

    @classmethod
    def of(cls, config: NoveltyConfig) -> NoveltySettings:
        """The settings as configured."""
        return cls(
            enabled=config.enabled,
            shape=Shape(config.shingle_size, config.minhash_permutations),
            duplicate_hamming_bits=config.duplicate_hamming_bits,
            trigger_overlap=config.trigger_overlap,
            min_novel=config.min_novel,
            chunk_weight=config.chunk_weight,
            best_effort=config.best_effort,
        )


def make_cache(config: NoveltyConfig) -> FingerprintCache:
    """An empty cache of fingerprints as configured."""
    shape = Shape(config.shingle_size, config.minhash_permutations)
    return FingerprintCache(shape=shape)


def assess(
    candidate: NoveltyCandidate, known_text: KnownText, settings: NoveltySettings, cache: FingerprintCache | None = None
) -> OverlapAssessment:
    """How much of one candidate is in the known text, and what that takes off its score.

    cache  fingerprints of texts met before, used when it is of the known text's shape
    """
    normal = normalize(candidate.text)
    hashes = token_hashes(normal)
    if not len(hashes) or known_text.is_empty:
        return OverlapAssessment(False, None, 0.0, 0.0, "novel", not known_text.has_text)
    known = _fingerprint(normal, hashes, known_text.shape, cache)
    distance = nearest_simhash(known_text, known)
    if known.sha256 in known_text.digests or has_verbatim(known_text, spaced(normal)):
        taken_off = penalty(candidate.source, 1.0, settings)
        return OverlapAssessment(True, distance, 1.0, taken_off, "exact_duplicate", False)
    overlap = (
        counted_containment(known_text, hashes) if known_text.has_text else estimated_containment(known_text, known)
    )
    if distance is not None and distance <= settings.duplicate_hamming_bits:
        overlap = max(overlap, NEAR_DUPLICATE_FLOOR)
    overlap = min(overlap, MOST_UNLIKE_EXACT)
    return OverlapAssessment(
        exact_match=False,
        simhash_distance=distance,
        overlap_ratio=overlap,
        penalty=penalty(candidate.source, overlap, settings),
        reason=_reason(overlap, settings),
        is_estimate=not known_text.has_text,
    )


def _fingerprint(normal: str, hashes: Hashes, shape: Shape, cache: FingerprintCache | None) -> Fingerprint:
    if cache is not None and cache.shape == shape:
        return cache.of_normal_form(normal)
    return fingerprint_of(normal, hashes, shape)


def _reason(overlap: float, settings: NoveltySettings) -> Reason:
    if overlap >= settings.near_duplicate_overlap:
        return "near_duplicate"
    if overlap >= settings.trigger_overlap:
        return "self_referential"
    return "novel" if overlap < settings.novel_overlap else "partial"


def penalty(source: Source, overlap: float, settings: NoveltySettings) -> float:
    """The share of a score that an overlap takes off, in [0, 1]."""
    weight = settings.chunk_weight if source == "chunk" else settings.path_weight
    return float(weight * overlap**settings.exponent)


def penalize(
    candidates: Sequence[NoveltyCandidate],
    known_text: KnownText,
    settings: NoveltySettings,
    cache: FingerprintCache | None = None,
) -> list[ScoredCandidate]:
    """Every candidate with its overlap and its adjusted score, in the order given; nothing is left out.

    With settings.enabled false, or an empty known text, the adjusted score is the base score.
    """
    scored = []
    for candidate in candidates:
        overlap = assess(candidate, known_text, settings, cache) if settings.enabled else _UNTOUCHED
        scored.append(
            ScoredCandidate(
                source=candidate.source,
                candidate_id=candidate.candidate_id,
                text=candidate.text,
                base_score=candidate.base_score,
                adjusted_score=adjusted_score(candidate.base_score, overlap),
                overlap=overlap,
            )
        )
    return scored


_UNTOUCHED = OverlapAssessment(False, None, 0.0, 0.0, "novel", False)


def adjusted_score(base_score: float, overlap: OverlapAssessment) -> float:
    """A score after the penalty; 0 for an exact duplicate."""
    if overlap.exact_match:
        return 0.0
    return max(0.0, base_score * (1.0 - overlap.penalty)) if overlap.penalty else base_score


def may_omit(scored: ScoredCandidate) -> bool:
    """True for exact duplicates, by sha256 or as whole tokens of the known text: nothing else is ever left out."""
    return scored.overlap.exact_match


def without_duplicates(scored: Sequence[ScoredCandidate], settings: NoveltySettings) -> list[ScoredCandidate]:
    """Candidates but for the exact duplicates, in their order; with best_effort all of them where no other is left."""
    kept = [one for one in scored if not may_omit(one)]
    return list(scored) if settings.best_effort and not kept else kept


def count_novel(scored: Sequence[ScoredCandidate], settings: NoveltySettings) -> int:
    """How many candidates are new to the reader."""
    return sum(one.overlap.overlap_ratio < settings.novel_overlap for one in scored)


def needs_expansion(scored_in_base_order: Sequence[ScoredCandidate], k: int, settings: NoveltySettings) -> bool:
    """True when fewer than min(min_novel, k) of the first k are new; no candidates at all need none.

    scored_in_base_order  best base score first: the first pass as it would be without a known text
    """
    first = scored_in_base_order[:k]
    return bool(first) and count_novel(first, settings) < min(settings.min_novel, k)
