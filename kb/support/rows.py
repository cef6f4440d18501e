"""Tables, "name: value" lines and "name (value)" lists of a text → a claim that gives one row the value of another. Pure.

All words of "A family ticket costs £9.50" stand in a table of prices, and close together; only the rows tell that it is false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from kb.frozen import dataclass
from kb.language.quantities import facts_of
from kb.support.clauses import clauses_of, content_of, is_among, shared, shortened
from kb.support.overlap import units_of

# A claim is about a row where it names this share of the words of its label.
NAMED = 0.6
# What stands outside the rows is about a claim's matter where it says this share of it.
SAME_MATTER = 0.5
# A row in prose tells what a claim says where it has this share of its words, and does not tell it with no more than the second; so
# many words tell something.
TOLD, NOT_TOLD, LEAST_TOLD = 0.65, 0.34, 2
# A cell of more words is prose: it is no value that a claim could name in passing.
MOST_VALUE_WORDS = 4
# A smaller number without a unit stands in too many places to belong to a row.
LEAST_BARE = 10
MOST_LINE_CHARS = 300
LEAST_ROWS, LEAST_CSV_ROWS, LEAST_CSV_COMMAS, LEAST_COLUMNS = 2, 3, 2, 3

# They stand in claims for other things, too.
_IN_ANY_CELL = frozenset("all any both none yes no some on off auto each every".split())
_COLUMNS = re.compile(r"\t+| {2,}")
_OPTION = re.compile(r"`?--?\w[\w-]*`?")
_RULE = re.compile(r"[\s|:+=-]+")
_NAMED_VALUE = re.compile(
    r"\s*(?:[-*+•]\s+|:)?(?:\*\*|__)?(?P<name>[^:：|\n*_]{1,60}?)(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s+(?P<value>\S.*)"
)
_IN_PARENTHESES = re.compile(
    r"(?:^|[,;:]\s+|\band\s+|[-*+•]\s+|및\s+)(?P<name>[^\s,;:()][^,;:()\n]{0,50}?)(?:\s+|(?<=[가-힣]))\((?P<value>[^()\n]{1,40})\)(?=\s*(?:[,;.]|and\b|및|$))",
    re.M,
)
_ITEM = re.compile(r",\s+(?:and\s+|or\s+)?|;\s+|\s+and\s+|\s*\n\s*")
_AND = re.compile(r";\s+|,?\s+and\s+")
_TO_FROM = re.compile(r"\bto\b.*\bfrom\b", re.I)
_IDENTIFIER = re.compile(r"[A-Za-z]\w*(?:_\w+)+")
# F2, 솔12: it names a row, whatever else does.
_CODE = re.compile(r"[A-Za-z가-힣]{1,3}-?\d{1,4}")
_DEFINES = re.compile(
    r"^[ \t]*(?:\.\. [\w:+-]+:: +|#{1,6} +|[-*] +)?[`'\"]*(?P<name>[A-Za-z]\w*(?:_\w+)+)[`'\"]*(?:\(\))?[ \t]*:?[ \t]*$",
    re.M,
)


@dataclass(frozen=True, slots=True)
class Row:
    """What names a row, and its other cells in order."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, and the names of their cells' columns, empty where nothing names them."""

    rows: tuple[Row, ...]
    header: tuple[str, ...] = ()


def misread_rows(claim: str, texts: Sequence[str]) -> list[str]:
    """Values of a claim that belong to another row or column than the one it names, as words for a message.

    >>> misread_rows("A family ticket costs £9.50.", ["| ticket | price |\\n|---|---|\\n| Adult | £9.50 |\\n| Family | £24 |"])
    ["'£9.50' belongs to 'Adult'"]
    """
    tables = [table for text in texts for table in tables_of(text)]
    if not tables:
        return []
    outside = [sentence for text in texts for sentence in _outside(text)]
    found: dict[str, None] = {}
    for table in tables:
        others = [other for other in tables if other is not table]
        for part in _parts(claim, table):
            elsewhere = [cell for other in others for row in _named_rows(part, other) for cell in row.cells]
            found |= dict.fromkeys(_wrong_rows(part, table, elsewhere, outside, claim))
            found |= dict.fromkeys(_wrong_columns(part, table))
            found |= dict.fromkeys(_of_another(part, table, outside))
    return list(found)[:2]


