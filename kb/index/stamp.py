"""The stamp of an index, and how a new index replaces the old one: temporary name, rename, then the stamp.

`index/` holds at most one finished index per kind, a file or folder with a unique name, and `<kind>.json`, its stamp,
which has that name. The stamp is replaced last and in one step, so that a killed build leaves the old index current.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from functools import lru_cache
from pathlib import Path

from kb.frozen import dataclass
from kb.index.checksum import sum_files, sync_unread
from kb.private import open_private, take_from_others

INDEX_FOLDER = "index"  # inside a home
RESERVE = "reserve"
# Removing a page of text takes up to 60 pages of 4 kB in SQLite's log, and 32 kB of shared memory.
RESERVE_BYTES = 512_000


@dataclass(frozen=True, slots=True)
class Origin:
    """The input of a build: a corpus and, for vectors, an encoder.

    revision, state  of the corpus
    encoder_digest   "" for the lexical index
    dimensions       length of the vectors, 0 for the lexical index
    """

    revision: int
    state: str
    encoder_digest: str = ""
    dimensions: int = 0


@dataclass(frozen=True, slots=True)
class IndexStamp:
    """The origin and the content of an index.

    place            name of the file or folder inside `index/`
    revision, state  the corpus whose rows it holds
    format           the engine's version of analyzer and layout
    rows             number of chunks
    encoder_digest   "" for the lexical index
    dimensions       length of the vectors, 0 for the lexical index
    kind             flat, ivf, tantivy
    recall           share of the exact 10 nearest that an approximate index finds, 1.0 for an exact one
    mean_vector      mean of the vectors, () for the lexical index
    sums             of its files, see `kb.index.checksum`; empty for an index of an earlier version
    dead             rows in its files that count for nothing any more, which a build from nothing would not have
    """

    place: str
    revision: int
    state: str
    format: str
    rows: int
    encoder_digest: str = ""
    dimensions: int = 0
    kind: str = ""
    recall: float = 1.0
    mean_vector: tuple[float, ...] = ()
    sums: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    dead: int = 0

    def can_be_changed(self, origin: Origin, format: str) -> bool:
        """True when it needs no more than the rows that changed, to become an index of this corpus."""
        return self.format == format and self.encoder_digest == origin.encoder_digest

    def matches(self, origin: Origin, format: str) -> bool:
        """True when it was made of this corpus as it is now."""
        built_from = (self.revision, self.state, self.encoder_digest)
        return self.format == format and built_from == (origin.revision, origin.state, origin.encoder_digest)


def read_stamp(folder: Path, name: str) -> IndexStamp | None:
    """The stamp of the current index, None for a missing, unreadable or altered one."""
    path = folder / f"{name}.json"
    try:
        held = path.stat()
        stamp = _parse_stamp(path, (held.st_ino, held.st_mtime_ns, held.st_ctime_ns, held.st_size))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return stamp if stamp and (folder / stamp.place).exists() else None


@lru_cache(maxsize=8)
def _parse_stamp(path: Path, identity: tuple[int, ...]) -> IndexStamp | None:
    """Remembered by what the file system says of the file, which is replaced as a whole: every search asks, and it has the
    sums of many files and a mean vector.
    """
    content = json.loads(path.read_text())
    crc = content.pop("crc", None)  # absent in a stamp of an earlier version
    return None if crc is not None and crc != _crc_of(content) else IndexStamp(**content)


def replace_index(
    folder: Path, name: str, build: Callable[[Path], IndexStamp], base: IndexStamp | None = None
) -> IndexStamp:
    """Build under a temporary name, rename, stamp, and remove the earlier index.

    build    writes the index at the given path, and returns its stamp with any `place`
    base     of the index whose files it takes over; None for one that is built from nothing
    returns  the new stamp
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    place = f"{name}-{os.urandom(6).hex()}"
    unfinished = folder / f"{place}.unfinished"
    try:
        built = build(unfinished)
        sums = sum_files(unfinished, folder / base.place, base.sums) if base else sum_files(unfinished)
        take_from_others(unfinished)
        sync_unread(unfinished, sums)
        unfinished.rename(folder / place)
    except BaseException:
        _remove(unfinished)
        raise
    stamp = _write_stamp(folder, name, replace(built, place=place, sums=sums))
    clear_old(folder, name, place)
    return stamp


def restamp(folder: Path, name: str, stamp: IndexStamp, origin: Origin) -> IndexStamp:
    """Note that the index holds the rows of another revision as well: none of them has changed since its own."""
    return _write_stamp(folder, name, replace(stamp, revision=origin.revision, state=origin.state))


def _write_stamp(folder: Path, name: str, stamp: IndexStamp) -> IndexStamp:
    content = asdict(stamp)
    file = folder / f"{stamp.place}.json.unfinished"
    file.write_text(json.dumps(content | {"crc": _crc_of(content)}, indent=1))
    take_from_others(file)
    file.replace(folder / f"{name}.json")
    return stamp


def _crc_of(content: Mapping[str, object]) -> int:
    """CRC-32 of a stamp's fields, the same whether they were just made or read from a file."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def keep_reserve(folder: Path) -> None:
    """Hold room for the log of a removal on a full disk, which may need more than a small index gives back.

    Where there is no room for it, or no right to write, there is none.
    """
    file = folder / RESERVE
    if file.exists() or not folder.is_dir():
        return
    try:
        # Random, because file systems that compress give zeros no room.
        with open(file, "wb", opener=open_private) as reserve:
            reserve.write(os.urandom(RESERVE_BYTES))
    except OSError:
        _remove(file)


def remove_indexes(folder: Path) -> int:
    """Remove the lexical and the vector index, which the next search builds anew, and the reserve; returns their bytes."""
    reserve = folder / RESERVE
    freed = reserve.stat().st_size if reserve.is_file() else 0
    _remove(reserve)
    for name in ("lexical", "vector"):
        if stamp := read_stamp(folder, name):
            freed += sum(size for size, _ in stamp.sums.values())
            _remove(folder / f"{name}.json")
            _remove(folder / stamp.place)
    return freed


def clear_old(folder: Path, name: str, place: str) -> None:
    """Remove earlier indexes of this kind, and what killed builds left: one process builds at a time.

    Who has one open goes on reading it: an opened index has mapped all of its files, which stay until it is closed.
    """
    for entry in folder.iterdir():
        if entry.name.startswith(f"{name}-") and entry.name != place:
            _remove(entry)


def _remove(path: Path) -> None:
    if path.is_dir():
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    else:
        try:
            os.unlink(path)
        except OSError:
            return
