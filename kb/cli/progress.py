"""Events of an ingest → a bar on a terminal, lines in a pipe, NDJSON for scripts, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kb.cli.invocation import Invocation
from kb.cli.terminal import counted, harmless, harmless_line, has_colour
from kb.ingest.report import IngestEvent
from kb.wire import to_json

LOUD_RESULTS = ("new", "updated", "moved", "pruned")


class Listener:
    """Shows an ingest to a user or a script; this one shows nothing."""

    def on_event(self, event: IngestEvent) -> None:
        """One step of the ingest, as it is published."""

    def on_embedded(self, chunks: int) -> None:
        """So many more chunks have got a vector."""

    def message(self, text: str) -> None:
        """A line for the user."""


@contextmanager
def make_listener(invocation: Invocation) -> Iterator[Listener]:
    """The listener for this call."""
    if invocation.json:
        yield JsonLines()
    elif invocation.quiet:
        yield Listener()
    elif sys.stderr.isatty():
        with Bar() as bar:
            yield bar
    else:
        yield PlainLines(invocation.verbose)


class JsonLines(Listener):
    """ingest_event.v1, a line each, on stdout; messages on stderr."""

    def on_event(self, event: IngestEvent) -> None:
        """See Listener."""
        print(to_json(event), flush=True)

    def message(self, text: str) -> None:
        """See Listener."""
        print(harmless(text), file=sys.stderr, flush=True)


class PlainLines(Listener):
    """A line on stderr for every document that changed, for logs."""

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose

    def on_event(self, event: IngestEvent) -> None:
        """See Listener."""
        if event.event == "scan_completed":
            self.message(f"scanned: {event.total} files")
        elif event.event == "document_finished" and (self.verbose or event.result in LOUD_RESULTS):
            chunks = f" ({counted(event.chunks, 'chunk')})" if event.chunks else ""
            self.message(f"{event.result}: {harmless_line(event.path or '')}{chunks}")

    def message(self, text: str) -> None:
        """See Listener."""
        print(harmless(text), file=sys.stderr, flush=True)


class Bar(Listener):
    """A progress bar on stderr: of the files while they are read, then of the chunks that get their vectors."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._progress: Any = Progress(
            TextColumn("{task.fields[phase]:<9}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}"),
            TextColumn("{task.fields[file]}", style="dim"),
            console=Console(stderr=True, no_color=not has_colour(sys.stderr), soft_wrap=True),
            transient=True,
            refresh_per_second=8,
        )
        self._task: Any = None
        self._files = self._searchable = self._waiting = self._embedded = 0
        self._embedding_since = 0.0

    def __enter__(self) -> Bar:
        self._progress.start()
        self._task = self._progress.add_task("ingest", total=None, phase="scanning", told="", file="")
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def on_event(self, event: IngestEvent) -> None:
        """See Listener."""
        if event.event == "scan_completed":
            self._files = event.total or 0
            self._progress.update(self._task, total=event.total, phase="reading")
        elif event.event == "document_started":
            self._progress.update(self._task, phase="reading", file=_short(event.path or ""))
        elif event.event == "document_finished":
            self._progress.update(self._task, completed=event.done)
            if event.done == self._files:
                self._progress.update(self._task, phase="indexing", refresh=True)
        elif event.event == "words_indexed":
            self._searchable, self._waiting = event.done or 0, event.waiting or 0
            self._embedding_since = time.perf_counter()
            self._progress.update(self._task, told=self._by_words())

    def on_embedded(self, chunks: int) -> None:
        """See Listener."""
        now = time.perf_counter()
        self._embedding_since = self._embedding_since or now
        self._embedded += chunks
        rate = self._embedded / (now - self._embedding_since) if now > self._embedding_since else 0.0
        left = max(0, self._waiting - self._embedded) / rate if rate else 0.0
        told = f"{rate:.0f} chunks/s, about {left // 60:.0f}:{left % 60:02.0f} left" if rate else ""
        self._progress.update(
            self._task,
            phase="vectors",
            total=self._waiting or None,
            completed=min(self._embedded, self._waiting),
            told="; ".join(filter(None, [told, self._by_words()])),
            file="",
        )

    def _by_words(self) -> str:
        whole = (
            f"all {self._files:,}" if self._searchable == self._files else f"{self._searchable:,} of {self._files:,}"
        )
        return f"{whole} files can be searched by words"

    def message(self, text: str) -> None:
        """See Listener."""
        from rich.text import Text

        self._progress.console.print(Text(harmless(text), style="dim"))


def _short(path: str, width: int = 40) -> str:
    from rich.markup import escape

    path = harmless_line(path)
    return escape(path if len(path) <= width else f"…{path[-width + 1 :]}")
