"""A passage's blocks: what is prose, code, a table or an item; and which of them a hit shows."""

from __future__ import annotations

from functools import partial

import pytest

from kb.cli.blocks import MOST_CHARS, MOST_ROWS, Block, blocks_of, choose
from kb.cli.wrap import columns_of, wrap_spans
from kb.symbols import term_spans

PROSE = Block("prose", ("Some text.",))


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("Some\ntext.", [PROSE]),
        ("### Care of it\n\nSome text.", [PROSE]),  # its heading is shown above it
        ("## Care of it { #care .wide }\n\nSome text.", [PROSE]),
        ("## Care of it { data-toc-label='Care' }\n\nSome text.", [PROSE]),
        ("## Set {#1, #2}\n\nSome text.", [Block("prose", ("Set",)), PROSE]),
        ("Some text.\n\n### Another\n\nSome text.", [PROSE, Block("prose", ("Another",)), PROSE]),
        ("> Some\n> text.", [PROSE]),
        ("- one\n  more\n2. two", [Block("item", ("one more",), mark="-"), Block("item", ("two",), mark="2.")]),
        ("```rust\nfn a() {\n}\n```\nSome text.", [Block("code", ("fn a() {", "}"), language="rust"), PROSE]),
        ("let a = 1;\n```\nSome text.", [Block("code", ("let a = 1;",)), PROSE]),  # the chunk begins in the fence
        ("```sh\nkb ask", [Block("code", ("kb ask",), language="sh")]),  # and ends in one
        ("| a | b |\n|---|:-:|\n| 1 | 2 |\nSome text.", [Block("table", ("| a | b |", "| 1 | 2 |")), PROSE]),
        ("See [the **book**](b.html), _now_ and `**x**`.", [Block("prose", ("See the book, now and `**x**`.",))]),
        ("call __init__ and snake_case_name", [Block("prose", ("call __init__ and snake_case_name",))]),
        ("  \n\n", []),
    ],
)
def test_blocks_of_markdown(text: str, blocks: list[Block]) -> None:
    assert list(blocks_of(text, "guide/a.md", ("Care of it",))) == blocks


def test_a_file_of_code_is_one_block_as_it_stands() -> None:
    text = "def a():\n    # Not | a table\n    return 1\n"
    assert blocks_of(text, "src/a.py") == (Block("code", tuple(text.rstrip().split("\n")), language="py"),)


def test_rows_of_a_csv_file_are_a_table() -> None:
    text = 'code,meaning\n"E-1","a | b, and c"\n'
    assert blocks_of(text, "ops/codes.csv") == (Block("table", ("| code | meaning |", "| E-1 | a \\| b, and c |")),)


def test_the_block_with_the_query_is_shown_and_what_fits_around_it() -> None:
    far = Block("prose", ("Nothing of interest. " * 15,))
    mirror = Block("prose", ("The mirror is cleaned every 14 days.",))
    item = Block("item", ("with water",), mark="-")
    spans_of = partial(term_spans, terms=frozenset({"mirror", "clean"}))
    assert choose([far, far, mirror, item, far], spans_of) == (mirror, item, far)
    assert choose([far, mirror, item], partial(term_spans, terms=frozenset())) == (far, mirror, item)
    assert choose([], spans_of) == ()


def test_long_blocks_are_cut_around_the_matches() -> None:
    spans_of = partial(term_spans, terms=frozenset({"mirror"}))
    (cut,) = choose([Block("prose", ("Filler words here. " * 40 + "The mirror shines. " + "More. " * 90,))], spans_of)
    assert cut.lines[0].startswith("… ")
    assert cut.lines[0].endswith(" …")
    assert "The mirror shines." in cut.lines[0]
    assert len(cut.lines[0]) <= MOST_CHARS + 4
    rows = [f"    line {at}" for at in range(40)]
    rows[30] = "    mirror()"
    (code,) = choose([Block("code", tuple(rows))], spans_of)
    assert code.lines[0] == code.lines[-1] == "    …"
    assert "    mirror()" in code.lines
    assert len(code.lines) == MOST_ROWS + 2
    (table,) = choose([Block("table", ("| head |", *(f"| {row} |" for row in rows)))], spans_of)
    assert table.lines[0] == "| head |"
    assert any("mirror" in row for row in table.lines)
    long = [f"| E-{at} | {'so it is said ' * 12}|" for at in range(11)]  # room for two of them
    long[5] = long[5].replace("said", "mirror", 1)
    (cut,) = choose([Block("table", ("| code | meaning |", *long))], spans_of)
    assert long[5] in cut.lines
    codes = partial(term_spans, terms=frozenset({"said", "7"}))  # one word of them stands in every row
    (cut,) = choose([Block("table", ("| code | meaning |", *long))], codes)
    assert long[7] in cut.lines


@pytest.mark.parametrize("columns", [10, 20, 33, 60])
@pytest.mark.parametrize(
    "text",
    [
        "One two three four five six seven eight nine ten.",
        "망원경의 거울은 14일마다 닦아야 합니다. 닦기 전에 돔을 닫으십시오.",
        "averyveryveryveryveryverylongwordthatfitsonnolineatall and more",
        "漢字だけの長い文章には空白がありませんから単語の間で改行できません",
    ],
)
def test_wrapped_lines_fit_and_lose_nothing(text: str, columns: int) -> None:
    lines = [text[start:end] for start, end in wrap_spans(text, columns)]
    assert all(0 < columns_of(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert wrap_spans(text, 0) == [(0, len(text))]
