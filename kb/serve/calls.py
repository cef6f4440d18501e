"""The calls of the HTTP API: path → what it takes, what it calls of the library, the wire object that it gives.

A new call is one function and one entry. None has logic of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from kb.ask.records import Answer, AnswerEvent
from kb.context.records import ContextResponse
from kb.doors.arguments import Arguments
from kb.frozen import dataclass
from kb.library import KnowledgeBase
from kb.reading import DocumentPage, Reading, ReadRequest, list_page, read_part
from kb.records import SearchResponse
from kb.serve.arguments import AskCall, ContextCall, ListCall, NothingCall, ReadCall, SearchCall
from kb.status import Status, read_status

# A search or a list that takes longer stands behind a queue that nobody should wait in.
READ_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the API; the parts of the path that vary are given to `run` by name."""

    path: str
    methods: tuple[str, ...]
    summary: str
    takes: type[Arguments]
    run: Callable[..., object]
    schema: str


def search(base: KnowledgeBase, given: SearchCall) -> SearchResponse:
    return base.search(
        given.query,
        k=given.k,
        mode=given.mode,
        filters=given.filters(),
        min_score=given.min_score,
        seen=given.seen or None,
        explain=given.explain,
        rerank=given.rerank,
    )


def context(base: KnowledgeBase, given: ContextCall) -> ContextResponse:
    return base.context(
        given.query,
        k=given.k,
        mode=given.mode,
        filters=given.filters(),
        max_tokens=given.max_tokens,
        seen=given.seen or None,
        session=given.session,
        project=given.project,
    )


def documents(base: KnowledgeBase, given: ListCall) -> DocumentPage:
    return list_page(base.runtime(), given.filters(), given.offset, given.limit)


def document(base: KnowledgeBase, given: ReadCall, doc_id: int) -> Reading:
    request = ReadRequest(
        name=f"doc:{doc_id}",
        lines=given.lines,
        section=given.section,
        around=given.around,
        start=given.start,
        max_tokens=given.max_tokens,
    )
    return read_part(base.runtime(), request)


def status(base: KnowledgeBase, given: NothingCall) -> Status:
    return read_status(base.runtime())


def ask(base: KnowledgeBase, given: AskCall, on_event: Callable[[AnswerEvent], None]) -> Answer:
    """Not in CALLS: it is streamed, and takes as long as the model does."""
    return base.ask(
        given.question,
        k=given.k,
        mode=given.mode,
        filters=given.filters(),
        session=given.session,
        seen=given.seen or None,
        explain=given.explain,
        on_event=on_event,
    )


BOTH = ("GET", "POST")
CALLS: tuple[Call, ...] = (
    Call("/api/search", BOTH, "Ranked passages, as kb search --json", SearchCall, search, "search_response.v1"),
    Call("/api/context", BOTH, "A context block, as kb context --json", ContextCall, context, "context.v1"),
    Call("/api/documents", ("GET",), "The documents, page by page", ListCall, documents, "document_page.v1"),
    Call("/api/documents/{doc_id:int}", ("GET",), "A part of one document", ReadCall, document, "reading.v1"),
    Call("/api/status", ("GET",), "The state of the knowledge base", NothingCall, status, "status.v1"),
)
ASK = Call("/api/ask", ("POST",), "A cited answer or a refusal; streamed where asked for", AskCall, ask, "answer.v1")