@lru_cache(maxsize=256)
def tables_of(text: str) -> tuple[Table, ...]:
    """What a text lays out in rows, of every kind."""
    lines = text.split("\n")
    found = [*_piped(lines), *_separated(lines), *_aligned(lines), *_named_values(lines)]
    items = [pair for line in lines if len(pairs := _pairs(line)) == 1 for pair in pairs]
    for pairs in (*(_pairs(line) for line in lines), items):
        if len(pairs) >= LEAST_ROWS:  # a role may name whoever has it, as well
            found += [Table(tuple(Row(a, (b,)) for a, b in pairs)), Table(tuple(Row(b, (a,)) for a, b in pairs))]
    return (*found, *_definitions(text))


def _piped(lines: Sequence[str]) -> Iterator[Table]:
    for is_row, group in groupby(lines, key=lambda line: "|" in line and len(line) <= MOST_LINE_CHARS):
        listed = list(group)
        rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in listed
            if not _RULE.fullmatch(line)
        ]
        if is_row and len(rows) >= LEAST_ROWS:
            yield _table(rows, is_headed=len(rows) < len(listed))


def _separated(lines: Sequence[str]) -> Iterator[Table]:
    """Lines with equally many commas, as a spreadsheet is saved."""
    for commas, group in groupby(lines, key=lambda line: line.count(",") if ", " not in line else 0):
        rows = [[cell.strip() for cell in line.split(",")] for line in group]
        if commas >= LEAST_CSV_COMMAS and len(rows) >= LEAST_CSV_ROWS:
            yield _table(rows)


def _aligned(lines: Sequence[str]) -> Iterator[Table]:
    """Lines with equally many columns that blanks keep apart."""
    split = [_COLUMNS.split(line.strip()) if len(line) <= MOST_LINE_CHARS and "|" not in line else [] for line in lines]
    for columns, group in groupby(split, key=len):
        rows = list(group)
        if columns >= LEAST_COLUMNS and len(rows) >= LEAST_ROWS:
            yield _table(rows)


def _table(rows: Sequence[Sequence[str]], *, is_headed: bool = False) -> Table:
    """A table whose rows are named by their first cell with words, and by the next ones too where two would have one name."""
    values = [sum(_has_value(cell.partition("(")[0]) for cell in row) for row in rows]
    header = rows[0] if is_headed or not values[0] or values[0] < min(values[1:]) else ()
    rows = [row for row in rows[1 if header else 0 :] if len(row) == len(rows[0])]
    at = next((at for at in range(len(rows[0])) if any(_is_worded(row[at]) for row in rows)), 0) if rows else 0
    end = at + 1
    while end + 1 < len(rows[0] if rows else ()) and len({tuple(row[at:end]) for row in rows}) < len(rows):
        end += 1
    named = tuple(Row(" ".join(row[at:end]), tuple(row[end:])) for row in rows)
    return Table(named, tuple(header[end:]))


def _is_worded(cell: str) -> bool:
    return any(not word.key[:1].isdigit() for word in content_of(cell))


def _named_values(lines: Sequence[str]) -> Iterator[Table]:
    matches = [_NAMED_VALUE.fullmatch(line) for line in lines if line.strip() and "|" not in line]
    for is_row, group in groupby(matches, key=lambda m: m is not None and len(m["value"]) <= MOST_LINE_CHARS):
        rows = [Row(match["name"].strip(), (match["value"].strip(),)) for match in group if match] if is_row else []
        if len(rows) >= LEAST_ROWS:
            yield Table(tuple(rows))


def _pairs(line: str) -> list[tuple[str, str]]:
    return [(match["name"].strip(" *_"), match["value"].strip()) for match in _IN_PARENTHESES.finditer(line)]


def _definitions(text: str) -> Iterator[Table]:
    """Names such as SESSION_COOKIE_NAME on lines of their own, each with what stands below it."""
    names = list(_DEFINES.finditer(text))
    ends = [*(match.start() for match in names), len(text)][1:]
    bodies = [text[match.end() : end].split("\n") for match, end in zip(names, ends, strict=True)]
    cells = [[m["value"].strip() for line in body if (m := _NAMED_VALUE.fullmatch(line))] for body in bodies]
    rows = [Row(match["name"], tuple(values)) for match, values in zip(names, cells, strict=True)]
    if len(rows) >= LEAST_ROWS:
        yield Table(tuple(rows))


