"""The closed vocabulary: canonical tags, what each alias stands for, which tags are sensitive, the items that carry them.

A suggestion never returns anything else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256

from kb.frozen import dataclass
from kb.tags.words import fold, key_of

# The origin of a vocabulary that was not imported: the documents' own tags.
DOCUMENTS = "documents"


@dataclass(frozen=True, slots=True)
class Tag:
    """One canonical tag.

    tag       as it is shown
    category  as the file names it, None where it names none
    count     how many items carry it, None when they were not counted
    rating    probability that it is sensitive, in [0, 1]; None when it was not rated
    """

    tag: str
    category: str | None = None
    count: int | None = None
    rating: float | None = None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Tags sorted by name; aliases by key, each with its canonical tags, sorted; items as canonical tags.

    digest  sha256 over all of it, hex: what trained files are stamped with
    """

    tags: tuple[Tag, ...]
    aliases: Mapping[str, tuple[str, ...]]
    items: tuple[tuple[str, ...], ...] = ()
    digest: str = ""
    _counts: dict[str, int | None] = field(init=False, repr=False, compare=False)
    _by_key: dict[str, str] = field(init=False, repr=False, compare=False)
    _hyphened: dict[str, list[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_counts", {tag.tag: tag.count for tag in self.tags})
        object.__setattr__(self, "_by_key", {key_of(tag.tag): tag.tag for tag in self.tags})
        # Only keys that folding changes: opening a vocabulary of 50,000 names is most of what a cold suggestion waits for.
        hyphened: dict[str, list[str]] = {}
        for key in (*self._by_key, *self.aliases):
            folded = fold(key)
            if folded != key:
                hyphened.setdefault(folded, []).append(key)
        object.__setattr__(self, "_hyphened", hyphened)

    def __contains__(self, tag: str) -> bool:
        return tag in self._counts

    def count(self, tag: str) -> int | None:
        """How many items carry a canonical tag."""
        return self._counts[tag]

    def project(self, token: str) -> tuple[str, ...]:
        """The canonical tags a token stands for: itself, or those it is an alias of; empty when it is not in here.

        A token that is a tag stands for itself, even if it is an alias too. Hyphens are taken for underscores only when
        its own spelling is unknown.
        """
        # Neighbours come as keys and need no normalizing.
        key = token if token in self._by_key or token in self.aliases else key_of(token)
        if key in self._by_key:
            return (self._by_key[key],)
        return self.aliases.get(key) or self._project_folded(fold(key))

    def _project_folded(self, folded: str) -> tuple[str, ...]:
        """What the keys stand for that fold to this; a canonical tag wins over aliases."""
        keys = [folded, *self._hyphened.get(folded, ())]
        own = sorted(self._by_key[key] for key in keys if key in self._by_key)
        return tuple(own or sorted({tag for key in keys for tag in self.aliases.get(key, ())}))

    def keys(self) -> dict[str, str]:
        """Canonical tag → its key."""
        return {tag: key for key, tag in self._by_key.items()}

    def sensitive(self, threshold: float) -> frozenset[str]:
        """The tags whose rating reaches the threshold."""
        return frozenset(tag.tag for tag in self.tags if tag.rating is not None and tag.rating >= threshold)

    def neighbour_tokens(self) -> tuple[str, ...]:
        """The keys that can be neighbours, sorted; of keys that differ only in a hyphen or underscore, the canonical one."""
        chosen: dict[str, str] = {}
        for key in (*sorted(self._by_key), *sorted(self.aliases)):
            chosen.setdefault(fold(key), key)
        return tuple(sorted(chosen.values()))


def make_vocabulary(
    tags: Iterable[Tag], aliases: Mapping[str, Iterable[str]], items: Iterable[Sequence[str]] = ()
) -> Vocabulary:
    """A vocabulary in canonical order, with its digest. Tags without a count get the number of their items.

    aliases  any spelling → canonical tags; the spelling becomes a key
    items    canonical tags; repeats inside an item count once
    """
    kept = tuple(tuple(dict.fromkeys(item)) for item in items if item)
    rows = sorted(tags, key=lambda tag: tag.tag)
    if kept:
        seen = Counter(tag for item in kept for tag in item)
        rows = [replace(row, count=seen[row.tag]) if row.count is None else row for row in rows]
    merged: defaultdict[str, set[str]] = defaultdict(set)
    for alias, targets in aliases.items():
        merged[key_of(alias)].update(targets)
    pointing = {alias: tuple(sorted(merged[alias])) for alias in sorted(merged)}
    digest = sha256()
    for line in (*((row.tag, row.category, row.count, row.rating) for row in rows), *pointing.items(), *kept):
        digest.update(repr(line).encode("utf-8", "replace") + b"\n")
    return Vocabulary(tuple(rows), pointing, kept, digest.hexdigest())


def vocabulary_of_documents(tag_lists: Iterable[Sequence[str]]) -> Vocabulary:
    """The vocabulary of a knowledge base's own tags: each document is an item, spellings with one key are one tag.

    The spelling used most often is the canonical one; of equally frequent ones, the one that sorts first.
    """
    lists = [tags for tags in tag_lists if tags]
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tags in lists:
        for tag in tags:
            spellings[key_of(tag)][tag] += 1
    chosen = {key: min(counts, key=lambda s: (-counts[s], s)) for key, counts in spellings.items() if key}
    items = [[chosen[key_of(tag)] for tag in tags if key_of(tag)] for tags in lists]
    return make_vocabulary([Tag(tag) for tag in chosen.values()], {}, items)
