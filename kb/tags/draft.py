"""The rows of a vocabulary's file before they are merged, and what is wrong with them: all faults at once, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kb.errors import ParseFailed

# A fault in every line of a long file is one mistake made often: the first twenty show it.
MOST_FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong; `place` is printed after the file's name: a line, or a path inside JSON."""

    place: str
    what: str


@dataclass(frozen=True, slots=True)
class TagRow:
    """One tag as its file has it; see `kb.tags.vocabulary.Tag`."""

    place: str
    tag: str
    category: str | None = None
    count: int | None = None
    aliases: tuple[str, ...] = ()
    rating: float | None = None

    def describe_place(self) -> str:
        """Where the row is, for a message."""
        return f"line {self.place}" if self.place.isdecimal() else self.place


@dataclass(slots=True)
class Draft:
    """A file's rows as they are read.

    pointers  (place, alias, tag it points to), from formats that write aliases apart from tags
    items     tag lists as the file has them
    """

    rows: list[TagRow] = field(default_factory=list)
    pointers: list[tuple[str, str, str]] = field(default_factory=list)
    items: list[list[str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def fault(self, place: str, what: str) -> None:
        """Note something that is wrong, and go on reading."""
        self.faults.append(Fault(place, what))


def describe_faults(path: str, faults: Sequence[Fault], *, fix: str) -> ParseFailed:
    """The error that names all faults of a file, one a line as `file:place: what`."""
    ordered = sorted(faults, key=lambda fault: int(fault.place) if fault.place.isdecimal() else 0)
    lines = [f"{path}:{fault.place}: {fault.what}" for fault in ordered[:MOST_FAULTS_SHOWN]]
    if len(faults) > MOST_FAULTS_SHOWN:
        lines.append(f"… and {len(faults) - MOST_FAULTS_SHOWN} more")
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return ParseFailed(f"{path} has {count}:\n" + "\n".join(lines), fix=fix, path=path, faults=len(faults))


def unreadable(path: str, line: int, what: str, *, fix: str) -> ParseFailed:
    """The error for a file of which nothing can be read."""
    return describe_faults(path, [Fault(str(line), what)], fix=fix)


def first_few(names: Iterable[str], most: int = 3) -> str:
    """Some of the names, for a message.

    >>> first_few(["a", "b", "c", "d"])
    'a, b, c …'
    """
    listed = list(names)
    return ", ".join(listed[:most]) + (" …" if len(listed) > most else "")
