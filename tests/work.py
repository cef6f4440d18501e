"""How much work a call does, counted: the same on a busy machine as on an idle one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any


def count_calls(work: Callable[[], object]) -> Counter[str]:
    """How often each function, Python's and C's, is called while `work` runs, by its name."""
    calls: Counter[str] = Counter()

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            calls[frame.f_code.co_name] += 1
        elif event == "c_call":
            calls[argument.__name__] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls
