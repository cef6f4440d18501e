"""Chunks → a Tantivy index; query terms → (chunk_id, BM25) best first.

Our analyzer makes the tokens, Tantivy splits them at spaces. The title and the headings are fields of their own with a
weight each. One segment, in chunk id order, so that equal scores come out in chunk id order.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, cast

from kb.errors import IndexOutOfDate
from kb.index.stamp import IndexStamp
from kb.text import ANALYZER_VERSION, analyze

FORMAT = f"tantivy-1-analyzer-{ANALYZER_VERSION}"
NAME = "lexical"

# (chunk_id, score), best first, equal scores in chunk_id order
Ranking = list[tuple[int, float]]

# Tantivy's BM25 constant: a term that fills a text reaches (K1 + 1) times its idf.
K1 = 1.2
# One thread and a heap that holds the whole build keep everything in one segment; 100,000 chunks need about 150 MB.
WRITER_HEAP_BYTES = 512_000_000


class LexicalIndex(Protocol):
    """Finds chunks by their words."""

    def search(self, terms: Sequence[str], depth: int, documents: Sequence[int] | None = None) -> Ranking:
        """The `depth` best chunks that hold any of the terms.

        terms      from `kb.text.analyze_query`
        documents  only chunks of these doc_ids; None for all
        """

    def best_possible(self, terms: Sequence[str]) -> tuple[float, float]:
        """The BM25 that no text could pass for these terms, and that no chunk could with its title and headings.

        Of each term its idf, as if it filled the field, times the field's weight; 0 without a term. The second is never
        less than the first.
        """

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks hold each term, in the field that holds it most often; 0 for one that none does."""

    def count(self) -> int:
        """How many chunks there are."""

    def names_something(self, terms: Sequence[str]) -> bool:
        """True when one title, or the headings above one chunk, hold all of these terms."""

    def is_frequent(self, terms: Sequence[str], least: int) -> bool:
        """True when so many texts hold each of these terms."""


def build_lexical_index(
    path: Path, rows: Iterable[tuple[int, int, str, str, str]], revision: int, state: str
) -> IndexStamp:
    """Write an index folder from rows of (chunk_id, doc_id, title, headings, text) in chunk_id order."""
    import tantivy

    path.mkdir(parents=True)
    index = tantivy.Index(_schema(), path=str(path))
    writer = index.writer(heap_size=WRITER_HEAP_BYTES, num_threads=1)
    count = 0
    for chunk_id, doc_id, title, headings, text in rows:
        document = tantivy.Document()
        document.add_unsigned("chunk_id", chunk_id)
        document.add_unsigned("doc_id", doc_id)
        document.add_text("text", _joined(text))
        document.add_text("title", _joined(title))
        document.add_text("headings", _joined(headings))
        writer.add_document(document)
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    # Tantivy makes these two private to their owner; whoever may read the home may read its index.
    for name in ("meta.json", ".managed.json"):
        shutil.copymode(path / ".tantivy-meta.lock", path / name)
    return IndexStamp(place="", revision=revision, state=state, format=FORMAT, rows=count, kind="tantivy")


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk_id", stored=False, indexed=False, fast=True)
    builder.add_unsigned_field("doc_id", stored=False, indexed=True, fast=True)
    for field in ("text", "title", "headings"):
        builder.add_text_field(field, stored=False, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _joined(text: str) -> str:
    """The analysed text as Tantivy's whitespace tokenizer takes it apart again: no term holds white space."""
    return " ".join(analyze(text))


def _mirror_read_only(path: Path) -> TemporaryDirectory[str]:
    """A folder of links to an index that may only be read: Tantivy must open a lock file beside the files it reads."""
    mirror = TemporaryDirectory(prefix="kb-")
    for file in path.iterdir():
        if file.suffix != ".lock":
            (Path(mirror.name) / file.name).symlink_to(file)
    return mirror


class TantivyIndex:
    """A built index, opened for searching."""

    def __init__(self, path: Path, title_weight: float, heading_weight: float) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        self._mirror: TemporaryDirectory[str] | None = None
        try:
            if not os.access(path, os.W_OK):
                self._mirror = _mirror_read_only(path)
            index = tantivy.Index.open(self._mirror.name if self._mirror else str(path))
        except ValueError as error:
            raise IndexOutOfDate(
                f"the lexical index cannot be opened: {error}", fix="rebuild it: kb reindex"
            ) from error
        self._schema = index.schema
        self._searcher = index.searcher()
        self._weights = {"text": 1.0, "title": title_weight, "headings": heading_weight}

    def search(self, terms: Sequence[str], depth: int, documents: Sequence[int] | None = None) -> Ranking:
        """See LexicalIndex.search."""
        if not terms or (documents is not None and not documents):
            return []
        query = self._query(terms, documents)
        found = self._searcher.search(query, limit=depth, count=False).hits
        values = self._searcher.fast_field_values("chunk_id", [address for _, address in found])
        chunk_ids = cast("list[int]", values)
        ranking = [(int(chunk_id), float(score)) for chunk_id, (score, _) in zip(chunk_ids, found, strict=True)]
        return sorted(ranking, key=lambda row: (-row[1], row[0]))

    def best_possible(self, terms: Sequence[str]) -> tuple[float, float]:
        """See LexicalIndex.best_possible. A term that no field holds counts in full: nothing here answers for it."""
        best = {field: self._best_in(field, terms) for field in self._weights}
        return best["text"], sum(self._weights[field] * value for field, value in best.items())

    def _best_in(self, field: str, terms: Sequence[str]) -> float:
        count = self._searcher.num_docs
        holding = {term: int(self._searcher.doc_freq(field, term)) for term in set(terms)}
        return (K1 + 1) * sum(math.log1p((count - n + 0.5) / (n + 0.5)) for n in (holding[t] for t in terms))

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """See LexicalIndex.document_frequencies."""
        found = self._searcher.doc_freq
        return {term: max(int(found(field, term)) for field in self._weights) for term in terms}

    def count(self) -> int:
        """See LexicalIndex.count."""
        return int(self._searcher.num_docs)

    def names_something(self, terms: Sequence[str]) -> bool:
        """See LexicalIndex.names_something."""
        query, occur = self._tantivy.Query, self._tantivy.Occur
        for field in ("headings", "title"):
            if terms and all(self._searcher.doc_freq(field, term) for term in terms):
                must = [(occur.Must, query.term_query(self._schema, field, term, "basic")) for term in terms]
                if len(must) == 1 or self._searcher.search(query.boolean_query(must), limit=1, count=False).hits:
                    return True
        return False

    def is_frequent(self, terms: Sequence[str], least: int) -> bool:
        """See LexicalIndex.is_frequent."""
        return bool(terms) and all(self._searcher.doc_freq("text", term) >= least for term in terms)

    def _query(self, terms: Sequence[str], documents: Sequence[int] | None) -> Any:
        query, occur, schema = self._tantivy.Query, self._tantivy.Occur, self._schema
        should = [
            (occur.Should, query.boost_query(query.term_query(schema, field, term, "freq"), weight))
            for term in terms
            for field, weight in self._weights.items()
            if weight > 0
        ]
        words = query.boolean_query(should)
        if documents is None:
            return words
        allowed = query.const_score_query(query.term_set_query(schema, "doc_id", list(documents)), 0.0)
        return query.boolean_query([(occur.Must, words), (occur.Must, allowed)])
