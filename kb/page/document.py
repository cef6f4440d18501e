"""A document and a place in it → what a reader sees: its parts in order, the cited ones marked, what stands before and after.

Which passages are shown is decided here; `kb/page/parts.py` makes the HTML of each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kb.errors import NotFound
from kb.frozen import dataclass
from kb.library import KnowledgeBase
from kb.page.arguments import DocumentPage, PlacePage
from kb.page.originals import Original, find_original
from kb.places import parse_citation, parse_line_range
from kb.records import Chunk, Document, Filters
from kb.store.chunks import document_text

# Passages of one screenful of reading: about 30,000 words. A longer document has several.
PASSAGES_AT_ONCE = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading of the document in the list of contents; `anchor` is the id of its first element."""

    title: str
    depth: int
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document as it is shown.

    chunks           the passages shown, in reading order
    text             theirs, with line n of the file in line n, for formats with lines
    cited_lines      1-based; cited_chunks: ids; for formats without lines
    earlier, later   positions where the part before and after begins, None at the ends
    original         the file of a PDF, as it is now; None for other formats
    lost_passage     the passage that was asked for is gone
    """

    document: Document
    tags: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    passages: int
    text: str
    in_fence: bool
    cited_lines: range
    cited_chunks: frozenset[int]
    sections: tuple[Section, ...]
    earlier: int | None
    later: int | None
    original: Original | None
    lost_passage: bool
    place: str


def read_document(base: KnowledgeBase, given: DocumentPage, doc_id: int) -> DocumentView:
    """The document with this id, at the place that is asked for.

    raises  NotFound, InvalidInput for lines that are none
    """
    kb = base.runtime()
    with kb.snapshot():
        document = kb.corpus.find_document(f"doc:{doc_id}")
        chunks = kb.corpus.chunks_of_document(doc_id)
    has_lines = bool(chunks) and chunks[0].citation.start_line is not None
    cited = _cited(chunks, given, has_lines)
    wanted = given.start if given.start is not None else min((c.position for c in cited), default=0)
    first = min(wanted, max(len(chunks) - 1, 0)) // PASSAGES_AT_ONCE * PASSAGES_AT_ONCE
    window = chunks[first : first + PASSAGES_AT_ONCE]
    end = first + len(window)
    return DocumentView(
        document=document,
        tags=tuple(dict.fromkeys([*document.tags, *document.applied_tags])),
        chunks=tuple(window),
        passages=len(chunks),
        text=document_text(window)[1] if has_lines else "",
        in_fence=_ends_in_fence(chunks[:first]),
        cited_lines=_cited_lines(given, cited) if has_lines else range(0),
        cited_chunks=frozenset(chunk.chunk_id for chunk in cited),
        sections=_sections(window, has_lines),
        earlier=max(first - PASSAGES_AT_ONCE, 0) if first else None,
        later=end if end < len(chunks) else None,
        original=find_original(base, document) if document.type == "pdf" else None,
        lost_passage=bool(given.passage) and not cited,
        place=_place_of(document, given, cited),
    )


def find_place(base: KnowledgeBase, given: PlacePage) -> tuple[int, DocumentPage]:
    """The document that a citation means, and the place in it. No path is looked for anywhere but among the documents.

    raises  InvalidInput for what is no citation, NotFound
    """
    cited = parse_citation(given.uri)
    filters = Filters() if given.source is None else Filters(sources=(given.source,))
    found = [document for document in base.documents(filters) if document.path == cited.path]
    if not found:
        fix = "it may have been removed or renamed since; search for its words"
        raise NotFound(f"no document '{cited.path}'", fix=fix)
    lines = None if cited.start_line is None else f"{cited.start_line}-{cited.end_line or cited.start_line}"
    passage = [] if lines else given.passage
    return found[0].doc_id, DocumentPage(lines=lines, page=cited.page, passage=passage, part=given.part)


def _cited(chunks: Sequence[Chunk], given: DocumentPage, has_lines: bool) -> list[Chunk]:
    """The passages that are meant; none for the whole document, or where they are gone."""
    if given.passage:
        found = [chunk for chunk in chunks if chunk.chunk_id in given.passage]
        if found:
            return found
    if given.lines is not None and has_lines:
        first, last = parse_line_range(given.lines)
        return [c for c in chunks if (c.citation.start_line or 0) <= last and (c.citation.end_line or 0) >= first]
    if given.page is not None:
        return [chunk for chunk in chunks if chunk.citation.page == given.page]
    return []


def _cited_lines(given: DocumentPage, cited: Collection[Chunk]) -> range:
    if given.lines is not None:
        first, last = parse_line_range(given.lines)
        return range(first, last + 1)
    lines = [line for chunk in cited for line in (chunk.citation.start_line, chunk.citation.end_line) if line]
    return range(min(lines), max(lines) + 1) if lines else range(0)


def _ends_in_fence(before: Sequence[Chunk]) -> bool:
    """Whether a block of code goes on past these passages."""
    fences = sum(line.lstrip().startswith(("```", "~~~")) for chunk in before for line in chunk.text.split("\n"))
    return fences % 2 == 1


def _sections(chunks: Sequence[Chunk], has_lines: bool) -> tuple[Section, ...]:
    """Each heading once, at the first passage below it."""
    found: dict[tuple[str, ...], Section] = {}
    for chunk in chunks:
        line = chunk.citation.start_line
        anchor = f"L{line}" if has_lines else f"p{chunk.position}"
        for depth in range(1, len(chunk.heading_path) + 1):
            path = chunk.heading_path[:depth]
            found.setdefault(path, Section(title=path[-1], depth=depth, anchor=anchor))
    return tuple(found.values())


def _place_of(document: Document, given: DocumentPage, cited: Sequence[Chunk]) -> str:
    """The citation of what is marked, as it is copied; the path alone where nothing is."""
    if len(cited) == 1 and given.lines is None:
        return cited[0].citation.uri
    path = document.path.replace("%", "%25").replace("#", "%23")
    if given.lines is not None and cited:
        first, last = parse_line_range(given.lines)
        return f"{path}#L{first}" if first == last else f"{path}#L{first}-L{last}"
    return f"{path}#page={given.page}" if given.page is not None else path
