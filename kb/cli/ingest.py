"""kb ingest"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.errors import ExitCode, InvalidInput


@command
def ingest(
    invocation: Invocation,
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="files and folders; - reads one text from stdin")],
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="name for where this comes from", show_default=False)
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="T", help="title of the text on stdin", show_default=False)
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option("--prune/--no-prune", help="forget documents whose files are gone", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="read every file again, changed or not")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would be done; change nothing")] = False,
) -> None:
    """Bring files and folders in, incrementally.

    What has not changed since the last time is not read again.
    """
    from kb.cli.progress import make_listener
    from kb.cli.report import print_report
    from kb.ingest.pipeline import IngestRequest, ingest_text
    from kb.ingest.pipeline import ingest as run_ingest

    from_stdin = "-" in paths
    if from_stdin and len(paths) > 1:
        raise InvalidInput("- reads standard input and stands alone", fix="ingest the other paths in another call")
    config = invocation.config()
    request = IngestRequest(tuple(Path(p) for p in paths), source, prune, force, dry_run)
    with invocation.open(config, write=True) as kb, make_listener(invocation) as listener, _stop_on_ctrl_c() as stopped:
        kb.notify = listener.message
        if from_stdin:
            report = ingest_text(kb, sys.stdin.buffer.read(), title or "", listener.on_event)
        else:
            report = run_ingest(kb, request, listener.on_event, lambda: bool(stopped), listener.on_embedded)
    print_report(report, invocation)
    if report.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if report.counts["failed"]:
        raise typer.Exit(ExitCode.NOTHING)


@contextmanager
def _stop_on_ctrl_c() -> Iterator[list[bool]]:
    """The first Ctrl-C (or SIGTERM) asks to stop after the document in hand, the second stops at once."""
    stopped: list[bool] = []

    def ask_to_stop(signum: int, frame: object) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(True)
        print("\nstopping after the document in hand; Ctrl-C again stops at once", file=sys.stderr, flush=True)

    earlier = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
