"""The addresses of the page → what each takes, what it calls of the library, the template that shows it.

A page is one function and one entry. Reading is done on the desk's thread, as for the API; HTML is made beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kb.doors.arguments import Arguments, read_arguments, schema_of
from kb.doors.desk import Desk
from kb.doors.worker import error_of, log_bug
from kb.errors import InvalidInput, KbError, NotFound, NotIndexed, ParseFailed
from kb.frozen import dataclass
from kb.library import KnowledgeBase
from kb.page.addresses import document_address
from kb.page.answers import read_answer, read_ask, read_session, read_sessions
from kb.page.arguments import (
    AnswerPage,
    AskPage,
    DocumentPage,
    DocumentsPage,
    PicturePage,
    PlacePage,
    PlainPage,
    SearchPage,
    TagsPage,
)
from kb.page.document import find_place, read_document
from kb.page.evaluations import read_evaluations, render_evaluations
from kb.page.neighbourhood import read_neighbourhood
from kb.page.originals import Original, Pictures, find_original
from kb.page.render import STATIC, render, static_file
from kb.page.search import read_documents, read_recent, read_search
from kb.records import Citation
from kb.tags.listing import list_tags
from kb.tags.records import TagList

Endpoint = Callable[[Request], Awaitable[Response]]
# A question and the name of its conversation, None for none → the trace id of the answer, when it is stored.
Ask = Callable[[str, str | None], Awaitable[str]]

MOST_FORM_BYTES = 100_000
MOST_TAGS = 500
READ_SECONDS = 30.0
PAGE_HEADERS = {"cache-control": "private, no-cache"}
STATIC_HEADERS = {"cache-control": "private, max-age=31536000, immutable"}
PICTURE_HEADERS = {"cache-control": "private, max-age=300"}


@dataclass(frozen=True, slots=True)
class Page:
    """One address; `part` is the template for what the script puts into a page, of a page that takes `part`."""

    path: str
    takes: type[Arguments]
    run: Callable[..., object]
    template: str
    part: str = ""


def read_tags(base: KnowledgeBase, given: TagsPage) -> TagList:
    """The vocabulary of tags, those that hold all the words."""
    return list_tags(base.runtime(), tuple(given.words.split()), MOST_TAGS)


def read_changes(base: KnowledgeBase, given: PlainPage) -> object:
    """The documents that were read last."""
    return read_recent(base)


PAGES: tuple[Page, ...] = (
    Page("/", SearchPage, read_search, "search.html", "results.html"),
    Page("/documents", DocumentsPage, read_documents, "documents.html"),
    Page("/documents/{doc_id:int}", DocumentPage, read_document, "document.html", "document_part.html"),
    Page("/documents/{doc_id:int}/around", PlainPage, read_neighbourhood, "neighbourhood.html"),
    Page("/ask", AskPage, read_ask, "ask.html"),
    Page("/answers/{trace_id}", AnswerPage, read_answer, "answer.html", "answer_part.html"),
    Page("/sessions", PlainPage, read_sessions, "sessions.html"),
    Page("/sessions/{name:path}", PlainPage, read_session, "session.html"),
    Page("/tags", TagsPage, read_tags, "tags.html"),
    Page("/changes", PlainPage, read_changes, "changes.html"),
)


def page_routes(desk: Desk, ask: Ask, counted: Callable[[str, Endpoint], Endpoint]) -> list[Route]:
    """Every address of the page.

    counted   what counts the requests of an address by its name
    """
    pictures = Pictures()
    own: dict[str, Endpoint] = {page.path: _endpoint(desk, page) for page in PAGES} | {
        "/place": _place(desk),
        "/documents/{doc_id:int}/pages/{page:int}.png": _picture(desk, pictures),
        "/evaluations": _evaluations(desk),
        "/evaluations/report": _report(desk),
        "/static/{name}": _static,
    }
    routes = [Route(path, counted(path, _told(endpoint)), methods=["GET"]) for path, endpoint in own.items()]
    return [*routes, Route("/ask", counted("/ask", _told(_asked(ask))), methods=["POST"])]


def _told(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose errors are pages for people."""

    async def told(request: Request) -> Response:
        try:
            return await endpoint(request)
        except KbError as error:
            return _error_page(error)
        except TimeoutError:
            return _error_page(KbError("nothing came in time", fix="try again in a moment"), 504)
        except ClientDisconnect:
            raise
        except Exception as error:  # the reader is told of it, and the server goes on
            log_bug(error)
            return _error_page(error_of(error), 500)

    return told


