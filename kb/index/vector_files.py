"""Vectors in files that are mapped into memory: segments, each written once, of flat rows or of rows sorted into cells.

A segment is a file of chunk_ids, three of vectors (`kb/fixed_point.py`: scales, high bytes and low bytes), for cells their
centres and ends besides, and where rows are gone a file of their positions. An index is some segments and `layout.json`,
which names them. A search reads the high bytes of all rows that it compares, and both of the best. Reading needs numpy alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from kb.arrays import ByteMatrix, FloatMatrix, FloatVector, IntVector, ShortMatrix
from kb.errors import IndexOutOfDate
from kb.fixed_point import from_fixed_point, to_fixed_point
from kb.frozen import dataclass

LAYOUT = "layout.json"
# Rows that are gathered at once: 25 MB at 384 dimensions.
BLOCK_ROWS = 16_384
# Rows whose high bytes are made float32 at once: 1.5 MB, which a processor's cache holds.
ROUGH_ROWS = 1_024
# Lower than any cosine.
NEVER = -2.0


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """One entry of the layout.

    cells      0 for flat rows, which are in chunk_id order
    gone       the file with the positions of rows that are gone, "" for none
    gone_rows  how many they are
    """

    name: str
    rows: int
    cells: int = 0
    gone: str = ""
    gone_rows: int = 0

    def files(self) -> list[str]:
        """Its files, each written once."""
        kinds = ["ids", "scales", "high", "low", *(("centres", "ends", "order") if self.cells else ())]
        return [f"{self.name}.{kind}" for kind in kinds if self.rows] + ([self.gone] if self.gone else [])


@dataclass(frozen=True, slots=True)
class Layout:
    """What `layout.json` says.

    probes  cells that a search looks into, of each segment that has cells
    recall  the share of the exact ten nearest that this finds, measured when the cells were made
    total   the sum of all vectors that are not gone, (d,)
    """

    dimensions: int
    segments: tuple[SegmentRecord, ...]
    probes: int
    recall: float
    total: tuple[float, ...]


@contextmanager
def naming_damage() -> Iterator[None]:
    """Turns what files that are not what they were do to numpy into IndexOutOfDate."""
    try:
        yield
    except (IndexError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise IndexOutOfDate(f"the vector index is damaged: {error}", fix="rebuild it: kb reindex") from error


def read_layout(folder: Path) -> Layout:
    """raises  IndexOutOfDate, OSError"""
    with naming_damage():
        content = json.loads((folder / LAYOUT).read_text())
        segments = tuple(SegmentRecord(**segment) for segment in content.pop("segments"))
        return Layout(**{**content, "segments": segments, "total": tuple(content["total"])})


def write_layout(folder: Path, layout: Layout) -> None:
    """raises  OSError"""
    (folder / LAYOUT).write_text(json.dumps(asdict(layout)))


class PackedRows:
    """Vectors in 16 bits, mapped; rows[positions] are float32."""

    def __init__(self, folder: Path, name: str, rows: int, dimensions: int) -> None:
        import numpy as np

        self._scales: FloatVector = _mapped(folder / f"{name}.scales", np.float32, (rows,))
        self._high: ByteMatrix = _mapped(folder / f"{name}.high", np.int8, (rows, dimensions))
        self._low: ByteMatrix = _mapped(folder / f"{name}.low", np.int8, (rows, dimensions))

    def __getitem__(self, positions: IntVector) -> FloatMatrix:
        import numpy as np

        numbers: ShortMatrix = self._high[positions] * np.int16(256) + self._low[positions]
        return from_fixed_point(self._scales[positions], numbers)

    def rough_cosines(self, query: FloatMatrix, part: slice) -> FloatMatrix:
        """Cosines by the high bytes alone: (n,) of a query (d,), (q, n) of several (q, d)."""
        import numpy as np

        high, cosines = self._high[part], np.empty((*query.shape[:-1], part.stop - part.start), np.float32)
        for at in range(0, len(high), ROUGH_ROWS):
            cosines[..., at : at + ROUGH_ROWS] = query @ high[at : at + ROUGH_ROWS].astype(np.float32).T
        cosines *= 256 * self._scales[part]
        return cosines

    @cached_property
    def rough_error(self) -> float:
        """The standard deviation of a rough cosine's error, of the row with the largest scale: of low bytes at random."""
        import numpy as np

        return float(np.nanmax(self._scales, initial=0)) * 256 / 12**0.5


