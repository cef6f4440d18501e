"""Where the server of a home listens: a note beside the store while it runs, for `kb open --web`."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from kb.private import replace_private_json

FILE_NAME = "serving.json"
ASK_SECONDS = 2.0
# What /health says: a server that was killed leaves its note, and its port may be another program's by now.
HEALTHY = b"ok\n"


@contextmanager
def noted_address(home: Path, url: str) -> Iterator[None]:
    """Keep the address while the block runs; a home that is not there yet, or is read-only, does without."""
    note = home / FILE_NAME
    is_noted = replace_private_json(note, {"url": url, "pid": os.getpid()})
    try:
        yield
    finally:
        if is_noted and _read(note).get("pid") == os.getpid():
            with suppress(OSError):
                note.unlink()


def find_server(home: Path) -> str | None:
    """The address of the server of a home, with a slash at its end; None where none answers."""
    url = str(_read(home / FILE_NAME).get("url", ""))
    place = urlsplit(url)
    if place.scheme != "http" or not place.hostname or not place.port:
        return None
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=ASK_SECONDS)
    try:
        connection.request("GET", "/health")
        found = connection.getresponse()
        return url if (found.status, found.read(len(HEALTHY) + 1)) == (200, HEALTHY) else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _read(note: Path) -> dict[str, object]:
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
