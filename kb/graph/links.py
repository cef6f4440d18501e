"""A block's text → its links and code spans, and the text with each of them replaced by one character, for the rules."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from kb.frozen import dataclass
from kb.graph.names import path_key

# Every repetition is bounded, so that a line of half a million brackets takes linear time.
_MARKED = re.compile(
    r"(?P<ticks>`{1,2})(?P<code>[^`\n]{1,200})(?P=ticks)(?!`)"
    r"|(?P<embed>!)?\[\[(?P<wiki>[^\[\]|\n]{1,200})(?:\|(?P<wiki_label>[^\[\]\n]{1,200}))?\]\]"
    r"|(?P<image>!)?\[(?P<label>[^\[\]\n]{1,300}(?:\n[^\[\]\n]{1,200})?)\](?:\((?P<target><[^<>\n]{1,300}>|[^()\s]{1,500}(?:\([^()\s]{0,100}\))?)(?:[ \t]+[\"'(][^\n]{0,200}?[\"')])?\)|\[(?P<reference>[^\[\]\n]{0,200})\])"
)
_DEFINITION = re.compile(r"^ {0,3}\[(?P<label>[^\[\]\n^]{1,200})\]:[ \t]+<?(?P<target>[^\s<>]{1,500})", re.MULTILINE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
# One private character per mark, so that offsets into the sentence stay easy and no rule can mistake it for a word.
MARK_BASE = 0xE000
MOST_MARKS = 0x1900


@dataclass(frozen=True, slots=True)
class Mark:
    """A code span or a link.

    kind    code, wiki or link
    label   the code, or the link's text
    target  as written, None for code
    start   offset in the block's text
    length  of its source text, in characters
    """

    kind: str
    label: str
    target: str | None
    start: int
    length: int = 0


def find_marks(text: str, definitions: dict[str, str]) -> tuple[str, list[Mark]]:
    """The text with every mark as one private character, and the marks: the n-th is chr(MARK_BASE + n).

    definitions  of `definitions_of`, for links by reference
    """
    marks: list[Mark] = []

    def replace(match: re.Match[str]) -> str:
        mark = _mark(match, definitions)
        if mark is None or len(marks) >= MOST_MARKS:
            return match.group("label") or match.group()
        marks.append(mark)
        return chr(MARK_BASE + len(marks) - 1)

    if "`" not in text and "[" not in text:
        return text, marks
    clean = re.sub(r"[\ue000-\uf8ff]", " ", text) if re.search(r"[\ue000-\uf8ff]", text) else text
    return _MARKED.sub(replace, clean), marks


def _mark(match: re.Match[str], definitions: dict[str, str]) -> Mark | None:
    length = match.end() - match.start()
    if match["code"] is not None:
        return Mark("code", match["code"].strip(), None, match.start(), length)
    if match["wiki"] is not None:
        label = match["wiki_label"] or match["wiki"].partition("#")[0].rpartition("/")[2]
        return Mark("wiki", label.strip(), match["wiki"].strip(), match.start(), length)
    if match["image"]:
        return None
    target = match["target"]
    if target is None:
        target = definitions.get((match["reference"] or match["label"]).casefold())
    label = " ".join(re.sub(r"[`*]", "", match["label"]).split())
    return Mark("link", label, target.strip("<>"), match.start(), length) if target else None


def definitions_of(text: str) -> dict[str, str]:
    """Label → target of the link definitions of a Markdown text; the first of a label holds."""
    found: dict[str, str] = {}
    if "]:" in text:
        for match in _DEFINITION.finditer(text):
            found.setdefault(match["label"].casefold(), match["target"])
    return found


def definition_places(text: str) -> list[tuple[int, str, str]]:
    """(offset, label, target) of the link definitions of a Markdown text."""
    return [(m.start(), m["label"], m["target"]) for m in _DEFINITION.finditer(text)] if "]:" in text else []


def resolve_path(target: str, path: str) -> str | None:
    """A link's target as a path in the source of the document at `path`; None where it leads out of it.

    >>> resolve_path("../guide/a%20b.md#top", "notes/x.md")
    'guide/a b.md'
    """
    place = re.split(r"[?#]", target, maxsplit=1)[0]
    if not place or _SCHEME.match(place):
        return None
    place = unquote(place)
    joined = place.lstrip("/") if place.startswith("/") else posixpath.join(posixpath.dirname(path), place)
    normal = posixpath.normpath(joined)
    return None if normal.startswith("..") or "\x00" in normal or path_key(normal) == path_key(path) else normal
