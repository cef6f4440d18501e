"""kb graph: what the documents say of the things a query names, as paths with their places."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.errors import ExitCode, InvalidInput

# More paths than this are no answer to anything, and each is a line.
MOST_PATHS = 200


@command
def graph(
    invocation: Invocation,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="names of things, or a question that holds some")],
    project: Annotated[
        str | None, typer.Option("--project", metavar="P", help="start from this project too", show_default=False)
    ] = None,
    max_paths: Annotated[int, typer.Option("--max-paths", metavar="N", help="how many at most")] = 12,
) -> None:
    """Show how the things a query names are connected: relations, links, tags, mentions.

    Exit 1 when nothing is found.
    """
    from kb.context.traverse import traverse

    if not query.strip():
        raise InvalidInput("no query given", fix="kb graph 'lampd'")
    if not 1 <= max_paths <= MOST_PATHS:
        raise InvalidInput(f"--max-paths {max_paths} is not between 1 and {MOST_PATHS}", fix="leave it out for 12")
    with invocation.open(invocation.config()) as kb:
        kb.require_documents()
        found = traverse(kb, query, project, max_paths)
    if invocation.json:
        from kb.wire import to_json

        print(to_json(found))
    else:
        from kb.cli.graph_output import print_slice

        print_slice(found, quiet=invocation.quiet)
    if not found.paths:
        raise typer.Exit(ExitCode.NOTHING)
