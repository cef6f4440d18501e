"""Callers who come at once → the library, on threads that stay warm: quick jobs on one, answers and writes beside it.

A search takes a few hundredths of a second and a model half a minute: who searches never waits for who asks.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Generic, TypeVar

from kb.config import Config
from kb.doors.worker import Job, Tell, Worker, tell_stderr
from kb.embed.registry import expect_many_queries
from kb.errors import ExitCode, KbError
from kb.library import KnowledgeBase

Result = TypeVar("Result")

# Answers that are written at the same time; each keeps an encoder, and a model server has no more than a core or a GPU.
ASKERS = 2
# A job that runs at the end is waited for so long: a search ends, a model may write for minutes.
CLOSE_SECONDS = 3.0
# Encoded at the start, so that the first caller finds the encoder loaded.
WARM_UP = "warm up"


class Desk:
    """The knowledge base of one home for many callers at once."""

    def __init__(self, home: Path, config: Config) -> None:
        self.home, self.config = home, config
        expect_many_queries()
        self._reader = Worker("reader", home, config)
        self._asked: dict[Worker, list[Future[Any]]] = {}
        self._writer: Worker | None = None

    def warm_up(self) -> Future[None]:
        """Open the store, the indexes and the encoder in the background; a home that is empty yet has nothing to warm."""
        return self._reader.submit(_warm)

    async def read(self, job: Job[Result], tell: Tell = tell_stderr) -> Result:
        """The result of a quick job, in the order of arrival; raises what the job raises."""
        return await asyncio.wrap_future(self._reader.submit(job, tell))

    async def write(self, job: Job[Result], tell: Tell = tell_stderr) -> Result:
        """The result of a job that changes the store; readers go on meanwhile."""
        if self._writer is None:
            self._writer = Worker("writer", self.home, self.config)
        return await asyncio.wrap_future(self._writer.submit(job, tell))

    async def ask(self, job: Job[Result], tell: Tell = tell_stderr) -> Result:
        """The result of a job that may take minutes: on the thread that has the fewest of them."""
        for worker, futures in self._asked.items():
            self._asked[worker] = [future for future in futures if not future.done()]
        if len(self._asked) < ASKERS and all(self._asked.values()):
            self._asked[Worker(f"asker-{len(self._asked)}", self.home, self.config)] = []
        chosen = min(self._asked, key=lambda worker: len(self._asked[worker]))
        future = chosen.submit(job, tell)
        self._asked[chosen].append(future)
        return await asyncio.wrap_future(future)

    def close(self) -> bool:
        """End the threads; False where one is still at work after CLOSE_SECONDS, as one that waits for a model."""
        workers = [self._reader, *self._asked, *([self._writer] if self._writer else [])]
        for worker in workers:
            worker.close()
        ends = time.monotonic() + CLOSE_SECONDS
        return all(worker.has_ended(max(ends - time.monotonic(), 0.0)) for worker in workers)


@contextmanager
def open_desk(home: Path, config: Config) -> Iterator[Desk]:
    """A desk that warms up; at the end of the block the process ends too, where a thread of it is still at work.

    A thread that is inside a native library while the interpreter shuts down aborts the process with a message that
    frightens people: it is left without a shutdown instead.
    """
    desk = Desk(home, config)
    desk.warm_up()
    try:
        yield desk
    except KeyboardInterrupt:
        if not desk.close():
            _leave(ExitCode.INTERRUPTED)
        raise
    except BaseException:
        desk.close()
        raise
    if not desk.close():
        _leave(ExitCode.DONE)


def _leave(code: ExitCode) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _warm(base: KnowledgeBase) -> None:
    try:
        base.search(WARM_UP, k=1)
    except KbError as error:  # no document yet, or a fault that the first caller is told
        tell_stderr(f"not warmed up: {error.problem}")


class Steps(Generic[Result]):
    """What a job says while it runs on another thread, for the event loop that waits for it: `async for step in steps`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Result | None] = asyncio.Queue()

    def put(self, step: Result) -> None:
        """Say something; from any thread."""
        self._loop.call_soon_threadsafe(self._queue.put_nowait, step)

    def close(self) -> None:
        """End the iteration after what was said so far."""
        self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

    async def __aiter__(self) -> AsyncIterator[Result]:
        while (step := await self._queue.get()) is not None:
            yield step

    def latest(self, step: Result) -> Result:
        """The last thing that was said by now, `step` where that is all; the ones before it are passed over."""
        while not self._queue.empty():
            following = self._queue.get_nowait()
            if following is None:
                self._queue.put_nowait(None)
                break
            step = following
        return step


class Stop:
    """Whether whoever waits for a job has gone away; asked by the job where it can end early."""

    def __init__(self) -> None:
        self._event = Event()

    def set(self) -> None:
        """Say that nobody waits any more."""
        self._event.set()

    def check(self) -> None:
        """Raise what a Ctrl-C raises where nobody waits: an answer that is being written ends, and what came of it is stored."""
        if self._event.is_set():
            raise KeyboardInterrupt
