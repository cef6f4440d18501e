"""The arguments of the tools, from which a client gets their JSON Schema."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kb.doors.arguments import Arguments, Filtered, Limit, Names, Offset, Seen, Session, Text

LEAST_TOKENS, MOST_TOKENS = 200, 20_000

Tokens = Annotated[int, Meta(ge=LEAST_TOKENS, le=MOST_TOKENS, description="Budget of the result, in estimated tokens.")]


class SearchArguments(Filtered, frozen=True, kw_only=True):
    query: Annotated[Text, Meta(description="Words, an identifier or a question.")]
    limit: Annotated[Limit, Meta(description="Hits at most.")] = 5
    offset: Annotated[Offset, Meta(description="Hits to pass over: the next page.")] = 0
    mode: Annotated[
        Literal["lexical", "vector", "hybrid"] | None, Meta(description="By words, by meaning, or both (the default).")
    ] = None
    min_score: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="Leave out hits less probable than this.")
    ] = None
    seen: Seen = []
    max_tokens: Tokens = 1500


class AskArguments(Filtered, frozen=True, kw_only=True):
    question: Annotated[Text, Meta(description="A question in a sentence, in any language.")]
    session: Session = None
    seen: Seen = []
    mode: Literal["lexical", "vector", "hybrid"] | None = None
    max_tokens: Tokens = 1500


class ContextArguments(Filtered, frozen=True, kw_only=True):
    query: Annotated[Text, Meta(description="What the block is needed for: words or a question.")]
    seen: Seen = []
    session: Session = None
    max_tokens: Annotated[
        int, Meta(ge=50, le=MOST_TOKENS, description="Budget of the whole block, in estimated tokens.")
    ] = 500
    limit: Annotated[Limit, Meta(description="Passages at most.")] = 5
    project: Annotated[str | None, Meta(description="The project whose relations come first.")] = None


class ReadArguments(Arguments, frozen=True, kw_only=True):
    document: Annotated[
        str | None,
        Meta(description="A path, the unique end of one, doc:12, or a citation: path#L12-L34, path#page=3."),
    ] = None
    chunk_id: Annotated[
        Annotated[int, Meta(ge=0, le=2**53)] | None, Meta(description="Instead of document: the passage of a hit.")
    ] = None
    lines: Annotated[str | None, Meta(description="Only these lines of the file: 12-34.")] = None
    section: Annotated[str | None, Meta(description="Only what stands under this heading.")] = None
    around: Annotated[int, Meta(ge=0, le=50, description="Neighbouring passages before and after it.")] = 0
    start: Annotated[Offset, Meta(description="The next_start of the piece before.")] = 0
    max_tokens: Tokens = 2000


class ListArguments(Filtered, frozen=True, kw_only=True):
    limit: Annotated[Limit, Meta(description="Documents at most.")] = 20
    offset: Annotated[int, Meta(ge=0, le=2**53, description="The next_offset of the page before.")] = 0
    max_tokens: Tokens = 2000


class RememberArguments(Arguments, frozen=True, kw_only=True):
    text: Annotated[str, Meta(min_length=1, max_length=10_000, description="One fact, in a sentence.")]
    session: Annotated[str | None, Meta(description="It holds in this conversation only.")] = None


class FactsArguments(Arguments, frozen=True, kw_only=True):
    limit: Annotated[Limit, Meta(description="Facts at most, the newest.")] = 20
    max_tokens: Tokens = 1000


class TagsArguments(Arguments, frozen=True, kw_only=True):
    words: Annotated[Names, Meta(description="Only tags or aliases with all of these in them.")] = []
    limit: Annotated[Limit, Meta(description="Tags at most, the most frequent first.")] = 20
    max_tokens: Tokens = 1500


class VerifyArguments(Arguments, frozen=True, kw_only=True):
    claim: Annotated[str, Meta(min_length=1, max_length=20_000, description="One sentence, or a whole answer.")]
    evidence: Annotated[Seen, Meta(description="Texts that must back it.")] = []
    places: Annotated[Names, Meta(description="Or places in the documents that must: path#L12-L34, path, doc:12.")] = []
