"""Bytes of a file → its text and structure, whatever the bytes are: what could crash or never end is read in another process.

A file that stops that process costs itself alone: ReaderStopped. Nothing of a file's failure stays in the process that
reads the next one.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Self

from kb.drafts import Parsed
from kb.errors import IoError, ParseFailed, ReaderStopped
from kb.ingest.reader_protocol import WALL_PER_CPU, Drawing, Reply, Request, cpu_seconds, frame, receive
from kb.ingest.readers import READERS, read_file

# Formats that are read in this process while a file is small: our own scans in Python, which cannot crash. The slowest
# text of this size took 0.2 s; over 1 MB some took 20 (nested front matter, a million headings).
_SAFE_TYPES = frozenset({"markdown", "text", "restructuredtext"})
_SAFE_BYTES = 100_000
# Starting takes 0.3 s; on a machine that is short of everything, much longer.
_START_SECONDS = 120.0
# Explicit, because `python -m` and `-c` search the working folder for modules first, and that may be a folder of other
# people's files. No site: its folders are in the path that is handed over.
_CODE = "import sys; sys.path[:] = sys.argv[1:]; from kb.ingest.reader_process import main; main()"
_HERE = str(Path(__file__).resolve().parents[2])


class FileReader:
    """Reads files for one ingest; the other process is started by the first file that needs it and ends with `close`."""

    def __init__(self) -> None:
        self._process: _ReaderProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the other process."""
        if self._process:
            self._process.kill()
            self._process = None

    def read(self, type_name: str, raw: bytes, path: str) -> Parsed:
        """The text and structure of a file.

        type_name  a key of READERS
        raises     ParseFailed; ReaderStopped, a kind of it, where the file crashed a reader or passed a limit; IoError
                   where no process can be started
        """
        if type_name in _SAFE_TYPES and len(raw) <= _SAFE_BYTES:
            return read_file(READERS[type_name], raw, path)
        reply = self._ask_twice(Request(type_name, path, len(raw), cpu_seconds(len(raw))), raw)
        assert reply.parsed is not None
        return reply.parsed

    def draw(self, raw: bytes, path: str, drawing: Drawing) -> bytes:
        """A page of a PDF as PNG; raises what `read` raises."""
        return self._ask_twice(Request("pdf", path, len(raw), cpu_seconds(len(raw)), drawing), raw).picture

    def _ask_twice(self, request: Request, raw: bytes) -> Reply:
        was_fresh = self._process is None
        try:
            return self._ask(request, raw)
        except ReaderStopped as error:
            # The process may have been harmed or filled by earlier files: a fresh one decides. Time is this file's alone.
            if was_fresh or error.details["is_time"]:
                raise
        return self._ask(request, raw)

    def _ask(self, request: Request, raw: bytes) -> Reply:
        process = self._process = self._process or _ReaderProcess()
        try:
            reply = process.ask(request, raw)
        except ReaderStopped:
            self.close()
            raise
        if reply.is_last:
            self.close()
        if reply.parsed or reply.picture:
            return reply
        kind = ReaderStopped if reply.is_memory else ParseFailed
        raise kind(reply.problem, fix=reply.fix, path=request.path, reader=request.type, is_time=False)


class _ReaderProcess:
    """One process that reads files, ready for a request."""

    def __init__(self) -> None:
        path = [_HERE, *(entry for entry in sys.path if entry)]
        # numpy comes with openpyxl: its threads would take address space by the number of processor cores.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _CODE, *path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env=environment,
            )
        except OSError as error:
            raise _not_started(str(error)) from error
        if self._reply(_START_SECONDS) is None:
            self.kill()
            raise _not_started(f"it ended with {self._child.returncode}")

    def ask(self, request: Request, raw: bytes) -> Reply:
        """The reply to a request.

        raises  ReaderStopped: then this process is of no more use
        """
        stdin: IO[bytes] | None = self._child.stdin
        assert stdin
        seconds = WALL_PER_CPU * request.cpu_seconds
        try:
            _write(stdin.fileno(), frame(request))
            _write(stdin.fileno(), raw)
            reply = self._reply(seconds)
        except BrokenPipeError:
            reply = None
        except TimeoutError:
            raise _stopped(request, f"took more than {seconds:,.0f} seconds", is_time=True) from None
        if reply is None:
            raise self._died(request)
        return reply

    def kill(self) -> None:
        """End it, and wait for its end."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe:
                pipe.close()

    def _reply(self, seconds: float) -> Reply | None:
        """The next reply; None where the process has ended.

        raises  TimeoutError
        """
        stdout = self._child.stdout
        assert stdout
        end = time.monotonic() + seconds

        def read(count: int) -> bytes:
            pieces = []
            while count:
                if not select.select([stdout], [], [], max(end - time.monotonic(), 0))[0]:
                    raise TimeoutError
                piece = os.read(stdout.fileno(), min(count, 1 << 20))
                if not piece:
                    break
                pieces.append(piece)
                count -= len(piece)
            return b"".join(pieces)

        return receive(read, Reply)

    def _died(self, request: Request) -> ReaderStopped:
        code = self._child.wait()
        if code == -signal.SIGXCPU:
            what = f"took more than {request.cpu_seconds:.0f} seconds of processor time"
            return _stopped(request, what, is_time=True)
        name = signal.Signals(-code).name if -code in {int(s) for s in signal.Signals} else f"exit code {code}"
        return _stopped(request, f"crashed, or ran out of memory ({name})", is_time=False)


def _write(descriptor: int, raw: bytes) -> None:
    view = memoryview(raw)
    while view:
        view = view[os.write(descriptor, view) :]


def _stopped(request: Request, what: str, *, is_time: bool) -> ReaderStopped:
    return ReaderStopped(
        f"cannot read {request.path}: reading it {what}",
        fix="open and save it again in its program, split it, or ignore it in .kbignore",
        path=request.path,
        reader=request.type,
        is_time=is_time,
    )


def _not_started(why: str) -> IoError:
    return IoError(f"the process that reads files did not start: {why}", fix="see what kb doctor says")
