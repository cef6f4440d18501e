"""A file's rows → a vocabulary: spellings of one tag merged, alias chains followed, what contradicts itself refused. Pure.

A tag that is listed as an alias of another is an alias: its own aliases follow it to where it leads (the rule of Hydrus'
tag siblings, A → B → C makes A stand for C). What was merged or left out is counted and named, never dropped in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kb.tags.faults import Draft, TagRow, first_few
from kb.tags.vocabulary import Tag, Vocabulary, make_vocabulary
from kb.tags.words import key_of


@dataclass(slots=True)
class _Rows:
    """Rows by key, and where each alias points, as keys; places for messages."""

    rows: dict[str, TagRow] = field(default_factory=dict)
    pointing: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def adopt(draft: Draft) -> tuple[Vocabulary, list[str]]:
    """The vocabulary of a draft, and notes on what was merged or left out. Faults are added to the draft.

    When the draft has faults afterwards, the vocabulary is not to be used.
    """
    state = _Rows()
    _merge_spellings(draft, state)
    _collect_pointers(draft, state)
    targets = _follow(draft, state)
    canonical = {key: row for key, row in state.rows.items() if key not in state.pointing}
    names = {key: row.tag for key, row in canonical.items()}
    aliases = {alias: [names[key] for key in keys if key in names] for alias, keys in targets.items()}
    _note_followers(state)
    items = _project_items(draft, state, names, aliases)
    tags = [Tag(row.tag, row.category, row.count, row.rating) for row in canonical.values()]
    return make_vocabulary(tags, aliases, items), state.notes


def _merge_spellings(draft: Draft, state: _Rows) -> None:
    merged = []
    for row in draft.rows:
        name = _plain(row.tag)
        key = key_of(name)
        if not key:
            nowhere = f": its aliases {first_few(row.aliases)} point nowhere" if row.aliases else ""
            draft.fault(row.place, f"a tag without a name{nowhere}")
            continue
        first = state.rows.get(key)
        if first is None:
            state.rows[key] = replace(row, tag=name, category=_plain(row.category) if row.category else None)
            continue
        merged.append(f"'{name}' ({_at(row)}) and '{first.tag}' ({_at(first)})")
        counts = [c for c in (first.count, row.count) if c is not None]
        ratings = [r for r in (first.rating, row.rating) if r is not None]
        state.rows[key] = replace(
            first,
            category=first.category or row.category,
            count=sum(counts) if counts else None,
            aliases=(*first.aliases, *row.aliases),
            rating=max(ratings) if ratings else None,
        )
    if merged:
        state.notes.append(f"other spellings of a tag, merged with it, counts added: {first_few(merged)}")


def _collect_pointers(draft: Draft, state: _Rows) -> None:
    empty = []
    for key, row in state.rows.items():
        for alias in row.aliases:
            name = key_of(alias)
            if not name:
                empty.append(row.place)
            elif name != key:
                state.pointing.setdefault(name, {}).setdefault(key, row.place)
    for place, alias, target in draft.pointers:
        name, key = key_of(alias), key_of(target)
        if not name or not key:
            draft.fault(place, f"the alias '{alias}' points nowhere: '{target}'" if name else "an alias without a name")
        elif name != key:
            state.pointing.setdefault(name, {}).setdefault(key, place)
    for alias, targets in state.pointing.items():
        for key, place in targets.items():
            if key not in state.rows and key not in state.pointing:
                draft.fault(place, f"the alias '{alias}' points nowhere: there is no tag '{key}'")
    if empty:
        state.notes.append(f"aliases without a name, left out: {len(empty)}")


def _follow(draft: Draft, state: _Rows) -> dict[str, list[str]]:
    """Every alias with the keys at the ends of its chains. A cycle is a fault, told once."""
    ends: dict[str, list[str]] = {}
    in_cycles: set[str] = set()
    for alias in state.pointing:
        found: dict[str, None] = {}
        # Depth first, with the way from the alias to each key: a key on its own way is a cycle.
        stack: list[tuple[str, tuple[str, ...]]] = [(alias, (alias,))]
        seen = set()
        while stack:
            key, way = stack.pop()
            for target in reversed(state.pointing.get(key, {})):
                if target in way:
                    cycle = way[way.index(target) :]
                    if in_cycles.isdisjoint(cycle):
                        place = state.pointing[key][target]
                        draft.fault(place, f"aliases go in a circle: {' → '.join([*cycle, target])}")
                    in_cycles.update(cycle)
                elif target in state.pointing:
                    if target not in seen:
                        seen.add(target)
                        stack.append((target, (*way, target)))
                elif target in state.rows:
                    found[target] = None
        ends[alias] = list(found)
    return ends


def _plain(text: str) -> str:
    """On one line, without lone surrogates: JSON can hold them, SQLite cannot."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _at(row: TagRow) -> str:
    return f"line {row.place}" if row.place.isdecimal() else row.place


def _note_followers(state: _Rows) -> None:
    """Rows that turned out to be aliases of others."""
    gone = [f"'{row.tag}' ({_at(row)})" for key, row in state.rows.items() if key in state.pointing]
    if gone:
        tags = "1 tag is" if len(gone) == 1 else f"{len(gone)} tags are"
        state.notes.append(f"{tags} an alias of another tag, with all that point there: {first_few(gone)}")


def _project_items(draft: Draft, state: _Rows, names: dict[str, str], aliases: dict[str, list[str]]) -> list[list[str]]:
    """Items as canonical tags; names that are in no vocabulary are counted."""
    unknown: dict[str, int] = {}
    items = []
    for item in draft.items:
        tags: list[str] = []
        for name in item:
            key = key_of(name)
            found = [names[key]] if key in names else aliases.get(key, [])
            tags += found
            if not found:
                unknown[name] = unknown.get(name, 0) + 1
        if tags:
            items.append(tags)
    if unknown:
        most = sorted(unknown, key=lambda name: (-unknown[name], name))
        state.notes.append(
            f"in items {sum(unknown.values()):,} times a name that is neither tag nor alias, left out: {first_few(most)}"
        )
    return items
