"""A query and filters → what the page of a search shows: hits, facets with their counts, or the latest documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kb.doors.arguments import Filtered
from kb.frozen import dataclass
from kb.library import KnowledgeBase
from kb.page.arguments import DocumentsPage, SearchPage
from kb.reading import DocumentPage, list_page
from kb.records import Chunk, Document, Hit, SearchResponse

SHOWN_HITS = 20
# Hits that the counts of the facets are taken over.
COUNTED_HITS = 50
SHOWN_DOCUMENTS = 50
LATEST = 8
MOST_RECENT = 100
# Values of one facet; more are no choice.
SHOWN_VALUES = 10
# Field of the filters → what a person calls it.
FACETS = {"types": "Type", "sources": "Source", "languages": "Language", "tags": "Tag"}


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet; `count` of the passages found that have it."""

    value: str
    count: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Facet:
    """One filter: its name in the address, its name for people, its values, those that are found most first."""

    field: str
    name: str
    values: tuple[FacetValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchView:
    """A search page; `response` is None without a query, when `documents` are those that pass the filters.

    chunks, types   of the hits: the passage by its id, the format by the document's
    """

    given: SearchPage
    response: SearchResponse | None
    facets: tuple[Facet, ...]
    chunks: Mapping[int, Chunk]
    types: Mapping[int, str]
    documents: DocumentPage | None
    latest: tuple[Document, ...]
    total: int
    is_empty: bool

    @property
    def hits(self) -> Sequence[Hit]:
        """What was found; where nothing is likely to be relevant, the nearest."""
        return () if self.response is None else self.response.hits or self.response.maybe


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentsView:
    """A page of the list of documents."""

    given: DocumentsPage
    page: DocumentPage
    earlier: int | None


def read_search(base: KnowledgeBase, given: SearchPage) -> SearchView:
    """The page of a search; a home that holds nothing yet has an empty one."""
    kb = base.runtime()
    total = kb.corpus.count_documents()
    filters = given.filters()
    query = given.q.strip()
    response: SearchResponse | None = None
    facets: tuple[Facet, ...] = ()
    documents: DocumentPage | None = None
    latest: tuple[Document, ...] = ()
    found: dict[int, Document] = {}
    if query and total:
        response = base.search(query, k=SHOWN_HITS, filters=filters, trace=True)
        everything = base.search(query, k=COUNTED_HITS).hits
        ids = {hit.doc_id for hit in (*response.hits, *response.maybe, *everything)}
        found = {document.doc_id: document for document in kb.corpus.list_documents(list(ids))}
        facets = _facets(everything, found, given)
    elif not filters.is_empty():
        documents = list_page(kb, filters, 0, SHOWN_DOCUMENTS)
        facets = _facets((), {}, given)
    else:
        latest = tuple(read_recent(base)[:LATEST])
    hits = (*response.hits, *response.maybe) if response else ()
    return SearchView(
        given=given,
        response=response,
        chunks=base.chunks([hit.chunk_id for hit in hits]),
        types={doc_id: document.type for doc_id, document in found.items()},
        facets=facets,
        documents=documents,
        latest=latest,
        total=total,
        is_empty=total == 0,
    )


def _facets(hits: Sequence[Hit], documents: Mapping[int, Document], given: Filtered) -> tuple[Facet, ...]:
    """What the hits have, counted; what is chosen stays, found or not."""
    counts: dict[str, Counter[str]] = {field: Counter() for field in FACETS}
    for hit in hits:
        document = documents.get(hit.doc_id)
        if document is None:
            continue
        counts["types"][document.type] += 1
        counts["sources"][document.source] += 1
        counts["languages"][document.language] += 1
        counts["tags"].update({*document.tags, *document.applied_tags})
    facets = []
    for field, name in FACETS.items():
        chosen: list[str] = getattr(given, field)
        names = dict.fromkeys([*chosen, *(value for value, _ in counts[field].most_common(SHOWN_VALUES))])
        if len(names) > 1 or chosen:
            values = tuple(FacetValue(value, counts[field][value], value in chosen) for value in names)
            facets.append(Facet(field, name, values))
    return tuple(facets)


def read_documents(base: KnowledgeBase, given: DocumentsPage) -> DocumentsView:
    """A page of the documents that pass the filters, by source and path."""
    page = list_page(base.runtime(), given.filters(), given.offset, SHOWN_DOCUMENTS)
    earlier = max(given.offset - SHOWN_DOCUMENTS, 0) if given.offset else None
    return DocumentsView(given=given, page=page, earlier=earlier)


def read_recent(base: KnowledgeBase) -> list[Document]:
    """The documents that kb read last, the newest first."""
    found = base.runtime().corpus.list_documents()
    found.sort(key=lambda document: (document.indexed_at, document.modified_at, document.doc_id), reverse=True)
    return found[:MOST_RECENT]
