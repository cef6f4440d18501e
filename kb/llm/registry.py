"""The configuration → the language model that answers: which providers there are, and which one `auto` means today.

Nothing heavy is imported to find out that no server listens: that is one refused connection.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from kb.config import LlmConfig
from kb.errors import ModelError, ModelNotPulled
from kb.llm.extractive import Encode, ExtractiveModel
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import LanguageModel
from kb.llm.server import normalize_endpoint

Notify = Callable[[str], None]
Build = Callable[[LlmConfig, Encode | None, Notify], LanguageModel]

PROVIDERS: dict[str, Build] = {
    "ollama": lambda config, encode, notify: OllamaModel(config, notify),
    "extractive": lambda config, encode, notify: ExtractiveModel(encode),
}

# `auto` must not wait for ever for a server that may not be there, whatever the configuration allows.
LONGEST_PROBE_SECONDS = 3.0


def choose_model(config: LlmConfig, *, encode: Encode | None, notify: Notify) -> LanguageModel:
    """The model that llm.provider names, ready to be asked.

    encode  texts → unit vectors, for the extractive model; None to go by words alone
    notify  called once under "auto" with one line: which model answers, and why; kept by the model for its own
    raises  ModelError and its kinds when "ollama" is forced and cannot answer; ConfigInvalid for an unusable endpoint
    """
    if config.provider != "auto":
        forced = PROVIDERS[config.provider](config, encode, notify)
        forced.reference()  # now, and not after a search has been made for an answer that cannot be written
        return forced
    model, reason = _ollama_or_reason(config, notify)
    if model is not None:
        notify(f"answering with {config.model} on Ollama at {normalize_endpoint(config.endpoint)}")
        return model
    notify(f"{reason}: answering with the embedded extractive model")
    return PROVIDERS["extractive"](config, encode, notify)


def is_listening(endpoint: str, timeout_seconds: float) -> bool:
    """True when something accepts a connection at the endpoint; about a millisecond on this machine."""
    parts = urlsplit(normalize_endpoint(endpoint))
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=timeout_seconds):
            return True
    except (OSError, UnicodeError):  # refused, unreachable, unknown or impossible name, too slow
        return False


def _ollama_or_reason(config: LlmConfig, notify: Notify) -> tuple[LanguageModel | None, str]:
    """Ollama when it answers and has the model; else None and why not, as the beginning of a sentence."""
    endpoint = normalize_endpoint(config.endpoint)
    seconds = min(config.connect_timeout_seconds or LONGEST_PROBE_SECONDS, LONGEST_PROBE_SECONDS)
    if not is_listening(endpoint, seconds):
        return None, f"no Ollama at {endpoint}"
    model = PROVIDERS["ollama"](config, None, notify)
    try:
        model.reference()
    except ModelNotPulled:
        return None, f"Ollama at {endpoint} has no {config.model} (ollama pull {config.model})"
    except ModelError as error:
        return None, error.problem
    return model, ""
