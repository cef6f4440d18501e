"""A prompt → text streamed from an Ollama server.

Knows no evidence and no citations. These are the traps of Ollama's API and the defence against each; DEFENDED in
tests/llm/test_ollama_traps.py names their tests.

     1  the default context goes by the machine's memory    num_ctx is always sent; the model is loaded first and
                                                             /api/ps read: no more is packed than it has allocated
     2  a prompt that is too long is cut, status 200        truncate and shift are false; the count is compared with the
                                                             least the prompt can have (truncation.py)
     3  a full context looks like an empty answer           named, with "raise llm.context_tokens", and never retried
     4  /v1 ignores num_ctx, truncate, keep_alive           /api/chat only
     5  other options load the model anew                   one bucketed num_ctx a model, same options for load and ask
     6  num_ctx above the trained size is clamped           we clamp; kb doctor shows both sizes
     7  a model is unloaded after five minutes              keep_alive is sent; loading is announced after a moment
     8  thinking is on by default and spends the answer     think false or "low"; tags filtered; one retry with it off
     9  a stream ends in five ways                          own line decoder; what has no end is aborted, with its text
    10  missing and remote models                           by status, never by wording; names what is pulled
    11  time-outs                                           connect, first token, between tokens; 0 waits for ever
    12  a closed connection does not stop prompt reading    the connection is closed at once, the user is told
    13  counters may be absent                              None is unknown, not 0
    14  /api/show has many shapes                           <arch>.context_length, any .context_length, num_ctx, 4,096
    15  endless answers, random seeds                       num_predict, temperature and seed inside `options`
    16  embeddings are truncated too                        texts stay within the model's length (embedding.py)
    17  the Modelfile's system prompt comes first           our own system message always
    18  the prefix cache is byte-exact                      the same question gives the same bytes
    19  _debug_render_only                                  not used: it may vanish
    20  a write transaction across a call blocks everyone   the store is opened for writing after the answer

OLLAMA_HOST is not read: the configuration gives the endpoint. The model is not loaded in parallel with the search: that
would save one search per keep_alive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

from kb.config import LlmConfig
from kb.errors import ConfigInvalid, KbError, ModelError
from kb.llm.model_info import ModelFacts, allocated_tokens, bucket_tokens, find_by_name, read_facts
from kb.llm.protocol import Done, FinishReason, GenerateRequest, Token
from kb.llm.server import MOST_LOADING_LINES, OllamaServer, as_keep_alive, is_listening, no_server
from kb.llm.thinking import ThinkFilter
from kb.llm.truncation import is_cut, least_tokens
from kb.records import ModelRef

PROVIDER = "ollama"
# After so many seconds without a token the user is told what is happening; a loaded model has begun by then.
NOTICE_SECONDS = 1.5
# A server that does not keep to num_predict is stopped. No tokenizer has tokens that long on the average; a line without
# a word counts as well.
CHARS_AT_LEAST = 20_000
CHARS_PER_TOKEN = 40
CHARS_PER_LINE = 8
# The longest wait of `auto` for a server that may not exist, whatever the configuration allows.
LONGEST_PROBE_SECONDS = 3.0
# A larger count is no count, and SQLite could not store it.
MOST_COUNTED = 2**53
NO_THOUGHTS: tuple[bool | str | None, ...] = (False, "low")


def open_ollama(config: LlmConfig, scorers: object, notify: Callable[[str], None]) -> OllamaModel:
    """The configured model. Under "auto" one connection is tried first, since a server need not be there.

    raises  NoServer then; ConfigInvalid when the endpoint is no http address
    """
    model = OllamaModel(config, notify)
    if config.provider == "auto":
        seconds = min(config.connect_timeout_seconds or LONGEST_PROBE_SECONDS, LONGEST_PROBE_SECONDS)
        if not is_listening(model.server.endpoint, seconds):
            raise no_server(model.server.endpoint)
    return model


class OllamaModel:
    """One model on one Ollama server. Nothing is sent before the first method call.

    notify  gets one line for long waits and for problems with an answer
    raises  ConfigInvalid when the endpoint is no http address
    """

    def __init__(self, config: LlmConfig, notify: Callable[[str], None] = lambda message: None) -> None:
        self.server = OllamaServer(config)
        self._config = config
        self._notify = notify
        self._facts: ModelFacts | None = None
        self._allocated: int | None = None
        self.title = f"{config.model} on Ollama at {self.server.endpoint}"

    def describe(self) -> str:
        """Name, address, the server's version and the sizes of the context; raises ModelError and its kinds."""
        return (
            f"{self.reference().id} at {self._config.endpoint} (Ollama {self.server.version()}),"
            f" context {self.asked_tokens():,} tokens"
            f" (llm.context_tokens {self._config.context_tokens:,}, the model's own {self.facts().trained_tokens:,})"
        )

    def reference(self) -> ModelRef:
        """The configured name and the digest the server lists for it; raises ModelError and its kinds."""
        return ModelRef(self._config.model, PROVIDER, self.facts().digest)

    def asked_tokens(self) -> int:
        """The value sent as num_ctx: the largest power of two within llm.context_tokens and the model's training.

        Always the same for one model: another size would make the server load the model anew.
        raises  ModelError and its kinds
        """
        return bucket_tokens(min(self._config.context_tokens, self.facts().trained_tokens))

    def context_tokens(self) -> int:
        """The most tokens of prompt and answer together: as asked for, or as the server allocated if that is less.

        Loads the model when it is not loaded, which may take minutes.
        raises  ModelError and its kinds
        """
        if self._allocated is None:
            self._allocated = self._load()
        return min(self.asked_tokens(), self._allocated)

    def generate_stream(self, request: GenerateRequest) -> Iterator[Token | Done]:
        """Pieces of the answer as they come, then one Done. Closing the iterator closes the connection.

        raises  ModelError and its kinds when nothing came; ConfigInvalid when the prompt filled the whole context
        """
        think = self.facts().think
        try:
            yield from self._answer(request, think)
        except _AllThinking:
            # Repeating the same request gives the same result: temperature and seed are fixed.
            if think in NO_THOUGHTS:
                raise
            yield from self._answer(request, False)

    def facts(self) -> ModelFacts:
        """The properties of the model; the server is asked once."""
        if self._facts is None:
            with self.server.naming_failures(0.0):
                digests = self.server.list_digests()
                self._facts = read_facts(self.server.show(), find_by_name(digests, self._config.model))
            if not self._facts.is_context_known:
                self._notify(
                    f"warning: {self._config.model} does not say how long its context is; "
                    f"taken as {self._facts.trained_tokens:,} tokens"
                )
        return self._facts

    def _load(self) -> int:
        """The tokens that the server has allocated, after loading the model with our options where needed."""
        asked = self.asked_tokens()
        if self.facts().is_remote:
            return asked
        allocated = self._read_allocated()
        if allocated is None or allocated < asked:
            body = self._body([], self.facts().think)
            limit = self._config.first_token_timeout_seconds
            try:
                with (
                    self._saying(f"loading {self._config.model} on Ollama …"),
                    closing(self.server.stream("/api/chat", body, limit)) as lines,
                ):
                    for _ in islice(lines, MOST_LOADING_LINES):
                        pass
            except ModelError as error:
                # A server without support for an empty chat answers 400; the first answer then loads the model.
                if error.details.get("status") != 400:
                    raise
            allocated = self._read_allocated()
        if allocated is not None and allocated < asked:
            self._notify(
                f"warning: Ollama gave {self._config.model} a context of {allocated:,} tokens, {asked:,} were asked for;"
                " less evidence is packed"
            )
        return allocated or asked

    def _read_allocated(self) -> int | None:
        with self.server.naming_failures(0.0):
            try:
                return allocated_tokens(self.server.list_running(), self._config.model)
            except ModelError as error:
                if error.details.get("status") == 404:  # servers before 0.1.38 have no such path
                    return None
                raise

    def _answer(self, request: GenerateRequest, think: bool | str | None) -> Iterator[Token | Done]:
        clean = ThinkFilter(hold_back=self.facts().may_leak)
        thinking_chars = chars = 0
        most_chars = CHARS_AT_LEAST + CHARS_PER_TOKEN * max(0, request.max_tokens)
        has_answer = False
        with closing(self._lines(request, think)) as lines:
            try:
                for line in lines:
                    with self.server.naming_failures(0.0):
                        chars += CHARS_PER_LINE + len(line["message"].get("content") or "")
                        if chars + thinking_chars > most_chars:
                            raise ValueError("an answer without an end")
                        message, is_done = line["message"], line.get("done") is True
                        thinking_chars += len(message.get("thinking") or "")
                        piece = clean.feed(message.get("content") or "")
                    if is_done:
                        piece += clean.flush(is_complete=line.get("done_reason") != "length")
                    if piece:
                        has_answer = True
                        yield Token(piece)
                    if is_done:
                        if not has_answer:
                            self._explain_empty(line, thinking_chars + clean.dropped_chars)
                        yield self._done(request, line)
                        return
                raise self.server.broke_off()
            except KbError as error:
                if not has_answer:
                    raise
                self._notify(f"the answer broke off: {error.problem}")
            except KeyboardInterrupt:
                if not has_answer:
                    self._notify("Ollama may stay busy with this prompt for a while: it stops at its first token")
                raise
        if rest := clean.flush(is_complete=False):
            yield Token(rest)
        yield Done("aborted")

    def _done(self, request: GenerateRequest, line: dict[str, Any]) -> Done:
        read, written = _count(line, "prompt_eval_count"), _count(line, "eval_count")
        context = self._allocated or self.asked_tokens()
        cut = is_cut(f"{request.system}\n{request.user}", read, context)
        if cut:
            least = least_tokens(f"{request.system}\n{request.user}")
            self._notify(
                f"warning: Ollama read {read:,} tokens of a prompt that has at least {least:,}, in a context of "
                f"{context:,}: it was cut; lower rag.max_context_tokens or raise llm.context_tokens"
            )
        elif line.get("done_reason") == "length" and (read or 0) + (written or 0) >= context - 1:
            self._notify(f"the context of {context:,} tokens is full: raise llm.context_tokens")
        return Done(_finish_reason(line.get("done_reason")), read, written, cut)

    def _lines(self, request: GenerateRequest, think: bool | str | None) -> Generator[dict[str, Any]]:
        """The lines of one answer; asks again without `think` when the server refuses the request with it."""
        messages = [
            # Without a system message the server would use the Modelfile's own.
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]
        options = {
            "num_predict": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "stop": list(dict.fromkeys((*self.facts().stop, *request.stop))),
        }
        limit = self._config.first_token_timeout_seconds
        for attempt in dict.fromkeys((think, None)):
            try:
                with (
                    self._saying(f"waiting for {self._config.model} to read the prompt …") as stop_saying,
                    closing(self.server.stream("/api/chat", self._body(messages, attempt, options), limit)) as lines,
                ):
                    for line in lines:
                        stop_saying()
                        yield line
                return
            except ModelError as error:
                if attempt is None or error.details.get("status") != 400:
                    raise

    def _body(
        self, messages: list[dict[str, str]], think: bool | str | None, options: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return {
            "model": self._config.model,
            "messages": messages,
            "stream": True,
            # So a prompt that is too long is refused and an answer that is too long ends. Otherwise the server drops the
            # front of the prompt, the rules and the best evidence, and answers 200.
            "truncate": False,
            "shift": False,
            "keep_alive": as_keep_alive(self._config.keep_alive),
            "options": {"num_ctx": self.asked_tokens()} | (options or {}),
        } | ({} if think is None else {"think": think})

    def _explain_empty(self, line: dict[str, Any], thinking_chars: int) -> None:
        """Raise the reason for an empty answer: a full context, or thinking alone."""
        read, written = _count(line, "prompt_eval_count"), _count(line, "eval_count")
        context = self._allocated or self.asked_tokens()
        if line.get("done_reason") == "length" and (written or 0) <= 1 and (read or 0) >= context - 1:
            raise ConfigInvalid(
                f"the prompt fills the whole context of {context} tokens, there is no room for an answer",
                fix="raise llm.context_tokens (num_ctx), or lower rag.max_context_tokens",
                prompt_tokens=read,
                context_tokens=context,
            )
        if thinking_chars:
            raise _AllThinking(
                f"{self._config.model} spent its whole answer ({written or 'all'} tokens) on thinking",
                fix="raise llm.max_answer_tokens, or set llm.model to one that does not think",
                thinking_chars=thinking_chars,
            )

    @contextmanager
    def _saying(self, message: str) -> Iterator[Callable[[], None]]:
        """Tell the user a message unless what is inside ends, or says stop, within a moment."""
        timer = threading.Timer(NOTICE_SECONDS, self._notify, [message])
        timer.daemon = True
        timer.start()
        try:
            yield timer.cancel
        finally:
            timer.cancel()


class _AllThinking(ModelError):
    """An answer had no text but its reasoning."""


def _count(line: dict[str, Any], name: str) -> int | None:
    value = line.get(name)
    return value if isinstance(value, int) and 0 <= value < MOST_COUNTED else None


def _finish_reason(reason: str | None) -> FinishReason:
    # Servers before 0.1.38 give no reason; "" means a closed connection, "load" a request without a prompt.
    return "stop" if reason in (None, "stop") else "length" if reason == "length" else "aborted"
