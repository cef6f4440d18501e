"""--model, the same wherever a question is asked: which language model answers."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.providers import provider_of

ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="M", help="an Ollama model, or 'extractive'", show_default=False)
]


def model_settings(model: str | None) -> dict[str, str | None]:
    """The overrides of a named model for `Invocation.config`.

    A named model is used or fails: there is no fallback to another, unlike with "auto".
    """
    if not model:
        return {"llm__provider": None, "llm__model": None}
    provider = provider_of(model)
    return {"llm__provider": provider, "llm__model": None if provider == model else model}
