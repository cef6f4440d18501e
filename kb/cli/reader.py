"""Whoever reads our output leaving → the answer ends at once, and not when the next piece cannot be written.

A closed pipe shows only in writing to it, and a model may think for minutes before it gives something to write.
"""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
import threading
from types import FrameType
from typing import Any, Self

# How often the end of the watch is looked for; the leaving itself wakes the thread at once.
POLL_MILLISECONDS = 200


class ReaderWatch:
    """A context manager: inside, the main thread gets a KeyboardInterrupt as soon as nobody can read stdout any more.

    has_left  that this was so, for whoever catches the interrupt
    """

    def __init__(self) -> None:
        self.has_left = False
        self._earlier: Any = None
        self._is_over = threading.Event()
        self._is_interrupted = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kb-reader-watch", daemon=True)

    def __enter__(self) -> Self:
        if _is_pipe():
            # In the background of a script SIGINT is ignored, and would be when we send it.
            self._earlier = signal.signal(signal.SIGINT, self._interrupt_if_left)
            self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._earlier is not None:
            signal.signal(signal.SIGINT, self._earlier)

    def _interrupt_if_left(self, number: int, frame: FrameType | None) -> None:
        if self.has_left and not self._is_interrupted.is_set():
            self._is_interrupted.set()
            raise KeyboardInterrupt
        if callable(self._earlier):
            self._earlier(number, frame)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)  # POLLERR and POLLHUP are told whatever is asked for
        while not poll.poll(POLL_MILLISECONDS):
            if self._is_over.is_set():
                return
        self.has_left = not self._is_over.is_set()
        # A signal that comes just before the main thread starts to wait for the model does not end that wait; the next one does.
        main = threading.main_thread().ident
        while main is not None and not self._is_over.is_set() and not self._is_interrupted.is_set():
            signal.pthread_kill(main, signal.SIGINT)
            self._is_interrupted.wait(POLL_MILLISECONDS / 1000)


def _is_pipe() -> bool:
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return hasattr(select, "poll") and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
