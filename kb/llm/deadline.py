"""A time limit on each read of a streamed HTTP response; the first line may have another limit than the rest.

httpx has one read time-out per response, so a second thread keeps the limit and shuts the socket when time is up. The
reading stays in the caller's thread, where Ctrl-C reaches it.
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
        """Limit the reads inside, in seconds; 0 waits for ever. Raises TimeoutError after the limit."""
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
        # An error means that it is closed already. The plain socket's method is right for TLS too: the TLS one would free
        # the state that the reader is using.
        if self._socket is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
