"""The interface of indexes: the records that pass through it, and the parts of an engine.

An engine is one file and one entry in `kb/index/registry.py`. It has a writer, which adds and deletes rows and commits a
finished index to a path, and an opened index, which is searched. Knows no store: rows come as plain iterables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from kb.arrays import FloatMatrix, FloatVector, IntVector
from kb.config import SearchConfig
from kb.frozen import dataclass
from kb.index.stamp import IndexStamp, Origin
from kb.records import Ranking

IndexKind = Literal["lexical", "vector"]
# (chunk_id, doc_id, title, headings, text), in chunk_id order; ids are 1 or more
LexicalRow = tuple[int, int, str, str, str]
# (chunk_id, vector as little-endian float32 bytes of unit length), in chunk_id order
VectorRow = tuple[int, bytes]

Row = TypeVar("Row")
Row_contra = TypeVar("Row_contra", contravariant=True)
Query_contra = TypeVar("Query_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Abilities:
    """The abilities of an opened index.

    filters_by   the kind of ids that a search is filtered by; every index filters before it ranks
    is_exact     a search finds the true best; else a share of them, the `recall` of the stamp
    has_bounds   its statistics give the highest possible score, which convex fusion needs; without it lists are fused
                 by their ranks
    forgets      deleted chunks leave statistics and scores at once; else when the engine next compacts
    """

    filters_by: Literal["documents", "chunks"]
    is_exact: bool
    has_bounds: bool
    forgets: bool


@dataclass(frozen=True, slots=True)
class LexicalStatistics:
    """Document frequencies as the index's scores use them.

    rows      chunks that were counted
    holding   field → term → number of chunks with it there; the fields are "text", which includes the others, "title"
              and "headings"
    together  field → terms → number of chunks with all of them there, for the requested combinations
    weights   field → weight of a match there: 1 for the text, and what a match in the headings or the title adds
    most_per_idf  the most that a term can score in a field, as a multiple of its idf: k1 + 1 for BM25; 0 without bounds
    """

    rows: int
    holding: Mapping[str, Mapping[str, int]]
    together: Mapping[str, Mapping[tuple[str, ...], int]]
    weights: Mapping[str, float]
    most_per_idf: float

    def frequencies(self) -> dict[str, int]:
        """The number of chunks with each term, in the field that has it most often."""
        terms = dict.fromkeys(term for holding in self.holding.values() for term in holding)
        return {term: max(holding[term] for holding in self.holding.values()) for term in terms}


@dataclass(frozen=True, slots=True)
class VectorStatistics:
    """rows: the number of vectors; mean: their mean, (d,), () without vectors."""

    rows: int
    mean: tuple[float, ...]


class OpenedIndex(Protocol[Query_contra]):
    """An index of either kind, opened for searching; its methods raise IndexOutOfDate where its files are damaged."""

    @property
    def abilities(self) -> Abilities:
        """Its abilities."""

    def search(self, query: Query_contra, depth: int, within: Sequence[int] | None = None) -> Ranking:
        """The `depth` best chunks for a query; equal scores in chunk_id order, at the cut as well.

        within  ids of chunks or of documents, see `Abilities.filters_by`; None for all
        """

    def chunk_ids(self) -> set[int]:
        """All chunks that it holds."""

    def check(self) -> tuple[str, ...]:
        """Its faults as phrases for a user, such as a mismatch with its stamp; empty for a sound one."""


class LexicalIndex(OpenedIndex[Sequence[str]], Protocol):
    """Finds chunks with any of the terms of `kb.text.query_terms`; a term that is repeated counts more."""

    def statistics(self, terms: Sequence[str], together: Iterable[tuple[str, ...]] = ()) -> LexicalStatistics:
        """Document frequencies of the terms, and of combinations of them in one field of one chunk."""


class VectorIndex(OpenedIndex[FloatVector], Protocol):
    """Finds chunks by the cosine of their vectors to a query's, (d,) float32 of unit length."""

    def expect(self, queries: FloatMatrix) -> None:
        """Queries, (n, d) float32, that are searched for next without a filter: an engine may compare them together now."""

    def vectors_at_hand(self, chunk_ids: Sequence[int]) -> dict[int, FloatVector]:
        """Vectors of those of the chunks that it can give sooner than the store, (d,) float32; there may be none."""

    def vectors(self) -> tuple[IntVector, FloatMatrix]:
        """All chunk_ids, (n,), and their vectors, (n, d) float32, in any order."""

    def statistics(self) -> VectorStatistics:
        """The number of vectors and their mean."""


class IndexWriter(Protocol[Row_contra]):
    """Writes one index at a path that nobody searches yet."""

    def upsert(self, rows: Iterable[Row_contra]) -> None:
        """Add rows; a row replaces an earlier one with its chunk_id."""

    def delete(self, chunk_ids: Iterable[int]) -> None:
        """Delete chunks; unknown ids are ignored."""

    def commit(self) -> IndexStamp:
        """Write everything to the path. The writer cannot be used afterwards.

        returns  the stamp, whose `place` the caller fills in
        """

    def abandon(self) -> None:
        """Stop writing without a commit; the caller removes the files at the path."""


Index = TypeVar("Index", bound="LexicalIndex | VectorIndex")


@dataclass(frozen=True, slots=True)
class Engine(Generic[Row, Index]):
    """One kind of index: an entry of the registry.

    format  version of analyzer and layout; an index of another format is rebuilt
    write   (path, origin, settings, base) → a writer for an index at the path. `base` is the path of an earlier index of
            the same format, dimensions and encoder to start from, which stays unchanged; None starts empty
    open    (path, stamp, settings) → the index; raises IndexOutOfDate, OSError
    """

    kind: IndexKind
    format: str
    write: Callable[[Path, Origin, SearchConfig, Path | None], IndexWriter[Row]]
    open: Callable[[Path, IndexStamp, SearchConfig], Index]


LexicalEngine = Engine[LexicalRow, LexicalIndex]
VectorEngine = Engine[VectorRow, VectorIndex]
