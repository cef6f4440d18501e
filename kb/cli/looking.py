"""kb show and kb open: a hit, a citation or a document as text, in the editor, in a viewer, or in the pager."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from kb.cli.editors import editor_words, find_pdf_viewer, show_in_pager, start_in_background
from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.targets import Target, find_chunk, find_shown, find_target, shown_number, text_of
from kb.cli.terminal import harmless, harmless_line, say, shown_path, styled
from kb.cli.views import DocumentView, Place
from kb.errors import InvalidInput, IoError, NotFound
from kb.ingest.sources import STDIN_SOURCE
from kb.places import parse_line_range, select_lines
from kb.records import Chunk

# What an editor of text cannot show.
NO_TEXT_FILES = frozenset(".pdf .docx .pptx .xlsx .epub".split())

TargetArgument = Annotated[
    str,
    typer.Argument(
        metavar="N|CITATION|DOC", help="a number of the last search or answer, path#L12-L34, path#page=3, or a path"
    ),
]


@command
def show(
    invocation: Invocation,
    target: TargetArgument,
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A-B", help="only these lines", show_default=False)
    ] = None,
) -> None:
    """Show a hit of the last search, the text of a citation, a document, or one chunk.

    With --json a plain number is the id of a chunk, as in the JSON of a search; chunk:12 is one everywhere.
    """
    with invocation.base(invocation.config()) as base:
        number = None if invocation.json or lines else shown_number(target)
        found = find_shown(base, number) if number is not None else None
        chunk = find_chunk(base, target) if number is None and not lines else None
        if chunk is not None:
            invocation.emit(chunk, _print_chunk)
            return
        found = found or find_target(base, target)
        first_line, text = text_of(base, found)
    if lines:
        wanted = parse_line_range(lines)
        if not found.is_whole():
            raise InvalidInput("--lines and a citation both name lines", fix="leave one of them out")
        text, first_line = select_lines(found.document, text, first_line, wanted), wanted[0]
    view = DocumentView(document=found.document, start_line=first_line, text=text, page=found.cited.page)
    invocation.emit(view, partial(_print_view, uri=found.cited.uri if number is not None else None))


def _print_view(view: DocumentView, uri: str | None) -> None:
    if uri is not None:
        say(styled(harmless_line(uri), "cyan", "bold"))
    say(harmless(view.text))


def _print_chunk(chunk: Chunk) -> None:
    say(styled(harmless_line(chunk.citation.uri), "cyan", "bold"))
    say(harmless(chunk.text))


@command
def open_(
    invocation: Invocation,
    citation: TargetArgument,
    print_only: Annotated[bool, typer.Option("--print", help="print the place instead of opening an editor")] = False,
    web: Annotated[
        bool, typer.Option("--web", help="open the page of kb serve in your browser, at that passage")
    ] = False,
) -> None:
    """Open a hit or a citation in $VISUAL or $EDITOR at its line; a PDF in a viewer at its page.

    Without an editor the passage is shown in $PAGER. In a pipe the place is printed.
    """
    if web:
        from kb.cli.browsing import open_in_browser  # a server's modules: 40 ms that an editor does without

        open_in_browser(citation, invocation, print_only=print_only)
        return
    open_place(citation, invocation, print_only=print_only)


def open_place(name: str, invocation: Invocation, *, print_only: bool = False, returns: bool = False) -> None:
    """Open a place in the user's editor, viewer or pager, or print where it is.

    returns  come back when the editor is closed, rather than becoming it
    """
    with invocation.base(invocation.config()) as base:
        target = find_target(base, name)
        root = base.root(target.document.source)
        is_printed = print_only or invocation.json or not is_interactive()
        passage = None if is_printed else text_of(base, target)
    document = target.document
    if root is None:
        if passage is None:
            is_said = document.source == STDIN_SOURCE
            why = "came from standard input, there is no file" if is_said else "is no file on this machine"
            raise InvalidInput(f"{document.path} {why}", fix=f"kb show {document.path}")
        _page(target, passage)
        return
    path = root / document.path
    if not path.exists():
        raise NotFound(f"{path} is not there any more", fix=f"its text is still in the store: kb show {document.path}")
    if passage is None:
        cited = target.cited
        place = Place(
            path=str(path), exists=True, start_line=cited.start_line, end_line=cited.end_line, page=cited.page
        )
        invocation.emit(place, partial(_print_place, name=shown_path(str(root), document.path)))
        return
    _open(path, target, passage, returns=returns)


def _open(path: Path, target: Target, passage: tuple[int | None, str], *, returns: bool) -> None:
    """The editor for text, a viewer for a PDF where one is known, else the passage in the pager."""
    if PurePosixPath(target.document.path).suffix.lower() in NO_TEXT_FILES:
        viewer = find_pdf_viewer(str(path), target.cited.page or 1) if target.document.type == "pdf" else None
        if viewer:
            start_in_background(viewer)
        else:
            _page(target, passage)
        return
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        _page(target, passage)
        return
    words = editor_words(editor, str(path), target.cited.start_line)
    try:
        if returns:
            subprocess.run(words, check=False)
        else:
            os.execvp(words[0], words)
    except OSError as error:
        raise IoError(f"cannot start the editor {words[0]}: {error.strerror}", fix="set VISUAL or EDITOR") from error


def _page(target: Target, passage: tuple[int | None, str]) -> None:
    """A passage in the pager, its lines numbered where the format has lines."""
    first_line, text = passage
    rows = harmless(text).split("\n")
    if first_line is not None:
        width = len(str(first_line + len(rows)))
        rows = [f"{styled(f'{first_line + at:>{width}}', 'dim')}  {row}" for at, row in enumerate(rows)]
    place = target.cited.uri if not target.is_whole() else target.document.path
    sys.stdout.flush()
    shown = "\n".join([styled(harmless_line(place), "cyan", "bold"), *rows]) + "\n"
    if not show_in_pager(shown):
        say(shown.rstrip("\n"))


def _print_place(place: Place, name: str) -> None:
    line = f":{place.start_line}" if place.start_line else f"#page={place.page}" if place.page else ""
    say(f"{harmless_line(name)}{line}")
