"""One config key: its default, what it allows, and how both are written. Knows no section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

type_names = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def key(
    default: Any, doc: str, *, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()
) -> Any:
    """One config key: its default, the comment that config.toml shows, and what values are allowed (ends included)."""
    return field(default=default, metadata={"doc": doc, "low": low, "high": high, "choices": choices})


def range_text(metadata: Mapping[str, Any]) -> str:
    """What a key allows, as words; empty where it allows anything."""
    if metadata["choices"]:
        return " | ".join(metadata["choices"])
    low, high = metadata["low"], metadata["high"]
    if low is None:
        return ""
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"


def toml_value(value: Any) -> str:
    """A value as config.toml writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return f"{value:_}" if isinstance(value, int) else repr(value)
