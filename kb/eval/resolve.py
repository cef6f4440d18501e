"""A suite's labels → the chunks of this knowledge base that contain their words, or every fault at once.

Pure, except `resolve_suite`, which reads the store. Texts are compared in NFKC with white space collapsed, case kept.
"""

from __future__ import annotations

import difflib
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from kb.errors import NotIndexed
from kb.eval.records import Label, Suite
from kb.eval.suite import Fault, raise_faults
from kb.frozen import dataclass
from kb.records import Chunk
from kb.runtime import Runtime

# Places or sources that a fault names at most.
PLACES_SHOWN = 4
# Three letters are enough to find a similar passage, in Korean too.
SHINGLE_CHARS = 3
# Of a longer anchor only the beginning is compared with similar text: difflib takes quadratic time.
MOST_ANCHOR_CHARS = 400

ChunksOfPath = Callable[[str], Sequence[Chunk]]
Judgements = dict[str, dict[int, int]]


class _Unresolved(Exception):
    """A label does not match exactly one place; the message says why."""


@dataclass(frozen=True, slots=True)
class _Page:
    """One document's text, joined from its chunks.

    starts  where each chunk begins in `text`, ascending
    """

    chunks: tuple[Chunk, ...]
    text: str
    starts: tuple[int, ...]

    def chunks_between(self, start: int, end: int) -> tuple[Chunk, ...]:
        """The chunks that overlap [start, end)."""
        return self.chunks[bisect_right(self.starts, start) - 1 : bisect_right(self.starts, end - 1)]


def resolve_suite(kb: Runtime, suite: Suite) -> Judgements:
    """Resolve a suite's labels in a knowledge base: query id → chunk id → grade; every query is in it.

    A path is relative to the root of its source, or `source/path`.

    raises  SuiteInvalid with every label that does not resolve, NotIndexed when there is no document at all
    """
    by_path: dict[str, list[int]] = {}
    documents = kb.corpus.list_documents()
    if not documents:
        raise NotIndexed("a suite's labels name places in documents, and there are no documents", fix="kb ingest PATH")
    for document in documents:
        by_path.setdefault(unicodedata.normalize("NFC", document.path), []).append(document.doc_id)
    for document in documents:
        by_path.setdefault(unicodedata.normalize("NFC", f"{document.source}/{document.path}"), [document.doc_id])

    def chunks_of_path(path: str) -> list[Chunk]:
        doc_ids = by_path.get(unicodedata.normalize("NFC", path), [])
        return [chunk for doc_id in doc_ids for chunk in kb.corpus.chunks_of_document(doc_id)]

    return resolve_labels(suite, chunks_of_path, [document.path for document in documents])


def resolve_labels(suite: Suite, chunks_of_path: ChunksOfPath, known_paths: Sequence[str]) -> Judgements:
    """Find the chunks of every label: query id → chunk id → grade, the highest where labels overlap.

    chunks_of_path  path → the chunks of every document with that path; empty for an unknown path
    known_paths     for the hint about an unknown path
    raises          SuiteInvalid with every label that does not resolve to exactly one place
    """
    pages_of: dict[str, tuple[_Page, ...]] = {}
    faults: list[Fault] = []
    judged: Judgements = {}
    for query in suite.queries:
        grades = judged.setdefault(query.id, {})
        for label in query.labels:
            if label.path not in pages_of:
                pages_of[label.path] = _make_pages(chunks_of_path(label.path))
            try:
                found = _resolve_label(label, pages_of[label.path], known_paths)
            except _Unresolved as problem:
                faults.append(Fault(label.line, f"{query.id}: {problem}"))
                continue
            for chunk in found:
                grades[chunk.chunk_id] = max(label.grade, grades.get(chunk.chunk_id, 0))
    raise_faults(suite.path, faults, fix="correct these labels, or ingest the documents the suite was written for")
    return judged


def _make_pages(chunks: Sequence[Chunk]) -> tuple[_Page, ...]:
    by_document: dict[int, list[Chunk]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.doc_id, []).append(chunk)
    return tuple(_make_page(sorted(rows, key=lambda c: c.position)) for _, rows in sorted(by_document.items()))


def _make_page(chunks: Sequence[Chunk]) -> _Page:
    text = ""
    starts = []
    previous: Chunk | None = None
    for chunk in chunks:
        if previous is not None and not _joins(previous, chunk):
            text += " "
        starts.append(len(text))
        text += collapse(chunk.text)
        previous = chunk
    return _Page(tuple(chunks), text, tuple(starts))


def _joins(left: Chunk, right: Chunk) -> bool:
    """True when the cut between two chunks went through a word or a run without spaces."""
    return left.end == right.start and not left.text[-1:].isspace() and not right.text[:1].isspace()


