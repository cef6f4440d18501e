"""A document → the part of it that is asked for, within a budget of tokens, and where to go on.

`kb show` prints whole documents; whoever reads for a model needs a few passages of one: around a hit, under a heading, some
lines, or the next piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kb.errors import InvalidInput, NotFound
from kb.frozen import dataclass
from kb.places import parse_citation, parse_line_range
from kb.records import Chunk, Citation, Document, Filters
from kb.runtime import Runtime
from kb.store.chunks import document_text, make_citation
from kb.text import estimate_tokens

# Headings that an error names at most.
NAMED_SECTIONS = 12


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Which part of which document.

    name        a path, the unique end of one, doc:12, a citation (path#L12-L34), or None with `chunk_id`
    chunk_id    the passage to read around, as a hit has it
    lines       "12-34" in the original file
    section     a heading, or a part of one
    around      passages before and after what is asked for
    start       position of the first passage: where an earlier reading stopped
    max_tokens  estimated, of the text; a passage that is longer alone is cut
    """

    name: str | None = None
    chunk_id: int | None = None
    lines: str | None = None
    section: str | None = None
    around: int = 0
    start: int = 0
    max_tokens: int = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A part of a document.

    citation       of the text, exact lines where the format has lines
    text           as it stands in the document; lines between its passages (blank ones) are empty
    sections       headings of the whole document, those of the first passages only
    passages       how many passages the document has; first and last of those in `text` are 0-based positions
    next_start     `start` of the next piece; None at the end of what was asked for
    is_cut         the only passage is longer than the budget, and was cut
    """

    schema_version: Literal["reading.v1"] = "reading.v1"
    doc_id: int
    source: str
    path: str
    title: str
    citation: Citation
    text: str
    tokens: int
    passages: int
    first: int
    last: int
    next_start: int | None = None
    is_cut: bool = False
    sections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """A document in a list; `passages` is how many chunks it has."""

    doc_id: int
    source: str
    path: str
    title: str
    type: str
    language: str
    tags: tuple[str, ...]
    size_bytes: int
    passages: int
    modified_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """Some of the documents, by source and path; `total` counts all that pass the filters.

    next_offset  where the next page begins, None on the last one
    """

    schema_version: Literal["document_page.v1"] = "document_page.v1"
    total: int
    offset: int
    documents: tuple[DocumentRow, ...]
    next_offset: int | None = None


def list_page(kb: Runtime, filters: Filters, offset: int, limit: int) -> DocumentPage:
    """A page of the list of documents.

    raises  InvalidInput for a filter that means nothing
    """
    with kb.snapshot():
        allowed = kb.corpus.allowed_documents(filters)
        total = kb.corpus.count_documents() if allowed is None else len(allowed)
        documents = kb.corpus.list_documents(allowed)[offset : offset + limit]
    end = offset + len(documents)
    rows = tuple(map(_row, documents))
    return DocumentPage(total=total, offset=offset, documents=rows, next_offset=end if rows and end < total else None)


def _row(document: Document) -> DocumentRow:
    return DocumentRow(
        doc_id=document.doc_id,
        source=document.source,
        path=document.path,
        title=document.title,
        type=document.type,
        language=document.language,
        tags=tuple(dict.fromkeys([*document.tags, *document.applied_tags])),
        size_bytes=document.size_bytes,
        passages=len(document.chunk_ids),
        modified_at=document.modified_at,
    )


def read_part(kb: Runtime, request: ReadRequest) -> Reading:
    """The part of a document that is asked for, from its first passage on, as far as the budget goes.

    raises  InvalidInput for a request that names nothing or contradicts itself, NotFound for what is not there
    """
    if (request.name is None) == (request.chunk_id is None):
        raise InvalidInput("name a document or a passage, not both", fix="give document, or the chunk_id of a hit")
    with kb.snapshot():
        document, wanted = _find(kb, request)
        chunks = kb.corpus.chunks_of_document(document.doc_id)
    if not chunks:
        raise NotFound(f"{document.path} holds no text", fix="read another document; list_documents names them")
    chosen = _with_neighbours(_choose(document, chunks, request, wanted), chunks, request.around)
    chosen = [chunk for chunk in chosen if chunk.position >= request.start]
    if not chosen:
        last = f"its last passage is {chunks[-1].position}"
        raise NotFound(
            f"{document.path} has nothing to read from passage {request.start}", fix=f"{last}; start earlier"
        )
    return _fill(document, chunks, chosen, request.max_tokens)


def evidence_at(kb: Runtime, place: str) -> tuple[str, str]:
    """(text, title) of the passages that a citation means: those that its lines or its page touch, or the whole document.

    raises  InvalidInput for what is no citation, NotFound
    """
    request = ReadRequest(place)
    with kb.snapshot():
        document, wanted = _find(kb, request)
        chunks = kb.corpus.chunks_of_document(document.doc_id)
    return document_text(_choose(document, chunks, request, wanted))[1].strip("\n"), document.title


def _find(kb: Runtime, request: ReadRequest) -> tuple[Document, Citation | Chunk]:
    """(the document, the place in it that is meant)."""
    if request.chunk_id is not None:
        chunk = kb.corpus.fetch_chunks([request.chunk_id]).get(request.chunk_id)
        if chunk is None:
            fix = "search again: passages get new ids when their document changes"
            raise NotFound(f"no passage {request.chunk_id}", fix=fix)
        return kb.corpus.find_document(f"doc:{chunk.doc_id}"), chunk
    name = request.name or ""
    if name.startswith("doc:"):
        return kb.corpus.find_document(name), Citation(path=name, uri=name)
    wanted = parse_citation(name)
    return kb.corpus.find_document(wanted.path), wanted


def _choose(
    document: Document, chunks: Sequence[Chunk], request: ReadRequest, wanted: Citation | Chunk
) -> Sequence[Chunk]:
    """The passages that a request means, in reading order."""
    if isinstance(wanted, Chunk):
        return [chunk for chunk in chunks if chunk.chunk_id == wanted.chunk_id]
    if request.section is not None:
        return _in_section(document, chunks, request.section)
    if request.lines is not None:
        first, last = parse_line_range(request.lines)
    elif wanted.start_line is not None:
        first, last = wanted.start_line, wanted.end_line or wanted.start_line
    elif wanted.page is not None:
        return _or_not_found([c for c in chunks if c.citation.page == wanted.page], document, f"page {wanted.page}")
    else:
        return chunks
    if chunks and chunks[0].citation.start_line is None:
        raise InvalidInput(f"{document.path} ({document.type}) has no lines", fix="leave the lines out")
    touching = [c for c in chunks if (c.citation.start_line or 0) <= last and (c.citation.end_line or 0) >= first]
    return _or_not_found(touching, document, f"text at lines {first}-{last}")


def _in_section(document: Document, chunks: Sequence[Chunk], section: str) -> Sequence[Chunk]:
    wanted = section.casefold().strip()
    exact = [c for c in chunks if any(wanted == heading.casefold() for heading in c.heading_path)]
    found = exact or [c for c in chunks if any(wanted in heading.casefold() for heading in c.heading_path)]
    if not found:
        names = _sections(chunks)
        there_is = f"there are: {'; '.join(names[:NAMED_SECTIONS])}" if names else "it has none; leave section out"
        raise NotFound(f"{document.path} has no section '{section}'", fix=there_is)
    return found


def _or_not_found(found: list[Chunk], document: Document, what: str) -> list[Chunk]:
    if not found:
        raise NotFound(f"{document.path} has no {what}", fix="read the document from its start to see what it has")
    return found


def _with_neighbours(chosen: Sequence[Chunk], chunks: Sequence[Chunk], around: int) -> list[Chunk]:
    near = {chunk.position + step for chunk in chosen for step in range(-around, around + 1)}
    return [chunk for chunk in chunks if chunk.position in near]


def _fill(document: Document, chunks: Sequence[Chunk], chosen: list[Chunk], max_tokens: int) -> Reading:
    """As many of the passages as fit; a first one that is too long alone is cut at the end of a line or a word."""
    taken: list[Chunk] = []
    tokens = 0
    for chunk in chosen:
        tokens += estimate_tokens(chunk.text) + 1
        if taken and tokens > max_tokens:
            break
        taken.append(chunk)
    text = document_text(taken)[1].lstrip("\n")
    shown, is_cut = _cut(text, max_tokens) if len(taken) == 1 else (text, False)
    end = chosen[len(taken)].position if len(taken) < len(chosen) else None
    return Reading(
        doc_id=document.doc_id,
        source=document.source,
        path=document.path,
        title=document.title,
        citation=_span(taken, document.path),
        text=shown,
        tokens=estimate_tokens(shown),
        passages=len(chunks),
        first=taken[0].position,
        last=taken[-1].position,
        next_start=end,
        is_cut=is_cut,
        sections=tuple(_sections(chunks)[:NAMED_SECTIONS]) if taken[0].position == 0 else (),
    )


def _cut(text: str, max_tokens: int) -> tuple[str, bool]:
    """(the longest beginning that is no longer than the budget, whether anything was left out)."""
    if estimate_tokens(text) <= max_tokens:
        return text, False
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= max_tokens else (low, middle - 1)
    end = max(text.rfind("\n", 0, low), text.rfind(" ", 0, low))
    return text[: end if end > low // 2 else low].rstrip(), True


def _span(taken: Sequence[Chunk], path: str) -> Citation:
    first, last = taken[0].citation, taken[-1].citation
    if len(taken) == 1:
        return first
    page = first.page if first.page == last.page else None
    section = first.section if first.section == last.section else None
    return make_citation(path, first.start_line, last.end_line, page, section)


def _sections(chunks: Sequence[Chunk]) -> list[str]:
    """Every heading once, in reading order, with those above it."""
    return list(dict.fromkeys(" > ".join(chunk.heading_path) for chunk in chunks if chunk.heading_path))
