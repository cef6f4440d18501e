"""Names and globs of documents → these documents out of the store and its indexes; their files are not touched."""

from __future__ import annotations

from collections.abc import Sequence

from kb.errors import NotFound
from kb.records import Document, Filters
from kb.runtime import Runtime
from kb.store.lock import writer_lock


def remove_documents(kb: Runtime, names: Sequence[str], sources: Sequence[str]) -> list[Document]:
    """Remove documents, all that are named or none.

    names    as `KnowledgeBase.document` takes them, or globs
    sources  narrows the globs; without names, every document of these sources
    returns  the removed documents
    raises   NotFound, Locked
    """
    corpus = kb.corpus
    with writer_lock(kb.home, kb.config.ingest.lock_wait_seconds, kb.notify):
        doc_ids: list[int] = []
        if sources and not names:
            doc_ids += corpus.allowed_documents(Filters(sources=tuple(sources))) or []
        for name in names:
            matched: Sequence[int] = []
            if any(c in name for c in "*?[") or name.endswith("/"):
                matched = corpus.allowed_documents(Filters(sources=tuple(sources), paths=(name,))) or []
            doc_ids += matched or [corpus.find_document(name).doc_id]
        documents = corpus.list_documents(doc_ids)
        if not documents:
            raise NotFound(f"no document from source {', '.join(sources)}", fix="kb status lists the sources")
        corpus.remove_documents([document.doc_id for document in documents])
        corpus.remove_unused_embeddings()
        if corpus.has_documents():
            kb.refresh_if_possible()
    return documents
