"""A prompt → text streamed from an Ollama server, through the official client.

Knows no evidence and no citations. What is odd about Ollama is settled here: a context window that is always asked for
and never cut in silence, thinking that stays out of the answer, streams that end in five ways. The client is imported
inside the functions that use it (0.25 s), and OLLAMA_HOST is not read: the configuration says where the server is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kb.config import LlmConfig
from kb.errors import ConfigInvalid, MalformedResponse, ModelError, ModelNotPulled, ModelTimeout, StreamAborted
from kb.llm.deadline import Deadline
from kb.llm.protocol import Done, FinishReason, GenerateRequest, ModelRef, Token
from kb.llm.thinking import ThinkFilter

if TYPE_CHECKING:
    import ollama

PROVIDER = "ollama"
# Seconds for /api/tags and /api/show, which read no model; a busy server still answers them at once.
METADATA_SECONDS = 30.0
# Tokens of context when a model does not say what it was trained for: the least any server gives (field.md, trap 14).
UNKNOWN_CONTEXT_TOKENS = 4096
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

STATUS_FIXES = {
    400: "lower rag.max_context_tokens or raise llm.context_tokens if it speaks of length; else see the server's log",
    401: "sign in on the server: ollama signin",
    403: "the server does not allow this model or this client: see OLLAMA_ORIGINS and your account",
    429: "the server limits requests: wait a moment and ask again",
    503: "the server's queue is full: wait a moment and ask again",
}


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the server says of one model.

    digest          sha256 of its manifest, None where the server lists none (remote models)
    trained_tokens  the longest context it was trained for, or the best guess at it
    stop            the model's own stop texts; a request that sends `stop` replaces them, so they are sent along
    think           what to send as `think` to have as little of it as the model allows; None: send nothing
    may_leak        its reasoning may come as plain text without an opening tag
    """

    digest: str | None
    trained_tokens: int
    stop: tuple[str, ...]
    think: bool | str | None
    may_leak: bool


