"""A language model that says what the test wrote down: the protocol's smallest implementation, and it counts its calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kb.llm.protocol import Done, FinishReason, GenerateRequest, Token
from kb.records import ModelRef

PROVIDER = "scripted"
REFERENCE = ModelRef("scripted-v1", PROVIDER, "0" * 64)


@dataclass
class ScriptedModel:
    """Says the same pieces to every request.

    window    what it reads, in tokens
    requests  every prompt it was given
    """

    pieces: tuple[str, ...]
    finish_reason: FinishReason = "stop"
    window: int = 32_768
    requests: list[GenerateRequest] = field(default_factory=list)

    def reference(self) -> ModelRef:
        return REFERENCE

    def context_tokens(self) -> int:
        return self.window

    def generate_stream(self, request: GenerateRequest) -> Iterator[Token | Done]:
        self.requests.append(request)
        for piece in self.pieces:
            yield Token(piece)
        yield Done(self.finish_reason, prompt_tokens=421, completion_tokens=17)


def says(*pieces: str, finish_reason: FinishReason = "stop", window: int = 32_768) -> ScriptedModel:
    """A model that says these pieces."""
    return ScriptedModel(pieces, finish_reason, window)
