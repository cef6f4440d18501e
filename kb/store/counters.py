"""Running totals, in a file beside the store: what searches count without writing to the store.

`counters.sqlite` may be deleted at any time and is created by the first request that counts. A request waits for it only
for a moment, and never fails because of it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from kb.private import open_private

FILE_NAME = "counters.sqlite"
# Another request adds in under a millisecond.
WAIT_SECONDS = 0.2


def add_counts(home: Path, counts: Mapping[str, float]) -> str | None:
    """Add to the totals; returns why that was not possible, None where it was."""
    try:
        os.close(open_private(home / FILE_NAME, os.O_RDWR | os.O_CREAT))
        with closing(sqlite3.connect(home / FILE_NAME, timeout=WAIT_SECONDS)) as connection, connection:
            # The last second before a power cut may be lost; waiting for the disk would cost 5 ms a request.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value REAL NOT NULL)")
            connection.executemany(
                "INSERT INTO counters (name, value) VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                list(counts.items()),
            )
    except (sqlite3.Error, OSError) as error:
        return str(error)
    return None


def read_counts(home: Path) -> dict[str, float]:
    """The totals by name; empty where nothing was counted, or where the file cannot be read."""
    if not (home / FILE_NAME).is_file():
        return {}
    try:
        with closing(sqlite3.connect(home / FILE_NAME, timeout=WAIT_SECONDS)) as connection:
            return dict(connection.execute("SELECT name, value FROM counters ORDER BY name").fetchall())
    except (sqlite3.Error, OSError):
        return {}
