"""Vectors → files that are mapped into memory; a query vector → (chunk_id, cosine) best first.

Exact up to a configured number of chunks; above it only the cells nearest to a query are compared, whose recall against
the exact search is measured when they are made and kept in the stamp. Vectors have unit length, so the inner product is
the cosine. A change writes a segment of what is new and notes what is gone; segments are joined as they add up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kb.arrays import FloatMatrix, FloatVector, IntVector, exact_cosines
from kb.config import SearchConfig
from kb.index.cells import assign_cells, count_probes, train_cells
from kb.index.links import link_files
from kb.index.protocol import Abilities, Engine, VectorEngine, VectorRow, VectorStatistics
from kb.index.stamp import IndexStamp, Origin
from kb.index.vector_files import (
    NEVER,
    Gathered,
    Layout,
    PackedRows,
    Segment,
    SegmentRecord,
    naming_damage,
    read_layout,
    write_layout,
    write_segment,
)
from kb.records import Ranking

FORMAT = "vectors-2"

# Flat segments are joined with the one before until each is this many times as large as the next: so a row is copied
# about log2(n) times in its life, and a search reads log2(n) segments.
GROWTH = 2
# Rows are written anew without those that are gone once these are more than this share of a segment.
GONE_SHARE = 0.25
# Rows outside of cells are all compared; once they are this share of those inside, they are sorted into the cells.
LOOSE_SHARE = 0.1
# Cells are made anew once there are this many times as many rows as when they were made.
OUTGROWN = 3
# Standard deviations that a rough cosine may be off, and digits in which a BLAS's sums differ from exact ones: whatever comes
# so near to the last place is computed exactly. Of a thousand million rows, one is further off than six.
SIGMAS, SLACK = 6, 2e-6
# Rough cosines of queries that are compared together take no more memory than this.
EXPECTED_BYTES = 64_000_000


class VectorWriter:
    """See IndexWriter."""

    def __init__(self, path: Path, origin: Origin, settings: SearchConfig, base: Path | None = None) -> None:
        self._path, self._origin, self._exact_up_to = path, origin, settings.exact_up_to_chunks
        self._base = base
        self._layout: Layout | None = read_layout(base) if base else None
        path.mkdir(parents=True)
        # In a file: a million vectors would take 1.5 GB of memory.
        self._new_rows = (path / "new").open("wb")
        self._row_of: dict[int, int] = {}
        self._written = 0
        self._deleted: set[int] = set()

    def upsert(self, rows: Iterable[VectorRow]) -> None:
        """See IndexWriter.upsert."""
        for chunk_id, vector in rows:
            self._row_of[chunk_id] = self._written
            self._new_rows.write(vector)
            self._written += 1

    def delete(self, chunk_ids: Iterable[int]) -> None:
        """See IndexWriter.delete."""
        for chunk_id in chunk_ids:
            self._row_of.pop(chunk_id, None)
            self._deleted.add(chunk_id)

    def abandon(self) -> None:
        """See IndexWriter.abandon."""
        self._new_rows.close()

    def commit(self) -> IndexStamp:
        """See IndexWriter.commit."""
        self._new_rows.close()
        with naming_damage():
            layout = self._write()
        (self._path / "new").unlink()
        rows = sum(segment.rows - segment.gone_rows for segment in layout.segments)
        return IndexStamp(
            place="",
            revision=self._origin.revision,
            state=self._origin.state,
            format=FORMAT,
            rows=rows,
            encoder_digest=self._origin.encoder_digest,
            dimensions=layout.dimensions,
            kind="ivf" if any(segment.cells for segment in layout.segments) else "flat",
            recall=layout.recall,
            mean_vector=tuple(round(x / rows, 6) for x in layout.total) if rows else (),
        )

    def _write(self) -> Layout:
        """Write the segments and their layout."""
        import numpy as np

        dimensions = self._origin.dimensions
        before, held, total = self._layout, [], np.zeros(dimensions)
        if before and self._base:
            total += np.array(before.total) if len(before.total) == dimensions else 0
            touched = np.array(sorted(self._deleted.union(self._row_of)), dtype=np.int64)
            for record in before.segments:
                segment = Segment(self._base, record, dimensions)
                gone = segment.positions_of(touched)
                total -= segment.vectors[gone].sum(axis=0, dtype=np.float64)
                held.append((segment, gone))
        new = self._new_matrix(dimensions)
        ids = np.fromiter(self._row_of, dtype=np.int64, count=len(self._row_of))
        rows = np.fromiter(self._row_of.values(), dtype=np.int64, count=len(self._row_of))
        for at in range(0, len(rows), 65_536):
            total += new[rows[at : at + 65_536]].sum(axis=0, dtype=np.float64)
        placed = np.empty(self._written, np.int64)
        placed[rows] = ids
        segments, probes, recall = self._arrange(held, (placed, new, rows))
        layout = Layout(dimensions, tuple(segments), probes, recall, tuple(total.tolist()))
        write_layout(self._path, layout)
        return layout

    def _new_matrix(self, dimensions: int) -> FloatMatrix:
        import numpy as np

        if not self._written:
            return np.empty((0, dimensions), np.float32)
        return np.memmap(self._path / "new", dtype="<f4", mode="r", shape=(self._written, dimensions))

    def _arrange(
        self, held: list[tuple[Segment, IntVector]], new: tuple[IntVector, FloatMatrix, IntVector]
    ) -> tuple[list[SegmentRecord], int, float]:
        """The segments of the new index, written or taken over; the cells to look into, and their recall."""
        import numpy as np

        def live(segment: Segment, gone: IntVector) -> tuple[IntVector, PackedRows, IntVector]:
            return segment.ids, segment.vectors, np.setdiff1d(segment.live_positions(), gone, assume_unique=True)

        before, dimensions = self._layout, self._origin.dimensions
        sizes = [segment.live - len(gone) for segment, gone in held]
        celled = next((number for number, (segment, _) in enumerate(held) if segment.record.cells), None)
        count = sum(sizes) + len(new[2])
        in_cells = sizes[celled] if celled is not None else 0
        has_outgrown = celled is not None and count > OUTGROWN * held[celled][0].record.cells ** 2
        is_loose = celled is not None and (
            count - in_cells > LOOSE_SHARE * in_cells or in_cells < (1 - GONE_SHARE) * held[celled][0].record.rows
        )
        if count > self._exact_up_to and (celled is None or has_outgrown or is_loose):
            rows = Gathered([*(live(*one) for one in held), new], dimensions)
            kept = None if celled is None or has_outgrown else held[celled][0]
            return self._write_cells(rows, kept)
        if is_loose:
            rows = Gathered([*(live(*one) for one in held), new], dimensions)
            return [self._write_flat(rows)], 0, 1.0
        # Segments from `first` on are joined with what is new; each before them only notes what is gone of it.
        first, joined = len(held), len(new[2])
        while first > 0 and first - 1 != celled and sizes[first - 1] < GROWTH * joined:
            first -= 1
            joined += sizes[first]
        written = []
        for number, (segment, gone) in enumerate(held[:first]):
            if number != celled and sizes[number] < (1 - GONE_SHARE) * segment.record.rows:
                written.append(self._write_flat(Gathered([live(segment, gone)], dimensions)))
            else:
                written.append(self._take_over(segment, gone))
        if joined:
            written.append(self._write_flat(Gathered([*(live(*one) for one in held[first:]), new], dimensions)))
        return written, before.probes if before else 0, before.recall if before else 1.0

    def _write_flat(self, rows: Gathered) -> SegmentRecord:
        return write_segment(self._path, os.urandom(4).hex(), rows)

    def _write_cells(self, rows: Gathered, like: Segment | None) -> tuple[list[SegmentRecord], int, float]:
        """like: a segment whose centres are kept."""

        centres = like.centres if like else train_cells(rows)
        cells = assign_cells(rows, centres)
        if like and self._layout:
            probes, recall = self._layout.probes, self._layout.recall
        else:
            probes, recall = count_probes(rows, centres, cells)
        return [write_segment(self._path, os.urandom(4).hex(), rows, centres, cells)], probes, recall

    def _take_over(self, segment: Segment, gone: IntVector) -> SegmentRecord:
        """The segment as it is, with more rows gone."""
        import numpy as np

        record = segment.record
        if len(gone):
            everything = np.union1d(segment.gone, gone).astype(np.int64)
            record = replace(record, gone=f"{record.name}.{os.urandom(4).hex()}.gone", gone_rows=len(everything))
            everything.tofile(self._path / record.gone)
        if self._base:
            link_files(
                self._base, self._path, [name for name in record.files() if name != record.gone or not len(gone)]
            )
        return record


class MappedVectors:
    """See VectorIndex."""

    def __init__(self, path: Path, stamp: IndexStamp, settings: SearchConfig) -> None:
        self._stamp = stamp
        self._layout = read_layout(path)
        self._segments = [Segment(path, record, self._layout.dimensions) for record in self._layout.segments]
        is_exact = stamp.rows <= settings.exact_up_to_chunks or not any(s.cells for s in self._layout.segments)
        self._expected: dict[bytes, list[FloatVector | None]] = {}
        # Cells that were made for more rows are all looked into.
        self._probes = max((s.cells for s in self._layout.segments), default=0) if is_exact else self._layout.probes
        self.abilities = Abilities(filters_by="chunks", is_exact=is_exact, has_bounds=True, forgets=True)

    def search(self, query: FloatVector, depth: int, within: Sequence[int] | None = None) -> Ranking:
        """See OpenedIndex.search; within chunk_ids."""
        import numpy as np

        wanted = np.ascontiguousarray(query.reshape(-1), dtype=np.float32)
        only = None if within is None else np.unique(np.asarray(within, dtype=np.int64))
        found: list[tuple[IntVector, FloatVector]] = []
        with naming_damage():
            together = self._expected.get(wanted.tobytes()) or [None] * len(self._segments)
            for segment, rough in zip(self._segments, together, strict=True):
                if only is None:
                    places, scores = segment.near(wanted, self._probes, rough)
                    slack = 2 * SIGMAS * segment.vectors.rough_error * float(np.linalg.norm(wanted)) + SLACK
                else:
                    places, scores = segment.among(wanted, only)
                    slack = SLACK
                places = places[_best(scores, depth, slack)]
                found.append((segment.ids[places], exact_cosines(segment.vectors[places], wanted)))
            if not found:
                return []
            ids, cosines = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            first = np.lexsort((ids, -cosines))[:depth]
        return list(zip(ids[first].tolist(), cosines[first].tolist(), strict=True))

    def expect(self, queries: FloatMatrix) -> None:
        """See VectorIndex.expect. Rows become floats once for all queries, which for one takes most of its search."""
        self._expected.clear()
        flat = [segment.record.rows * (not segment.record.cells) for segment in self._segments]
        if sum(flat) * len(queries) * 4 > EXPECTED_BYTES:
            return
        with naming_damage():
            found = [
                segment.vectors.rough_cosines(queries, slice(0, rows)) if rows else None
                for segment, rows in zip(self._segments, flat, strict=True)
            ]
        for number, query in enumerate(queries):
            self._expected[query.tobytes()] = [None if rough is None else rough[number] for rough in found]

    def vectors_at_hand(self, chunk_ids: Sequence[int]) -> dict[int, FloatVector]:
        """See VectorIndex.vectors_at_hand. In cells it would have to sort a million ids first."""
        import numpy as np

        wanted = np.array(sorted(set(chunk_ids)), dtype=np.int64)  # np.unique imports numpy.ma, for 20 ms
        found: dict[int, FloatVector] = {}
        with naming_damage():
            for segment in (segment for segment in self._segments if not segment.record.cells):
                places = segment.positions_of(wanted)
                found.update(zip(segment.ids[places].tolist(), segment.vectors[places], strict=True))
        return found

    def statistics(self) -> VectorStatistics:
        """See VectorIndex.statistics."""
        return VectorStatistics(self._stamp.rows, self._stamp.mean_vector)

    def chunk_ids(self) -> set[int]:
        """See OpenedIndex.chunk_ids."""
        with naming_damage():
            return {int(i) for segment in self._segments for i in segment.ids[segment.live_positions()]}

    def vectors(self) -> tuple[IntVector, FloatMatrix]:
        """See VectorIndex.vectors."""
        import numpy as np

        with naming_damage():
            rows = Gathered(
                ((segment.ids, segment.vectors, segment.live_positions()) for segment in self._segments),
                self._layout.dimensions,
            )
            return rows.ids, rows.take(np.arange(len(rows)))

    def check(self) -> tuple[str, ...]:
        """See OpenedIndex.check."""
        held, stamp = sum(segment.live for segment in self._segments), self._stamp
        if held == stamp.rows and self._layout.dimensions == stamp.dimensions:
            return ()
        return (
            f"the vector index holds {held} vectors of {self._layout.dimensions} dimensions, its stamp says "
            f"{stamp.rows} of {stamp.dimensions}",
        )


def _best(scores: FloatVector, depth: int, slack: float) -> Any:
    """Which scores may be among the `depth` best, once they are computed exactly."""
    import numpy as np

    scores = np.nan_to_num(scores, nan=NEVER)
    least = float(np.partition(scores, -depth)[-depth]) - slack if len(scores) > depth else NEVER / 2
    return np.flatnonzero(scores >= max(least, NEVER / 2))


VECTORS: VectorEngine = Engine("vector", FORMAT, VectorWriter, MappedVectors)
