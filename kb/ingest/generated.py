"""The name and bytes of a file → why it is no text that somebody wrote or reads, None for any other. Pure.

Minified code, encoded bytes, lock files and dumps would make thousands of chunks that no question means. Each rule needs
a file of some size and a clear majority of its bytes: a page with a picture inside, a table of numbers with its labels,
or a line of JSON is a document.
"""

from __future__ import annotations

import re

LEFT_OUT = "made by a machine"
# A smaller file makes a few chunks: nothing is lost by reading it.
_LEAST_BYTES = 10_000
# Lines of code longer than this were not typed; of a minified file they are nearly all there is.
_LONG_LINE_BYTES, _LONG_LINES_SHARE = 500, 0.8
# People's code is a quarter white space, tables of strings a tenth; minified code has a few hundredths.
_MINIFIED_BLANKS = 0.08
# Letters and digits without a blank, as base64 and hexadecimal digits are broken into lines: 60, 64 or 76.
_ENCODED = re.compile(rb"[A-Za-z0-9+/]{60,}")
_ENCODED_SHARE = 0.8
# A table of measurements keeps its labels; from here on there are none to search for.
_LEAST_NUMBERS_BYTES, _NUMBERS_LETTERS = 100_000, 0.03
_LOCKS = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock poetry.lock uv.lock pdm.lock pipfile.lock "
    "cargo.lock gemfile.lock composer.lock go.sum flake.lock mix.lock pubspec.lock podfile.lock packages.lock.json".split()
)
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|cjs|css)$|\.(?:js|mjs|cjs|css)\.map$|\.bundle\.(?:js|css)$")
_DUMP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:-- MySQL dump|-- MariaDB dump|--\s+-- PostgreSQL database dump|PRAGMA foreign_keys=OFF;\s+BEGIN TRANSACTION;)"
)
_LETTERS = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)) + bytes(range(0x80, 0x100))
_BLANKS = b" \t\r\n"


def generated_by_name(name: str) -> str | None:
    """Why a file of this name is left out, None for any other.

    >>> generated_by_name("yarn.lock"), generated_by_name("site.min.js"), generated_by_name("lock.md")
    ('made by a machine: a lock file, by its name', 'made by a machine: minified code, by its name', None)
    """
    lower = name.lower()
    if lower in _LOCKS:
        return f"{LEFT_OUT}: a lock file, by its name"
    return f"{LEFT_OUT}: minified code, by its name" if _MINIFIED_NAME.search(lower) else None


def generated_by_content(type_name: str, raw: bytes) -> str | None:
    """Why a file with these bytes is left out, None for any other.

    type_name  the reader's name; only source code and plain text are judged: in a page of Markdown or HTML, pictures
               may be most of the bytes
    """
    if type_name not in ("code", "text") or len(raw) < _LEAST_BYTES:
        return None
    if _DUMP.match(raw):
        return f"{LEFT_OUT}: the dump of a database"
    if sum(len(run) for run in _ENCODED.findall(raw)) > _ENCODED_SHARE * len(raw):
        return f"{LEFT_OUT}: encoded bytes, as in base64"
    if type_name == "code" and _is_minified(raw):
        return f"{LEFT_OUT}: minified code"
    return f"{LEFT_OUT}: numbers alone" if _is_numbers(raw) else None


def _is_minified(raw: bytes) -> bool:
    long = sum(len(line) for line in raw.split(b"\n") if len(line) > _LONG_LINE_BYTES)
    return long > _LONG_LINES_SHARE * len(raw) and _count(raw, _BLANKS) < _MINIFIED_BLANKS * len(raw)


def _is_numbers(raw: bytes) -> bool:
    filled = len(raw) - _count(raw, _BLANKS)
    return len(raw) >= _LEAST_NUMBERS_BYTES and b"\0" not in raw and _count(raw, _LETTERS) < _NUMBERS_LETTERS * filled


def _count(raw: bytes, kinds: bytes) -> int:
    return len(raw) - len(raw.translate(None, kinds))
