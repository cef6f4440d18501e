"""One index of a data folder, kept by one engine: opened as it is, and brought up to date by who writes the corpus.

A reader opens the newest finished index at once, also where it is behind the corpus, and is told how far. It writes
only where it gets the writers' turn without waiting: then the last writer was killed before it came to the index.
The caller passes the rows and what changed as a `Source`; this module knows only the folder `index/`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, Literal, TypedDict

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate, IoError
from kb.frozen import dataclass
from kb.index.checksum import READ_AT_MOST_BYTES, find_damage
from kb.index.mending import mending
from kb.index.protocol import Engine, Index, IndexWriter, Row
from kb.index.stamp import IndexStamp, Origin, clear_old, read_stamp, replace_index, restamp

# Damage that a rebuilt index has as well is not of its files.
OPEN_ATTEMPTS = 3
# An index is built from nothing once so many of its rows are dead: reading them costs as much as what is left is worth.
DEAD_SHARE = 0.3

# Whether this process may write indexes now: it may; another one writes; nobody can, in a folder that may only be read.
Turn = Literal["ours", "theirs", "nobody's"]


@contextmanager
def _always_ours() -> Iterator[Turn]:
    yield "ours"


class SharedSource(TypedDict):
    """The parts of a `Source` that are the same for indexes of either kind."""

    snapshot: Callable[[], AbstractContextManager[None]]
    is_ahead: Callable[[IndexStamp], bool]
    existing: Callable[[Iterable[int]], Collection[int]]
    turn: Callable[[], AbstractContextManager[Turn]]


@dataclass(frozen=True, slots=True)
class Source(Generic[Row]):
    """The input of an index.

    snapshot  a context in which everything below is consistent
    origin    the present corpus and encoder
    rows      all rows, in chunk_id order
    rows_of   the rows of some chunks; those that are gone are left out
    changed   the chunks whose rows were added, changed or removed since a stamp was written; None where nobody knows
    lag       the number of documents they belong to; None where nobody knows
    is_ahead  whether a stamp is of a revision that was written after the snapshot was taken
    existing  those of some chunks that are in the corpus
    turn      a context that waits for nobody, in which this process may write indexes where it gives "ours"
    """

    snapshot: Callable[[], AbstractContextManager[None]]
    origin: Callable[[], Origin]
    rows: Callable[[Origin], Iterable[Row]]
    rows_of: Callable[[Origin, Sequence[int]], Iterable[Row]] = lambda origin, chunk_ids: ()
    changed: Callable[[IndexStamp], Sequence[int] | None] = lambda stamp: None
    lag: Callable[[IndexStamp], int | None] = lambda stamp: None
    is_ahead: Callable[[IndexStamp], bool] = lambda stamp: False
    existing: Callable[[Iterable[int]], Collection[int]] = set
    turn: Callable[[], AbstractContextManager[Turn]] = _always_ours


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

    return replace_index(folder, engine.kind, build, base)


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
    """Opens one index and brings it up to date; see the module.

    lag  documents that were changed since the index was made that `index` gave last; None where there was none to open
    """

    def __init__(
        self,
        folder: Path,
        engine: Engine[Row, Index],
        settings: SearchConfig,
        source: Source[Row],
        notify: Callable[[str], None],
    ) -> None:
        self.kind = engine.kind
        self.lag: int | None = 0
        self._folder, self._engine, self._settings = folder, engine, settings
        self._source, self._notify = source, notify
        self._opened: tuple[str, Index] | None = None
        self._mending: tuple[Index, Index] | None = None
        self._is_exact = True

    # ---- for readers

    def index(self) -> Index:
        """The newest index, at once; `lag` says how far it is behind.

        What a search finds is in the present corpus, also where the index is behind. Where nobody writes, an index that
        is behind is brought up to date first; where a call finds it damaged, it is built anew, and the call made again.
        An index that another process is just making for the first time is empty.

        raises  IndexOutOfDate when it can be neither opened nor replaced, IoError when there is no room for it
        """
        opened = self._open()
        if self._mending is None or self._mending[0] is not opened:
            self._mending = opened, mending(opened, self._reopen, self._gone)
        return self._mending[1]

    def close(self) -> None:
        """Let go of the opened index: files that were removed meanwhile take room until then."""
        self._opened = self._mending = None

    def _gone(self, chunk_ids: Collection[int]) -> set[int]:
        """Those of the chunks that an index which is behind, or ahead of a snapshot, holds in vain."""
        return set() if self._is_exact else set(chunk_ids) - set(self._source.existing(chunk_ids))

    def _reopen(self) -> Index:
        """The index built anew, after one that could be opened turned out to be damaged."""
        if self._opened and (stamp := self.stamp()) and stamp.place == self._opened[0]:
            self._replace_damaged(stamp)
        self._opened = None
        return self._open()

    def _open(self) -> Index:
        failed = 0
        while failed < OPEN_ATTEMPTS:
            stamp = self._newest()
            place = stamp.place if stamp else ""
            if self._opened and self._opened[0] == place:
                return self._opened[1]
            try:
                index = open_index(self._folder, self._engine, stamp, self._settings) if stamp else self._empty_index()
            except (IndexOutOfDate, OSError):
                # Not damaged where a writer has replaced it since its stamp was read: then the new one is opened.
                if (present := self.stamp()) and present.place == place:
                    failed += 1
                    self._replace_damaged(present)
            else:
                self._opened = place, index
                return index
        raise IndexOutOfDate(f"the {self.kind} index cannot be opened", fix="rebuild it: kb reindex")

    def _newest(self) -> IndexStamp | None:
        """The stamp of the index to open, brought up to date where nobody else writes; None for an empty one."""
        stamp = self.stamp()  # before the snapshot: then it is not ahead of it but within an earlier one
        with self._source.snapshot():
            self.lag = self._measure_lag(stamp)
            self._is_exact = bool(stamp and stamp.matches(self._source.origin(), self._engine.format))
        if stamp and self.lag == 0:
            return stamp
        with self._source.turn() as turn:
            if turn == "ours" or (turn == "nobody's" and self.lag is None):
                try:
                    stamp = self.refresh()
                except IoError:
                    if self.lag is None:
                        raise
                else:
                    self.lag, self._is_exact = 0, stamp.matches(self._source.origin(), self._engine.format)
        return stamp if self.lag is not None else None

    def _measure_lag(self, stamp: IndexStamp | None) -> int | None:
        """Documents that changed since the index was made; None for one that cannot be searched."""
        origin = self._source.origin()
        if stamp is None or not stamp.can_be_changed(origin, self._engine.format):
            return None
        if stamp.matches(origin, self._engine.format):
            return 0
        lag = self._source.lag(stamp)
        if lag is None and stamp.revision > origin.revision and self._source.is_ahead(stamp):
            return 0
        return lag

    def _empty_index(self) -> Index:
        with TemporaryDirectory(prefix="kb-") as folder:
            origin = self._source.origin()
            stamp = write_index(Path(folder), self._engine, origin, self._settings, lambda writer: None)
            return open_index(Path(folder), self._engine, stamp, self._settings)

    def _replace_damaged(self, stamp: IndexStamp) -> None:
        """Remove the stamp of a damaged index, so that it is built anew, unless another process has replaced it.

        raises  IndexOutOfDate where another process writes
        """
        with self._source.turn() as turn:
            if turn == "theirs":
                raise IndexOutOfDate(f"the {self.kind} index is damaged", fix="when the writer is done: kb reindex")
            if (present := self.stamp()) and present.place == stamp.place:
                try:
                    (self._folder / f"{self.kind}.json").unlink(missing_ok=True)
                except OSError as error:
                    raise self._unwritable("replaced", error) from error

    # ---- for writers

    def refresh(self, *, force: bool = False, announce: bool = True) -> IndexStamp:
        """Bring the index up to date with the present corpus and encoder; for who has the writers' turn.

        Only what changed is written, but for an index that is missing, of another format or encoder, or too full of
        dead rows.

        force  build it from nothing in any case
        """
        with self._source.snapshot():
            origin, stamp = self._source.origin(), self.stamp()
            changed = None if force or stamp is None else self._changes(stamp, origin)
            try:
                if stamp and changed is not None:
                    try:
                        return self._follow(stamp, origin, changed)
                    except IndexOutOfDate:
                        stamp = None
                if announce:
                    self._notify(_describe_rebuild(self.kind, stamp, origin))
                rows = self._source.rows(origin)
                return write_index(
                    self._folder, self._engine, origin, self._settings, lambda writer: writer.upsert(rows)
                )
            except OSError as error:
                raise self._unwritable("built", error) from error

    def _changes(self, stamp: IndexStamp, origin: Origin) -> Sequence[int] | None:
        """The chunks to write again; None where the index is to be built from nothing."""
        if stamp.matches(origin, self._engine.format):
            return ()
        if not stamp.can_be_changed(origin, self._engine.format) or stamp.dead > DEAD_SHARE * stamp.rows:
            return None
        changed = self._source.changed(stamp)
        if changed is None and stamp.revision > origin.revision and self._source.is_ahead(stamp):
            return ()
        return None if changed is None or len(changed) > stamp.rows else changed

    def _follow(self, stamp: IndexStamp, origin: Origin, changed: Sequence[int]) -> IndexStamp:
        """The index with these chunks as they are now. raises IndexOutOfDate for a damaged one"""
        if not changed:
            clear_old(self._folder, self.kind, stamp.place)  # a writer may have been killed before it came to that
            is_older = stamp.revision < origin.revision
            return restamp(self._folder, self.kind, stamp, origin) if is_older else stamp
        if damage := find_damage(self._folder / stamp.place, stamp.sums, READ_AT_MOST_BYTES):
            raise IndexOutOfDate(f"the {self.kind} index is damaged: {damage}", fix="rebuild it: kb reindex")
        rows = self._source.rows_of(origin, changed)

        def change(writer: IndexWriter[Row]) -> None:
            writer.delete(changed)
            writer.upsert(rows)

        return write_index(self._folder, self._engine, origin, self._settings, change, stamp)

    def stamp(self) -> IndexStamp | None:
        """The stamp of the current index, None for a missing or unreadable one."""
        return read_stamp(self._folder, self.kind)

    def is_current(self, stamp: IndexStamp) -> bool:
        """True when an index with this stamp holds the rows of the present corpus and encoder."""
        return self._measure_lag(stamp) == 0

    def fault(self, expected: Collection[int] | None = None, /, most_bytes: int | None = None) -> str | None:
        """The fault of the current index, for a user; None for a sound one. Rebuilds nothing.

        expected    the chunk_ids that it should hold; None leaves that out
        most_bytes  see `find_damage`
        """
        stamp = self.stamp()
        if stamp is None or not self.is_current(stamp):
            return f"{self.kind} is out of date"
        try:
            index = open_index(self._folder, self._engine, stamp, self._settings, most_bytes)
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
