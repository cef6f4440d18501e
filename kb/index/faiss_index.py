"""Vectors → a FAISS index; a query vector → (chunk_id, cosine) best first.

Exact up to a configured number of chunks; above it an inverted-file index, whose recall against the exact search is
measured when it is built and kept in its stamp. Vectors have unit length, so the inner product is the cosine.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kb.arrays import FloatMatrix, FloatVector, IntVector
from kb.config import SearchConfig
from kb.errors import IndexOutOfDate
from kb.index.protocol import Abilities, Engine, VectorEngine, VectorRow, VectorStatistics
from kb.index.stamp import IndexStamp, Origin
from kb.index.ties import cut_ranking
from kb.records import Ranking

FORMAT = "faiss-2"

# The number of probed cells grows until the index finds this share of the exact ten nearest.
RECALL_WANTED = 0.97
RECALL_QUERIES = 200
TRAINING_VECTORS_PER_CELL = 64
# FAISS's errors for a file that is not what it was: sizes in it may ask for any amount of memory.
DAMAGE = (RuntimeError, MemoryError, AssertionError)


class FaissWriter:
    """See IndexWriter. Several upserts commit the same index as one with all vectors."""

    def __init__(self, path: Path, origin: Origin, settings: SearchConfig, base: Path | None = None) -> None:
        import faiss

        self._path, self._origin, self._exact_up_to = path, origin, settings.exact_up_to_chunks
        self._base = faiss.read_index(str(base)) if base else None
        # One growing buffer: joining an array per row would need the memory twice.
        self._buffer = bytearray()
        self._buffered = 0
        self._row_of: dict[int, int] = {}
        self._replaced: set[int] = set()

    def upsert(self, rows: Iterable[VectorRow]) -> None:
        """See IndexWriter.upsert."""
        for chunk_id, vector in rows:
            self._row_of[chunk_id] = self._buffered
            self._buffer += vector
            self._buffered += 1

    def delete(self, chunk_ids: Iterable[int]) -> None:
        """See IndexWriter.delete."""
        for chunk_id in chunk_ids:
            self._row_of.pop(chunk_id, None)
            self._replaced.add(chunk_id)

    def abandon(self) -> None:
        """See IndexWriter.abandon. Nothing is written before a commit."""

    def commit(self) -> IndexStamp:
        """See IndexWriter.commit."""
        import faiss
        import numpy as np

        chunk_ids, vectors = self._content()
        rows, dimensions = vectors.shape
        kind, recall = "flat", 1.0
        if rows <= self._exact_up_to:
            index = faiss.IndexIDMap2(faiss.IndexFlatIP(dimensions))
            index.add_with_ids(vectors, chunk_ids)
        else:
            kind = "ivf"
            index, recall = _build_inverted_file(vectors, chunk_ids)
        try:
            faiss.write_index(index, str(self._path))
        except RuntimeError as error:  # its text has a stack of C++ functions
            raise OSError(f"FAISS could not write {self._path.name}") from error
        return IndexStamp(
            place="",
            revision=self._origin.revision,
            state=self._origin.state,
            format=FORMAT,
            rows=rows,
            encoder_digest=self._origin.encoder_digest,
            dimensions=dimensions,
            kind=kind,
            recall=recall,
            mean_vector=tuple(round(float(x), 6) for x in np.mean(vectors, axis=0)) if rows else (),
        )

    def _content(self) -> tuple[IntVector, FloatMatrix]:
        """All chunk_ids of the new index, ascending, and their vectors."""
        import faiss
        import numpy as np

        dimensions = self._origin.dimensions
        chunk_ids = np.fromiter(self._row_of, dtype=np.int64, count=len(self._row_of))
        rows = np.fromiter(self._row_of.values(), dtype=np.int64, count=len(self._row_of))
        vectors = np.frombuffer(self._buffer, dtype="<f4").reshape(self._buffered, dimensions)
        if len(rows) != self._buffered or (np.diff(rows) != 1).any():
            vectors = vectors[rows]
        if self._base is not None:
            gone = np.array(sorted(self._replaced.union(self._row_of)), dtype=np.int64)
            self._base.remove_ids(faiss.IDSelectorBatch(gone))
            held_ids, held = _content_of(self._base)
            chunk_ids, vectors = np.concatenate([held_ids, chunk_ids]), np.concatenate([held, vectors])
        if (np.diff(chunk_ids) < 0).any():
            order = np.argsort(chunk_ids)
            chunk_ids, vectors = chunk_ids[order], vectors[order]
        return chunk_ids, vectors


def _content_of(index: Any) -> tuple[IntVector, FloatMatrix]:
    """The chunk_ids and the vectors that an index of either kind holds, in any order."""
    import faiss
    import numpy as np

    if not isinstance(index, faiss.IndexIVF):
        return faiss.vector_to_array(index.id_map), index.index.reconstruct_n(0, index.ntotal)
    lists: Any = index.invlists
    ids, vectors = [np.empty(0, np.int64)], [np.empty((0, index.d), np.float32)]
    for cell in range(index.nlist):
        size = lists.list_size(cell)
        if size:
            ids.append(faiss.rev_swig_ptr(lists.get_ids(cell), size).copy())
            codes = faiss.rev_swig_ptr(lists.get_codes(cell), size * lists.code_size)
            vectors.append(codes.view(np.float32).reshape(size, index.d).copy())
    return np.concatenate(ids), np.concatenate(vectors)


def _build_inverted_file(vectors: FloatMatrix, chunk_ids: IntVector) -> tuple[Any, float]:
    """An IVF index whose probe count reaches RECALL_WANTED on a sample of its own vectors, and the recall reached."""
    import faiss
    import numpy as np

    faiss.omp_set_num_threads(os.cpu_count() or 1)
    rows, dimensions = vectors.shape
    cells = max(1, int(4 * math.sqrt(rows)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimensions), dimensions, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = 0
    sample = np.random.default_rng(0).permutation(rows)[: cells * TRAINING_VECTORS_PER_CELL]
    index.train(np.ascontiguousarray(vectors[np.sort(sample)]))
    index.add_with_ids(vectors, chunk_ids)
    queries = np.ascontiguousarray(vectors[np.sort(sample[:RECALL_QUERIES])])
    exact = faiss.knn(queries, vectors, 11, metric=faiss.METRIC_INNER_PRODUCT)[1]
    truth = [set(chunk_ids[row[1:]].tolist()) for row in exact]
    index.nprobe, recall = 8, 0.0
    while index.nprobe < cells:
        found = index.search(queries, 11)[1]
        recall = float(np.mean([len(t & set(f.tolist())) / len(t) for t, f in zip(truth, found, strict=True)]))
        if recall >= RECALL_WANTED:
            break
        index.nprobe = min(cells, index.nprobe * 2)
    return index, recall


class FaissIndex:
    """See VectorIndex."""

    def __init__(self, path: Path, stamp: IndexStamp, settings: SearchConfig) -> None:
        import faiss

        self._faiss: Any = faiss
        self._stamp = stamp
        try:
            self._index: Any = faiss.read_index(str(path))
        except DAMAGE as error:
            raise IndexOutOfDate("the vector index cannot be opened", fix="rebuild it: kb reindex") from error
        self._is_approximate = isinstance(self._index, faiss.IndexIVF)
        self.abilities = Abilities(
            filters_by="chunks", is_exact=not self._is_approximate, has_bounds=True, forgets=True
        )

    def search(self, query: FloatVector, depth: int, within: Sequence[int] | None = None) -> Ranking:
        """See OpenedIndex.search; within chunk_ids."""
        import numpy as np

        # With one thread: waking others for one query takes ten times as long as the search (2 ms, 2,000 vectors).
        self._faiss.omp_set_num_threads(1)

        most = self._index.ntotal if within is None else len(within)
        if not self._index.ntotal or not most:
            return []
        row = np.ascontiguousarray(query.reshape(1, -1), dtype=np.float32)
        parameters = None if within is None else self._parameters(np.asarray(within, dtype=np.int64))

        def find(wanted: int) -> list[tuple[int, float]]:
            try:
                scores, chunk_ids = self._index.search(row, min(wanted, most), params=parameters)
            except DAMAGE as error:
                raise IndexOutOfDate("the vector index is damaged", fix="rebuild it: kb reindex") from error
            return [(int(i), float(s)) for i, s in zip(chunk_ids[0], scores[0], strict=True) if i >= 0]

        return cut_ranking(find, depth)

    def statistics(self) -> VectorStatistics:
        """See VectorIndex.statistics."""
        return VectorStatistics(self._stamp.rows, self._stamp.mean_vector)

    def chunk_ids(self) -> set[int]:
        """See OpenedIndex.chunk_ids."""
        return set(self.vectors()[0].tolist())

    def vectors(self) -> tuple[IntVector, FloatMatrix]:
        """See VectorIndex.vectors."""
        try:
            return _content_of(self._index)
        except DAMAGE as error:
            raise IndexOutOfDate("the vector index is damaged", fix="rebuild it: kb reindex") from error

    def check(self) -> tuple[str, ...]:
        """See OpenedIndex.check."""
        index, stamp = self._index, self._stamp
        if index.ntotal == stamp.rows and index.d == stamp.dimensions:
            return ()
        return (
            f"the vector index holds {index.ntotal} vectors of {index.d} dimensions, its stamp says "
            f"{stamp.rows} of {stamp.dimensions}",
        )

    def _parameters(self, chunks: IntVector) -> Any:
        selector = self._faiss.IDSelectorBatch(chunks)
        if self._is_approximate:
            # All cells are probed: a selective filter leaves few vectors in the nearest cells, and few are cheap to scan.
            return self._faiss.SearchParametersIVF(sel=selector, nprobe=self._index.nlist)
        return self._faiss.SearchParameters(sel=selector)


FAISS: VectorEngine = Engine("vector", FORMAT, FaissWriter, FaissIndex)
