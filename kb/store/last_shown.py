"""The numbered places that a person was shown last, for `kb open 2`: a short file beside the store that may be deleted.

A file and not a table: reading commands open the store read-only. It holds places and no query.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kb.private import open_private

FILE_NAME = "last_shown.json"


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """One place with the number that stood before it.

    source  None where it is not known, and the path has to say which document it is
    uri     as `Citation.uri`; it is unique together with the source
    """

    number: int
    source: str | None
    uri: str


def note_shown(home: Path, places: Sequence[ShownPlace]) -> bool:
    """Keep the places that are shown now instead of the ones before; False where nothing can be written."""
    if not home.is_dir():
        return False
    unfinished = home / f"{FILE_NAME}.{os.getpid()}.part"
    try:
        with open(unfinished, "w", encoding="utf-8", errors="surrogateescape", opener=open_private) as file:
            json.dump([asdict(place) for place in places], file)
        unfinished.replace(home / FILE_NAME)
    except OSError:  # a read-only data folder: the list is not worth an error
        return False
    return True


def read_shown(home: Path) -> list[ShownPlace]:
    """The places of the last search or answer; empty where none was kept, or the file is damaged."""
    try:
        rows = json.loads((home / FILE_NAME).read_text(encoding="utf-8"))
        return [ShownPlace(int(row["number"]), row["source"] and str(row["source"]), str(row["uri"])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return []
