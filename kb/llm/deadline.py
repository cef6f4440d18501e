"""A time limit on each read of a streamed HTTP response, other for the first line than for those after it.

Knows no model. httpx takes one read time-out per response and keeps it, so the limit is held here: the reading stays in
the caller's thread, where Ctrl-C reaches it, and a second thread shuts the socket when the time is over.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self


class Deadline:
    """Ends a blocked read. Use as a context manager around the request; `watch` is a response hook for httpx."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: float | None = None
        self._socket: socket.socket | None = None
        self._has_expired = False
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="kb-deadline", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        with self._changed:
            self._is_over = True
            self._socket = None
            self._changed.notify()

    def watch(self, response: Any) -> None:
        """Take over from httpx's own read time-out, which has covered the wait for the response's headers."""
        response.request.extensions["timeout"]["read"] = None
        with self._changed:
            self._socket = response.extensions["network_stream"].get_extra_info("socket")
            self._changed.notify()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit what is read inside, in seconds; 0 waits for ever. Raises TimeoutError when the time was over."""
        with self._changed:
            self._due = time.monotonic() + seconds if seconds else None
            self._changed.notify()
        try:
            yield
        except Exception as error:
            if self._has_expired:
                raise TimeoutError from error
            raise
        finally:
            with self._changed:
                self._due = None
        if self._has_expired:  # a shut socket can also look like a stream that ended well
            raise TimeoutError

    def _run(self) -> None:
        with self._changed:
            while not self._is_over:
                left = None if self._due is None or self._socket is None else self._due - time.monotonic()
                if left is not None and left <= 0:
                    self._shut()
                    return
                self._changed.wait(left)

    def _shut(self) -> None:
        self._has_expired = True
        # An error means it is closed already and the read has returned. The plain socket's method also for TLS, whose
        # own would tear down the state the reader is using.
        if self._socket is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
