"""The server on standard input and output, or on HTTP: until the client leaves, or a signal ends it."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import ASGIApp

from kb.doors.desk import Desk
from kb.doors.guard import Address, Guard, Guarded
from kb.doors.worker import tell_stderr
from kb.errors import IoError
from kb.mcp.server import build_server

PATH = "/mcp"
# Of one request: texts that the conversation holds already are sent with it.
MOST_BODY_BYTES = 8 << 20
MOST_SESSIONS = 200
MOST_CONNECTIONS = 200
# A client that has gone away without a word.
IDLE_SECONDS = 1800.0


def serve_stdio(desk: Desk, stdout: io.TextIOWrapper) -> None:
    """Serve one client on stdin and `stdout` until it closes its end."""

    async def run() -> None:
        server = build_server(desk)
        async with stdio_server(stdout=anyio.wrap_file(stdout)) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    with suppress(BrokenPipeError):  # the client has gone away while it was being answered
        anyio.run(run)


def mcp_app(desk: Desk, routes: Sequence[Route] = ()) -> ASGIApp:
    """The server at /mcp, with other routes beside it; behind a guard, which checks Host, Origin and token."""
    open_to_guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return build_server(desk).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=open_to_guarded,
        max_request_body_size=MOST_BODY_BYTES,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MOST_SESSIONS,
        custom_starlette_routes=list(routes),
    )


def serve_http(
    app: ASGIApp,
    guard: Guard,
    what: str,
    around: Callable[[Address], AbstractContextManager[None]] = lambda address: nullcontext(),
    *,
    has_sign_in: bool = False,
) -> None:
    """Serve an application behind a guard until a signal ends it; says on stderr where it listens.

    what    the name of the server and the path of its address: "kb mcp /mcp"
    around  is entered with the address when it listens, and left at the end
    raises  IoError where the address is taken or not this machine's
    """
    address = guard.address
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listening = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise IoError(
            f"cannot listen on {address.url()}: {error.strerror}", fix="name an address of this machine and a free port"
        ) from error
    name, _, path = what.rpartition(" ")
    bound = type(address)(address.host, listening.getsockname()[1])
    config = uvicorn.Config(
        Guarded(app, guard, has_sign_in=has_sign_in),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    tell_stderr(f"{name} listens on {bound.url(path)}")
    with around(bound):
        uvicorn.Server(config).run(sockets=[listening])