class OllamaModel:
    """One model on one Ollama server. Nothing is sent before the first method call.

    raises  ConfigInvalid when the endpoint is no http address
    """

    def __init__(self, config: LlmConfig) -> None:
        self.endpoint = normalize_endpoint(config.endpoint)
        self._config = config
        self._facts: ModelFacts | None = None
        self._pulled: tuple[str, ...] | None = None

    def reference(self) -> ModelRef:
        """The configured name and the digest the server lists for it; raises ModelError and its kinds."""
        return ModelRef(self._config.model, PROVIDER, self._known().digest)

    def context_tokens(self) -> int:
        """What is asked for as num_ctx: the largest power of two within llm.context_tokens and the model's training.

        Always the same for one model: a server that is asked for another size loads the model anew.
        raises  ModelError and its kinds
        """
        most = max(1, min(self._config.context_tokens, self._known().trained_tokens))
        return 1 << (most.bit_length() - 1)

    def generate_stream(self, request: GenerateRequest) -> Iterator[Token | Done]:
        """Pieces of the answer as they come, then one Done. Closing the iterator closes the connection.

        raises  ModelError and its kinds when nothing came; ConfigInvalid when the prompt filled the whole context
        """
        clean = ThinkFilter(hold_back=self._known().may_leak)
        thinking_chars = 0
        has_answer = False
        with closing(self._lines(request)) as lines:
            try:
                for line in lines:
                    thinking_chars += len(line.message.thinking or "")
                    piece = clean.feed(line.message.content or "")
                    if line.done:
                        piece += clean.flush(is_complete=line.done_reason != "length")
                    if piece:
                        has_answer = True
                        yield Token(piece)
                    if line.done:
                        if not has_answer:
                            self._explain_empty(line, thinking_chars + clean.dropped_chars)
                        yield Done(_finish_reason(line.done_reason), line.prompt_eval_count, line.eval_count)
                        return
                raise self._broke_off()
            except ModelError:
                if not has_answer:
                    raise
        if rest := clean.flush(is_complete=False):
            yield Token(rest)
        yield Done("aborted")

    def _lines(self, request: GenerateRequest) -> Generator[ollama.ChatResponse]:
        """The lines of one answer; asks again without `think` when the server refuses the request with it."""
        think = self._known().think
        if think is not None:
            try:
                yield from self._stream(request, think)
                return
            except ModelError as error:
                if error.details.get("status") != 400:
                    raise
        yield from self._stream(request, None)

    def _stream(self, request: GenerateRequest, think: bool | str | None) -> Generator[ollama.ChatResponse]:
        import ollama

        deadline = Deadline()
        limit = self._config.first_token_timeout_seconds
        # `truncate` is what `Client.chat` cannot send: with it a prompt that is too long is refused, without it the
        # server drops the front of the prompt, the rules and the best evidence, and answers 200.
        body = self._chat_body(request, think) | {"truncate": False}
        with deadline, self._client(limit, deadline.watch) as client:
            stream = client._request(ollama.ChatResponse, "POST", "/api/chat", json=body, stream=True)
            with closing(stream):
                while True:
                    with self._naming_failures(limit), deadline.within(limit):
                        line = next(stream, None)
                    if line is None:
                        return
                    yield line
                    limit = self._config.between_tokens_timeout_seconds

    def _chat_body(self, request: GenerateRequest, think: bool | str | None) -> dict[str, Any]:
        return {
            "model": self._config.model,
            "messages": [
                # Without a system message of ours the server puts the Modelfile's own in its place.
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "stream": True,
            "keep_alive": _keep_alive(self._config.keep_alive),
            "options": {
                "num_ctx": self.context_tokens(),
                "num_predict": request.max_tokens,
                "temperature": request.temperature,
                "seed": request.seed,
                "stop": list(dict.fromkeys((*self._known().stop, *request.stop))),
            },
        } | ({} if think is None else {"think": think})

    def _explain_empty(self, line: ollama.ChatResponse, thinking_chars: int) -> None:
        """Raise what is wrong when an answer ended at its length limit with no text in it."""
        if line.done_reason != "length":
            return
        context = self.context_tokens()
        if (line.prompt_eval_count or 0) >= context - 1:
            raise ConfigInvalid(
                f"the prompt fills the whole context of {context} tokens, there is no room for an answer",
                fix="raise llm.context_tokens, or lower rag.max_context_tokens",
                prompt_tokens=line.prompt_eval_count,
                context_tokens=context,
            )
        if thinking_chars:
            raise ModelError(
                f"{self._config.model} spent its whole answer ({line.eval_count or 'all'} tokens) on thinking",
                fix="raise llm.max_answer_tokens, or set llm.model to one that does not think",
                thinking_chars=thinking_chars,
            )

    def _known(self) -> ModelFacts:
        if self._facts is None:
            with self._client(METADATA_SECONDS) as client, self._naming_failures(METADATA_SECONDS):
                listed = client._request_raw("GET", "/api/tags").json()
                digests = {row["name"]: row.get("digest") or None for row in listed.get("models") or ()}
                self._pulled = tuple(sorted(digests))
                shown = client._request_raw("POST", "/api/show", json={"model": self._config.model}).json()
                self._facts = replace(read_facts(shown), digest=_digest_of(self._config.model, digests))
        return self._facts

    def _client(self, read_seconds: float, on_response: Callable[[Any], None] | None = None) -> ollama.Client:
        import httpx
        import ollama

        is_loopback = httpx.URL(self.endpoint).host in LOOPBACK_HOSTS
        return ollama.Client(
            self.endpoint,
            timeout=httpx.Timeout(read_seconds or None, connect=self._config.connect_timeout_seconds or None),
            # A proxy from the environment cannot reach this machine's loopback.
            trust_env=not is_loopback,
            # Reading the certificate store takes 18 ms of every client, for nothing without TLS.
            verify=self.endpoint.startswith("https:"),
            event_hooks={"response": [on_response]} if on_response else {},
        )

    @contextmanager
    def _naming_failures(self, limit_seconds: float) -> Iterator[None]:
        """Turns what the client raises into errors that say what to do; KbError passes."""
        import httpx
        import ollama

        try:
            yield
        except httpx.ConnectTimeout as error:
            raise self._too_slow("to reach", self._config.connect_timeout_seconds) from error
        except (httpx.TimeoutException, TimeoutError) as error:
            raise self._too_slow("for an answer of", limit_seconds) from error
        except (httpx.ConnectError, ConnectionError) as error:
            raise ModelError(
                f"no Ollama at {self.endpoint}",
                fix="start it (ollama serve), correct llm.endpoint, or set llm.provider to extractive",
                endpoint=self.endpoint,
            ) from error
        except ollama.ResponseError as error:
            raise self._refused(error.status_code, str(error.error)) from error
        except httpx.HTTPError as error:
            raise self._broke_off() from error
        # No object, no JSON, or not the fields of the protocol: json, pydantic and attribute access each say it their way.
        except (ValueError, AttributeError, TypeError, KeyError) as error:
            raise MalformedResponse(
                f"{self.endpoint} sent something that is not Ollama's protocol",
                fix="check that llm.endpoint is an Ollama server, and its version (0.5 or later)",
                endpoint=self.endpoint,
            ) from error

    def _too_slow(self, what: str, limit_seconds: float) -> ModelTimeout:
        return ModelTimeout(
            f"waited {limit_seconds:g} s {what} Ollama at {self.endpoint}",
            fix="raise the llm.…_timeout_seconds keys (0 waits for ever), or use a smaller model",
            endpoint=self.endpoint,
        )

    def _refused(self, status: int, message: str) -> ModelError:
        # Only the status: the wording, the quotes and the name differ from one endpoint and version to the next.
        if status == 404 and self._pulled is not None:
            pulled = ", ".join(self._pulled)
            return ModelNotPulled(
                f"Ollama at {self.endpoint} has no model {self._config.model}; it has {pulled or 'none at all'}",
                fix=f"ollama pull {self._config.model}{', or set llm.model to one of those' if pulled else ''}",
                model=self._config.model,
                pulled=pulled,
            )
        said = f"{message[:300]} (status {status})" if status > 0 else message[:300]
        return ModelError(
            f"Ollama at {self.endpoint} refused: {said}",
            fix=STATUS_FIXES.get(status, "see the server's log, often memory: try a smaller model or context"),
            status=status,
        )

    def _broke_off(self) -> StreamAborted:
        return StreamAborted(
            f"the connection to Ollama at {self.endpoint} broke off before the answer",
            fix="ask again; if it stays so, see the server's log",
            endpoint=self.endpoint,
        )


def normalize_endpoint(endpoint: str) -> str:
    """The server's address with scheme and port, without the path of an API.

    raises  ConfigInvalid

    >>> normalize_endpoint("localhost"), normalize_endpoint("0.0.0.0:11434/"), normalize_endpoint("http://gpu:8080/v1")
    ('http://localhost:11434', 'http://127.0.0.1:11434', 'http://gpu:8080')
    """
    from urllib.parse import urlsplit

    given = endpoint.strip()
    with_scheme = given if "://" in given else f"http://{given}"
    try:
        parts = urlsplit(with_scheme)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigInvalid(f"llm.endpoint is {endpoint!r}", fix="write it as http://127.0.0.1:11434")
    # 0.0.0.0 is where a server listens, copied from OLLAMA_HOST; not every system can connect to it.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    # A written scheme means its own port, as the official client reads it.
    default = 11434 if "://" not in given else 443 if parts.scheme == "https" else 80
    path = re.sub(r"/(?:v1|api)$", "", parts.path.rstrip("/"))
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port or default}{path}"


