"""A data folder → its corpus and its journal, opened together; and operations on the file as a whole.

The two share kb.sqlite today. Nothing above the store assumes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kb.errors import IoError
from kb.private import make_private_home
from kb.store.backup import write_backup
from kb.store.compact import compact
from kb.store.corpus import Corpus
from kb.store.database import OlderSchema, checkpoint, find_faults, open_for_reading, open_for_writing, snapshot
from kb.store.soundness import Soundness

if TYPE_CHECKING:
    from kb.store.journal import Journal


class Store:
    """The corpus and the journal of one data folder.

    is_writable             whether it was opened for writing
    made_private            how many of its files and folders other users could use until it was opened for writing
    was_brought_up_to_date  whether an older kb had written it, when it was opened for reading
    raises  NotIndexed when `write` is False and there is none; CorruptStore, IoError
    """

    def __init__(self, home: Path, *, write: bool = False) -> None:
        self.home = home
        self.is_writable = write
        self.made_private = make_private_home(home) if write else 0
        self.was_brought_up_to_date = False
        self._connection: sqlite3.Connection = open_for_writing(home) if write else self._open_for_reading()
        self.corpus = Corpus(self._connection)
        self._is_closed = False

    def _open_for_reading(self) -> sqlite3.Connection:
        try:
            return open_for_reading(self.home)
        except OlderSchema as error:
            try:
                open_for_writing(self.home).close()
            except IoError:
                raise error from None
        self.was_brought_up_to_date = True
        return open_for_reading(self.home)

    @cached_property
    def journal(self) -> Journal:
        """What was asked; opened on first use."""
        from kb.store.journal import Journal  # 6 ms that a search does not need

        return Journal(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was written is in it then, and on the disk, also where another process goes on reading.

        Without this the last one to close moves the log into the file, and a reader cannot.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if self._connection.total_changes and not self._connection.in_transaction:
            with suppress(
                sqlite3.DatabaseError
            ):  # no room: it stays in the log, where it is safe; damage is said elsewhere
                checkpoint(self._connection)
        self._connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside sees one state, whatever a writer commits meanwhile."""
        with snapshot(self._connection):
            yield

    def find_faults(self) -> list[str]:
        """What SQLite finds wrong with its own file, dangling references included; empty when it is sound."""
        return find_faults(self._connection)

    @property
    def soundness(self) -> Soundness:
        """What in it is not as it was written, and repairs."""
        return Soundness(self._connection)

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file, as far as no reader is in the way."""
        checkpoint(self._connection)

    def compact(self) -> int | None:
        """Give free pages back to the file system: bytes freed; None when another process holds the store."""
        return compact(self._connection, self.home)

    def write_copy(self, path: Path) -> None:
        """Write a compact copy of the whole store to a file that is not there yet: whole, or not at all.

        raises  InvalidInput, IoError, CorruptStore
        """
        write_backup(self._connection, path)

    def copy_to(self, home: Path) -> None:
        """Copy the whole store into another data folder."""
        target = open_for_writing(home)
        try:
            self._connection.backup(target)
        finally:
            target.close()

    def on_statement(self, tell: Callable[[str], object] | None) -> None:
        """Call `tell` with every SQL statement that runs from now on; None ends it."""
        self._connection.set_trace_callback(tell)
