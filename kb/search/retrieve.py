"""A search request → what each retriever found, and what it takes to fuse them: filters, both lists, the pool's vectors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from kb.index.protocol import Abilities
from kb.knowledge_base import KnowledgeBase
from kb.records import FusionTrace, Ranking, ScoreKind, SearchMode, SearchRequest
from kb.search.bounds import background, best_possible
from kb.search.expand import Expansion, expand_by_tags
from kb.search.feedback import cosines_to, mix_in
from kb.search.fuse import ceiling_of, combine_scores, fuse_rankings
from kb.text import analyze_query

if TYPE_CHECKING:
    from kb.arrays import FloatVector
    from kb.config import SearchConfig

T = TypeVar("T")

# From here on words alone found more on Korean pages (.963 to .967 nDCG@10 up to .3, .952 at .5); below it, fusing did.
UNREAD_SHARE = 0.25


@dataclass(slots=True)
class Retrieved:
    """Both retrievers' lists for one query, best first, and what they were asked; empty where one was not asked.

    query_vector  None where no vector was searched for
    pool          vectors of all that either retriever found, for a convex fusion; a chunk without one is missing
    best_lexical, best_with_fields  the BM25 that no text could pass for the query, and none with its title and headings
    has_bounds    the indexes that were asked say what a score could reach; without, lists are fused by their ranks
    background    mean cosine of the query to all chunks
    tags          the list by the query's tags, empty unless search.expand_tags asks for it
    note          why the vector search was left out of a hybrid one, as words for the user
    fusion        what the fusion went by, once the lists are fused
    """

    terms: list[str]
    documents: list[int] | None
    lexical: Ranking = ()
    vector: Ranking = ()
    query_vector: FloatVector | None = None
    pool: dict[int, FloatVector] = field(default_factory=dict)
    best_lexical: float = 0.0
    best_with_fields: float = 0.0
    background: float = 0.0
    has_bounds: bool = True
    tags: Expansion = field(default_factory=Expansion)
    stage_ms: dict[str, float] = field(default_factory=dict)
    note: str | None = None
    fusion: FusionTrace | None = None

    def timed(self, stage: str, work: Callable[[], T]) -> T:
        """Do a stage of the search and keep how long it took."""
        began = time.perf_counter()
        result = work()
        self.stage_ms[stage] = (time.perf_counter() - began) * 1000
        return result

    def cosines(self) -> dict[int, float]:
        """chunk_id → cosine to the query, of all that either retriever found and that has a vector."""
        known = {} if self.query_vector is None else cosines_to(self.query_vector, self.pool)
        return known | dict(self.vector)


def retrieve(kb: KnowledgeBase, request: SearchRequest) -> Retrieved:
    """Ask the retrievers the mode calls for, each to the configured depth, inside the filters."""
    began = time.perf_counter()
    found = Retrieved(analyze_query(request.query), kb.corpus.allowed_documents(request.filters))
    found.stage_ms["filter"] = (time.perf_counter() - began) * 1000
    settings = kb.config.search
    depth = max(settings.depth, request.k)
    if request.mode != "vector":
        index = found.timed("open_lexical", kb.lexical_index)
        within = _ids_within(kb, index.abilities, found.documents)
        found.lexical = found.timed("lexical", lambda: index.search(found.terms, depth, within))
        found.best_lexical, found.best_with_fields = best_possible(index.statistics(found.terms), found.terms)
        found.has_bounds = index.abilities.has_bounds
    found.note = _why_words_alone(kb, request)
    if request.mode != "lexical" and not found.note:
        vectors = found.timed("open_vector", kb.vector_index)
        query = found.timed("encode", lambda: kb.encode_query(request.query))
        near = _ids_within(kb, vectors.abilities, found.documents)
        found.vector = found.timed("vector", lambda: vectors.search(query, depth, near))
        found.query_vector, found.background = query, background(vectors.statistics(), query)
        found.has_bounds &= vectors.abilities.has_bounds
        if request.mode == "hybrid" and is_convex(found, settings):
            pool = dict(found.lexical) | dict(found.vector)
            found.pool = found.timed("pool", lambda: kb.stored_vectors(pool))
    if request.mode == "hybrid" and settings.expand_tags:
        lists = [found.lexical, found.vector]
        found.tags = found.timed("tags", lambda: expand_by_tags(kb, request.query, lists, found.documents, depth))
    return found


def _ids_within(kb: KnowledgeBase, abilities: Abilities, documents: list[int] | None) -> list[int] | None:
    """The ids of what an index is to search within; None for everything."""
    if documents is None or abilities.filters_by == "documents":
        return documents
    return kb.corpus.chunk_ids_of(documents)


def is_convex(found: Retrieved, settings: SearchConfig) -> bool:
    """Whether both lists are fused by their scores: as configured, where the indexes say what these could reach."""
    return settings.fusion == "convex" and found.has_bounds


def _why_words_alone(kb: KnowledgeBase, request: SearchRequest) -> str | None:
    """A hybrid search leaves vectors out where the encoder cannot read the query: its list would be noise that counts half.

    On the project's Korean queries the default encoder's list alone reaches .10 nDCG@10, words .61, both fused .35.
    """
    if request.mode != "hybrid" or can_read(kb, request.query):
        return None
    return (
        f"{kb.encoder().model_id} does not know this language: searched by words alone"
        " (embedding.model takes a multilingual encoder)"
    )


def can_read(kb: KnowledgeBase, query: str) -> bool:
    """Whether the encoder knows enough of a query's words for its vector to mean something."""
    return query.isascii() or kb.encoder().unread_share(query) < UNREAD_SHARE


