"""How long each stage of one request takes: the one thing that stages change while they run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Milliseconds by stage, in the order the stages ran; a stage that runs twice counts once, with both times."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self.stage_ms: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside; a stage that fails has no time."""
        began = time.perf_counter()
        yield
        self.stage_ms[name] = self.stage_ms.get(name, 0.0) + (time.perf_counter() - began) * 1000

    def total_ms(self) -> float:
        """Milliseconds since the request began."""
        return (time.perf_counter() - self._began) * 1000
