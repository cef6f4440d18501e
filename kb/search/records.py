"""What passes between the stages of a search: Candidates → Fused → Varied → Ordered. Each holds the one before it, whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from kb.frozen import dataclass
from kb.records import CopyKind, FusionTrace, HitNovelty, NoveltyTrace, OrderKind, Ranking, StabilityTrace
from kb.search.expand import Expansion

if TYPE_CHECKING:
    from kb.arrays import FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Both retrievers' lists for one query, best first, and what they were asked; empty where one was not asked.

    terms         index terms of the query, repeats included
    documents     doc_ids that the filters let through; None without a filter
    query_vector  None where no vector was searched for
    pool          vectors of all that either retriever found, for a fusion; a chunk without one is missing
    best_lexical, best_with_fields  the BM25 that no text could pass for the query, and none whose title and headings weigh more
    background    mean cosine of the query to all chunks
    mean          of all vectors, (d,) float32, by which another query's background is computed; None where it is not known
    has_bounds    the indexes that were asked say what a score could reach; without, lists are fused by their ranks
    tags          the list by the query's tags, empty unless search.expand_tags asks for it
    note          for the user: misspelt words that were corrected, why the vector search was left out of a hybrid one
    """

    terms: list[str]
    documents: Sequence[int] | None
    lexical: Ranking = ()
    vector: Ranking = ()
    query_vector: FloatVector | None = None
    pool: Mapping[int, FloatVector] = field(default_factory=dict)
    best_lexical: float = 0.0
    best_with_fields: float = 0.0
    background: float = 0.0
    mean: FloatVector | None = None
    has_bounds: bool = True
    tags: Expansion = field(default_factory=Expansion)
    note: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """The candidates as one list, by relevance.

    ranking    (chunk_id, score), best first; the score is of this kind
    relevance  chunk_id → how well it matches, in [0, 1] whatever the kind of score; of every chunk in the
               ranking, or of none where the indexes do not say what a score could reach
    cosines    chunk_id → cosine to the query, of those where it is told
    trace      what a convex fusion went by; None for the others
    read       chunk_id → the reader's score in [0, 1], of what it read
    """

    candidates: Candidates
    ranking: Ranking
    kind: OrderKind
    relevance: Mapping[int, float]
    cosines: Mapping[int, float]
    trace: FusionTrace | None = None
    read: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """The probability of every chunk of a list that it is relevant.

    floor  a list whose best is less probable holds next to never a right answer; 0 where that is not known
    """

    probability: Mapping[int, float]
    floor: float


@dataclass(frozen=True, slots=True, eq=False)
class Varied:
    """The fused list with copies folded and documents spread.

    ranking  (chunk_id, score to order by), best first
    copies   chunk_id → its copies further down, which are not in the ranking
    """

    ranking: Ranking
    copies: Mapping[int, Sequence[tuple[int, CopyKind]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """The fused list in the order it is shown in.

    calibrated     how probable it is that each of the fused list is relevant
    varied         where the order came from
    ranking        (chunk_id, score to order by), best first, without what the reader has word for word
    kind           of these scores
    csw            chunk_id → context stability score, where that was asked for; stability says how it came about
    novelty        chunk_id → how much of it the reader has; empty without a known text
    novelty_trace  the same for all candidates; None without a known text
    note           for the user: what was left out
    why_empty      for the user, where the known text took everything
    """

    fused: Fused
    calibrated: Calibrated
    varied: Varied
    ranking: Ranking
    kind: OrderKind
    csw: Mapping[int, float] = field(default_factory=dict)
    stability: StabilityTrace | None = None
    novelty: Mapping[int, HitNovelty] = field(default_factory=dict)
    novelty_trace: NoveltyTrace | None = None
    note: str | None = None
    why_empty: str | None = None
