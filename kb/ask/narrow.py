"""A cited passage and the stretches of it that back the answer → the exact lines, and the quote that stands there. Pure.

Formats without lines keep their page or section; the quote is exact for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.ask.records import AnswerCitation
from kb.records import Chunk, Citation
from kb.store.chunks import make_citation
from kb.support.overlap import Window


def narrow_citation(marker: int, chunk: Chunk, windows: Sequence[Window]) -> AnswerCitation:
    """The place that backs the sentences that cite a passage; the whole passage, without a quote, where nothing does."""
    backing = [window for window in windows if window.end > window.start]
    if not backing:
        return AnswerCitation(marker=marker, citation=chunk.citation)
    start, end = min(w.start for w in backing), max(w.end for w in backing)
    return AnswerCitation(marker=marker, citation=_place(chunk, start, end), quote=chunk.text[start:end])


def _place(chunk: Chunk, start: int, end: int) -> Citation:
    place = chunk.citation
    if place.start_line is None:
        return place
    first = place.start_line + chunk.text.count("\n", 0, start)
    return make_citation(place.path, first, first + chunk.text.count("\n", start, end), place.page, place.section)
