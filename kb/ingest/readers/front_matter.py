"""The YAML or TOML between the first two fences of a Markdown file → title, tags, language and fields of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from kb.drafts import MatterField
from kb.frozen import dataclass

# "---" fences YAML, which may also end with "..."; "+++" fences TOML (Hugo, Zola).
_FENCED = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)(?:(?<=\n)|^)(?:\1|(?<!\+)\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LONGEST_CHARS = 100_000  # a fence that is closed later than this is not front matter
# A value that begins a list, a quotation or a block of lines is one that was not finished.
_LINE = re.compile(
    r"(?P<key>[A-Za-z][\w-]*):(?:[ \t]+(?:(?P<plain>[^\s\[\"'|>].*)|\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|\[(?P<list>[^\[\]]*)\]))?"
)
# Lists of links in front matter are short; a longer one is data, and the graph needs only its beginning.
_MOST_VALUES, _LONGEST_VALUE_CHARS, _DEEPEST = 200, 300, 4


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a document.

    end     offset of the first character after it; 0 where there is none
    note    why something that looked like front matter was read as text
    fields  all of it, in order
    """

    end: int = 0
    title: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    note: str | None = None
    fields: tuple[MatterField, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """The front matter at the start of a text; one that cannot be parsed is text, with a note."""
    match = _FENCED.match(text[:_LONGEST_CHARS])
    if not match:
        return FrontMatter()
    fence, body = match.group(1), match.group(2)
    try:
        values = _load(fence, body)
    except (ValueError, RecursionError) as error:
        said = " ".join(str(error).split())[:120]
        return FrontMatter(note=f"the front matter cannot be parsed and was read as text: {said}")
    if values is None and body.strip():
        return FrontMatter()  # two thematic breaks with prose between them
    values = {str(key).lower(): value for key, value in (values or {}).items()}
    title, language = values.get("title"), values.get("lang") or values.get("language")
    return FrontMatter(
        match.end(),
        " ".join(str(title).split()) or None if isinstance(title, str | int | float) else None,
        tags_of(values.get("tags") or values.get("keywords")),
        primary_language(language) if isinstance(language, str) else None,
        fields=tuple(_fields(values, text[: match.end()])),
    )


def _fields(values: Mapping[str, Any], matter: str) -> Iterator[MatterField]:
    lines = matter.split("\n")
    for key, value in values.items():
        if texts := tuple(dict.fromkeys(_texts(value, depth=0)))[:_MOST_VALUES]:
            written = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[:=]", re.IGNORECASE)
            line = next((number for number, text in enumerate(lines, start=1) if written.match(text)), None)
            yield MatterField(re.sub(r"[\s-]+", "_", key.strip()), texts, line)


def _texts(value: object, depth: int) -> Iterator[str]:
    """The texts in a value; `[[X]]` without quotes is a link to its author, but a list in a list in YAML."""
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        for part in value:
            yield from _texts(part, depth + 1)
    elif (
        isinstance(value, str | int | float | date)
        and not isinstance(value, bool)
        and (text := " ".join(str(value).split()))
    ):
        yield text[:_LONGEST_VALUE_CHARS]


def tags_of(value: object) -> tuple[str, ...]:
    """Tags from a list, or from a text with commas or semicolons; anything else in it is left out."""
    if isinstance(value, str):
        value = re.split(r"[,;]", value)
    if not isinstance(value, list | tuple):
        return ()
    tags = (" ".join(str(tag).split()).lstrip("#") for tag in value if isinstance(tag, str | int | float))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def primary_language(declared: str | None) -> str | None:
    """The BCP 47 primary tag of a declared language ("en-GB", "pt_BR"); None for an invalid tag."""
    match = re.match(r"\s*([A-Za-z]{2,3})(?:[-_][A-Za-z0-9-_]+)?\s*$", declared or "")
    return match.group(1).lower() if match else None


def _load(fence: str, body: str) -> Mapping[str, Any] | None:
    """The mapping in a body, None where it holds something else; ValueError where it is malformed."""
    if fence == "+++":
        import tomllib

        return tomllib.loads(body)
    import yaml

    try:
        values = yaml.safe_load(body)
    except yaml.YAMLError as error:
        if plain := _by_lines(body):
            return plain
        raise ValueError(str(error)) from error
    return values if isinstance(values, dict) else None


def _by_lines(body: str) -> dict[str, str | list[str]]:
    """What is no YAML for a sign in a value alone, `title: Part 1: the start`, or `title: {@html ...}`; empty where a line is no `key: value`, or
    none is a title: prose has colons, too.

    >>> _by_lines("title: Part 1: the start\\nsummary: 'It begins'\\ndate:\\ntags: [a, b]")
    {'title': 'Part 1: the start', 'summary': 'It begins', 'date': '', 'tags': ['a', 'b']}
    >>> _by_lines("title: [broken"), _by_lines("Warning: this: that")
    ({}, {})
    """
    found = [_LINE.fullmatch(line.strip()) for line in body.split("\n") if line.strip()]
    values = {row["key"]: _value_of(row) for row in found if row}
    return values if all(found) and "title" in values else {}


def _value_of(row: re.Match[str]) -> str | list[str]:
    if row["list"] is not None:
        return [part.strip(" \t\"'") for part in row["list"].split(",")]
    return row["plain"] or row["double"] or row["single"] or ""
