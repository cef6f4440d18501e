"""Chunks → a Tantivy index; query terms → (chunk_id, BM25) best first.

kb's analyzers make the tokens, Tantivy splits them at spaces. Title and headings are part of the text; the headings
are a field with a weight of its own besides, and the title one that only statistics ask for. Tantivy scores by BM25 with Lucene's idf: ln(1 + (N - n + 0.5) / (n + 0.5)).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate
from kb.index.protocol import Abilities, Engine, LexicalEngine, LexicalRow, LexicalStatistics
from kb.index.repeats import weigh_repeats
from kb.index.stamp import IndexStamp, Origin
from kb.index.ties import by_score, cut_ranking
from kb.language.morphemes import KOREAN_VERSION, has_morphemes, korean_terms
from kb.records import Ranking
from kb.symbols import SYMBOLS_VERSION, index_terms
from kb.text import ANALYZER_VERSION

# An index with Korean morphemes and one without find different chunks.
_KOREAN = f"korean-{KOREAN_VERSION}{'-morphemes' if has_morphemes() else ''}"
FORMAT = f"tantivy-2-analyzer-{ANALYZER_VERSION}-symbols-{SYMBOLS_VERSION}-{_KOREAN}"

# Tantivy's BM25 constant: a term scores less than (K1 + 1) times its idf.
K1 = 1.2
# One thread and a heap that holds the whole build keep everything in one segment; 100,000 chunks need about 150 MB.
WRITER_HEAP_BYTES = 512_000_000
# An empty file of this name in the index's folder means that its rows are not in chunk_id order.
UNORDERED = "unordered"


@contextmanager
def _naming_damage() -> Iterator[None]:
    """Turns Tantivy's errors for files that are not what they were, a panic in Rust included, into IndexOutOfDate."""
    try:
        yield
    except BaseException as error:
        if not (isinstance(error, ValueError) or _is_panic(error)):
            raise
        raise IndexOutOfDate(
            f"the lexical index is damaged: {str(error).splitlines()[0]}", fix="rebuild it: kb reindex"
        ) from error


@contextmanager
def _naming_refusal() -> Iterator[None]:
    """Turns Tantivy's errors while it writes, for want of room or rights, into OSError."""
    try:
        yield
    except BaseException as error:
        if not (isinstance(error, ValueError) or _is_panic(error)):
            raise
        raise OSError(f"Tantivy could not write it: {str(error).splitlines()[0]}") from error


def _is_panic(error: BaseException) -> bool:
    """pyo3 raises a class of its own, which is no Exception and cannot be imported."""
    return type(error).__name__ == "PanicException"


class TantivyWriter:
    """See IndexWriter."""

    def __init__(self, path: Path, origin: Origin, settings: SearchConfig, base: Path | None = None) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        self._path, self._origin, self._has_base = path, origin, base is not None
        if base:
            shutil.copytree(base, path)
        else:
            path.mkdir(parents=True)
        with _naming_refusal():
            self._index = tantivy.Index(_schema(), path=str(path))
            self._writer = self._index.writer(heap_size=WRITER_HEAP_BYTES, num_threads=1)
        self._taken: set[int] = set()
        self._last, self._is_ordered = -1, True

    def upsert(self, rows: Iterable[LexicalRow]) -> None:
        """See IndexWriter.upsert."""
        for chunk_id, doc_id, title, headings, text in rows:
            if self._has_base or chunk_id in self._taken:
                self.delete([chunk_id])
            self._is_ordered &= not self._has_base and chunk_id > self._last
            self._last = chunk_id
            self._taken.add(chunk_id)
            document = self._tantivy.Document()
            document.add_unsigned("chunk_id", chunk_id)
            document.add_unsigned("doc_id", doc_id)
            fields = {"title": _joined(title), "headings": _joined(headings)}
            fields["text"] = " ".join((*fields.values(), _joined(text)))
            for field, joined in fields.items():
                document.add_text(field, joined)
            with _naming_refusal():
                self._writer.add_document(document)

    def delete(self, chunk_ids: Iterable[int]) -> None:
        """See IndexWriter.delete."""
        # chunk_id is a fast field without an inverted index: a range finds it, a term query does not.
        query, number = self._tantivy.Query, self._tantivy.FieldType.Unsigned
        for first, last in _runs(chunk_ids):
            one = query.range_query(self._index.schema, "chunk_id", number, first, last)
            self._writer.delete_documents_by_query(one)

    def abandon(self) -> None:
        """See IndexWriter.abandon. Otherwise its threads would go on writing into a folder that is being removed."""
        with suppress(OSError), _naming_refusal():
            self._writer.rollback()
            self._writer.wait_merging_threads()

    def commit(self) -> IndexStamp:
        """See IndexWriter.commit."""
        if not self._is_ordered:
            (self._path / UNORDERED).touch()
        with _naming_refusal():
            self._writer.commit()
            self._writer.wait_merging_threads()
        # Tantivy makes these two private to their owner; whoever may read the home may read its index.
        for name in ("meta.json", ".managed.json"):
            shutil.copymode(self._path / ".tantivy-meta.lock", self._path / name)
        self._index.reload()
        rows = int(self._index.searcher().num_docs)
        origin = self._origin
        return IndexStamp("", origin.revision, origin.state, FORMAT, rows, kind="tantivy")


