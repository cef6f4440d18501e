"""SQLite's write-ahead log → whether a transaction in it was lost to damage.

SQLite reads a log up to the first frame whose checksum is wrong and leaves out the rest without a word: after a crash that
is right, after damage it loses what was acknowledged. Layout: sqlite.org/fileformat2.html, "The Write-Ahead Log".
"""

from __future__ import annotations

import struct
from pathlib import Path

from kb.store.schema import FILE_NAME

_HEADER_BYTES, _FRAME_BYTES = 32, 24
_MAGIC = 0x377F0682  # the last bit set: checksums of big-endian words


def find_log_fault(home: Path) -> str | None:
    """The fault of the log of a data folder, as a phrase; None for a sound one, or none."""
    try:
        log = (home / f"{FILE_NAME}-wal").read_bytes()
    except FileNotFoundError:
        return None
    if len(log) < _HEADER_BYTES + _FRAME_BYTES:
        return None
    magic, _, page_bytes, _ = struct.unpack_from(">4I", log)
    salts = log[16:24]
    order = ">" if magic & 1 else "<"
    sums = _checksum(log[:24], order, (0, 0))
    if magic & ~1 != _MAGIC or sums != struct.unpack_from(">2I", log, 24):
        return "the header of the write-ahead log is damaged: what it holds is lost"
    step = _FRAME_BYTES + page_bytes
    frames = range(_HEADER_BYTES, len(log) - step + 1, step)
    for at in frames:
        is_of_this_log = log[at + 8 : at + 16] == salts
        sums = _checksum(log[at : at + 8], order, sums)
        sums = _checksum(log[at + _FRAME_BYTES : at + step], order, sums)
        if is_of_this_log and sums == struct.unpack_from(">2I", log, at + 16):
            continue
        lost = [later for later in frames if later >= at and log[later + 8 : later + 16] == salts]
        commits = sum(struct.unpack_from(">I", log, later + 4)[0] != 0 for later in lost)
        return f"the write-ahead log is damaged: {commits} of its transactions are lost" if commits else None
    return None


def _checksum(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for one, other in struct.iter_unpack(f"{order}2I", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
