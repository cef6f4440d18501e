"""An Ollama server over HTTP: requests, streamed lines of JSON, and failures as errors with a fix.

The official client makes the requests; importing it takes 0.4 s, so that happens on the first
one. Two things are not left to it. Its records drop `parser` and `remote_host` and refuse the nulls that servers
send, so answers are read as plain JSON. Its `chat` cannot send `truncate` or `shift`, and its stream splits lines at
U+0085 and U+2028, which stand unescaped in JSON strings, so an answer is streamed over its HTTP session (HOTFIXES.md).
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kb.config import LlmConfig
from kb.errors import ConfigInvalid, MalformedResponse, ModelError, ModelNotPulled, ModelTimeout, StreamAborted
from kb.llm.deadline import Deadline
from kb.llm.model_info import PulledModel, PullStep, read_pulled
from kb.llm.protocol import NoServer

if TYPE_CHECKING:
    import httpx
    from ollama import Client

# Seconds for /api/tags, /api/show, /api/ps and /api/version, which read no model; a busy server still answers at once.
METADATA_SECONDS = 30.0
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
# Most characters of a server's message that are shown; some send a whole page.
SHOWN_CHARS = 300
# Most bytes of one answer that is not streamed: 128 vectors of 4,096 numbers have 12 MB.
MOST_BODY_BYTES = 64_000_000
# Most bytes of one line of a stream: a token and its counters have 300, a whole unstreamed answer some 100,000.
MOST_LINE_BYTES = 4_000_000
# Most lines while a model is being loaded: one is sent.
MOST_LOADING_LINES = 1000

STATUS_FIXES = {
    400: "lower rag.max_context_tokens or raise llm.context_tokens if it speaks of length; else see the server's log",
    401: "sign in on the server (ollama signin), or set OLLAMA_API_KEY",
    403: "the server does not allow this model or this client: see OLLAMA_ORIGINS and your account",
    429: "the server limits requests: wait a moment and ask again",
    502: "the server cannot reach where this model runs: try again in a moment, or take a model that is pulled",
    503: "the server's queue is full: wait a moment and ask again",
}
_SIZES = re.compile(r"\((\d+) tokens\) exceeds the available context size \((\d+) tokens\)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_LONG = re.compile(r"exceed_context_size|exceeds? the (?:available |maximum )?context|input length exceeds", re.I)


class ContextExceeded(ConfigInvalid):
    """The server refused a prompt because it is longer than the context."""


class OllamaServer:
    """One server and one model on it. Nothing is sent before the first method call.

    raises  ConfigInvalid when the endpoint is no http address
    """

    def __init__(self, config: LlmConfig) -> None:
        self.endpoint = normalize_endpoint(config.endpoint)
        self.pulled: tuple[str, ...] | None = None
        self._config = config

    def list_models(self) -> tuple[PulledModel, ...]:
        """The models that are pulled, by name."""
        rows = self._request("GET", "/api/tags").get("models") or ()
        models = tuple(sorted((read_pulled(row) for row in rows), key=lambda model: model.name))
        self.pulled = tuple(model.name for model in models)
        return models

    def list_digests(self) -> dict[str, str | None]:
        """Every pulled model's name, and the sha256 of its manifest where the server lists one."""
        return {model.name: model.digest for model in self.list_models()}

    def pull(self, name: str) -> Generator[PullStep]:
        """Download a model to the server; its steps as they come. Closing the iterator stops the download.

        raises  ModelError and its kinds
        """
        # A server may verify a file of many gigabytes without a word in between.
        import ollama

        with self.naming_failures(0.0), self._client(0.0) as client:
            try:
                for step in client.pull(name, stream=True):
                    yield PullStep(step.status or "", step.completed or 0, step.total or 0)
            except ollama.ResponseError as error:
                raise ModelError(
                    f"Ollama at {self.endpoint} could not download {name}: {_words_of(error.error).strip()}",
                    fix="check the name at https://ollama.com/library, and that the server reaches the network",
                    model=name,
                ) from error

    def show(self) -> dict[str, Any]:
        """The body of /api/show for the configured model."""
        return self._request("POST", "/api/show", json={"model": self._config.model})

    def embed(self, texts: Sequence[str], keep_alive: str) -> list[list[float]]:
        """The vectors of texts by the configured model, in their order; a text that is too long is cut.

        The time limit is llm.first_token_timeout_seconds: the first request loads the model.
        raises  ModelError and its kinds
        """
        limit = self._config.first_token_timeout_seconds
        with self.naming_failures(limit), self._client(limit) as client:
            body = {"model": self._config.model, "input": list(texts), "truncate": True}
            found = self._read(client, "POST", "/api/embed", body | {"keep_alive": as_keep_alive(keep_alive)})
            rows = [list(row) for row in found["embeddings"]]
            if len(rows) != len(texts):
                raise ValueError(f"{len(rows)} vectors for {len(texts)} texts")
            if not all(isinstance(number, int | float) for row in rows for number in row):
                raise ValueError("a vector that is not of numbers")
            return rows

    def list_running(self) -> dict[str, Any]:
        """The models in memory, as /api/ps lists them."""
        return self._request("GET", "/api/ps")

    def version(self) -> str:
        """The server's version, "unknown" where it gives none."""
        return str(self._request("GET", "/api/version").get("version") or "unknown")

    def _request(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        deadline = Deadline()
        with (
            deadline,
            self._client(METADATA_SECONDS, deadline.watch) as client,
            self.naming_failures(METADATA_SECONDS),
            deadline.within(METADATA_SECONDS),
        ):
            return self._read(client, method, path, body.get("json"))

    def _read(self, client: Client, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        """The JSON object of an answer that is not streamed; raises ValueError for more than MOST_BODY_BYTES."""
        with client._client.stream(method, path, json=body) as response:
            content = join_at_most(response.iter_bytes(), MOST_BODY_BYTES)
        self._check(response, content)
        found = read_json(content)
        if not isinstance(found, dict):
            raise ValueError(f"{path} is no object")
        return found

    def stream(self, path: str, body: dict[str, Any], first_seconds: float) -> Generator[dict[str, Any]]:
        """The lines of a streamed answer as they come; closing the iterator closes the connection.

        first_seconds  time limit of the first line, 0 waits for ever; later ones have llm.between_tokens_timeout_seconds
        raises         ModelError and its kinds, also for an {"error": …} line
        """
        deadline, limit = Deadline(), first_seconds
        with deadline, self._client(limit, deadline.watch) as client:
            lines = self._lines(client, path, body)
            try:
                while True:
                    with self.naming_failures(limit), deadline.within(limit):
                        line = next(lines, None)
                    if line is None:
                        return
                    yield line
                    limit = self._config.between_tokens_timeout_seconds
            finally:
                lines.close()

    def _lines(self, client: Client, path: str, body: dict[str, Any]) -> Generator[dict[str, Any]]:
        with client._client.stream("POST", path, json=body) as response:
            self._check(response, b"" if response.is_success else join_at_most(response.iter_bytes(), MOST_LINE_BYTES))
            for raw in split_lines(response.iter_bytes()):
                line: dict[str, Any] = read_json(raw)
                if error := line.get("error"):
                    raise self._refused(_status_of(line), _words_of(error))
                yield line

    def _check(self, response: httpx.Response, content: bytes) -> None:
        if response.is_success:
            return
        try:
            words = _words_of(read_json(content)["error"])
        except (ValueError, KeyError, TypeError, RecursionError):
            words = content.decode("utf-8", "replace").strip() or response.reason_phrase
        raise self._refused(response.status_code, words)

    def _client(self, read_seconds: float, on_response: Callable[[Any], None] | None = None) -> Client:
        import httpx
        from ollama import Client

        is_loopback = httpx.URL(self.endpoint).host in LOOPBACK_HOSTS
        return Client(
            self.endpoint,
            timeout=httpx.Timeout(read_seconds or None, connect=self._config.connect_timeout_seconds or None),
            # A proxy from the environment cannot reach this machine's loopback.
            trust_env=not is_loopback,
            # Without TLS the certificate store is not needed; reading it takes 18 ms.
            verify=self.endpoint.startswith("https:"),
            event_hooks={"response": [on_response]} if on_response else {},
        )

    @contextmanager
    def naming_failures(self, limit_seconds: float) -> Iterator[None]:
        """Turns exceptions of the HTTP libraries into errors with a fix; KbError passes."""
        import httpx
        import ollama

        try:
            yield
        except httpx.ConnectTimeout as error:
            raise self._too_slow("to reach", self._config.connect_timeout_seconds) from error
        except (httpx.TimeoutException, TimeoutError) as error:
            raise self._too_slow("for an answer of", limit_seconds) from error
        # The client raises plain ConnectionError for a refused connection; subclasses of it mean one that broke off.
        except (httpx.ConnectError, ConnectionError) as error:
            if isinstance(error, ConnectionError) and type(error) is not ConnectionError:
                raise self.broke_off() from error
            raise no_server(self.endpoint) from error
        except ollama.ResponseError as error:
            words = _words_of(error.error).strip() or "it gave no reason"
            raise self._refused(error.status_code, words) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.broke_off() from error
        # Invalid JSON or too much of it, another type than an object, or missing fields.
        except (ValueError, AttributeError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise MalformedResponse(
                f"{self.endpoint} sent something that is not Ollama's protocol",
                fix="check that llm.endpoint is an Ollama server, and its version (0.5 or later)",
                endpoint=self.endpoint,
            ) from error

    def broke_off(self) -> StreamAborted:
        """The error for a stream that ended without saying so."""
        return StreamAborted(
            f"the connection to Ollama at {self.endpoint} broke off before the answer",
            fix="ask again; if it stays so, see the server's log",
            endpoint=self.endpoint,
        )

    def _too_slow(self, what: str, limit_seconds: float) -> ModelTimeout:
        return ModelTimeout(
            f"waited {limit_seconds:g} s {what} Ollama at {self.endpoint}",
            fix="raise the llm.…_timeout_seconds keys (0 waits for ever), or use a smaller model",
            endpoint=self.endpoint,
        )

    def _refused(self, status: int, message: str) -> ModelError | ConfigInvalid:
        model = self._config.model
        # By the status alone: the wording differs between endpoints and versions.
        if status == 404 and self.pulled is not None:
            pulled = ", ".join(self.pulled)
            return ModelNotPulled(
                f"Ollama at {self.endpoint} has no model {model}; it has {pulled or 'none at all'}",
                fix=f"kb models pull {model}{', or take one of those: kb models use NAME' if pulled else ''}",
                model=model,
                in_short=f"Ollama at {self.endpoint} has no {model} (kb models pull {model}"
                + (f"; it has {pulled}: kb models use NAME)" if pulled else ")"),
                pulled=pulled,
                status=status,
            )
        if _TOO_LONG.search(message):
            sizes = _SIZES.search(message)
            told = f" of {sizes[1]} tokens does not fit into the context of {sizes[2]}" if sizes else " is too long"
            return ContextExceeded(
                f"the prompt{told} for {model}; it was refused and not cut",
                fix="lower rag.max_context_tokens, raise llm.context_tokens, or take a model with a longer context",
                prompt_tokens=int(sizes[1]) if sizes else None,
                context_tokens=int(sizes[2]) if sizes else None,
            )
        words = " ".join(message[: 4 * SHOWN_CHARS].split())[:SHOWN_CHARS]
        said = f"{words} (status {status})" if status > 0 else words
        return ModelError(
            f"Ollama at {self.endpoint} refused: {said}",
            fix=STATUS_FIXES.get(status, "see the server's log, often memory: try a smaller model or context"),
            status=status,
        )


def as_keep_alive(value: str) -> str | int:
    """A plain number goes as a number of seconds: the server reads text only with a unit, and -1 has none."""
    return int(value) if re.fullmatch(r"-?\d+", value.strip()) else value


def split_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Bytes as they come → their lines without the newline, empty ones left out, the last with or without one.

    Split at LF alone, before decoding: a character cut between two pieces stays whole, and U+0085 or U+2028 inside a
    JSON string, at which str.splitlines would split, ends no line.

    >>> list(split_lines([b'{"a": 1}\\n{"b"', b': 2}\\n\\n', b'{"c": 3}']))
    [b'{"a": 1}', b'{"b": 2}', b'{"c": 3}']

    raises  ValueError for a line of more than MOST_LINE_BYTES
    """
    rest: list[bytes] = []
    held = 0
    for piece in pieces:
        held = held + len(piece) if b"\n" not in piece else len(piece)
        if held > MOST_LINE_BYTES:
            raise ValueError("a line without an end")
        *ended, last = piece.split(b"\n")
        for line in ended:
            whole = b"".join((*rest, line)).strip()
            rest = []
            if whole:
                yield whole
        rest.append(last)
    if whole := b"".join(rest).strip():
        yield whole


def join_at_most(pieces: Iterable[bytes], most_bytes: int) -> bytes:
    """The pieces joined; raises ValueError as soon as they are more than that."""
    joined = bytearray()
    for piece in pieces:
        joined += piece
        if len(joined) > most_bytes:
            raise ValueError(f"more than {most_bytes:,} bytes")
    return bytes(joined)


def read_json(content: bytes) -> Any:
    r"""A JSON value whose texts can be stored and printed: what is no UTF-8, and half a surrogate pair, become U+FFFD.

    Go writes valid UTF-8; a proxy that breaks one character must not cost the answer.

    >>> ascii(read_json(b'{"content": "\\ud83d x"}'))
    "{'content': '\\ufffd x'}"
    """
    found = json.loads(content.decode("utf-8", "replace"))
    return _without_surrogates(found) if b"\\u" in content else found


def _without_surrogates(found: Any) -> Any:
    if isinstance(found, str):
        return _SURROGATE.sub("\ufffd", found)
    if isinstance(found, list):
        return [_without_surrogates(value) for value in found]
    if isinstance(found, dict):
        return {_without_surrogates(name): _without_surrogates(value) for name, value in found.items()}
    return found


def no_server(endpoint: str) -> NoServer:
    """The error for an endpoint where nothing listens."""
    return NoServer(
        f"no Ollama at {endpoint}",
        fix="start it (ollama serve), correct llm.endpoint, or set llm.provider to extractive",
        endpoint=endpoint,
    )


def is_listening(endpoint: str, timeout_seconds: float) -> bool:
    """True when something accepts a connection at the endpoint; about a millisecond on this machine."""
    parts = urlsplit(normalize_endpoint(endpoint))
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=timeout_seconds):
            return True
    except (OSError, UnicodeError):  # refused, unreachable, unknown or impossible name, too slow
        return False


def normalize_endpoint(endpoint: str) -> str:
    """The server's address with scheme and port, without the path of an API.

    raises  ConfigInvalid

    >>> normalize_endpoint("localhost"), normalize_endpoint("0.0.0.0:11434/"), normalize_endpoint("http://gpu:8080/v1")
    ('http://localhost:11434', 'http://127.0.0.1:11434', 'http://gpu:8080')
    """
    given = endpoint.strip()
    with_scheme = given if "://" in given else f"http://{given}"
    try:
        parts = urlsplit(with_scheme)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigInvalid(f"llm.endpoint is {endpoint!r}", fix="write it as http://127.0.0.1:11434")
    # A server listens at 0.0.0.0, and people copy it from OLLAMA_HOST, but not every system can connect to it.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    # With a scheme the default is the scheme's port, as in the official client.
    default = 11434 if "://" not in given else 443 if parts.scheme == "https" else 80
    path = re.sub(r"/(?:v1|api)$", "", parts.path.rstrip("/"))
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port or default}{path}"


def _status_of(line: dict[str, Any]) -> int:
    status = line.get("status_code", line.get("status"))
    return status if isinstance(status, int) else -1


def _words_of(error: object) -> str:
    return error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
