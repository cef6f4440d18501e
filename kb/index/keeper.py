"""One index of a data folder, kept by one engine: opened when it is current, rebuilt first when it is not.

The caller passes the rows and their origin as a `Source`; this module knows only the folder `index/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate
from kb.index.protocol import Engine, Index, IndexWriter, Row
from kb.index.stamp import IndexStamp, Origin, read_stamp, replace_index

# A writer may replace the index between reading its stamp and opening it.
OPEN_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Source(Generic[Row]):
    """The input of an index.

    snapshot  a context in which origin and rows are consistent
    origin    the present corpus and encoder
    rows      all rows, in chunk_id order
    """

    snapshot: Callable[[], AbstractContextManager[None]]
    origin: Callable[[], Origin]
    rows: Callable[[Origin], Iterable[Row]]


def write_index(
    folder: Path,
    engine: Engine[Row, Index],
    origin: Origin,
    settings: SearchConfig,
    change: Callable[[IndexWriter[Row]], None],
    base: IndexStamp | None = None,
) -> IndexStamp:
    """Write an index and make it the current one in one step; a failed build leaves the earlier one.

    change  calls upsert and delete of the writer
    base    the index to start from; None starts from nothing
    """

    def build(path: Path) -> IndexStamp:
        writer = engine.write(path, origin, settings, folder / base.place if base else None)
        try:
            change(writer)
        except BaseException:
            writer.abandon()
            raise
        return writer.commit()

    return replace_index(folder, engine.kind, build)


def open_index(folder: Path, engine: Engine[Row, Index], stamp: IndexStamp, settings: SearchConfig) -> Index:
    """Open a stamped index.

    raises  IndexOutOfDate when it is damaged or does not match its stamp; OSError
    """
    index = engine.open(folder / stamp.place, stamp, settings)
    for fault in index.check():
        raise IndexOutOfDate(fault, fix="rebuild it: kb reindex")
    return index


class IndexKeeper(Generic[Row, Index]):
    """Opens and rebuilds one index; see the module."""

    def __init__(
        self,
        folder: Path,
        engine: Engine[Row, Index],
        settings: SearchConfig,
        source: Source[Row],
        notify: Callable[[str], None],
    ) -> None:
        self.kind = engine.kind
        self._folder, self._engine, self._settings = folder, engine, settings
        self._source, self._notify = source, notify
        self._opened: tuple[str, Index] | None = None

    def index(self) -> Index:
        """The index of the present corpus, rebuilt first if needed.

        raises  IndexOutOfDate when it can be neither opened nor replaced
        """
        for _ in range(OPEN_ATTEMPTS):
            stamp = self.refresh()
            if self._opened and self._opened[0] == stamp.place:
                return self._opened[1]
            try:
                self._opened = stamp.place, open_index(self._folder, self._engine, stamp, self._settings)
            except (IndexOutOfDate, OSError):
                self._discard(stamp)
        if self._opened is None:
            raise IndexOutOfDate(f"the {self.kind} index cannot be opened", fix="rebuild it: kb reindex")
        return self._opened[1]

    def refresh(self, *, force: bool = False, announce: bool = True) -> IndexStamp:
        """Rebuild the index unless it was built from the present corpus and encoder."""
        with self._source.snapshot():
            origin, stamp = self._source.origin(), self.stamp()
            if stamp and not force and stamp.matches(origin, self._engine.format):
                return stamp
            if announce:
                self._notify(_describe_rebuild(self.kind, stamp, origin))
            rows = self._source.rows(origin)
            try:
                return write_index(
                    self._folder, self._engine, origin, self._settings, lambda writer: writer.upsert(rows)
                )
            except OSError as error:
                raise IndexOutOfDate(
                    f"the {self.kind} index does not match the documents and cannot be rebuilt: {error.strerror}",
                    fix=self._fix(),
                ) from error

    def stamp(self) -> IndexStamp | None:
        """The stamp of the current index, None for a missing or unreadable one."""
        return read_stamp(self._folder, self.kind)

    def is_current(self, stamp: IndexStamp) -> bool:
        """True when an index with this stamp was built from the present corpus and encoder."""
        return stamp.matches(self._source.origin(), self._engine.format)

    def fault(self) -> str | None:
        """The fault of the current index, for a user; None for a sound one. Rebuilds nothing."""
        stamp = self.stamp()
        if stamp is None or not self.is_current(stamp):
            return f"{self.kind} is out of date"
        try:
            open_index(self._folder, self._engine, stamp, self._settings)
        except (IndexOutOfDate, OSError):
            return f"{self.kind} is damaged"
        return None

    def _discard(self, stamp: IndexStamp) -> None:
        """Remove the stamp of an index that cannot be opened, unless another process has replaced it meanwhile."""
        if self.stamp() == stamp:
            try:
                (self._folder / f"{self.kind}.json").unlink(missing_ok=True)
            except OSError as error:
                raise IndexOutOfDate(
                    f"the {self.kind} index cannot be opened, nor replaced: {error.strerror}", fix=self._fix()
                ) from error

    def _fix(self) -> str:
        return f"make {self._folder} writable, or run kb reindex as its owner"


def _describe_rebuild(kind: str, stamp: IndexStamp | None, origin: Origin) -> str:
    if stamp is None:
        return f"building the {kind} index (there is none that can be read)"
    if stamp.revision != origin.revision:
        behind = f"built from revision {stamp.revision}, the documents are at {origin.revision}"
        return f"rebuilding the {kind} index ({behind})"
    return f"rebuilding the {kind} index (it was built from other documents or by another version)"
