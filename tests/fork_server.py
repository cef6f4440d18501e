"""The process that forks `kb` for `tests.forked_kb`: all of kb imported once, one thread, no model and no file open.

It ends with its owner, one process of a test run.
"""

from __future__ import annotations

import atexit
import gc
import locale
import os
import pickle
import pkgutil
import signal
import socket
import sys
import threading
import time
import traceback
from importlib import import_module
from typing import NoReturn

import kb
from tests import kept_kb
from tests.forked_kb import LENGTH, Start, receive

# Imported inside functions of kb, and needed by most commands.
LIBRARIES = (
    "numpy tantivy onnxruntime tokenizers rank_bm25 ollama lxml.html prompt_toolkit mcp uvicorn trafilatura".split()
)


def serve(channel: socket.socket) -> None:
    """Fork what the owner asks for, until it ends."""
    for module in pkgutil.walk_packages(kb.__path__, "kb."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for name in (*LIBRARIES, "tests.kept_models"):
        import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "a fork has one thread alone, whatever the others held"
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to every process of the terminal
    while True:
        length, descriptors, _, _ = socket.recv_fds(channel, LENGTH.size, 3)
        if not length:
            return
        start = pickle.loads(receive(channel, LENGTH.unpack(length)[0]))
        begun, tell_begun = os.pipe()
        between = os.fork()
        if not between:
            command = os.fork()
            if not command:
                channel.close()
                os.close(begun)
                _begin(start, descriptors)
                os.close(tell_begun)
                _run()
            channel.sendall(LENGTH.pack(command))
            os._exit(0)
        for descriptor in (*descriptors, tell_begun):
            os.close(descriptor)
        os.waitpid(between, 0)  # with its end the command is the owner's child
        os.read(begun, 1)  # nothing, once the command has its surroundings, or is dead
        os.close(begun)
        channel.sendall(b"\1")


def _begin(start: Start, descriptors: list[int]) -> None:
    """What a process is given, and what an interpreter makes of it."""
    if start.new_session:
        os.setsid()
    for own, descriptor in enumerate(descriptors):
        os.dup2(descriptor, own)
        os.close(descriptor)
    os.chdir(start.folder)
    os.environb.clear()
    os.environb.update(start.environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if start.before:
        start.before()
    time.tzset()
    locale.setlocale(locale.LC_CTYPE, "")
    sys.argv = [os.fsdecode(word) for word in start.words[1:]]
    sys.stdin = sys.__stdin__ = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _run() -> NoReturn:
    """The command, and what an interpreter does at its end."""
    code = 1
    try:
        kept_kb.start()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
