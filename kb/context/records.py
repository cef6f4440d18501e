"""What a context is: a request for one, and the block with what it is made of."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from kb.frozen import dataclass
from kb.packing.known_text import KnownText
from kb.records import Citation, Filters, SearchMode

# Below 50 nothing whole fits.
LEAST_TOKENS, MOST_TOKENS = 50, 100_000
MOST_PASSAGES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is wanted for.

    k              passages at most; also how many of the first pass decide whether to expand
    max_tokens     of the whole block, in estimated tokens
    project        whose relations are walked first and searched by when expanding; no passage is left out for it
    session_id     what the answers of this session have cited is known text too
    include_graph  False walks no relations: no paths and no admissibility token
    known_text     what the prompt holds already, None where that is not known
    use_novelty    False composes as if there were no known text
    debug          fill the response's `debug`
    is_evaluation  not the user's own request: it is not counted
    """

    query: str
    mode: SearchMode = "hybrid"
    k: int = 5
    filters: Filters = field(default_factory=Filters)
    max_tokens: int = 500
    project: str | None = None
    session_id: str | None = None
    include_graph: bool = True
    known_text: KnownText | None = None
    use_novelty: bool = True
    debug: bool = False
    is_evaluation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPassage:
    """A passage in the block.

    score         what it was ordered by: relevance, less what the known text holds of it
    text          as it stands in the document; whole sentences of it where `is_shortened`; kb mcp leaves it to the block
    citation      of that text, exact lines
    tokens        of its entry in the block, place included
    """

    chunk_id: int
    doc_id: int
    source: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str = ""
    citation: Citation
    score: float
    tokens: int
    is_shortened: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPath:
    """A path through the graph in the block, as one line of text."""

    text: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionUse:
    """Tokens that one section may take, and those it takes."""

    share: int
    used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """How the tokens of the block are spent; `total.used` is the block's length and never above `total.share`.

    tokenizer  whose tokens they are
    """

    tokenizer: str
    total: SectionUse
    chunks: SectionUse
    graph: SectionUse
    overhead: SectionUse


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugCandidate:
    """One candidate as novelty pressure saw it.

    source        chunk or path
    candidate_id  a chunk_id, or the place of a path in its slice, from 0
    found_by      the first pass, or a query of the expansion
    """

    source: Literal["chunk", "path"]
    candidate_id: str
    found_by: str
    self_ref_penalty_applied: bool
    overlap_ratio: float
    original_score: float
    adjusted_score: float
    reason: str
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextDebug:
    """What novelty pressure did, with --debug.

    expansion_queries  what the expansion searched for; empty where there was none
    adjacent_terms     terms beside the query in the graph that the known text does not dwell on, strongest first
    window_spans       stretches of the known text, 0 without one
    milliseconds       of the whole, and of its stages
    """

    self_ref_penalty_applied: bool
    expansion_triggered: bool
    expansion_queries: tuple[str, ...]
    adjacent_terms: tuple[str, ...]
    window_spans: int
    candidates: tuple[DebugCandidate, ...]
    milliseconds: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResponse:
    """kb context

    text                 the block, ready to be pasted; empty where there is nothing
    admissibility_token  as the graph issued it; None without the graph
    omitted              passages left out because the known text holds all of their text
    hint                 one line under an empty block: why
    notes                what a caller should know: words alone, shortened passages, a step that failed
    """

    schema_version: Literal["context.v1"] = "context.v1"
    query: str
    mode: SearchMode
    text: str
    passages: tuple[ContextPassage, ...]
    paths: tuple[ContextPath, ...]
    budget: ContextBudget
    admissibility_token: str | None
    index_revision: int
    omitted: int = 0
    hint: str | None = None
    notes: tuple[str, ...] = ()
    debug: ContextDebug | None = None
