"""The language models there are: name → what opens it, and what must be known of it before it is opened.

A new one is one file in kb/llm and one entry here. Stands below the configuration, which takes its choices from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """One way to have answers written.

    opener     "module:function", imported when the model is opened, or the function itself: (LlmConfig, Scorers, notify)
               → LanguageModel
    model_id   the one model it has; None where llm.model names one of many
    can_retry  asked once more, with what was wrong said, it may answer better
    """

    opener: str | Callable[..., Any]
    model_id: str | None = None
    can_retry: bool = False


PROVIDERS: dict[str, Provider] = {
    "ollama": Provider("kb.llm.ollama:open_ollama", can_retry=True),
    "extractive": Provider("kb.llm.extractive:open_extractive", model_id="extractive-v2"),
}
# What "auto" tries, in this order; the last one needs nothing and always answers.
AUTO = ("ollama", "extractive")
# Where a model is looked for that is named without its provider.
NAMED = "ollama"


def provider_of(model: str) -> str:
    """The provider that the name of a model means: its own where the name is a provider with one model, else NAMED."""
    return model if model in PROVIDERS and PROVIDERS[model].model_id else NAMED
