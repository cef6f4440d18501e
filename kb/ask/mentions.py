"""A word that no packed passage holds → where the documents mention it all the same."""

from __future__ import annotations

from kb.evidence.question import units_of
from kb.records import Citation, SearchResponse
from kb.runtime import Runtime
from kb.text import analyze

# So many passages of the list by words are looked through: a rare word brings the passages that hold it to its top.
LOOKED_AT = 100


def find_mention(kb: Runtime, question: str, response: SearchResponse | None, word: str) -> Citation | None:
    """The place of the first passage by words that holds a word of the question, None without one.

    response  of the search for the question, with its trace
    """
    unit = next((unit for unit in units_of(question) if unit.text == word), None)
    if unit is None or response is None or response.trace is None:
        return None
    found = [row.chunk_id for row in response.trace.lexical[:LOOKED_AT]]
    chunks = kb.corpus.fetch_chunks(found)
    texts = ((chunks[chunk_id], frozenset(analyze(chunks[chunk_id].text))) for chunk_id in found if chunk_id in chunks)
    return next((chunk.citation for chunk, terms in texts if unit.share_in(terms) == 1.0), None)
