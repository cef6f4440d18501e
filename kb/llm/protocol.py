"""The interface of language models: a prompt → pieces of text, then how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol

from kb.arrays import Encode
from kb.errors import ModelError
from kb.frozen import dataclass
from kb.records import ModelRef

FinishReason = Literal["stop", "length", "aborted"]
# (question, texts) → a logit for each text; None where no reader can read the question.
Read = Callable[[str, Sequence[str]], list[float] | None]


@dataclass(frozen=True, slots=True)
class Scorers:
    """What a knowledge base lends to a model that compares texts itself; None where there is no such thing.

    read_again  a second reader, larger and slower
    """

    encode: Encode | None = None
    read: Read | None = None
    read_again: Read | None = None


class NoServer(ModelError):
    """Nothing listens at the endpoint of the model's server."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One packed passage as a record, for models that read it without a prompt.

    marker      the n of [#n]
    text        the passage, unmutated
    similarity  cosine of the passage to the question, None without a vector search
    subject     words of the question that its document is about, which the passage need not say
    not_about   words of the question that name other documents, and not this one
    """

    marker: int
    text: str
    heading_path: tuple[str, ...] = ()
    similarity: float | None = None
    subject: str = ""
    not_about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One prompt.

    question, evidence  the content of `user` as records
    stop                texts that end the answer when the model writes them
    max_tokens          most tokens of the answer
    evidence_score      the gate's probability that the evidence answers; None without one
    by_meaning          False where the encoder cannot read the question: its vectors say nothing of it
    told_of_others      words of the question that name documents, where others tell what is asked and these hardly do
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
    by_meaning: bool = True
    told_of_others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quoted:
    """A stretch of the evidence that a piece of the answer quotes as it stands.

    marker      the n of [#n]
    start, end  [start, end) in the passage
    key         [start, end) in the piece: the sentence that answers; None where it is not one sentence
    is_further  it stands below the answer, among what is to be seen also
    """

    marker: int
    start: int
    end: int
    key: tuple[int, int] | None = None
    is_further: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer, as it came; quoted: where its words stand, None for what a model writes in its own words."""

    text: str
    quoted: Quoted | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The end of the answer; always the last event.

    finish_reason      stop: the model ended; length: it was cut; aborted: the stream broke off
    prompt_tokens      by the model's count, None where it gave none
    prompt_truncated   the model read only a part of the prompt; None where unknown
    """

    finish_reason: FinishReason
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_truncated: bool | None = None


class LanguageModel(Protocol):
    """Writes an answer from a prompt.

    title  its name in "answering with …", with the address of its server
    """

    @property
    def title(self) -> str: ...

    def describe(self) -> str:
        """Model, place and sizes in one line, for kb doctor; raises ModelError where it could not answer."""

    def reference(self) -> ModelRef:
        """Which model this is."""

    def context_tokens(self) -> int:
        """The most tokens of prompt and answer together."""

    def generate_stream(self, request: GenerateRequest) -> Iterator[Token | Done]:
        """Pieces of text as they come, then exactly one Done.

        raises  ModelError and its kinds before the first piece; a stream that breaks off later ends in Done("aborted")
        """
