"""The HTTP application: each call of the API on the desk, answers as they come, MCP and the page beside them, health and metrics."""

from __future__ import annotations

import asyncio
import json
import time
import webbrowser
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from kb.ask.records import Answer, AnswerEvent
from kb.doors.arguments import read_arguments
from kb.doors.desk import Desk, Steps, Stop
from kb.doors.guard import Address, Guard
from kb.doors.serving import HEALTHY, noted_address
from kb.doors.worker import error_of, log_bug
from kb.errors import InvalidInput, KbError
from kb.mcp.transports import MOST_BODY_BYTES, mcp_app, serve_http
from kb.page.routes import page_routes
from kb.page.sign_in import sign_in_routes
from kb.serve.arguments import AskCall
from kb.serve.calls import ASK, CALLS, READ_SECONDS, Call, ask
from kb.serve.metrics import Metrics
from kb.serve.openapi import openapi
from kb.wire import error_json, to_json

STATUS = {
    "not_found": 404,
    "not_indexed": 404,
    "invalid_input": 400,
    "config_invalid": 500,
    "locked": 503,
    "timeout": 504,
    "model_unavailable": 503,
    "model_not_pulled": 503,
    "stream_aborted": 502,
    "malformed_response": 502,
}
JSON = "application/json"
EVENTS = "text/event-stream"
# A client that went away before it was answered, as servers count it.
GONE = 499

Endpoint = Callable[[Request], Awaitable[Response]]


class TooSlow(KbError):
    """The knowledge base did not get to a request in time."""

    code = "timeout"


class TooLong(KbError):
    """The body of a request is longer than the server reads."""


def run(desk: Desk, guard: Guard, opened: str | None = None) -> None:
    """Serve until a signal ends it.

    opened  what a browser is opened at as soon as the server listens: "/", "/documents/3?lines=2-4#cited"; None for nothing
    """

    @contextmanager
    def around(address: Address) -> Iterator[None]:
        with noted_address(desk.home, address.url("/")):
            if opened is not None:
                open_browser(address.url(opened))
            yield

    serve_http(build_app(desk, guard), guard, "kb serve /", around, has_sign_in=True)


def open_browser(url: str) -> None:
    """Open the user's browser, and do not wait for it: it may run in this terminal, and ask this server."""
    Thread(target=webbrowser.open, args=[url], daemon=True).start()


def build_app(desk: Desk, guard: Guard) -> ASGIApp:
    """The application of a desk; goes behind the guard."""
    metrics = Metrics()
    routes = [
        Route(call.path, _counted(call.path, metrics, _read_endpoint(desk, call)), methods=list(call.methods))
        for call in CALLS
    ]

    async def show_metrics(request: Request) -> Response:
        return PlainTextResponse(metrics.text(desk.home), media_type="text/plain; version=0.0.4")

    async def ask_page(question: str, session: str | None) -> str:
        return (await _answer(desk, AskCall(question=question, session=session), lambda event: None)).trace_id

    return mcp_app(
        desk,
        [
            *routes,
            *sign_in_routes(guard),
            *page_routes(desk, ask_page, lambda name, endpoint: _counted(name, metrics, endpoint)),
            Route(ASK.path, _counted(ASK.path, metrics, _ask_endpoint(desk)), methods=list(ASK.methods)),
            Route("/openapi.json", _openapi),
            Route("/health", _health),
            Route("/metrics", show_metrics),
        ],
    )


async def _openapi(request: Request) -> Response:
    return JSONResponse(openapi())


async def _health(request: Request) -> Response:
    return PlainTextResponse(HEALTHY)


def _counted(name: str, metrics: Metrics, endpoint: Endpoint) -> Endpoint:
    """An endpoint that is counted, streams at their end, and whose errors are error.v1."""

    async def counted(request: Request) -> Response:
        began = time.perf_counter()
        metrics.began()
        response = Response(status_code=GONE)
        try:
            response = await endpoint(request)
        except KbError as error:
            response = _error_response(error)
        except ClientDisconnect:
            pass
        except Exception as error:  # the client is told of it, and the server goes on
            log_bug(error)
            response = _error_response(error_of(error), 500)
        finally:

            def ended() -> None:
                metrics.ended(name, response.status_code, time.perf_counter() - began)

            if isinstance(response, StreamingResponse):
                response.body_iterator = _then(response.body_iterator, ended)
            else:
                ended()
        return response

    return counted


