"""What an ingest that was stopped had been asked for, in a file beside the store: `kb ingest --resume` goes on with it.

`unfinished.json` is there while files are being read, and stays where that was interrupted. Vectors need no note: the store
knows which chunks have none. A file that cannot be read is no note.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kb.ingest.request import IngestRequest
from kb.places import is_url
from kb.private import open_private

FILE_NAME = "unfinished.json"


def note_request(home: Path, request: IngestRequest) -> None:
    """Remember a request, before anything of it is done."""
    wanted = _absolute(request)
    _write(home, [*(other for other in unfinished(home) if other != wanted), wanted])


def forget_request(home: Path, request: IngestRequest) -> None:
    """Every file that a request names was read: it is finished, and so is an earlier one for the same paths."""
    places = _places(_absolute(request))
    _write(home, [other for other in unfinished(home) if not places >= _places(other)])


def unfinished(home: Path) -> list[IngestRequest]:
    """The requests that were not finished, the oldest first."""
    try:
        noted = json.loads((home / FILE_NAME).read_text(encoding="utf-8"))
        return [_read(each) for each in noted]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def to_resume(requests: Sequence[IngestRequest]) -> IngestRequest:
    """The oldest request, with the paths of those that were asked for in the same way; without any, one without paths.

    A path that is gone is left out: its documents are kept.
    """
    if not requests:
        return IngestRequest(())
    first = requests[0]
    alike = [
        each for each in requests if replace(each, paths=first.paths, urls=first.urls, listed=first.listed) == first
    ]
    paths = dict.fromkeys(path for each in alike for path in each.paths if path.exists())
    urls, listed = (dict.fromkeys(url for each in alike for url in getattr(each, kind)) for kind in ("urls", "listed"))
    return replace(first, paths=tuple(paths), urls=tuple(urls), listed=tuple(listed), words_only=False)


def _absolute(request: IngestRequest) -> IngestRequest:
    listed = (place if is_url(place) else str(Path(place).expanduser().absolute()) for place in request.listed)
    paths = (path.expanduser().absolute() for path in request.paths)
    return replace(request, paths=tuple(paths), listed=tuple(listed))


def _places(request: IngestRequest) -> set[str]:
    """Everything that is to be read."""
    return {*map(str, request.paths), *request.urls, *request.listed}


def _read(noted: Mapping[str, Any]) -> IngestRequest:
    urls, listed = (tuple(noted.get(kind, ())) for kind in ("urls", "listed"))
    return IngestRequest(**{**noted, "paths": tuple(map(Path, noted["paths"])), "urls": urls, "listed": listed})


def _write(home: Path, requests: Sequence[IngestRequest]) -> None:
    if not requests:
        (home / FILE_NAME).unlink(missing_ok=True)
        return
    noted = [{**asdict(each), "paths": [str(path) for path in each.paths]} for each in requests]
    scratch = home / f"{FILE_NAME}.new"
    with open(scratch, "w", encoding="utf-8", opener=open_private) as file:
        json.dump(noted, file)
    scratch.replace(home / FILE_NAME)
