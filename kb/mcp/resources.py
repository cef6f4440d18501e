"""Documents and passages as resources: their uris, pages of a list, what is read, and what a uri may be completed to.

kb://document/SOURCE/PATH   a document's text, quoted, as far as a budget goes
kb://passage/CHUNK_ID       a passage with its neighbours
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from kb.errors import InvalidInput, NotFound
from kb.frozen import dataclass
from kb.library import KnowledgeBase
from kb.mcp.texts import reading_text
from kb.reading import DocumentPage, DocumentRow, ReadRequest, list_page, read_part
from kb.records import Filters

DOCUMENT_TEMPLATE = "kb://document/{source}/{+path}"
PASSAGE_TEMPLATE = "kb://passage/{chunk_id}"
PAGE = 100
# Completions that the protocol lets a server give at most.
MOST_COMPLETIONS = 100
# Estimated tokens of a whole document: what is longer goes on with the tool `read`.
WHOLE_TOKENS = 20_000
AROUND = 1

_DOCUMENT = re.compile(r"kb://document/([^/]+)/(.+)", re.DOTALL)
_PASSAGE = re.compile(r"kb://passage/([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class Completions:
    """Values that begin with, or hold, what was typed; `total` counts those that were left out too."""

    values: tuple[str, ...]
    total: int


def document_uri(source: str, path: str) -> str:
    """The uri of a document.

    >>> document_uri("notes", "a b/c#d.md")
    'kb://document/notes/a%20b/c%23d.md'
    """
    return f"kb://document/{quote(source, safe='', errors='replace')}/{quote(path, safe='/', errors='replace')}"


def read_offset(cursor: str | None) -> int:
    """The offset that a cursor stands for.

    raises  InvalidInput for one that no page has given
    """
    if cursor is None:
        return 0
    if not re.fullmatch(r"[0-9]{1,15}", cursor):
        raise InvalidInput("the cursor is none of this server", fix="leave it out to begin with the first page")
    return int(cursor)


def resource_page(base: KnowledgeBase, cursor: str | None) -> DocumentPage:
    """A page of the documents; of a home that holds nothing an empty one."""
    return list_page(base.runtime(), Filters(), read_offset(cursor), PAGE)


def describe(row: DocumentRow) -> str:
    """What a person sees of a document in a list of resources."""
    tags = f" · {', '.join(row.tags)}" if row.tags else ""
    return f"{row.type}, {row.passages} passages, {row.modified_at[:10]}{tags}"


def read_resource(base: KnowledgeBase, uri: str) -> str:
    """The text of a resource, quoted under its place.

    raises  NotFound for what is not there, InvalidInput for another uri
    """
    if found := _DOCUMENT.fullmatch(uri):
        source, path = unquote(found[1]), unquote(found[2])
        document = next((d for d in base.documents(Filters(sources=(source,))) if d.path == path), None)
        if document is None:
            raise NotFound(f"no document '{path}' from '{source}'", fix="list the resources to see what there is")
        request = ReadRequest(f"doc:{document.doc_id}", max_tokens=WHOLE_TOKENS)
    elif passage := _PASSAGE.fullmatch(uri):
        request = ReadRequest(chunk_id=int(passage[1]), around=AROUND)
    else:
        raise InvalidInput("this uri names no resource", fix=f"use {DOCUMENT_TEMPLATE} or {PASSAGE_TEMPLATE}")
    return reading_text(read_part(base.runtime(), request))


def complete(base: KnowledgeBase, argument: str, typed: str, source: str | None) -> Completions:
    """What a source, a path or a document's name may be: those that begin with what was typed first, then those that
    hold it.

    source  of the path, None for all
    """
    filters = Filters(sources=(source,)) if source else Filters()
    names: list[str] = []
    if argument == "source":
        names = list(base.runtime().corpus.source_roots())
    elif argument in ("path", "document"):
        names = [document.path for document in base.documents(filters)]
    wanted = typed.casefold()
    holding = [name for name in dict.fromkeys(names) if wanted in name.casefold()]
    holding.sort(key=lambda name: (not name.casefold().startswith(wanted), name))
    return Completions(tuple(holding[:MOST_COMPLETIONS]), len(holding))
