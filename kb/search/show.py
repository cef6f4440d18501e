"""A ranking → one with copies folded into the better hit and documents spread; an ordered list → nothing but a "maybe"."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import TypeVar

from kb.errors import KbError
from kb.language.morphemes import MARK
from kb.records import Chunk, SearchRequest
from kb.runtime import Runtime
from kb.search.records import Fused, Ordered, Varied
from kb.search.variety import fold_copies
from kb.text import analyze

T = TypeVar("T")

# What the store, the disk, the indexes and numpy fail with. An error of any other kind is a bug, and is not covered up.
FAULTS = (KbError, OSError, sqlite3.Error, ValueError, LookupError, ArithmeticError, MemoryError)
# Hits that are read for the query's words where none is probable.
READ_FOR_WORDS = 3
# Copies are looked for among so many passages, and so many for each that is shown; further down only where there is one.
LEAST_COMPARED, COMPARED_PER_SHOWN = 30, 3


def vary(kb: Runtime, request: SearchRequest, fused: Fused, *, is_reordered: bool) -> Varied:
    """The ranking with copies of better hits folded into them: what stands below is as it was.

    A fusion by ranks is exact: nothing is folded or moved. As deep as the retrievers search, so that the first ten are the
    same whether ten or a hundred are shown; further down copies may stand where there is none among the first.

    is_reordered  every place counts, not only those that are shown
    """
    if request.as_found or fused.kind == "rrf":
        return Varied(fused.ranking)
    depth = max(kb.config.search.depth, request.k)
    looked_at, rest = fused.ranking[:depth], fused.ranking[depth:]
    texts: dict[int, str] = {}
    for compared in (depth,) if is_reordered else (max(LEAST_COMPARED, COMPARED_PER_SHOWN * request.k), depth):
        found = kb.corpus.fetch_texts([chunk_id for chunk_id, _ in looked_at[:compared] if chunk_id not in texts])
        texts |= {chunk_id: text for chunk_id, (_, text) in found.items()}
        kept, copies = fold_copies(looked_at, texts)
        if not copies:
            break
    return Varied([*kept, *rest], copies)


def or_warn(work: Callable[[], T], what: str, warn: Callable[[str], None], log: Callable[[str], None]) -> T | None:
    """Do a part that a search can do without; None and a warning where it fails with one of FAULTS, whose traceback goes
    to the log.
    """
    try:
        return work()
    except FAULTS as error:
        import traceback  # here: a plain search imports it nowhere else

        warn(f"warning: {what} failed ({type(error).__name__}: {error}): the plain result is shown")
        log(traceback.format_exc())
        return None


def is_improbable(ordered: Ordered, chunks: Mapping[int, Chunk]) -> bool:
    """Whether no hit is likely to be relevant; one that has all of the query's words always may be.

    chunks  of the hits
    """
    likely = ordered.calibrated
    # Morphemes are of the index alone: a chunk that is read has the pairs of syllables they stand for.
    terms = {term for term in ordered.fused.candidates.terms if not term.startswith(MARK)}
    best = sorted(chunks, key=lambda i: (-likely.probability[i], i))[:READ_FOR_WORDS]
    if not best or likely.probability[best[0]] >= likely.floor:
        return False
    return not (terms and any(terms <= terms_of(chunks[i]) for i in best))


def terms_of(chunk: Chunk) -> set[str]:
    """The index terms of a chunk, with those of its title and headings."""
    return set(analyze(" \n ".join([chunk.title, *chunk.heading_path, chunk.text])))
