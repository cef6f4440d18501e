"""A knowledge base → the file of a drafted suite: the documents, answers and searches are read, and `draft.py` decides."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from kb.eval.draft import (
    Draft,
    choose,
    draft_from_document,
    draft_from_place,
    draft_from_refusal,
    label_path,
    spread,
)
from kb.eval.draft_text import suite_text
from kb.places import parse_citation
from kb.records import Document, Filters
from kb.runtime import Runtime
from kb.store.answers import AnswerQuery
from kb.store.recent_searches import read_searches

# Documents that are read for each draft that is wanted: some give none.
DOCUMENTS_PER_DRAFT = 3
# The newest answers that are looked at.
MOST_ANSWERS = 200


def write_draft(kb: Runtime, home: Path, path: Path, filters: Filters, most: int) -> Counter[str]:
    """Write a suite of at most so many drafts; where there is nothing to draft from, no file is written.

    home     its recent searches are read
    filters  only places in the documents that pass are drafted
    returns  how many drafts came from what: keys are `Draft.origin`
    """
    drafts = _draft(kb, home, filters, most)
    if drafts:
        path.write_text(suite_text(drafts, path.stem), encoding="utf-8")
    return Counter(draft.origin for draft in drafts)


def _draft(kb: Runtime, home: Path, filters: Filters, most: int) -> list[Draft]:
    documents = kb.corpus.list_documents()
    passing = kb.corpus.list_documents(kb.corpus.allowed_documents(filters))
    by_document = [
        draft_from_document(document, kb.corpus.chunks_of_document(document.doc_id), label_path(document, documents))
        for document in spread([d for d in passing if d.type != "code"], most * DOCUMENTS_PER_DRAFT)
    ]
    return choose(_recent(kb, home, documents, passing), by_document, most)


def _recent(kb: Runtime, home: Path, documents: Sequence[Document], passing: Sequence[Document]) -> list[Draft]:
    """The questions asked and the searches made, newest first in turn, with the places found then.

    documents, passing  all there are, and those that pass the filters: a place elsewhere is left out
    """
    by_path: dict[str, list[Document]] = {}
    for document in passing:
        by_path.setdefault(document.path, []).append(document)

    def drafted(
        query: str, origin: Literal["searched", "asked"], places: Sequence[tuple[str | None, str]]
    ) -> Draft | None:
        """places: (source, uri), best first."""
        if not places:
            return None
        source, uri = places[0]
        place = parse_citation(uri)
        found = [d for d in by_path.get(place.path, ()) if source in (None, d.source)]
        if len(found) != 1:
            return None
        chunks = kb.corpus.chunks_of_document(found[0].doc_id)
        others = [other for _, other in places[1:]]
        return draft_from_place(query, origin, label_path(found[0], documents), place, chunks, others)

    asked: list[Draft | None] = []
    for row in kb.journal.list_answers(MOST_ANSWERS, AnswerQuery()):
        question = row.standalone_question or row.question
        if row.replay_of:
            continue
        if row.grounded:
            uris = dict.fromkeys(str(cited["uri"]) for cited in json.loads(row.citations_json))
            asked.append(drafted(question, "asked", [(None, uri) for uri in uris]))
        elif row.refusal_reason and len(passing) == len(documents):
            asked.append(draft_from_refusal(question))
    searched = [
        drafted(search.query, "searched", [(place.source, place.uri) for place in search.places])
        for search in read_searches(home)
    ]
    return [draft for pair in zip_longest(asked, searched) for draft in pair if draft is not None]
