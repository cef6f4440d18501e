"""A store with free pages → a smaller file, where no other process is using it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kb.store.schema import FILE_NAME

# Rewriting the file takes as long as copying it. With fewer free pages than this share, SQLite uses them again instead.
WORTHWHILE_SHARE = 0.02
# Free pages do no harm, so another process is not waited for.
PATIENCE_MILLISECONDS = 500


def compact(connection: sqlite3.Connection, home: Path) -> int | None:
    """Give free pages back to the file system; returns the bytes the file has shrunk by.

    None when another process holds the store, 0 when too few pages are free to be worth it.
    """
    free, pages = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if free < WORTHWHILE_SHARE * pages:
        return 0
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MILLISECONDS}")
    try:
        connection.execute(
            "PRAGMA wal_checkpoint(TRUNCATE)"
        )  # the log is emptied in any case and must not count as freed
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
