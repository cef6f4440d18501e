"""Calls that no sensible client makes: names, types, lengths and characters at random, from a seed."""

from __future__ import annotations

import random
from typing import Any

TOOLS = ("search", "ask", "context", "read", "list_documents", "remember", "facts", "tags", "verify", "", "no_tool")
ARGUMENTS = (
    *("query", "question", "claim", "text", "document", "section", "lines", "chunk_id", "around", "start", "limit"),
    *(
        "offset",
        "max_tokens",
        "seen",
        "evidence",
        "places",
        "tags",
        "paths",
        "types",
        "since",
        "until",
        "mode",
        "words",
    ),
    *("min_score", "session", "project", "nonsense"),
)
# What each tool cannot do without: half of the calls get it, so that they come further than the check.
NEEDED = {"search": "query", "ask": "question", "context": "query", "read": "document", "verify": "claim"}
TEXTS = (
    *(
        "mirror",
        "How is the mirror cleaned?",
        "",
        " ",
        "\x00",
        "\x1b[31m",
        "\u202e\u200b\U000e0041",
        "\ud7ff\ufffd",
        "안녕하세요 망원경",
    ),
    *(
        "'; DROP TABLE documents; --",
        "../../etc/passwd",
        "doc:1",
        "doc:999999999999",
        "marigold-telescope.md#L1-L9",
        "#L5",
    ),
    *("%00%ff", "a" * 5000, "?" * 300, "NOT AND OR (", '"unclosed', "*:*", "[#1] {query}", "12-3", "0-0", "1-99999999"),
    *("**/*", "[", "[!a", "2026-13-45", "1e400", "NaN", "-1", "x\ny\tz", "🔭" * 50),
)
NUMBERS = (0, 1, -1, 3, 50, 10**6, 2**63, -(2**70), 0.5, 1e308)


def random_call(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """(a tool's name, its arguments)."""
    tool = chance.choice(TOOLS)
    names = chance.sample(ARGUMENTS, chance.randint(0, 4))
    arguments = {name: random_value(chance) for name in names}
    if tool in NEEDED and chance.random() < 0.8:
        fitting = {name: value for name, value in arguments.items() if chance.random() < 0.4}
        arguments = {**fitting, NEEDED[tool]: chance.choice(TEXTS)}
        if tool == "verify":
            arguments["evidence"] = [chance.choice(TEXTS) for _ in range(chance.randint(0, 3))]
    return tool, arguments


def random_value(chance: random.Random, depth: int = 0) -> Any:
    """Any JSON value."""
    kinds = ["text", "text", "number", "bool", "none", *(["list", "object"] if depth < 3 else [])]
    match chance.choice(kinds):
        case "text":
            return chance.choice(TEXTS)
        case "number":
            return chance.choice(NUMBERS)
        case "bool":
            return chance.random() < 0.5
        case "list":
            return [random_value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
        case "object":
            return {chance.choice(TEXTS): random_value(chance, depth + 1) for _ in range(chance.randint(0, 3))}
    return None
