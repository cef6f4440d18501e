"""One writer at a time per home: a lock that the operating system drops with its process, and a note of who holds it.

Readers never take it. The lock is the file; the note beside it is only for telling people.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kb.errors import IoError, Locked

LOCK_NAME = "write.lock"
POLL_SECONDS = 0.1


def lock_owner(home: Path) -> str | None:
    """Who holds the lock, as words for a message; None when nobody does."""
    from filelock import FileLock, Timeout

    path = home / LOCK_NAME
    if not path.exists():
        return None
    try:
        with FileLock(path, timeout=0):
            return None
    except Timeout:
        return _describe_owner(home)
    except OSError:
        return None


def _describe_owner(home: Path) -> str:
    try:
        owner = json.loads((home / f"{LOCK_NAME}.owner").read_text())
        return f"process {owner['pid']} ({owner['command']}, since {owner['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


@contextmanager
def writer_lock(home: Path, wait_seconds: float, notify: Callable[[str], None]) -> Iterator[None]:
    """Hold the home's writer lock; says who holds it while waiting.

    wait_seconds  0 gives up at once
    raises        Locked when it could not be had in that time
    """
    from filelock import FileLock, Timeout

    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = FileLock(home / LOCK_NAME)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            owner = _describe_owner(home)
            if wait_seconds > 0:
                notify(f"waiting for {owner}, which is writing to {home}")
            try:
                lock.acquire(timeout=wait_seconds, poll_interval=POLL_SECONDS)
            except Timeout as error:
                raise Locked(
                    f"{_describe_owner(home)} is writing to {home}",
                    fix="wait for it to finish, or raise ingest.lock_wait_seconds",
                ) from error
    except OSError as error:
        raise IoError(f"cannot lock {home}: {error.strerror}", fix="check the folder's permissions") from error
    note = home / f"{LOCK_NAME}.owner"
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    try:
        note.write_text(json.dumps({"pid": os.getpid(), "command": command, "since": since}))
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()
