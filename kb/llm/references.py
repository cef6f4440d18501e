"""The configuration → the name of its model, without opening it: not every answer needs one."""

from __future__ import annotations

from kb.config import LlmConfig
from kb.providers import PROVIDERS
from kb.records import ModelRef


def configured_reference(config: LlmConfig) -> ModelRef:
    """The configured model, for an answer that needed none; "auto" stays "auto"."""
    known = PROVIDERS.get(config.provider)
    return ModelRef((known and known.model_id) or config.model, config.provider)
