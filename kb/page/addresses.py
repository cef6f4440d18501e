"""The addresses of the page: what leads to a document, a place in it, an answer. Pure."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from kb.records import Citation


def document_address(doc_id: int, cited: Citation | None = None, chunk_ids: tuple[int, ...] = ()) -> str:
    """A document at a place: its lines where it has lines, else the passages, else the page.

    >>> document_address(3, Citation(path="a.md", uri="a.md#L2-L4", start_line=2, end_line=4))
    '/documents/3?lines=2-4#cited'
    >>> document_address(3)
    '/documents/3'
    """
    query: list[tuple[str, object]] = []
    if cited is not None and cited.start_line is not None:
        query.append(("lines", f"{cited.start_line}-{cited.end_line or cited.start_line}"))
    else:
        if cited is not None and cited.page is not None:
            query.append(("page", cited.page))
        query += [("passage", chunk_id) for chunk_id in chunk_ids]
    return f"/documents/{doc_id}{f'?{urlencode(query)}#cited' if query else ''}"


def place_address(uri: str, source: str | None = None, chunk_ids: tuple[int, ...] = ()) -> str:
    """A place by its citation, where the document is not looked up yet.

    >>> place_address("a b.md#L2", "notes")
    '/place?uri=a+b.md%23L2&source=notes'
    """
    query: list[tuple[str, object]] = [("uri", uri)]
    if source is not None:
        query.append(("source", source))
    return f"/place?{urlencode([*query, *(('passage', chunk_id) for chunk_id in chunk_ids)], errors='replace')}"


def picture_address(doc_id: int, page: int, chunk_ids: tuple[int, ...]) -> str:
    """The picture of a page, with these passages marked."""
    query = urlencode([("passage", chunk_id) for chunk_id in chunk_ids])
    return f"/documents/{doc_id}/pages/{page}.png{f'?{query}' if query else ''}"


def session_address(name: str) -> str:
    """A conversation.

    >>> session_address("a/b c")
    '/sessions/a%2Fb%20c'
    """
    return f"/sessions/{quote(name, safe='', errors='replace')}"
