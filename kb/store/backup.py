"""A store → one file that is whole or not there; and such a file → a data folder's store."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from kb.errors import CorruptStore, InvalidInput, IoError
from kb.private import make_private_home, open_private
from kb.store.database import applied_migrations, find_faults
from kb.store.schema import FILE_NAME, MIGRATION_NAMES

# The store that a restored one took the place of keeps this ending.
REPLACED = ".replaced"


def write_backup(connection: sqlite3.Connection, path: Path) -> None:
    """Write a compact copy of the store, under another name until it is complete, on the disk and checked.

    path    a file that is not there yet, in a folder that is
    raises  InvalidInput where the file is there, IoError where it cannot be written, CorruptStore for a damaged store
    """
    with _becoming(path) as part:
        try:
            connection.execute("VACUUM INTO ?", [str(part)])
        except sqlite3.OperationalError as error:
            raise _unwritable(path, str(error)) from error
        check_backup(part)


def restore_backup(path: Path, home: Path, *, replace: bool) -> Path | None:
    """Make a copy of a backup the store of a data folder. The caller holds the writer's lock.

    replace  put it in the place of a store that is there, which stays beside it under another name
    returns  that other name, None where there was no store
    raises   InvalidInput for a store that is there, or a file that is not; CorruptStore, IoError
    """
    if not path.is_file():
        raise InvalidInput(f"no file {path}", fix="name a file made with: kb backup FILE")
    check_backup(path)
    make_private_home(home)
    store = home / FILE_NAME
    if store.exists() and not replace:
        raise InvalidInput(
            f"{home} holds a knowledge base already",
            fix="restore into another folder with --home, or replace it with --replace",
        )
    aside: Path | None = None
    with _becoming(store, may_replace=True) as part:
        try:
            shutil.copyfile(path, part)
        except OSError as error:
            raise _unwritable(store, str(error.strerror)) from error
        check_backup(part)
        if store.exists():
            aside = store.with_name(FILE_NAME + REPLACED)
            # The log goes with its database: beside another one it would be damage.
            for ending in ("-shm", "-wal", ""):
                with suppress(FileNotFoundError):
                    os.replace(f"{store}{ending}", f"{aside}{ending}")
    return aside


def check_backup(path: Path) -> None:
    """raises  CorruptStore unless the file is a sound store that this kb can read."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as copy:
            faults = find_faults(copy)
            applied = applied_migrations(copy)
    except sqlite3.Error as error:
        raise CorruptStore(
            f"{path} is no knowledge base: {error}", fix="name a file made with: kb backup FILE"
        ) from error
    if faults:
        raise CorruptStore(f"{path} is damaged: {faults[0]}", fix="use another backup, or ingest again")
    if not applied:
        raise CorruptStore(f"{path} is no knowledge base", fix="name a file made with: kb backup FILE")
    if set(applied) - set(MIGRATION_NAMES):
        raise CorruptStore(f"{path} was written by a newer kb", fix="upgrade kb")


@contextmanager
def _becoming(path: Path, *, may_replace: bool = False) -> Iterator[Path]:
    """A private, empty file beside `path` that takes its name when the block ends well, and is removed when not."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    _clear_dead_parts(path)
    try:
        os.close(open_private(part, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        yield part
        _sync(part)
        if may_replace:
            os.replace(part, path)
        else:
            _rename_to_new(part, path)
        _sync(path.parent)
    except FileExistsError as error:
        raise InvalidInput(f"{path} exists", fix="name a new file") from error
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    finally:
        for ending in ("", "-journal"):
            with suppress(OSError):
                os.unlink(f"{part}{ending}")


def _rename_to_new(part: Path, path: Path) -> None:
    try:
        os.link(part, path)  # unlike a rename, it never replaces what another process has put there
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        os.rename(part, path)


def _clear_dead_parts(path: Path) -> None:
    """Remove what a killed backup to this name has left."""
    for part in path.parent.glob(f"{path.name}.*.part"):
        pid = part.name.removeprefix(f"{path.name}.").removesuffix(".part")
        if pid.isdigit() and not _is_running(int(pid)):
            part.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, why: str) -> IoError:
    free = shutil.disk_usage(path.parent).free
    return IoError(
        f"cannot write {path}: {why}", fix=f"check the folder's permissions and its free space ({free / 1e6:,.0f} MB)"
    )
