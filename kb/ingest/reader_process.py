"""The process that reads files and draws pages: requests on standard input → replies on standard output, within limits of time and memory.

It ends when its input does, so it never outlives its owner. Knows no store and no settings.
"""

from __future__ import annotations

import math
import os
import re
import resource
import signal
import time
from contextlib import suppress
from pathlib import Path

from kb.errors import KbError
from kb.ingest.pdf_page import draw_page
from kb.ingest.reader_protocol import (
    MEMORY_BYTES,
    MOST_CHARS,
    USED_UP_BYTES,
    Reply,
    Request,
    frame,
    receive,
)
from kb.ingest.readers import READERS, read_file

_STATUS = Path("/proc/self/status")
_PEAK = re.compile(rb"VmPeak:\s*(\d+) kB")


def main() -> None:
    """Answer requests until there are no more."""
    # Ctrl-C goes to every process of the terminal; the owner decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nothing:  # what a library prints must not get among the replies
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    _limit(resource.RLIMIT_CORE, 0)
    # macOS takes this limit and does not keep it; there, the limits of time remain.
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    reply = Reply()
    while True:
        replies.write(frame(reply))
        replies.flush()
        if reply.is_last:
            return
        request = receive(requests.read, Request)
        if request is None:
            return
        reply = _answer(request, requests.read(request.size_bytes))


def _answer(request: Request, raw: bytes) -> Reply:
    """Read one file or draw a page of it, and say whether this process can read another after it."""
    _limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + request.cpu_seconds))
    try:
        if request.drawing is not None:
            return Reply(picture=draw_page(raw, request.path, request.drawing), is_last=_is_used_up())
        parsed = read_file(READERS[request.type], raw, request.path)
    except KbError as error:
        # Libraries in C give other errors for a lack of memory, or none that says so.
        is_memory = isinstance(error.__cause__, MemoryError) or _is_used_up()
        short = f" (it may need more memory than {MEMORY_BYTES // 1_000_000} MB)" if is_memory else ""
        return Reply(None, error.problem + short, error.fix, is_memory, is_last=is_memory)
    if len(parsed.text) > MOST_CHARS:
        problem = (
            f"it holds {len(parsed.text) / 1e6:,.0f} million characters of text, more than {MOST_CHARS // 1_000_000}"
        )
        return Reply(None, problem, "split the file", is_last=True)
    return Reply(parsed, is_last=_is_used_up())


def _is_used_up() -> bool:
    """Whether the process has held so much that it had better be replaced."""
    if _STATUS.exists():
        found = _PEAK.search(_STATUS.read_bytes())
        return found is not None and int(found.group(1)) * 1024 > USED_UP_BYTES
    # On Linux this would begin at what the owner holds; on macOS, in bytes, it is this process's own.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > USED_UP_BYTES


def _limit(what: int, amount: int) -> None:
    """Lower a limit; one that the system has set lower already stays."""
    _, hard = resource.getrlimit(what)
    with suppress(ValueError, OSError):  # macOS refuses a limit of address space that is below what it has mapped
        resource.setrlimit(what, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))
