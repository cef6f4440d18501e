"""kb serve"""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.doors.desk import open_desk
from kb.doors.guard import Guard, make_guard, read_address
from kb.extras import require


@command
def serve(
    invocation: Invocation,
    http: Annotated[str, typer.Option("--http", metavar="[HOST:]PORT", help="where to listen")] = "8765",
    token_file: Annotated[
        str | None, typer.Option("--token-file", metavar="FILE", help="a file with the token", show_default=False)
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="open the page in your browser")] = False,
) -> None:
    """Serve a page to read in, the JSON of the command line over HTTP, and MCP at /mcp.

    On this machine alone without a token.
    """
    serve_page(invocation, make_guard(read_address(http), token_file), "/" if opens else None)


def serve_page(invocation: Invocation, guard: Guard, opened: str | None) -> None:
    """Serve until a signal ends it; a browser is opened at `opened`, which is a path of the page."""
    require("kb serve needs", "mcp", extra="serve")
    config = invocation.config()
    with open_desk(invocation.home, config) as desk:
        # Here, as in kb mcp: the libraries take a second, and may not be there.
        from kb.serve.app import run

        run(desk, guard, opened)
