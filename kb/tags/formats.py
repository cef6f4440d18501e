"""A vocabulary's file as csv, json or topics → its rows; every fault with its line. SKOS is read by kb/tags/skos.py.

`csv` is `name,category,count,"alias1,alias2"` as taggers of image boards exchange it, with an optional fifth column, the
rating. `json` is `{"tags": […], "items": […]}`. `topics` is the JSON of github/explore's topic pages.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kb.errors import InvalidInput, IoError, NotFound
from kb.tags.draft import Draft, TagRow, unreadable
from kb.tags.skos import read_skos
from kb.tags.words import key_of

CSV_COLUMNS = 5
CSV_FIX = 'write a line as name,category,count,"alias1,alias2" and close every quote in its line'
JSON_FIX = 'write it as {"tags": [{"tag": "dog", "aliases": ["k9"], "count": 3}], "items": [["dog", "cat"]]}'
TAG_KEYS = ("tag", "category", "count", "aliases", "rating")
# Shorter names in a topic's description are not taken as tags: a word of one or two letters rarely means C or Go.
MIN_MENTION_CHARS = 3
MENTION_WORDS = 3


def read_draft(path: Path, format: str | None) -> tuple[Draft, str]:
    """The rows of a file, and the format they were read as.

    format  None to tell by the file's name and content
    raises  NotFound, IoError; ParseFailed when nothing can be read; InvalidInput when the format cannot be told.
            Faults in single rows are in the draft.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"no file '{path}'", fix="name the file that holds the vocabulary") from error
    except OSError as error:
        raise IoError(f"cannot read '{path}': {error.strerror}", fix="name a readable file") from error
    text = _decode(raw, str(path))
    if format is None:
        format = _tell_format(path, text)
    return READERS[format](text, str(path)), format


