"""Chunks → a Tantivy index; query terms → (chunk_id, BM25) best first.

kb's analyzers make the tokens, Tantivy splits them at spaces. Title and headings are part of the text; the headings
are a field with a weight of its own besides, and the title one that only statistics ask for. Tantivy scores by BM25 with
Lucene's idf: ln(1 + (N - n + 0.5) / (n + 0.5)).

An index that was changed scores as one that was built from nothing, although Tantivy counts deleted rows until it merges
their segment, and estimates lengths when it does: a query's terms are boosted to the idf of the rows that are left, and
rows without a chunk bring the average length of each field to that of these (`kb.index.ballast`).
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate
from kb.index.ballast import BALLAST_ID, Ballast, needed_ballast
from kb.index.links import link_files
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
FORMAT = f"tantivy-3-analyzer-{ANALYZER_VERSION}-symbols-{SYMBOLS_VERSION}-{_KOREAN}"

# Tantivy's BM25 constant: a term scores less than (K1 + 1) times its idf.
K1 = 1.2
# One thread and a heap that holds the whole build keep everything in one segment; 100,000 chunks need about 150 MB.
WRITER_HEAP_BYTES = 512_000_000
# The fields that scores are made of; the length of each, in terms, is kept beside it.
SCORED = ("text", "headings")
# No query has this term: no analyzer makes it.
BALLAST_TERM = "\ue000"
_AVERAGE = re.compile(r'"value": ([0-9.eE+-]+),\s*"description": "avgdl')
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
        path.mkdir(parents=True)
        if base:
            link_files(base, path)
        with _naming_refusal():
            self._index = _without_watching(tantivy.Index(_schema(), path=str(path)))
            self._writer = self._index.writer(heap_size=WRITER_HEAP_BYTES, num_threads=1)
        self._taken: set[int] = set()
        self._deleted: set[int] = set()
        self._last, self._is_ordered = -1, True

    def upsert(self, rows: Iterable[LexicalRow]) -> None:
        """See IndexWriter.upsert."""
        for chunk_id, doc_id, title, headings, text in rows:
            if chunk_id in self._taken or (self._has_base and chunk_id not in self._deleted):
                self.delete([chunk_id])
            self._is_ordered &= not self._has_base and chunk_id > self._last
            self._last = chunk_id
            self._taken.add(chunk_id)
            fields = {"title": _terms_of(title), "headings": _terms_of(headings)}
            fields["text"] = [*fields["title"], *fields["headings"], *_terms_of(text)]
            self._add(chunk_id, doc_id, fields)

    def _add(self, chunk_id: int, doc_id: int, fields: dict[str, list[str]], *, is_counted: bool = True) -> None:
        document = self._tantivy.Document()
        document.add_unsigned("chunk_id", chunk_id)
        document.add_unsigned("doc_id", doc_id)
        for field, terms in fields.items():
            document.add_text(field, " ".join(terms))
        for field in SCORED if is_counted else ():
            document.add_unsigned(_length_of(field), len(fields[field]))
        with _naming_refusal():
            self._writer.add_document(document)

    def delete(self, chunk_ids: Iterable[int]) -> None:
        """See IndexWriter.delete."""
        gone = list(chunk_ids)
        self._deleted.update(gone)
        if gone:
            self._writer.delete_documents_by_query(
                self._tantivy.Query.term_set_query(self._index.schema, "chunk_id", gone)
            )

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
            self._index.reload()
            counted = _Counted(self._index, self._path)
            merged = self._has_base
            while merged and (ballast := counted.needed_ballast()):
                segments = counted.segments
                counted = self._balance(ballast)
                merged = counted.segments < segments
        # Tantivy makes these two private to their owner; whoever may read the home may read its index.
        for name in ("meta.json", ".managed.json"):
            shutil.copymode(self._path / ".tantivy-meta.lock", self._path / name)
        origin = self._origin
        return IndexStamp("", origin.revision, origin.state, FORMAT, counted.live, kind="tantivy", dead=counted.dead)

    def _balance(self, ballast: Ballast) -> _Counted:
        """Add rows that hold no chunk; where Tantivy merges segments for it, its counts change again."""
        self._writer = self._index.writer(heap_size=WRITER_HEAP_BYTES, num_threads=1)
        for number in range(ballast.rows):
            lengths = ballast.lengths if number == 0 else {}
            fields = {field: [BALLAST_TERM] * length for field, length in lengths.items()}
            self._add(BALLAST_ID, BALLAST_ID, fields, is_counted=False)
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._index.reload()
        return _Counted(self._index, self._path)


class _Counted:
    """An opened index's counts of its rows.

    rows   as Tantivy computes idf and average lengths from: with those that were deleted and not merged yet, and ballast
    live   of chunks
    dead   of chunks that were deleted and not merged yet
    """

    def __init__(self, index: Any, path: Path) -> None:
        import tantivy

        self._query: Any = tantivy.Query
        self._schema, self._searcher = index.schema, index.searcher()
        segments = json.loads((path / "meta.json").read_bytes())["segments"]
        self.rows = sum(segment["max_doc"] for segment in segments)
        self.segments = len(segments)
        ballast = int(self._searcher.doc_freq("doc_id", BALLAST_ID))  # never deleted, and so exact
        self.live = int(self._searcher.num_docs) - ballast
        self.dead = self.rows - self.live - ballast
        self.is_plain = self.rows == self.live

    def needed_ballast(self) -> Ballast | None:
        """What makes Tantivy's average length of every scored field that of the live rows; None where it is."""
        if self.is_plain or not self.live:
            return None
        sums = {field: {"sum": {"field": _length_of(field)}} for field in SCORED}
        found = self._searcher.aggregate(self._query.all_query(), sums)
        lengths = {field: round(found[field]["value"] or 0) for field in SCORED}
        counted = {field: average for field in SCORED if lengths[field] and (average := self._average_length(field))}
        return needed_ballast(self.live, {field: lengths[field] for field in counted}, self.rows, counted)

    def _average_length(self, field: str) -> float | None:
        """As Tantivy computes it, which it tells only in the explanation of a score; None for an empty field."""
        for term, _ in self._searcher.terms_with_prefix(field, ""):
            query = self._query.term_query(self._schema, field, term, "freq")
            if hits := self._searcher.search(query, limit=1, count=False).hits:
                found = _AVERAGE.search(query.explain(self._searcher, hits[0][1]).to_json())
                return float(found[1]) if found else None
        return None


