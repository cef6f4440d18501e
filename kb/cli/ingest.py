"""kb ingest"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.progress import make_listener
from kb.cli.report import print_report
from kb.cli.stopping import stop_on_ctrl_c
from kb.cli.watch import watch_paths
from kb.errors import ExitCode, InvalidInput
from kb.ingest.sources import name_text


@command
def ingest(
    invocation: Invocation,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH…", help="files, folders, URLs as s3://…; - reads one text from stdin"),
    ] = None,
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
    words_only: Annotated[
        bool, typer.Option("--words-only", help="stop when all can be searched by words; vectors are made later")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="go on with what was interrupted; takes no path and no other option")
    ] = False,
    files_from: Annotated[
        str | None,
        typer.Option(
            "--files-from", metavar="FILE", help="a list of files, one a line; - is stdin", show_default=False
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="read and encode on a Ray cluster; auto starts one here",
            show_default=False,
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="go on with every change, until Ctrl-C: see kb watch")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="read files again that crashed or stalled before")] = False,
    include_secrets: Annotated[
        bool, typer.Option("--include-secrets", help="read files that look like keys or hold tokens, too")
    ] = False,
    include_generated: Annotated[
        bool, typer.Option("--include-generated", help="read minified code, lock files, encoded bytes and dumps, too")
    ] = False,
) -> None:
    """Bring files and folders in, incrementally.

    What has not changed since the last time is not read again. Words first: everything can be searched by words as it is
    read, and by meaning as its vectors follow.
    """
    config = invocation.config()
    paths = paths or []
    has_more = words_only or force or dry_run or retry or source is not None or files_from is not None
    _check_resume(resume, bool(paths) or has_more)
    if not paths and not resume and files_from is None:
        raise InvalidInput(
            "no path given", fix="kb ingest FOLDER, or go on with what was interrupted: kb ingest --resume"
        )
    if watch:
        if ray is not None or files_from is not None:
            raise InvalidInput("--watch follows folders of this machine", fix="leave out --ray and --files-from")
        watch_paths(invocation, paths, source)
        return
    text = _read_stdin(paths, source, title)
    listed = read_list(files_from) if files_from is not None else []
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
                words_only=words_only,
                resume=resume,
                include_secrets=include_secrets,
                include_generated=include_generated,
                listed=listed,
                ray=ray,
                on_event=listener.on_event,
                on_embedded=listener.on_embedded,
                should_stop=lambda: bool(stopped),
            )
    print_report(report, invocation)
    if report.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if report.counts["failed"]:
        raise typer.Exit(ExitCode.NOTHING)


def read_list(name: str) -> list[str]:
    """The lines of a file, or of standard input for `-`; blank ones are left out.

    raises  InvalidInput
    """
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).expanduser().read_bytes()
    except OSError as error:
        raise InvalidInput(f"the list {name} cannot be read: {error.strerror}", fix="check the path") from error
    lines = [os.fsdecode(line) for line in raw.splitlines() if line.strip()]
    if not lines:
        raise InvalidInput(f"the list {name} is empty", fix="name one file or URL a line")
    return lines


def _check_resume(resume: bool, has_more: bool) -> None:
    """Refuse --resume beside what it would go on with in its own way."""
    if resume and has_more:
        raise InvalidInput(
            "--resume goes on as it was asked before", fix="kb ingest --resume, without paths and options"
        )


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
