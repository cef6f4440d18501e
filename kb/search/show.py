"""A ranking → one with copies folded into the better hit and documents spread; an ordered list → nothing but a "maybe"."""

from __future__ import annotations

from collections.abc import Mapping

from kb.language.morphemes import MARK
from kb.records import Chunk, SearchRequest
from kb.runtime import Runtime
from kb.search.depth import candidate_depth
from kb.search.records import Fused, Ordered, Varied
from kb.search.variety import fold_copies, spread_documents
from kb.text import analyze

# Hits that are read for the query's words where none is probable.
READ_FOR_WORDS = 3


def vary(kb: Runtime, request: SearchRequest, fused: Fused) -> Varied:
    """The ranking with more kinds of hits among the first: what stands below them is as it was.

    A fusion by ranks is exact: nothing is folded or moved.
    """
    if request.as_found or fused.kind == "rrf":
        return Varied(fused.ranking)
    depth = candidate_depth(request.k)
    looked_at, rest = fused.ranking[:depth], fused.ranking[depth:]
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in looked_at])
    texts = {chunk_id: chunk.text for chunk_id, chunk in chunks.items()}
    kept, copies = fold_copies(looked_at, texts, kb.corpus.fetch_fingerprints(chunks))
    # BM25 and cosines of one retriever were not measured; their lists are looked at as they are.
    loss = kb.config.search.repeat_loss if fused.kind == "convex" else 0.0
    document_of = {chunk_id: chunk.doc_id for chunk_id, chunk in chunks.items()}
    return Varied([*spread_documents(kept, document_of, loss), *rest], copies, chunks)


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
