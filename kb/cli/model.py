"""--model, the same wherever a question is asked: which language model answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation
from kb.config import LlmConfig, set_keys, user_config_path
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


def write_model(invocation: Invocation, config: LlmConfig, name: str) -> Path:
    """Set the model that answers from now on in the config file in force; returns its path.

    config  as it is now: a provider that is forced to another one becomes "auto"
    """
    provider = provider_of(name)
    keys = {"llm.provider": provider} if provider == name else {"llm.model": name}
    if provider != name and config.provider not in ("auto", provider):
        keys["llm.provider"] = "auto"
    path = _config_file(invocation)
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    path.write_text(set_keys(old, keys), encoding="utf-8")
    return path


def _config_file(invocation: Invocation) -> Path:
    """The file that the configuration is read from; the home's where there is none yet."""
    home = invocation.home / "config.toml"
    candidates = [invocation.config_path] if invocation.config_path else [home, user_config_path(os.environ)]
    return next((path for path in candidates if path.is_file()), candidates[0])
