"""kb mcp"""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.doors.desk import open_desk
from kb.doors.guard import make_guard, read_address
from kb.doors.worker import take_stdout
from kb.extras import require


@command
def mcp(
    invocation: Invocation,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="[HOST:]PORT", help="serve HTTP at /mcp, not stdio", show_default=False),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option("--token-file", metavar="FILE", help="with --http: a file with the token", show_default=False),
    ] = None,
) -> None:
    """Serve the knowledge base to agents over the Model Context Protocol, on stdio or HTTP."""
    require("kb mcp needs", "mcp", extra="mcp")
    guard = make_guard(read_address(http), token_file) if http is not None else None
    config = invocation.config()
    stdout = take_stdout() if guard is None else None
    with open_desk(invocation.home, config) as desk:
        # Here: the protocol's library takes a second, while the encoder is loaded, and may not be there.
        from kb.mcp import transports

        if stdout is not None:
            transports.serve_stdio(desk, stdout)
        elif guard is not None:
            transports.serve_http(transports.mcp_app(desk), guard, f"kb mcp {transports.PATH}")
