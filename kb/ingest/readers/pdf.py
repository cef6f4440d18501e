"""PDF → its text page by page, with headings where the file has an outline. There is no OCR: a scanned page has no text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kb.drafts import BlockKind, Parsed
from kb.errors import ParseFailed
from kb.ingest.readers.compose import Composition, one_line
from kb.ingest.readers.front_matter import tags_of

_PASSWORD = 4  # FPDF_ERR_PASSWORD of fpdfview.h
_MOST_PAGES = 20_000  # a damaged file may claim millions
_LEAST_READABLE = 0.5  # share of real characters, below which a text layer is the glyph numbers of a font
_SHORT_LINE = 0.75  # a line of less than this share of the page's long lines ends a paragraph
_RUNNING_LINES = 5  # a page of fewer lines is not searched for headers
_RUNNING_PAGES = 4  # with fewer pages a repeated first or last line may well be content

_HYPHENATED = re.compile(r"(?<=[a-zà-öø-ÿ])(?:\x02|-\n|\ufffe)(?=[a-zà-öø-ÿ])")
_LINE_HYPHEN = re.compile(r"[\x02\ufffe]\n?")
_LIST_ITEM = re.compile(r"(?:[•◦▪‣●○■–]|[-*](?=\s)|\(?\d{1,2}[.)](?=\s)|[a-z]\)(?=\s))\s*\S")
_SENTENCE_END = re.compile(r"[.!?:;。！？…][\"'”’)\]]*$")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})
# Titles that programs write by default.
_NO_TITLE = re.compile(
    r"(?i)(microsoft (word|powerpoint|excel)\b|untitled|slide 1\b|.*\.(docx?|tex|dvi|pptx?|indd|pdf)$)"
)


@dataclass(slots=True)
class _Pages:
    """The text of each page by its 1-based number, and the pages that could not be read."""

    texts: dict[int, str] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)


def read_pdf(raw: bytes, path: str) -> Parsed:
    """The pages' text; ParseFailed for one that is locked, has no text layer, or is damaged beyond reading."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        raise _unopened(path, getattr(error, "err_code", None), str(error)) from error
    try:
        pages = _read_pages(document)
        outline = _outline(document)
        about = document.get_metadata_dict()
        count = len(document)
    finally:
        document.close()
    everything = "".join(pages.texts.values())
    if not everything.strip() or _readable_share(everything) < _LEAST_READABLE:
        raise _without_text(path, count, pages, bool(everything.strip()))
    composition = Composition()
    running = _running_lines(pages)
    for number, text in pages.texts.items():
        _add_page(composition, number, [line for line in text.split("\n") if _key(line) not in running], outline)
    title = one_line(about.get("Title") or "")
    return composition.parsed(
        title=title if title and not _NO_TITLE.match(title) else composition.top_heading(),
        tags=tags_of(about.get("Keywords")),
        note=_note(pages, count),
    )


def _read_pages(document: Any) -> _Pages:
    import pypdfium2

    pages = _Pages()
    for index in range(min(len(document), _MOST_PAGES)):
        try:
            page = document[index]
            layer = page.get_textpage()
            pages.texts[index + 1] = _clean(layer.get_text_bounded())
            layer.close()
            page.close()
        except (pypdfium2.PdfiumError, ValueError):
            pages.broken.append(index + 1)
    return pages


