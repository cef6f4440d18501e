"""What the addresses of the page take in their query."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from kb.doors.arguments import MOST_CHARS, Arguments, Filtered, Offset

Ids = Annotated[list[Annotated[int, Meta(ge=1, le=2**53)]], Meta(max_length=100)]
Part = Annotated[bool, Meta(description="The part that the script puts into a page, alone.")]


class SearchPage(Filtered, frozen=True, kw_only=True):
    q: Annotated[str, Meta(max_length=10_000)] = ""
    part: Part = False


class DocumentsPage(Filtered, frozen=True, kw_only=True):
    offset: Annotated[int, Meta(ge=0, le=2**53)] = 0


class DocumentPage(Arguments, frozen=True, kw_only=True):
    """lines: 12-34; page: of a format with pages; passage: ids of hits; start: position of the first passage."""

    lines: Annotated[str, Meta(max_length=40)] | None = None
    page: Annotated[int, Meta(ge=1, le=10**9)] | None = None
    passage: Ids = []
    start: Offset | None = None
    part: Part = False


class PicturePage(Arguments, frozen=True, kw_only=True):
    passage: Ids = []


class PlacePage(Arguments, frozen=True, kw_only=True):
    uri: Annotated[str, Meta(min_length=1, max_length=4000)]
    source: Annotated[str, Meta(max_length=1000)] | None = None
    passage: Ids = []
    part: Part = False


class AskPage(Arguments, frozen=True, kw_only=True):
    question: Annotated[str, Meta(max_length=MOST_CHARS)] = ""
    session: Annotated[str, Meta(max_length=1000)] = ""


class AnswerPage(Arguments, frozen=True, kw_only=True):
    part: Part = False


class TagsPage(Arguments, frozen=True, kw_only=True):
    words: Annotated[str, Meta(max_length=1000)] = ""


class PlainPage(Arguments, frozen=True, kw_only=True):
    pass
