"""What a language model is to the rest of the program: a prompt in, pieces of text out, then how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from kb.errors import ModelError
from kb.records import ModelRef

FinishReason = Literal["stop", "length", "aborted"]


class NoServer(ModelError):
    """Nothing listens where the model's server should be."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One packed passage as structure, for models that read it without a prompt.

    marker      the n of [#n]
    text        the passage, unmutated
    similarity  cosine of the passage to the question, None where no vector search took part
    """

    marker: int
    text: str
    heading_path: tuple[str, ...] = ()
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One prompt.

    question, evidence  the same content as `user`, as structure
    stop                texts that end the answer when the model writes them
    max_tokens          length of the answer at most
    evidence_score      the probability, found before, that the evidence answers; None where nobody has weighed it
    """

    system: str
    user: str
    question: str
    evidence: tuple[Evidence, ...]
    language: str
    max_tokens: int
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    evidence_score: float | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer, as it came."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The end of the answer; always the last event.

    finish_reason      stop: the model ended; length: it was cut; aborted: the stream broke off
    prompt_tokens      as the model counted them, None where it did not say
    prompt_truncated   the model has read only a part of the prompt; None where that cannot be told
    """

    finish_reason: FinishReason
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_truncated: bool | None = None


class LanguageModel(Protocol):
    """Writes an answer from a prompt.

    title  what it is called in "answering with …"; for a server's model, where it runs as well
    """

    @property
    def title(self) -> str: ...

    def describe(self) -> str:
        """Model, place and sizes in one line, for kb doctor; raises ModelError where it could not answer."""

    def reference(self) -> ModelRef:
        """Which model this is."""

    def context_tokens(self) -> int:
        """Prompt and answer together may be this long, in tokens."""

    def generate_stream(self, request: GenerateRequest) -> Iterator[Token | Done]:
        """Pieces of text as they come, then exactly one Done.

        raises  ModelError and its kinds when nothing could be generated; a stream that breaks off after the first
                piece ends in Done("aborted") instead, so that what came is not lost
        """
