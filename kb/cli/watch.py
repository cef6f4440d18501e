"""kb watch"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.stopping import stop_on_ctrl_c
from kb.cli.terminal import counted, harmless_line, say
from kb.errors import InvalidInput
from kb.ingest.request import IngestRequest
from kb.ingest.watch import WatchEvent
from kb.ingest.watch import watch as follow
from kb.search.depth import vectors_text
from kb.wire import to_json


@command
def watch(
    invocation: Invocation,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="files and folders; without any, those of all sources")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="name for where this comes from", show_default=False)
    ] = None,
) -> None:
    """Follow files and folders: bring in every change as it settles, until Ctrl-C.

    A change can be searched by words a second or two after it, and by meaning as its vector follows. One line a batch.
    """
    watch_paths(invocation, paths or [], source)


def watch_paths(invocation: Invocation, paths: list[str], source: str | None) -> None:
    """Bring files and folders up to date, and follow them."""
    with (
        invocation.base(invocation.config()) as base,
        stop_on_ctrl_c(invocation.quiet, "batch") as stopped,
    ):
        runtime = base.runtime(write=True)
        given = [Path(path).expanduser().absolute() for path in paths]
        roots = [Path(root) for root in runtime.corpus.source_roots().values() if root and Path(root).exists()]
        request = IngestRequest(tuple(given or roots), source)
        if not request.paths:
            raise InvalidInput("there is nothing to watch yet", fix="kb watch FOLDER")
        follow(runtime, request, lambda event: _print(event, invocation), lambda: bool(stopped))


def _print(event: WatchEvent, invocation: Invocation) -> None:
    if invocation.json:
        print(to_json(event), flush=True)
    elif not invocation.quiet and (line := _line(event)):
        say(f"{time.strftime('%H:%M:%S')}  {harmless_line(line)}")


def _line(event: WatchEvent) -> str:
    if event.event == "watching":
        return f"watching {', '.join(event.paths)}"
    if event.event == "vectors":
        return f"{counted(event.vectors_written or 0, 'vector')} in {event.seconds:.1f} s"
    if event.event == "waiting":
        return f"waiting: {event.reason}"
    if event.event == "stopped":
        return ""
    counts = ", ".join(f"{number:,} {name}" for name, number in (event.counts or {}).items()) or "nothing new"
    share = event.vector_share
    vectors = f" · {vectors_text(share)}" if share is not None and share < 1 else ""
    return f"{counts} · {counted(event.chunks_written or 0, 'chunk')} · {event.seconds:.1f} s{vectors}"
