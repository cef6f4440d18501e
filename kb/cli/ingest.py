"""kb ingest"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.progress import make_listener
from kb.cli.report import print_report
from kb.errors import ExitCode, InvalidInput
from kb.ingest.sources import name_text


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
    retry: Annotated[bool, typer.Option("--retry", help="read files again that crashed or stalled before")] = False,
    include_secrets: Annotated[
        bool, typer.Option("--include-secrets", help="read files that look like keys or hold tokens, too")
    ] = False,
    include_generated: Annotated[
        bool, typer.Option("--include-generated", help="read minified code, lock files, encoded bytes and dumps, too")
    ] = False,
) -> None:
    """Bring files and folders in, incrementally.

    What has not changed since the last time is not read again.
    """
    config = invocation.config()
    text = _read_stdin(paths, source, title)
    with (
        make_listener(invocation) as listener,
        invocation.base(config, listener.message) as base,
        stop_on_ctrl_c(invocation.quiet) as stopped,
    ):
        if text is not None:
            report = base.ingest_text(text, title or "", force=force, dry_run=dry_run, on_event=listener.on_event)
        else:
            report = base.ingest(
                *paths,
                source=source,
                prune=prune,
                force=force,
                dry_run=dry_run,
                retry=retry,
                include_secrets=include_secrets,
                include_generated=include_generated,
                on_event=listener.on_event,
                on_embedded=listener.on_embedded,
                should_stop=lambda: bool(stopped),
            )
    print_report(report, invocation)
    if report.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if report.counts["failed"]:
        raise typer.Exit(ExitCode.NOTHING)


def _read_stdin(paths: list[str], source: str | None, title: str | None) -> bytes | None:
    """The text on standard input for the path `-`; read before anything is opened, so that Ctrl-C simply ends it."""
    if "-" not in paths:
        if title is not None:
            raise InvalidInput("--title is for text from standard input", fix="leave it out, or ingest -")
        return None
    if len(paths) > 1:
        raise InvalidInput("- reads standard input and stands alone", fix="ingest the other paths in another call")
    if source is not None:
        raise InvalidInput("text from standard input has the source 'stdin'", fix="leave --source out")
    name_text(title or "")  # a missing title is an error before the text is waited for
    return sys.stdin.buffer.read()


@contextmanager
def stop_on_ctrl_c(quiet: bool, step: str = "document") -> Iterator[list[bool]]:
    """The first Ctrl-C (or SIGTERM) asks to stop after the step in hand, the second stops at once."""
    stopped: list[bool] = []

    def ask_to_stop(signum: int, frame: object) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(True)
        if not quiet:
            # Not print: the signal may arrive during another print, and that would be an error.
            os.write(2, f"\nstopping after the {step} in hand; Ctrl-C again stops at once\n".encode())

    earlier = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
