"""A rules file, JSON or TOML, over the defaults → Rules, or every fault in it at once, each with its path of keys.

A file that is missing or cannot be parsed leaves every node included, with a warning: a prompt with too much context is
better than none. A file that can be read and has a fault is an error, as a wrong key in config.toml is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from kb.config import RelevanceConfig
from kb.errors import ConfigInvalid, IoError, NotFound, RulesInvalid
from kb.relevance.check_rules import Fault, Tables, check_tables, find_cycles
from kb.relevance.rules import Rules
from kb.text import estimate_tokens

DEFAULTS = Path(__file__).with_name("rules.toml")
# A fault in every line of a long file is one mistake made often: the first hundred show it.
MOST_FAULTS_SHOWN = 100


@cache
def default_rules() -> Rules:
    """The rules that ship with kb."""
    return _to_rules(_default_tables(), source="the defaults", warnings=())


@cache
def _default_tables() -> Tables:
    document, _ = _parse(DEFAULTS.read_text(encoding="utf-8"), is_json=False)
    tables, _, faults = check_tables(document, nodes=None)
    assert not faults, faults
    return tables


def configured_rules(config: RelevanceConfig) -> Rules:
    """The rules that the configuration asks for; see `open_rules`."""
    return open_rules(Path(config.rules).expanduser() if config.rules else None, enabled=config.enabled)


def open_rules(path: Path | None, *, enabled: bool = True) -> Rules:
    """The rules to decide by.

    path     a file over the defaults; None for the defaults alone
    enabled  False includes every node, whatever the file says; it is not even read
    raises   RulesInvalid for a file that can be read and has faults; one that cannot be read gives a warning
    """
    if path is None or not enabled:
        return replace(default_rules(), enabled=enabled and default_rules().enabled)
    try:
        return read_rules(path)
    except RulesInvalid:
        raise
    except (NotFound, IoError, ConfigInvalid) as error:
        warning = f"{error.problem}, so every node is included; {error.fix}"
        return replace(default_rules(), enabled=False, source=str(path), warnings=(warning,))


def read_rules(path: Path) -> Rules:
    """Read and check a rules file over the defaults.

    raises  NotFound, IoError; ConfigInvalid for a file that cannot be parsed; RulesInvalid with every fault
    """
    text = _read_text(path)
    is_json = path.suffix.lower() == ".json" or (path.suffix.lower() != ".toml" and text.lstrip().startswith("{"))
    try:
        document, repeated = _parse(text, is_json=is_json)
    except (ValueError, RecursionError) as error:
        what = "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be parsed: {error}"
        raise ConfigInvalid(
            f"{path} {what}", fix=f"write it as {'JSON' if is_json else 'TOML'}", path=str(path)
        ) from error
    defaults = _default_tables()
    given, warnings, faults = check_tables(document, nodes=defaults["token_estimates"].keys())
    faults += [Fault((key,), f"'{key}' is given twice") for key in repeated]
    merged = _merge_tables(defaults, given)
    faults += find_cycles(merged.get("dependencies", {}), given.get("dependencies", {}))
    _raise_faults(path, faults)
    warnings += [
        f"the node '{node}' has a place in no mode; give it one in template_masks"
        for node in given.get("nodes", {})
        if not any(mask.get(node) for mask in merged.get("template_masks", {}).values())
    ]
    return _to_rules(merged, source=str(path), warnings=tuple(f"{path}: {warning}" for warning in warnings))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(f"no rules file at {path}", fix="correct [relevance] rules, or leave it empty") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigInvalid(
            f"{path} is not UTF-8 (line {line})", fix="save it as UTF-8", path=str(path), line=line
        ) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise IoError(f"cannot read the rules file {path}: {why}", fix="name a readable file") from error


def _parse(text: str, *, is_json: bool) -> tuple[Any, list[str]]:
    """The document, and the keys that one of its objects has twice: JSON keeps the last, TOML refuses them."""
    if not is_json:
        import tomllib

        return tomllib.loads(text), []
    import json

    repeated: list[str] = []

    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        repeated.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return dict(pairs)

    return json.loads(text, object_pairs_hook=read_object), repeated


def _raise_faults(path: Path, faults: list[Fault]) -> None:
    found = list(dict.fromkeys((fault.place, fault.what) for fault in faults))
    if not found:
        return
    rows = [f"{path}: {place}: {what}" if place else f"{path}: {what}" for place, what in found]
    if len(rows) > MOST_FAULTS_SHOWN:
        rows = [*rows[:MOST_FAULTS_SHOWN], f"… and {len(rows) - MOST_FAULTS_SHOWN} more"]
    count = "1 fault" if len(found) == 1 else f"{len(found)} faults"
    error = RulesInvalid(
        f"{path} has {count}:\n" + "\n".join(rows),
        fix=f"correct these keys; {DEFAULTS} shows the format",
        path=str(path),
        faults=len(found),
    )
    error.places = tuple(found)
    raise error


def _tokens_of(node: str, text: str) -> int:
    """The tokens of a node's own text in a prompt, with its heading; 0 for an empty text."""
    return estimate_tokens(f"{node}:\n{text}\n") if text.strip() else 0


def _merge_tables(base: Tables, over: Tables) -> Tables:
    """One file's tables laid over another's: a name in `over` replaces the one in `base`, mask by mask and node by node.

    With `extends = false` in `over` only the token estimates and the limits of `base` stay.
    """
    if over.get("extends") is False:
        kept = ("token_estimates", "soft_recovery_budget", "max_included_nodes")
        base = {name: base[name] for name in kept}
    merged = {**base, **over}
    for name, table in over.items():
        if isinstance(table, dict):
            merged[name] = {**base.get(name, {}), **table}
    masks = base.get("template_masks", {})
    for mode, mask in over.get("template_masks", {}).items():
        merged["template_masks"][mode] = {**masks.get(mode, {}), **mask}
    return merged


def _to_rules(tables: Tables, *, source: str, warnings: tuple[str, ...]) -> Rules:
    own: dict[str, str] = tables.get("nodes", {})
    estimates: dict[str, int] = {node: _tokens_of(node, text) for node, text in own.items()} | tables["token_estimates"]
    return Rules(
        enabled=tables.get("enabled", True),
        token_estimates=estimates,
        node_texts=own,
        masks={
            mode: frozenset(n for n, wanted in m.items() if wanted)
            for mode, m in tables.get("template_masks", {}).items()
        },
        signal_rules=tables.get("signal_rules", {}),
        urgency_overrides=tables.get("urgency_overrides", ()),
        dependencies=tables.get("dependencies", {}),
        safety_overrides=tables.get("safety_overrides", {}),
        soft_recovery_budget=tables["soft_recovery_budget"],
        soft_recovery_priority=tables.get("soft_recovery_priority", ()),
        max_included_nodes=tables["max_included_nodes"],
        source=source,
        warnings=warnings,
    )
