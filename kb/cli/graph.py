"""kb graph: what the documents say of the things a query names, as paths with their places."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from kb.cli.graph_output import print_slice, print_token_check
from kb.cli.invocation import Invocation, command
from kb.context.traverse import check_token
from kb.errors import ExitCode, InvalidInput

# More paths than this are no answer to anything, and each is a line.
MOST_PATHS = 200


@command
def graph(
    invocation: Invocation,
    words: Annotated[
        list[str], typer.Argument(metavar="QUERY…", help="names of things, or a question that holds some")
    ],
    project: Annotated[
        str | None, typer.Option("--project", metavar="P", help="start from this project too", show_default=False)
    ] = None,
    max_paths: Annotated[int, typer.Option("--max-paths", metavar="N", help="how many at most")] = 12,
    verify: Annotated[
        str | None,
        typer.Option("--verify", metavar="TOKEN", help="does this admissibility token still hold?", show_default=False),
    ] = None,
) -> None:
    """Show how the things a query names are connected: relations, links, tags, mentions.

    Exit 1 when nothing is found, or when the token of --verify does not hold for this query and the documents as they are.
    """

    query = " ".join(words)
    if not query.strip():
        raise InvalidInput("no query given", fix="kb graph 'lampd'")
    if not 1 <= max_paths <= MOST_PATHS:
        raise InvalidInput(f"--max-paths {max_paths} is not between 1 and {MOST_PATHS}", fix="leave it out for 12")
    with invocation.base(invocation.config()) as base:
        if verify is not None:
            runtime = base.runtime()
            runtime.require_documents()
            checked = check_token(runtime, verify, query, project, max_paths)
            invocation.emit(checked, print_token_check)
            holds = checked.is_admissible
        else:
            found = base.graph(query, project=project, max_paths=max_paths)
            invocation.emit(found, partial(print_slice, quiet=invocation.quiet))
            holds = bool(found.paths)
    if not holds:
        raise typer.Exit(ExitCode.NOTHING)
