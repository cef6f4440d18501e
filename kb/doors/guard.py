"""Who may come in over HTTP: the Host and Origin of a request, and a token beyond this machine. Decisions are pure.

Without a token a door listens on loopback alone. A web page that a browser has open can send requests there too, under a
name that was made to point to this machine (DNS rebinding): so Host must be a name of this machine, and Origin the door's own.
"""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kb.errors import InvalidInput, IoError
from kb.frozen import dataclass

if TYPE_CHECKING:  # the ASGI types alone; what imports this module has Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN_VARIABLE = "KB_TOKEN"
LEAST_TOKEN_CHARS = 16
# Of every response: nothing from elsewhere runs in a page, nobody frames it, nothing is guessed or leaked.
HEADERS = (
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"),
    (b"x-content-type-options", b"nosniff"),
    # Not no-referrer: a form of the page itself would then come without an Origin, and be refused.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# Where a browser gives the token, and the cookie that stands for it afterwards.
SIGN_IN = "/sign-in"
COOKIE = "kb_session"
# Asked without a token, by those who watch a server and who sign in: they say nothing of the documents.
OPEN_PATHS = frozenset({"/health", SIGN_IN})
OPEN_FOLDER = "/static/"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a door listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether this machine alone can reach it."""
        return self.host in LOOPBACK

    def url(self, path: str = "") -> str:
        """The address as a client is told."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}{path}"


@dataclass(frozen=True, slots=True)
class Guard:
    """What a request must bring; token None asks for none."""

    address: Address
    token: str | None = None

    def refusal(
        self, path: str, host: str, origin: str | None, authorization: str, cookies: str = ""
    ) -> tuple[int, str] | None:
        """(status, why) for a request that may not come in, None for one that may."""
        name = _host_name(host)
        if self.address.is_loopback and name not in LOOPBACK:
            return 421, "this Host is no name of this machine"
        if origin is not None and (origin == "null" or urlsplit(origin).netloc.lower() != host.lower()):
            return 403, "requests of other web pages are not served"
        if self.token is None or path in OPEN_PATHS or path.startswith(OPEN_FOLDER):
            return None
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode()):
            return None
        if hmac.compare_digest(_cookie(cookies).encode(), cookie_of(self.token).encode()):
            return None
        return 401, f"send the server's token: Authorization: Bearer …, the value of {TOKEN_VARIABLE}"


def cookie_of(token: str) -> str:
    """What a cookie holds in place of a token: it opens this server, and the token cannot be read from it."""
    return hmac.new(token.encode(), b"kb page", "sha256").hexdigest()


def _cookie(header: str) -> str:
    """The value of our cookie in a Cookie header; empty where it is not there."""
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return next((value for name, _, value in pairs if name == COOKIE), "")


def _host_name(host: str) -> str:
    """A Host header without its port; empty for one that is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def read_address(text: str, default_host: str = "127.0.0.1") -> Address:
    """`[HOST:]PORT` as an address.

    >>> read_address("8765")
    Address(host='127.0.0.1', port=8765)
    >>> read_address("[::1]:80").host
    '::1'

    raises  InvalidInput
    """
    host, colon, port = text.strip().rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535 or (colon and not host):
        raise InvalidInput(f"'{text}' is no address", fix="write it as PORT or HOST:PORT, such as 127.0.0.1:8765")
    return Address(host.strip("[]") or default_host, int(port))


def make_guard(address: Address, token_file: str | None) -> Guard:
    """The guard of an address, with the token of the file or of KB_TOKEN.

    raises  InvalidInput for an address beyond this machine without a token, and for a token that is short; IoError
    """
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token_file is not None:
        try:
            token = Path(token_file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise IoError(f"cannot read the token in {token_file}", fix="name a text file with one line") from error
    if token and (len(token) < LEAST_TOKEN_CHARS or not token.isascii() or not token.isprintable()):
        fix = "make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"
        raise InvalidInput(f"the token is shorter than {LEAST_TOKEN_CHARS} characters, or not ASCII", fix=fix)
    if not token and not address.is_loopback:
        raise InvalidInput(
            f"{address.host} can be reached by other machines, and there is no token",
            fix=f"set {TOKEN_VARIABLE}, name a --token-file, or listen on 127.0.0.1",
        )
    return Guard(address, token or None)


class Guarded:
    """An ASGI application behind a guard: who may not come in gets a line of text; every response gets HEADERS.

    has_sign_in  a browser without the token is led to SIGN_IN instead
    """

    def __init__(self, app: ASGIApp, guard: Guard, *, has_sign_in: bool = False) -> None:
        self._app, self._guard, self._has_sign_in = app, guard, has_sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, str] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, value.decode("latin-1"))
        refused = self._guard.refusal(
            scope["path"],
            headers.get(b"host", ""),
            headers.get(b"origin"),
            headers.get(b"authorization", ""),
            headers.get(b"cookie", ""),
        )

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                names = {name.lower() for name, _ in own}  # a report of an evaluation has a policy of its own
                message = {**message, "headers": own + [pair for pair in HEADERS if pair[0] not in names]}
            await send(message)

        if refused is None:
            await self._app(scope, receive, send_with_headers)
            return
        status, why = refused
        if status == 401 and self._has_sign_in and "text/html" in headers.get(b"accept", ""):
            leads = [(b"location", SIGN_IN.encode()), (b"cache-control", b"no-store")]
            await send_with_headers({"type": "http.response.start", "status": 303, "headers": leads})
            await send({"type": "http.response.body", "body": b""})
            return
        kind = [(b"content-type", b"text/plain; charset=utf-8")]
        challenge = [(b"www-authenticate", b"Bearer")] if status == 401 else []
        await send_with_headers({"type": "http.response.start", "status": status, "headers": [*kind, *challenge]})
        await send({"type": "http.response.body", "body": f"error: {why}\n".encode()})
