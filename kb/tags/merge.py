"""The rows of a file → a vocabulary: spellings of one tag merged, chains of aliases followed, contradictions refused. Pure.

A tag that is listed as an alias of another tag is an alias, and its own aliases become aliases of that tag too (the rule of
Hydrus' tag siblings: from A → B → C follows that A stands for C). What was merged or left out is counted and named.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kb.tags.draft import Draft, TagRow, first_few
from kb.tags.vocabulary import Tag, Vocabulary, make_vocabulary
from kb.tags.words import key_of

# key of an alias → key of what it points to → place in the file
Pointers = Mapping[str, dict[str, str]]


def merge_draft(draft: Draft) -> tuple[Vocabulary, list[str]]:
    """The vocabulary of a draft, and notes on what was merged or left out. Faults are added to the draft.

    When the draft has faults afterwards, the vocabulary must not be used.
    """
    rows, merged = _merge_spellings(draft)
    pointers, unnamed = _collect_pointers(draft, rows)
    ends = _follow(draft, rows, pointers)
    names = {key: row.tag for key, row in rows.items() if key not in pointers}
    aliases = {alias: [names[key] for key in keys if key in names] for alias, keys in ends.items()}
    items, unknown = _project_items(draft.items, names, aliases)
    tags = [Tag(row.tag, row.category, row.count, row.rating) for key, row in rows.items() if key in names]
    also_aliases = [f"'{row.tag}' ({row.describe_place()})" for key, row in rows.items() if key not in names]
    return make_vocabulary(tags, aliases, items), _notes(merged, unnamed, also_aliases, unknown)


def _notes(merged: Sequence[str], unnamed: int, also_aliases: Sequence[str], unknown: Counter[str]) -> list[str]:
    notes = []
    if merged:
        notes.append(f"other spellings of a tag, merged with it, counts added: {first_few(merged)}")
    if unnamed:
        notes.append(f"aliases without a name, left out: {unnamed}")
    if also_aliases:
        tags = "1 tag is" if len(also_aliases) == 1 else f"{len(also_aliases)} tags are"
        notes.append(f"{tags} an alias of another tag, with all that point there: {first_few(also_aliases)}")
    if unknown:
        most = first_few(sorted(unknown, key=lambda name: (-unknown[name], name)))
        notes.append(f"in items {unknown.total():,} times a name that is neither tag nor alias, left out: {most}")
    return notes


def _merge_spellings(draft: Draft) -> tuple[dict[str, TagRow], list[str]]:
    """Rows by key, and which were merged, in words."""
    rows: dict[str, TagRow] = {}
    merged = []
    for row in draft.rows:
        name = _plain(row.tag)
        key = key_of(name)
        if not key:
            nowhere = f": its aliases {first_few(row.aliases)} point nowhere" if row.aliases else ""
            draft.fault(row.place, f"a tag without a name{nowhere}")
            continue
        first = rows.get(key)
        if first is None:
            rows[key] = replace(row, tag=name, category=_plain(row.category) if row.category else None)
            continue
        merged.append(f"'{name}' ({row.describe_place()}) and '{first.tag}' ({first.describe_place()})")
        counts = [c for c in (first.count, row.count) if c is not None]
        rows[key] = replace(
            first,
            category=first.category or row.category,
            count=sum(counts) if counts else None,
            aliases=(*first.aliases, *row.aliases),
            rating=max((r for r in (first.rating, row.rating) if r is not None), default=None),
        )
    return rows, merged


def _collect_pointers(draft: Draft, rows: Mapping[str, TagRow]) -> tuple[Pointers, int]:
    """Where each alias points, and how many aliases have no name. An alias that points nowhere is a fault."""
    pointers: defaultdict[str, dict[str, str]] = defaultdict(dict)
    unnamed = 0
    for key, row in rows.items():
        for alias in row.aliases:
            name = key_of(alias)
            if not name:
                unnamed += 1
            elif name != key:
                pointers[name].setdefault(key, row.place)
    for place, alias, target in draft.pointers:
        name, key = key_of(alias), key_of(target)
        if not name or not key:
            draft.fault(place, f"the alias '{alias}' points nowhere: '{target}'" if name else "an alias without a name")
        elif name != key:
            pointers[name].setdefault(key, place)
    for alias, targets in pointers.items():
        for key, place in targets.items():
            if key not in rows and key not in pointers:
                draft.fault(place, f"the alias '{alias}' points nowhere: there is no tag '{key}'")
    return dict(pointers), unnamed


def _follow(draft: Draft, rows: Mapping[str, TagRow], pointers: Pointers) -> dict[str, list[str]]:
    """Every alias with the keys at the ends of its chains. A cycle is a fault, reported once."""
    ends: dict[str, list[str]] = {}
    in_cycles: set[str] = set()
    for alias in pointers:
        found: dict[str, None] = {}
        # Depth first, with the path from the alias to each key: a key that is on its own path closes a cycle.
        stack: list[tuple[str, tuple[str, ...]]] = [(alias, (alias,))]
        seen = set()
        while stack:
            key, path = stack.pop()
            for target in reversed(pointers.get(key, {})):
                if target in path:
                    cycle = path[path.index(target) :]
                    if in_cycles.isdisjoint(cycle):
                        chain = " → ".join([*cycle, target])
                        draft.fault(pointers[key][target], f"aliases go in a circle: {chain}")
                    in_cycles.update(cycle)
                elif target in pointers:
                    if target not in seen:
                        seen.add(target)
                        stack.append((target, (*path, target)))
                elif target in rows:
                    found[target] = None
        ends[alias] = list(found)
    return ends


def _plain(text: str) -> str:
    """On one line, without lone surrogates: JSON can hold them, SQLite cannot."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _project_items(
    items: Iterable[Sequence[str]], names: Mapping[str, str], aliases: Mapping[str, list[str]]
) -> tuple[list[list[str]], Counter[str]]:
    """Items as canonical tags, and the names that are not in the vocabulary, counted."""
    unknown: Counter[str] = Counter()
    projected = []
    for item in items:
        found = {name: [names[key]] if (key := key_of(name)) in names else aliases.get(key, []) for name in item}
        unknown.update(name for name in item if not found[name])
        projected.append([tag for name in item for tag in found[name]])
    return [tags for tags in projected if tags], unknown
