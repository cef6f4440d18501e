"""The configuration → the name of the model that it means. Imports no model: not every answer needs one."""

from __future__ import annotations

from kb.config import LlmConfig
from kb.records import ModelRef

EXTRACTIVE, EXTRACTIVE_ID = "extractive", "extractive-v1"


def configured_reference(config: LlmConfig) -> ModelRef:
    """What the configuration names, for an answer that needed no model: asks nobody, so "auto" stays "auto"."""
    if config.provider == EXTRACTIVE:
        return ModelRef(EXTRACTIVE_ID, EXTRACTIVE)
    return ModelRef(config.model, config.provider)
