"""kb ingest"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.progress import make_listener
from kb.cli.report import print_report
from kb.config import Config
from kb.errors import ExitCode, InvalidInput, NotIndexed
from kb.ingest.pipeline import IngestRequest, ingest_text
from kb.ingest.pipeline import ingest as run_ingest
from kb.ingest.sources import name_text
from kb.knowledge_base import KnowledgeBase, open_knowledge_base


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
    config = invocation.config()
    text = _read_stdin(paths, source, title)
    request = IngestRequest(tuple(Path(p) for p in paths), source, prune, force, dry_run)
    with (
        _open(invocation, config, dry_run) as kb,
        make_listener(invocation) as listener,
        _stop_on_ctrl_c(invocation.quiet) as stopped,
    ):
        kb.notify = listener.message
        if text is not None:
            report = ingest_text(kb, text, title or "", request, listener.on_event)
        else:
            report = run_ingest(kb, request, listener.on_event, lambda: bool(stopped), listener.on_embedded)
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
def _open(invocation: Invocation, config: Config, dry_run: bool) -> Iterator[KnowledgeBase]:
    """The knowledge base; for a dry run read-only, or an empty temporary one where there is none yet."""
    if not dry_run:
        with invocation.open(config, write=True) as kb:
            yield kb
        return
    with ExitStack() as stack:
        try:
            kb = stack.enter_context(invocation.open(config))
        except NotIndexed:
            elsewhere = Path(stack.enter_context(TemporaryDirectory()))
            kb = stack.enter_context(open_knowledge_base(elsewhere, config, write=True))
        yield kb


@contextmanager
def _stop_on_ctrl_c(quiet: bool) -> Iterator[list[bool]]:
    """The first Ctrl-C (or SIGTERM) asks to stop after the document in hand, the second stops at once."""
    stopped: list[bool] = []

    def ask_to_stop(signum: int, frame: object) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(True)
        if not quiet:
            # Not print: the signal may arrive during another print, and that would be an error.
            os.write(2, b"\nstopping after the document in hand; Ctrl-C again stops at once\n")

    earlier = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
