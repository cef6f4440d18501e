"""When to let what was written be searched: soon, and never so often that writing an index costs much of the run."""

from __future__ import annotations

import time
from collections.abc import Callable

# The first documents can be searched after this.
FIRST_SECONDS = 1.0
# At most this share of a run goes into indexes that the next ones replace.
MOST_SHARE = 0.05


class Pace:
    """Says when the next index is due: a second after the first call, then so that its cost stays a small share.

    clock  seconds, monotonic

    >>> seconds = iter([0.0, 0.9, 1.1, 1.3, 5.0, 5.4])
    >>> pace = Pace(clock=lambda: next(seconds))
    >>> pace.is_due(), pace.is_due(), pace.done(), pace.is_due(), pace.is_due()
    (False, True, None, False, True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due = clock() + FIRST_SECONDS
        self._began = 0.0

    def is_due(self) -> bool:
        """Whether to write an index now; then call `done` when it is written."""
        self._began = self._clock()
        return self._began >= self._due

    def done(self) -> None:
        """An index was written since `is_due`."""
        now = self._clock()
        self._due = now + max(FIRST_SECONDS, (now - self._began) / MOST_SHARE)
