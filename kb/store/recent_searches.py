"""What a person searched for lately, with the places found first: a short file beside the store that may be deleted.

`kb eval init` drafts questions from it. Only searches on a terminal are kept, none of scripts, servers or agents. A file
and not a table: reading commands open the store read-only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from kb.frozen import dataclass
from kb.private import replace_private_json

FILE_NAME = "recent_searches.json"
# The place that may answer it, and two to compare it with.
KEPT_PLACES = 3


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """One place: `uri` as `Citation.uri`, unique together with the source."""

    source: str
    uri: str


@dataclass(frozen=True, slots=True)
class RecentSearch:
    """One query as it was typed, and the places found, best first; none where nothing was found."""

    query: str
    places: tuple[FoundPlace, ...] = ()


def note_search(home: Path, query: str, places: Sequence[FoundPlace], keep: int) -> bool:
    """Keep a search as the newest, instead of the same one before; False where nothing can be written.

    keep  how many are kept at most; 0 keeps none, and leaves a file that is there as it is
    """
    if keep < 1 or not home.is_dir():
        return False
    new = RecentSearch(query, tuple(places[:KEPT_PLACES]))
    kept = [new, *(search for search in read_searches(home) if search.query != query)][:keep]
    return replace_private_json(home / FILE_NAME, [asdict(search) for search in kept])


def read_searches(home: Path) -> list[RecentSearch]:
    """The searches that were kept, newest first; empty where there are none, or the file is damaged."""
    try:
        rows = json.loads((home / FILE_NAME).read_text(encoding="utf-8"))
        return [
            RecentSearch(
                str(row["query"]),
                tuple(FoundPlace(str(place["source"]), str(place["uri"])) for place in row["places"]),
            )
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []
