"""Judged collections → for every query, its first hits in each mode with what the score of a hit is computed from, and whether
each is relevant.

Relevant means: from a document that is judged relevant (Cranfield, titles, questions with a page), or a passage with the
answer (spans, ClapNQ, the project's suite), or under the heading that was asked for. Every collection is asked questions of
others as well, none of whose hits is relevant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import yaml
from gate_sets import KOREAN, ROOT, open_homes

from kb.eval.collections import load_beir, load_spans
from kb.eval.resolve import resolve_suite
from kb.eval.suite import load_suite
from kb.records import Chunk, SearchMode, SearchRequest
from kb.runtime import Runtime
from kb.search.calibrate import Signals, signals_of, variant_of
from kb.search.fuse import fuse
from kb.search.retrieve import can_read, retrieve
from kb.search.show import READ_FOR_WORDS, terms_of

MODES: tuple[SearchMode, ...] = ("lexical", "vector", "hybrid")
# Hits of a query that are looked at: a screen of them.
HITS = 10
# Share of the queries of a collection that it cannot answer: an assumption about what people ask, stated in benchmarks/README.md.
UNANSWERABLE = 0.2
# Headings and pages of one collection that are asked for, at most: every collection counts the same in the fit anyway.
MOST_QUERIES = 200

# Passages under a heading that is asked for, at most: of a whole chapter most say something else.
MOST_PASSAGES = 12

# Judged by page where others are by passage: the floor is checked on it, nothing is fitted on it.
COARSE = ("fastapi-ko",)

IsRelevant = Callable[[Chunk], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """One query to one home; `relevant` says of a chunk whether it is; None where nothing there is."""

    collection: str
    home: str
    text: str
    relevant: IsRelevant | None


@dataclass(frozen=True, slots=True)
class Judged:
    """One query's hits in one mode.

    variant   whose coefficients apply: words or vector or hybrid
    signals   of the hits, best first
    relevant  of each hit, 1 or 0
    answerable  something in the collection is relevant, found or not
    covered     one of the first hits has all of the query's words
    """

    collection: str
    mode: SearchMode
    variant: str
    signals: tuple[Signals, ...]
    relevant: tuple[int, ...]
    answerable: bool
    covered: bool


def load_judged(data: Path, homes: Mapping[str, Runtime] | None = None) -> Iterator[Judged]:
    """Every query of every collection, and as many again of the other collections, in all modes.

    homes  the corpora to ask; None for all
    """
    homes = homes or open_homes(data)
    asked = [query for queries in collections_of(data, homes).values() for query in thin(queries)]
    asked += _foreign(asked)
    for name in dict.fromkeys(query.home for query in asked):
        own = [query for query in asked if query.home == name]
        homes[name].encode_ahead([query.text for query in own])
        for query in own:
            yield from _ask(homes[name], query)


def _ask(kb: Runtime, query: Asked) -> Iterator[Judged]:
    found = retrieve(kb, SearchRequest(query.text, "hybrid"))
    chunks: dict[int, Chunk] = {}
    for mode in MODES:
        if mode == "vector" and not can_read(kb, query.text):
            continue
        fused = fuse(found, mode, kb.config.search)
        ids = [chunk_id for chunk_id, _ in fused.ranking[:HITS]]
        chunks |= kb.corpus.fetch_chunks([i for i in ids if i not in chunks])
        relevant = tuple(int(query.relevant is not None and query.relevant(chunks[i])) for i in ids)
        variant, signals = variant_of(fused, mode), signals_of(fused)
        answerable = query.relevant is not None
        terms = set(found.terms)
        covered = bool(terms) and any(terms <= terms_of(chunks[i]) for i in ids[:READ_FOR_WORDS])
        rows = tuple(signals[i] for i in ids)
        yield Judged(query.collection, mode, variant, rows, relevant, answerable, covered)


def thin(queries: Sequence[Asked]) -> Sequence[Asked]:
    """The first of a fixed order that knows nothing of them."""
    return sorted(queries, key=lambda q: sha256(q.text.encode()).hexdigest())[:MOST_QUERIES]


def collections_of(data: Path, homes: Mapping[str, Runtime]) -> dict[str, list[Asked]]:
    """Every collection's queries, of those whose home is there."""
    return {name: list(make(data, homes)) for name, (home, make) in SOURCES.items() if home in homes}


def _by_path(paths: Sequence[str]) -> IsRelevant:
    wanted = set(paths)
    return lambda chunk: chunk.path in wanted


def _by_span(path: str, spans: Sequence[tuple[int, int]]) -> IsRelevant:
    """A chunk with half of an answering span, or a chunk of which half is one."""

    def is_relevant(chunk: Chunk) -> bool:
        if chunk.path != path:
            return False
        shared = [(min(end, chunk.end) - max(start, chunk.start), end - start) for start, end in spans]
        return any(2 * both >= min(length, chunk.end - chunk.start) for both, length in shared if both > 0)

    return is_relevant


