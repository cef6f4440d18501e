"""The configuration → the language model: the one it names, or the first that `auto` finds ready.

Nothing heavy is imported to find out that no server listens.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from kb.config import LlmConfig
from kb.errors import ConfigInvalid, ModelError
from kb.llm.protocol import LanguageModel, Scorers
from kb.providers import AUTO, PROVIDERS

Notify = Callable[[str], None]


def open_model(name: str, config: LlmConfig, scorers: Scorers, notify: Notify) -> LanguageModel:
    """The model of one provider, whose module is imported here.

    raises  ConfigInvalid where there is no such provider; whatever its opener raises
    """
    if name not in PROVIDERS:
        raise ConfigInvalid(f"llm.provider is {name!r}", fix=f"use {' | '.join(('auto', *PROVIDERS))}")
    opener = PROVIDERS[name].opener
    if isinstance(opener, str):
        module, _, function = opener.partition(":")
        opener = getattr(import_module(module), function)
    model: LanguageModel = opener(config, scorers, notify)
    return model


def choose_model(config: LlmConfig, scorers: Scorers, notify: Notify) -> LanguageModel:
    """The model that llm.provider names, ready to be asked.

    scorers  for the extractive model
    notify   gets one line under "auto", which model answers and why, but where nobody has set up any: then an answer says itself that it is
             quoted; the model keeps it for its own messages
    raises   ModelError and its kinds when a named one cannot answer; ConfigInvalid for an unusable endpoint
    """
    if config.provider != "auto":
        forced = open_model(config.provider, config, scorers, notify)
        forced.reference()  # fails now, before a search is made for an answer that cannot be written
        return forced
    *others, last = AUTO
    reason, is_set_up = "", config.endpoint != LlmConfig().endpoint
    for name in others:
        try:
            model = open_model(name, config, scorers, notify)
            model.reference()
        except ModelError as error:
            reason = f"{error.details.get('in_short') or error.problem}: "
            is_set_up = is_set_up or not reason.startswith("no Ollama at")
            continue
        notify(f"{reason}answering with {model.title}")
        return model
    model = open_model(last, config, scorers, notify)
    if is_set_up:
        notify(f"{reason}answering with {model.title}")
    return model
