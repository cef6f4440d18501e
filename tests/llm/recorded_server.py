"""A small real HTTP server that plays recorded Ollama answers back, byte by byte, to the real client.

    with RecordedServer(chat=[answer("Rust is ", "fast [#1].")]) as server:
        config = LlmConfig(endpoint=server.url, model=MODEL)
        …
    server.chats[0]["options"]["num_ctx"]

A reply's body is a sequence of steps: bytes (one TCP write, one HTTP chunk, cut wherever the test likes), Pause, Hangup.
The n-th /api/chat gets the n-th reply of `chat`, later ones the last. `routes` overrides any path. No model is run.
"""

from __future__ import annotations

import hashlib
import json
import re
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "qwen2.5:3b"
DIGEST = "357c53fb659c5076de1d65ccb0b397446227b71a42be9d1603d46168015c9e4b"


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for so long; ends early when the client goes away."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hangup:
    """The connection is closed here, in the middle of the body."""


Step = bytes | Pause | Hangup


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP response; wait_seconds passes before its headers."""

    steps: tuple[Step, ...]
    status: int = 200
    wait_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came; body None where it had none."""

    method: str
    path: str
    body: dict[str, Any] | None


def whole(body: Any, status: int = 200) -> Reply:
    """A reply that is one JSON value."""
    return Reply((json.dumps(body).encode(),), status)


def error(message: str, status: int) -> Reply:
    """A refusal as Ollama words it."""
    return whole({"error": message}, status)


def line(content: str = "", *, thinking: str | None = None, done: bool = False, **fields: Any) -> bytes:
    """One NDJSON line of /api/chat, UTF-8 unescaped as Go writes it."""
    message = {"role": "assistant", "content": content} | ({} if thinking is None else {"thinking": thinking})
    row = {"model": MODEL, "created_at": "2026-08-21T10:00:00.123456789Z", "message": message, "done": done}
    return json.dumps(row | fields, ensure_ascii=False).encode() + b"\n"


def last_line(reason: str | None = "stop", content: str = "", **counters: Any) -> bytes:
    """The line that ends an answer; reason None leaves done_reason out. The prompt was read whole, by its count."""
    counters = {"prompt_eval_count": 3000, "eval_count": 5, "total_duration": 10_000_000} | counters
    fields = {name: value for name, value in counters.items() if value is not None}
    return line(content, done=True, **({} if reason is None else {"done_reason": reason}), **fields)


def answer(*pieces: str, reason: str | None = "stop", **counters: Any) -> Reply:
    """A whole well-formed answer; a counter given as None is left out."""
    return Reply((*(line(piece) for piece in pieces), last_line(reason, **counters)))


def shown(**fields: Any) -> dict[str, Any]:
    """The body of /api/show for MODEL, with fields replaced."""
    return {
        "modelfile": "FROM qwen2.5",
        "parameters": "",
        "template": "{{ .System }} {{ .Prompt }}",
        "details": {"family": "qwen2", "format": "gguf"},
        "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768},
        "capabilities": ["completion", "tools"],
    } | fields


def hash_words(texts: Sequence[str], dimensions: int = 64) -> list[list[float]]:
    """Vectors without a model, not of unit length: each word counts in one dimension, so that like texts are near."""
    vectors = [[0.0] * dimensions for _ in texts]
    for vector, text in zip(vectors, texts, strict=True):
        for word in re.findall(r"\w+", text.lower()):
            vector[hashlib.sha256(word.encode()).digest()[0] % dimensions] += 1.0
    return vectors