def _cranfield(data: Path, homes: Mapping[str, Runtime]) -> Iterator[Asked]:
    for query in load_beir(data / "cranfield").queries:
        yield Asked("cranfield", "cranfield", query.text, _by_path(list(query.relevant)))


def _clapnq(data: Path, homes: Mapping[str, Runtime]) -> Iterator[Asked]:
    import json

    for line in (data / "clapnq/queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Asked("clapnq", "clapnq", row["text"], _by_path(row["passage"]) if row["answerable"] else None)


def _spans(corpora: Sequence[str]) -> Callable[[Path, Mapping[str, Runtime]], Iterator[Asked]]:
    def load(data: Path, homes: Mapping[str, Runtime]) -> Iterator[Asked]:
        for q in load_spans(data / "chunking-eval"):
            if q.corpus in corpora:
                yield Asked(q.corpus, q.corpus, q.text, _by_span(f"{q.corpus}.md", q.spans))

    return load


def _suite(language: str) -> Callable[[Path, Mapping[str, Runtime]], Iterator[Asked]]:
    def load(data: Path, homes: Mapping[str, Runtime]) -> Iterator[Asked]:
        suite = load_suite(ROOT / "fixtures/suites/corpus.yaml")
        labels = resolve_suite(homes["fixtures"], suite)
        for query in suite.queries:
            if query.slices.get("lang") == language and (wanted := labels.get(query.id)):
                ids = frozenset(wanted)
                yield Asked(f"suite-{language}", "fixtures", query.text, lambda c, ids=ids: c.chunk_id in ids)

    return load


def _headings(home: str) -> Callable[[Path, Mapping[str, Runtime]], Iterator[Asked]]:
    """Headings that stand on one page: the passages under them; the page's title asks for the page."""

    def load(data: Path, homes: Mapping[str, Runtime]) -> Iterator[Asked]:
        kb = homes[home]
        places: dict[str, dict[int, str]] = {}
        rows = kb.store._connection.execute("SELECT doc_id, path FROM documents ORDER BY path")
        for doc_id, path in rows.fetchall():
            for chunk in kb.corpus.fetch_chunks(kb.corpus.chunk_ids_of([doc_id])).values():
                for title in {chunk.title, *chunk.heading_path}:
                    places.setdefault(title, {})[chunk.chunk_id] = path
        for title, under in sorted(places.items()):
            if len(set(under.values())) == 1 and len(title) > 3 and len(under) <= MOST_PASSAGES:
                ids = frozenset(under)
                yield Asked(f"{home}-headings", home, title, lambda c, ids=ids: c.chunk_id in ids)

    return load


def _korean(data: Path, homes: Mapping[str, Runtime]) -> Iterator[Asked]:
    for entry in yaml.safe_load(KOREAN.read_text(encoding="utf-8")):
        if entry["home"] == "fastapi-ko":
            answerable = entry["kind"] == "answerable"
            relevant = _by_path([f"docs/{entry['document']}"]) if answerable else None
            yield Asked("fastapi-ko", entry["home"], entry["question"], relevant)


# collection → its home, and what loads its queries
SOURCES: dict[str, tuple[str, Callable[[Path, Mapping[str, Runtime]], Iterator[Asked]]]] = {
    "cranfield": ("cranfield", _cranfield),
    "clapnq": ("clapnq", _clapnq),
    **{name: (name, _spans([name])) for name in ("chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts")},
    "suite-en": ("fixtures", _suite("en")),
    "suite-ko": ("fixtures", _suite("ko")),
    "fastapi-en-headings": ("fastapi-en", _headings("fastapi-en")),
    "fastapi-ko-headings": ("fastapi-ko", _headings("fastapi-ko")),
    "rust-book-headings": ("rust-book", _headings("rust-book")),
    "fastapi-ko": ("fastapi-ko", _korean),
}
# Collections that might answer for each other: two of encyclopedia articles, of scientific abstracts, of web programming.
ALIKE = (
    {"clapnq", "wikitexts"},
    {"cranfield", "pubmed"},
    {"fastapi-en-headings", "fastapi-ko-headings", "fastapi-ko"},
    {"suite-en", "suite-ko"},
    {"rust-book-headings", "fastapi-en-headings", "fastapi-ko-headings"},
)


def _foreign(asked: Sequence[Asked]) -> Iterator[Asked]:
    """Every answerable query once more, asked of a home that does not answer it; one in Korean mostly of a Korean home."""
    homes = {query.collection: query.home for query in asked}
    for query in asked:
        if query.relevant is None:
            continue
        near = set().union({query.collection}, *(group for group in ALIKE if query.collection in group))
        others = sorted(name for name in homes if name not in near and homes[name] != query.home)
        korean = [name for name in others if "ko" in name.split("-")]
        is_korean = "ko" in query.collection.split("-")
        choice = (korean or others) if is_korean else others
        if not choice:
            continue
        other = choice[int(sha256(query.text.encode()).hexdigest(), 16) % len(choice)]
        yield Asked(other, homes[other], query.text, None)
