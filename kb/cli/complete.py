"""The beginning of a command line → what can follow, for the shells' completion: commands, options, live values.

Started as `python -m kb.cli.complete SHELL WORD…` by the scripts that `kb --show-completion` prints. It has 100 ms: no
command, no typer and no library is imported, and the store is only read.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from kb.embed.catalogue import CATALOGUE
from kb.store.completion import completion_values

# More than these are no help; the next letter narrows them.
MOST_VALUES = 200
MODEL_SECONDS = 0.05


class Value(NamedTuple):
    """One thing that can follow, and what it is in a few words."""

    text: str
    about: str = ""


FIXED: dict[str, str] = {
    "mode": "lexical vector hybrid",
    "color": "auto always never",
    "intent": "RESPOND CLARIFY ACT ACKNOWLEDGE",
    "format": "html md json csv jsonl",
    "urgency": "low normal medium high",
    "since": "today yesterday 7d 30d",
}
# What follows an option. Where it says nothing, the shell completes files.
OF_OPTION: dict[str, str] = {
    "--mode": "mode",
    "--color": "color",
    "--intent": "intent",
    "--format": "format",
    "--urgency": "urgency",
    "--since": "since",
    "--until": "since",
    "--before": "since",
    "--lang": "lang",
    "--type": "type",
    "--source": "source",
    "--tag": "tag",
    "--session": "session",
    "--model": "model",
    "--encoder": "encoder",
    "--sort": "sort",
    "--baseline": "run",
    "--resume": "run",
}
# What a command's own words are.
OF_COMMAND: dict[str, str] = {
    **dict.fromkeys(("show", "open", "rm"), "document"),
    **dict.fromkeys(("answers show", "answers replay", "answers rm", "answers prune"), "answer"),
    **dict.fromkeys(("sessions show", "sessions export", "sessions rm"), "session"),
    **dict.fromkeys(("models use", "models pull"), "model"),
    **dict.fromkeys(("eval report", "eval compare"), "run"),
    **dict.fromkeys(("eval run", "eval tune", "eval sessions"), "suite"),
    "expert relevance": "intent",
}


def complete(words: Sequence[str], options_file: Path | None = None) -> list[Value] | None:
    """What can stand in the place of the last word; None leaves it to the shell, which knows files.

    words  after `kb`, the last one is being typed and may be empty
    """
    table = json.loads((options_file or Path(__file__).with_name("options.json")).read_text(encoding="utf-8"))
    *before, typed = words or [""]
    place = [word for at, word in enumerate(before) if not word.startswith("-") and not _is_value(before, at)]
    command = " ".join(place[:2]) if " ".join(place[:2]) in table else place[0] if place else ""
    name, has_value, rest = typed.partition("=")
    if has_value and name.startswith("--"):
        found = _values_of(name, command, table, before)
        return None if found is None else [Value(f"{name}={v.text}", v.about) for v in _fitting(found, rest)]
    if before and _takes_value(before[-1], command, table):
        found = _values_of(before[-1], command, table, before)
        return None if found is None else _fitting(found, typed)
    if typed.startswith("-"):
        rows = table.get(command, {"options": []})["options"] or table["status"]["options"]
        return _fitting([Value(option, about) for option, about, _ in rows], typed)
    if not place:
        return _fitting([Value(n, row["help"]) for n, row in table.items() if " " not in n], typed)
    inner = [Value(n.split()[1], row["help"]) for n, row in table.items() if n.startswith(f"{place[0]} ")]
    if inner and len(place) == 1:
        return _fitting(inner, typed)
    if place[0] == "help":
        return _fitting([Value(n, row["help"]) for n, row in table.items() if " " not in n], typed)
    kind = OF_COMMAND.get(command)
    return None if kind is None or kind == "suite" else _fitting(_live(kind, before), typed)


def _is_value(before: Sequence[str], at: int) -> bool:
    return at > 0 and before[at - 1] in (*OF_OPTION, "--home", "--config", "-n", "-k", "--limit")


def _takes_value(option: str, command: str, table: dict[str, dict[str, list[tuple[str, str, bool]]]]) -> bool:
    rows = table.get(command, {"options": []})["options"] or table["status"]["options"]
    return option.startswith("-") and any(name == option and takes for name, _, takes in rows)


def _values_of(
    option: str, command: str, table: dict[str, dict[str, list[tuple[str, str, bool]]]], before: Sequence[str]
) -> list[Value] | None:
    kind = OF_OPTION.get(option)
    if kind == "sort":  # its help names them: "by path, title or newest"
        about = next((help for name, help, _ in table.get(command, {"options": []})["options"] if name == option), "")
        return [Value(word) for word in about.removeprefix("by ").replace(" or ", ", ").split(", ") if word]
    return None if kind is None else _live(kind, before)


def _fitting(values: Iterable[Value], typed: str) -> list[Value]:
    lower = typed.lower()
    return [value for value in values if value.text.lower().startswith(lower)][:MOST_VALUES]


def _live(kind: str, before: Sequence[str]) -> list[Value]:
    if kind in FIXED:
        return [Value(word) for word in FIXED[kind].split()]
    home = _home(before)
    try:
        return LIVE[kind](home)
    except (OSError, sqlite3.Error, ValueError, KeyError):  # there is nothing to complete where nothing can be read
        return []


def _home(before: Sequence[str]) -> Path:
    """The folder that --home or KB_HOME names, as `kb.config.find_home`, which takes 30 ms to import."""
    for at, word in enumerate(before):
        if word == "--home" and at + 1 < len(before):
            return Path(before[at + 1]).expanduser()
        if word.startswith("--home="):
            return Path(word.partition("=")[2]).expanduser()
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(os.environ.get("KB_HOME") or f"{data}/kb").expanduser()


def _runs(home: Path) -> list[Value]:
    found = [Value("last", "the newest run")]
    for path in sorted((home / "eval").glob("*.jsonl"), reverse=True):
        day, _, _, name, mode = parts if len(parts := path.stem.split("-")) == 5 else ("", "", "", path.stem, "")
        found.append(Value(name, f"{day} {mode}".strip()))
    return found


def _models(home: Path) -> list[Value]:
    from http.client import HTTPException

    own = [Value("extractive", "quotes your documents, no language model")]
    try:
        return [*_pulled(home), *own]
    except (OSError, HTTPException, ValueError, KeyError):
        return own


def _pulled(home: Path) -> list[Value]:
    """The models of the Ollama server, if it answers at once."""
    import tomllib
    from http.client import HTTPConnection
    from urllib.parse import urlsplit

    endpoint = os.environ.get("KB_LLM__ENDPOINT")
    config = home / "config.toml"
    if not endpoint and config.is_file():
        endpoint = tomllib.loads(config.read_text(encoding="utf-8")).get("llm", {}).get("endpoint")
    address = urlsplit(endpoint or "http://127.0.0.1:11434")
    connection = HTTPConnection(address.hostname or "127.0.0.1", address.port or 11434, timeout=MODEL_SECONDS)
    connection.request("GET", "/api/tags")
    return [Value(str(model["name"])) for model in json.load(connection.getresponse())["models"]]


def _encoders(home: Path) -> list[Value]:
    return [Value(encoder.name, encoder.languages) for encoder in CATALOGUE]


def _of_store(kind: str) -> Callable[[Path], list[Value]]:
    def read(home: Path) -> list[Value]:
        return [Value(text, about) for text, about in completion_values(home, kind)]

    return read


LIVE: dict[str, Callable[[Path], list[Value]]] = {
    **{kind: _of_store(kind) for kind in ("lang", "type", "source", "tag", "document", "session", "answer")},
    "model": _models,
    "run": _runs,
    "encoder": _encoders,
}


def whole_words(words: Sequence[str]) -> tuple[list[str], int]:
    """(the words as they were typed, how much of the last one bash has behind it): bash breaks words at = and at :.

    >>> whole_words(["search", "--lang", "=", "e"]), whole_words(["models", "use", "qwen2.5", ":"])
    ((['search', '--lang=e'], 7), (['models', 'use', 'qwen2.5:'], 8))
    """
    whole: list[str] = []
    starts = [0]
    for at, word in enumerate(words):
        if whole and (word in ("=", ":") or words[at - 1] in ("=", ":")):
            starts.append(len(whole[-1]) + (len(word) if word in ("=", ":") else 0))
            whole[-1] += word
        else:
            whole.append(word)
            starts.append(0)
    return whole or [""], starts[-1]


def main() -> None:
    """Print the completions for a shell, a line each; exit 3 where it should complete files."""
    shell, *words = sys.argv[1:]
    cut = 0
    if shell == "bash":
        words, cut = whole_words(words)
    found = complete(words)
    if found is None:
        sys.exit(3)
    for value in found:
        text, about = (" ".join(part.split()) for part in value)
        if shell == "bash" or not about:
            print(text[cut:])
        elif shell == "zsh":
            escaped = text.replace(":", "\\:")
            print(f"{escaped}:{about}")
        else:
            print(f"{text}\t{about}")


if __name__ == "__main__":
    main()
