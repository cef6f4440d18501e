"""One writer at a time per data folder: a file lock that ends with its process, and a note that names the holder.

Who waits holds a second lock, the turn, without which nobody takes the first one: so two writers take turns. The note is
only for messages.
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
TURN_NAME = "write.lock.turn"
NOTE_NAME = "write.lock.owner"
POLL_SECONDS = 0.05
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

    lock, turn = (FileLock(home / name, mode=0o600) for name in (LOCK_NAME, TURN_NAME))
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        wait = _Waiting(home, wait_seconds, notify, should_stop)
        wait.until_held(turn)
        try:
            wait.until_held(lock)
        finally:
            turn.release()
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


class _Waiting:
    """The patience of one writer, for both locks together; who is waited for is told once."""

    def __init__(
        self, home: Path, seconds: float, notify: Callable[[str], None], should_stop: Callable[[], bool]
    ) -> None:
        self._home, self._seconds, self._notify, self._should_stop = home, seconds, notify, should_stop
        self._deadline = time.monotonic() + seconds
        self._has_told = False

    def until_held(self, lock: BaseFileLock) -> None:
        """raises  Locked, KeyboardInterrupt, OSError"""
        while not _try(lock):
            if self._seconds > 0 and not self._has_told:
                self._notify(f"waiting for {_describe_owner(self._home)}, which is writing to {self._home}")
                self._has_told = True
            if self._should_stop():
                raise KeyboardInterrupt
            if time.monotonic() >= self._deadline:
                raise Locked(
                    f"{_describe_owner(self._home)} is writing to {self._home}",
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
