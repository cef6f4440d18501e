"""A store that something was removed from → a smaller file, where nobody else is using it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kb.store.schema import FILE_NAME

# Rewriting the file takes as long as copying it; below this share of free pages they are better used again.
WORTHWHILE_SHARE = 0.02
# Another process is not waited for: free pages are no harm.
PATIENCE_MILLISECONDS = 500


def compact(connection: sqlite3.Connection, home: Path) -> int | None:
    """Give free pages back to the file system; returns the bytes the file has shrunk by.

    None when another process holds the store, 0 when too little is free: the pages are used again by what comes next.
    """
    free, pages = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if free < WORTHWHILE_SHARE * pages:
        return 0
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MILLISECONDS}")
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log goes in any case, and is not what was freed
        before = _size(home)
        connection.execute("VACUUM")
        is_held = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            return None
        raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    return None if is_held else max(0, before - _size(home))


def _size(home: Path) -> int:
    """Bytes of the store's file and its log."""
    files = (home / FILE_NAME, home / f"{FILE_NAME}-wal")
    return sum(path.stat().st_size for path in files if path.exists())