def rank(found: Retrieved, mode: SearchMode, settings: SearchConfig) -> Ranking:
    """The list that is shown, (chunk_id, score) best first: one retriever's own, or both fused.

    The list by tags joins by its ranks: what its documents' tags score has no scale in common with BM25 and cosines.
    """
    if mode != "hybrid":
        return found.lexical if mode == "lexical" else found.vector
    convex = is_convex(found, settings)
    lists, weights = [found.lexical, found.vector], [1.0, 1.0]
    if convex:
        lists, weights = [_rank_convex(found, settings)], [2.0]  # two lists' worth
    if found.tags.ranking and found.tags.weight:
        return fuse_rankings([*lists, found.tags.ranking], settings.rrf_k, [*weights, found.tags.weight])
    return lists[0] if convex else fuse_rankings(lists, settings.rrf_k)


def fusion_kind(found: Retrieved, settings: SearchConfig) -> ScoreKind:
    """What kind of score a hybrid search's hits carry."""
    return "convex" if is_convex(found, settings) and not (found.tags.ranking and found.tags.weight) else "rrf"


def _rank_convex(found: Retrieved, settings: SearchConfig) -> Ranking:
    cosines = found.cosines()
    first = _combine(found, cosines, settings)
    nearest = [i for i, _ in first[: settings.feedback_chunks] if i in found.pool]
    if nearest and found.query_vector is not None:
        mixture = mix_in(found.query_vector, [found.pool[i] for i in nearest], settings.feedback_weight)
        first = _combine(found, cosines_to(mixture, found.pool), settings)
    found.fusion = FusionTrace(
        best_lexical=found.best_lexical,
        background=found.background,
        vector_share=_vector_share(found, settings),
        ceiling=_ceiling(found, settings),
        feedback=tuple(nearest),
    )
    return first


def _combine(found: Retrieved, cosines: dict[int, float], settings: SearchConfig) -> Ranking:
    return combine_scores(
        found.lexical,
        cosines,
        best_lexical=found.best_lexical,
        background=found.background,
        vector_share=_vector_share(found, settings),
        ceiling=_ceiling(found, settings),
    )


def _ceiling(found: Retrieved, settings: SearchConfig) -> float:
    return ceiling_of(found.best_lexical, found.best_with_fields, _vector_share(found, settings))


def _vector_share(found: Retrieved, settings: SearchConfig) -> float:
    """Where no vector was searched for, words are the whole score."""
    return 0.0 if found.query_vector is None else settings.vector_share
