"""`kb` as a process, forked from one that has imported all of it: an interpreter and its imports are most of what a command costs.

What is forked is a process as any other: it has a pid, which its owner waits for and kills, and the descriptors,
environment, folder and session that it was started with. Only what an interpreter does at
its start is not done again; tests of that use FRESH.

`ForkedPopen` stands in the place of `subprocess.Popen`; `tests.fork_server` is the process that forks.
"""

from __future__ import annotations

import ctypes
import fcntl
import inspect
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# The command line as a process with the models of `tests.kept_models`; with models of its own; and with an interpreter of its own too.
KB = (sys.executable, str(Path(__file__).with_name("kept_kb.py")))
OWN_MODELS = (*KB, "--own-models")
FRESH = (sys.executable, "-m", "kb")
PR_SET_CHILD_SUBREAPER = 36
ANSWER = struct.Struct("!q?")
LENGTH = struct.Struct("!q")


def take_ctrl_c() -> None:
    """As in the foreground: tests that a shell runs in the background inherit that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def take_terminal() -> None:
    """Make standard input the terminal that this session is controlled by."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@dataclass(frozen=True)
class Start:
    """What a process is to begin with; descriptors travel beside it."""

    words: list[bytes]
    environment: dict[bytes, bytes]
    folder: bytes
    new_session: bool
    before: Callable[[], None] | None


class ForkedPopen(subprocess.Popen[Any]):
    """Forks what begins with KB, and starts everything else as ever; so it does what a fork cannot give."""

    def _execute_child(self, *arguments: Any) -> None:
        start: Any = super()._execute_child
        given = inspect.signature(start).bind(*arguments).arguments
        if not _can_be_forked(given):
            start(*arguments)
            return
        folder, environment = given["cwd"], given["env"]
        wanted = Start(
            words=[os.fsencode(word) for word in given["args"]],
            environment=dict(os.environb) if environment is None else _encoded(environment),
            folder=os.fsencode(os.getcwd() if folder is None else folder),
            new_session=given["start_new_session"],
            before=given["preexec_fn"],
        )
        ends = [given[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        self.pid = _server().fork(wanted, [own if end == -1 else end for own, end in enumerate(ends)])
        self._child_created = True
        names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(given[name] for name in names))


def _can_be_forked(given: dict[str, Any]) -> bool:
    """Only Linux lets a process adopt the child of its child."""
    words = given["args"]
    return (
        sys.platform == "linux"
        and not isinstance(words, str | bytes | os.PathLike)
        and tuple(words[: len(KB)]) == KB
        and given["preexec_fn"] in (None, take_ctrl_c, take_terminal)
        and not given["pass_fds"]
        and given["process_group"] == -1
        and (given["gid"], given["gids"], given["uid"], given["umask"]) == (None, None, None, -1)
    )


def _encoded(environment: Any) -> dict[bytes, bytes]:
    return {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}


class Server:
    """The owner's side: asks for forks, one at a time."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        self._busy = threading.Lock()
        self._adopt: Any = ctypes.CDLL(None).prctl
        with theirs:
            words = [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())]
            # A process that forks must have one thread: so much as `kb` asks for, before it imports numpy.
            alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                words, pass_fds=[theirs.fileno()], cwd=ROOT, stdin=subprocess.DEVNULL, env=alone
            )

    def fork(self, start: Start, descriptors: Sequence[int]) -> int:
        """The pid of a process that has begun, a child of this one.

        raises  RuntimeError where the server has died
        """
        content = pickle.dumps(start)
        with self._busy:
            self._adopt(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._channel, [LENGTH.pack(len(content))], descriptors)
                self._channel.sendall(content)
                pid, _ = ANSWER.unpack(receive(self._channel, ANSWER.size))
            except (OSError, EOFError) as error:
                raise RuntimeError(f"the server that forks kb has ended with {self.process.poll()}") from error
            finally:
                self._adopt(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        return int(pid)

    def close(self) -> None:
        """End the server; what it forked goes on."""
        self._channel.close()
        self.process.wait()


_servers: list[Server] = []


def _server() -> Server:
    """That of this process, started by the first command."""
    if not _servers:
        _servers.append(Server())
    return _servers[0]


def close_server() -> None:
    """End it, where there is one."""
    while _servers:
        _servers.pop().close()


def receive(channel: socket.socket, count: int) -> bytes:
    """raises  EOFError where the other side has ended"""
    found = b""
    while len(found) < count:
        piece = channel.recv(count - len(found))
        if not piece:
            raise EOFError
        found += piece
    return found
