"""Milvus as the two indexes of a corpus: `kb.index.protocol` over its searches, and what `kb.indexes` asks of a keeper.

There is nothing to bring up to date but the counts of words. A search takes its hits from all versions of documents that
Milvus holds, looks up which are live, and where some are not, searches again without those.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kb.arrays import FloatMatrix, FloatVector, IntVector
from kb.config import Config, SearchConfig
from kb.index.protocol import Abilities, LexicalStatistics, VectorStatistics
from kb.index.stamp import IndexStamp
from kb.index.ties import by_score
from kb.milvus.corpus import MilvusCorpus
from kb.milvus.filters import all_of, one_of, within
from kb.milvus.layout import CHUNKS
from kb.milvus.words import FIELDS, K1, dimension, query_vector
from kb.records import Ranking

# Searches for one list; each leaves out the dead versions that the last one met, and replacing a document makes one.
_ATTEMPTS = 10
# The mean vector is that of so many chunks at most, and made again when the number of chunks has changed by a twentieth.
_MEAN_OF = 20_000
_MEAN_DRIFT = 0.05
MEAN = "mean"
_IS_EMBEDDED = "is_embedded == true"
_KIND = "milvus"


class _Searching:
    """What both indexes share."""

    # Combining words of one field needs their posting lists, of which Milvus returns no more than it returns hits.
    abilities = Abilities(filters_by="documents", is_exact=False, has_bounds=True, forgets=True)

    def __init__(self, corpus: MilvusCorpus) -> None:
        self._corpus = corpus

    def _search(self, field: str, query: Any, depth: int, filter: str) -> list[tuple[int, float]]:
        dead: set[int] = set()
        for _ in range(_ATTEMPTS):
            without = f"not ({one_of('version', sorted(dead))})" if dead else ""
            wanted = all_of(filter, without)
            hits = self._corpus.client.search(CHUNKS, field, query, depth, wanted, ["doc_id", "version"])
            live = {i: d.version for i, d in self._corpus.live_documents(row["doc_id"] for *_, row in hits).items()}
            met = {row["version"] for *_, row in hits if live.get(row["doc_id"]) != row["version"]}
            if not met:
                break
            dead |= met
        return by_score((i, score) for i, score, row in hits if row["version"] not in dead)

    def chunk_ids(self) -> set[int]:
        """See OpenedIndex."""
        return {row["chunk_id"] for row, _ in self._corpus.scan_live(self._held, [])}

    _held = ""

    def check(self) -> tuple[str, ...]:
        """Milvus looks after its own files."""
        return ()


class MilvusLexical(_Searching):
    """See LexicalIndex; within doc_ids."""

    def __init__(self, corpus: MilvusCorpus, settings: SearchConfig) -> None:
        super().__init__(corpus)
        self._weights = {"text": 1.0, "title": 0.0, "headings": settings.heading_weight}

    def search(self, query: Sequence[str], depth: int, within_documents: Sequence[int] | None = None) -> Ranking:
        """See OpenedIndex."""
        if not query or (within_documents is not None and not within_documents):
            return []
        statistics = self.statistics(query)
        vector = query_vector(query, statistics.holding, statistics.rows, self._weights)
        return self._search("sparse", vector, depth, within(within_documents)) if vector else []

    def statistics(self, terms: Sequence[str], together: Iterable[tuple[str, ...]] = ()) -> LexicalStatistics:
        """See LexicalIndex; of very frequent words, `together` is a lower bound."""
        combinations = list(together)
        sought = dict.fromkeys([*terms, *(term for combination in combinations for term in combination)])
        counts = self._corpus.counts.of(dimension(field, term) for field in FIELDS for term in sought)
        known = {f: {term: counts.get(dimension(f, term), 0) for term in sought} for f in self._weights}
        return LexicalStatistics(
            rows=max(0, self._corpus.counts.totals()["chunks"]),
            holding={f: {term: known[f][term] for term in terms} for f in self._weights},
            together={f: {c: self._count(f, c, known[f]) for c in combinations} for f in self._weights},
            weights=self._weights,
            most_per_idf=K1 + 1,
        )

    def _count(self, field: str, terms: tuple[str, ...], holding: dict[str, int]) -> int:
        if len(terms) <= 1 or not all(holding.get(term) for term in terms):
            return min((holding.get(term, 0) for term in terms), default=0)
        found = [
            {i for i, _ in self._search("sparse", {dimension(field, term): 1.0}, holding[term] + 1, "")}
            for term in dict.fromkeys(terms)
        ]
        return len(set.intersection(*found))


class MilvusVectors(_Searching):
    """See VectorIndex; within doc_ids."""

    _held = _IS_EMBEDDED

    def search(self, query: FloatVector, depth: int, within_documents: Sequence[int] | None = None) -> Ranking:
        """See OpenedIndex."""
        if within_documents is not None and not within_documents:
            return []
        filter = all_of(_IS_EMBEDDED, within(within_documents))
        return self._search("dense", np.asarray(query, dtype=np.float32).tolist(), depth, filter)

    def expect(self, queries: FloatMatrix) -> None:
        """See VectorIndex.expect. The server compares each as it comes."""

    def vectors_at_hand(self, chunk_ids: Sequence[int]) -> dict[int, FloatVector]:
        """See VectorIndex.vectors_at_hand."""
        return {}

    def vectors(self) -> tuple[IntVector, FloatMatrix]:
        """See VectorIndex."""
        digest = self._corpus.stored_encoder()[1]
        rows = list(self._corpus.vector_rows(digest))
        dimensions = self._corpus.stored_encoder()[2]
        matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), dimensions)
        return np.array([chunk_id for chunk_id, _ in rows], dtype=np.int64), matrix

    def statistics(self) -> VectorStatistics:
        """See VectorIndex."""
        rows, mean = self._corpus.values.read(MEAN) or (0, ())
        return VectorStatistics(rows, tuple(mean))


class ServedIndex:
    """An index that Milvus keeps, with the methods of `kb.index.keeper.IndexKeeper` that the jobs call."""

    def __init__(
        self, kind: Literal["lexical", "vector"], corpus: MilvusCorpus, index: Any, refresh: Callable[[bool], int]
    ) -> None:
        self.kind = kind
        self.lag: int | None = 0
        self._corpus, self._index, self._refresh = corpus, index, refresh

    def index(self) -> Any:
        """The index; Milvus opens it."""
        return self._index

    def sound_index(self) -> Any:
        """There are no files of which one could be unsound."""
        return self._index

    def close(self) -> None:
        """Nothing is held."""

    def refresh(self, *, force: bool = False, announce: bool = True) -> IndexStamp:
        """Write what was counted; with `force`, count everything anew."""
        rows = self._refresh(force)
        state = self._corpus.state()
        return IndexStamp(self._corpus.client.where, state.revision, state.token, "", rows, kind=_KIND)

    def stamp(self) -> IndexStamp | None:
        """What there is now; None for a corpus that was never written to."""
        rows = self._index.statistics([]).rows if self.kind == "lexical" else self._index.statistics().rows
        state = self._corpus.state()
        found = IndexStamp(self._corpus.client.where, state.revision, state.token, "", rows, kind=_KIND)
        return found if state.token else None

    def is_current(self, stamp: IndexStamp) -> bool:
        """Whether every writer has written what it counted."""
        return self.kind == "vector" or not self._corpus.counts.left_behind()

    def fault(self, expected: Collection[int] | None = None, /, most_bytes: int | None = None) -> str | None:
        """See IndexKeeper."""
        if self.kind == "lexical" and (writers := self._corpus.counts.left_behind()):
            return f"the counts of words lack what {len(writers)} killed or working writers saved"
        if expected is not None and (held := self._index.chunk_ids()) != set(expected):
            wanted = set(expected)
            return f"{self.kind} lacks {len(wanted - held)} chunks and holds {len(held - wanted)} that are gone"
        return None


class ServedIndexes:
    """Both indexes of a corpus in Milvus: what `kb.indexes.Indexes` is for a local one."""

    def __init__(self, corpus: MilvusCorpus, settings: SearchConfig) -> None:
        self._corpus = corpus
        self.lexical = ServedIndex("lexical", corpus, MilvusLexical(corpus, settings), self._refresh_words)
        self.vector = ServedIndex("vector", corpus, MilvusVectors(corpus), self._refresh_mean)

    def close(self) -> None:
        """Nothing is held."""

    def keep_reserve(self) -> None:
        """Milvus' room is not that of the home."""

    def describe_lag(self) -> str | None:
        """Milvus shows what was written, at once."""
        return None

    def refresh_lexical(self, *, force: bool = False) -> IndexStamp:
        """See Indexes."""
        return self.lexical.refresh(force=force)

    def refresh_vectors(self, *, force: bool = False) -> IndexStamp:
        """See Indexes."""
        return self.vector.refresh(force=force)

    def _refresh_words(self, force: bool) -> int:
        if force:
            self._corpus.count_anew()
        else:
            self._corpus.settle_counts()
        self._corpus.client.settle(CHUNKS)
        return self._corpus.counts.totals()["chunks"]

    def _refresh_mean(self, force: bool) -> int:
        """Make the mean vector anew where the number of vectors has changed."""
        rows = self._corpus.client.count(CHUNKS, _IS_EMBEDDED)
        known, _ = self._corpus.values.read(MEAN) or (0, ())
        if rows and (force or abs(rows - known) > (_MEAN_DRIFT * known if rows > _MEAN_OF else 0)):
            total, seen = np.zeros(self._corpus.stored_encoder()[2]), 0
            for row in self._corpus.client.scan(CHUNKS, _IS_EMBEDDED, ["dense"]):
                total += np.asarray(row["dense"], dtype=np.float64)
                seen += 1
                if seen == _MEAN_OF:
                    break
            self._corpus.values.write({MEAN: [rows, [float(value) for value in total / seen]]})
        elif rows != known:
            self._corpus.values.write({MEAN: [rows, self._corpus.values.read(MEAN)[1] if known else []]})
        return rows


def open_served(
    config: Config, home: Path, notify: Callable[[str], None]
) -> tuple[MilvusCorpus, ServedIndexes, Callable[[], None]]:
    """The corpus that a configuration names, its indexes, and what closes it. raises ExtraMissing, IoError"""
    corpus = MilvusCorpus(config.corpus, home, notify)
    return corpus, ServedIndexes(corpus, config.search), corpus.close
