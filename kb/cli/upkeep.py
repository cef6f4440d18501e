"""kb status, reindex, backup: look after a knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.render import print_status
from kb.cli.terminal import harmless, say
from kb.cli.views import Finished
from kb.copying import write_whole_copy
from kb.corpora import LOCAL
from kb.errors import InvalidInput
from kb.status import read_status
from kb.store.backup import restore_backup
from kb.store.lock import writer_lock


@command
def status(invocation: Invocation) -> None:
    """Show what is in the knowledge base, and whether it is complete."""
    with invocation.open(invocation.config()) as kb:
        found = read_status(kb)
    invocation.emit(found, print_status)


@command
def reindex(invocation: Invocation) -> None:
    """Rebuild both indexes from the store."""
    config = invocation.config()
    with invocation.base(config).runtime(write=True, create=False) as kb:
        kb.require_documents()
        with writer_lock(kb.home, config.ingest.lock_wait_seconds, invocation.notify):
            lexical, vector = kb.refresh_indexes(force=True)
    what = f"indexed {lexical.rows:,} chunks by words and {vector.rows:,} by vectors in"
    _emit_done(invocation, what, invocation.home / "index")


@command
def backup(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="where to put the copy; must not exist")],
) -> None:
    """Copy the whole knowledge base to one file.

    Safe while others write.
    """
    path = Path(file).expanduser().absolute()
    if path.exists():
        raise InvalidInput(f"{path} exists", fix="name a new file")
    if not path.parent.is_dir():
        raise InvalidInput(f"no folder {path.parent}", fix="create it first")
    config = invocation.config()
    with invocation.open(config) as kb:
        if config.corpus.engine == LOCAL:
            kb.store.write_copy(path)
        else:
            write_whole_copy(kb, path)
    _emit_done(invocation, "copied the knowledge base to", path)


@command
def restore(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="a file that kb backup has made")],
    replace: Annotated[
        bool, typer.Option("--replace", help="put it in the place of the knowledge base that is there")
    ] = False,
) -> None:
    """Make a backup the knowledge base of this data folder.

    With --replace, the one that was there is kept beside it.
    """
    config = invocation.config()
    with writer_lock(invocation.home, config.ingest.lock_wait_seconds, invocation.notify):
        aside = restore_backup(Path(file).expanduser().absolute(), invocation.home, replace=replace)
    if aside:
        invocation.notify(f"the earlier knowledge base is now {aside}; delete it when you do not need it")
    _emit_done(invocation, "restored the knowledge base in", invocation.home)


def _emit_done(invocation: Invocation, done: str, path: Path) -> None:
    finished = Finished(done=done, path=str(path))
    if invocation.json or not invocation.quiet:
        invocation.emit(finished, lambda finished: say(harmless(f"{finished.done} {finished.path}")))
