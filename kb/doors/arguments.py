"""The arguments that callers of a door send: one record for each call, its JSON Schema, and the check of what was sent.

They are msgspec structs, not dataclasses: a name that does not exist is refused, which tells a program or a model that it
guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from kb.errors import InvalidInput
from kb.records import Filters

MOST_LIMIT = 50
MOST_OFFSET = 10_000
# Of one text that a caller hands in: 4 MB, as much as a known text may have.
MOST_CHARS = 4_000_000
Text = Annotated[str, Meta(min_length=1, max_length=MOST_CHARS)]
Limit = Annotated[int, Meta(ge=1, le=MOST_LIMIT)]
Offset = Annotated[int, Meta(ge=0, le=MOST_OFFSET)]
Names = Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(max_length=100)]
Seen = Annotated[
    list[Annotated[str, Meta(max_length=MOST_CHARS)]],
    Meta(
        max_length=500,
        description="Texts that the conversation holds already (earlier results, files): what repeats them is left out.",
    ),
]
Session = Annotated[
    str | None,
    Meta(description="Name of the conversation: follow-ups are understood, what it was shown counts as seen."),
]

Given = TypeVar("Given", bound="Arguments")


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every tool may be given: nothing."""


class Filtered(Arguments, frozen=True, kw_only=True):
    """Which documents count: OR within one field, AND between fields."""

    tags: Annotated[Names, Meta(description="Only documents with one of these tags.")] = []
    sources: Annotated[Names, Meta(description="Only these sources.")] = []
    paths: Annotated[Names, Meta(description="Only paths like these globs, such as docs/**/*.md.")] = []
    types: Annotated[Names, Meta(description="Only these formats, such as markdown, pdf, code.")] = []
    languages: Annotated[Names, Meta(description="Only these languages, such as en, ko.")] = []
    since: Annotated[str | None, Meta(description="Only files changed on or after this ISO date.")] = None
    until: Annotated[str | None, Meta(description="Only files changed up to this ISO date.")] = None

    def filters(self) -> Filters:
        """The same as the library takes it."""
        return Filters(
            tags=tuple(self.tags),
            sources=tuple(self.sources),
            paths=tuple(self.paths),
            types=tuple(self.types),
            languages=tuple(self.languages),
            since=self.since,
            until=self.until,
        )


def read_arguments(shape: type[Given], given: Mapping[str, Any] | None) -> Given:
    """The checked arguments of a call; a number in quotes counts as a number, as some models write it.

    raises  InvalidInput, which names the argument and what the call takes
    """
    try:
        return msgspec.convert(dict(given or {}), shape, strict=False)
    except (msgspec.ValidationError, UnicodeError, RecursionError) as error:
        takes = ", ".join(field.name for field in msgspec.structs.fields(shape))
        raise InvalidInput(str(error) or "the arguments cannot be read", fix=f"it takes: {takes}") from error


def schema_of(shape: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of the arguments: one object, nothing referred to."""
    (reference,), components = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    schema: dict[str, Any] = components[reference["$ref"].rpartition("/")[2]]
    schema.pop("title", None)
    schema.pop("description", None)
    return schema
