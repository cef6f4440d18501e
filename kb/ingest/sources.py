"""The paths a user names → sources: the root that relative paths start from, and the name of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from kb.errors import InvalidInput, NotFound
from kb.frozen import dataclass

STDIN_SOURCE = "stdin"


@dataclass(frozen=True, slots=True)
class Target:
    """One path to ingest, placed in its source.

    root    the folder that the source's relative paths start from
    start   the folder or file to scan: the root itself, or something below it
    """

    source: str
    root: Path
    start: Path

    def covers(self, path: str) -> bool:
        """True when a stored relative path lies below `start`, so that a scan can find it gone."""
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
        known = {**known, target.source: str(target.root)}
        targets.append(target)
    return targets


def place_path(path: Path, known: Mapping[str, str | None], wanted: str | None) -> Target:
    """Decide the source of a file or folder.

    path    absolute, exists
    known   source → its root, as stored
    wanted  --source, None when not given
    raises  InvalidInput when the wanted name is taken by another folder

    A path inside a known source belongs to it: ingesting `notes/` and later `notes/a.md` gives one document. A path
    outside every source makes a new one, named after its folder.
    """
    holders = [
        (name, Path(root))
        for name, root in known.items()
        if root and (path == Path(root) or Path(root) in path.parents) and wanted in (None, name)
    ]
    if holders:
        name, root = max(holders, key=lambda holder: len(holder[1].parts))
        return Target(name, root, path)
    root = path if path.is_dir() else path.parent
    if wanted is not None:
        check_source_name(wanted)
        if wanted in known:
            taken = known[wanted] or "standard input"
            raise InvalidInput(
                f"source '{wanted}' already names {taken}", fix=f"choose another --source, or kb rm --source {wanted}"
            )
        return Target(wanted, root, path)
    base = _safe_name(root.name)
    name, number = base, 2
    while name in known:
        name, number = f"{base}-{number}", number + 1
    return Target(name, root, path)


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
