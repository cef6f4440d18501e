"""What passes between the stages of a context: Found → Compared → Widened → ContextDraft. Each is made whole, and stays."""

from __future__ import annotations

from kb.context.expand import Expansion
from kb.context.records import ContextRequest
from kb.frozen import dataclass
from kb.graph.records import Slice
from kb.packing.known_text import KnownText
from kb.records import Ranking, SearchResponse
from kb.search.novelty import Counts, Penalized


@dataclass(frozen=True, slots=True)
class Found:
    """The first pass.

    relations   what the traversal found, None without the graph
    known_text  what was named, with what the session has shown; None where there is neither
    notes       for the user, as in every stage
    """

    request: ContextRequest
    response: SearchResponse
    relations: Slice | None
    known_text: KnownText | None
    notes: tuple[str, ...] = ()

    def chunks(self) -> Ranking:
        """The passages found, as (chunk_id, score), best first."""
        return [(hit.chunk_id, hit.order_score) for hit in self.response.hits]

    def paths(self) -> Ranking:
        """The paths found, as (place in the slice, score), best first."""
        return list(enumerate(path.base_score for path in self.relations.paths)) if self.relations else []


@dataclass(frozen=True, slots=True)
class Compared:
    """The first pass compared with the known text; None of what there was not, or what could not be compared."""

    chunks: Penalized | None = None
    paths: Penalized | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Widened:
    """The search widened, where the first pass repeats the known text.

    is_wanted  it does
    adjacent   terms beside the query in the graph that the known text does not dwell on, strongest first
    expansion  None where it was not wanted, or failed
    """

    is_wanted: bool = False
    adjacent: tuple[str, ...] = ()
    expansion: Expansion | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextDraft:
    """What may stand in the block, before it is laid out.

    ranked, paths  (chunk_id, score) and (place in the slice, score), best first
    counts         what novelty did; None without a known text, or where comparing failed
    """

    found: Found
    compared: Compared
    widened: Widened
    ranked: Ranking
    paths: Ranking
    counts: Counts | None
    notes: tuple[str, ...]
