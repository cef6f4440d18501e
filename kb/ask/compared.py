"""A question about the difference of two things → what a search for each of them finds: few passages name both."""

from __future__ import annotations

from kb.ask.passages import Passage
from kb.ask.stages import Question, Ranked
from kb.language.compared import compared_things
from kb.records import Chunk, SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.text import analyze, analyze_query

# So many passages of each.
MOST_OF_EACH = 2
# They stand behind so many passages that were found for the whole question.
BEHIND = 2


def find_each(kb: Runtime, question: Question) -> Ranked:
    """(chunk, score) of each of the two things, those of the first before those of the second; empty for every other question."""
    request = question.request
    things = compared_things(request.query)
    if things is None:
        return ()
    each: dict[int, tuple[Chunk, float]] = {}
    for thing in things:
        terms = frozenset(analyze_query(thing))
        found = search(kb, SearchRequest(thing, request.mode, MOST_OF_EACH, request.filters, as_found=True))
        chunks = kb.corpus.fetch_chunks([hit.chunk_id for hit in found.hits])
        for hit in found.hits:
            chunk = chunks[hit.chunk_id]
            # What only resembles it says nothing of a thing that no document names.
            if terms <= frozenset(analyze(" ".join((chunk.title, *chunk.heading_path, chunk.text)))):
                each[hit.chunk_id] = (chunk, hit.score)
    return list(each.values())


def with_each(passages: list[Passage], each: Ranked) -> list[Passage]:
    """The passages, and behind the best of them what was found of each thing that is not among them."""
    packed = {chunk_id for passage in passages for chunk_id in passage.members}
    own = [Passage(chunk, score, (chunk.chunk_id,)) for chunk, score in each if chunk.chunk_id not in packed]
    return [*passages[:BEHIND], *own, *passages[BEHIND:]]
