"""One config key: its default, what it allows, how both are written, and whether a value will do. Knows no section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from kb.errors import ConfigInvalid

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


def check_value(dotted: str, value: Any, entry: Any, origin: str) -> Any:
    """A value as a key's field takes it; text becomes a number or a truth value.

    dotted  section.key
    origin  the file or variable that said it
    raises  ConfigInvalid
    """
    wanted = type(entry.default)
    if isinstance(value, str) and wanted is not str:
        value = _from_text(value, wanted)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not wanted or value != value:  # the second is NaN
        raise ConfigInvalid(
            f"{dotted} in {origin} must be {type_names[wanted]}, not {value!r}", fix=f"the default is {entry.default!r}"
        )
    low, high, choices = (entry.metadata[name] for name in ("low", "high", "choices"))
    if (low is not None and value < low) or (high is not None and value > high) or (choices and value not in choices):
        raise ConfigInvalid(f"{dotted} in {origin} is {value!r}", fix=f"use {range_text(entry.metadata)}", key=dotted)
    return value


def _from_text(value: str, wanted: type) -> Any:
    if wanted is bool:
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(value.lower(), value)
    try:
        return wanted(value)
    except ValueError:
        return value


def unknown_name(name: str, known: list[str], what: str, origin: str) -> ConfigInvalid:
    """The fault of a name that is none, with the nearest that is one."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return ConfigInvalid(
        f"unknown {what} '{name}' in {origin}", fix=f"did you mean '{near[0]}'? config.toml lists them all", key=name
    )
