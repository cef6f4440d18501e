"""A rules file, JSON or TOML, over the defaults → Rules, or every fault in it at once, each with its line and column.

A file that is missing or cannot be parsed leaves everything included, with a warning: a prompt with too much context is
better than none. A file that can be read but says something wrong is an error, as a wrong key in config.toml is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.config import RelevanceConfig
from kb.errors import ConfigInvalid, IoError, NotFound, RulesInvalid
from kb.relevance.rules import Rules
from kb.relevance.tables import Fault, Tables, check_tables, find_cycles, merge_tables

if TYPE_CHECKING:  # the defaults have no faults to place: most questions need no positions
    from kb.relevance.positions import Places

DEFAULTS = Path(__file__).with_name("rules.toml")
# A fault in every line of a long file is one mistake made often: the first hundred show it.
MOST_FAULTS_SHOWN = 100


@cache
def default_rules() -> Rules:
    """The rules that ship with kb."""
    return _to_rules(_default_tables(), source="the defaults", warnings=())


@cache
def _default_tables() -> Tables:
    tables, _, faults = check_tables(_parse(DEFAULTS.read_text(encoding="utf-8"), is_json=False), nodes=None)
    assert not faults, faults
    return tables


def configured_rules(config: RelevanceConfig) -> Rules:
    """The rules that the configuration asks for; see `open_rules`."""
    return open_rules(Path(config.rules).expanduser() if config.rules else None, enabled=config.enabled)


def open_rules(path: Path | None, *, enabled: bool = True) -> Rules:
    """The rules to decide by.

    path     a file over the defaults; None for the defaults alone
    enabled  False includes every node, whatever the file says; it is not even read
    raises   RulesInvalid for a file that can be read but has faults; one that cannot be read only warns
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

    raises  NotFound, IoError; ConfigInvalid for a file that is no JSON or TOML; RulesInvalid with every fault
    """
    text = _read_text(path)
    is_json = path.suffix.lower() == ".json" or (path.suffix.lower() != ".toml" and text.lstrip().startswith("{"))
    try:
        document = _parse(text, is_json=is_json)
        places = _locate(text, is_json=is_json)
    except (ValueError, RecursionError) as error:
        what = "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be parsed: {error}"
        raise ConfigInvalid(
            f"{path} {what}", fix=f"write it as {'JSON' if is_json else 'TOML'}", path=str(path)
        ) from error
    defaults = _default_tables()
    given, warnings, faults = check_tables(document, nodes=frozenset(defaults.token_estimates or {}))
    faults += [Fault(at, f"{_dotted(at)} is given twice", place) for at, place in places.repeated]
    merged = merge_tables(defaults, given)
    faults += find_cycles(merged.dependencies or {}, given.dependencies or {})
    _raise_faults(path, faults, places)
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


def _parse(text: str, *, is_json: bool) -> Any:
    if is_json:
        import json

        return json.loads(text)
    import tomllib

    return tomllib.loads(text)


def _locate(text: str, *, is_json: bool) -> Places:
    from kb.relevance.positions import locate

    # tomllib reads \r\n as \n and counts lines so.
    return locate(text.replace("\r\n", "\n"), is_json=is_json)


def _raise_faults(path: Path, faults: list[Fault], places: Places) -> None:
    if not faults:
        return
    placed = sorted(
        {(fault.place or places.nearest(fault.at), fault.what) for fault in faults},
        key=lambda row: ((row[0].line, row[0].column) if row[0] else (0, 0), row[1]),
    )
    rows = [f"{path}:{place.line}:{place.column}: {what}" if place else f"{path}: {what}" for place, what in placed]
    if len(rows) > MOST_FAULTS_SHOWN:
        rows = [*rows[:MOST_FAULTS_SHOWN], f"… and {len(rows) - MOST_FAULTS_SHOWN} more"]
    count = "1 fault" if len(placed) == 1 else f"{len(placed)} faults"
    error = RulesInvalid(
        f"{path} has {count}:\n" + "\n".join(rows),
        fix=f"correct these places; {DEFAULTS} shows the format",
        path=str(path),
        faults=len(placed),
    )
    error.places = tuple((p.line if p else None, p.column if p else None, what) for p, what in placed)
    raise error


def _dotted(at: tuple[str | int, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at).lstrip(".")


def _to_rules(tables: Tables, *, source: str, warnings: tuple[str, ...]) -> Rules:
    masks: Mapping[str, Mapping[str, bool]] = tables.template_masks or {}
    return Rules(
        enabled=tables.enabled is not False,
        token_estimates=tables.token_estimates or {},
        masks={mode: frozenset(n for n, wanted in mask.items() if wanted) for mode, mask in masks.items()},
        signal_rules=tables.signal_rules or {},
        urgency_overrides=tables.urgency_overrides or (),
        dependencies=tables.dependencies or {},
        safety_overrides=tables.safety_overrides or {},
        soft_recovery_budget=tables.soft_recovery_budget or 0,
        soft_recovery_priority=tables.soft_recovery_priority or (),
        max_included_nodes=tables.max_included_nodes or len(tables.token_estimates or {}),
        source=source,
        warnings=warnings,
    )
