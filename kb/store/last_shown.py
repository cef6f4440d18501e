"""The numbered places that a person was shown last, for `kb open 2`: a short file beside the store that may be deleted.

A file and not a table: reading commands open the store read-only. It holds places and no query.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from kb.frozen import dataclass
from kb.private import replace_private_json

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
    return replace_private_json(home / FILE_NAME, [asdict(place) for place in places])


def read_shown(home: Path) -> list[ShownPlace]:
    """The places of the last search or answer; empty where none was kept, or the file is damaged."""
    try:
        rows = json.loads((home / FILE_NAME).read_text(encoding="utf-8"))
        return [ShownPlace(int(row["number"]), row["source"] and str(row["source"]), str(row["uri"])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return []
