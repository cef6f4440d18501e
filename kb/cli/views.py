"""The wire objects of the commands that look after a knowledge base."""

from __future__ import annotations

from typing import Any, Literal

from kb.frozen import dataclass
from kb.records import Document


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
    """kb open: where a citation is on this machine; `path` absolute, of a text without a file empty.

    url  of the page, with --web
    """

    schema_version: Literal["place.v1"] = "place.v1"
    path: str
    exists: bool
    start_line: int | None = None
    end_line: int | None = None
    page: int | None = None
    url: str | None = None


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
