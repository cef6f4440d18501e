"""What an index is to the rest of kb: the records that pass through its door, and what an engine must offer.

An engine is one file and one entry in `kb/index/registry.py`. It offers two things: a writer, which takes rows in and
takes chunks out and commits a finished index to a path, and the opened index, which is searched. Knows no engine and
no store: rows come as plain iterables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from kb.arrays import FloatVector
from kb.config import SearchConfig
from kb.index.stamp import IndexStamp, Origin
from kb.records import Ranking

IndexKind = Literal["lexical", "vector"]
# (chunk_id, doc_id, title, headings, text), in chunk_id order
LexicalRow = tuple[int, int, str, str, str]
# (chunk_id, vector as little-endian float32 bytes of unit length), in chunk_id order
VectorRow = tuple[int, bytes]

Row = TypeVar("Row")
Row_contra = TypeVar("Row_contra", contravariant=True)
Query_contra = TypeVar("Query_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an opened index can do.

    filters_by   what the ids are that a search is kept within; every index applies them before it ranks
    is_exact     a search finds the true best; else a share of them, which the stamp's `recall` tells
    has_bounds   its statistics say what a score could reach, which a convex fusion needs; where they do not, lists are
                 fused by their ranks
    forgets      what was deleted is gone from statistics and scores at once; else when the engine next compacts
    """

    filters_by: Literal["documents", "chunks"]
    is_exact: bool
    has_bounds: bool
    forgets: bool


@dataclass(frozen=True, slots=True)
class LexicalStatistics:
    """How common terms are, as the index's scores see it.

    rows      chunks that the frequencies were counted in
    holding   field → term → how many chunks hold it there; the fields are "text", "title" and "headings"
    together  field → terms → how many chunks hold all of them there, for those combinations that were asked about
    weights   field → what a match there counts, against 1 for the text
    most_per_idf  a term that fills a field scores at most so many times its idf there: k1 + 1 for BM25; 0 without bounds
    """

    rows: int
    holding: Mapping[str, Mapping[str, int]]
    together: Mapping[str, Mapping[tuple[str, ...], int]]
    weights: Mapping[str, float]
    most_per_idf: float

    def frequencies(self) -> dict[str, int]:
        """How many chunks hold each term, in the field that holds it most often; 0 for one that none does."""
        terms = dict.fromkeys(term for holding in self.holding.values() for term in holding)
        return {term: max(holding[term] for holding in self.holding.values()) for term in terms}


@dataclass(frozen=True, slots=True)
class VectorStatistics:
    """rows: how many vectors there are; mean: their mean, (d,), () where there is none."""

    rows: int
    mean: tuple[float, ...]


class OpenedIndex(Protocol[Query_contra]):
    """An index of either kind, opened for searching."""

    @property
    def abilities(self) -> Abilities:
        """What it can do."""

    def search(self, query: Query_contra, depth: int, within: Sequence[int] | None = None) -> Ranking:
        """The `depth` best chunks for a query; equal scores in chunk_id order, at the cut as well.

        within  only chunks with these ids, or of documents with them: see `Abilities.filters_by`; None for all
        """

    def check(self) -> tuple[str, ...]:
        """What is wrong with it, as phrases for a user: it does not hold what its stamp says. Empty for a sound one."""


class LexicalIndex(OpenedIndex[Sequence[str]], Protocol):
    """Finds chunks that hold any of the terms; these come from `kb.text.analyze_query`."""

    def statistics(self, terms: Sequence[str], together: Iterable[tuple[str, ...]] = ()) -> LexicalStatistics:
        """How common the terms are, each for itself, and combinations of them in one field of one chunk."""


class VectorIndex(OpenedIndex[FloatVector], Protocol):
    """Finds chunks by the cosine of their vectors to a query's, (d,) float32 of unit length."""

    def statistics(self) -> VectorStatistics:
        """How many vectors there are, and their mean."""


class IndexWriter(Protocol[Row_contra]):
    """Makes one finished index at a path that nobody searches yet."""

    def upsert(self, rows: Iterable[Row_contra]) -> None:
        """Take rows in; one whose chunk_id is there already takes the place of the earlier one."""

    def delete(self, chunk_ids: Iterable[int]) -> None:
        """Take chunks out; ids that are not there are passed over."""

    def commit(self) -> IndexStamp:
        """Write everything to the path. The writer cannot be used afterwards.

        returns  what is in the index now; where it was built to is for the caller to fill in
        """

    def abandon(self) -> None:
        """Stop writing, for good, since what was begun will not be committed; the caller removes what is at the path."""


Index = TypeVar("Index", bound="LexicalIndex | VectorIndex")


@dataclass(frozen=True, slots=True)
class Engine(Generic[Row, Index]):
    """One way to keep an index: an entry of the registry.

    format  version of analyzer and layout; an index of another format is built anew
    write   (path, origin, settings, base) → a writer that will put an index at the path. `base` is the path of an
            earlier one to start from, of the same format, dimensions and encoder, which stays as it is; None starts empty
    open    (path, stamp, settings) → the index there. raises  IndexOutOfDate, OSError where that fails
    """

    kind: IndexKind
    format: str
    write: Callable[[Path, Origin, SearchConfig, Path | None], IndexWriter[Row]]
    open: Callable[[Path, IndexStamp, SearchConfig], Index]


LexicalEngine = Engine[LexicalRow, LexicalIndex]
VectorEngine = Engine[VectorRow, VectorIndex]
