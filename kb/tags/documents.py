"""Texts and stored documents → the phrases they are about, with the corpus's word frequencies from its lexical index."""

from __future__ import annotations

from collections.abc import Sequence

from kb.errors import InvalidInput
from kb.runtime import Runtime
from kb.tags.phrases import Frequencies, key_phrases
from kb.tags.vocabulary import Vocabulary


def phrases_of_text(kb: Runtime, vocabulary: Vocabulary, text: str) -> list[str]:
    """Mentions and key phrases of a text.

    raises  InvalidInput for a text without words
    """
    found = key_phrases(text, vocabulary, corpus_frequencies(kb), kb.config.tags.phrases)
    if not found:
        raise InvalidInput("the text has no words to take phrases from", fix="give a text, or phrases of your own")
    return found


def phrases_of_document(kb: Runtime, vocabulary: Vocabulary, name: str) -> list[str]:
    """Mentions and key phrases of a stored document; those in title and headings count more.

    raises  NotFound, InvalidInput for a document without words
    """
    document = kb.corpus.find_document(name)
    found = phrases_by_id(kb, vocabulary, document.doc_id, corpus_frequencies(kb))
    if not found:
        raise InvalidInput(f"{document.path} has no words to take phrases from", fix="give phrases of your own")
    return found


def phrases_by_id(kb: Runtime, vocabulary: Vocabulary, doc_id: int, frequencies: Frequencies) -> list[str]:
    """Mentions and key phrases of a stored document; empty for one without words."""
    chunks = kb.corpus.chunks_of_document(doc_id)
    titles = dict.fromkeys(title for chunk in chunks for title in (chunk.title, *chunk.heading_path))
    text = "\n\n".join(chunk.text for chunk in chunks)
    return key_phrases(text, vocabulary, frequencies, kb.config.tags.phrases, titles)


def corpus_frequencies(kb: Runtime) -> Frequencies:
    """How common terms are in this corpus; without a document, all terms are equally common."""
    if not kb.corpus.count_chunks():
        return lambda terms: ([0] * len(terms), 0)
    index = kb.lexical_index()

    def frequencies(terms: Sequence[str]) -> tuple[list[int], int]:
        statistics = index.statistics(terms)
        holding = statistics.frequencies()
        return [holding[term] for term in terms], statistics.rows

    return frequencies
