"""Vectors → a FAISS index; a query vector → (chunk_id, cosine) best first.

Exact up to a configured number of chunks; beyond, an inverted-file index whose recall against the exact search is
measured when it is built and kept in its stamp. Vectors have unit length, so the inner product is the cosine.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kb.errors import IndexOutOfDate
from kb.index.stamp import IndexStamp

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix, FloatVector, IntVector

FORMAT = "faiss-2"
NAME = "vector"
Ranking = list[tuple[int, float]]

# An inverted-file index is good when it finds this share of the exact ten nearest; the probe count grows until it does.
RECALL_WANTED = 0.97
RECALL_QUERIES = 200
TRAINING_VECTORS_PER_CELL = 64


class VectorIndex(Protocol):
    """Finds chunks by their vectors."""

    def search(self, vector: FloatVector, depth: int, chunks: Sequence[int] | None = None) -> Ranking:
        """The `depth` nearest chunks.

        vector  (d,) float32, unit length
        chunks  only these chunk_ids; None for all
        """

    def background(self, vector: FloatVector) -> float:
        """Mean cosine of a query to all chunks: what a passage reaches that has nothing to do with it; 0 for an empty index."""


def build_vector_index(
    path: Path,
    rows: Iterable[tuple[int, bytes]],
    count: int,
    dimensions: int,
    encoder_digest: str,
    revision: int,
    state: str,
    exact_up_to: int,
) -> IndexStamp:
    """Write an index file from rows of (chunk_id, float32 bytes) in chunk_id order.

    count  at least the number of rows; memory for so many vectors is taken at once
    """
    import faiss
    import numpy as np

    vectors = np.empty((count, dimensions), dtype=np.float32)
    chunk_ids = np.empty(count, dtype=np.int64)
    filled = 0
    for chunk_id, blob in rows:
        vectors[filled] = np.frombuffer(blob, dtype="<f4")
        chunk_ids[filled] = chunk_id
        filled += 1
    vectors, chunk_ids = vectors[:filled], chunk_ids[:filled]
    kind, recall = "flat", 1.0
    if filled <= exact_up_to:
        index = faiss.IndexIDMap2(faiss.IndexFlatIP(dimensions))
        index.add_with_ids(vectors, chunk_ids)
    else:
        kind = "ivf"
        index, recall = _build_inverted_file(vectors, chunk_ids)
    faiss.write_index(index, str(path))
    return IndexStamp(
        place="",
        revision=revision,
        state=state,
        format=FORMAT,
        rows=filled,
        encoder_digest=encoder_digest,
        dimensions=dimensions,
        kind=kind,
        recall=recall,
        mean_vector=tuple(round(float(x), 6) for x in vectors.mean(axis=0)) if filled else (),
    )


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
    """A built index, opened for searching."""

    def __init__(self, path: Path, stamp: IndexStamp) -> None:
        import faiss

        self._faiss: Any = faiss
        self._mean_vector = stamp.mean_vector
        try:
            self._index = faiss.read_index(str(path))
        except RuntimeError as error:
            raise IndexOutOfDate("the vector index cannot be opened", fix="rebuild it: kb reindex") from error
        if self._index.ntotal != stamp.rows or self._index.d != stamp.dimensions:
            raise IndexOutOfDate(
                f"the vector index holds {self._index.ntotal} vectors of {self._index.d} dimensions, its stamp says "
                f"{stamp.rows} of {stamp.dimensions}",
                fix="rebuild it: kb reindex",
            )

    def search(self, vector: FloatVector, depth: int, chunks: Sequence[int] | None = None) -> Ranking:
        """See VectorIndex.search."""
        import numpy as np

        # One query is one thread's work; waking the others costs ten times the search (2 ms, 2,000 vectors).
        self._faiss.omp_set_num_threads(1)

        if self._index.ntotal == 0 or (chunks is not None and not chunks):
            return []
        wanted = min(depth, self._index.ntotal if chunks is None else len(chunks))
        query = np.ascontiguousarray(vector.reshape(1, -1), dtype=np.float32)
        parameters = None if chunks is None else self._parameters(np.asarray(chunks, dtype=np.int64))
        scores, chunk_ids = self._index.search(query, wanted, params=parameters)
        ranking = [(int(i), float(s)) for i, s in zip(chunk_ids[0], scores[0], strict=True) if i >= 0]
        return sorted(ranking, key=lambda row: (-row[1], row[0]))

    def background(self, vector: FloatVector) -> float:
        """See VectorIndex.background."""
        import numpy as np

        return float(vector @ np.asarray(self._mean_vector, dtype=np.float32)) if self._mean_vector else 0.0

    def _parameters(self, chunks: IntVector) -> Any:
        selector = self._faiss.IDSelectorBatch(chunks)
        if isinstance(self._index, self._faiss.IndexIVF):
            # All cells: a selective filter leaves too few vectors in the nearest cells, and scanning few is cheap.
            return self._faiss.SearchParametersIVF(sel=selector, nprobe=self._index.nlist)
        return self._faiss.SearchParameters(sel=selector)
