"""kb graph: what the documents say of the things a query names, as paths with their places."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.graph_output import print_slice, print_token_check
from kb.cli.invocation import Invocation, command
from kb.context.traverse import check_token, traverse
from kb.errors import ExitCode, InvalidInput
from kb.wire import to_json

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
    verify: Annotated[
        str | None,
        typer.Option("--verify", metavar="TOKEN", help="does this admissibility token still hold?", show_default=False),
    ] = None,
) -> None:
    """Show how the things a query names are connected: relations, links, tags, mentions.

    Exit 1 when nothing is found, or when the token of --verify does not hold for this query and the documents as they are.
    """

    if not query.strip():
        raise InvalidInput("no query given", fix="kb graph 'lampd'")
    if not 1 <= max_paths <= MOST_PATHS:
        raise InvalidInput(f"--max-paths {max_paths} is not between 1 and {MOST_PATHS}", fix="leave it out for 12")
    with invocation.open(invocation.config()) as kb:
        kb.require_documents()
        checked = check_token(kb, verify, query, project, max_paths) if verify is not None else None
        found = traverse(kb, query, project, max_paths) if checked is None else None
    if invocation.json:
        print(to_json(checked or found))
    elif checked:
        print_token_check(checked)
    elif found:
        print_slice(found, quiet=invocation.quiet)
    if not (checked.is_admissible if checked else found and found.paths):
        raise typer.Exit(ExitCode.NOTHING)
