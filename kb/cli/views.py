"""The wire objects of the commands that look after a knowledge base; citations and line ranges as users type them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from kb.errors import InvalidInput, NotFound
from kb.records import Citation, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentList:
    """kb list"""

    schema_version: Literal["document_list.v1"] = "document_list.v1"
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """kb show DOC: the text as the store holds it; lines between chunks (front matter, blank ones) are empty.

    start_line  first line of `text`, None where the format has no lines
    page        the only page that `text` is from
    """

    schema_version: Literal["document_view.v1"] = "document_view.v1"
    document: Document
    start_line: int | None
    text: str
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """kb rm"""

    schema_version: Literal["removal.v1"] = "removal.v1"
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """kb open: where a citation is on this machine; `path` absolute."""

    schema_version: Literal["place.v1"] = "place.v1"
    path: str
    exists: bool
    start_line: int | None = None
    end_line: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """kb answers show: the row of the answer, its JSON columns as objects."""

    schema_version: Literal["stored_answer.v1"] = "stored_answer.v1"
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerList:
    """kb answers list, newest first"""

    schema_version: Literal["answer_list.v1"] = "answer_list.v1"
    answers: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRemoval:
    """kb answers rm: how many answers were forgotten.

    freed_bytes  what the store's file has shrunk by; None when another process held it and nothing could be given back
    """

    schema_version: Literal["answer_removal.v1"] = "answer_removal.v1"
    removed: int
    freed_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """kb init, reindex, backup: what was made, and where."""

    schema_version: Literal["done.v1"] = "done.v1"
    done: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaList:
    """kb schema"""

    schema_version: Literal["schema_list.v1"] = "schema_list.v1"
    schemas: tuple[str, ...]


# A `#` that does not begin a line or page belongs to the path, as people write it; in the uris of kb it is encoded.
_URI = re.compile(
    r"(?P<path>.+?)(?:#(?:L(?P<start>\d{1,9})(?:-L?(?P<end>\d{1,9}))?|page=(?P<page>\d{1,9})))?", re.DOTALL
)


def parse_citation(text: str) -> Citation:
    """The citation that a uri stands for; `path:12`, as editors print it, is understood too.

    raises  InvalidInput
    """
    if colon := re.fullmatch(r"(.+):(\d{1,9})", text, re.DOTALL):
        text = f"{colon[1].replace('%', '%25').replace('#', '%23')}#L{colon[2]}"
    match = _URI.fullmatch(text)
    if not match or not match["path"].strip() or re.fullmatch(r"#(L\d+.*|page=\d+)", text):
        raise InvalidInput(f"'{text}' is not a citation", fix="write it as path#L12-L34, path#page=3 or path:12")
    start, end, page = (int(match[name]) if match[name] else None for name in ("start", "end", "page"))
    return Citation(path=unquote(match["path"]), uri=text, start_line=start, end_line=end or start, page=page)


def parse_line_range(text: str) -> tuple[int, int]:
    """`12-34` or `12` as 1-based, inclusive lines.

    raises  InvalidInput
    """
    match = re.fullmatch(r"L?(\d{1,9})(?:-L?(\d{1,9}))?", text.strip())
    if not match or int(match[1]) < 1 or int(match[2] or match[1]) < int(match[1]):
        raise InvalidInput(f"'{text}' is not a range of lines", fix="write it as 12-34")
    return int(match[1]), int(match[2] or match[1])


def select_lines(document: Document, text: str, first_line: int | None, wanted: tuple[int, int]) -> str:
    """Lines A to B of a document's text.

    raises  InvalidInput for a format without lines, NotFound past the end
    """
    if first_line is None:
        raise InvalidInput(f"{document.path} ({document.type}) has no lines", fix="leave out --lines")
    lines = text.split("\n")
    if wanted[0] > len(lines):
        raise NotFound(f"{document.path} has {len(lines)} lines", fix="ask for lines inside it")
    return "\n".join(lines[wanted[0] - 1 : wanted[1]])
