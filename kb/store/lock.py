"""One writer at a time per data folder: a file lock that ends with its process, and a note that names the holder.

Readers never take it. The note is only for messages.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import IoError, Locked
from kb.private import open_private

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK_NAME = "write.lock"
NOTE_NAME = "write.lock.owner"
POLL_SECONDS = 0.1
# Length of a command line in the message that names the writer.
COMMAND_CHARS = 80


def lock_owner(home: Path) -> str | None:
    """Who holds the lock, in words for a message; None when nobody does.

    The lock itself is tried only while the note names a living process, so that a reader who looks does not block a writer.
    """
    from filelock import FileLock, Timeout

    if not _is_noted_alive(home):
        return None
    try:
        with FileLock(home / LOCK_NAME, timeout=0):
            return None
    except Timeout:
        return _describe_owner(home)
    except OSError:
        return None


def _is_noted_alive(home: Path) -> bool:
    try:
        os.kill(int(json.loads((home / NOTE_NAME).read_text())["pid"]), 0)
    except PermissionError:
        return True  # another user's process
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _describe_owner(home: Path) -> str:
    try:
        owner = json.loads((home / NOTE_NAME).read_text())
        return f"process {owner['pid']} ({owner['command']}, since {owner['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


@contextmanager
def writer_lock(
    home: Path,
    wait_seconds: float,
    notify: Callable[[str], None],
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Hold the writer lock of a data folder; tells who holds it while waiting.

    wait_seconds  0 gives up at once
    should_stop   asked while waiting; True ends the waiting as Ctrl-C does, with KeyboardInterrupt
    raises        Locked when the time is over, IoError
    """
    from filelock import FileLock

    lock = FileLock(home / LOCK_NAME, mode=0o600)
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _try(lock):
            _wait(lock, home, wait_seconds, notify, should_stop)
    except OSError as error:
        raise IoError(f"cannot lock {home}: {error.strerror}", fix="check the folder's permissions") from error
    note = home / NOTE_NAME
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    try:
        with open(note, "w", opener=open_private) as file:
            json.dump({"pid": os.getpid(), "command": _own_command(), "since": since}, file)
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def _wait(
    lock: BaseFileLock, home: Path, wait_seconds: float, notify: Callable[[str], None], should_stop: Callable[[], bool]
) -> None:
    deadline = time.monotonic() + wait_seconds
    if wait_seconds > 0:
        notify(f"waiting for {_describe_owner(home)}, which is writing to {home}")
    while not _try(lock):
        if should_stop():
            raise KeyboardInterrupt
        if time.monotonic() >= deadline:
            raise Locked(
                f"{_describe_owner(home)} is writing to {home}",
                fix="wait for it to finish, or raise ingest.lock_wait_seconds",
            )
        time.sleep(POLL_SECONDS)


def _try(lock: BaseFileLock) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True


def _own_command() -> str:
    """This process as its user called it, in short."""
    name = Path(sys.argv[0]).name
    words = " ".join(["kb" if name == "__main__.py" else name, *sys.argv[1:]])
    return words if len(words) <= COMMAND_CHARS else words[: COMMAND_CHARS - 1] + "…"
