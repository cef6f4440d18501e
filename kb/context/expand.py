"""A query, its graph slice and a known text → a few other queries, and what they find that the known text does not hold.

One round a request, without a language model. It recovers novelty where what was found first repeats what the reader has;
it issues no token and widens no slice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from kb.frozen import dataclass
from kb.graph.adjacent import AdjacentTerm
from kb.packing.known_text import KnownText
from kb.records import Ranking, SearchRequest
from kb.runtime import Runtime
from kb.search.depth import candidate_depth
from kb.search.fuse import fuse_rankings
from kb.search.novelty import Counts, Penalized, is_redundant, penalize_chunks
from kb.search.pipeline import rank_chunks
from kb.text import analyze, analyze_query, find_words

# The original query and three more at most.
MOST_VARIANTS = 4
# Words that a compressed query keeps: as many as the median query of the fixture suite has that are no stop words.
COMPRESSED_WORDS = 4
# The predicates of the third variant.
DEPENDENCIES = ("depends_on", "conflicts_with")


@dataclass(frozen=True, slots=True)
class Expansion:
    """One round of expansion.

    queries  what was searched for, without the original
    found    chunk_id → the query that found it best, of what the first pass did not hold
    kept     (chunk_id, score), best first: both pools fused
    """

    queries: tuple[str, ...]
    found: Mapping[int, str]
    kept: Ranking
    pools: tuple[Penalized, ...]
    counts: Counts


def expand(
    kb: Runtime,
    request: SearchRequest,
    first: Penalized,
    known: KnownText,
    adjacent: Sequence[AdjacentTerm],
    project: str | None,
) -> Expansion:
    """Search the queries beside the request's, compare what they find with the known text, fuse both pools.

    request   the first pass's, its `k` passages wanted
    first     what became of the first pass
    adjacent  strongest first, without what the known text dwells on
    """
    queries = make_variants(request.query, adjacent, project, lambda words: rarest_words(kb, words))
    depth = candidate_depth(request.k)
    compared = {s.candidate_id for s in first.scored}
    pools: list[Penalized] = []
    found: dict[int, str] = {}
    for query in queries:
        pool = _search(kb, replace(request, query=query, k=depth), known, first.omitted)
        pools.append(pool)
        for chunk_id, _ in pool.kept:
            if chunk_id not in compared:
                found.setdefault(chunk_id, query)
    counts = Counts(expansions=1, expansion_successes=int(bool(found)))
    for pool in pools:
        counts += pool.counts
    kept = fuse_pools(first, pools)
    return Expansion(queries, found, kept, tuple(pools), counts)


def _search(kb: Runtime, request: SearchRequest, known: KnownText, again: Collection[int]) -> Penalized:
    """What one more query finds, without duplicates by id and texts that the reader has most of."""
    ranking = [row for row in rank_chunks(kb, request).ranking[: request.k] if row[0] not in again]
    penalized = penalize_chunks(kb, ranking, len(ranking), known)
    scored = penalized.by_id()
    kept = tuple(row for row in penalized.kept if not is_redundant(scored[row[0]], kb.config.novelty))
    return replace(penalized, kept=kept)


def fuse_pools(first: Penalized, pools: Sequence[Penalized]) -> Ranking:
    """Both pools as one list, best first, by reciprocal ranks; a chunk that several variants found has its best score.

    By adjusted scores a variant's hits push out those of the query: 6.1 new tokens instead of 8.2 (benchmarks/README.md).
    """
    best: dict[int, float] = {}
    for pool in pools:
        for chunk_id, score in pool.kept:
            best[chunk_id] = max(score, best.get(chunk_id, 0.0))
    expanded = sorted(best.items(), key=lambda row: (-row[1], row[0]))
    return fuse_rankings([first.kept, expanded])


def make_variants(
    query: str,
    adjacent: Sequence[AdjacentTerm],
    project: str | None,
    rarest: Callable[[list[str]], list[str]],
) -> tuple[str, ...]:
    """The queries beside the original, which the first pass has asked as deep already: one to three.

    adjacent  strongest first
    rarest    words of the query → the same, rarest first

    The project or entity of the strongest relation, what something depends on or is in conflict with, the query's rarest words.
    """
    known = set(analyze(query))
    new = [term for term in adjacent if not set(analyze(term.text)) <= known]
    entity = next((t.text for t in new if t.predicate not in DEPENDENCIES), None)
    if entity is None and project and not set(analyze(project)) <= known:
        entity = project
    dependency = next((t.text for t in new if t.predicate in DEPENDENCIES and t.text != entity), None)
    added = [f"{query} {term}" for term in (entity, dependency) if term]
    compressed = compress_query(query, rarest)
    variants = [v for v in [*added, compressed] if v and v != query]
    return tuple(dict.fromkeys(variants))[: MOST_VARIANTS - 1]


def compress_query(query: str, rarest: Callable[[list[str]], list[str]]) -> str:
    """The query's rarest words in its order, COMPRESSED_WORDS at most and fewer than it has, but one."""
    kept = set(analyze_query(query))
    words = [word for word in dict.fromkeys(find_words(query)) if kept & set(analyze(word))]
    most = min(COMPRESSED_WORDS, max(1, len(find_words(query)) - 1))
    chosen = set(rarest(words)[:most])
    return " ".join(word for word in words if word in chosen)


def rarest_words(kb: Runtime, words: Sequence[str]) -> list[str]:
    """Words by the number of chunks that hold their rarest term, fewest first, those of no chunk last; equals in order."""
    terms = {word: analyze(word) for word in words}
    statistics = kb.lexical_index().statistics([t for found in terms.values() for t in found])
    frequencies = statistics.frequencies()
    held = {word: [frequencies.get(t, 0) for t in found if frequencies.get(t, 0)] for word, found in terms.items()}
    return sorted(words, key=lambda word: (not held[word], min(held[word], default=0), words.index(word)))


def without_dominant(adjacent: Sequence[AdjacentTerm], texts: Sequence[str]) -> tuple[AdjacentTerm, ...]:
    """The terms whose words do not all stand in one of these texts.

    texts  of the passages that the known text holds most of: they are its stretches that overlap most, and they can be read
           even where the known text is a fingerprint
    """
    held = [set(analyze(text)) for text in texts]
    return tuple(t for t in adjacent if not any(set(analyze(t.text)) <= terms for terms in held))
