"""`kb tags apply`: documents → tags of the vocabulary, kept apart from the tags of their front matter, and removable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kb.errors import NotFound
from kb.records import Document
from kb.runtime import Runtime
from kb.tags.documents import corpus_frequencies, phrases_by_id
from kb.tags.records import AppliedTag, TagApplication, TaggedDocument
from kb.tags.retriever import Retriever, default_options, open_retriever
from kb.tags.thresholds import Thresholds, calibrate


def apply_tags(kb: Runtime, names: Sequence[str] | None, threshold: float | None, *, dry_run: bool) -> TagApplication:
    """Tag documents, and drop the tags that were applied to them before.

    names      documents as a user names them; None for all
    threshold  one for all tags; None calibrates them on the documents that have tags of their own
    raises     NotFound for a missing document, NotIndexed without documents or tags
    """
    kb.require_documents()
    with kb.snapshot():
        documents = _named(kb, names)
        retriever = open_retriever(kb)
        truth = own_tags(kb, retriever)
        learning = [] if threshold is not None else sorted(truth)
        scores = score_documents(kb, retriever, sorted({d.doc_id for d in documents} | set(learning)))
    if threshold is not None:
        thresholds = Thresholds(threshold)
    else:
        thresholds = calibrate({doc_id: scores[doc_id] for doc_id in learning}, truth)
    tagged = [_tag(document, scores[document.doc_id], thresholds, truth) for document in documents]
    if not dry_run:
        kb.corpus.tags.replace_applied_tags({d.doc_id: [(t.tag, t.score) for t in d.applied] for d in tagged})
    notes = list(retriever.notes)
    if threshold is None and not thresholds.documents:
        notes.append(
            f"no document has tags of this vocabulary to learn from: the threshold is {thresholds.common:g};"
            " --threshold sets it"
        )
    return TagApplication(
        action="planned" if dry_run else "applied",
        documents=tuple(tagged),
        calibrated_on=thresholds.documents,
        threshold=thresholds.common,
        thresholds=dict(thresholds.per_tag),
        notes=tuple(notes),
    )


def remove_tags(kb: Runtime, names: Sequence[str] | None, *, dry_run: bool) -> TagApplication:
    """Remove the tags that were applied to documents; their own tags stay.

    raises  NotFound
    """
    documents = [document for document in _named(kb, names) if document.applied_tags]
    if not dry_run:
        kb.corpus.tags.replace_applied_tags({document.doc_id: () for document in documents})
    tagged = tuple(
        TaggedDocument(doc_id=d.doc_id, source=d.source, path=d.path, own=d.tags, applied=()) for d in documents
    )
    return TagApplication(
        action="planned" if dry_run else "removed",
        documents=tagged,
        calibrated_on=0,
        threshold=None,
        thresholds={},
        notes=(),
    )


def _named(kb: Runtime, names: Sequence[str] | None) -> list[Document]:
    if names is None:
        return kb.corpus.list_documents()
    found = {document.doc_id: document for document in (kb.corpus.find_document(name) for name in names)}
    if not found:
        raise NotFound("no document named", fix="name one with --doc, or all with --all")
    return list(found.values())


def own_tags(kb: Runtime, retriever: Retriever) -> dict[int, frozenset[str]]:
    """The documents with tags of the vocabulary in their front matter → these tags."""
    found = {
        doc_id: frozenset(tag for name in names for tag in retriever.vocabulary.project(name))
        for doc_id, names in kb.corpus.tags.document_tag_lists().items()
    }
    return {doc_id: tags for doc_id, tags in found.items() if tags}


def score_documents(kb: Runtime, retriever: Retriever, doc_ids: Iterable[int]) -> dict[int, dict[str, float]]:
    """doc_id → tag → combined score, from the phrases of each document's text; its own tags are not used."""
    frequencies = corpus_frequencies(kb)
    options = default_options(kb.config.tags)
    scores = {}
    for doc_id in doc_ids:
        phrases = phrases_by_id(kb, retriever.vocabulary, doc_id, frequencies)
        candidates = retriever.suggest(phrases, options).candidates if phrases else ()
        scores[doc_id] = {row.tag: row.score_combined for row in candidates}
    return scores


def _tag(
    document: Document, scores: dict[str, float], thresholds: Thresholds, truth: dict[int, frozenset[str]]
) -> TaggedDocument:
    own = truth.get(document.doc_id, frozenset())
    chosen = [(tag, score) for tag, score in thresholds.choose(scores) if tag not in own]
    return TaggedDocument(
        doc_id=document.doc_id,
        source=document.source,
        path=document.path,
        own=document.tags,
        applied=tuple(AppliedTag(tag=tag, score=round(score, 4)) for tag, score in chosen),
    )