def _clean(text: str) -> str:
    """Text with the words joined that a line end has hyphenated: pdfium marks those hyphens with a control character."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_LIGATURES)
    text = _LINE_HYPHEN.sub("-", _HYPHENATED.sub("", text))
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _readable_share(text: str) -> float:
    """The share of characters, in [0, 1], other than replacement, control and private-use ones."""
    solid = [c for c in text if not c.isspace()]
    good = sum(1 for c in solid if c.isprintable() and c != "\ufffd" and not "\ue000" <= c <= "\uf8ff")
    return good / len(solid) if solid else 0.0


def _outline(document: Any) -> dict[int, list[tuple[int, str]]]:
    """(level, title) of the bookmarks by the page they lead to; empty where there are none, or they are damaged."""
    import pypdfium2

    found: dict[int, list[tuple[int, str]]] = {}
    try:
        for bookmark in document.get_toc(max_depth=6):
            target, title = bookmark.get_dest(), one_line(bookmark.get_title() or "")
            index = target.get_index() if target else None
            if index is not None and title:
                found.setdefault(index + 1, []).append((bookmark.level + 1, title))
    except (pypdfium2.PdfiumError, ValueError, RecursionError):
        return found
    return found


def _running_lines(pages: _Pages) -> frozenset[str]:
    """Headers and footers: first and last lines that are on more than half of the pages, numbers aside."""
    filled = [[line for line in text.split("\n") if line] for text in pages.texts.values()]
    full = [lines for lines in filled if len(lines) >= _RUNNING_LINES]
    if len(full) < _RUNNING_PAGES:
        return frozenset()
    counts = Counter(key for lines in full for key in {_key(lines[0]), _key(lines[-1])})
    return frozenset(key for key, pages_with in counts.items() if pages_with * 2 > len(full))


def _key(line: str) -> str:
    return re.sub(r"\d+", "#", line.strip().lower())


def _add_page(
    composition: Composition, number: int, lines: list[str], outline: dict[int, list[tuple[int, str]]]
) -> None:
    """One page: lines that the outline names are headings; a name without a line is put before the page."""
    wanted = {_letters(title): (level, title) for level, title in outline.get(number, ())}
    present = {_letters(line) for line in lines}
    if any(present - {""}):
        for letters, (level, title) in wanted.items():
            if letters not in present:
                composition.add("heading", title, level=level, page=number)
    passage: list[str] = []
    for line in [*lines, ""]:
        heading = wanted.get(_letters(line)) if line else None
        if heading or not line:
            _add_passage(composition, passage, number)
            passage = []
        if heading:
            composition.add("heading", line, level=heading[0], page=number)
        elif line:
            passage.append(line)


def _add_passage(composition: Composition, lines: list[str], number: int) -> None:
    for paragraph in _paragraphs(lines):
        kind: BlockKind = "list" if _LIST_ITEM.match(paragraph[0]) else "paragraph"
        composition.add(kind, "\n".join(paragraph), page=number)


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """Lines parted after a short one that ends a sentence, and before one that begins a list item."""
    if not lines:
        return
    long = sorted(map(len, lines))[len(lines) * 9 // 10]
    paragraph: list[str] = []
    for line in lines:
        if paragraph:
            before = paragraph[-1]
            ended = len(before) < _SHORT_LINE * long and (_SENTENCE_END.search(before) or line[:1].isupper())
            if ended or _LIST_ITEM.match(line):
                yield paragraph
                paragraph = []
        paragraph.append(line)
    yield paragraph


def _letters(line: str) -> str:
    """A line as it is compared with the outline: its letters, without case, numbering and white space."""
    return "".join(c for c in line.casefold() if c.isalpha())


def _note(pages: _Pages, count: int) -> str | None:
    notes = []
    empty = [number for number, text in pages.texts.items() if not text.strip()]
    if pages.broken:
        notes.append(f"{len(pages.broken)} of {count} pages are damaged and were left out: {_listed(pages.broken)}")
    if empty:
        notes.append(f"{len(empty)} of {count} pages have no text (scanned or blank): {_listed(empty)}")
    if count > _MOST_PAGES:
        notes.append(f"only the first {_MOST_PAGES} of {count} pages were read")
    return "; ".join(notes) or None


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")


def _unopened(path: str, code: int | None, said: str) -> ParseFailed:
    if code == _PASSWORD:
        return ParseFailed(
            f"cannot read {path}: it is encrypted with a password", fix="save a copy without the password", path=path
        )
    return ParseFailed(
        f"cannot read {path}: it is damaged, or no PDF ({said})",
        fix="open and save it again in a PDF viewer",
        path=path,
    )


def _without_text(path: str, count: int, pages: _Pages, has_glyphs: bool) -> ParseFailed:
    if count == 0 or len(pages.broken) == count:
        return ParseFailed(
            f"cannot read {path}: none of its {count} pages can be read",
            fix="open and save it again in a PDF viewer",
            path=path,
        )
    why = "its text layer has no readable characters" if has_glyphs else "it has no text layer: scanned, or blank"
    return ParseFailed(
        f"cannot read {path}: {why}", fix="run OCR on it first (for instance with ocrmypdf), or ignore it", path=path
    )
