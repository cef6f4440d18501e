"""Who may come in over HTTP: every decision of the guard, and the addresses and tokens it is made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.doors.guard import COOKIE, SIGN_IN, TOKEN_VARIABLE, Address, Guard, cookie_of, make_guard, read_address
from kb.errors import InvalidInput, IoError

TOKEN = "a-token-of-some-length"
HERE = Guard(Address("127.0.0.1", 8765))
LOCKED = Guard(Address("127.0.0.1", 8765), TOKEN)
BEYOND = Guard(Address("0.0.0.0", 8765), TOKEN)


@pytest.mark.parametrize(
    ("cookies", "path", "status"),
    [
        (f"{COOKIE}={cookie_of(TOKEN)}", "/", None),
        (f"a=b; {COOKIE}={cookie_of(TOKEN)}; c=d", "/api/search", None),
        (f"{COOKIE}={TOKEN}", "/", 401),
        (f"{COOKIE}=", "/", 401),
        (f"x{COOKIE}={cookie_of(TOKEN)}", "/", 401),
        (f"{COOKIE}={cookie_of('another-token-of-16')}", "/", 401),
        ("", SIGN_IN, None),
        ("", "/static/style.css", None),
        ("", "/documents/1", 401),
    ],
)
def test_a_browser_is_known_by_its_cookie(cookies: str, path: str, status: int | None) -> None:
    refused = LOCKED.refusal(path, "localhost", None, "", cookies)
    assert (refused and refused[0]) == status


@pytest.mark.parametrize(
    ("guard", "host", "origin", "authorization", "status"),
    [
        (HERE, "127.0.0.1:8765", None, "", None),
        (HERE, "localhost:8765", "http://localhost:8765", "", None),
        (HERE, "[::1]:8765", None, "", None),
        (HERE, "LOCALHOST", None, "", None),
        (HERE, "evil.example:8765", None, "", 421),
        (HERE, "localhost.evil.example", None, "", 421),
        (HERE, "127.0.0.1@evil.example", None, "", 421),
        (HERE, "", None, "", 421),
        (HERE, "[::1", None, "", 421),
        (HERE, "localhost:8765", "http://evil.example", "", 403),
        (HERE, "localhost:8765", "http://localhost:9999", "", 403),
        (HERE, "localhost:8765", "null", "", 403),
        (HERE, "localhost:8765", "", "", 403),
        (LOCKED, "localhost", None, "", 401),
        (LOCKED, "localhost", None, f"Basic {TOKEN}", 401),
        (LOCKED, "localhost", None, f"Bearer {TOKEN}x", 401),
        (LOCKED, "localhost", None, "Bearer tökén", 401),
        (LOCKED, "localhost", None, f"bearer {TOKEN}", None),
        (BEYOND, "notes.example", None, f"Bearer {TOKEN}", None),
        (BEYOND, "notes.example", None, "", 401),
        (BEYOND, "notes.example", "https://evil.example", f"Bearer {TOKEN}", 403),
    ],
)
def test_refusal(guard: Guard, host: str, origin: str | None, authorization: str, status: int | None) -> None:
    refused = guard.refusal("/api/search", host, origin, authorization)
    assert (refused[0] if refused else None) == status


def test_health_alone_needs_no_token() -> None:
    assert LOCKED.refusal("/health", "localhost", None, "") is None
    assert LOCKED.refusal("/metrics", "localhost", None, "") is not None


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("8765", "127.0.0.1", 8765), ("0.0.0.0:80", "0.0.0.0", 80), ("[::1]:0", "::1", 0), ("notes:1", "notes", 1)],
)
def test_addresses(text: str, host: str, port: int) -> None:
    assert read_address(text) == Address(host, port)


@pytest.mark.parametrize("text", ["", "host", ":80", "1:2:x", "70000", "-1", "٣"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_address(text)


def test_a_guard_takes_its_token_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert make_guard(Address("127.0.0.1", 1), None).token is None
    with pytest.raises(InvalidInput, match="there is no token"):
        make_guard(Address("0.0.0.0", 1), None)
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert make_guard(Address("0.0.0.0", 1), None).token == TOKEN
    (tmp_path / "token").write_text(f"{TOKEN}-of-the-file\n")
    assert make_guard(Address("0.0.0.0", 1), str(tmp_path / "token")).token == f"{TOKEN}-of-the-file"
    (tmp_path / "token").write_text("short\n")
    for bad in ("token", "none"):
        with pytest.raises((InvalidInput, IoError)):
            make_guard(Address("127.0.0.1", 1), str(tmp_path / bad))