def _error_page(error: KbError, status: int | None = None) -> Response:
    known = (
        404
        if isinstance(error, NotFound | NotIndexed | ParseFailed)
        else 400
        if isinstance(error, InvalidInput)
        else 503
    )
    return HTMLResponse(render("error.html", error=error), status_code=status or known, headers=PAGE_HEADERS)


async def _read(desk: Desk, job: Callable[[KnowledgeBase], Any]) -> Any:
    return await asyncio.wait_for(desk.read(job), READ_SECONDS)


@cache
def _lists(takes: type[Arguments]) -> frozenset[str]:
    """The arguments that are lists."""
    shapes = schema_of(takes)["properties"]
    return frozenset(name for name, shape in shapes.items() if shape.get("type") == "array")


def _given(request: Request, takes: type[Arguments]) -> Any:
    """The arguments of an address; what a form leaves empty was not given."""
    lists, query = _lists(takes), request.query_params
    sent = {name: query.getlist(name) if name in lists else query[name] for name in query}
    return read_arguments(takes, {name: value for name, value in sent.items() if value not in ("", [""])})


def _endpoint(desk: Desk, page: Page) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        given = _given(request, page.takes)
        view = await _read(desk, lambda base: page.run(base, given, **request.path_params))
        template = page.part if getattr(given, "part", False) else page.template
        html = await asyncio.to_thread(render, template, view=view, given=given)
        return HTMLResponse(html, headers=PAGE_HEADERS)

    return endpoint


def _place(desk: Desk) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        given: PlacePage = _given(request, PlacePage)
        doc_id, place = await _read(desk, lambda base: find_place(base, given))
        cited = None
        if place.lines:
            first, _, last = place.lines.partition("-")
            cited = Citation(path="", uri="", start_line=int(first), end_line=int(last))
        elif place.page:
            cited = Citation(path="", uri="", page=place.page)
        address = document_address(doc_id, cited, tuple(place.passage))
        if place.part:
            query, hash_sign, anchor = address.partition("#")
            address = f"{query}{'&' if '?' in query else '?'}part=1{hash_sign}{anchor}"
        return RedirectResponse(address, status_code=303, headers=PAGE_HEADERS)

    return endpoint


def _picture(desk: Desk, pictures: Pictures) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        given: PicturePage = _given(request, PicturePage)
        doc_id, page = request.path_params["doc_id"], request.path_params["page"]

        def find(base: KnowledgeBase) -> tuple[Original | None, str, list[str]]:
            document = base.document(f"doc:{doc_id}")
            chunks = base.chunks(given.passage)
            marked = [chunk.text for chunk in chunks.values() if chunk.doc_id == doc_id and chunk.citation.page == page]
            return (find_original(base, document) if document.type == "pdf" else None), document.path, marked

        original, name, marked = await _read(desk, find)
        if original is None:
            raise NotFound(f"{name} has no pages to draw", fix="read its text")
        drawn = await asyncio.to_thread(pictures.draw, original, name, page, marked)
        return Response(drawn, media_type="image/png", headers=PICTURE_HEADERS)

    return endpoint


def _evaluations(desk: Desk) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        view = await asyncio.to_thread(read_evaluations, desk.home)
        return HTMLResponse(await asyncio.to_thread(render, "evaluations.html", view=view), headers=PAGE_HEADERS)

    return endpoint


def _report(desk: Desk) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        names = request.query_params.getlist("run")
        html, policy = await asyncio.to_thread(render_evaluations, desk.home, names)
        # The report has a script of its own, which may reach nothing of this page.
        headers = PAGE_HEADERS | {"content-security-policy": f"sandbox allow-scripts; {policy}; frame-ancestors 'none'"}
        return HTMLResponse(html, headers=headers)

    return endpoint


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise NotFound("there is no such file", fix="begin at the search")
    return Response(static_file(name), media_type=STATIC[name], headers=STATIC_HEADERS)


def _asked(ask: Ask) -> Endpoint:
    """A question sent as a form, by who has no script."""

    async def endpoint(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_FORM_BYTES:
                raise InvalidInput("the question is too long", fix="ask in fewer words")
        fields = parse_qs(body.decode("utf-8", "replace"))
        question = fields.get("question", [""])[0].strip()
        if not question:
            raise InvalidInput("there is no question", fix="write one, and ask again")
        trace_id = await ask(question, fields.get("session", [""])[0].strip() or None)
        return RedirectResponse(f"/answers/{trace_id}", status_code=303)

    return endpoint
