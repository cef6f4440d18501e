"""How many chunks have each word, and how long the fields are on average: what scores are made of.

Each writer counts in rows of its own, in memory first, and writes them when the words are to be searched: two writers never
change the same row, and readers add up. A writer notes beforehand that it has something to write; where that note outlives
it, some of its documents were not counted, and the next build from nothing counts all of them.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kb.milvus.client import Client, batches
from kb.milvus.layout import PLACEHOLDER, WORDS
from kb.milvus.values import NOWHERE, PENDING, TOTALS, WRITER, Values
from kb.milvus.words import FIELDS, count_dimensions
from kb.private import open_private

# The file of a home with the number of its writer.
WRITER_FILE = "corpus_writer"
_WRITERS = 2**20
_DIMENSION_BITS = 32


class WordCounts:
    """See the module."""

    def __init__(self, client: Client, values: Values, home: Path) -> None:
        self._client, self._values, self._home = client, values, home
        self._number: int | None = None
        self._words: Counter[int] = Counter()
        self._totals: Counter[str] = Counter()
        self._known: dict[int, int] = {}
        self._known_at = ""

    # ---- reading

    def of(self, places: Iterable[int]) -> dict[int, int]:
        """Dimension → number of chunks that have it, as far as it is written; kept until the corpus changes."""
        token = self._values.state().token
        if token != self._known_at:
            self._known, self._known_at = {}, token
        wanted = [place for place in dict.fromkeys(places) if place not in self._known]
        if wanted:
            writers = [int(number) for number in self._values.named(WRITER)]
            rows = self._client.get(WORDS, [_key(w, place) for place in wanted for w in writers], ["chunks"])
            found = Counter(dict.fromkeys(wanted, 0))
            for key, row in rows.items():
                found[key & (2**_DIMENSION_BITS - 1)] += int(row["chunks"])
            self._known |= {place: max(0, count) for place, count in found.items()}
        return self._known

    def totals(self) -> Counter[str]:
        """The number of chunks, under "chunks", and the terms of each field, over all of them."""
        found: Counter[str] = Counter()
        for counted in self._values.named(TOTALS).values():
            found.update(counted)
        return found

    def averages(self) -> dict[str, float] | None:
        """The average length of each field in terms, at least one; None without chunks."""
        totals = self.totals()
        return {f: max(1.0, totals[f] / totals["chunks"]) for f in FIELDS} if totals["chunks"] > 0 else None

    def left_behind(self) -> list[str]:
        """The writers that have noted something to write, but for this one while it lives."""
        own = str(self._number) if self._words or self._totals else ""
        return [number for number in self._values.named(PENDING) if number != own]

    # ---- writing

    def note(self, chunks: Sequence[Mapping[str, Any]], sign: int) -> None:
        """Count chunks that are added, or with -1 those that are removed; rows with `sparse` and the lengths."""
        if not chunks:
            return
        if not self._words and not self._totals:
            self._values.write({f"{PENDING}:{self._writer()}": True})
        self._words.update(count_dimensions((chunk["sparse"] for chunk in chunks), sign))
        self._totals["chunks"] += sign * len(chunks)
        for field in FIELDS:
            self._totals[field] += sign * sum(int(chunk[f"{field}_terms"]) for chunk in chunks)

    def flush(self) -> None:
        """Write what was noted."""
        if not self._words and not self._totals:
            return
        self._client.create(WORDS)
        writer = self._writer()
        for batch in batches(place for place, count in self._words.items() if count):
            keys = [_key(writer, place) for place in batch]
            before = self._client.get(WORDS, keys, ["chunks"])
            counts = (int(before[key]["chunks"]) if key in before else 0 for key in keys)
            self._client.upsert(
                WORDS,
                [_row(key, count + self._words[place]) for key, place, count in zip(keys, batch, counts, strict=True)],
            )
        totals = Counter(self._values.read(f"{TOTALS}:{writer}") or {})
        totals.update(self._totals)
        self._values.write({f"{TOTALS}:{writer}": dict(totals), f"{PENDING}:{writer}": None})
        self._forget()

    def replace(self, words: Mapping[int, int], totals: Mapping[str, int]) -> None:
        """Put counts of everything in the place of all that writers have counted."""
        self._client.create(WORDS)
        writers = [int(number) for number in self._values.named(WRITER)]
        for number in writers:
            self._client.delete(WORDS, f"word >= {_key(number, 0)} and word < {_key(number + 1, 0)}")
        own = self._writer()
        self._client.upsert(WORDS, (_row(_key(own, place), count) for place, count in words.items()))
        others = {f"{kind}:{number}": None for number in writers if number != own for kind in (TOTALS, WRITER)}
        noted = {f"{PENDING}:{number}": None for number in self._values.named(PENDING)}
        self._values.write(others | noted | {f"{TOTALS}:{own}": dict(totals)})
        self._forget()

    def _forget(self) -> None:
        self._words.clear()
        self._totals.clear()
        self._known_at = ""

    def _writer(self) -> int:
        """The number of this home's writer, drawn once and kept in a file of the home."""
        if self._number is None:
            path = self._home / WRITER_FILE
            if not path.exists():
                with open(path, "w", opener=open_private) as file:
                    file.write(str(1 + secrets.randbelow(_WRITERS - 1)))
            self._number = int(path.read_text())
            self._values.write({f"{WRITER}:{self._number}": True})
        return self._number


def _key(writer: int, place: int) -> int:
    return (writer << _DIMENSION_BITS) + place


def _row(key: int, chunks: int) -> dict[str, Any]:
    return {"word": key, "chunks": chunks, PLACEHOLDER: NOWHERE}