class Segment:
    """A segment, mapped."""

    def __init__(self, folder: Path, record: SegmentRecord, dimensions: int) -> None:
        import numpy as np

        self.record = record
        rows, cells = record.rows, record.cells
        self.ids: IntVector = _mapped(folder / f"{record.name}.ids", np.int64, (rows,))
        self.vectors = PackedRows(folder, record.name, rows, dimensions)
        self.gone: IntVector = _mapped(folder / record.gone, np.int64, (record.gone_rows,))
        if cells:
            self.centres: FloatMatrix = _mapped(folder / f"{record.name}.centres", np.float32, (cells, dimensions))
            self.ends: IntVector = _mapped(folder / f"{record.name}.ends", np.int64, (cells,))
            self._order: IntVector = _mapped(folder / f"{record.name}.order", np.int64, (rows,))

    @property
    def live(self) -> int:
        """Rows that are not gone."""
        return self.record.rows - self.record.gone_rows

    def live_positions(self) -> IntVector:
        """Where rows are that are not gone, ascending."""
        import numpy as np

        is_live = np.ones(self.record.rows, dtype=bool)
        is_live[self.gone] = False
        return np.flatnonzero(is_live)

    def positions_of(self, chunk_ids: IntVector) -> IntVector:
        """Where those of the chunks are that it holds and that are not gone, ascending.

        chunk_ids  each once
        """
        import numpy as np

        if not self.record.rows or not len(chunk_ids):
            return np.empty(0, np.int64)
        order = self._order if self.record.cells else None
        found = np.minimum(np.searchsorted(self.ids, chunk_ids, sorter=order), self.record.rows - 1)
        positions = found if order is None else order[found]
        positions = positions[self.ids[positions] == chunk_ids]
        return np.sort(positions[~_is_among(positions, self.gone)])

    def near(self, query: FloatVector, probes: int, rough: FloatVector | None = None) -> tuple[IntVector, FloatVector]:
        """Positions and rough cosines of the rows in the cells nearest to a query, of all in a flat one.

        rough  the cosines of a flat one where they are known
        """
        import numpy as np

        if not self.record.cells:
            scores = self.vectors.rough_cosines(query, slice(0, self.record.rows)) if rough is None else rough
            scores[self.gone] = NEVER
            return np.arange(self.record.rows), scores
        probes = min(probes, self.record.cells)
        nearest = np.sort(np.argpartition(-(self.centres @ query), probes - 1)[:probes])
        ends = self.ends[nearest]
        begins = np.where(nearest, self.ends[nearest - 1], 0)
        parts = [slice(int(begin), int(end)) for begin, end in zip(begins, ends, strict=True)]
        positions = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        scores = np.concatenate([self.vectors.rough_cosines(query, part) for part in parts])
        scores[_is_among(positions, self.gone)] = NEVER
        return positions, scores

    def among(self, query: FloatVector, chunk_ids: IntVector) -> tuple[IntVector, FloatVector]:
        """Positions and cosines of these chunks, those that it holds."""
        import numpy as np

        positions = self.positions_of(chunk_ids)
        blocks = [self.vectors[positions[at : at + BLOCK_ROWS]] @ query for at in range(0, len(positions), BLOCK_ROWS)]
        return positions, np.concatenate(blocks) if blocks else np.empty(0, np.float32)


class Gathered:
    """Rows of several matrices as one, none of them copied."""

    def __init__(self, parts: Iterable[tuple[IntVector, FloatMatrix | PackedRows, IntVector]], dimensions: int) -> None:
        """parts: chunk_ids and vectors of a matrix, and the positions of its rows that are meant."""
        import numpy as np

        self._parts = [part for part in parts if len(part[2])]
        self._dimensions = dimensions
        self.ids: IntVector = np.concatenate(
            [np.empty(0, np.int64), *(ids[positions] for ids, _, positions in self._parts)]
        )

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: IntVector) -> FloatMatrix:
        """Some rows, in the order they are asked for."""
        import numpy as np

        taken = np.empty((len(rows), self._dimensions), np.float32)
        begin = 0
        for _, vectors, positions in self._parts:
            is_here = (rows >= begin) & (rows < begin + len(positions))
            taken[is_here] = vectors[positions[rows[is_here] - begin]]
            begin += len(positions)
        return taken

    def blocks(self, order: IntVector) -> Iterator[FloatMatrix]:
        """All rows in an order, some at a time."""
        for at in range(0, len(order), BLOCK_ROWS):
            yield self.take(order[at : at + BLOCK_ROWS])


def write_segment(
    folder: Path, name: str, rows: Gathered, centres: FloatMatrix | None = None, cells: IntVector | None = None
) -> SegmentRecord:
    """Write rows as a segment: flat, or in the cells that are given for them.

    raises  OSError
    """
    import numpy as np

    count = 0 if centres is None else len(centres)
    order = np.argsort(rows.ids) if cells is None else np.lexsort((rows.ids, cells))
    ids = rows.ids[order]
    if len(rows):
        ids.tofile(folder / f"{name}.ids")
        with ExitStack() as files:
            scales, high, low = (
                files.enter_context((folder / f"{name}.{kind}").open("wb")) for kind in ("scales", "high", "low")
            )
            for block in rows.blocks(order):
                factors, numbers = to_fixed_point(block)
                rounded = (numbers.astype(np.int32) + 128) >> 8
                scales.write(factors.tobytes())
                high.write(rounded.astype(np.int8).tobytes())
                low.write((numbers - 256 * rounded).astype(np.int8).tobytes())
        if centres is not None and cells is not None:
            centres.astype(np.float32).tofile(folder / f"{name}.centres")
            np.cumsum(np.bincount(cells, minlength=count)).astype(np.int64).tofile(folder / f"{name}.ends")
            np.argsort(ids).astype(np.int64).tofile(folder / f"{name}.order")
    return SegmentRecord(name, len(rows), count)


def _is_among(values: IntVector, ascending: IntVector) -> Any:
    """Of each value, whether it is one of some that are sorted."""
    import numpy as np

    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    return ascending[np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)] == values


def _mapped(file: Path, kind: type, shape: Sequence[int]) -> Any:
    """An array in a file; it stays readable when the file is removed. raises OSError; IndexOutOfDate where it is too short"""
    import numpy as np

    if 0 in shape:
        return np.empty(shape, kind)
    with naming_damage():
        return np.asarray(np.memmap(file, dtype=kind, mode="r", shape=tuple(shape)))
