"""Plain text: what is a heading, a table, a list of two columns; and that nothing else is."""

from __future__ import annotations

import pytest

from kb.ingest.readers.lines import Lines
from kb.ingest.readers.plain_text import columns_of, headings_of
from kb.ingest.readers.text import read_text

MANUAL = """HALVARD WM 740
Front-loading washing machine

THE DRAWER

  Left compartment (II)       main wash
  Middle compartment (flower) softener, not above the line
  Right compartment (I)       prewash

Liquid detergent can only be used without prewash.

PROGRAMMES

  Programme       Max load   Spin
  ---------------------------------
  COTTON 60       7 kg       1400 rpm
  DARK            4 kg        800 rpm

Starting:
1. Load the drum.
2. Press START.

CHILD LOCK
Hold SPIN and DELAY for 3 seconds.
"""
SHEET = "3 GOING HOME\n\n1. The first  evening\nKeep them warm.\n\n2. The wound\nLook at it.\n  * swelling\n  * a gap\nDo not bathe it.\n\n3. Exercise\nLead walks only.\n"
KOREAN = "=====\n 소식지\n=====\n\n■ 승강기 공사\n201동부터 시작합니다.\n   201동   9/9 ~ 9/29\n   203동   9/30 ~ 10/20\n   202동   10/21 ~ 11/10\n202동이 마지막입니다.\n\n■ 주차\n한 달 60시간까지 무료입니다.\n"
UNDERLINED = "Rules\n=====\n\nBe kind.\n\nGuests\n------\nTwo at most.\n\n----------------------------------------------------------------------\nThe board\n"
LEASE = "[특약사항]\n없음\n\n제1조 (보증금)\n보증금은 2,000만 원으로 한다.\n\n제2조 (기간)\n2년으로 한다.\n"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (MANUAL, [(1, "HALVARD WM 740"), (2, "THE DRAWER"), (2, "PROGRAMMES"), (2, "CHILD LOCK")]),
        (SHEET, [(2, "1. The first evening"), (2, "2. The wound"), (2, "3. Exercise")]),
        (KOREAN, [(1, "소식지"), (2, "승강기 공사"), (2, "주차")]),
        (UNDERLINED, [(1, "Rules"), (2, "Guests")]),
        (LEASE, [(2, "제1조 (보증금)"), (2, "제2조 (기간)")]),
        (
            "*** THE NEWS ***\n\nLIFTS\nThey come.\n\nBINS\nThey go.\nOn Monday.\nAnd Tuesday.\nWe met.\n",
            [(1, "THE NEWS"), (2, "LIFTS"), (2, "BINS")],
        ),
        (
            "24/034  THE BRIDGE\nIt is closed.\nBuses stop.\n\n24/035  FINANCE (brief)\nAll is well.\nRent stays.\n",
            [(1, "24/034 THE BRIDGE"), (2, "24/035 FINANCE (brief)")],
        ),
        # No headings: a lone line in capitals, steps, an introduction, a table's head, a text that shouts, prose.
        ("Dear all,\n\nTHE GATE\nis closed.\n", []),
        ("1. Load the drum.\n\n2. Press START.\n\n3. Wait.\n\nDone.\n", []),
        (
            "1. How deep is it? The spec\n   says nothing.\n\n2. Is it wide? It\n   does not say.\n\nSo we asked.\nThey told us.\n",
            [],
        ),
        ("To do:\n\n1. Milk\n2. Bread\n3. Eggs\n", []),
        ("Code   Load   Time\n==================\nA      7 kg   2 h\nB      3 kg   1 h\n", []),
        ("STOP\n\nGO\n\nSTOP\n\nGO\n\nSTOP\n\nGO\n", []),
        ("We met on Monday\n\nand talked for long.\n", []),
    ],
)
def test_headings(text: str, headings: list[tuple[int, str]]) -> None:
    assert [(heading.level, heading.title) for heading in headings_of(Lines(text))] == headings


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (MANUAL, [3, 3]),
        (KOREAN, [3]),
        ("E10   No water.\nE20   No drain.\nE41   Door.\n      Press it again.\n", [3]),
        ("a\tb\tc\n1\t2\t3\n4\t5\t6\n", [3]),
        # No tables: an address, two rows, cells that begin anywhere, a list.
        ("14 Tanner's Row          Tel. 01632\nOut of hours:       01633\n", []),
        ("one  two\nthree  four\n", []),
        ("a name   value\na longer name   value\nthe longest name of all   value\nshort   value\n", []),
        ("- one  two\n- three  four\n- five  six\n", []),
        ("to resolve these.  But it was\nnot so, and they  all left for\nthe  sea that night\n", []),
        ("He came.  She left.  It rained.\nThey ate.  They slept.  They woke.\nOne sang.  One wept.  All left.\n", []),
        ("He came.  She left.  It rained.\nThey spoke, and all was well that ended well.\n", []),
    ],
)
def test_columns(text: str, rows: list[int]) -> None:
    lines = Lines(text)
    assert [len(table.rows) for table in columns_of(lines, headings_of(lines))] == rows


def test_what_is_shown_of_a_plain_text_is_marked_and_keeps_its_lines() -> None:
    parsed = read_text(MANUAL.encode(), "manual.txt")
    shown = parsed.shown(0, len(parsed.text))
    assert parsed.title == "HALVARD WM 740"
    assert shown.count("\n") == MANUAL.count("\n")
    assert "## THE DRAWER\n" in shown
    assert "- Left compartment (II): main wash\n- Middle compartment (flower): softener, not above the line\n" in shown
    assert "Programme | Max load | Spin\nCOTTON 60 | 7 kg | 1400 rpm\n" in shown  # the head stands in place of its rule
    assert [block.kind for block in parsed.blocks][:5] == ["heading", "paragraph", "heading", "table", "paragraph"]


def test_logs_and_data_are_left_as_they_are() -> None:
    for name in ("a.log", "a.srt", "a.diff"):
        assert not read_text(MANUAL.encode(), name).edits