def _outside(text: str) -> list[str]:
    """The sentences of a text that are no rows."""
    cells = {cell for table in tables_of(text) for row in table.rows for cell in (row.name, *row.cells)}
    sentences = [text[unit.start : unit.end] for unit in units_of(text)]
    return [s for s in sentences if "|" not in s and not any(cell and cell in s for cell in cells)]


def _parts(claim: str, table: Table) -> list[str]:
    """The clauses of a claim; where it tells of several things, or of several rows with their values, each of them."""
    pairs = [" ".join(pair) for pair in _pairs(claim)]
    if len(pairs) >= LEAST_ROWS:
        return pairs
    parts: list[str] = []
    for clause in _with_relatives(clauses_of(claim)):
        named = sum(_share_named(row.name, clause) >= NAMED for row in table.rows)
        items = (_ITEM if named > 1 else _AND).split(clause)
        are_told = all(len(content_of(item)) >= LEAST_ROWS for item in items) and "respectively" not in clause
        parts += items if are_told else [clause]
    return parts


def _with_relatives(clauses: Sequence[str]) -> Iterator[str]:
    """Clauses, each "which makes 18 % in all" joined to the one that it goes on from."""
    joined = ""
    for clause in clauses:
        if joined and re.match(r"(?:which|making|so that|that is)\b", clause):
            joined += f", {clause}"
            continue
        if joined:
            yield joined
        joined = clause
    yield joined


def _wrong_rows(part: str, table: Table, elsewhere: Sequence[str], outside: Sequence[str], claim: str) -> Iterator[str]:
    """A value of a row that a part of a claim does not name, where the rows that it names have another.

    elsewhere  the cells of the rows that it names in other tables
    """
    named = _named_rows(part, table)
    if not any(row.cells for row in named):
        return
    here = [*elsewhere, *(cell for row in named for cell in (row.name, *row.cells))]
    for row in table.rows:
        # "7 % on the Plus level, 18 % of the basic salary in all": a row of which the claim tells nothing is not named.
        labels = [word for other in named for word in content_of(other.name)]
        is_apart = any(not is_among(word, labels) for word in content_of(row.name))
        is_named = is_apart and _share_named(row.name, claim) >= NAMED
        if row in named or (is_named and not any(_is_told(cell, claim) for other in named for cell in other.cells)):
            continue
        for at, cell in enumerate(row.cells):
            if any(_is_told(other.cells[at], part) for other in named if at < len(other.cells)):
                continue  # it has its own value there
            value = _said_value(cell, part, tuple(here))
            if value and not any(_tells(sentence, value, part) for sentence in outside):
                yield f"'{value}' belongs to '{_shown(row.name)}'"
                return


def _wrong_columns(part: str, table: Table) -> Iterator[str]:
    """A value out of the row that a claim names, in a column of which it names another."""
    columns = [at for at, name in enumerate(table.header) if _share_named(name, part) >= 1.0]
    for row in _named_rows(part, table) if columns and len(table.header) > 1 else ():
        here = [row.name, *(row.cells[at] for at in columns if at < len(row.cells))]
        if any(_said_value(cell, part, ()) for cell in here[1:]):
            continue  # it has what stands there, too
        for at, cell in enumerate(row.cells):
            is_like = any(_kinds(cell) & _kinds(other) for other in here[1:]) or not _kinds(cell)
            if at not in columns and is_like and (value := _said_value(cell, part, tuple(here))):
                yield f"'{value}' belongs to '{_shown(table.header[at])}'"
                return


def _of_another(part: str, table: Table, outside: Sequence[str]) -> Iterator[str]:
    """What a row in prose tells, where a claim names another row, which tells nothing of it."""
    named = _named_rows(part, table)
    if len(named) != 1:
        return
    label = content_of(named[0].name)
    rest = [word for word in content_of(part) if not is_among(word, label)]
    own = shared(rest, [word for cell in named[0].cells for word in content_of(cell)])
    is_told = any(shared(rest, content_of(s)) >= TOLD and _share_named(named[0].name, s) >= 1.0 for s in outside)
    if len(rest) < LEAST_TOLD or own > NOT_TOLD or is_told:
        return
    for row in table.rows:
        apart = [word for word in content_of(row.name) if not is_among(word, label)]
        told = [word for cell in row.cells for word in content_of(cell)]
        if row not in named and shared(rest, told) >= TOLD and not any(is_among(word, rest) for word in apart):
            said = [word.text for word in rest if is_among(word, told)]
            yield f"'{shortened(' '.join(said))}' belongs to '{_shown(row.name)}'"
            return


