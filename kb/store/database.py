"""kb.sqlite as a connection: opened read-only for readers, created and migrated for writers; the corpus revision.

SQLite holds everything that cannot be rebuilt, and the vectors. Knows no index, encoder or command.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kb.errors import CorruptStore, IoError, NotIndexed
from kb.frozen import dataclass
from kb.private import open_private
from kb.store.compact import compact
from kb.store.records import teach_records
from kb.store.schema import FILE_NAME, MIGRATION_NAMES, MIGRATION_SET

# Another connection's short write (an answer, one document) is waited for this long before SQLite gives up.
BUSY_TIMEOUT_SECONDS = 30.0
# The meta value with the secret that marks evidence in prompts (kb/ask/prompt.py): 32 random bytes, hex.
FENCE_SECRET = "fence_secret"
# Of the encoder whose vectors are stored, as meta values; with next_ before them, of the one that is changed to.
ENCODER_PARTS = (
    "encoder_model_id",
    "encoder_digest",
    "encoder_dimensions",
    "encoder_query_prefix",
    "encoder_document_prefix",
)
_SELECT_ENCODER = f"SELECT name, value FROM meta WHERE name IN ({', '.join('?' * len(ENCODER_PARTS))})"
# How far the logs of kb/store/changes.py are at a revision; sqlite_sequence keeps the last id of an emptied log.
_NOTE_REVISION = """
    INSERT OR REPLACE INTO revisions (revision, state, lexical_change, vector_change) SELECT
        (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'corpus_revision'),
        (SELECT value FROM meta WHERE name = 'corpus_state'),
        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'lexical_changes'), 0),
        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vector_changes'), 0)
"""


@dataclass(frozen=True, slots=True)
class CorpusState:
    """Which corpus this is: the revision rises with every change, the token differs even between diverged copies."""

    revision: int
    token: str


class OlderSchema(CorruptStore):
    """An earlier kb wrote the store."""


def open_for_reading(home: Path) -> sqlite3.Connection:
    """The store of a data folder, read-only; never creates or migrates it, and never blocks a writer.

    raises  NotIndexed when there is none, OlderSchema, CorruptStore when it cannot be read
    """
    path = home / FILE_NAME
    if not path.is_file():
        raise NotIndexed(f"no knowledge base in {home}", fix="make one with: kb ingest FOLDER", home=str(home))
    connection = _connect(path, "mode=ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        # On a read-only medium SQLite cannot create the -shm file of a WAL database. Without the log it would show an
        # older state, deleted documents included, so it goes on without one only where the log is empty.
        connection.close()
        log = path.with_name(f"{FILE_NAME}-wal")
        if log.exists() and log.stat().st_size:
            raise IoError(
                f"the last writer of {path} did not close it, and this folder may only be read",
                fix="run one kb command, such as kb status, where the folder can be written",
            ) from None
        connection = _connect(path, "mode=ro&immutable=1")
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, error) from error
    _check_schema(connection, path)
    return connection


def open_for_writing(home: Path) -> sqlite3.Connection:
    """The store of a data folder, created and migrated when needed.

    raises  CorruptStore, IoError
    """
    path = home / FILE_NAME
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            # An empty file is an empty database: made here, so that it is its owner's alone from the first byte.
            os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    except OSError as error:
        raise IoError(f"cannot make {path}: {error.strerror}", fix="choose another folder with --home") from error
    connection = _connect(path, "mode=rw")
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        _switch_to_wal(connection)
        before = applied_migrations(connection)
        if before != list(MIGRATION_NAMES):
            _migrate(connection, path)
            if before:
                _shrink(connection, home)
    except sqlite3.OperationalError as error:
        free = shutil.disk_usage(home).free
        fix = f"check the permissions and the free space of {home} ({free / 1e6:,.1f} MB)"
        raise IoError(f"cannot write {path}: {error}", fix=fix, path=str(path), free_bytes=free) from error
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, error) from error
    _check_schema(connection, path)
    return connection


def _connect(path: Path, options: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?{options}", uri=True, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None
        )
    except sqlite3.OperationalError as error:
        raise IoError(f"cannot open {path}: {error}", fix="check the folder's permissions") from error
    # A damaged byte in a text must not stop what reads it: it is shown as U+FFFD, and kb doctor finds it.
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    connection.execute("PRAGMA foreign_keys = ON")
    teach_records(connection)
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """SQLite's own waiting does not cover this switch, and two first ingests may make it at the same moment."""
    deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def make_tables(connection: sqlite3.Connection) -> None:
    """Apply every migration that was not applied yet."""
    # Imported here: only a new or older store has a use for it.
    from kb.store.migrations import apply_migrations

    apply_migrations(connection)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """raises  CorruptStore where a step cannot be applied to what the store holds; nothing of it is kept then"""
    # Two first ingests may start at the same moment: the one that comes second waits here and finds the work done.
    try:
        with transaction(connection):
            make_tables(connection)
            if read_meta(connection, FENCE_SECRET) is None:
                write_meta(connection, FENCE_SECRET, os.urandom(32).hex())
    except (sqlite3.Error, ValueError, TypeError) as error:
        if is_of_the_machine(error):
            raise
        raise CorruptStore(
            f"{path} cannot be brought up to date, it stays as it was: {error}",
            fix="restore a copy made with kb backup, or move it away and ingest again",
        ) from error


def _shrink(connection: sqlite3.Connection, home: Path) -> None:
    """Give back what an older store no longer takes; where there is no room to write it anew, it is used for what comes."""
    try:
        compact(connection, home)
    except sqlite3.OperationalError as error:
        if not is_of_the_machine(error):
            raise


