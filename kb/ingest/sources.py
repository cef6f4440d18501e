"""The paths and URLs a user names → sources: the root that relative paths start from, and the name of the source."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from kb.errors import InvalidInput, NotFound
from kb.frozen import dataclass
from kb.places import split_url

STDIN_SOURCE = "stdin"


@dataclass(frozen=True, slots=True)
class Target:
    """One path to ingest, placed in its source.

    root       the folder that the source's relative paths start from
    start      the folder or file to scan: the root itself, or something below it
    scheme     of an URL, as `kb.places.split_url` has it; "" on this machine
    is_listed  the files were named one by one
    """

    source: str
    root: Path
    start: Path
    scheme: str = ""
    is_listed: bool = False

    @property
    def place(self) -> str:
        """The root as it is stored."""
        return f"{self.scheme}{self.root}"

    def covers(self, path: str) -> bool:
        """True when a stored relative path lies below `start`, so that a scan can find it gone."""
        if self.is_listed:
            return False
        prefix = self.start.relative_to(self.root).as_posix()
        return prefix == "." or path == prefix or path.startswith(f"{prefix}/")


def place_paths(paths: Sequence[Path], known: Mapping[str, str | None], wanted: str | None) -> list[Target]:
    """Decide the source of every path of a call, as `place_path` does; a later path may lie inside an earlier one.

    raises  NotFound for a path that is not there, InvalidInput
    """
    targets: list[Target] = []
    for path in paths:
        absolute = path.expanduser().absolute()
        if not absolute.exists():
            raise NotFound(f"no such file or folder: {path}", fix="check the path", path=str(path))
        target = place_path(absolute.resolve(), known, wanted)
        if not _is_utf8(str(target.root)):
            raise InvalidInput(f"{target.root}: the folder's name is not valid UTF-8", fix="rename the folder")
        known = {**known, target.source: target.place}
        targets.append(target)
    return targets


def place_path(
    path: Path, known: Mapping[str, str | None], wanted: str | None, *, scheme: str = "", is_folder: bool | None = None
) -> Target:
    """Decide the source of a file or folder.

    path       absolute, exists
    known      source → its root, as stored
    wanted     --source, None when not given
    scheme     of an URL whose path this is
    is_folder  None looks on the disk
    raises     InvalidInput when the wanted name is taken by another folder

    A path inside a known source belongs to it: ingesting `notes/` and later `notes/a.md` gives one document. A path
    outside every source makes a new one, named after its folder.
    """
    if holder := _holder(path, known, wanted, scheme):
        return Target(*holder, path, scheme)
    root = path if (path.is_dir() if is_folder is None else is_folder) else path.parent
    return Target(_new_source(root, known, wanted), root, path, scheme)


def place_listed(
    files: Sequence[Path], known: Mapping[str, str | None], wanted: str | None, scheme: str = ""
) -> dict[Target, list[Path]]:
    """Decide the sources of files that were named one by one: known ones, or a new one in the folder above them all.

    files   absolute; they need not exist
    raises  as `place_path`
    """
    placed: dict[Target, list[Path]] = {}
    free: list[Path] = []
    for file in files:
        if holder := _holder(file, known, wanted, scheme):
            name, root = holder
            placed.setdefault(Target(name, root, root, scheme, is_listed=True), []).append(file)
        else:
            free.append(file)
    if free:
        root = Path(os.path.commonpath([file.parent for file in free]))
        placed[Target(_new_source(root, known, wanted), root, root, scheme, is_listed=True)] = free
    return placed


def _holder(path: Path, known: Mapping[str, str | None], wanted: str | None, scheme: str) -> tuple[str, Path] | None:
    """The known source that a path lies in, with its root: the innermost one."""
    holders = [
        (name, root)
        for name, place in known.items()
        if place and wanted in (None, name)
        for of, root in [(split_url(place)[0], Path(split_url(place)[1]))]
        if of == scheme and (path == root or root in path.parents)
    ]
    return max(holders, key=lambda holder: len(holder[1].parts), default=None)


def _new_source(root: Path, known: Mapping[str, str | None], wanted: str | None) -> str:
    """The name of a new source."""
    if wanted is not None:
        check_source_name(wanted)
        if wanted in known:
            taken = known[wanted] or "standard input"
            raise InvalidInput(
                f"source '{wanted}' already names {taken}", fix=f"choose another --source, or kb rm --source {wanted}"
            )
        return wanted
    base = _safe_name(root.name)
    name, number = base, 2
    while name in known:
        name, number = f"{base}-{number}", number + 1
    return name


def check_source_name(name: str) -> None:
    """raises  InvalidInput for a name that could break a prompt header, a filter or a path."""
    if not name or _safe_name(name) != name or name == STDIN_SOURCE:
        raise InvalidInput(
            f"'{name}' cannot name a source", fix="use letters, digits, '.', '_' and '-' (and not 'stdin')"
        )


def _safe_name(name: str) -> str:
    safe = "".join(c if c.isalnum() or c in "._-" else "-" for c in name).strip("-")
    return safe or "root"


def name_text(title: str) -> str:
    """The path of a text from standard input: its title as a file name, so that the same title finds it again.

    Different titles get different names: what a path cannot hold is replaced, and a digest of the title added.
    raises  InvalidInput for an empty title

    >>> name_text("Meeting notes, C#")
    'Meeting-notes,-C#.md'
    """
    words = "-".join(title.split())
    if not words:
        raise InvalidInput("text from standard input needs a title", fix="give one with --title")
    name = "".join(c if c.isprintable() and c != "/" else "-" for c in words)
    if name != words:
        name += f"-{sha256(words.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return f"{name}.md"


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
