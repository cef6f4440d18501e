"""A fused list → the same passages in the order of a reader, which reads the best stretch of each beside the query.

Reading costs some 15 ms a passage, so only the first ones are read; the others keep their order below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kb.language.tables import find_tables, spell_out
from kb.reader.protocol import probability
from kb.reader.windows import best_window
from kb.records import Chunk, Ranking, SearchRequest
from kb.runtime import Runtime
from kb.search.records import Fused
from kb.text import analyze_query

# Passages that are read at least, and characters that are read of each.
READ_PASSAGES = 10
WINDOW_CHARS = 400
# Of the score that orders, the part that comes from the search.
SEARCH_SHARE = 0.75
# Logits of readers lie mostly within this of 0. Between ±10 the sigmoid tells nothing apart, so the order goes by the logit.
LOGIT_REACH = 11.0


def read_passages(kb: Runtime, query: str, chunks: Sequence[Chunk]) -> dict[int, float | None] | None:
    """chunk_id → the reader's logit of its best stretch; None of a passage, and for all, in a language it cannot read."""
    reader = kb.reader_for(query)
    if reader is None:
        return None
    terms = frozenset(analyze_query(query))
    readable = [chunk for chunk in chunks if reader.can_read(chunk.text)]
    found = kb.read(query, [stretch_of(chunk, terms) for chunk in readable])
    if found is None:
        return None
    logits = {chunk.chunk_id: logit for chunk, logit in zip(readable, found, strict=True)}
    return {chunk.chunk_id: logits.get(chunk.chunk_id) for chunk in chunks}


def stretch_of(chunk: Chunk, terms: frozenset[str]) -> str:
    """The stretch that is read of a passage, rows of tables spelled out, behind its last heading, which may hold its subject."""
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
    tables = find_tables(chunk.text, heading)
    text = spell_out(chunk.text, tables)
    if any(table.is_file for table in tables):
        heading = chunk.title
    window = best_window(terms, text, WINDOW_CHARS)
    return f"{heading}: {window}" if heading else window


def reorder_by_reading(ranking: Ranking, logits: Mapping[int, float | None]) -> list[tuple[int, float]]:
    """The ranking by the mean of its own scores and the reader's; what was not looked at follows, in its order.

    ranking  (chunk_id, score in [0, 1]), best first
    logits   chunk_id → the reader's, of the first ones; None of one that it cannot read, whose own score stands
    returns  (chunk_id, score in [0, 1]); what was not looked at keeps its part of the score alone

    >>> reorder_by_reading([(7, 0.6), (8, 0.5), (9, 0.4)], {7: -9.0, 8: 9.0})[0][0]
    8
    """

    def read(chunk_id: int, score: float) -> float:
        logit = logits.get(chunk_id)
        return _bounded(logit) if logit is not None else score if chunk_id in logits else 0.0

    mixed = [(i, SEARCH_SHARE * score + (1 - SEARCH_SHARE) * read(i, score)) for i, score in ranking]
    places = {chunk_id: place for place, (chunk_id, _) in enumerate(ranking)}
    return sorted(mixed, key=lambda row: (row[0] not in logits, -row[1], places[row[0]]))


def _bounded(logit: float) -> float:
    return min(1.0, max(0.0, 0.5 + logit / (2 * LOGIT_REACH)))


def rerank(kb: Runtime, request: SearchRequest, fused: Fused) -> Fused:
    """The list in the reader's order; as it was, with a note, where no reader can read the query.

    All that will be shown is read, and READ_PASSAGES at least.
    """
    first = [chunk_id for chunk_id, _ in fused.ranking[: max(request.k, READ_PASSAGES)]]
    chunks = kb.corpus.fetch_chunks(first)
    logits = read_passages(kb, request.query, [chunks[i] for i in first])
    if logits is None:
        if readers := kb.readers():
            kb.notify(f"note: {readers[-1].model_id} does not know this language: the order is that of the search")
        return fused
    scores = [(i, fused.relevance.get(i, 0.0)) for i, _ in fused.ranking]
    return replace(
        fused,
        ranking=reorder_by_reading(scores, logits),
        kind="reader",
        read={i: round(probability(s), 4) for i, s in logits.items() if s is not None},
    )
