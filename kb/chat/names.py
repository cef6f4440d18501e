"""Names of sessions: short enough to type, in the order of their days."""

from __future__ import annotations

import re
from datetime import date

from kb.errors import InvalidInput
from kb.store.journal import Journal

# A name goes into a row and into a command line, nowhere else; still no control characters, and not a page of text.
MOST_NAME_CHARS = 100


def new_session_name(journal: Journal, today: date | None = None) -> str:
    """The day and a number, the first that no session has: "2026-11-21-1"."""
    day = (today or date.today()).isoformat()
    names = journal.session_names(f"{day}-")
    numbers = [int(m.group(1)) for name in names if (m := re.fullmatch(rf"{day}-(\d{{1,9}})", name))]
    return f"{day}-{max(numbers, default=0) + 1}"


def check_session_name(name: str) -> str:
    """The name without white space around it.

    raises  InvalidInput for an empty one, one that is too long, or one with control characters
    """
    tidied = name.strip()
    if not tidied or len(tidied) > MOST_NAME_CHARS or not tidied.isprintable():
        raise InvalidInput(
            "the session's name is empty, too long or holds control characters",
            fix=f"use up to {MOST_NAME_CHARS} printable characters, for example: --session trip-planning",
        )
    return tidied
