"""The records that pass between the parts: what a document, a chunk, a citation and a hit are.

Records that leave the program as JSON carry their `schema_version`; records of one job are in its own folder, as
`kb/ask/records.py` and `kb/ingest/report.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

from kb.frozen import dataclass

SearchMode = Literal["lexical", "vector", "hybrid"]
OrderKind = Literal["convex", "rrf", "bm25", "cosine", "csw", "reader"]
CopyKind = Literal["same", "near"]
# (chunk_id, score), best first, equal scores in chunk_id order: what a retriever returns and a fusion takes
Ranking = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A place a reader can open: a file, and the lines, page or section in it.

    path        relative to the root of its source
    uri         path#L12-L34, path#L7 or path#page=13; `%` and `#` in the path percent-encoded
    start_line  1-based, inclusive, in the original file; None where the format has no lines
    """

    schema_version: Literal["citation.v1"] = "citation.v1"
    path: str
    uri: str
    start_line: int | None = None
    end_line: int | None = None
    page: int | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One stored stretch of a document: the unit that is embedded, ranked and cited.

    position    0-based order within the document; neighbours differ by 1
    start, end  character offsets into the parsed document, end exclusive
    text_hash   sha256 of the text, hex
    indexed_at  when its document was last written, ISO 8601 UTC
    """

    schema_version: Literal["chunk.v1"] = "chunk.v1"
    chunk_id: int
    doc_id: int
    source: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    citation: Citation
    token_count: int
    position: int
    start: int
    end: int
    text_hash: str
    tags: tuple[str, ...]
    indexed_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file, or one text from standard input, as the store knows it.

    path          relative to the root of its source
    type          the format's name: markdown, pdf, code …
    language      BCP 47 primary tag, "und" where it could not be told
    content_hash  sha256 of the file's bytes, hex
    tags          from its own front matter; applied_tags were given by kb tags apply, best first
    modified_at   the file's modification time, ISO 8601 UTC
    """

    schema_version: Literal["document.v1"] = "document.v1"
    doc_id: int
    source: str
    path: str
    title: str
    type: str
    language: str
    tags: tuple[str, ...]
    size_bytes: int
    content_hash: str
    chunk_ids: tuple[int, ...]
    modified_at: str
    indexed_at: str
    applied_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents may be found: OR within one field, AND between fields; an empty field passes all.

    paths         globs over the path relative to the source's root; `**` crosses folders
    since, until  ISO dates (or date-times); `until` with a plain date includes that day
    """

    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None

    def is_empty(self) -> bool:
        """True when every document passes."""
        return self == Filters()

    def by_option(self) -> dict[str, tuple[str, ...]]:
        """The values of each command-line option, without its dashes.

        >>> Filters(types=("pdf",)).by_option()["type"]
        ('pdf',)
        """
        return {
            "tag": self.tags,
            "source": self.sources,
            "path": self.paths,
            "type": self.types,
            "lang": self.languages,
            "since": () if self.since is None else (self.since,),
            "until": () if self.until is None else (self.until,),
        }

    def as_options(self) -> str:
        """As the user wrote them.

        >>> Filters(types=("pdf",), since="2026-01-01").as_options()
        '--type pdf --since 2026-01-01'
        """
        return " ".join(f"--{option} {value}" for option, values in self.by_option().items() for value in values)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One query as the user put it.

    k          how many hits to return at most
    min_score  hits whose probability is below this are left out; with it, or with filters, the floor does not apply
    as_found   the ranking as it is: no copy folded, no document's passages later, no floor
    explain    fill the response's trace, and compute the context stability of each hit
    trace      fill the trace alone
    rerank     have the reader order the best ones
    doc_ids    search these documents alone, of those that pass the filters; empty for all of them
    """

    query: str
    mode: SearchMode = "hybrid"
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    min_score: float | None = None
    explain: bool = False
    trace: bool = False
    as_found: bool = False
    rerank: bool = False
    doc_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HitNovelty:
    """How much of a passage is in the text the reader already has, and how that changes its score.

    overlap         in [0, 1]; 1.0 only where the whole passage is in it
    penalty         share of the score that is subtracted, in [0, 1]
    adjusted_score  the score that orders the passage instead
    reason          one word: exact, near_duplicate, overlap, novel …
    is_estimate     computed from fingerprints alone, without that text
    """

    overlap: float
    penalty: float
    adjusted_score: float
    reason: str
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NoveltyTrace:
    """How a search's candidates compare with the text the reader already has.

    candidates  how many were compared
    penalized   candidates that are not novel
    omitted     chunk_ids left out, because all of their text is there already
    spans       stretches of that text
    """

    candidates: int
    penalized: int
    novel: int
    omitted: tuple[int, ...]
    spans: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """How a hit was found: each list's rank and raw score, None where that list did not hold it.

    fusion_score   the score of the ranking, in [0, 1] for hybrid; equal to the raw score in the other modes
    lexical_score  BM25, unbounded above; ranks are 1-based
    vector_score   cosine to the query in [-1, 1]; in a convex fusion also of hits that words alone found
    csw            context stability weighted score in [0, .90], None where it was not asked for
    novelty        None where no text was named that the reader already has
    relevance      in [0, 1] in every mode and fusion: the convex score; of words alone BM25 over the best possible, of
                   vectors alone (cosine - background) / (1 - background)
    reader         the reader's score in [0, 1]; None where it did not read the passage
    """

    method: SearchMode
    fusion_score: float
    lexical_score: float | None = None
    lexical_rank: int | None = None
    vector_score: float | None = None
    vector_rank: int | None = None
    csw: float | None = None
    novelty: HitNovelty | None = None
    relevance: float | None = None
    reader: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkAxes:
    """The axes of context stability of a passage for a query; an axis is None where it could not be computed.

    csw            the weighted sum, in [0, .90]
    vector         1 / (1 + distance to the query), in [1/3, 1]
    stability      likeness to the passages beside it, in [0, 1]
    fit            names, facts, intent and shape asked for, in [0, 1]
    drift          penalty for a stability below the threshold, 0 or less
    coherence      likeness to the rest of its project, in [0, 1]
    before, after  cosine to the passage before and after it in its document
    """

    chunk_id: int
    csw: float
    vector: float | None
    stability: float | None
    fit: float
    drift: float | None
    coherence: float | None
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlsoIn:
    """Another place with the text of a hit: the same, or nearly, with the same numbers in it."""

    kind: CopyKind
    chunk_id: int
    doc_id: int
    source: str
    path: str
    citation: Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One ranked passage.

    score        the probability that it is relevant, in [0, 1], the same in every mode
    order_score  what orders the hits; order_kind says how it was computed: an rrf score does not measure relevance, a
                 convex one grows with the share of the query's words and with the cosine
    highlights   [start, end) offsets into `snippet` of the words that matched
    also_in      copies of it that were found too, best first: they are no hits of their own
    file         its file on this machine, absolute; None for text that has none
    """

    schema_version: Literal["search_hit.v1"] = "search_hit.v1"
    rank: int
    score: float
    score_kind: Literal["probability"] = "probability"
    order_score: float
    order_kind: OrderKind
    chunk_id: int
    doc_id: int
    source: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    citation: Citation
    tags: tuple[str, ...]
    retrieval: Retrieval
    indexed_at: str
    also_in: tuple[AlsoIn, ...] = ()
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HitGroup:
    """The hits of one document; ranks are those of its hits, best first."""

    doc_id: int
    source: str
    path: str
    title: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedChunk:
    """One row of a list, for the trace; relevance as in `Retrieval`, of the rows of `SearchTrace.ranking` alone."""

    chunk_id: int
    rank: int
    score: float
    relevance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionTrace:
    """The numbers behind a convex fusion.

    best_lexical  the highest BM25 any text could reach for this query: the lexical part is a share of it
    background    mean cosine of the query to all chunks: the zero of the vector part
    vector_share  how much of the score is the vector part
    ceiling       the highest possible sum of both parts, title and headings included: the sum is divided by it
    feedback      chunk_ids of the passages that were mixed into the query, the one that weighs most first
    """

    best_lexical: float
    background: float
    vector_share: float
    ceiling: float
    feedback: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityTrace:
    """Context stability of the hits, and what the query asks for.

    entities, facts  what the query is about and asks for, as it writes them
    domain           code, tech or general, which decides the threshold
    threshold        stability below it counts as drift
    absent           axes that could not be computed: the others share their weight
    chunks           the hits' axes, in their order
    """

    intent: str
    shape: str
    entities: tuple[str, ...]
    facts: tuple[str, ...]
    domain: str
    threshold: float
    absent: tuple[str, ...]
    chunks: tuple[ChunkAxes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTrace:
    """What happened inside one search: the lists as they came, and milliseconds per stage.

    tags, expanded_tags  the list by tags and the tags it was made from; empty without search.expand_tags
    ranking              the candidates by relevance, with the scores of `Retrieval.fusion_score`
    novelty              None where no text was named that the reader already has
    """

    lexical: tuple[RankedChunk, ...]
    vector: tuple[RankedChunk, ...]
    query_terms: tuple[str, ...]
    filtered_documents: int | None
    stage_ms: dict[str, float]
    fusion: FusionTrace | None = None
    tags: tuple[RankedChunk, ...] = ()
    expanded_tags: tuple[str, ...] = ()
    ranking: tuple[RankedChunk, ...] = ()
    stability: StabilityTrace | None = None
    novelty: NoveltyTrace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResponse:
    """The answer to one query: hits best first.

    documents       the same hits by document, the document of the first hit first
    maybe           where nothing is likely to be relevant there is no hit, and these are the nearest passages
    index_revision  the corpus revision the indexes were built from
    hint            one line under an empty result: what was tried
    note            one line on how hits were found, where that differs from the mode
    """

    schema_version: Literal["search_response.v1"] = "search_response.v1"
    query: str
    mode: SearchMode
    hits: tuple[Hit, ...]
    took_ms: float
    index_revision: int
    documents: tuple[HitGroup, ...] = ()
    maybe: tuple[Hit, ...] = ()
    hint: str | None = None
    note: str | None = None
    trace: SearchTrace | None = None


@dataclass(frozen=True, slots=True)
class ModelRef:
    """Which model wrote an answer; digest None where the model has none."""

    id: str
    provider: str
    digest: str | None = None
