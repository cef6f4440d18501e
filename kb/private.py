"""The data folder is its owner's alone: folders 0700, files 0600, whatever the umask.

It holds what was read from private files, and every question asked. SQLite gives its -wal and -shm the rights of the database.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from kb.errors import IoError

# Everything that kb writes into a data folder begins with one of these; other files there are the user's business.
OUR_NAMES = (
    "kb.sqlite",
    "index",
    "counters.sqlite",
    "commands.log",
    "last_shown.json",
    "recent_searches.json",
    "serving.json",
    "config.toml",
    "write.lock",
    "tags",
    "eval",
    "unfinished.json",
    "corpus_writer",
)
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_home(home: Path) -> int:
    """Make the data folder, or take others' rights to it away; a folder that also holds other things keeps its own rights.

    returns  how many files and folders others could use before; 0 for a new folder
    raises   IoError where it cannot be made
    """
    try:
        if not home.exists():
            home.mkdir(parents=True, mode=0o700)
        names = os.listdir(home)
    except OSError as error:
        raise IoError(f"cannot make {home}: {error.strerror}", fix="choose another folder with --home") from error
    changed = sum(take_from_others(home / name) for name in names if name.startswith(OUR_NAMES))
    is_ours = all(name.startswith(OUR_NAMES) for name in names)
    return changed + (_restrict(home) if is_ours and names else 0)


def take_from_others(path: Path) -> int:
    """Leave a file, or a folder with all that is in it, to its owner alone; returns how many others could use before."""
    return sum(_restrict(place) for place in _tree(path))


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """An opener for `open`: a file that it creates is its owner's alone."""
    return os.open(path, flags, 0o600)


def replace_private_json(path: Path, value: object) -> bool:
    """Write a short file in one step, for its owner alone; False where nothing can be written: it is not worth an error."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(unfinished, "w", encoding="utf-8", errors="surrogateescape", opener=open_private) as file:
            json.dump(value, file)
        unfinished.replace(path)
    except OSError:
        return False
    return True


def _tree(path: Path) -> Iterator[Path]:
    yield path
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            yield Path(folder, name)


def _restrict(path: Path) -> int:
    """1 where rights were taken away. Another user's file stays as it is; so does what a link leads to."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or not mode & _FOR_OTHERS:
            return 0
        path.chmod(stat.S_IMODE(mode) & ~_FOR_OTHERS)
    except OSError:
        return 0
    return 1