def _named_rows(part: str, table: Table) -> list[Row]:
    """The rows that a claim names best, and well enough; of A → B and B → A the one with its order."""
    shares = [_share_named(row.name, part) for row in table.rows]
    best = max(shares, default=0.0)
    named = [row for row, share in zip(table.rows, shares, strict=True) if best >= NAMED and share >= best - 1e-9]
    ordered = [row for row in named if _is_in_order(row.name, part)] if len(named) > 1 else named
    return named if _TO_FROM.search(part) else ordered or named


def _is_in_order(name: str, part: str) -> bool:
    said = [word.key for word in content_of(part)]
    places = [said.index(word.key) for word in content_of(name) if word.key in said]
    return places == sorted(places)


@lru_cache(maxsize=8192)
def _share_named(name: str, part: str) -> float:
    """Share of the words of a row's or a column's name, without what it has in parentheses, that a claim says."""
    if _IDENTIFIER.fullmatch(name):
        return float(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part) is not None)
    code = _CODE.match(name)
    if code and re.search(rf"(?<!\w){re.escape(code[0])}(?!\d)", part, re.I):
        return 1.0
    return shared(content_of(name.partition("(")[0]), content_of(part))


def _has_value(cell: str) -> bool:
    facts = facts_of(cell)
    return bool(facts.quantities or facts.dates or facts.times)


def _kinds(cell: str) -> frozenset[str]:
    """What a cell counts or measures, times and dates too."""
    facts = facts_of(cell)
    return frozenset(
        (
            *(q.kind for q in facts.quantities),
            *(["time of day"] if facts.times else []),
            *(["date"] if facts.dates else []),
        )
    )


@lru_cache(maxsize=8192)
def _said_value(cell: str, part: str, here: tuple[str, ...]) -> str:
    """What a claim says of a cell: a number or a date, or all of a short one; "" where the row that it names holds it too."""
    claimed, there, own = facts_of(part), facts_of(cell), [facts_of(other) for other in here]
    for quantity in there.quantities:
        if not quantity.kind and quantity.value < LEAST_BARE:
            continue
        if any(quantity.backs(q) and q.kind == quantity.kind for q in claimed.quantities) and not any(
            quantity.value in facts.bare or quantity in facts.quantities for facts in own
        ):
            return quantity.named()
    dates = [d for d in there.dates if any(d.backs(said) for said in claimed.dates)]
    times = there.times & claimed.times
    for facts in own:
        dates = [date for date in dates if not any(other.backs(date) or date.backs(other) for other in facts.dates)]
        times -= facts.times
    if dates or times:
        return shortened(cell)
    if _OPTION.fullmatch(cell) and not re.search(rf"(?<![\w.-]){re.escape(cell.strip('`'))}(?![\w-])", part):
        return ""  # 1.x is no -x
    words = content_of(cell)
    if all(word.text.lower() in _IN_ANY_CELL for word in words):
        return ""
    if not 0 < len(words) <= MOST_VALUE_WORDS or any(word.key[:1].isdigit() for word in words):
        return ""
    is_here = shared(words, [word for other in here for word in content_of(other)]) >= 1.0
    return "" if is_here or shared(words, content_of(part)) < 1.0 else _shown(cell)


def _is_told(cell: str, part: str) -> bool:
    """True where a claim says a cell's value, or its first number, however small it is."""
    there, claimed = facts_of(cell).quantities[:1], facts_of(part).quantities
    return bool(_said_value(cell, part, ())) or any(q.backs(said) for q in there for said in claimed)


def _tells(sentence: str, value: str, part: str) -> bool:
    """True for a sentence outside the rows that has a value, too, and most of what a claim says beside it."""
    told, named = content_of(sentence), content_of(value)
    rest = [word for word in content_of(part) if not is_among(word, named)]
    return shared(rest, told) >= SAME_MATTER and (shared(named, told) >= 1.0 or bool(_said_value(sentence, part, ())))


def _shown(name: str) -> str:
    return shortened(name.strip(" *_`"))
