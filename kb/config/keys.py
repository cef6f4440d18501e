"""One config key: its default, its comment, the values it allows, and the check of a value. Knows no section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, get_args

from kb.errors import ConfigInvalid

TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
TRUTH_VALUES = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def key(
    default: Any,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: object = (),
    alias: str = "",
) -> Any:
    """One config key, as a field of its section.

    doc        the comment that config.toml shows, a sentence
    low, high  the least and the greatest value allowed; None for no bound
    choices    the `Literal` of the field, or the names of a registry, when only some words are allowed
    alias      a variable of another program that sets this key too
    """
    metadata = {
        "doc": doc,
        "low": low,
        "high": high,
        "choices": choices if isinstance(choices, tuple) else get_args(choices),
        "alias": alias,
    }
    return field(default=default, metadata=metadata)


def range_text(metadata: Mapping[str, Any]) -> str:
    """The values that a key allows, in words; empty when it allows any."""
    if metadata["choices"]:
        return " | ".join(metadata["choices"])
    low, high = metadata["low"], metadata["high"]
    if low is None:
        return ""
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"


def environment_name(dotted: str) -> str:
    """The variable that sets a key.

    >>> environment_name("cswr.weights.vector")
    'KB_CSWR__WEIGHTS__VECTOR'
    """
    return "KB_" + dotted.upper().replace(".", "__")


def check_value(dotted: str, value: Any, entry: Any, origin: str) -> Any:
    """The value as the field of a key takes it; text becomes a number or a truth value.

    dotted  section.key
    origin  the file or the variable that sets it
    raises  ConfigInvalid
    """
    wanted = type(entry.default)
    if isinstance(value, str) and wanted is not str:
        value = _from_text(value, wanted)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not wanted or value != value:  # the second is NaN
        raise ConfigInvalid(
            f"{dotted} in {origin} must be {TYPE_NAMES[wanted]}, not {value!r}", fix=f"the default is {entry.default!r}"
        )
    low, high, choices = (entry.metadata[name] for name in ("low", "high", "choices"))
    if (low is not None and value < low) or (high is not None and value > high) or (choices and value not in choices):
        raise ConfigInvalid(f"{dotted} in {origin} is {value!r}", fix=f"use {range_text(entry.metadata)}", key=dotted)
    return value


def _from_text(value: str, wanted: type) -> Any:
    if wanted is bool:
        return TRUTH_VALUES.get(value.lower(), value)
    try:
        return wanted(value)
    except ValueError:
        return value


def unknown_name(name: str, known: list[str], what: str, origin: str) -> ConfigInvalid:
    """The error for a name that does not exist; it suggests the nearest one that does."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return ConfigInvalid(
        f"unknown {what} '{name}' in {origin}", fix=f"did you mean '{near[0]}'? config.toml lists them all", key=name
    )