def _runs(chunk_ids: Iterable[int]) -> list[tuple[int, int]]:
    """Ids as (first, last) of each run of consecutive ones.

    >>> _runs([4, 1, 2, 3, 9])
    [(1, 4), (9, 9)]
    """
    runs: list[tuple[int, int]] = []
    for chunk_id in sorted(set(chunk_ids)):
        if runs and runs[-1][1] == chunk_id - 1:
            runs[-1] = runs[-1][0], chunk_id
        else:
            runs.append((chunk_id, chunk_id))
    return runs


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk_id", stored=False, indexed=False, fast=True)
    builder.add_unsigned_field("doc_id", stored=False, indexed=True, fast=True)
    for field in ("text", "title", "headings"):
        builder.add_text_field(field, stored=False, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _joined(text: str) -> str:
    """The terms of a text, joined for Tantivy's whitespace tokenizer; no term holds white space."""
    return " ".join(index_terms(text) + korean_terms(text))


def _mirror_read_only(path: Path) -> TemporaryDirectory[str]:
    """A folder of links to an index that may only be read: Tantivy must open a lock file beside the files it reads."""
    mirror = TemporaryDirectory(prefix="kb-")
    for file in path.iterdir():
        if file.suffix != ".lock":
            (Path(mirror.name) / file.name).symlink_to(file)
    return mirror


class TantivyIndex:
    """See LexicalIndex."""

    # Deleted rows count until their segment is merged; the bindings cannot ask for that.
    abilities = Abilities(filters_by="documents", is_exact=True, has_bounds=True, forgets=False)

    def __init__(self, path: Path, stamp: IndexStamp, settings: SearchConfig) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        self._stamped_rows = stamp.rows
        self._mirror: TemporaryDirectory[str] | None = None
        if not os.access(path, os.W_OK):
            self._mirror = _mirror_read_only(path)
        with _naming_damage():
            index = tantivy.Index.open(self._mirror.name if self._mirror else str(path))
            segments = json.loads((path / "meta.json").read_bytes())["segments"]
            self._schema = index.schema
            self._searcher = index.searcher()
        # The count that Tantivy computes idf from; it includes rows deleted since their segment was written.
        self._rows = sum(segment["max_doc"] for segment in segments)
        self._is_ordered = not (path / UNORDERED).exists()
        self._weights = {"text": 1.0, "title": 0.0, "headings": settings.heading_weight}

    def search(self, query: Sequence[str], depth: int, within: Sequence[int] | None = None) -> Ranking:
        """See OpenedIndex.search; within doc_ids."""
        if not query or (within is not None and not within):
            return []
        words = self._query(query, within)

        def find(wanted: int) -> list[tuple[int, float]]:
            with _naming_damage():
                found = self._searcher.search(words, limit=wanted, count=False).hits
                values = self._searcher.fast_field_values("chunk_id", [address for _, address in found])
            chunk_ids = cast("list[int]", values)
            return [(int(chunk_id), float(score)) for chunk_id, (score, _) in zip(chunk_ids, found, strict=True)]

        # Tantivy returns those of equal scores that were written first.
        return by_score(find(depth)) if self._is_ordered else cut_ranking(find, depth)

    def statistics(self, terms: Sequence[str], together: Iterable[tuple[str, ...]] = ()) -> LexicalStatistics:
        """See LexicalIndex.statistics."""
        combinations, frequency = list(together), self._searcher.doc_freq
        with _naming_damage():
            return LexicalStatistics(
                rows=self._rows,
                holding={field: {term: int(frequency(field, term)) for term in terms} for field in self._weights},
                together={
                    field: {all_of: self._count(field, all_of) for all_of in combinations} for field in self._weights
                },
                weights=self._weights,
                most_per_idf=K1 + 1,
            )

    def chunk_ids(self) -> set[int]:
        """See OpenedIndex.chunk_ids."""
        most = max(1, int(self._searcher.num_docs))
        with _naming_damage():
            found = self._searcher.search(self._tantivy.Query.all_query(), limit=most, count=False).hits
            values = self._searcher.fast_field_values("chunk_id", [address for _, address in found])
        return {int(chunk_id) for chunk_id in cast("list[int]", values)}

    def check(self) -> tuple[str, ...]:
        """See OpenedIndex.check."""
        held = int(self._searcher.num_docs)
        if held != self._stamped_rows:
            return (f"the lexical index holds {held} chunks, its stamp says {self._stamped_rows}",)
        return ()

    def _count(self, field: str, terms: Sequence[str]) -> int:
        """The number of chunks with all of these terms in a field; 0 without terms."""
        frequencies = [int(self._searcher.doc_freq(field, term)) for term in terms]
        if len(terms) <= 1 or not all(frequencies):
            return min(frequencies, default=0)
        query, occur = self._tantivy.Query, self._tantivy.Occur
        must = [(occur.Must, query.term_query(self._schema, field, term, "basic")) for term in terms]
        found: Any = self._searcher.search(query.boolean_query(must), limit=1, count=True)
        return int(found.count)

    def _query(self, terms: Sequence[str], documents: Sequence[int] | None) -> Any:
        query, occur, schema = self._tantivy.Query, self._tantivy.Occur, self._schema
        should = [
            (occur.Should, query.boost_query(query.term_query(schema, field, term, "freq"), weight * repeats))
            for term, repeats in weigh_repeats(terms).items()
            for field, weight in self._weights.items()
            if weight > 0
        ]
        words = query.boolean_query(should)
        if documents is None:
            return words
        allowed = query.const_score_query(query.term_set_query(schema, "doc_id", list(documents)), 0.0)
        return query.boolean_query([(occur.Must, words), (occur.Must, allowed)])


TANTIVY: LexicalEngine = Engine("lexical", FORMAT, TantivyWriter, TantivyIndex)
