"""What is going on while there is nothing to read yet: a turning sign, a few words, seconds; gone at the first word.

On stderr, on a terminal only. A message that comes meanwhile clears the line first.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Self

from kb.cli.notes import in_language
from kb.cli.terminal import harmless_line, has_colour, hold_line, tell
from kb.cli.wrap import columns_of, terminal_columns

SIGNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SECONDS_BETWEEN = 0.1
# What takes less time is not worth a line that flashes up.
SECONDS_BEFORE = 0.4
CLEAR = "\r\x1b[K"


class Spinner:
    """A context manager; `stop` ends it earlier, and for good.

    is_shown  False where stderr is no terminal, or nothing is to be said
    language  of the question that is waited for: what is said and told is in it
    """

    def __init__(self, label: str, *, is_shown: bool = True, language: str = "en") -> None:
        self._language = language
        self._label = in_language(label, language)
        self._is_shown = is_shown and sys.stderr.isatty() and has_cursor()
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._is_drawn = False
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="kb-spinner", daemon=True)

    def __enter__(self) -> Self:
        if self._is_shown:
            hold_line(self.clear)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def say(self, label: str) -> None:
        """What is going on now; the seconds go on."""
        with self._lock:
            self._label = in_language(label, self._language)

    def notify(self, message: str) -> None:
        """A message for the user: what only says that something takes its time becomes the label."""
        if self._is_shown and not self._is_over.is_set() and message.endswith("…"):
            self.say(in_language(message, self._language).removesuffix("…").rstrip())
        else:
            tell(in_language(message, self._language))

    def stop(self) -> None:
        """Clear the line, and never draw it again."""
        if not self._is_shown or self._is_over.is_set():
            return
        self._is_over.set()
        self._thread.join()
        self.clear()
        hold_line(None)

    def clear(self) -> None:
        """Make room for a message; the line is drawn again below it."""
        with self._lock:
            if self._is_drawn:
                sys.stderr.write(CLEAR)
                sys.stderr.flush()
                self._is_drawn = False

    def _run(self) -> None:
        at = 0
        if self._is_over.wait(SECONDS_BEFORE):
            return
        while not self._is_over.is_set():
            with self._lock:
                seconds = time.monotonic() - self._began
                words = f"{SIGNS[at % len(SIGNS)]} {harmless_line(self._label)} … {seconds:.0f} s"
                room = max(terminal_columns(sys.stderr) - 1, 1)
                while columns_of(words) > room:
                    words = words[:-1]
                shown = f"\x1b[2m{words}\x1b[0m" if has_colour(sys.stderr) else words
                sys.stderr.write(CLEAR + shown)
                sys.stderr.flush()
                self._is_drawn = True
            at += 1
            self._is_over.wait(SECONDS_BETWEEN)


def has_cursor() -> bool:
    """Whether the terminal can clear a line."""
    return os.environ.get("TERM") not in ("dumb", "unknown")
