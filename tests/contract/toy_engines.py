"""Two engines of a few lines: what the contract asks of an engine, as plainly as it can be said, and what a new one costs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate
from kb.index.protocol import (
    Abilities,
    Engine,
    LexicalEngine,
    LexicalRow,
    LexicalStatistics,
    VectorEngine,
    VectorRow,
    VectorStatistics,
)
from kb.index.stamp import IndexStamp, Origin
from kb.index.ties import by_score
from kb.records import Ranking
from kb.text import analyze

FIELDS = ("text", "title", "headings")


def read_rows(path: Path, kind: str) -> dict[int, list]:
    try:
        return {row[0]: row for row in json.loads(path.read_text())}
    except ValueError as error:
        raise IndexOutOfDate(f"the {kind} index cannot be opened", fix="rebuild it: kb reindex") from error


class ToyWriter:
    """Rows of either kind, in one file of JSON."""

    def __init__(self, path: Path, origin: Origin, settings: SearchConfig, base: Path | None = None) -> None:
        self.path, self.origin = path, origin
        self.rows = read_rows(base, "") if base else {}

    def upsert(self, rows: Iterable[LexicalRow] | Iterable[VectorRow]) -> None:
        for row in rows:
            self.rows[row[0]] = [np.frombuffer(x, "<f4").tolist() if isinstance(x, bytes) else x for x in row]

    def delete(self, chunk_ids: Iterable[int]) -> None:
        for chunk_id in chunk_ids:
            self.rows.pop(chunk_id, None)

    def abandon(self) -> None:
        self.rows.clear()

    def commit(self) -> IndexStamp:
        self.path.write_text(json.dumps([self.rows[chunk_id] for chunk_id in sorted(self.rows)]))
        origin = self.origin
        return IndexStamp(
            "", origin.revision, origin.state, "toy", len(self.rows), origin.encoder_digest, origin.dimensions, "toy"
        )


class CountedWords:
    """Chunks by how many of the query's terms they hold: scores that have no bound to fuse them by."""

    abilities = Abilities(filters_by="documents", is_exact=True, has_bounds=False, forgets=True)

    def __init__(self, path: Path, stamp: IndexStamp, settings: SearchConfig) -> None:
        rows = read_rows(path, "lexical")
        self.stamp = stamp
        self.weights = {"text": 1.0, "title": 0.0, "headings": settings.heading_weight}
        self.documents = {chunk_id: row[1] for chunk_id, row in rows.items()}
        self.terms = {
            chunk_id: {
                field: Counter(analyze(text))
                for field, text in zip(("title", "headings", "text"), [*row[2:4], " \n ".join(row[2:])], strict=True)
            }
            for chunk_id, row in rows.items()
        }

    def search(self, query: Sequence[str], depth: int, within: Sequence[int] | None = None) -> Ranking:
        scores = {
            chunk_id: sum(self.weights[field] * fields[field][term] for field in FIELDS for term in query)
            for chunk_id, fields in self.terms.items()
            if within is None or self.documents[chunk_id] in within
        }
        return by_score((chunk_id, score) for chunk_id, score in scores.items() if score)[:depth]

    def statistics(self, terms: Sequence[str], together: Iterable[tuple[str, ...]] = ()) -> LexicalStatistics:
        def holding(field: str, wanted: Sequence[str]) -> int:
            return sum(bool(wanted) and all(t in fields[field] for t in wanted) for fields in self.terms.values())

        wanted = list(together)
        return LexicalStatistics(
            rows=len(self.terms),
            holding={field: {term: holding(field, [term]) for term in terms} for field in FIELDS},
            together={field: {all_of: holding(field, all_of) for all_of in wanted} for field in FIELDS},
            weights=self.weights,
            most_per_idf=0.0,
        )

    def chunk_ids(self) -> set[int]:
        return set(self.terms)

    def check(self) -> tuple[str, ...]:
        return () if len(self.terms) == self.stamp.rows else ("the lexical index has lost chunks",)


class BruteForce:
    """Every vector against the query."""

    abilities = Abilities(filters_by="chunks", is_exact=True, has_bounds=True, forgets=True)

    def __init__(self, path: Path, stamp: IndexStamp, settings: SearchConfig) -> None:
        rows = read_rows(path, "vector")
        self.stamp = stamp
        self._vectors = {chunk_id: np.array(row[1], np.float32) for chunk_id, row in rows.items()}

    def search(self, query: np.ndarray, depth: int, within: Sequence[int] | None = None) -> Ranking:
        allowed = self._vectors if within is None else self._vectors.keys() & set(within)
        return by_score((chunk_id, float(self._vectors[chunk_id] @ query)) for chunk_id in allowed)[:depth]

    def statistics(self) -> VectorStatistics:
        rows = np.array(list(self._vectors.values()))
        return VectorStatistics(len(rows), tuple(rows.mean(axis=0).tolist()) if len(rows) else ())

    def chunk_ids(self) -> set[int]:
        return set(self._vectors)

    def expect(self, queries: np.ndarray) -> None:
        pass

    def vectors_at_hand(self, chunk_ids: Sequence[int]) -> dict[int, np.ndarray]:
        return {}

    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(list(self._vectors)), np.array(list(self._vectors.values()), np.float32)

    def check(self) -> tuple[str, ...]:
        return () if len(self._vectors) == self.stamp.rows else ("the vector index has lost chunks",)


TOY_LEXICAL: LexicalEngine = Engine("lexical", "toy", ToyWriter, CountedWords)
TOY_VECTOR: VectorEngine = Engine("vector", "toy", ToyWriter, BruteForce)
