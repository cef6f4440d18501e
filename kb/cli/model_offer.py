"""Ollama has models, but not the configured one → a short list on a terminal, the best first; the choice is written down."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace

from kb.cli.invocation import Invocation
from kb.cli.model import write_model
from kb.cli.terminal import harmless_line, say, say_message
from kb.config import Config
from kb.errors import ModelError
from kb.llm.model_info import PulledModel, find_by_name
from kb.llm.server import OllamaServer
from kb.providers import AUTO

MOST_OFFERED = 5
# A model that encodes texts writes none.
_ENCODES = re.compile(r"embed|bge|minilm|e5-|rerank", re.IGNORECASE)
# Above this size a model takes minutes for an answer on a machine without an accelerator.
COMFORTABLE_BYTES = 6_000_000_000
SETTINGS = ("KB_LLM__MODEL", "KB_LLM__PROVIDER")


def offer_model(invocation: Invocation, config: Config) -> Config:
    """Ask which model is to answer, where the server has some and not the configured one; the config with the choice in it.

    A person is asked on a terminal, once: also "none of them" is written to config.toml. Where the provider is not "auto",
    or the environment names the model, nothing is asked.
    """
    is_asked = not (invocation.json or invocation.quiet) and all(
        s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)
    )
    if not is_asked or config.llm.provider != "auto" or any(name in os.environ for name in SETTINGS):
        return config
    server = OllamaServer(config.llm)
    try:
        pulled = {model.name: model for model in server.list_models()}
    except ModelError:  # no server: answering says so
        return config
    offered = best_first(list(pulled.values()))[:MOST_OFFERED]
    if not offered or find_by_name(pulled, config.llm.model):
        return config
    return _ask(invocation, config, server.endpoint, offered)


def best_first(models: Sequence[PulledModel]) -> list[PulledModel]:
    """The models that write text: the largest that is comfortable first, then the smallest of the others.

    >>> def of(name, gb): return PulledModel(name, None, int(gb * 1e9), "")
    >>> [m.name for m in best_first([of("a:1b", 1), of("b:70b", 40), of("c:8b", 5), of("nomic-embed-text", .3)])]
    ['c:8b', 'a:1b', 'b:70b']
    """
    writing = [model for model in models if not _ENCODES.search(model.name)]
    fits = [model for model in writing if model.size_bytes <= COMFORTABLE_BYTES]
    rest = [model for model in writing if model.size_bytes > COMFORTABLE_BYTES]
    by_size = sorted(fits, key=lambda model: (-model.size_bytes, model.name))
    return by_size + sorted(rest, key=lambda model: (model.size_bytes, model.name))


def _ask(invocation: Invocation, config: Config, endpoint: str, offered: Sequence[PulledModel]) -> Config:
    say_message(f"Ollama at {endpoint} has no {config.llm.model}, but it has:")
    for number, model in enumerate(offered, start=1):
        size = f"  {model.size_bytes / 1e9:.1f} GB" if model.size_bytes else ""
        say(f"  {number}  {harmless_line(model.name)}{size}")
    say("  0  none of them: quotes from your documents, without a language model")
    choice = _read_choice(len(offered))
    if choice is None:
        return config
    name = offered[choice - 1].name if choice else AUTO[-1]
    path = write_model(invocation, config.llm, name)
    say_message(f"kb answers with {name} from now on; it is set in {path}. Another one: kb models use NAME")
    say()
    chosen = replace(config.llm, model=name) if choice else replace(config.llm, provider=AUTO[-1])
    return replace(config, llm=chosen)


def _read_choice(most: int) -> int | None:
    """0 to most, the first one for a bare Enter; None where nobody answers, or not with one of these."""
    try:
        typed = input("Which is to answer? [1] ").strip() or "1"
    except EOFError:
        return None
    return int(typed) if typed.isdecimal() and int(typed) <= most else None
