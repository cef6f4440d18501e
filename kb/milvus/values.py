"""Single values of a corpus in Milvus: its encoder, secret, revision and sources, and what its writers have counted.

A value is one row, so a reader sees the old or the new one. Two writers that change the same value: the later one wins;
what each writer counts is in rows of its own, and readers add them up.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from kb.errors import CorruptStore
from kb.milvus.client import Client
from kb.milvus.layout import FORMAT, PLACEHOLDER, VALUES
from kb.store.database import CorpusState

# What a placeholder vector holds.
NOWHERE = [0.0, 1.0]
REVISION = "revision"
# One row for each source, language …: the prefix, a colon, its name.
SOURCE, STOPPED, LANGUAGE, TAG, TYPE = "source", "stopped", "language", "tag", "type"
# The numbers of all writers; what one of them has to write, and what it has counted.
WRITERS = "writers"
# A token that differs with every change of what was counted.
COUNTED = "counted"
PENDING, TOTALS, VOCABULARY = "pending", "totals", "vocabulary"
# A vocabulary is kept in pieces of so many characters: of four bytes each they fit into one value.
_PIECE_CHARS = 16_000


class Values:
    """See the module; values are JSON."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._is_checked = False

    def read(self, name: str) -> Any:
        """One value, None where it is not set."""
        return self.read_all([name]).get(name)

    def read_all(self, names: list[str]) -> dict[str, Any]:
        """Some values by name; those that are not set are left out. raises CorruptStore for a corpus of another format"""
        self._check()
        return {name: json.loads(row["value"]) for name, row in self._client.get(VALUES, names, ["value"]).items()}

    def named(self, prefix: str) -> dict[str, Any]:
        """The values of a kind, by what stands behind its prefix, in the order of the names."""
        self._check()
        rows = self._client.query(VALUES, f'name like "{prefix}:%"', ["name", "value"])
        found = {row["name"].partition(":")[2]: json.loads(row["value"]) for row in rows}
        return dict(sorted(found.items()))

    def write(self, values: Mapping[str, Any]) -> None:
        """Set values; None takes one away."""
        self._client.create(VALUES)
        self._check()
        rows = [_row(name, value) for name, value in values.items() if value is not None]
        if rows:
            self._client.upsert(VALUES, rows)
        if gone := [name for name, value in values.items() if value is None]:
            self._client.delete_keys(VALUES, gone)

    def state(self) -> CorpusState:
        """The revision and its token."""
        revision, token = self.read(REVISION) or (0, "")
        return CorpusState(revision, token)

    def raise_revision(self) -> None:
        """Mark the corpus as changed."""
        self.write({REVISION: [self.state().revision + 1, secrets.token_hex(8)]})

    def write_long(self, prefix: str, value: Any) -> None:
        """A value of any length, in pieces; None takes it away."""
        text = "" if value is None else json.dumps(value, ensure_ascii=False)
        pieces = {
            f"{prefix}:{at // _PIECE_CHARS:06}": text[at : at + _PIECE_CHARS]
            for at in range(0, len(text), _PIECE_CHARS)
        }
        gone = {f"{prefix}:{name}": None for name in self.named(prefix) if f"{prefix}:{name}" not in pieces}
        self.write(pieces | gone)

    def read_long(self, prefix: str) -> Any:
        """What `write_long` wrote; None where there is none."""
        text = "".join(self.named(prefix).values())
        return json.loads(text) if text else None

    def _check(self) -> None:
        """The corpus has the layout of this kb; a new one gets it."""
        if self._is_checked or not self._client.has(VALUES):
            return
        row = self._client.get(VALUES, ["format"], ["value"]).get("format")
        if row is None:
            self._client.upsert(VALUES, [_row("format", FORMAT)])
        elif json.loads(row["value"]) != FORMAT:
            raise CorruptStore(
                f"the corpus at {self._client.where} has format {row['value']}, this kb knows {FORMAT}",
                fix="use the kb that wrote it, or another corpus.collection",
            )
        self._is_checked = True


def _row(name: str, value: Any) -> dict[str, Any]:
    return {"name": name, "value": json.dumps(value, ensure_ascii=False), PLACEHOLDER: NOWHERE}
