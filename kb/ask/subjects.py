"""A question and the chunks found for it → what their documents are about (kb/evidence/subjects.py): carries index, store and reader to the pure part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kb.ask.records import AskRequest
from kb.ask.stages import Ranked, Retrieved
from kb.evidence.openings import Opening, has_exactly
from kb.evidence.question import Unit, units_of
from kb.evidence.subjects import NO_SUBJECTS, Holders, Subjects, find_subjects
from kb.language.tables import find_tables
from kb.records import Chunk, SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.search.rerank import read_passages

# Words of a question that are looked up; who pastes a page names nothing by it.
MOST_UNITS = 40
# A word that more chunks have tells no document from others.
MOST_HOLDING = 60
# So many passages of the documents that are named, and of others, are read without the names. The others tell what is asked where one of them
# scores so much more, by the reader's logit, than all of these, and none of these reaches ANSWERS (benchmarks/same_kind.py).
COMPARED, CONTRAST, ANSWERS = 6, 3.0, 0.0
# No more documents are searched by themselves.
MOST_SEARCHED = 3

# Of a heading, its number or letter, and what closes it: "4.2 Pets:", 가. 주차.
_AROUND_TITLE = re.compile(r"^\W*(?:\d+(?:\.\d+)*[.)]?(?=\s)|[가-하][.)])?\s*|\W+$")
# (chunk, score, relevance).
Found = Sequence[tuple[Chunk, float, float | None]]


def read_subjects(kb: Runtime, request: AskRequest, chunks: Iterable[Chunk]) -> Subjects:
    """What the documents of the chunks are about, and other documents that pass the filters and have a word of the question."""
    question = request.query
    units = units_of(question)[:MOST_UNITS]
    allowed = kb.corpus.allowed_documents(request.filters)
    holding = _find_holders(kb, question, units, None if allowed is None else frozenset(allowed))
    if not holding:
        return NO_SUBJECTS
    doc_ids = {chunk.doc_id for chunk in chunks}.union(*holding.values())
    first = kb.corpus.first_chunks(sorted(doc_ids))
    openings = {doc_id: _opening_of(chunk) for doc_id, chunk in first.items()}
    return find_subjects(question, units, openings, holding)


def _opening_of(chunk: Chunk) -> Opening:
    """The first rows of a table are about no more than the others: its name alone tells what it is of."""
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
    is_table = any(table.is_file for table in find_tables(chunk.text, heading))
    return Opening(chunk.path, chunk.title, "" if is_table else chunk.text)


def _find_holders(
    kb: Runtime, question: str, units: Sequence[Unit], allowed: frozenset[int] | None
) -> dict[str, Holders]:
    """Unit's text → doc_id → the chunks that have it, of the units that few have."""
    index = kb.lexical_index()
    found: dict[str, list[int]] = {}
    for unit in units:
        terms = list(unit.terms if unit.is_run() else unit.terms[:1])
        ids = [chunk_id for chunk_id, _ in index.search(terms, MOST_HOLDING + 1)]
        if len(ids) <= MOST_HOLDING:
            found[unit.text] = ids
    texts = kb.corpus.fetch_texts({chunk_id for ids in found.values() for chunk_id in ids})
    holding: dict[str, Holders] = {}
    for unit in (unit for unit in units if unit.text in found):
        held: dict[int, frozenset[int]] = {}
        for chunk_id in found[unit.text]:
            doc_id, text = texts.get(chunk_id, (0, ""))
            # Terms of a Hangul word are pairs of syllables, of which some may be met in another word; headings are no part of the text.
            is_there = chunk_id in texts and (not unit.is_run() or has_exactly(unit, question, text))
            if is_there and (allowed is None or doc_id in allowed):
                held[doc_id] = held.get(doc_id, frozenset()) | {chunk_id}
        holding[unit.text] = held
    return holding


def find_within(kb: Runtime, request: AskRequest, subjects: Subjects, ranked: Ranked) -> Found:
    """Passages of the documents that the question names, where the search has found few of what they have.

    Among a hundred leases the clause on dogs of one is not found for its name, which stands at its head alone.

    ranked   what was found, best first
    returns  (chunk, score in its ranking, relevance) of each
    """
    named = sorted(subjects.named())
    found = {chunk.chunk_id for chunk, _ in ranked if chunk.doc_id in named}
    if not 0 < len(named) <= MOST_SEARCHED or len(found) >= request.k:
        return ()
    if found.issuperset(kb.corpus.chunk_ids_of(named)):
        return ()
    is_read = kb.reader_for(request.query) is not None
    wanted = SearchRequest(request.query, request.mode, request.k, as_found=True, rerank=is_read, doc_ids=tuple(named))
    within = search(kb, wanted)
    chunks = kb.corpus.fetch_chunks([hit.chunk_id for hit in within.hits if hit.chunk_id not in found])
    return [
        (chunks[hit.chunk_id], hit.order_score, hit.retrieval.relevance)
        for hit in within.hits
        if hit.chunk_id in chunks
    ]


def part_others(ranked: Ranked, subjects: Subjects) -> tuple[Ranked, Ranked]:
    """The passages, and those of other documents of the kind that the question names, which do not say the name.

    returns  all of them where none else would be left
    """
    named = subjects.named()
    if not named:
        return ranked, ()
    alike = _alike(ranked, subjects)
    others = [
        row
        for row in ranked
        if row[0].doc_id in alike and row[0].doc_id not in named and subjects.lacks_names(row[0].doc_id, _told(row[0]))
    ]
    left_out = {chunk.chunk_id for chunk, _ in others}
    kept = [row for row in ranked if row[0].chunk_id not in left_out]
    return (kept, others) if kept else (ranked, ())


def _alike(ranked: Ranked, subjects: Subjects) -> frozenset[int]:
    """The documents of the ranking that may be of one kind with those that are named: by a word of their names, or a heading."""
    headings: dict[int, set[str]] = {}
    for chunk, _ in ranked:
        below = {_AROUND_TITLE.sub("", title).casefold() for title in chunk.heading_path if title != chunk.title}
        headings.setdefault(chunk.doc_id, set()).update(below - {""})
    return frozenset(
        doc_id
        for doc_id, own in headings.items()
        for named in subjects.named()
        if subjects.are_alike(doc_id, named) or own & headings.get(named, set())
    )


def _told(chunk: Chunk) -> str:
    return "\n".join((chunk.path, chunk.title, *chunk.heading_path, chunk.text))


def told_of_others(kb: Runtime, retrieved: Retrieved, ranked: Ranked) -> tuple[str, ...]:
    """The words that name documents, where passages of others answer what is asked, and those of these hardly; empty elsewhere.

    The reader is asked without the names: with them it likes whatever says a name best.

    ranked  passages of the documents that are named, or that say their names
    """
    question = retrieved.subjects.bare_question()
    if not retrieved.others or not question:
        return ()
    own, others = (_best_read(kb, question, passages) for passages in (ranked, retrieved.others))
    if own is None or others is None or own >= ANSWERS or others - own < CONTRAST:
        return ()
    return retrieved.subjects.names()


def _best_read(kb: Runtime, question: str, ranked: Ranked) -> float | None:
    logits = read_passages(kb, question, [chunk for chunk, _ in ranked[:COMPARED]]) or {}
    return max((logit for logit in logits.values() if logit is not None), default=None)
