"""Ctrl-C → a question that a long job asks between its steps: has it been told to stop?"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stop_on_ctrl_c(quiet: bool, step: str = "document") -> Iterator[list[bool]]:
    """The first Ctrl-C (or SIGTERM) asks to stop after the step in hand, the second stops at once."""
    stopped: list[bool] = []

    def ask_to_stop(signum: int, frame: object) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(True)
        if not quiet:
            # Not print: the signal may arrive during another print, and that would be an error.
            os.write(2, f"\nstopping after the {step} in hand; Ctrl-C again stops at once\n".encode())

    earlier = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
