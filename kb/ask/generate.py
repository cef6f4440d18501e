"""A prompt → the model's whole answer, each piece handed on as it comes. Runs on the calling thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kb.errors import MalformedResponse
from kb.llm.protocol import Done, FinishReason, GenerateRequest, LanguageModel, Token

# Between the two texts where both are stored as what the model wrote.
SECOND_TRY = "\n\n--- second try ---\n\n"


@dataclass(frozen=True, slots=True)
class Generated:
    """What the model wrote.

    finish_reason   None when it was not asked
    first_token_at  time.perf_counter() of the first piece, None without one
    is_interrupted  a Ctrl-C ended it
    prompt_truncated  the model has read only a part of the prompt; None where that cannot be told
    first_try       what the model wrote before it was asked once more, None when it was not
    """

    text: str = ""
    finish_reason: FinishReason | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    first_token_at: float | None = None
    is_interrupted: bool = False
    prompt_truncated: bool | None = None
    first_try: str | None = None

    def raw_text(self) -> str:
        """All that the model wrote."""
        return self.text if self.first_try is None else self.first_try + SECOND_TRY + self.text


def generate(model: LanguageModel, request: GenerateRequest, on_token: Callable[[str], None]) -> Generated:
    """Run the model to its end.

    raises  ModelError when nothing could be generated; a Ctrl-C in the middle gives what came so far, aborted and interrupted
    """
    pieces: list[str] = []
    first_token_at: float | None = None
    try:
        for event in model.generate_stream(request):
            if isinstance(event, Done):
                return Generated(
                    "".join(pieces),
                    event.finish_reason,
                    event.prompt_tokens,
                    event.completion_tokens,
                    first_token_at,
                    prompt_truncated=event.prompt_truncated,
                )
            assert isinstance(event, Token)
            first_token_at = first_token_at or time.perf_counter()
            pieces.append(event.text)
            on_token(event.text)
    except KeyboardInterrupt:
        return Generated("".join(pieces), "aborted", None, None, first_token_at, is_interrupted=True)
    raise MalformedResponse("the model's stream ended without saying so", fix="try again, or another --model")
