"""What a document shows → the HTML of its parts: Markdown as it is meant, code in colours, tables as tables, pages as pictures."""

from __future__ import annotations

import csv
import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from urllib.parse import unquote

from markupsafe import Markup

from kb.frozen import dataclass
from kb.page.addresses import picture_address, place_address
from kb.page.code import code_lines
from kb.page.document import DocumentView
from kb.page.prose import Link, SpansOf, mark_spans, markdown_html
from kb.page.shown import shown
from kb.records import Chunk, Document

_LIST_ITEM = re.compile(r"\s*(?:[-*•◦▪‣●○■–]|\(?\d{1,3}[.)])\s+(.*)")
_TABLE_ROW = re.compile(r".+ \| .*|.* \| .+")
# What a paragraph of a notebook has that is code, which its stored text does not say.
_CODE_LINE = re.compile(
    r"(?:from \w|import \w|def |class |for .+:$|if .+:$|with .+:$|[%#@!]|\w[\w.\[\], ]* [-+*/]?= |[\w.]+\(.*\)$)"
)
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
# Columns that name a table to who does not see it.
NAMED_COLUMNS = 3
_PAGED = frozenset({"pdf", "pptx"})
_PAGE_NAMES = {"pdf": "Page", "pptx": "Slide"}
# Text files that read as lines of program text, besides those of the type code.
_CODE_SUFFIXES = frozenset(
    ".json .jsonl .ndjson .geojson .yaml .yml .toml .xml .ini .cfg .conf .env .properties .xsd .plist .diff .patch .log .rst".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a document.

    headings  (depth from 2, words) of the headings that begin with it
    picture   the address of the page as it looks, None where there is none
    is_open   its text is shown at once
    """

    anchor: str
    html: Markup
    headings: tuple[tuple[int, str], ...] = ()
    page: str = ""
    picture: str | None = None
    is_cited: bool = False
    is_open: bool = True


def document_parts(view: DocumentView) -> list[Part]:
    """The parts of what is shown of a document, in reading order."""
    if not view.chunks:
        return []
    if view.chunks[0].citation.start_line is not None:
        return [Part(anchor="text", html=_lined(view))]
    if view.document.type in _PAGED:
        return list(_pages(view))
    return list(_passages(view))


# ---- formats with lines


def _lined(view: DocumentView) -> Markup:
    document = view.document
    suffix = PurePosixPath(document.path).suffix.lower()
    first = view.chunks[0].citation.start_line or 1
    rows = view.text.split("\n")
    if document.type == "markdown":
        if view.in_fence and first > 1:
            rows[first - 2] = "```"
        text = "\n".join(rows)
        return markdown_html(text, link_of(document), view.cited_lines, title=document.title, has_ids=True)
    text = shown("\n".join(rows[first - 1 :]))
    if suffix in _DELIMITERS:
        return _delimited(text, _DELIMITERS[suffix], first, view.cited_lines)
    is_code = _is_code(document.type, suffix)
    lines = code_lines(text, document.path if is_code else "", first, view.cited_lines)
    kind = "code numbered" if is_code else "plain"
    return Markup('<pre class="{}" tabindex="0">{}</pre>').format(kind, lines)


def link_of(document: Document) -> Link:
    """Where the links of a document lead: to other documents of its source, by their paths."""

    def link(written: str) -> str | None:
        path, _, _ = written.partition("#")
        if not path or path.startswith("/"):
            return None
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), unquote(path)))
        if target.startswith(".."):
            return None
        return place_address(target.replace("%", "%25").replace("#", "%23"), document.source)

    return link


def _delimited(text: str, delimiter: str, first: int, cited: Collection[int]) -> Markup:
    """A table of a CSV file; a row that goes over several lines stands at its first one."""
    reader = csv.reader(text.split("\n"), delimiter=delimiter)
    rows: list[tuple[int, list[str]]] = []
    line = first
    try:
        for cells in reader:
            if cells:
                rows.append((line, cells))
            line = first + reader.line_num
    except csv.Error:
        return Markup('<pre class="plain" tabindex="0">{}</pre>').format(code_lines(text, "", first, cited))
    return _table([cells for _, cells in rows], [number for number, _ in rows], cited)


def _table(rows: Sequence[Sequence[str]], lines: Sequence[int] = (), cited: Collection[int] = ()) -> Markup:
    def row(at: int, cell: str) -> Markup:
        place = Markup(' id="L{}"').format(lines[at]) if lines else ""
        mark = Markup(' class="holds-cited cited-row"') if lines and lines[at] in cited else ""
        return Markup("<tr{}{}>{}</tr>\n").format(
            place, mark, Markup("").join(Markup(cell).format(c) for c in rows[at])
        )

    head = row(0, '<th scope="col">{}</th>') if rows else Markup()
    body = Markup("").join(row(at, "<td>{}</td>") for at in range(1, len(rows)))
    names = ", ".join(Markup(cell).striptags() for cell in rows[0][:NAMED_COLUMNS]) if rows else ""
    box = Markup('<div class="wide" tabindex="0" role="region" aria-label="Table: {}">').format(names)
    return box + Markup("<table><thead>{}</thead><tbody>{}</tbody></table></div>").format(head, body)


# ---- formats without lines


def _pages(view: DocumentView) -> Iterator[Part]:
    document = view.document
    can_draw = view.original is not None and view.original.trouble is None
    for page, chunks in groupby(view.chunks, key=lambda chunk: chunk.citation.page):
        members = list(chunks)
        cited = [chunk for chunk in members if chunk.chunk_id in view.cited_chunks]
        marked = tuple(chunk.chunk_id for chunk in cited)
        picture = picture_address(document.doc_id, page, marked) if can_draw and page is not None else None
        yield Part(
            anchor=f"p{members[0].position}",
            html=Markup("").join(_passage(document, chunk, chunk in cited) for chunk in members),
            page=f"{_PAGE_NAMES[document.type]} {page}" if page is not None else "",
            picture=picture,
            is_cited=bool(cited),
            is_open=picture is None,
        )


def _passages(view: DocumentView) -> Iterator[Part]:
    before: tuple[str, ...] = ()
    for chunk in view.chunks:
        path = chunk.heading_path
        same = next((at for at, pair in enumerate(zip(before, path, strict=False)) if pair[0] != pair[1]), None)
        begins = min(len(before), len(path)) if same is None else same
        headings = [(min(depth + 2, 6), shown(words)) for depth, words in enumerate(path) if depth >= begins]
        before = path
        cited = chunk.chunk_id in view.cited_chunks
        yield Part(
            anchor=f"p{chunk.position}",
            html=_passage(view.document, chunk, cited),
            headings=tuple(pair for pair in headings if pair[1] != shown(view.document.title)),
            is_cited=cited,
        )


def _passage(document: Document, chunk: Chunk, is_cited: bool) -> Markup:
    """The paragraphs of a passage; a heading that stands above it is not repeated."""
    headings = set(chunk.heading_path)
    blocks = [block for block in shown(chunk.text).split("\n\n") if block.strip() and block.strip() not in headings]
    html = Markup("\n").join(block_html(block, document.type) for block in blocks)
    return Markup('<div class="passage{}">{}</div>').format(" cited" if is_cited else "", html)


def block_html(block: str, kind: str, spans_of: SpansOf = lambda text: ()) -> Markup:
    """A paragraph, a list, a table or code of a format without lines, as the readers of these formats write them."""
    lines = block.split("\n")
    if len(lines) > 1 and all(map(_TABLE_ROW.fullmatch, lines)):
        return _table([[mark_spans(cell, spans_of) for cell in line.split(" | ")] for line in lines])
    items = [found[1] for line in lines if (found := _LIST_ITEM.fullmatch(line))]
    if len(items) == len(lines):
        return Markup("<ul>{}</ul>").format(
            Markup("").join(Markup("<li>{}</li>").format(mark_spans(item, spans_of)) for item in items)
        )
    if kind == "notebook" and _CODE_LINE.match(lines[0]):
        return Markup('<pre class="code" tabindex="0">{}</pre>').format(code_lines(block, "python", 1, prefix=""))
    return Markup("<p>{}</p>").format(mark_spans(" ".join(lines) if kind == "pdf" else block, spans_of))


# ---- hits


def excerpt_html(chunk: Chunk, kind: str, spans_of: SpansOf) -> Markup:
    """The stretch of a passage that a list of hits shows: from the first block or line that has the words.

    kind  the type of its document
    """
    if kind == "markdown":
        return markdown_html(chunk.text, lambda written: None, spans_of=spans_of, is_excerpt=True)
    text = shown(chunk.text)
    suffix = PurePosixPath(chunk.path).suffix.lower()
    if chunk.citation.start_line is not None and suffix not in _DELIMITERS:
        rows = text.split("\n")
        first = next((at for at, row in enumerate(rows) if spans_of(row)), 0)
        told = Markup("\n").join(mark_spans(row, spans_of) for row in rows[max(first - 1, 0) :])
        return Markup('<pre class="{}">{}</pre>').format("code" if _is_code(kind, suffix) else "plain", told)
    if suffix in _DELIMITERS:
        rows = [row for row in text.split("\n") if row.strip()]
        first = next((at for at, row in enumerate(rows) if spans_of(row)), 0)
        return Markup("").join(Markup("<p>{}</p>").format(mark_spans(row, spans_of)) for row in rows[first:])
    headings = set(chunk.heading_path)
    blocks = [block for block in text.split("\n\n") if block.strip() and block.strip() not in headings]
    first = next((at for at, block in enumerate(blocks) if spans_of(block)), 0)
    return Markup("\n").join(block_html(block, kind, spans_of) for block in blocks[first:])


def _is_code(kind: str, suffix: str) -> bool:
    return kind in ("code", "restructuredtext") or suffix in _CODE_SUFFIXES
