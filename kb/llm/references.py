"""The configuration → the name of the model that it means. Opens no model: not every answer needs one."""

from __future__ import annotations

from kb.config import LlmConfig
from kb.providers import PROVIDERS
from kb.records import ModelRef


def configured_reference(config: LlmConfig) -> ModelRef:
    """What the configuration names, for an answer that needed no model: asks nobody, so "auto" stays "auto"."""
    known = PROVIDERS.get(config.provider)
    return ModelRef((known and known.model_id) or config.model, config.provider)
