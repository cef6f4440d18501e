"""Places as people type them: citations, ranges of lines, URLs → records. Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote

from kb.errors import InvalidInput, NotFound
from kb.records import Citation, Document

# A `#` that does not begin a line or page belongs to the path, as people write it; in the uris of kb it is encoded.
_URI = re.compile(
    r"(?P<path>.+?)(?:#(?:L(?P<start>\d{1,9})(?:-L?(?P<end>\d{1,9}))?|page=(?P<page>\d{1,9})))?", re.DOTALL
)


# `s3://bucket/folder` → ("s3:/", "/bucket/folder"), so that the second part is a path as of a disk.
_URL = re.compile(r"([a-z][a-z0-9+.-]*:/(?:/(?=/))?)(/[^\0]*)", re.DOTALL)


def split_url(place: str) -> tuple[str, str]:
    """(scheme, path) of a place; the scheme of a path of this machine is empty, and both together are the place.

    >>> split_url("s3://bucket/notes"), split_url("file:///mnt/notes"), split_url("/home/me/notes")
    (('s3:/', '/bucket/notes'), ('file://', '/mnt/notes'), ('', '/home/me/notes'))
    """
    found = _URL.fullmatch(place)
    return (found[1], found[2]) if found else ("", place)


def is_url(place: str) -> bool:
    """Whether a place is not on this machine's disk, as far as its name says."""
    return bool(split_url(place)[0])


def parse_citation(text: str) -> Citation:
    """The citation that a uri stands for; `path:12`, as editors print it, is understood too.

    raises  InvalidInput
    """
    if colon := re.fullmatch(r"(.+):(\d{1,9})", text, re.DOTALL):
        text = f"{colon[1].replace('%', '%25').replace('#', '%23')}#L{colon[2]}"
    match = _URI.fullmatch(text)
    if not match or not match["path"].strip() or re.fullmatch(r"#(L\d+.*|page=\d+)", text):
        raise InvalidInput(f"'{text}' is not a citation", fix="write it as path#L12-L34, path#page=3 or path:12")
    start, end, page = (int(match[name]) if match[name] else None for name in ("start", "end", "page"))
    return Citation(path=unquote(match["path"]), uri=text, start_line=start, end_line=end or start, page=page)


def parse_line_range(text: str) -> tuple[int, int]:
    """`12-34` or `12` as 1-based, inclusive lines.

    raises  InvalidInput
    """
    match = re.fullmatch(r"L?(\d{1,9})(?:-L?(\d{1,9}))?", text.strip())
    if not match or int(match[1]) < 1 or int(match[2] or match[1]) < int(match[1]):
        raise InvalidInput(f"'{text}' is not a range of lines", fix="write it as 12-34")
    return int(match[1]), int(match[2] or match[1])


def select_lines(document: Document, text: str, first_line: int | None, wanted: tuple[int, int]) -> str:
    """Lines A to B of a document's text.

    raises  InvalidInput for a format without lines, NotFound past the end
    """
    if first_line is None:
        raise InvalidInput(f"{document.path} ({document.type}) has no lines", fix="leave out --lines")
    lines = text.split("\n")
    if wanted[0] > len(lines):
        raise NotFound(f"{document.path} has {len(lines)} lines", fix="ask for lines inside it")
    return "\n".join(lines[wanted[0] - 1 : wanted[1]])
