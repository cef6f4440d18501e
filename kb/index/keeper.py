"""One index of a data folder, kept by one engine: opened when it is current, rebuilt first when it is not.

The caller passes the rows and their origin as a `Source`; this module knows only the folder `index/`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate, IoError
from kb.index.checksum import READ_AT_MOST_BYTES, find_damage
from kb.index.mending import mending
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


def open_index(
    folder: Path,
    engine: Engine[Row, Index],
    stamp: IndexStamp,
    settings: SearchConfig,
    most_bytes: int | None = READ_AT_MOST_BYTES,
) -> Index:
    """Open a stamped index.

    most_bytes  see `find_damage`
    raises      IndexOutOfDate when it is damaged or does not match its stamp; OSError
    """
    if damage := find_damage(folder / stamp.place, stamp.sums, most_bytes):
        raise IndexOutOfDate(f"the {engine.kind} index is damaged: {damage}", fix="rebuild it: kb reindex")
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
        self._mending: tuple[Index, Index] | None = None

    def index(self) -> Index:
        """The index of the present corpus, rebuilt first if needed, and once more if a call of it finds it damaged.

        raises  IndexOutOfDate when it can be neither opened nor replaced, IoError when there is no room for it
        """
        opened = self._open()
        if self._mending is None or self._mending[0] is not opened:
            self._mending = opened, mending(opened, self._reopen)
        return self._mending[1]

    def close(self) -> None:
        """Let go of the opened index."""
        self._opened = self._mending = None

    def _reopen(self) -> Index:
        """The index rebuilt, after one that could be opened turned out to be damaged."""
        if self._opened and (stamp := self.stamp()) and stamp.place == self._opened[0]:
            self._discard(stamp)
        self._opened = None
        return self._open()

    def _open(self) -> Index:
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
                raise self._unwritable("built", error) from error

    def stamp(self) -> IndexStamp | None:
        """The stamp of the current index, None for a missing or unreadable one."""
        return read_stamp(self._folder, self.kind)

    def is_current(self, stamp: IndexStamp) -> bool:
        """True when an index with this stamp was built from the present corpus and encoder."""
        return stamp.matches(self._source.origin(), self._engine.format)

    def fault(self, expected: Collection[int] | None = None) -> str | None:
        """The fault of the current index, for a user; None for a sound one. Reads all its files, rebuilds nothing.

        expected  the chunk_ids that it should hold; None leaves that out
        """
        stamp = self.stamp()
        if stamp is None or not self.is_current(stamp):
            return f"{self.kind} is out of date"
        try:
            index = open_index(self._folder, self._engine, stamp, self._settings, most_bytes=None)
            held = set(expected or ()) if expected is None else index.chunk_ids()
        except (IndexOutOfDate, OSError):
            return f"{self.kind} is damaged"
        wanted = set(expected or ())
        if held != wanted:
            return f"{self.kind} lacks {len(wanted - held)} chunks and holds {len(held - wanted)} that are gone"
        return None

    def sound_index(self) -> Index | None:
        """The current index where its files are as they were written, None where not; rebuilds nothing."""
        stamp = self.stamp()
        if stamp is None or not self.is_current(stamp):
            return None
        try:
            return open_index(self._folder, self._engine, stamp, self._settings, most_bytes=None)
        except (IndexOutOfDate, OSError):
            return None

    def _discard(self, stamp: IndexStamp) -> None:
        """Remove the stamp of an index that cannot be opened, unless another process has replaced it meanwhile."""
        if (present := self.stamp()) and present.place == stamp.place:
            try:
                (self._folder / f"{self.kind}.json").unlink(missing_ok=True)
            except OSError as error:
                raise self._unwritable("replaced", error) from error

    def _unwritable(self, done: str, error: OSError) -> IoError:
        place = next((place for place in (self._folder, *self._folder.parents) if place.exists()), self._folder)
        free = shutil.disk_usage(place).free
        return IoError(
            f"the {self.kind} index cannot be {done} in {self._folder}: {error.strerror or error}",
            fix=f"make room there ({free / 1e6:,.1f} MB are free), or make {self._folder} writable",
            path=str(self._folder),
            free_bytes=free,
        )


def _describe_rebuild(kind: str, stamp: IndexStamp | None, origin: Origin) -> str:
    if stamp is None:
        return f"building the {kind} index (there is none that can be read)"
    if stamp.revision != origin.revision:
        behind = f"built from revision {stamp.revision}, the documents are at {origin.revision}"
        return f"rebuilding the {kind} index ({behind})"
    return f"rebuilding the {kind} index (it was built from other documents or by another version)"
