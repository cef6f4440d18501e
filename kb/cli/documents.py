"""kb list, show, open, rm: look at documents, and manage them."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command, is_interactive
from kb.errors import ExitCode, InvalidInput, NotFound
from kb.knowledge_base import KnowledgeBase
from kb.records import Document, Filters

# An id with more digits than SQLite's 64-bit integers is nobody's.
MAX_ID_DIGITS = 18


@command
def list_(
    invocation: Invocation,
    filters: Filters,
) -> None:
    """List documents, filtered like a search."""
    from kb.cli.render import print_documents
    from kb.cli.views import DocumentList
    from kb.store.filters import no_match

    with invocation.open(invocation.config()) as kb:
        documents = kb.corpus.list_documents(kb.corpus.allowed_documents(filters))
    if invocation.json:
        from kb.wire import to_json

        print(to_json(DocumentList(documents=tuple(documents))))
    else:
        print_documents(documents)
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
    from kb.cli.terminal import harmless, harmless_line, say, styled
    from kb.cli.views import DocumentView, document_text, parse_line_range, select_lines

    with invocation.open(invocation.config()) as kb:
        number = target.removeprefix("chunk:")
        if number.isdecimal() and not lines:
            chunk_id = int(number) if len(number) <= MAX_ID_DIGITS else 0
            chunk = kb.corpus.fetch_chunks([chunk_id]).get(chunk_id)
            if chunk is None:
                raise NotFound(f"no chunk {number}", fix="a search shows chunk ids with --json; documents are doc:ID")
            if invocation.json:
                from kb.wire import to_json

                print(to_json(chunk))
                return
            say(styled(harmless_line(chunk.citation.uri), "cyan", "bold"))
            say(harmless(chunk.text))
            return
        document = _find_named(kb, target)
        first_line, text = document_text(kb.corpus.chunks_of_document(document.doc_id))
    if lines:
        wanted = parse_line_range(lines)
        text, first_line = select_lines(document, text, first_line, wanted), wanted[0]
    if invocation.json:
        from kb.wire import to_json

        print(to_json(DocumentView(document=document, start_line=first_line, text=text)))
    else:
        say(harmless(text))


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
    from kb.cli.terminal import harmless_line, say, shown_path
    from kb.cli.views import Place, parse_citation

    wanted = parse_citation(citation)
    with invocation.open(invocation.config()) as kb:
        document = _find_named(kb, wanted.path)
        root = kb.corpus.source_roots()[document.source]
    if root is None:
        raise InvalidInput(f"{document.path} came from standard input, there is no file", fix="kb show it instead")
    path = Path(root) / document.path
    if not path.exists():
        raise NotFound(f"{path} is not there any more", fix=f"its text is still in the store: kb show {document.path}")
    place = Place(path=str(path), exists=True, start_line=wanted.start_line, end_line=wanted.end_line, page=wanted.page)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if invocation.json:
        from kb.wire import to_json

        print(to_json(place))
    elif editor and is_interactive() and not print_only and wanted.page is None:
        line = [f"+{wanted.start_line}"] if wanted.start_line else []
        words = [*shlex.split(editor), *line, str(path)]
        if returns:
            subprocess.run(words, check=False)
        else:
            os.execvp(words[0], words)
    else:
        name = harmless_line(shown_path(root, document.path))
        say(f"{name}:{wanted.start_line}" if wanted.start_line else name)


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
    from kb.cli.terminal import harmless_line, say, tell
    from kb.cli.views import Removal
    from kb.records import Filters
    from kb.store.lock import writer_lock

    if not targets and not source:
        raise InvalidInput("nothing named", fix="name paths, or a --source; kb list shows what there is")
    config = invocation.config()
    invocation.open(config).close()  # an error when there is nothing here yet, rather than a new empty store
    with (
        invocation.open(config, write=True) as kb,
        writer_lock(kb.home, config.ingest.lock_wait_seconds, invocation.notify),
    ):
        sources = tuple(source or ())
        doc_ids: list[int] = []
        if sources and not targets:
            doc_ids = kb.corpus.allowed_documents(Filters(sources=sources)) or []
        for target in targets or ():
            matched = []
            if any(c in target for c in "*?[") or target.endswith("/"):
                matched = kb.corpus.allowed_documents(Filters(sources=sources, paths=(target,))) or []
            doc_ids += matched or [_find_named(kb, target).doc_id]
        documents = kb.corpus.list_documents(doc_ids)
        if not documents:
            raise NotFound(f"no document from source {', '.join(sources)}", fix="kb status lists the sources")
        kb.corpus.remove_documents([d.doc_id for d in documents])
        kb.corpus.remove_unused_embeddings()
        if kb.corpus.has_documents():
            kb.refresh_indexes()
    names = tuple(f"{d.source}/{d.path}" for d in documents)
    if invocation.json:
        from kb.wire import to_json

        print(to_json(Removal(removed=names)))
        return
    for name in names if invocation.verbose or len(names) <= 20 else ():
        say(f"removed {harmless_line(name)}")
    if not invocation.quiet:
        tell(f"{len(names)} removed; their files are untouched")


def _find_named(kb: KnowledgeBase, name: str) -> Document:
    """The document a user means: by its stored name, or by its file's path on this machine, as --paths prints it.

    raises  NotFound
    """

    try:
        return kb.corpus.find_document(name)
    except NotFound:
        file = Path(os.path.abspath(Path(name).expanduser()))
        for source, root in kb.corpus.source_roots().items():
            if root is not None and file.is_relative_to(root):
                return kb.corpus.find_document(f"{source}/{file.relative_to(root).as_posix()}")
        raise
