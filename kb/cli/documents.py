"""kb list, show, open, rm: look at documents, and manage them."""

from __future__ import annotations

import errno
import os
import shlex
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.render import print_documents, size_text
from kb.cli.terminal import harmless, harmless_line, say, shown_path, styled
from kb.cli.views import DocumentList, DocumentView, Place, Removal
from kb.errors import ExitCode, InvalidInput, IoError, NotFound
from kb.index.stamp import INDEX_FOLDER, remove_indexes
from kb.places import parse_citation, parse_line_range, select_lines
from kb.records import Chunk, Document, Filters
from kb.store.filters import no_match

# An id with more digits than SQLite's 64-bit integers cannot exist.
MAX_ID_DIGITS = 18
# More removed documents than this are counted, and named with --verbose.
MOST_NAMED = 20


@command
def list_(invocation: Invocation, filters: Filters) -> None:
    """List documents, filtered like a search."""
    with invocation.base(invocation.config()) as base:
        documents = tuple(base.documents(filters))
    invocation.emit(DocumentList(documents=documents), print_documents)
    if not documents:
        invocation.notify(
            "no documents yet; fill it with: kb ingest FOLDER" if filters.is_empty() else no_match(filters)
        )
        raise typer.Exit(ExitCode.NOTHING)


@command
def show(
    invocation: Invocation,
    target: Annotated[str, typer.Argument(metavar="DOC|CHUNK", help="a path, the end of one, doc:12, or a chunk's id")],
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A-B", help="only these lines", show_default=False)
    ] = None,
) -> None:
    """Show a document's text, or one chunk."""
    with invocation.base(invocation.config()) as base:
        number = target.removeprefix("chunk:")
        if number.isdecimal() and not lines:
            chunk_id = int(number) if len(number) <= MAX_ID_DIGITS else 0
            chunk = base.chunks([chunk_id]).get(chunk_id)
            if chunk is None:
                raise NotFound(f"no chunk {number}", fix="a search shows chunk ids with --json; documents are doc:ID")
            invocation.emit(chunk, _print_chunk)
            return
        document = base.document(target)
        first_line, text = base.text(document)
    if lines:
        wanted = parse_line_range(lines)
        text, first_line = select_lines(document, text, first_line, wanted), wanted[0]
    view = DocumentView(document=document, start_line=first_line, text=text)
    invocation.emit(view, lambda view: say(harmless(view.text)))


def _print_chunk(chunk: Chunk) -> None:
    say(styled(harmless_line(chunk.citation.uri), "cyan", "bold"))
    say(harmless(chunk.text))


@command
def open_(
    invocation: Invocation,
    citation: Annotated[str, typer.Argument(metavar="CITATION", help="path#L12-L34, path#page=3, or path:12")],
    print_only: Annotated[bool, typer.Option("--print", help="print the place instead of opening an editor")] = False,
) -> None:
    """Open a citation in $EDITOR at its line.

    Without an editor, or in a pipe, print where it is.
    """
    open_place(citation, invocation, print_only=print_only)


def open_place(citation: str, invocation: Invocation, *, print_only: bool = False, returns: bool = False) -> None:
    """Open a citation in the user's editor, or print where it is.

    returns  come back when the editor is closed, rather than becoming it
    """
    wanted = parse_citation(citation)
    with invocation.base(invocation.config()) as base:
        document = base.document(wanted.path)
        root = base.root(document.source)
    if root is None:
        raise InvalidInput(f"{document.path} came from standard input, there is no file", fix="kb show it instead")
    path = root / document.path
    if not path.exists():
        raise NotFound(f"{path} is not there any more", fix=f"its text is still in the store: kb show {document.path}")
    place = Place(path=str(path), exists=True, start_line=wanted.start_line, end_line=wanted.end_line, page=wanted.page)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if invocation.json or not editor or not is_interactive() or print_only or wanted.page is not None:
        invocation.emit(place, partial(_print_place, name=shown_path(str(root), document.path)))
        return
    words = [*shlex.split(editor), *([f"+{wanted.start_line}"] if wanted.start_line else []), str(path)]
    if returns:
        subprocess.run(words, check=False)
    else:
        os.execvp(words[0], words)


def _print_place(place: Place, name: str) -> None:
    say(f"{harmless_line(name)}:{place.start_line}" if place.start_line else harmless_line(name))


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
    invocation.emit(removal, partial(_print_removal, invocation=invocation))


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


def _print_removal(removal: Removal, invocation: Invocation) -> None:
    for name in removal.removed if invocation.verbose or len(removal.removed) <= MOST_NAMED else ():
        say(f"removed {harmless_line(name)}")
    invocation.notify(f"{len(removal.removed)} removed; their files are untouched")
