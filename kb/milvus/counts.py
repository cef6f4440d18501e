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
from kb.milvus.values import COUNTED, NOWHERE, PENDING, TOTALS, WRITERS, Values
from kb.milvus.words import FIELDS, count_dimensions
from kb.private import open_private

# The file of a home with the number of its writer.
WRITER_FILE = "corpus_writer"
_WRITERS = 2**20
_DIMENSION_BITS = 32


class WordCounts:
    """See the module.

    is_incomplete  a writer of this home was killed before it wrote what it had counted
    """

    def __init__(self, client: Client, values: Values, home: Path) -> None:
        self._client, self._values, self._home = client, values, home
        self.is_incomplete = False
        self._number: int | None = None
        self._words: Counter[int] = Counter()
        self._totals: Counter[str] = Counter()
        self._known: dict[int, int] = {}
        self._known_at: str | None = ""

    # ---- reading

    def of(self, places: Iterable[int]) -> dict[int, int]:
        """Dimension → number of chunks that have it, as far as it is written; kept until somebody writes counts."""
        token = self._values.read(COUNTED)
        if token != self._known_at:
            self._known, self._known_at = {}, token
        wanted = [place for place in dict.fromkeys(places) if place not in self._known]
        if wanted:
            keys = [_key(writer, place) for place in wanted for writer in self._writers()]
            rows = self._client.get(WORDS, keys, ["chunks"])
            found = Counter(dict.fromkeys(wanted, 0))
            for key, row in rows.items():
                found[key & (2**_DIMENSION_BITS - 1)] += int(row["chunks"])
            self._known |= {place: max(0, count) for place, count in found.items()}
        return self._known

    def totals(self) -> Counter[str]:
        """The number of chunks, under "chunks", and the terms of each field, over all of them."""
        found: Counter[str] = Counter()
        for counted in self._of_writers(TOTALS).values():
            found.update(counted)
        return found

    def averages(self) -> dict[str, float] | None:
        """The average length of each field in terms, at least one; None without chunks."""
        totals = self.totals()
        return {f: max(1.0, totals[f] / totals["chunks"]) for f in FIELDS} if totals["chunks"] > 0 else None

    def left_behind(self) -> list[int]:
        """The writers that have noted something to write, but for this one while it lives."""
        own = self._number if self._words or self._totals else None
        return [number for number in self._of_writers(PENDING) if number != own]

    # ---- writing

    def note(self, chunks: Sequence[Mapping[str, Any]], sign: int) -> None:
        """Count chunks that are added, or with -1 those that are removed; rows with `sparse` and the lengths."""
        if not chunks:
            return
        if not self._words and not self._totals:
            self._sign_up()
            pending = f"{PENDING}:{self._writer()}"
            self.is_incomplete |= bool(self._values.read(pending))
            self._values.write({pending: True})
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
        self._sign_up()
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
        self._values.write({f"{TOTALS}:{writer}": dict(totals), COUNTED: secrets.token_hex(8)})
        self._values.write({f"{PENDING}:{writer}": None})
        self._forget()

    def replace(self, words: Mapping[int, int], totals: Mapping[str, int]) -> None:
        """Put counts of everything in the place of all that writers have counted."""
        self._client.create(WORDS)
        own = self._writer()
        writers = self._writers()
        for number in writers:
            self._client.delete(WORDS, f"word >= {_key(number, 0)} and word < {_key(number + 1, 0)}")
        self._client.upsert(WORDS, (_row(_key(own, place), count) for place, count in words.items()))
        gone = {f"{kind}:{number}": None for number in writers if number != own for kind in (TOTALS, PENDING)}
        self._values.write(gone | {f"{TOTALS}:{own}": dict(totals), COUNTED: secrets.token_hex(8)})
        self._values.write({f"{PENDING}:{own}": None})
        self.is_incomplete = False
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
        return self._number

    def _writers(self) -> list[int]:
        """The numbers of all writers there were."""
        return self._values.read(WRITERS) or []

    def _of_writers(self, kind: str) -> dict[int, Any]:
        """The values of a kind, by writer."""
        names = {f"{kind}:{number}": number for number in self._writers()}
        return {names[name]: value for name, value in self._values.read_all([*names]).items()}

    def _sign_up(self) -> None:
        """Join the list of writers; again where another one signs up at the same moment and its list wins."""
        own = self._writer()
        while own not in (known := self._writers()):
            self._values.write({WRITERS: sorted({*known, own})})


def _key(writer: int, place: int) -> int:
    return (writer << _DIMENSION_BITS) + place


def _row(key: int, chunks: int) -> dict[str, Any]:
    return {"word": key, "chunks": chunks, PLACEHOLDER: NOWHERE}
