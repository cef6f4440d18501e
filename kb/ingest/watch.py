"""Folders that change → a knowledge base that follows: wait → read → index words → embed until something changes again.

Every batch of changes is an ingest of all that is watched: renames, deletions and ignore files mean what they always mean.
Vectors are made in small batches and give way to the next change. What cannot be read now is tried again, less and less
often; so is a store that another process is writing to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from kb.errors import KbError, Locked
from kb.frozen import dataclass
from kb.ingest.changes import Changes, watch_folders
from kb.ingest.pipeline import ingest
from kb.ingest.report import IngestReport
from kb.ingest.request import IngestRequest
from kb.runtime import Runtime

# Vectors that are made before changes are looked for: a second or two of the encoder's work.
VECTORS_AT_ONCE = 16
# How soon a batch with failures is tried again, and how rarely at last.
RETRY_SECONDS, RAREST_RETRY_SECONDS = 5.0, 300.0
# How soon a Ctrl-C is seen while nothing changes.
POLL_SECONDS = 0.2

WatchEventName = Literal["watching", "words", "vectors", "waiting", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    """One step of `kb watch`, as NDJSON.

    event    watching: all is up to date as far as words go. words: a batch of changes can be searched by words.
             vectors: every chunk has its vector. waiting: it did not work now, `reason` says why. stopped: the last
    paths    what is watched
    changed  paths that changed, those that are not read included
    counts   files by result, without those that were as before
    seconds  since the changes had settled
    """

    schema_version: Literal["watch_event.v1"] = "watch_event.v1"
    event: WatchEventName
    paths: tuple[str, ...] = ()
    changed: int | None = None
    counts: Mapping[str, int] | None = None
    chunks_written: int | None = None
    vectors_written: int | None = None
    vector_share: float | None = None
    seconds: float | None = None
    reason: str | None = None


OnWatch = Callable[[WatchEvent], None]


def watch(kb: Runtime, request: IngestRequest, on_event: OnWatch, should_stop: Callable[[], bool]) -> None:
    """Follow the files and folders of a request until asked to stop.

    kb           opened for writing
    should_stop  asked several times a second
    raises       NotFound where a path is not there any more, InvalidInput, IoError
    """
    with watch_folders(request.paths, kb.home) as changes:
        follower = _Follower(kb, request, on_event, should_stop, changes)
        follower.read(None)
        on_event(WatchEvent(event="watching", paths=tuple(map(str, request.paths))))
        while not should_stop():
            follower.embed()
            if changed := changes.wait(POLL_SECONDS):
                follower.read(changed)
            elif follower.is_retry_due():
                follower.read(0)
        on_event(WatchEvent(event="stopped"))


class _Follower:
    """Brings the knowledge base up to date, and knows what did not work."""

    def __init__(
        self,
        kb: Runtime,
        request: IngestRequest,
        on_event: OnWatch,
        should_stop: Callable[[], bool],
        changes: Changes,
    ) -> None:
        self._kb, self._on_event, self._should_stop, self._changes = kb, on_event, should_stop, changes
        self._words = replace(request, words_only=True)
        self._vectors = IngestRequest((), embed_batch=VECTORS_AT_ONCE)
        self._lacks_vectors = True
        self._retry_at: float | None = None
        self._patience = RETRY_SECONDS

    def read(self, changed: int | None) -> None:
        """Read what has changed and let it be searched by words.

        changed  how many paths did; None for the first time, 0 where it is tried again
        """
        began = time.monotonic()
        report = self._ingest(self._words, self._should_stop)
        if report is None or report.interrupted:
            return
        self._lacks_vectors = report.vector_share is not None and report.vector_share < 1
        has_failed = report.counts["failed"] > 0
        self._patience = min(2 * self._patience, RAREST_RETRY_SECONDS) if changed == 0 else RETRY_SECONDS
        self._retry_at = time.monotonic() + self._patience if has_failed else None
        counts = {name: n for name, n in report.counts.items() if n and name not in ("scanned", "unchanged", "skipped")}
        if changed is None or any(name != "failed" for name in counts) or (counts and changed):
            self._on_event(
                WatchEvent(
                    event="words",
                    changed=changed,
                    counts=counts,
                    chunks_written=report.chunks_written,
                    vector_share=report.vector_share,
                    seconds=round(time.monotonic() - began, 2),
                )
            )

    def embed(self) -> None:
        """Make the vectors that are missing, until something changes."""
        if not self._lacks_vectors or self.is_retry_due():
            return
        began = time.monotonic()
        report = self._ingest(self._vectors, lambda: self._should_stop() or self._changes.is_waiting())
        if report is None:
            return
        self._lacks_vectors = report.interrupted
        if not report.interrupted and report.vectors_written:
            self._on_event(
                WatchEvent(
                    event="vectors",
                    vectors_written=report.vectors_written,
                    vector_share=report.vector_share,
                    seconds=round(time.monotonic() - began, 2),
                )
            )

    def is_retry_due(self) -> bool:
        """Whether what did not work is to be tried again now."""
        return self._retry_at is not None and time.monotonic() >= self._retry_at

    def _ingest(self, request: IngestRequest, should_stop: Callable[[], bool]) -> IngestReport | None:
        try:
            return ingest(self._kb, request, lambda event: None, should_stop)
        except Locked as error:
            self._wait_for(error)
            return None

    def _wait_for(self, error: KbError) -> None:
        self._retry_at = time.monotonic() + self._patience
        self._on_event(WatchEvent(event="waiting", reason=error.problem))
