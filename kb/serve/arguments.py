"""What the calls of the HTTP API take: in the query of a GET, where lists are repeated, or in the JSON of a POST."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kb.doors.arguments import Arguments, Filtered, Limit, Offset, Seen, Session, Text

Mode = Annotated[Literal["lexical", "vector", "hybrid"] | None, Meta(description="None takes search.mode.")]
K = Annotated[
    Annotated[int, Meta(ge=1, le=1000)] | None, Meta(description="Passages at most; None takes the configured.")
]


class SearchCall(Filtered, frozen=True, kw_only=True):
    query: Text
    k: K = None
    mode: Mode = None
    min_score: Annotated[float, Meta(ge=0, le=1)] | None = None
    seen: Seen = []
    explain: bool = False
    rerank: bool = False


class AskCall(Filtered, frozen=True, kw_only=True):
    question: Text
    k: K = None
    mode: Mode = None
    session: Session = None
    seen: Seen = []
    explain: bool = False


class ContextCall(Filtered, frozen=True, kw_only=True):
    query: Text
    k: Annotated[Annotated[int, Meta(ge=1, le=100)] | None, Meta(description="Passages at most.")] = None
    mode: Mode = None
    max_tokens: Annotated[int, Meta(ge=50, le=100_000)] | None = None
    session: Session = None
    seen: Seen = []
    project: str | None = None


class ListCall(Filtered, frozen=True, kw_only=True):
    limit: Limit = 50
    offset: Annotated[int, Meta(ge=0, le=2**53)] = 0


class ReadCall(Arguments, frozen=True, kw_only=True):
    lines: Annotated[str | None, Meta(description="12-34")] = None
    section: str | None = None
    around: Annotated[int, Meta(ge=0, le=50)] = 0
    start: Offset = 0
    max_tokens: Annotated[int, Meta(ge=50, le=100_000)] = 10_000


class NothingCall(Arguments, frozen=True, kw_only=True):
    pass