class RecordedServer:
    """The server; a context manager. `url`, `requests`, `chats`, and `client_left`, set when a client went early."""

    def __init__(
        self,
        chat: Sequence[Reply] = (),
        *,
        models: Mapping[str, str] | None = None,
        show: dict[str, Any] | None = None,
        routes: Mapping[str, Reply] | None = None,
        loaded: int | None = None,
        most: int | None = None,
        load: Reply | None = None,
        embed: Callable[[list[str]], Reply] | None = None,
    ) -> None:
        """embed: what /api/embed is told for its texts; loaded: the context allocated at the start, None with no model loaded; most: never more; load: what a chat
        without messages is told."""
        self.allocated = loaded
        self._most = most
        self._load = load or whole({"model": MODEL, "message": {}, "done": True, "done_reason": "load"})
        self._embed = embed or (lambda texts: whole({"embeddings": hash_words(texts)}))
        self.requests: list[Recorded] = []
        self.client_left = threading.Event()
        self._chat = list(chat)
        self._models = {MODEL: DIGEST} if models is None else dict(models)
        self._show = show or shown()
        self._routes = dict(routes or {})
        self._server = _Server(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the /api/chat requests that have messages, in order."""
        return [body for body in self._chat_bodies() if body.get("messages")]

    @property
    def loads(self) -> list[dict[str, Any]]:
        """The bodies of those without, which only load the model."""
        return [body for body in self._chat_bodies() if not body.get("messages")]

    @property
    def embedded(self) -> list[str]:
        """The texts of the /api/embed requests, in order."""
        bodies = [request.body or {} for request in self.requests if request.path == "/api/embed"]
        return [text for body in bodies for text in body["input"]]

    def _chat_bodies(self) -> list[dict[str, Any]]:
        return [request.body or {} for request in self.requests if request.path == "/api/chat"]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply_to(self, request: Recorded) -> Reply:
        """What is sent back: an override, the next recorded answer, or what a healthy server says."""
        if request.path in self._routes:
            return self._routes[request.path]
        name = (request.body or {}).get("model")
        rows = [{"name": known, "model": known, "digest": digest} for known, digest in self._models.items()]
        if request.path == "/api/version":
            return whole({"version": "0.12.6"})
        if request.path == "/api/tags":
            return whole({"models": rows})
        if request.path == "/api/ps":
            return whole({"models": [row | {"context_length": self.allocated} for row in rows if self.allocated]})
        if request.path in ("/api/show", "/api/chat", "/api/embed") and not {name, f"{name}:latest"} & set(
            self._models
        ):
            return error(f"model '{name}' not found", 404)
        if request.path == "/api/show":
            return whole(self._show)
        if request.path == "/api/embed":
            return self._embed(list((request.body or {})["input"]))
        if request.path == "/api/chat":
            wanted = int((request.body or {}).get("options", {}).get("num_ctx", 4096))
            self.allocated = min(wanted, self._most or wanted)
            if not (request.body or {}).get("messages"):
                return self._load
        if request.path == "/api/chat" and self._chat:
            return self._chat[min(len(self.chats), len(self._chat)) - 1]
        return error("page not found", 404)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away between two requests is no news; anything else is a bug of a test."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def free_port() -> int:
    """A port of the loopback on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _handler_for(recorded: RecordedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # each step is one packet, at once

        def log_message(self, *parts: object) -> None:
            pass

        def do_GET(self) -> None:  # the name http.server calls
            self._answer(None)

        def do_POST(self) -> None:  # the name http.server calls
            self._answer(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}"))

        def _answer(self, body: dict[str, Any] | None) -> None:
            request = Recorded(self.command, self.path, body)
            recorded.requests.append(request)
            reply = recorded.reply_to(request)
            try:
                self._wait(reply.wait_seconds)
                self.send_response(reply.status)
                is_stream = reply.status == 200 and self.path == "/api/chat"
                self.send_header("Content-Type", "application/x-ndjson" if is_stream else "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for step in self._sendable(reply.steps):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step))
                    self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                recorded.client_left.set()
                self.close_connection = True

        def _sendable(self, steps: Sequence[Step]) -> Iterator[bytes]:
            for step in steps:
                if isinstance(step, Pause):
                    self._wait(step.seconds)
                elif isinstance(step, Hangup):
                    self.close_connection = True
                    return
                else:
                    yield step
            yield b""

        def _wait(self, seconds: float) -> None:
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                readable = select.select([self.connection], [], [], left)[0]
                if readable and self.connection.recv(1, socket.MSG_PEEK) == b"":
                    raise BrokenPipeError

    return Handler