def _without_watching(index: Any) -> Any:
    """Keeps Tantivy's thread, which looks for a new meta.json twice a second, from opening the files again.

    kb never changes the folder of an index that is open, and mapped files that somebody cuts meanwhile end a process.
    """
    index.config_reader("manual")
    return index


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk_id", stored=False, indexed=True, fast=True)
    builder.add_unsigned_field("doc_id", stored=False, indexed=True, fast=True)
    for field in SCORED:
        builder.add_unsigned_field(_length_of(field), stored=False, indexed=False, fast=True)
    for field in ("text", "title", "headings"):
        builder.add_text_field(field, stored=False, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _length_of(field: str) -> str:
    """The name of the field with another field's length."""
    return f"{field}_terms"


def _terms_of(text: str) -> list[str]:
    """The terms of a text; none holds white space, at which Tantivy splits them again."""
    return [*index_terms(text), *korean_terms(text)]


def _mirror_read_only(path: Path) -> TemporaryDirectory[str]:
    """A folder of links to an index that may only be read: Tantivy must open a lock file beside the files it reads."""
    mirror = TemporaryDirectory(prefix="kb-")
    for file in path.iterdir():
        if file.suffix != ".lock":
            (Path(mirror.name) / file.name).symlink_to(file)
    return mirror


class TantivyIndex:
    """See LexicalIndex."""

    abilities = Abilities(filters_by="documents", is_exact=True, has_bounds=True, forgets=True)

    def __init__(self, path: Path, stamp: IndexStamp, settings: SearchConfig) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        self._stamped_rows = stamp.rows
        self._mirror: TemporaryDirectory[str] | None = None
        if not os.access(path, os.W_OK):
            self._mirror = _mirror_read_only(path)
        with _naming_damage():
            index = _without_watching(tantivy.Index.open(self._mirror.name if self._mirror else str(path)))
            self._schema = index.schema
            self._searcher = index.searcher()
            self._counted = _Counted(index, path)
        self._live: dict[tuple[str, str], int] = {}
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
        combinations, frequency = list(together), self._frequency
        with _naming_damage():
            return LexicalStatistics(
                rows=self._counted.live,
                holding={field: {term: frequency(field, term) for term in terms} for field in self._weights},
                together={
                    field: {all_of: self._count(field, all_of) for all_of in combinations} for field in self._weights
                },
                weights=self._weights,
                most_per_idf=K1 + 1,
            )

    def chunk_ids(self) -> set[int]:
        """See OpenedIndex.chunk_ids."""
        most = max(1, int(self._searcher.num_docs))  # ballast included
        with _naming_damage():
            found = self._searcher.search(self._tantivy.Query.all_query(), limit=most, count=False).hits
            values = self._searcher.fast_field_values("chunk_id", [address for _, address in found])
        return {int(chunk_id) for chunk_id in cast("list[int]", values)} - {BALLAST_ID}

    def check(self) -> tuple[str, ...]:
        """See OpenedIndex.check."""
        held = self._counted.live
        if held != self._stamped_rows:
            return (f"the lexical index holds {held} chunks, its stamp says {self._stamped_rows}",)
        return ()

    def _frequency(self, field: str, term: str) -> int:
        """The number of chunks with a term in a field; deleted rows do not count."""
        if self._counted.is_plain:
            return int(self._searcher.doc_freq(field, term))
        if (known := self._live.get((field, term))) is None:
            query = self._tantivy.Query.term_query(self._schema, field, term, "basic")
            known = self._live[field, term] = int(cast(Any, self._searcher.search(query, limit=1, count=True)).count)
        return known

    def _correction(self, field: str, term: str) -> float:
        """What makes a score by Tantivy's counts one by those of the chunks: idf by idf."""
        if self._counted.is_plain or not (live := self._frequency(field, term)):
            return 1.0
        return _idf(live, self._counted.live) / _idf(int(self._searcher.doc_freq(field, term)), self._counted.rows)

    def _count(self, field: str, terms: Sequence[str]) -> int:
        """The number of chunks with all of these terms in a field; 0 without terms."""
        frequencies = [self._frequency(field, term) for term in terms]
        if len(terms) <= 1 or not all(frequencies):
            return min(frequencies, default=0)
        query, occur = self._tantivy.Query, self._tantivy.Occur
        must = [(occur.Must, query.term_query(self._schema, field, term, "basic")) for term in terms]
        found: Any = self._searcher.search(query.boolean_query(must), limit=1, count=True)
        return int(found.count)

    def _query(self, terms: Sequence[str], documents: Sequence[int] | None) -> Any:
        query, occur, schema = self._tantivy.Query, self._tantivy.Occur, self._schema
        should = []
        for term, repeats in weigh_repeats(terms).items():
            for field, weight in self._weights.items():
                if weight > 0:
                    boost = weight * repeats * self._correction(field, term)
                    should.append(
                        (occur.Should, query.boost_query(query.term_query(schema, field, term, "freq"), boost))
                    )
        words = query.boolean_query(should)
        if documents is None:
            return words
        allowed = query.const_score_query(query.term_set_query(schema, "doc_id", list(documents)), 0.0)
        return query.boolean_query([(occur.Must, words), (occur.Must, allowed)])


def _idf(holding: int, rows: int) -> float:
    return math.log(1 + (rows - holding + 0.5) / (holding + 0.5))


TANTIVY: LexicalEngine = Engine("lexical", FORMAT, TantivyWriter, TantivyIndex)
