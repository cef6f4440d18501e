"""Folders → word that something in them has changed, once it has settled; wraps watchfiles, in a thread of its own.

Tells nothing of what changed: an ingest finds that out, by the rules that hold for every ingest.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import IoError, KbError
from kb.ingest.discover import NEVER_ENTERED

if TYPE_CHECKING:
    from watchfiles import Change

# Changes have settled when none came for so long; a burst is not waited for longer than the second.
SETTLED_MS, LONGEST_BURST_MS = 300, 2_000
# How soon the thread sees that it is to end.
POLL_MS = 200


class Changes:
    """The changes of some folders that nobody has asked for yet."""

    def __init__(self) -> None:
        self._batches: queue.Queue[int | KbError] = queue.Queue()

    def is_waiting(self) -> bool:
        """Whether something has changed since `wait` last returned."""
        return not self._batches.empty()

    def wait(self, seconds: float) -> int:
        """The number of paths that changed and have settled; 0 when none did in so many seconds.

        raises  IoError where the folders cannot be watched
        """
        changed = 0
        try:
            changed = self._take(self._batches.get(timeout=seconds))
            while True:
                changed += self._take(self._batches.get_nowait())
        except queue.Empty:
            return changed

    def put(self, batch: int | KbError) -> None:
        """A batch of so many paths, or why there will be none."""
        self._batches.put(batch)

    def _take(self, batch: int | KbError) -> int:
        if isinstance(batch, KbError):
            raise batch
        return batch


@contextmanager
def watch_folders(folders: Sequence[Path], home: Path) -> Iterator[Changes]:
    """Watch files and folders until the block ends; what changed before the first word is not lost.

    home  of the knowledge base, whose own changes do not count
    """
    changes, end = Changes(), threading.Event()
    is_watching = threading.Event()
    arguments = (folders, os.path.realpath(home), changes, is_watching, end)
    thread = threading.Thread(target=_watch, args=arguments, name="kb watch", daemon=True)
    thread.start()
    is_watching.wait()
    try:
        yield changes
    finally:
        end.set()
        thread.join()


def _watch(
    folders: Sequence[Path], home: str, changes: Changes, is_watching: threading.Event, end: threading.Event
) -> None:
    """The thread: puts the size of each batch that settled."""
    from watchfiles import watch  # 40 ms that no other command needs

    def is_wanted(change: Change, path: str) -> bool:
        parts = path.split(os.sep)
        return NEVER_ENTERED.isdisjoint(parts) and path != home and not path.startswith(f"{home}{os.sep}")

    try:
        batches = watch(
            *folders,
            watch_filter=is_wanted,
            debounce=LONGEST_BURST_MS,
            step=SETTLED_MS,
            rust_timeout=POLL_MS,
            yield_on_timeout=True,
            stop_event=end,
            raise_interrupt=False,
        )
        for batch in batches:  # the first comes after POLL_MS, and is empty
            is_watching.set()
            if batch:
                changes.put(len(batch))
    except OSError as error:
        changes.put(
            IoError(
                f"cannot watch {', '.join(map(str, folders))}: {error}",
                fix="on Linux, raise fs.inotify.max_user_watches; or set WATCHFILES_FORCE_POLLING=true",
            )
        )
    finally:
        is_watching.set()