def _decode(raw: bytes, path: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8: byte 0x{raw[error.start]:02x}"
        raise unreadable(path, line, what, fix="save the file as UTF-8") from error


def _tell_format(path: Path, text: str) -> str:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return "csv"
    if suffix in (".rdf", ".ttl", ".nt", ".skos", ".xml", ".owl"):
        return "skos"
    if suffix == ".json":
        return "json" if re.match(r'\s*\{\s*"(tags|items|aliases)"\s*:\s*[\[{]', text) else "topics"
    raise InvalidInput(f"cannot tell the format of '{path}'", fix="say it: --format csv, json, skos or topics")


def read_csv(text: str, path: str) -> Draft:
    """`name,category,count,"alias1,alias2"[,rating]`, a tag a line; a header line is recognised. Blank lines are skipped."""
    draft = Draft()
    for number, line in enumerate(re.split(r"\r\n?|\n", text), start=1):
        if not line.strip():
            continue
        place = str(number)
        try:
            (fields,) = csv.reader([line], strict=True, skipinitialspace=True)
        except csv.Error:
            draft.fault(place, f"a quote is broken: {_shorten(line)}")
            continue
        if not draft.rows and [f.strip().lower() for f in fields[:2]] == ["name", "category"]:
            continue
        _add_csv_row(draft, place, [f.strip() for f in fields])
    return draft


def _add_csv_row(draft: Draft, place: str, fields: list[str]) -> None:
    if len(fields) > CSV_COLUMNS:
        draft.fault(place, f"{len(fields)} columns, at most {CSV_COLUMNS}: put the aliases in one pair of quotes")
        return
    name, category, count, aliases, rating = fields + [""] * (CSV_COLUMNS - len(fields))
    if count and not re.fullmatch(r"[0-9]{1,18}", count):
        draft.fault(place, f"the count '{_shorten(count)}' is not a whole number")
        return
    probability = _rating(rating) if rating else None
    if rating and probability is None:
        draft.fault(place, f"the rating '{_shorten(rating)}' is not a number from 0 to 1")
        return
    listed = tuple(alias.strip() for alias in aliases.split(",") if alias.strip())
    draft.rows.append(TagRow(place, name, category or None, int(count) if count else None, listed, probability))


def _rating(text: str | float) -> float | None:
    try:
        value = float(text)
    except (ValueError, OverflowError):
        return None
    return value if 0 <= value <= 1 else None


def _shorten(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _load_json(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"not valid JSON: {error.msg}, column {error.colno}"
        raise unreadable(path, error.lineno, what, fix=JSON_FIX) from error
    except RecursionError as error:
        raise unreadable(path, 1, "nested too deeply", fix=JSON_FIX) from error


def read_json(text: str, path: str) -> Draft:
    """`{"tags": [{"tag", "category"?, "count"?, "aliases"?, "rating"?}], "items"?: [["tag", …]], "aliases"?: {alias: tag(s)}}`."""
    draft = Draft()
    content = _load_json(text, path)
    if not isinstance(content, dict) or not isinstance(content.get("tags"), list):
        raise unreadable(path, 1, 'there is no list under "tags"', fix=JSON_FIX)
    for i, row in enumerate(content["tags"]):
        _add_json_row(draft, f"tags[{i}]", {"tag": row} if isinstance(row, str) else row)
    aliases = content.get("aliases", {})
    if not isinstance(aliases, dict):
        draft.fault("aliases", "not an object of alias and tag")
        aliases = {}
    for alias, targets in aliases.items():
        for target in targets if isinstance(targets, list) else [targets]:
            draft.pointers.append((f"aliases.{_shorten(alias)}", alias, str(target)))
    items = content.get("items", [])
    for i, item in enumerate(items if isinstance(items, list) else [None]):
        if isinstance(item, list) and all(isinstance(tag, str) for tag in item):
            draft.items.append(item)
        else:
            draft.fault(f"items[{i}]", "not a list of tags")
    return draft


def _add_json_row(draft: Draft, place: str, row: Any) -> None:
    if not isinstance(row, dict) or not isinstance(row.get("tag"), str):
        draft.fault(place, 'not an object with a "tag"')
        return
    if unknown := [key for key in row if key not in TAG_KEYS]:
        draft.fault(place, f"unknown key '{_shorten(unknown[0])}': there are {', '.join(TAG_KEYS)}")
        return
    category, count, aliases, rating = (row.get(key) for key in TAG_KEYS[1:])
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 10**18):
        draft.fault(place, f"the count {_shorten(repr(count))} is not a whole number")
        return
    if rating is not None and (isinstance(rating, bool | str) or _rating(rating) is None):
        draft.fault(place, f"the rating {_shorten(repr(rating))} is not a number from 0 to 1")
        return
    if not isinstance(aliases or [], list) or not all(isinstance(alias, str) for alias in aliases or []):
        draft.fault(place, "the aliases are not a list of texts")
        return
    named = None if category is None else str(category)
    draft.rows.append(TagRow(place, row["tag"], named, count, tuple(aliases or ()), rating))


def read_topics(text: str, path: str) -> Draft:
    """github/explore's topics: `{topic: {aliases, related, display_name, short_description}}`.

    An item is a topic's page: the topic, its related topics, and the topics that its name and description mention.
    """
    draft = Draft()
    content = _load_json(text, path)
    if not isinstance(content, dict) or not all(isinstance(page, dict) for page in content.values()):
        raise unreadable(path, 1, "not an object of topics", fix='write it as {"go": {"aliases": ["golang"]}}')
    known: set[str] = set()
    for topic, page in content.items():
        aliases = page.get("aliases") or []
        if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
            draft.fault(topic, "the aliases are not a list of texts")
            continue
        draft.rows.append(TagRow(topic, topic, None, None, tuple(aliases)))
        known.update(key_of(name) for name in (topic, *aliases))
    for topic, page in content.items():
        related = page.get("related")
        listed = [name for name in related if isinstance(name, str)] if isinstance(related, list) else []
        about = f"{page.get('display_name') or ''} . {page.get('short_description') or ''}"
        draft.items.append([topic, *(n for n in listed if key_of(n) in known), *_mentions(about, known)])
    return draft


def _mentions(text: str, known: set[str]) -> list[str]:
    words = [word.strip(".") for word in re.findall(r"[\w+#.-]+", text)]
    found = []
    for size in range(MENTION_WORDS, 0, -1):
        for i in range(len(words) - size + 1):
            run = words[i : i + size]
            found += [name for name in ("-".join(run), "".join(run)) if len(name) >= MIN_MENTION_CHARS]
    return [name for name in dict.fromkeys(found) if key_of(name) in known]


READERS: dict[str, Callable[[str, str], Draft]] = {
    "csv": read_csv,
    "json": read_json,
    "skos": read_skos,
    "topics": read_topics,
}
FIXES = {"csv": CSV_FIX, "json": JSON_FIX}