def collapse(text: str) -> str:
    """NFKC with every run of white space as one space: the form that labels and texts are compared in."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _resolve_label(label: Label, pages: Sequence[_Page], known_paths: Sequence[str]) -> list[Chunk]:
    """The chunks of a label; of both documents when two sources have the same text under the same path."""
    if not pages:
        near = difflib.get_close_matches(label.path, known_paths, n=1, cutoff=0.5)
        raise _Unresolved(f"no document '{label.path}'" + (f", did you mean '{near[0]}'?" if near else ""))
    if len({page.text for page in pages}) > 1:
        sources = [page.chunks[0].source for page in pages]
        raise _Unresolved(
            f"'{label.path}' is in {len(pages)} sources with different texts:"
            f" name it as {_listed([f'{source}/{label.path}' for source in sources])}"
        )
    find = _find_anchor if label.anchor is not None else _find_heading
    return [chunk for page in pages for chunk in find(label, page)]


def _find_anchor(label: Label, page: _Page) -> Sequence[Chunk]:
    quoted = " ".join((label.anchor or "").split())
    wanted = collapse(quoted)
    places = list(_occurrences(page.text, wanted))
    if len(places) == 1:
        return page.chunks_between(places[0], places[0] + len(wanted))
    if not places:
        near = _nearest_text(page.text, wanted)
        hint = f'; the nearest is "{near}"' if near else "; nothing in it is like it"
        raise _Unresolved(f'no "{quoted}" in {label.path}{hint}')
    uris = [page.chunks_between(place, place + len(wanted))[0].citation.uri for place in places]
    raise _Unresolved(
        f'"{quoted}" appears {len(places)} times in {label.path}: {_listed(uris)}; quote more of the passage'
    )


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    place = text.find(wanted)
    while wanted and place >= 0:
        yield place
        place = text.find(wanted, place + 1)


def _find_heading(label: Label, page: _Page) -> Sequence[Chunk]:
    """The chunks under a heading that occurs once; the same heading again later in the document is another place."""
    wanted = collapse(label.heading or "")
    places: list[tuple[tuple[str, ...], list[Chunk]]] = []
    previous: tuple[str, ...] | None = None
    for chunk in page.chunks:
        titles = tuple(collapse(title) for title in chunk.heading_path)
        above = titles[: titles.index(wanted) + 1] if wanted in titles else None
        if above is not None and above == previous:
            places[-1][1].append(chunk)
        elif above is not None:
            places.append((above, [chunk]))
        previous = above
    if len(places) == 1:
        return places[0][1]
    if places:
        uris = [chunks[0].citation.uri for _, chunks in places]
        raise _Unresolved(
            f"the heading '{wanted}' appears {len(places)} times in {label.path}: {_listed(uris)}; use an anchor"
        )
    headings = list(dict.fromkeys(collapse(title) for chunk in page.chunks for title in chunk.heading_path))
    near = difflib.get_close_matches(wanted, headings, n=1, cutoff=0.3)
    hint = f"; the nearest is '{near[0]}'" if near else "; it has no heading" if not headings else ""
    raise _Unresolved(f"no heading '{wanted}' in {label.path}{hint}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:PLACES_SHOWN]) + (", …" if len(names) > PLACES_SHOWN else "")


def _nearest_text(text: str, wanted: str) -> str:
    """The part of a text that is most similar to a passage; empty when they share no run of three letters.

    One pass finds where most of the passage's letter runs are; difflib compares letter by letter only there.
    """
    wanted = wanted[:MOST_ANCHOR_CHARS]
    size = len(wanted)
    letters = min(SHINGLE_CHARS, size)
    shingles = {wanted[i : i + letters] for i in range(size - letters + 1)}
    crowds: dict[int, set[str]] = {}
    for place in range(len(text) - letters + 1):
        shingle = text[place : place + letters]
        if shingle in shingles:
            crowds.setdefault(place // size, set()).add(shingle)
            crowds.setdefault(place // size - 1, set()).add(shingle)
    if not crowds:
        return ""
    best = max(sorted(crowds), key=lambda bucket: len(crowds[bucket]))
    left = max(0, best * size)
    window = text[left : left + 2 * size + SHINGLE_CHARS]
    blocks = difflib.SequenceMatcher(None, window, wanted, autojunk=False).get_matching_blocks()
    solid = [block for block in blocks if block.size >= letters]
    return _whole_words(text, left + solid[0].a, left + solid[-1].a + solid[-1].size)


def _whole_words(text: str, start: int, end: int) -> str:
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end]
