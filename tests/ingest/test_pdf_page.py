"""A page of a PDF → a picture: its size, what is marked on it, and pages that cannot be drawn."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from kb.errors import ParseFailed
from kb.ingest.guarded_reading import FileReader
from kb.ingest.pdf_page import MOST_PIXELS, PEN, draw_page
from kb.ingest.reader_protocol import Drawing
from tests.ingest.hostile import pdf, stream

SAMPLE = Path(__file__).parents[2] / "fixtures" / "formats" / "sample.pdf"
YELLOW = bytes(table[255] for table in PEN)
FONT = b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"


def one_page(text: str, box: str = "0 0 200 100", more: str = "") -> bytes:
    """A PDF with a line of text at the left lower corner of its only page."""
    page = f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Contents 4 0 R{more}/Resources<<".encode() + FONT + b">>>>"
    content = f"BT /F 10 Tf 10 10 Td ({text}) Tj ET".encode()
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, stream(content))


def picture(raw: bytes, *marked: str, width: int = 400) -> tuple[int, int, list[bytes]]:
    """(width, height, rows of RGB)."""
    png = draw_page(raw, "a.pdf", Drawing(1, marked, width))
    across, down = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    body = zlib.decompress(png[41 : 41 + size])
    rows = [body[at * (1 + 3 * across) + 1 : (at + 1) * (1 + 3 * across)] for at in range(down)]
    return across, down, rows


def marked_rows(rows: list[bytes]) -> list[int]:
    return [at for at, row in enumerate(rows) if YELLOW in row]


def test_the_passage_is_marked_where_it_stands() -> None:
    width, height, rows = picture(one_page("A lamp is lit."), "a LAMP is-\nlit")
    assert (width, height) == (400, 200)
    found = marked_rows(rows)
    assert found
    assert min(found) > height // 2  # the text is at the bottom
    assert marked_rows(picture(one_page("A lamp is lit."), "another passage that is not there")[2]) == []
    assert marked_rows(picture(one_page("A lamp is lit."))[2]) == []


def test_a_page_that_is_turned_is_marked_where_it_is_seen() -> None:
    width, height, rows = picture(one_page("A lamp is lit.", more="/Rotate 90"), "A lamp is lit.")
    assert (width, height) == (400, 800)
    columns = [at // 3 for row in rows for at in range(0, len(row), 3) if row[at : at + 3] == YELLOW]
    assert columns
    assert max(columns) < width // 2  # its foot is on the left now


def test_a_passage_that_goes_on_overleaf_is_marked_to_the_end() -> None:
    head = "The horn of Brandholm sounds twice a minute"
    _, _, rows = picture(one_page(head, "0 0 400 100"), f"{head} and was built in nineteen hundred and eleven")
    assert marked_rows(rows)


def test_a_page_of_any_size_has_few_pixels() -> None:
    for box in ("0 0 14400 14400", "0 0 3 14400", "0 0 14400 3"):
        width, height, _ = picture(one_page("x", box), width=1100)
        assert 0 < width * height <= MOST_PIXELS * 1.01


@pytest.mark.parametrize("raw", [b"", b"no pdf", SAMPLE.read_bytes()[:200]])
def test_what_is_no_pdf_cannot_be_drawn(raw: bytes) -> None:
    with pytest.raises(ParseFailed):
        draw_page(raw, "a.pdf", Drawing(1, (), 100))


def test_pages_are_drawn_in_the_process_that_reads() -> None:
    raw = SAMPLE.read_bytes()
    with FileReader() as reader:
        with pytest.raises(ParseFailed, match="has no page 9"):
            reader.draw(raw, "a.pdf", Drawing(9, (), 300))
        drawn = reader.draw(raw, "a.pdf", Drawing(2, (), 300))
        assert drawn == draw_page(raw, "a.pdf", Drawing(2, (), 300))
        assert reader.read("pdf", raw, "a.pdf").title == "Keeper’s handbook"
