"""One page of a PDF → a picture of it as PNG, with passages of its text marked as with a pen."""

from __future__ import annotations

import struct
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from kb.errors import ParseFailed
from kb.ingest.reader_protocol import Drawing

# A4 at the width of a reader's column on a fine screen takes 1.7 million; a page may claim to be 5 metres long.
MOST_PIXELS = 4_000_000
# A passage whose text is not found whole is marked from its first to its last so many letters.
END_LETTERS = 24
# What a yellow pen leaves of each value of red, green and blue.
PEN = tuple(bytes(int(value * share) for value in range(256)) for share in (1.0, 0.93, 0.45))
# A picture is as small as it gets for what it takes: level 6 takes twice the time for 8 % less.
PNG_LEVEL = 4


def draw_page(raw: bytes, path: str, wanted: Drawing) -> bytes:
    """The page as PNG.

    raises  ParseFailed for a page that is not there, and for a file or a page that is damaged
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(raw)
        if not 1 <= wanted.page <= len(document):
            raise ParseFailed(f"{path} has no page {wanted.page}", fix=f"it has {len(document)} pages", path=path)
        page = document[wanted.page - 1]
        width, height = page.get_size()
        scale = wanted.width_pixels / max(width, 1.0)
        scale *= min(1.0, (MOST_PIXELS / max(width * height * scale * scale, 1.0)) ** 0.5)
        bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
        rows = [
            bytearray(bitmap.buffer[at * bitmap.stride : at * bitmap.stride + 3 * bitmap.width])
            for at in range(bitmap.height)
        ]
        for left, bottom, right, top in _boxes(page, wanted.marked):
            corners = [_to_pixels(bitmap, page, x, y) for x, y in ((left, top), (right, bottom))]
            _mark(rows, *sorted(x for x, _ in corners), *sorted(y for _, y in corners))
        return _png(bitmap.width, rows)
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise ParseFailed(f"page {wanted.page} of {path} cannot be drawn", fix="read its text", path=path) from error


def _to_pixels(bitmap: Any, page: Any, x: float, y: float) -> tuple[int, int]:
    """A point of the page as a column and a row, whatever way the page is turned."""
    converter = bitmap.get_posconv(page)
    column, row = converter.to_bitmap(x, y)
    return int(column), int(row)


def _boxes(page: Any, texts: Sequence[str]) -> Iterator[tuple[float, float, float, float]]:
    """(left, bottom, right, top) of each line of the texts that stands on the page."""
    layer = page.get_textpage()
    letters, places = _letters(layer.get_text_range())
    for text in texts:
        span = _find(letters, _letters(text)[0])
        if span is not None:
            first, last = places[span[0]], places[span[1] - 1]
            for number in range(layer.count_rects(first, last - first + 1)):
                yield layer.get_rect(number)
    layer.close()


def _letters(text: str) -> tuple[str, list[int]]:
    """(the letters and digits of a text in one case, the place of each): what ingest leaves of a page's text."""
    found, places = [], []
    for at, character in enumerate(text):
        for part in unicodedata.normalize("NFKC", character).casefold():
            if part.isalnum():
                found.append(part)
                places.append(at)
    return "".join(found), places


def _find(page: str, passage: str) -> tuple[int, int] | None:
    """Where a passage stands on a page, of which it may hold less (a header is left out) or more (it goes on overleaf)."""
    if not passage:
        return None
    start = page.find(passage)
    if start >= 0:
        return start, start + len(passage)
    head, tail = passage[:END_LETTERS], passage[-END_LETTERS:]
    start, end = page.find(head), page.rfind(tail)
    if start < 0 and end < 0:
        return None
    return (start if start >= 0 else 0), (end + len(tail) if end > max(start, 0) else len(page))


def _mark(rows: list[bytearray], left: int, right: int, top: int, bottom: int) -> None:
    """Draw a stretch of a line over, as a pen does: what is dark stays dark."""
    for row in rows[max(top, 0) : max(bottom, 0)]:
        for channel, left_over in enumerate(PEN):
            part = slice(3 * max(left, 0) + channel, 3 * max(right, 0) + channel, 3)
            row[part] = row[part].translate(left_over)


def _png(width: int, rows: Sequence[bytearray]) -> bytes:
    def part(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), PNG_LEVEL)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", body) + part(b"IEND", b"")
