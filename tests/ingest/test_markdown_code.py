"""Code between tags of site builders, and tables without bars at their edges: what blocks and text are made of them."""

from __future__ import annotations

import pytest

from kb.ingest.readers.markdown import read_markdown
from kb.ingest.readers.markdown_code import with_fences
from kb.ingest.readers.markdown_markup import without_markup
from kb.language.tables import find_tables


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("{{< highlight go >}}\nx := 1\n{{< /highlight >}}", "```go\nx := 1\n```"),
        ('{{< highlight lang="go" linenos=table >}}\nx\n{{< / highlight >}}', "```go\nx\n```"),
        ("{{< code-toggle file=hugo >}}\nt = 1\n{{</ code-toggle >}}", "```\nt = 1\n```"),
        ("{{% code %}}\nt = 1\n{{% /code %}}", "```\nt = 1\n```"),
        ("{% highlight ruby linenos %}\nx = `a`\n{% endhighlight %}", "```ruby\nx = `a`\n```"),
        ("{%- highlight c++ %}\nx\n{%- endhighlight -%}", "```c++\nx\n```"),
        # Nothing to fence: shown code, one tag, a tag that closes itself, another tag, a fence within.
        ("```\n{{< highlight go >}}\nx\n{{< /highlight >}}\n```", None),
        ("{{< highlight go >}}\nx", None),
        ("{{< code-toggle config=x />}}\n{{< /code-toggle >}}", None),
        ("{{< note >}}\nx\n{{< /note >}}", None),
        ("{{< highlight md >}}\n```\nx\n```\n{{< /highlight >}}", None),
    ],
)
def test_code_between_tags_is_fenced(text: str, fenced: str | None) -> None:
    found = with_fences(text)
    assert len(found) == len(text)
    assert without_markup(found) == (fenced if fenced is not None else without_markup(text))


def test_code_between_tags_is_a_block_of_code_in_its_place() -> None:
    page = (
        "---\ntitle: T\n---\nFirst\n\n{{< code-toggle >}}\ntitle = 'One'\n\n# a comment\n{{< /code-toggle >}}\n\nThen."
    )
    parsed = read_markdown(page.encode(), "a.md")
    code = next(block for block in parsed.blocks if block.kind == "code")
    assert page.count("\n", 0, code.start) == parsed.text.count("\n", 0, code.start) == 5
    assert parsed.text[code.start : code.end].split("\n")[1:4] == ["title = 'One'", "", "# a comment"]
    assert [block.title for block in parsed.blocks if block.kind == "heading"] == ["T"]


@pytest.mark.parametrize(
    ("text", "barred"),
    [
        ("Path|Alias\n:--|:--\na|`b`\n\nend", "| Path|Alias |\n| :--|:-- |\n| a|`b` |\n\nend"),
        ("| Path|Alias\n--|--|\na|b |\n", "| Path|Alias |\n| --|--|\n| a|b |\n"),
        ("A|B\n-|-\n<b>a</b>|b\nprose", "| A|B |\n| -|- |\n| a|b |\nprose"),
        ("A|B\n-|-\na|b\n-|-\nc|d", "| A|B |\n| -|- |\n| a|b |\n| -|- |\n| c|d |"),
        # No tables: another number of cells, no head, code.
        ("A\n-|-\na|b", "A\n-|-\na|b"),
        ("-|-\na|b", "-|-\na|b"),
        ("```\nA|B\n-|-\n```", "```\nA|B\n-|-\n```"),
        ("| A | B |\n|---|---|\n| a | b |", "| A | B |\n|---|---|\n| a | b |"),
    ],
)
def test_tables_have_bars_at_their_edges(text: str, barred: str) -> None:
    assert without_markup(text) == barred


def test_a_table_that_stands_alone_in_a_chunk_keeps_its_first_and_its_last_bar() -> None:
    table = "Path|Alias\n:--|:--\nsite|/old"
    parsed = read_markdown(f"Before.\n\n{table}\n\nBehind.".encode(), "a.md")
    at = parsed.text.index(table)
    assert parsed.shown(at, at + len(table)) == "| Path|Alias |\n| :--|:-- |\n| site|/old |"
    assert parsed.shown(0, at - 2) == "Before."
    assert parsed.shown(0, at) == "Before.\n\n", "its bar is the next stretch's"
    assert parsed.shown(at + len(table) + 2, len(parsed.text)) == "Behind."


def test_a_table_without_bars_at_its_edges_is_read_by_the_names_of_its_columns() -> None:
    [table] = find_tables(without_markup("Path|Alias\n:--|:--\nsite|/old\n"))
    assert [row.spelled() for row in table.rows] == ["Path: site; Alias: /old."]


@pytest.mark.parametrize("line", ["[[toc]]", "[TOC]", "[[_TOC_]]", "{:toc}", "${toc}"])
def test_a_line_for_a_list_of_contents_goes(line: str) -> None:
    assert without_markup(f"Before.\n\n{line}\n\nBehind.") == "Before.\n\n\n\nBehind."
    assert without_markup(f"What {line} is") == f"What {line} is"
