"""A JSON request of relevance.v1 → a Situation, or an error that names the wrong value."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from kb.errors import InvalidInput
from kb.relevance.rules import DEFAULT_BUDGET_TOKENS, RETURNING, Rules, SignalValue, Situation, describe_value
from kb.relevance.signals import SIGNAL_NAMES

EXAMPLE = '{"mode": "RESPOND", "signals": {"greeting_pattern": true}, "token_budget_remaining": 4000}'
REQUEST_KEYS = ("mode", "signals", "classification", RETURNING, "token_budget_remaining")

_describe = partial(describe_value, table="an object")


def parse_request(line: bytes) -> tuple[Situation, tuple[str, ...]]:
    """One line of NDJSON as a situation, and its unknown keys.

    null means the same as a missing key. A pause and an urgency may stand among the signals.

    raises  InvalidInput
    """
    request = _decode(line, "the line")
    if not isinstance(request, dict):
        raise InvalidInput(f"the line is {_describe(request)}, not an object", fix=f"write it like {EXAMPLE}")
    given = {name: value for name, value in request.items() if value is not None}
    mode = given.get("mode")
    if not isinstance(mode, str) or not mode.strip():
        raise InvalidInput(
            "'mode' is missing" if mode is None else f"'mode' must be text, not {_describe(mode)}",
            fix=f"write it like {EXAMPLE}",
        )
    signals = check_signals(given.get("signals", {}))
    classification = given.get("classification", {})
    if not isinstance(classification, dict):
        raise _wrong("classification", 'an object such as {"urgency": "high"}', classification)
    urgency = classification.get("urgency")
    if urgency is not None and not isinstance(urgency, str):
        raise _wrong("classification.urgency", "text", urgency)
    returning = given.get(RETURNING, False)
    if not isinstance(returning, bool):
        raise _wrong(RETURNING, "true or false", returning)
    budget = given.get("token_budget_remaining", DEFAULT_BUDGET_TOKENS)
    if not isinstance(budget, int) or isinstance(budget, bool):
        raise _wrong("token_budget_remaining", "a whole number of tokens", budget)
    situation = make_situation(mode.strip(), signals, urgency, returning, budget)
    return situation, tuple(name for name in request if name not in REQUEST_KEYS)


def make_situation(
    mode: str, signals: Mapping[str, SignalValue], urgency: str | None, returning: bool, budget_tokens: int | None
) -> Situation:
    """A situation whose pause and urgency may stand among the signals as well as beside them.

    budget_tokens  None for the default
    """
    named = signals.get("urgency")
    return Situation(
        mode=mode,
        signals=signals,
        urgency=urgency or (named if isinstance(named, str) else None),
        returning_from_silence=returning or signals.get(RETURNING) is True,
        token_budget_remaining=DEFAULT_BUDGET_TOKENS if budget_tokens is None else budget_tokens,
    )


def parse_signals(text: str) -> dict[str, SignalValue]:
    """The signals in a JSON object.

    raises  InvalidInput
    """
    return check_signals(_decode(text.encode(errors="surrogateescape"), "--signals"))


def check_signals(value: Any) -> dict[str, SignalValue]:
    """The signals, checked: each is true, false, a finite number, text, or null for a missing one.

    raises  InvalidInput
    """
    if not isinstance(value, dict):
        raise InvalidInput(
            f"the signals are {_describe(value)}, not an object", fix='write them like {"greeting_pattern": true}'
        )
    for name, inner in value.items():
        is_number = isinstance(inner, int | float) and math.isfinite(inner)
        if not (inner is None or isinstance(inner, str) or is_number):
            raise _wrong(f"signals.{name}", "true, false, a number, text or null", inner)
    return value


def unread_signals(signals: Mapping[str, SignalValue], rules: Rules) -> list[str]:
    """A note for each signal that no rule reads and kb does not compute: mostly a typing mistake."""
    known = sorted({*SIGNAL_NAMES, *rules.signal_names(), RETURNING})
    found = []
    for name in signals:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            found.append(f"no rule reads the signal '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
    return found


def _decode(raw: bytes, what: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{what} is not JSON: {error}", fix=f"write it like {EXAMPLE}") from error


def _wrong(name: str, wanted: str, value: Any) -> InvalidInput:
    return InvalidInput(f"'{name}' must be {wanted}, not {_describe(value)}", fix="correct that value", key=name)
