"""kb serve"""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.doors.desk import open_desk
from kb.doors.guard import make_guard, read_address
from kb.extras import require


@command
def serve(
    invocation: Invocation,
    http: Annotated[str, typer.Option("--http", metavar="[HOST:]PORT", help="where to listen")] = "8765",
    token_file: Annotated[
        str | None, typer.Option("--token-file", metavar="FILE", help="a file with the token", show_default=False)
    ] = None,
) -> None:
    """Serve the JSON of the command line over HTTP, with MCP at /mcp; on this machine alone without a token."""
    require("kb serve needs", "mcp", extra="serve")
    guard = make_guard(read_address(http), token_file)
    config = invocation.config()
    with open_desk(invocation.home, config) as desk:
        # Here, as in kb mcp: the libraries take a second, and may not be there.
        from kb.serve.app import run

        run(desk, guard)
