"""What a user names → a document and a place in it: a hit's number, a citation as printed, a path, a chunk's id."""

from __future__ import annotations

import re
from pathlib import Path

from kb.errors import InvalidInput, NotFound
from kb.frozen import dataclass
from kb.library import KnowledgeBase
from kb.places import parse_citation, select_lines
from kb.records import Chunk, Citation, Document
from kb.store.last_shown import read_shown

# An id with more digits than SQLite's 64-bit integers cannot exist.
MAX_ID_DIGITS = 18
_HAS_PLACE = re.compile(r"(#L\d|#page=\d|(?<!^doc):\d+$)")
_NUMBER = re.compile(r"\[?#?([1-9]\d{0,3})\]?")


@dataclass(frozen=True, slots=True)
class Target:
    """A place in a document; `cited` has neither line nor page where the whole document is meant."""

    document: Document
    cited: Citation

    def is_whole(self) -> bool:
        """True where no part of the document was named."""
        return self.cited.start_line is None and self.cited.page is None


def shown_number(text: str) -> int | None:
    """The number of a hit or of a citation, written as 3, #3, [3] or [#3]; None for anything else.

    >>> shown_number("3"), shown_number("[#12]"), shown_number("a.md"), shown_number("0")
    (3, 12, None, None)
    """
    found = _NUMBER.fullmatch(text.strip())
    return int(found[1]) if found else None


def find_target(base: KnowledgeBase, name: str) -> Target:
    """The place a user means: a number of the last search or answer, a citation, `path:12`, or a document.

    raises  NotFound, InvalidInput
    """
    number = shown_number(name)
    if number is not None:
        found = find_shown(base, number)
        if found is not None:
            return found
        raise _no_such_number(base.home, number)
    if not _HAS_PLACE.search(name):
        document = base.document(name)
        return Target(document, Citation(path=document.path, uri=document.path))
    cited = parse_citation(name)
    is_whole = cited.start_line is None and cited.page is None
    return Target(base.document(name if is_whole else cited.path), cited)


def find_shown(base: KnowledgeBase, number: int) -> Target | None:
    """The place with this number in the last search or answer; None where it had no such number."""
    for shown in read_shown(base.home):
        if shown.number == number:
            cited = parse_citation(shown.uri)
            return Target(base.document(f"{shown.source}/{cited.path}" if shown.source else cited.path), cited)
    return None


def _no_such_number(home: Path, number: int) -> NotFound:
    known = [shown.number for shown in read_shown(home)]
    if not known:
        return NotFound(f"no search or answer has shown a place {number}", fix="search first: kb search WORDS")
    listed = ", ".join(map(str, known[:20]))
    return NotFound(f"the last search or answer has no place {number}", fix=f"use one of: {listed}")


def find_chunk(base: KnowledgeBase, name: str) -> Chunk | None:
    """The chunk that is named as 12 or chunk:12; None for any other name.

    raises  NotFound
    """
    number = name.removeprefix("chunk:")
    if not number.isdecimal():
        return None
    chunk_id = int(number) if len(number) <= MAX_ID_DIGITS else 0
    chunk = base.chunks([chunk_id]).get(chunk_id)
    if chunk is None:
        raise NotFound(
            f"no chunk {number}, and no hit of the last search with this number",
            fix="a search numbers its hits, and shows chunk ids with --json; documents are doc:ID",
        )
    return chunk


def text_of(base: KnowledgeBase, target: Target) -> tuple[int | None, str]:
    """(first line, text) of a place; the line is None for a format without lines.

    raises  InvalidInput for lines in a format that has none, NotFound past the end
    """
    cited = target.cited
    if cited.page is not None:
        chunks = base.runtime().corpus.chunks_of_document(target.document.doc_id)
        on_page = [chunk.text for chunk in chunks if chunk.citation.page == cited.page]
        if not on_page:
            pages = sorted({chunk.citation.page for chunk in chunks if chunk.citation.page})
            known = f"it has pages {pages[0]} to {pages[-1]}" if pages else "it has no pages"
            raise NotFound(f"{target.document.path} has no text on page {cited.page}", fix=known)
        return None, "\n\n".join(on_page)
    first_line, text = base.text(target.document)
    if cited.start_line is None:
        return first_line, text
    if cited.start_line < 1:
        raise InvalidInput("lines are counted from 1", fix="write it as path#L12-L34")
    wanted = (cited.start_line, max(cited.end_line or cited.start_line, cited.start_line))
    return wanted[0], select_lines(target.document, text, first_line, wanted)
