"""Ollama's /api/show, /api/tags and /api/ps → the properties of one model. Pure; every field may be absent or null."""

from __future__ import annotations

import json
import re
from typing import Any

from kb.frozen import dataclass

# Context in tokens for a model that does not state its own: the least any server gives (trap 14 of kb/llm/ollama.py).
UNKNOWN_CONTEXT_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The properties of one model, by its server.

    digest            sha256 of its manifest, None where the server lists none (remote models)
    trained_tokens    the longest context it was trained for, or the best guess at it
    is_context_known  False when that guess is UNKNOWN_CONTEXT_TOKENS
    stop              the model's own stop texts; a request that sends `stop` replaces them, so they are sent along
    think             what to send as `think` to have as little of it as the model allows; None: send nothing
    may_leak          its reasoning may arrive as text without an opening tag
    is_remote         it runs on another machine: this server does not load it, /api/ps does not list it
    """

    digest: str | None
    trained_tokens: int
    is_context_known: bool
    stop: tuple[str, ...]
    think: bool | str | None
    may_leak: bool
    is_remote: bool


@dataclass(frozen=True, slots=True)
class PulledModel:
    """A model that a server has.

    digest      sha256 of its manifest, None where the server lists none (remote models)
    size_bytes  of its files, 0 where they are elsewhere or the server does not say
    parameters  their number as the model's maker writes it, "3.1B"; "" where unknown
    """

    name: str
    digest: str | None
    size_bytes: int
    parameters: str


@dataclass(frozen=True, slots=True)
class PullStep:
    """One line of a download: what is done, and how many bytes of this file are there; 0 of 0 where it has none."""

    status: str
    done_bytes: int
    total_bytes: int


def read_pulled(row: dict[str, Any]) -> PulledModel:
    """One row of /api/tags."""
    size, details = row.get("size"), row.get("details") or {}
    return PulledModel(
        name=str(row["name"]),
        digest=str(row["digest"]) if row.get("digest") else None,
        size_bytes=int(size) if isinstance(size, int | float) else 0,
        parameters=str(details.get("parameter_size") or ""),
    )


def read_facts(shown: dict[str, Any], digest: str | None = None) -> ModelFacts:
    """The body of /api/show as facts."""
    about: dict[str, Any] = shown.get("model_info") or {}
    parameters, template = shown.get("parameters") or "", shown.get("template") or ""
    details, capabilities = shown.get("details") or {}, shown.get("capabilities") or ()
    architecture = str(about.get("general.architecture") or details.get("family") or "")
    can_think = "thinking" in capabilities
    # Servers that parse this model's output, and templates that close the block themselves, keep reasoning apart.
    is_kept_apart = "IsThinkSet" in template or bool(re.search(r"^PARSER\b", shown.get("modelfile") or "", re.M))
    is_kept_apart = is_kept_apart or bool(shown.get("parser"))
    trained = _trained_tokens(about, architecture, parameters)
    return ModelFacts(
        digest=digest,
        trained_tokens=trained or UNKNOWN_CONTEXT_TOKENS,
        is_context_known=trained is not None,
        stop=tuple(_unquoted(value) for value in re.findall(r"^stop\s+(.+?)\s*$", parameters, re.M)),
        # gpt-oss knows levels only, and cannot be told not to think.
        think=("low" if architecture.replace("-", "") == "gptoss" else False) if can_think else None,
        may_leak=(can_think or "think>" in template) and not is_kept_apart,
        is_remote=bool(shown.get("remote_host") or shown.get("remote_model")),
    )


def allocated_tokens(running: dict[str, Any], name: str) -> int | None:
    """The context that /api/ps says a model was loaded with; None when it is not loaded or the field is missing."""
    rows = {str(row.get("name") or row.get("model")): row.get("context_length") for row in running.get("models") or ()}
    found = find_by_name(rows, name)
    return int(found) if isinstance(found, int | float) and found > 0 else None


def find_by_name(rows: dict[str, Any], name: str) -> Any:
    """The value for a model's name, compared as servers do: without case, `:latest` implied; None for an unknown name."""
    wanted = name.casefold() if ":" in name.rsplit("/", 1)[-1] else f"{name.casefold()}:latest"
    return next((value for listed, value in sorted(rows.items()) if listed.casefold() == wanted), None)


def bucket_tokens(most: int) -> int:
    """The largest power of two that is at most `most`, to be sent as num_ctx.

    >>> bucket_tokens(8192), bucket_tokens(6000), bucket_tokens(40_960)
    (8192, 4096, 32768)
    """
    return 1 << (max(1, most).bit_length() - 1)


def _trained_tokens(about: dict[str, Any], architecture: str, parameters: str) -> int | None:
    keys = [f"{architecture}.context_length", *sorted(key for key in about if key.endswith(".context_length"))]
    found: list[Any] = [about.get(key) for key in keys]
    found += [int(value) for value in re.findall(r"^num_ctx\s+(\d+)", parameters, re.M)]
    return next((int(n) for n in found if isinstance(n, int | float) and n > 0), None)


def _unquoted(value: str) -> str:
    try:
        return str(json.loads(value)) if value.startswith('"') else value
    except ValueError:
        return value.strip('"')
