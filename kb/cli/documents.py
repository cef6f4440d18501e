"""kb list and rm: which documents there are, and forgetting some."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.listing import LimitOption, Sortings, arranged, sort_option
from kb.cli.render import print_documents, size_text
from kb.cli.terminal import harmless_line, say
from kb.cli.views import DocumentList, Removal
from kb.errors import ExitCode, InvalidInput, IoError
from kb.index.stamp import INDEX_FOLDER, remove_indexes
from kb.records import Document, Filters
from kb.store.filters import no_match

# More removed documents than this are counted, and named with --verbose.
MOST_NAMED = 20


SORTINGS: Sortings[Document] = {
    "path": (lambda document: (document.source, document.path), False),
    "title": (lambda document: document.title.casefold(), False),
    "newest": (lambda document: document.modified_at, True),
    "oldest": (lambda document: document.modified_at, False),
    "size": (lambda document: document.size_bytes, True),
    "chunks": (lambda document: len(document.chunk_ids), True),
    "type": (lambda document: document.type, False),
}


@command
def list_(
    invocation: Invocation,
    filters: Filters,
    limit: LimitOption = None,
    sort: Annotated[str | None, sort_option(SORTINGS)] = None,
) -> None:
    """List documents, filtered like a search."""
    with invocation.base(invocation.config()) as base:
        documents = arranged(base.documents(filters), SORTINGS, sort, limit)
        known = {} if documents or filters.is_empty() else base.runtime().corpus.filter_values()
    invocation.emit(DocumentList(documents=documents), print_documents)
    if not documents:
        invocation.notify(
            "no documents yet; fill it with: kb ingest FOLDER" if filters.is_empty() else no_match(filters, known)
        )
        raise typer.Exit(ExitCode.NOTHING)


@command
def rm(
    invocation: Invocation,
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="paths, globs, ends of paths, or doc:ID")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="NAME", help="everything from this source", show_default=False),
    ] = None,
) -> None:
    """Forget documents; their files are not touched.

    A later ingest of the same folder brings them back.
    """
    if not targets and not source:
        raise InvalidInput("nothing named", fix="name paths, or a --source; kb list shows what there is")
    documents = _with_room(invocation, partial(_remove, invocation, targets or (), source or ()))
    removal = Removal(removed=tuple(f"{d.source}/{d.path}" for d in documents))
    invocation.emit(removal, lambda _: _print_removal(documents, invocation))


def _remove(invocation: Invocation, targets: Sequence[str], sources: Sequence[str]) -> list[Document]:
    with invocation.base(invocation.config()) as base:
        return base.remove(*targets, sources=tuple(sources))


def _with_room(invocation: Invocation, work: Callable[[], list[Document]]) -> list[Document]:
    """Removing needs room for SQLite's log: on a full disk the indexes make it, which can be built anew."""
    try:
        return work()
    except (IoError, OSError, sqlite3.OperationalError) as error:
        if not any(word in str(error) for word in ("full", "I/O", os.strerror(errno.ENOSPC))):
            raise
        freed = remove_indexes(invocation.home / INDEX_FOLDER)
        if not freed:
            raise
        invocation.notify(f"the disk is full: removed the indexes ({size_text(freed)}), the next search builds them")
        return work()


def _print_removal(documents: Sequence[Document], invocation: Invocation) -> None:
    several = len({document.source for document in documents}) > 1
    for document in documents if invocation.verbose or len(documents) <= MOST_NAMED else ():
        say(f"removed {harmless_line(f'{document.source}/{document.path}' if several else document.path)}")
    invocation.notify(f"{len(documents)} removed; their files are untouched")
