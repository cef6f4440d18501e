"""The filter options, the same on every command that retrieves."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kb.records import Filters

TagOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="only documents with this tag", show_default=False)
]
SourceOption = Annotated[
    list[str] | None, typer.Option("--source", metavar="NAME", help="only this source", show_default=False)
]
PathOption = Annotated[
    list[str] | None,
    typer.Option("--path", metavar="GLOB", help="only paths like this, e.g. 'docs/**/*.md'", show_default=False),
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="only this format, e.g. markdown, pdf", show_default=False),
]
LangOption = Annotated[
    list[str] | None, typer.Option("--lang", metavar="LANG", help="only this language, e.g. en, ko", show_default=False)
]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="DATE", help="only files changed on or after it", show_default=False)
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="DATE", help="only files changed up to it", show_default=False)
]


FILTER_OPTIONS: dict[str, Any] = {
    "tag": TagOption,
    "source": SourceOption,
    "path": PathOption,
    "type": TypeOption,
    "lang": LangOption,
    "since": SinceOption,
    "until": UntilOption,
}


def make_filters(
    tag: list[str] | None,
    source: list[str] | None,
    path: list[str] | None,
    type: list[str] | None,
    lang: list[str] | None,
    since: str | None,
    until: str | None,
) -> Filters:
    """The options as a record: OR within one option, AND between them."""
    return Filters(
        tags=_as_text(tag),
        sources=_as_text(source),
        paths=_as_text(path),
        types=_as_text(type),
        languages=_as_text(lang),
        since=since,
        until=until,
    )


def _as_text(values: list[str] | None) -> tuple[str, ...]:
    """Replace lone surrogates: bytes of an argument that are not UTF-8, which SQLite refuses and no stored name holds."""
    return tuple(value.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for value in values or ())
