"""Measured length of each context node in tokens: running averages that replace the rules' estimates."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

# An average of fewer runs says more about those questions than about the node.
LEAST_RUNS = 5


def fetch_averages(connection: sqlite3.Connection) -> dict[str, int]:
    """Node → mean tokens of the runs in which it was not empty, rounded; only nodes with at least LEAST_RUNS of them."""
    rows = connection.execute("SELECT node, tokens, runs FROM node_tokens WHERE runs >= ?", [LEAST_RUNS])
    return {node: round(tokens / runs) for node, tokens, runs in rows}


def add_measurements(connection: sqlite3.Connection, tokens: Mapping[str, int]) -> None:
    """Count one run of each node; part of the transaction of whoever calls it, or one of its own."""
    connection.executemany(
        "INSERT INTO node_tokens (node, runs, tokens) VALUES (?, 1, ?)"
        " ON CONFLICT (node) DO UPDATE SET runs = runs + 1, tokens = tokens + excluded.tokens",
        tokens.items(),
    )