def is_of_the_machine(error: Exception) -> bool:
    """Whether SQLite could not write for want of room, rights or a lock: nothing is wrong with what it holds."""
    words = ("locked", "busy", "full", "readonly", "I/O", "unable to open")
    return isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in words)


def applied_migrations(connection: sqlite3.Connection) -> list[str]:
    """Names of the migrations that were applied to this file, in order; none for a new file."""
    known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = '_sqlite_migrations'").fetchone()
    if not known:
        return []
    rows = connection.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY rowid", [MIGRATION_SET]
    )
    return [name for (name,) in rows]


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    try:
        applied = applied_migrations(connection)
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, error) from error
    if applied == list(MIGRATION_NAMES):
        return
    if set(applied) - set(MIGRATION_NAMES):
        raise CorruptStore(f"{path} was written by a newer kb", fix="upgrade kb, or use another --home")
    if not applied:
        raise NotIndexed(f"{path} holds no knowledge base yet", fix="fill it with: kb ingest FOLDER", path=str(path))
    raise OlderSchema(
        f"{path} was written by an older kb, and cannot be brought up to date where it may only be read",
        fix="run one kb command, such as kb status, where the folder can be written",
    )


def _corrupt(path: Path, error: Exception) -> CorruptStore:
    return CorruptStore(
        f"{path} cannot be read: {error}", fix="restore a copy made with kb backup, or move it away and ingest again"
    )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One short write transaction: all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """One read transaction: everything inside sees the same corpus, whatever a writer commits meanwhile."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def corpus_state(connection: sqlite3.Connection) -> CorpusState:
    """The corpus as it is now, for comparing with what an index was built from."""
    return CorpusState(_read_count(connection, "corpus_revision"), read_meta(connection, "corpus_state") or "")


def raise_revision(connection: sqlite3.Connection) -> None:
    """Mark the corpus as changed; part of the transaction that changes it."""
    connection.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'corpus_revision'")
    connection.execute("UPDATE meta SET value = ? WHERE name = 'corpus_state'", [os.urandom(8).hex()])
    connection.execute(_NOTE_REVISION)


def read_meta(connection: sqlite3.Connection, name: str) -> str | None:
    """One value of the meta table, None when it is not set."""
    row: tuple[str] | None = connection.execute("SELECT value FROM meta WHERE name = ?", [name]).fetchone()
    return row[0] if row else None


def write_meta(connection: sqlite3.Connection, name: str, value: Any) -> None:
    """Set one value of the meta table."""
    connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [name, str(value)])


def stored_encoder(connection: sqlite3.Connection) -> tuple[str, str, int]:
    """(model_id, digest, dimensions) of the encoder that made the stored vectors; ("", "", 0) when there are none."""
    held = _encoder_meta(connection)
    model_id, digest, dimensions = (held.get(part) or "" for part in ENCODER_PARTS[:3])
    return model_id, digest, _to_count(str(dimensions))


def _encoder_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """In one statement: a hybrid search asks a dozen times."""
    return dict(connection.execute(_SELECT_ENCODER, ENCODER_PARTS).fetchall())


def _read_count(connection: sqlite3.Connection, name: str) -> int:
    return _to_count(str(read_meta(connection, name) or "0"))


def _to_count(value: str) -> int:
    """A meta value that is a count; one that was damaged is 0, for which kb doctor has a word and a repair."""
    return int(value) if value.isdecimal() and value.isascii() else 0


def stored_prefixes(connection: sqlite3.Connection) -> tuple[str, str] | None:
    """What stands before queries and documents for that encoder; None where an earlier version did not note it."""
    held = _encoder_meta(connection)
    query, document = (held.get(part) for part in ENCODER_PARTS[3:])
    return None if query is None or document is None else (query, document)


def stamp_encoder(
    connection: sqlite3.Connection, encoder: tuple[str, str, int], prefixes: tuple[str, str] | None = None
) -> None:
    """Say whose vectors the store holds, as `stored_encoder` and `stored_prefixes` give it."""
    with transaction(connection):
        stamp_rows(connection, encoder, prefixes)


def stamp_rows(connection: sqlite3.Connection, encoder: tuple[str, str, int], prefixes: tuple[str, str] | None) -> None:
    """The rows of `stamp_encoder`; part of the caller's transaction."""
    for part, value in zip(ENCODER_PARTS, (*encoder, *(prefixes or (None, None))), strict=True):
        if value is None:
            connection.execute("DELETE FROM meta WHERE name = ?", [part])
        else:
            write_meta(connection, part, value)


def fence_secret(connection: sqlite3.Connection) -> bytes:
    """The secret that marks evidence in prompts, created with the store; in an older store it is derived from the random id."""
    stored = read_meta(connection, FENCE_SECRET)
    if stored:
        return bytes.fromhex(stored)
    from hashlib import sha256  # 2 ms; only stores of an early version have no secret of their own

    return sha256(f"fence:{read_meta(connection, 'store_id')}".encode()).digest()


def find_faults(connection: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with its own file, the first few of each kind; empty when it is sound."""
    faults = [row[0] for row in connection.execute("PRAGMA quick_check(5)") if row[0] != "ok"]
    return faults + [f"dangling row in {row[0]}" for row in connection.execute("PRAGMA foreign_key_check").fetchmany(3)]


def is_full(error: sqlite3.Error) -> bool:
    """Whether SQLite failed for want of room."""
    return "full" in str(error)


def empty_log(connection: sqlite3.Connection) -> None:
    """Move the write-ahead log into the file and give its room back, unless another process is reading."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def checkpoint(connection: sqlite3.Connection) -> None:
    """Move the write-ahead log into the file, as far as no reader is in the way."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
