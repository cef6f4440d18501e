"""Plain text and simple markup → headings and paragraphs over the file's own text; tables keep their rows, structured files their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from kb.drafts import Block, Parsed
from kb.ingest.decode import decode
from kb.ingest.readers.lines import Lines
from kb.ingest.readers.plain_text import Columns, columns_of, edits_of, headings_of

_LATEX_LEVELS = {"part": 1, "chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4}
_LATEX_HEADING = re.compile(rf"\\({'|'.join(_LATEX_LEVELS)})\*?(?:\[[^\]]*\])?\{{(.+)\}}\s*$")
_LATEX_LABEL = re.compile(r"\\label\{[^}]*\}|(?<!\\)%.*")
_MARKED_HEADING = {
    ".adoc": re.compile(r"(={1,6}) (\S.*)$"),
    ".asciidoc": re.compile(r"(={1,6}) (\S.*)$"),
    ".org": re.compile(r"(\*{1,6}) (\S.*)$"),
    ".wiki": re.compile(r"(={1,6})\s*(\S.*?)\s*=+\s*$"),
}
# Files of prose: names without an ending are README, NOTICE and the like.
_PLAIN = frozenset((".txt", ".text", ".nfo", ""))
_SEPARATORS = ",;\t|"
_TAGGED = re.compile(r"\\[A-Za-z]+\*?|[{}~$]")


def read_text(raw: bytes, path: str) -> Parsed:
    """A text file: blank lines part its paragraphs; headings are those that the format marks (TeX, AsciiDoc, Org), and in plain text those that look so."""
    decoded = decode(raw)
    extension = PurePosixPath(path).suffix.lower()
    lines = Lines(decoded.text)
    if extension in _PLAIN:
        return _read_plain(decoded.text, lines, decoded.note)
    blocks = _SHAPES.get(extension, _prose)(lines, extension)
    titles = (block.title for block in blocks if block.kind == "heading" and block.level == 1)
    title = next(titles, None) if extension in (*_MARKED_HEADING, ".tex") else None
    return Parsed(decoded.text, tuple(blocks), title, has_lines=True, note=decoded.note)


def _read_plain(text: str, lines: Lines, note: str | None) -> Parsed:
    """Prose whose headings and tables its layout tells; its title is what is underlined twice."""
    headings = headings_of(lines)
    columns = columns_of(lines, headings)
    blocks: list[Block] = []
    done = 0
    for heading in headings:
        blocks += _paragraphs(lines, columns, done, heading.first)
        if block := lines.block("heading", heading.first, heading.stop, level=heading.level, title=heading.title):
            blocks.append(block)
        done = heading.stop
    blocks += _paragraphs(lines, columns, done, len(lines))
    title = next((heading.title for heading in headings if heading.level == 1), None)
    return Parsed(text, tuple(blocks), title, has_lines=True, note=note, edits=edits_of(lines, headings, columns))


def _paragraphs(lines: Lines, columns: Sequence[Columns], first: int, stop: int) -> list[Block]:
    """The paragraphs and tables of lines first..stop-1."""
    blocks: list[Block] = []
    for table in columns:
        if first <= table.first and table.stop <= stop:
            blocks += lines.paragraphs("paragraph", first, table.first)
            if block := lines.block("table", table.first, table.stop):
                blocks.append(block)
            first = table.stop
    return blocks + lines.paragraphs("paragraph", first, stop)


def _prose(lines: Lines, extension: str) -> list[Block]:
    return lines.paragraphs("paragraph")


def _structured(lines: Lines, extension: str) -> list[Block]:
    return lines.paragraphs("code")


def _marked(lines: Lines, extension: str) -> list[Block]:
    headings = []
    for line in range(len(lines)):
        if match := _MARKED_HEADING[extension].match(lines[line]):
            headings.append((line, len(match.group(1)), match.group(2).strip()))
    return _between(lines, headings)


def _latex(lines: Lines, extension: str) -> list[Block]:
    headings = []
    for line in range(len(lines)):
        if match := _LATEX_HEADING.match(_LATEX_LABEL.sub("", lines[line]).strip()):
            headings.append((line, _LATEX_LEVELS[match.group(1)], " ".join(_TAGGED.sub(" ", match.group(2)).split())))
    return _between(lines, headings)


def _between(lines: Lines, headings: Iterable[tuple[int, int, str]]) -> list[Block]:
    """Headings as (line, level, title), and the paragraphs between them."""
    blocks: list[Block] = []
    done = 0
    for line, level, title in headings:
        blocks += lines.paragraphs("paragraph", done, line)
        if title and (block := lines.block("heading", line, line + 1, level=level, title=title)):
            blocks.append(block)
        done = line + 1
    return blocks + lines.paragraphs("paragraph", done)


def _table(lines: Lines, extension: str) -> list[Block]:
    """Rows as one table; the column names become its heading, because a heading goes with every chunk below it."""
    filled = [line for line in range(len(lines)) if not lines.is_blank(line)]
    if not filled:
        return []
    first = filled[0]
    names = _column_names(lines[first])
    if not names or len(filled) == 1:
        block = lines.block("table", first, filled[-1] + 1)
        return [block] if block else []
    heading = lines.block("heading", first, first + 1, level=1, title=", ".join(names))
    body = lines.block("table", filled[1], filled[-1] + 1)
    return [block for block in (heading, body) if block]


def _column_names(row: str) -> list[str]:
    """The cells of a row that reads like column names: several, all different, none empty or a number."""
    import csv

    separator = max(_SEPARATORS, key=row.count)
    try:
        names = [" ".join(cell.split()) for cell in next(csv.reader([row], delimiter=separator), [])]
    except csv.Error:
        return []
    is_header = len(names) > 1 and len(set(names)) == len(names) and len(row) < 2_000
    return names if is_header and not any(re.fullmatch(r"[-+\d.,:/%\s]*", name) for name in names) else []


_SHAPES: dict[str, Callable[[Lines, str], list[Block]]] = {
    ".csv": _table,
    ".tsv": _table,
    ".tex": _latex,
    **dict.fromkeys(_MARKED_HEADING, _marked),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson", ".yaml", ".yml", ".toml", ".xml", ".ini"), _structured),
    **dict.fromkeys((".cfg", ".conf", ".env", ".properties", ".rss", ".atom", ".xsd", ".plist"), _structured),
}
