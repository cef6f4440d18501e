"""What the process that reads files and its owner say to each other: records as frames of a known length, in both directions.

A frame is its length (8 bytes, big-endian) and so many bytes of MessagePack; a request is followed by the file's bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from kb.drafts import Parsed
from kb.frozen import dataclass

LENGTH_BYTES = 8
# A file may use so much processor time. The slowest of 264 files of real collections took 0.4 s and 0.9 s per MB, the
# densest Word and Excel files 1.3 s per MB; a machine may be five times slower. Half of a small one's ten seconds are
# left to everything else that is done with a file.
CPU_SECONDS = 6.0
CPU_SECONDS_PER_MB = 1.0
# A busy machine gives a process a part of its time. What takes this many times its processor time hangs.
WALL_PER_CPU = 10
# Address space of the reading process, its own 250 MB of libraries included: the largest PDF that is read by default
# (100 MB) needs a third of it.
MEMORY_BYTES = 1_000_000_000
# A process that has held so much address space is replaced: what one file left behind must not decide whether the next one
# fits. After 264 files of real collections it held 300 MB.
USED_UP_BYTES = 600_000_000
# A text of this many characters is twice the largest plain text file that is read by default.
MOST_CHARS = 20_000_000
# Bumped with the limits: what was stopped by other ones is tried again.
LIMITS_VERSION = 1

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A page of a PDF as a picture.

    page    1-based
    marked  texts that are marked on it
    """

    page: int
    marked: tuple[str, ...]
    width_pixels: int


@dataclass(frozen=True, slots=True)
class Request:
    """Read one file, or draw a page of it; its bytes follow the frame.

    type         a key of READERS
    cpu_seconds  the processor time it may use
    drawing      what to draw, None to read
    """

    type: str
    path: str
    size_bytes: int
    cpu_seconds: float
    drawing: Drawing | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request; before the first one, an empty reply says that the process is ready.

    parsed      None where the file could not be read: then problem and fix say why
    picture     what was drawn, as PNG
    is_memory   it needed more memory than the process may have
    is_last     the process ends after this reply
    """

    parsed: Parsed | None = None
    problem: str = ""
    fix: str = ""
    is_memory: bool = False
    is_last: bool = False
    picture: bytes = b""


def cpu_seconds(size_bytes: int) -> float:
    """The processor time that a file of this size may use."""
    return CPU_SECONDS + CPU_SECONDS_PER_MB * size_bytes / 1e6


def frame(message: Request | Reply) -> bytes:
    """A message as it is sent."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def receive(read: Callable[[int], bytes], kind: type[R]) -> R | None:
    """The next message; None where the other side is gone.

    read  so many bytes, fewer at the end of the stream
    """
    length = read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    size = int.from_bytes(length, "big")
    body = read(size)
    return msgspec.msgpack.decode(body, type=kind) if len(body) == size else None