def read_facts(shown: dict[str, Any]) -> ModelFacts:
    """The body of /api/show as facts; every field may be absent or null."""
    about: dict[str, Any] = shown.get("model_info") or {}
    parameters, template = shown.get("parameters") or "", shown.get("template") or ""
    details, capabilities = shown.get("details") or {}, shown.get("capabilities") or ()
    architecture = str(about.get("general.architecture") or details.get("family") or "")
    can_think = "thinking" in capabilities
    # Servers that parse this model's output, and templates that close the block themselves, keep reasoning apart.
    is_kept_apart = "IsThinkSet" in template or bool(re.search(r"^PARSER\b", shown.get("modelfile") or "", re.M))
    is_kept_apart = is_kept_apart or bool(shown.get("parser"))
    return ModelFacts(
        digest=None,
        trained_tokens=_trained_tokens(about, architecture, parameters),
        stop=tuple(_unquoted(value) for value in re.findall(r"^stop\s+(.+?)\s*$", parameters, re.M)),
        # gpt-oss knows levels only, and cannot be told not to think.
        think=("low" if architecture.replace("-", "") == "gptoss" else False) if can_think else None,
        may_leak=(can_think or "think>" in template) and not is_kept_apart,
    )


def _trained_tokens(about: dict[str, Any], architecture: str, parameters: str) -> int:
    keys = [f"{architecture}.context_length", *sorted(key for key in about if key.endswith(".context_length"))]
    found: list[Any] = [about.get(key) for key in keys]
    found += [int(value) for value in re.findall(r"^num_ctx\s+(\d+)", parameters, re.M)]
    return next((int(n) for n in found if isinstance(n, int | float) and n > 0), UNKNOWN_CONTEXT_TOKENS)


def _unquoted(value: str) -> str:
    import json

    try:
        return str(json.loads(value)) if value.startswith('"') else value
    except ValueError:
        return value.strip('"')


def _digest_of(name: str, digests: dict[str, str | None]) -> str | None:
    wanted = name.casefold() if ":" in name.rsplit("/", 1)[-1] else f"{name.casefold()}:latest"
    return next((digest for listed, digest in sorted(digests.items()) if listed.casefold() == wanted), None)


def _keep_alive(value: str) -> str | int:
    """A plain number goes as a number of seconds: the server reads text only with a unit, and -1 has none."""
    return int(value) if re.fullmatch(r"-?\d+", value.strip()) else value


def _finish_reason(reason: str | None) -> FinishReason:
    # Servers before 0.1.38 give no reason; "" comes when a connection closed, "load" when there was nothing to answer.
    return "stop" if reason in (None, "stop") else "length" if reason == "length" else "aborted"
