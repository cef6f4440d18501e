"""Where each key and element of a JSON or TOML text stands, for messages that point at a fault.

Neither of the standard parsers tells. This one reads only texts that one of those has accepted, and only for places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_STRINGS = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")' + r"|'''.*?'{3,5}(?!')" + r'|"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'", re.DOTALL
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a text, both from 1; the column counts characters."""

    line: int
    column: int


@dataclass(slots=True)
class Places:
    """The places of one text.

    found     keys and 0-based elements → where they begin
    repeated  keys that their object has already
    """

    found: dict[Path, Place] = field(default_factory=dict)
    repeated: list[tuple[Path, Place]] = field(default_factory=list)

    def nearest(self, path: Path) -> Place | None:
        """The place of a path, else of what stands around it; None for the whole text."""
        while path and path not in self.found:
            path = path[:-1]
        return self.found.get(path)


def locate(text: str, *, is_json: bool) -> Places:
    """The place of every key and element in a text that json or tomllib has accepted."""
    scanner = _Scanner(text, is_json)
    if is_json:
        scanner.value(())
    else:
        scanner.statements()
    return scanner.places


class _Scanner:
    def __init__(self, text: str, is_json: bool) -> None:
        self.text = text
        self.at = 0
        self.places = Places()
        self.is_json = is_json
        self._line, self._line_start, self._counted = 1, 0, 0
        # array of tables → how many of its tables have begun
        self._tables: dict[Path, int] = {}

    def _place(self) -> Place:
        # Places are asked for in the order of the text, so that every newline is counted once.
        self._line += self.text.count("\n", self._counted, self.at)
        self._line_start = max(self._line_start, self.text.rfind("\n", self._counted, self.at) + 1)
        self._counted = self.at
        return Place(self._line, self.at - self._line_start + 1)

    def _note(self, path: Path, place: Place) -> None:
        if path in self.places.found:
            self.places.repeated.append((path, place))
        else:
            self.places.found[path] = place

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match.group() if match else ""

    def value(self, path: Path) -> None:
        self._skip()
        first = self.text[self.at : self.at + 1]
        if first == "{":
            self._members(path, "}")
        elif first == "[":
            self._members(path, "]")
        elif first in ('"', "'"):
            self._take(_JSON_STRING if self.is_json else _STRINGS)
        else:
            self._take(_SCALAR)

    def _members(self, path: Path, closing: str) -> None:
        self.at += 1
        count = 0
        while self.at < len(self.text):
            self._skip()
            if self.text[self.at] == closing:
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
                continue
            inner: Path = (*path, count)
            if closing == "}":
                inner = self._key(path)
            else:
                self._note(inner, self._place())
            count += 1
            self.value(inner)

    def _key(self, path: Path) -> Path:
        """A key up to behind its `:` or `=`, in TOML perhaps a dotted one; its last part is the place."""
        while True:
            self._skip()
            place = self._place()
            path = (*path, self._key_part())
            self._skip()
            separator = self.text[self.at]
            self.at += 1
            if separator != ".":
                self._note(path, place)
                return path
            self.places.found.setdefault(path, place)

    def _key_part(self) -> str:
        if self.text[self.at] not in "\"'":
            return self._take(_BARE_KEY)
        raw = self._take(_JSON_STRING if self.is_json else _STRINGS)
        return _unquoted(raw)

    def statements(self) -> None:
        """All of a TOML text."""
        table: Path = ()
        self._skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self.value(self._key(table))
            self._skip()

    def _header(self) -> Path:
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        path: Path = ()
        while True:
            self._skip()
            place = self._place()
            path = (*path, self._key_part())
            self._skip()
            ends = self.text[self.at] == "]"
            self.at += 1
            if ends:
                break
            self.places.found.setdefault(path, place)
            path = self._inside(path)
        self.places.found.setdefault(path, place)
        if is_array:
            self.at += 1
            self._tables[path] = self._tables.get(path, 0) + 1
            path = self._inside(path)
            self.places.found[path] = place
        return path

    def _inside(self, path: Path) -> Path:
        """The path of a table: for an array of tables that of the one begun last."""
        return (*path, self._tables[path] - 1) if path in self._tables else path


def _unquoted(raw: str) -> str:
    if raw.startswith("'"):
        return raw[1:-1]
    if "\\" not in raw:
        return raw[1:-1]
    import tomllib

    # TOML and JSON share these escapes but for JSON's \/ and its surrogate pairs.
    try:
        return str(tomllib.loads(f"key = {raw}")["key"])
    except tomllib.TOMLDecodeError:
        import json

        return str(json.loads(raw))
