"""A ranking and a known text → the same chunks, each with its overlap, ordered by what is left of their scores.

Novelty shapes relevance and nothing else: it reorders, and leaves out only what the reader has word for word. What fails
in here costs the caller a warning, never the result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache

from kb.config import NoveltyConfig
from kb.fingerprint import FingerprintCache
from kb.frozen import dataclass
from kb.packing.known_text import KnownText
from kb.packing.novelty import (
    NoveltyCandidate,
    NoveltySettings,
    ScoredCandidate,
    count_novel,
    make_cache,
    may_omit,
    penalize,
    without_duplicates,
)
from kb.records import HitNovelty, NoveltyTrace, Ranking
from kb.runtime import Runtime
from kb.search.depth import candidate_depth, passages_text
from kb.store.counters import add_counts


@dataclass(frozen=True, slots=True)
class Counts:
    """What a request did, for the counters; their published names are in `METRICS` of kb/context/metrics.py.

    candidates, penalized  all that were compared; those that were not novel
    exact_duplicates       of them, those that the known text holds word for word
    overlap_sum            of all candidates
    novel                  candidates below the novelty threshold
    expansions             rounds of expansion, 0 or 1; expansion_successes: rounds that brought something new
    """

    candidates: int = 0
    penalized: int = 0
    exact_duplicates: int = 0
    overlap_sum: float = 0.0
    novel: int = 0
    expansions: int = 0
    expansion_successes: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Penalized:
    """Candidates compared with a known text.

    scored   as they came, best base score first
    kept     (candidate_id, score to order by), best first, without what may be left out; equals in the order they came
    omitted  ids of what was left out, in the order they came
    """

    scored: tuple[ScoredCandidate, ...]
    kept: Ranking
    omitted: tuple[int, ...]
    counts: Counts

    def by_id(self) -> dict[int, ScoredCandidate]:
        """Every candidate by its id."""
        return {s.candidate_id: s for s in self.scored}


@dataclass(frozen=True, slots=True)
class PenalizedHits:
    """A ranking compared with a known text, for a search's hits.

    ranking  (chunk_id, score to order by), best first, what may be left out left out
    novelty  of every chunk in it
    note     for the user: how many were left out; None where none was
    """

    ranking: Ranking
    novelty: Mapping[int, HitNovelty]
    trace: NoveltyTrace
    note: str | None

    def why_empty(self) -> str | None:
        """Why nothing is left, where the known text took it."""
        left_out = len(self.trace.omitted)
        return f"everything that was found ({passages_text(left_out)}) was seen already" if left_out else None


def penalize_hits(kb: Runtime, query: str, ranking: Ranking, k: int, known: KnownText) -> PenalizedHits:
    """Compare a ranking with a known text, as far down as it takes to fill `k` hits; counted in the home's totals."""
    found = penalize_until(kb, ranking, k, known)
    count_request(kb, found.counts, query)
    trace = NoveltyTrace(
        candidates=found.counts.candidates,
        penalized=found.counts.penalized,
        novel=found.counts.novel,
        omitted=found.omitted,
        spans=len(known.spans),
    )
    return PenalizedHits(
        ranking=found.kept,
        novelty={s.candidate_id: describe(s) for s in found.scored},
        trace=trace,
        note=f"left out {passages_text(len(found.omitted))} that you have seen already" if found.omitted else None,
    )


def penalize_chunks(kb: Runtime, ranking: Ranking, k: int, known: KnownText) -> Penalized:
    """Compare chunks with a known text.

    ranking  (chunk_id, base score), best first: what is to be compared, no more
    k        how many of them would be shown without a known text
    """
    ids = [chunk_id for chunk_id, _ in ranking]
    texts = {i: chunk.text for i, chunk in kb.corpus.fetch_chunks(ids).items()}
    candidates = [NoveltyCandidate("chunk", i, texts[i], score) for i, score in ranking if i in texts]
    return penalize_overlap(kb, candidates, k, known)


def penalize_until(kb: Runtime, ranking: Ranking, k: int, known: KnownText) -> Penalized:
    """Compare the best of a ranking with a known text; all of it where fewer than `k` of them are left."""
    found = penalize_chunks(kb, ranking[: candidate_depth(k)], k, known)
    if len(found.kept) < k and len(ranking) > len(found.scored):
        return penalize_chunks(kb, ranking, k, known)
    return found


def penalize_overlap(kb: Runtime, candidates: Sequence[NoveltyCandidate], k: int, known: KnownText) -> Penalized:
    """Compare candidates, best base score first, with a known text.

    Where the first `k` are all novel, order and scores stay what they are: any two texts of one genre have some shingles in
    common, and a text that has nothing to do with the query must cost nothing.
    """
    settings = NoveltySettings.of(kb.config.novelty)
    scored = penalize(candidates, known, settings, process_cache(kb.config.novelty))
    if count_novel(scored[:k], settings) == len(scored[:k]):
        left, kept = scored, [(s.candidate_id, s.base_score) for s in scored]
    else:
        left = without_duplicates(scored, settings)
        kept = [(s.candidate_id, s.adjusted_score) for s in left]
        kept.sort(key=lambda row: -row[1])  # stable: equals stay in the order of their base scores
    novel = count_novel(scored, settings)
    counts = Counts(
        candidates=len(scored),
        penalized=len(scored) - novel,
        exact_duplicates=sum(may_omit(s) for s in scored),
        overlap_sum=math.fsum(s.overlap.overlap_ratio for s in scored),
        novel=novel,
    )
    ids = {s.candidate_id for s in left}
    return Penalized(
        scored=tuple(scored),
        kept=tuple(kept),
        omitted=tuple(s.candidate_id for s in scored if s.candidate_id not in ids),
        counts=counts,
    )


@cache
def process_cache(config: NoveltyConfig) -> FingerprintCache:
    """What is computed in this process and kept in it: paths, and chunks whose stored fingerprint is of another version."""
    return make_cache(config)


def is_redundant(scored: ScoredCandidate, config: NoveltyConfig) -> bool:
    """True for a candidate that mostly repeats the known text."""
    return scored.overlap.overlap_ratio >= config.trigger_overlap


def describe(scored: ScoredCandidate) -> HitNovelty:
    """What a hit says of it."""
    overlap = scored.overlap
    return HitNovelty(
        overlap=round(overlap.overlap_ratio, 6),
        penalty=round(overlap.penalty, 6),
        adjusted_score=scored.adjusted_score,
        reason=overlap.reason,
        is_estimate=overlap.is_estimate,
    )


def count_request(kb: Runtime, counts: Counts, query: str, session_id: str | None = None) -> None:
    """Add a request to the home's totals and log it; a home that cannot be written to goes uncounted."""
    add_counts(kb.home, {"requests": 1.0, **{name: float(getattr(counts, name)) for name in counts.__slots__}})
    kb.log(log_line(query, session_id, counts))


def log_line(query: str, session_id: str | None, counts: Counts) -> str:
    """One request as a line of JSON."""
    told = {
        "session_id": session_id,
        "query": query,
        "candidate_count": counts.candidates,
        "penalized_count": counts.penalized,
        "exact_duplicate_count": counts.exact_duplicates,
        "expansion_triggered": counts.expansions > 0,
        "novel_result_count": counts.novel,
    }
    return json.dumps(told, ensure_ascii=False)
