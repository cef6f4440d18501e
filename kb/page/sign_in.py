"""The token of a server, given once in a browser: a cookie stands for it from then on, which no script can read."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kb.doors.guard import COOKIE, SIGN_IN, Guard, cookie_of
from kb.page.render import render

MOST_FORM_BYTES = 10_000


def sign_in_routes(guard: Guard) -> list[Route]:
    """The page that asks for the token; none where the server has none."""
    if guard.token is None:
        return []
    token = guard.token

    async def show(request: Request) -> Response:
        return HTMLResponse(render("sign_in.html", was_wrong=False))

    async def check(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_FORM_BYTES:
                break
        given = parse_qs(body[:MOST_FORM_BYTES].decode("utf-8", "replace")).get("token", [""])[0].strip()
        if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
            return HTMLResponse(render("sign_in.html", was_wrong=True), status_code=401)
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(COOKIE, cookie_of(token), httponly=True, samesite="strict", path="/")
        return response

    handlers: dict[str, Callable[[Request], Awaitable[Response]]] = {"GET": show, "POST": check}
    return [Route(SIGN_IN, handler, methods=[method]) for method, handler in handlers.items()]