async def _then(stream: AsyncIterable[Any], ended: Callable[[], None]) -> AsyncIterator[Any]:
    """A stream, and a call at its end, whether all of it was read or not."""
    try:
        async for part in stream:
            yield part
    finally:
        ended()


def _error_response(error: KbError, status: int | None = None) -> Response:
    known = 413 if isinstance(error, TooLong) else STATUS.get(error.code, 500)
    return Response(error_json(error), status_code=status or known, media_type=JSON)


def _read_endpoint(desk: Desk, call: Call) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        given = read_arguments(call.takes, await _sent(request, call))
        work = desk.read(lambda base: to_json(call.run(base, given, **request.path_params)))
        try:
            text = await asyncio.wait_for(work, READ_SECONDS)
        except TimeoutError as error:
            fix = "ask for less at once, or try again in a moment"
            raise TooSlow(f"nothing came within {READ_SECONDS:.0f} s", fix=fix) from error
        return Response(text, media_type=JSON)

    return endpoint


async def _sent(request: Request, call: Call) -> dict[str, Any]:
    """The arguments as they were sent: lists of a query are its repeated names.

    raises  InvalidInput for a body that is no JSON object, TooLong
    """
    if request.method != "POST":
        lists = {name for name, shape in _properties(call).items() if shape.get("type") == "array"}
        query = request.query_params
        return {name: query.getlist(name) if name in lists else query[name] for name in query}
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY_BYTES:
            raise TooLong(f"the body is longer than {MOST_BODY_BYTES:,} bytes", fix="send less text at once")
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("the body is no JSON", fix='send an object, such as {"query": "…"}') from error
    if not isinstance(sent, dict):
        raise InvalidInput("the body is no JSON object", fix='send an object, such as {"query": "…"}')
    return sent


def _properties(call: Call) -> dict[str, Any]:
    method = call.methods[0].lower()
    item = openapi()["paths"][call.path.replace(":int}", "}")][method]
    return {parameter["name"]: parameter["schema"] for parameter in item["parameters"]}


# ---- ask


def _ask_endpoint(desk: Desk) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        given = read_arguments(AskCall, await _sent(request, ASK))
        if EVENTS in request.headers.get("accept", ""):
            headers = {"cache-control": "no-store"}
            return StreamingResponse(_events(desk, given), media_type=EVENTS, headers=headers)
        return Response(to_json(await _answer(desk, given, lambda event: None)), media_type=JSON)

    return endpoint


async def _answer(desk: Desk, given: AskCall, tell: Callable[[AnswerEvent], None]) -> Answer:
    """The answer; one that nobody waits for any more ends early."""
    stop = Stop()

    def on_event(event: AnswerEvent) -> None:
        stop.check()
        tell(event)

    try:
        return await desk.ask(lambda base: ask(base, given, on_event))
    except BaseException:
        stop.set()
        raise


async def _events(desk: Desk, given: AskCall) -> AsyncIterator[str]:
    """answer_event.v1 as they come, then answer.v1 as `result`, or error.v1 as `error`."""
    steps: Steps[AnswerEvent] = Steps()
    answering = asyncio.ensure_future(_answer(desk, given, steps.put))
    answering.add_done_callback(lambda _: steps.close())
    try:
        async for step in steps:
            yield f"event: {step.event}\ndata: {to_json(step)}\n\n"
        yield f"event: result\ndata: {to_json(await answering)}\n\n"
    except KbError as error:
        yield f"event: error\ndata: {error_json(error)}\n\n"
    except Exception as error:  # the stream has begun: it must say how it ends
        log_bug(error)
        yield f"event: error\ndata: {error_json(error_of(error))}\n\n"
    finally:
        answering.cancel()
