"""config.toml, environment and flags → one checked Config.

The command line loads it once and passes it on: nothing below calls `load_config`. Precedence: built-in default < file <
environment `KB_<SECTION>__<KEY>` < flag.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from kb.config.keys import check_value, unknown_name
from kb.config.old_keys import RENAMED, Setting, replace_old_keys
from kb.config.sections import ALIASES, SECTIONS, Config, CswrWeightsConfig
from kb.errors import ConfigInvalid, ConfigNotFound, InvalidInput

# SQLite opens paths of up to 511 bytes, file systems take names of up to 255; kb's own names come behind the home's.
MOST_HOME_BYTES, MOST_NAME_BYTES = 440, 255


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def load_config(
    explicit: Path | None,
    home: Path,
    environment: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    notify: Callable[[str], None] = _tell,
) -> Config:
    """Read and check the configuration.

    explicit   --config or KB_CONFIG; must exist. Else config.toml in the home, else the user's, else defaults.
    overrides  flags, as {"section.key": value}; they win
    notify     takes a line about each key of an earlier version; without it they go to standard error
    raises     ConfigNotFound, ConfigInvalid
    """
    path = explicit or next((p for p in (home / "config.toml", user_config_path(environment)) if p.is_file()), None)
    flags = [Setting(name, value, "the command line") for name, value in (overrides or {}).items()]
    settings = replace_old_keys(_file_settings(path), notify) if path else []
    settings += replace_old_keys(_environment_settings(environment), notify)
    config = _with_settings(Config(), settings + flags)
    _check_weights(config.cswr_weights)
    return config


def user_config_path(environment: Mapping[str, str]) -> Path:
    """The user's own config.toml, read when the home has none."""
    base = environment.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(base) / "kb" / "config.toml"


def default_home(environment: Mapping[str, str]) -> Path:
    """The knowledge base used when neither --home nor KB_HOME names one."""
    base = environment.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(base) / "kb"


def find_home(home: str | os.PathLike[str] | None) -> Path:
    """The data folder: the one named, else KB_HOME, else the default; absolute.

    raises  InvalidInput for a path that is too long for SQLite or for a file system
    """
    named = os.fspath(home) if home else os.environ.get("KB_HOME")
    folder = _absolute(named) if named else default_home(os.environ)
    lengths = [len(os.fsencode(part)) for part in folder.parts]
    if max(lengths) > MOST_NAME_BYTES or len(os.fsencode(folder)) > MOST_HOME_BYTES:
        raise InvalidInput(
            f"the path of the data folder has {len(os.fsencode(folder)):,} bytes, its longest name {max(lengths):,}",
            fix=f"choose one with --home that has {MOST_HOME_BYTES} at most, and names of {MOST_NAME_BYTES}",
        )
    return folder


def find_config(config: str | os.PathLike[str] | None) -> Path | None:
    """The config file that is named, or that KB_CONFIG names; None leaves it to the home's and the user's own.

    raises  ConfigNotFound for a named file that does not exist
    """
    named = os.fspath(config) if config else os.environ.get("KB_CONFIG")
    path = _absolute(named) if named else None
    if path and not path.is_file():
        raise ConfigNotFound(f"no config file at {path}", fix="correct --config or KB_CONFIG, or leave it out")
    return path


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder of exported models, shared by all homes; it can be deleted at any time."""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "kb"


def _file_settings(path: Path) -> Iterator[Setting]:
    old_sections = {name.partition(".")[0] for name in RENAMED}
    for section, given in _read_toml(path).items():
        if section not in SECTIONS and section not in old_sections:
            raise unknown_name(section, list(SECTIONS), "section", str(path))
        for setting in _section_settings(section, given, str(path)):
            # The rules file is relative to the config file, not to the folder that kb is called from.
            if setting.name == "relevance.rules" and isinstance(setting.value, str) and setting.value:
                setting = setting._replace(value=str(path.parent / Path(setting.value).expanduser()))
            yield setting


def _section_settings(section: str, given: Any, origin: str) -> Iterator[Setting]:
    """The keys of a section and of the sections inside it."""
    if not isinstance(given, Mapping):
        raise ConfigInvalid(f"'{section}' in {origin} is not a section", fix=f"write it as [{section}] with keys below")
    for name, value in given.items():
        dotted = f"{section}.{name}"
        if dotted in SECTIONS:
            yield from _section_settings(dotted, value, origin)
        else:
            yield Setting(dotted, value, origin)


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    if not path.is_file():
        raise ConfigNotFound(f"no config file at {path}", fix="check --config or KB_CONFIG, or run: kb init")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path} is not valid TOML: {error}", fix="correct that line", path=str(path)) from error
    except OSError as error:
        raise ConfigInvalid(f"cannot read {path}: {error.strerror}", fix="check its permissions") from error


def _environment_settings(environment: Mapping[str, str]) -> list[Setting]:
    """KB_CSWR__WEIGHTS__VECTOR sets cswr.weights.vector; the variables of other programs come first, so that ours win."""
    own = [
        Setting(variable.removeprefix("KB_").lower().replace("__", "."), value, variable)
        for variable, value in environment.items()
        if variable.startswith("KB_") and "__" in variable
    ]
    named = {setting.name for setting in own}
    others = [
        Setting(name, environment[variable], variable)
        for variable, name in ALIASES.items()
        if environment.get(variable) and name not in named
    ]
    return others + own


def _with_settings(config: Config, settings: Iterable[Setting]) -> Config:
    """The configuration with every setting checked and applied, the last one of a key winning."""
    changed: dict[str, dict[str, Any]] = {}
    for dotted, value, origin in settings:
        section, _, name = dotted.rpartition(".")
        if section not in SECTIONS:
            raise unknown_name(section, list(SECTIONS), "section", origin)
        known = {entry.name: entry for entry in fields(getattr(config, SECTIONS[section]))}
        if name not in known:
            raise unknown_name(dotted, [f"{section}.{other}" for other in known], "key", origin)
        changed.setdefault(SECTIONS[section], {})[name] = check_value(dotted, value, known[name], origin)
    return replace(config, **{name: replace(getattr(config, name), **values) for name, values in changed.items()})


def _check_weights(weights: CswrWeightsConfig) -> None:
    total = sum(getattr(weights, f.name) for f in fields(weights))
    if abs(total - 1) > 0.001:
        raise ConfigInvalid(
            f"the weights in [cswr.weights] sum to {total:g}",
            fix="let them sum to 1: the thresholds of packing are on that scale",
        )
