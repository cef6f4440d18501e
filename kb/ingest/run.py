"""One ingest under the writer's lock: what every step is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext

from kb.frozen import dataclass
from kb.ingest.guarded_reading import FileReader
from kb.ingest.prepare import Settings
from kb.ingest.report import IngestEvent, OnEvent, Tally, count_results
from kb.ingest.request import IngestRequest
from kb.runtime import Runtime
from kb.store.lock import writer_lock


@dataclass(frozen=True, slots=True)
class Run:
    """What every step of one ingest is given.

    tally           what has been done so far
    stopped         (source, path) → (state, reason) of files whose reading was stopped by an earlier run
    first_revision  the corpus revision before anything was written
    """

    kb: Runtime
    request: IngestRequest
    settings: Settings
    should_stop: Callable[[], bool]
    on_embedded: Callable[[int], None]
    tally: Tally
    reader: FileReader
    stopped: Mapping[tuple[str, str], tuple[str, str]]
    first_revision: int


@contextmanager
def begin_run(
    kb: Runtime,
    request: IngestRequest,
    on_event: OnEvent,
    should_stop: Callable[[], bool] = lambda: False,
    on_embedded: Callable[[int], None] = lambda chunks: None,
) -> Iterator[Run]:
    """A run under the writer's lock, which a dry run does not need; an exception is published as `aborted`."""
    lock = writer_lock(kb.home, kb.config.ingest.lock_wait_seconds, kb.notify, should_stop)
    with nullcontext() if request.dry_run else lock, FileReader() as reader:
        settings = Settings.of(kb.config, kb.configured_encoder())
        tally = Tally(on_event)
        stopped, revision = kb.corpus.stopped_files(), kb.corpus.state().revision
        run = Run(kb, request, settings, should_stop, on_embedded, tally, reader, stopped, revision)
        on_event(IngestEvent(event="scan_started"))
        try:
            yield run
        except BaseException:
            on_event(IngestEvent(event="aborted", counts=count_results(tally.outcomes)))
            raise
