"""A thread with a knowledge base of its own: jobs go in, results come out, in order; what was opened stays open.

SQLite connections and encoders belong to the thread that opened them, so the thread keeps them for all callers.
"""

from __future__ import annotations

import io
import os
import sqlite3
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from kb.config import Config
from kb.errors import KbError, Locked
from kb.library import KnowledgeBase
from kb.store.schema import FILE_NAME

Result = TypeVar("Result")
Job = Callable[[KnowledgeBase], Result]
Tell = Callable[[str], None]


def tell_stderr(message: str) -> None:
    """A line for whoever reads the server's log; stdout is the protocol's."""
    print(message, file=sys.stderr, flush=True)


def take_stdout() -> io.TextIOWrapper:
    """The real stdout, for the protocol alone: whatever else is printed in this process goes to stderr from now on."""
    real = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return io.TextIOWrapper(os.fdopen(real, "wb"), encoding="utf-8", newline="\n")


class Worker:
    """Runs jobs one after another on its own knowledge base of a home."""

    def __init__(self, name: str, home: Path, config: Config) -> None:
        self._home = home
        self._base = KnowledgeBase(home, config, notify=self._notify)
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._tell: Tell = tell_stderr
        self._file: tuple[int, int] | None = None
        # A daemon: a model that is still writing must not hold up the end of the process.
        self._thread = Thread(target=self._run, name=f"kb-{name}", daemon=True)
        self._thread.start()

    def submit(self, job: Job[Result], tell: Tell = tell_stderr) -> Future[Result]:
        """Queue a job; a future that is cancelled before its turn is passed over.

        tell  gets what a user should know while the job runs: a rebuild, a fallback; called on the worker's thread
        """
        future: Future[Result] = Future()
        self._jobs.put(lambda: self._serve(job, future, tell))
        return future

    def close(self) -> None:
        """End the thread after the jobs that are queued; does not wait for it."""
        self._jobs.put(None)

    def has_ended(self, wait_seconds: float) -> bool:
        """Whether the thread has ended, after waiting no longer than that."""
        self._thread.join(wait_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (serve := self._jobs.get()) is not None:
            serve()
        self._base.close()

    def _serve(self, job: Job[Result], future: Future[Result], tell: Tell) -> None:
        if not future.set_running_or_notify_cancel():
            return
        self._tell = tell
        try:
            self._follow_file()
            future.set_result(job(self._base))
        except BaseException as error:  # raised where the caller waits for it, on another thread
            future.set_exception(_known(error))
        finally:
            self._tell = tell_stderr

    def _notify(self, message: str) -> None:
        self._tell(message)

    def _follow_file(self) -> None:
        """Open the store again where the file is another one by now: restored from a backup, or made anew."""
        try:
            found = (self._home / FILE_NAME).stat()
            present = (found.st_dev, found.st_ino)
        except OSError:
            present = None
        if present != self._file:
            self._base.close()
            self._file = present


def _known(error: BaseException) -> BaseException:
    """A store that is busy as an error with a fix; every other error as it is."""
    if isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error)):
        return Locked(f"the store is busy: {error}", fix="try again in a moment")
    return error


def error_of(error: BaseException) -> KbError:
    """What a caller is told of an error: its problem and fix; of a bug its kind alone, since its text may hold anything."""
    if isinstance(error, KbError):
        return error
    return KbError(f"kb has a bug: {type(error).__name__}", fix="please report it; the server's log has the traceback")


def log_bug(error: BaseException) -> None:
    """A bug's traceback for the server's log, without its message, which may hold what was asked."""
    tell_stderr(f"kb has a bug: {type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")
