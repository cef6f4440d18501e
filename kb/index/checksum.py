"""The files of a finished index → their sizes and CRC-32, kept in its stamp; and whether the files still have them.

A file that was cut off would crash the process that maps it, and one changed byte may change scores without a word.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path

# Files of an index up to this size are read in full before it is searched (8 ms at 2 GB/s); of a larger one the sizes
# are compared. kb doctor always reads everything.
READ_AT_MOST_BYTES = 16_000_000
_PIECE_BYTES = 1 << 20

# Name inside the index, "" for an index of one file → (bytes, CRC-32)
Sums = Mapping[str, tuple[int, int]]


def sum_files(place: Path, base: Path | None = None, known: Sums | None = None) -> dict[str, tuple[int, int]]:
    """The sums of an index, a file or a folder; lock files, which hold nothing, are left out.

    base, known  an earlier index and its sums: of a file that is the same one there, they are taken over
    """
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    sums = {}
    for file in files:
        name = _name(file, place)
        if file.suffix == ".lock":
            continue
        if base and known and name in known and _is_same_file(file, base / name):
            sums[name] = known[name]
        else:
            sums[name] = file.stat().st_size, _crc32(file)
    return sums


def _is_same_file(file: Path, other: Path) -> bool:
    try:
        return file.samefile(other)
    except OSError:
        return False


def sync_unread(place: Path, sums: Sums) -> None:
    """Wait until the disk has the files of an index that is not read in full before it is searched.

    A power failure may leave a file its size and none of its pages. Those of smaller indexes show that by their sums.
    """
    if sum(size for size, _ in sums.values()) <= READ_AT_MOST_BYTES:
        return
    for entry in (*(place / name for name in sums if name), place):
        descriptor = os.open(entry, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def find_damage(place: Path, sums: Sums, most_bytes: int | None = None) -> str | None:
    """What is wrong with the files of an index, as a phrase; None where they are as they were written.

    sums        empty for an index of an earlier version: nothing is compared
    most_bytes  the files are read in full only where they have no more bytes together; None reads them all
    """
    for name, (size, _) in sums.items():
        try:
            present = (place / name if name else place).stat().st_size
        except OSError:
            return f"{name or place.name} is missing"
        if present != size:
            return f"{name or place.name} has {present:,} bytes, {size:,} were written"
    if most_bytes is not None and sum(size for size, _ in sums.values()) > most_bytes:
        return None
    for name, (_, crc) in sums.items():
        if _crc32(place / name if name else place) != crc:
            return f"{name or place.name} has another checksum than was written"
    return None


def _crc32(file: Path) -> int:
    crc = 0
    with file.open("rb") as content:
        while piece := content.read(_PIECE_BYTES):
            crc = zlib.crc32(piece, crc)
    return crc


def _name(file: Path, place: Path) -> str:
    return file.relative_to(place).as_posix() if file != place else ""
