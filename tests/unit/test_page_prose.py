"""Markdown → HTML of the page: nothing in it runs, loads or misleads; lines keep their numbers. Code ends in time."""

import pytest

from kb.page.code import code_lines
from kb.page.prose import markdown_html


def html(text: str, *cited: int, **options: object) -> str:
    return str(markdown_html(text, lambda written: f"/to/{written}" if ".md" in written else None, cited, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        ("[a](JAVA&#115;CRIPT:alert(1))", "<p>[a](JAVAsCRIPT:alert(1))</p>"),
        ("[a]( vbscript:x)", "<p>[a]( vbscript:x)</p>"),
        ("[a](data:text/html;base64,AAAA)", "<p>[a](data:text/html;base64,AAAA)</p>"),
        ("![a](data:image/png;base64,AAAA)", "<p>![a](data:image/png;base64,AAAA)</p>"),
        ("![a](http://e/x.png)", '<p><span class="picture">Picture: a</span></p>'),
        ("[a](b.md)", '<p><a href="/to/b.md">a</a></p>'),
        ("[a](b)", '<p><a class="no-link">a</a></p>'),
        (
            '[a](http://e/ "x\\" onload=y")',
            '<p><a href="http://e/" rel="noopener noreferrer nofollow" class="outside">a</a></p>',
        ),
        ("[a](//evil.example/x)", '<p><a class="no-link">a</a></p>'),
        ("a\u202eb", "<p>a&lt;U+202E&gt;b</p>"),
        ("a[^1] b", "<p>a<sup>1</sup> b</p>"),
        ("[#1] [#2]", '<p><a class="cite" data-beside href="/one">[#1]</a> [#2]</p>'),
        ("# A\n\nb", "<h2>A</h2>\n<p>b</p>"),
    ],
)
def test_what_a_text_becomes(text: str, wanted: str) -> None:
    assert html(text, citations={1: "/one"}.get).strip() == wanted


def test_lines_are_numbered_and_the_cited_words_marked() -> None:
    text = "# T\n\none\n*two\nthree* four\n\n- a\n- b\n\n    five\n\n```py\nx = 1\ny = 2\n```\n"
    made = html(text, 4, 13, has_ids=True)
    assert '<p id="L3" class="holds-cited">one\n<em><mark class="cited">two</mark>\nthree</em> four</p>' in made
    assert '<li id="L8">' in made
    assert 'class="line cited" id="L13"' in made
    assert 'class="line" id="L14"' in made
    assert made.count("cited") == 3


def test_an_excerpt_begins_where_the_words_are() -> None:
    found = html(
        "## Head\n\nfirst\n\nthe lamp\n\nlast", spans_of=lambda t: [(4, 8)] if "lamp" in t else [], is_excerpt=True
    )
    assert found.split("\n")[:2] == ["<p>the <mark>lamp</mark></p>", "<p>last</p>"]


@pytest.mark.parametrize("language", ["python", "a.rs", "no-such", "../../x", "", "__import__('os')"])
def test_code_is_the_same_text_in_any_language(language: str) -> None:
    code = "def f():\n    return '<b>' # \"\n\n"
    lines = str(code_lines(code, language, 5, {6}))
    assert lines.count('class="line') == 4
    assert "<b>" not in lines
    import lxml.html

    assert lxml.html.fromstring(f"<pre>{lines}</pre>").text_content() == f"{code}\n"


def test_colouring_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.page.code.COLOUR_SECONDS", -1.0)
    assert str(code_lines("import os\n" * 3, "python", 1)).count("import os") == 3
    monkeypatch.undo()
    assert "import os" not in str(code_lines("import os\n" * 3, "python", 1))
