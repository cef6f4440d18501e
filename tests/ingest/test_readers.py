"""Every reader by one contract, each format by its fixture, and what damaged, hostile and odd files do."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.config import IngestConfig
from kb.drafts import Parsed
from kb.errors import ParseFailed
from kb.ingest.chunk import chunk_document
from kb.ingest.discover import scan
from kb.ingest.readers import READERS, read_file, reader_for
from kb.ingest.readers.grammars import GRAMMARS
from kb.ingest.readers.markdown_markup import without_markup
from kb.ingest.readers.rst import plain_title
from tests.ingest.corpora import FORMATS, corpus
from tests.work import count_calls

SAMPLES = sorted(path for path in FORMATS.iterdir() if path.name.startswith("sample."))
HEAVY = (
    "pypdfium2 docx pptx openpyxl trafilatura lxml markdown_it docutils charset_normalizer yaml py3langid numpy".split()
)


def read(path: str, raw: bytes | str) -> Parsed:
    reader = reader_for(path)
    assert reader is not None
    return read_file(reader, raw.encode() if isinstance(raw, str) else raw, path)


def sample(name: str) -> Parsed:
    return read(name, (FORMATS / name).read_bytes())


def shape(parsed: Parsed) -> list[tuple[str, str]]:
    """(kind, text) of each block; for headings the level and the title."""
    return [
        (f"h{block.level}", block.title)
        if block.kind == "heading"
        else (block.kind, parsed.text[block.start : block.end])
        for block in parsed.blocks
    ]


def refusal(path: str, raw: bytes | str) -> str | None:
    """Read by the contract; the problem where the file is refused instead, which is as good."""
    try:
        check_contract(read(path, raw))
    except ParseFailed as error:
        return error.problem if error.fix else "no fix"
    return None


def check_contract(parsed: Parsed) -> None:
    """What every chunker may rely on, whatever the format."""
    end = 0
    for block in parsed.blocks:
        assert end <= block.start < block.end <= len(parsed.text)
        assert parsed.text[block.start : block.end].strip()
        assert (1 <= block.level <= 6 and block.title.strip()) if block.kind == "heading" else block.level == 0
        assert block.title == " ".join(block.title.split())
        assert block.page is None or block.page >= 1
        end = block.end
    assert "\0" not in parsed.text
    assert "\r" not in parsed.text
    parsed.text.encode("utf-8")
    assert parsed.title is None or parsed.title.strip() == parsed.title != ""
    assert all(tag.strip() == tag != "" for tag in parsed.tags)


# ---- the contract


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_each_format_keeps_the_contract(path: Path) -> None:
    reader = reader_for(path.name)
    assert reader is not None
    parsed = sample(path.name)
    check_contract(parsed)
    assert parsed.blocks
    assert parsed.has_lines == reader.has_lines
    if reader.has_lines:
        assert parsed.text == path.read_text("utf-8")


def test_each_reader_has_a_fixture() -> None:
    assert {reader.name for path in SAMPLES if (reader := reader_for(path.name))} == set(READERS)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("raw", [b"", b"  \n\t\n \r\n", b"\xef\xbb\xbf"], ids=["empty", "blank", "mark"])
def test_a_file_of_nothing_has_no_blocks_or_a_reason(name: str, raw: bytes) -> None:
    reader = READERS[name]
    if reader.kind == "text":
        assert read_file(reader, raw, f"a{reader.extensions[0]}").blocks == ()
    else:
        with pytest.raises(ParseFailed):
            read_file(reader, raw, f"a{reader.extensions[0]}")


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.one_of(st.binary(max_size=200), st.text("#-=*>`|+:.~[]()<>!/{}\"' \n\tab1é日\0\r\ud800", max_size=200)))
def test_any_bytes_are_read_or_refused(name: str, raw: bytes | str) -> None:
    reader = READERS[name]
    content = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    problem = refusal(f"a{reader.extensions[0]}", content)
    assert problem is None or f"a{reader.extensions[0]}" in problem


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_damaged_files_are_read_or_refused(path: Path) -> None:
    raw = path.read_bytes()
    for at in range(0, len(raw), max(len(raw) // 25, 1)):
        for damaged in (raw[:at], raw[:at] + bytes(8) + raw[at + 8 :], raw[:at] + raw[at + 3 :]):
            problem = refusal(path.name, damaged)
            assert problem is None or problem.startswith(f"cannot read {path.name}: ")


def test_the_registry_loads_no_heavy_library() -> None:
    code = f"import sys, kb.ingest.readers, kb.ingest.discover; print([m for m in {HEAVY} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.md", "markdown"), ("A.MARKDOWN", "markdown"), ("x/b.mdx", "markdown"), ("a.txt", "text"), ("a.yaml", "text"),
        ("README", "text"), ("Makefile", "code"), ("x/Dockerfile", "code"), ("CMakeLists.txt", "code"), ("a.h", "code"),
        ("a.rst", "restructuredtext"), ("a.xhtml", "html"), ("a.PDF", "pdf"), ("a.ipynb", "notebook"), ("a.vue", "code"),
        ("a.xyz", None), ("md", None), ("a.", None),
    ],
)  # fmt: skip
def test_the_name_tells_the_reader(path: str, name: str | None) -> None:
    reader = reader_for(path)
    assert (reader and reader.name) == name


# ---- formats with lines


def test_markdown() -> None:
    parsed = sample("sample.md")
    assert (parsed.title, parsed.tags, parsed.language) == ("Brandholm: the light", ("lighthouse", "history"), "en")
    assert shape(parsed) == [
        ("h1", "The light of Brandholm"),
        ("paragraph", "The lamp was lit in 1887. See [the log][log]."),
        ("h2", "Setext heading"),
        ("list", "- oil\n  - whale oil, until 1902\n\n  and later paraffin"),
        ("list", "- wicks"),
        ("list", "1. trim"),
        ("list", "2. light"),
        ("code", "```sh\n# not a heading\nlight --at dusk\n```"),
        ("code", "    indented = True"),
        ("table", "| month | litres |\n|-------|--------|\n| May   | 40     |"),
        ("quote", "> No exception for fog."),
        ("paragraph", "Rebuilt</b> in 1911."),
        ("paragraph", "Ruth, since 1931."),
    ]


@pytest.mark.parametrize(
    ("text", "title", "tags", "first_block"),
    [
        ("---\ntitle: A\ntags: b, c\n---\ntext", "A", ("b", "c"), "text"),
        ("---\r\nTitle: A\r\nkeywords:\r\n- '#b'\r\n- 3\r\n---\r\ntext", "A", ("b", "3"), "text"),
        ("\ufeff---\ntitle: A\n...\ntext", "A", (), "text"),
        ('+++\ntitle = "A"\ntags = ["b"]\n+++\ntext', "A", ("b",), "text"),
        ("---\ntitle: 2024\ntags:\n---\n# H\ntext", "2024", (), "# H"),
        ("---\ntitle: Part 1: the start\ntags: [a, 'b']\n---\ntext", "Part 1: the start", ("a", "b"), "text"),
        ("---\ntitle: A: b\ndate:\n---\ntext", "A: b", (), "text"),
        ("---\ntitle: {@html ...}\nsummary: 'It'\n---\ntext", "{@html ...}", (), "text"),
        ("---\ntitle: [broken\n---\ntext", None, (), "---\ntitle: [broken\n---"),
        ("+++\nbroken\n+++\ntext", None, (), "+++\nbroken\n+++\ntext"),
        ("---\n\nprose\n\n---\n\nmore", None, (), "prose"),
        ("---\nnever closed\n\ntext", None, (), "never closed"),
        ("---\n- a list\n- is no mapping\n---\ntext", None, (), "- a list"),
        ("text\n---\ntitle: A\n---\n", None, (), "text\n---"),
        ("---\n---\ntext", None, (), "text"),
    ],
)
def test_front_matter(text: str, title: str | None, tags: tuple[str, ...], first_block: str) -> None:
    parsed = read("a.md", text)
    first = next(block for block in parsed.blocks if block.start < block.end)
    assert (parsed.title, parsed.tags) == (title, tags)
    if first.title != "title: [broken":
        assert parsed.text[first.start : first.end] == first_block
    assert ("front matter" in (parsed.note or "")) == ("broken" in text)


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("---\ntitle: Install it\n---\ntext\n\n## Steps\n\nmore", ["Install it", "Steps"]),
        ("---\ntitle: Install it\n---\n## Steps {/*steps*/}\n\nmore", ["Install it", "Steps"]),
        ("---\ntitle: Install it\n---\n# Installing\n\ntext", ["Installing"]),
        ("---\ntitle: Nothing below\n---\n", []),
        ("## Steps {#steps}\n\n## `{/* a comment */}` in JSX\n\ntext", ["Steps", "{/* a comment */} in JSX"]),
    ],
)
def test_headings_are_those_of_the_page(text: str, titles: list[str]) -> None:
    assert [block.title for block in read("a.md", text).blocks if block.kind == "heading"] == titles


@pytest.mark.parametrize(
    ("text", "shown", "blocks"),
    [
        (
            '=== "Windows"\n\n    Use it:\n\n    ```sh\n    run\n\n    more\n    ```\n\nafter',
            "\n\nWindows: Use it:\n\n```sh\nrun\n\nmore\n```\n\nafter",
            [("paragraph", "Use it:"), ("code", "    ```sh\n    run\n\n    more\n    ```"), ("paragraph", "after")],
        ),
        (  # a fence, a list, and another tab leave the title where it is
            '=== "One"\n    ```\n    a\n    ```\n!!! note "Two"\n    - b\n=== "Three"\n    === "Four"\n        c',
            "One:\n```\na\n```\nTwo:\n- b\nThree:\n\nFour: c",
            None,
        ),
        ('??? tip inline end "Is it so?"\n\n    Yes.', "\n\nIs it so? Yes.", [("paragraph", "Yes.")]),
        ("!!! warning\n    Mind it.", "\nMind it.", [("paragraph", "Mind it.")]),
        ('1. a\n\n    === "B"\n\n        c', "1. a\n\n\n\n    B: c", [("list", '1. a\n\n    === "B"\n\n        c')]),
        ("::: pkg.Thing\n    options:\n      members: true\n\nafter", "\n\n\n\nafter", None),
        ('--8<-- "x.md"\n\n:material-check:{ .ok } done', "\n\ndone", None),
        ("a\n\n   <<< ./x.yaml#content [x.yaml]\n<<< @/y.js{2}\n\nb <<< ./c", "a\n\n\n\n\nb <<< ./c", None),
        ('a\n\n```py\n--8<-- "x.py"\n```\n\nb', "a\n\n\n\n\n\nb", None),
        ('a\n\n```Python hl_lines="2"\n{!> ../../x.py!}\n```\n\nb', "a\n\n\n\n\n\nb", None),
        ("```py\nx = 1\n{!../../x.py!}\n```", "```py\nx = 1\n\n```", None),
        ("```blade\n{!! $slot !!}\n{! x !}\n```", "```blade\n{!! $slot !!}\n{! x !}\n```", None),
        ("> [!NOTE] It is so.\n\n> [!tip]-\n> b", "> It is so.\n\n> \n> b", None),
        ('=== "A"\n    b\n\n```\n=== "C"\n    d\n```', '\nA: b\n\n```\n=== "C"\n    d\n```', None),
        # no tabs: nothing is set in, or it is code
        ('=== "A"\n\ntext', '=== "A"\n\ntext', [("paragraph", '=== "A"'), ("paragraph", "text")]),
        ('```\n=== "A"\n    b\n```', '```\n=== "A"\n    b\n```', [("code", '```\n=== "A"\n    b\n```')]),
    ],
)
def test_tabs_and_boxes_are_text(text: str, shown: str, blocks: list[tuple[str, str]] | None) -> None:
    parsed = read("a.md", text)
    check_contract(parsed)
    assert without_markup(text) == shown
    assert blocks is None or shape(parsed) == blocks


def test_code_in_a_component_is_code() -> None:
    text = (
        '# Use\n\n<Tabs>\n  <Tab name="npm">\n  ```shell\n  one\n\n  # two\n  three\n  ```\n  </Tab>\n</Tabs>\n\ntext\n'
    )
    code = "  ```shell\n  one\n\n  # two\n  three\n  ```"
    assert shape(read("a.mdx", text)) == [("h1", "Use"), ("code", code), ("paragraph", "text")]


def test_the_page_stands_above_its_sections() -> None:
    parsed = read("a.md", "---\ntitle: Install it\n---\ntext\n\n## Steps\n\nmore")
    chunks = chunk_document(parsed, lambda text: list(range(len(text))), 100, 100)
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [
        (("Install it",), "text"),
        (("Install it", "Steps"), "## Steps\n\nmore"),
    ]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```\nunclosed\n# no heading", [("code", "```\nunclosed\n# no heading")]),
        ("# a\n#b\n####### c", [("h1", "a"), ("paragraph", "#b\n####### c")]),
        ("# [a](b) ![c](d) `e_f` *g* <b>h</b> \\# &amp;", [("h1", "a c e_f g h # &")]),
        ("#\n\ntext", [("paragraph", "text")]),
        ("# a {#b .c}", [("h1", "a")]),
        ('# 5.5.12 { id="5.5.12" }', [("h1", "5.5.12")]),
        ("# Set {x = 1}", [("h1", "Set {x = 1}")]),
        ("- a\n\n\n- b\n", [("list", "- a"), ("list", "- b")]),
        ("> # quoted\n> text", [("quote", "> # quoted\n> text")]),
        ("<!-- a\n\nb -->\n\n[x]: y\n", []),
        ("<script>\nlet a = 1\n</script>\n<p>seen</p>", [("paragraph", "seen")]),
        ("a\r\n\r\nb\rc", [("paragraph", "a"), ("paragraph", "b\nc")]),
        (
            "{{#include file.rs}}\n\n::: note\nx\n:::",
            [("paragraph", "{{#include file.rs}}"), ("paragraph", "::: note\nx\n:::")],
        ),
        ("|a|b|\n|-|-|\n|1|2|\ntext after", [("table", "|a|b|\n|-|-|\n|1|2|\ntext after")]),
        ("a\0b", [("paragraph", "a\ufffdb")]),
        (" " * 3 + "text  \n", [("paragraph", "text")]),
    ],
)
def test_markdown_cases(text: str, blocks: list[tuple[str, str]]) -> None:
    parsed = read("a.md", text)
    check_contract(parsed)
    assert shape(parsed) == blocks


@pytest.mark.parametrize(("piece", "times"), [(">", 2_000), ("- ", 2_000), ("[", 5_000), ("*a_ ", 5_000), ("`", 5_000)])
def test_deep_and_repetitive_markdown_grows_no_faster_than_its_length(piece: str, times: int) -> None:
    check_contract(read("a.md", piece * times + "x"))
    once, twice = (count_calls(lambda n=n: read("a.md", piece * n + "x")).total() for n in (times, 2 * times))
    assert twice < 2.4 * once


def test_restructuredtext() -> None:
    parsed = sample("sample.rst")
    assert (parsed.title, parsed.tags) == ("The light", ("lighthouse", "history"))
    assert shape(parsed) == [
        ("h1", "The light"),
        ("paragraph", ":tags: lighthouse, history"),
        ("paragraph", "The lamp was lit in 1887. To light it::"),
        ("code", "    light --at dusk"),
        ("h2", "The horn"),
        ("list", "- sounds twice a minute"),
        ("list", "- was built in 1911"),
        ("paragraph", "It is silent by day."),
        ("code", "   horn --on"),
        ("table", "=====  ======\nmonth  litres\n=====  ======\nMay    40\n=====  ======"),
        ("h2", "Stores"),
        ("paragraph", "Oil comes by boat."),
    ]


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("The ``x`` *of* **y**", "The x of y"),
        (":func:`name <target>` here", "name here"),
        ("`link <http://x>`_ and `ref`_", "link and ref"),
        ("snake_case stays", "snake_case stays"),
    ],
)
def test_titles_lose_their_markup(title: str, plain: str) -> None:
    assert plain_title(title) == plain


@pytest.mark.parametrize(
    ("name", "text", "blocks"),
    [
        ("a.txt", "one\ntwo\n\n\nthree\n", [("paragraph", "one\ntwo"), ("paragraph", "three")]),
        ("a.csv", "name,age\nAnn,3\n", [("h1", "name, age"), ("table", "Ann,3")]),
        ("a.tsv", "1\t2\n3\t4\n", [("table", "1\t2\n3\t4")]),
        ("a.csv", 'a;"b;c"\n1;2', [("h1", "a, b;c"), ("table", "1;2")]),
        ("a.json", '{"a": 1}', [("code", '{"a": 1}')]),
        ("a.tex", "\\section{A \\emph{b}}\\label{x}\ntext", [("h1", "A b"), ("paragraph", "text")]),
        ("a.adoc", "= A\n\ntext\n== B\nmore", [("h1", "A"), ("paragraph", "text"), ("h2", "B"), ("paragraph", "more")]),
        ("a.org", "* A\ntext", [("h1", "A"), ("paragraph", "text")]),
    ],
)
def test_text_cases(name: str, text: str, blocks: list[tuple[str, str]]) -> None:
    assert shape(read(name, text)) == blocks


def test_a_huge_single_line_is_one_block() -> None:
    calls = count_calls(lambda: read("a.txt", b"word " * 200_000))
    assert calls.total() < 20_000, "a step per word or character"
    assert len(read("a.txt", b"word " * 200_000).blocks) == 1


@pytest.mark.parametrize(
    ("name", "symbols"),
    [
        ("sample.py", [None, "def is_lit", "class Lamp", None]),
        ("sample.rs", [None, "struct Lamp", "impl Lamp", "fn is_lit"]),
    ],
)
def test_code_is_cut_at_its_symbols(name: str, symbols: list[str | None]) -> None:
    parsed = sample(name)
    assert [block.section for block in parsed.blocks] == symbols
    assert "".join(parsed.text.split()) == "".join(
        "".join(parsed.text[block.start : block.end].split()) for block in parsed.blocks
    )


@pytest.mark.parametrize(
    ("name", "text", "symbols"),
    [
        (
            "a.js",
            "import x\n\nexport default function foo() {\n}\nconst bar = async (x) => {\n}",
            [None, "function foo", "bar"],
        ),
        ("a.ts", "export interface A {\n}\n\nexport class B extends C {\n}", ["interface A", "class B"]),
        ("a.go", "package p\n\nfunc (s *S) Run(x int) error {\n}\n\ntype T struct {\n}", [None, "func Run", "type T"]),
        ("a.c", "int add(int a, int b)\n{\n  return a;\n}\n", ["add"]),
        ("a.java", "public final class A {\n  void b() {}\n}", ["class A"]),
        ("a.rb", "class A\n  def b\n  end\nend\n", ["class A"]),
        ("a.sql", "-- note\nCREATE TABLE IF NOT EXISTS a (b int);", ["TABLE a"]),
        ("a.sh", "set -e\nrun() {\n  x\n}", [None, "run"]),
        ("a.lua", "local function f(x)\nend", ["function f"]),
        ("a.css", "a:hover {\n}\n.b {\n}", ["a:hover", ".b"]),
        ("a.proto", "message A {\n}", ["message A"]),
        ("Makefile", "all: b\n\techo\nb:\n\ttouch b", ["all", "b"]),
        ("a.py", "def broken(:\n  x\nclass B:\n  y", ["def broken", "class B"]),
        (
            "a.py",
            "class A:\n" + "".join(f"    def m{i}(self):\n" + "        x\n" * 30 for i in range(3)),
            ["class A", "def A.m0", "def A.m1", "def A.m2"],
        ),
        ("a.xyz.sh", "one\n\n  two\n\nthree", [None, None]),
    ],
)
def test_symbols(name: str, text: str, symbols: list[str | None]) -> None:
    parsed = read(name, text)
    check_contract(parsed)
    assert [block.section for block in parsed.blocks] == symbols


BODY = "        x = 1\n" * 25


@pytest.mark.parametrize(
    ("name", "text", "paths"),
    [
        ("a.py", f"@dec\nclass A(B):\n    a = 1\n\n    # why\n    @property\n    def f(\n        self,\n    ) -> int:\n{BODY}",
         [("class A(B)",), ("class A(B)", "def f(self) -> int")]),
        ("a.py", "async def f(a: int = 1):\n  pass\n\nx = (\n\ndef g():\n  pass\n", [("async def f(a: int = 1)",), (), ("def g()",)]),
        ("a.ts", "export const f = async (a: number) => {\n}\nexport enum E {\n}\n", [("const f = async (a: number)",), ("enum E",)]),
        ("a.tsx", "function F() {\n  return <b/>;\n}\n", [("function F()",)]),
        ("a.js", "class A {\n  f(a) {\n  }\n" + "  g = 1;\n" * 25 + "}\n", [("class A",), ("class A", "f(a)"), ("class A",)]),
        ("a.rs", "/// Doc\n#[derive(Debug)]\npub struct P {\n}\n\nimpl Q for P {\n    fn n() -> Self {\n    }\n}\n", [("pub struct P",), ("impl Q for P",)]),
        ("a.go", "// Doc\nfunc (p *T) M(a int) error {\n}\n", [("func (p *T) M(a int) error",)]),
        ("a.java", "class A {\n" + "  int x;\n" * 25 + "  void m(int a) throws E {\n  }\n}\n", [("class A",), ("class A", "void m(int a) throws E")]),
        ("a.c", "static int add(int a) {\n}\nstruct p v;\n", [("static int add(int a)",), ()]),
        ("a.cpp", "template <class T>\nclass V {\n};\nint n::g() {\n}\n", [("class V",), ("int n::g()",)]),
        ("a.cs", "class A {\n  int F() { return 1; }\n}\n", [("class A",)]),
        ("a.rb", "module M\n  def f(a)\n  end\nend\n", [("module M",)]),
        ("a.lua", "function f()\nend", [()]),
    ],
)  # fmt: skip
def test_code_stands_in_its_definitions(name: str, text: str, paths: list[tuple[str, ...]]) -> None:
    parsed = read(name, text)
    check_contract(parsed)
    assert [block.path for block in parsed.blocks] == paths


@pytest.mark.parametrize("extension", sorted(GRAMMARS))
@pytest.mark.parametrize(
    "text", ["", "\x00", "}" * 3000, "(" * 3000, "class A {" * 300, "def f(:\n" * 50, "한글 = '\ufffd'\r\n"]
)
def test_broken_code_is_read(extension: str, text: str) -> None:
    check_contract(read(f"a.{extension}", text))


# ---- formats whose text is extracted


def test_html() -> None:
    parsed = sample("sample.html")
    assert (parsed.title, parsed.language, parsed.tags) == ("The light", "en", ("lighthouse", "history"))
    assert shape(parsed) == [
        ("h1", "The light"),
        ("paragraph", "The lamp of Brandholm was lit in 1887, and it has burned every night since then, with no exception for fog."),
        ("h2", "The horn"),
        ("paragraph", "The horn sounds twice a minute.\nIt was built in 1911, when the tower had to be made higher for the new shipping lane."),
        ("list", "- oil\n  - whale oil"),
        ("list", "- wicks"),
        ("code", "light --at dusk\nhorn  --on"),
        ("table", "month | litres\nMay | 40"),
        ("quote", "No exception for fog."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("html", "text", "note"),
    [
        ("<p>only</p>", "only", None),
        ("no tags at all", "no tags at all", None),
        ('<?xml version="1.0" encoding="utf-8"?><html><body>declared</body></html>', "declared", None),
        ("<body><p hidden>no</p><p style='display: none'>no</p><p>yes</p></body>", "yes", None),
        ("<script>x</script>", "", "no text"),
        ("<div>" * 3_000 + "deep", None, None),
        ("<p>a&nbsp;b&amp;c &#x20AC; &#0;</p>", "a b&c € \ufffd", None),
        ("<dl><dt>a</dt><dd>b</dd><dt>c</dt><dd>d</dd></dl>", "a: b\n\nc: d", None),
        (
            "<table><tr><td><p>laid</p><table><tr><td>1</td><td>2</td></tr></table></td></tr></table>",
            "laid\n\n1 | 2",
            None,
        ),
        ("<nav><a href='/'>menu</a></nav><a href='/'>all</a> <a href='/'>links</a>", None, None),
    ],
)
def test_html_cases(html: str, text: str | None, note: str | None) -> None:
    parsed = read("a.html", html)
    check_contract(parsed)
    assert text is None or parsed.text == text
    assert note is None or note in (parsed.note or "")


def test_pdf() -> None:
    parsed = sample("sample.pdf")
    assert shape(parsed) == [
        ("h1", "Keeper’s handbook"),
        ("paragraph", "The lamp of Brandholm is lit at dusk and put\nout at dawn, with no exception for fog."),
        ("h1", "Fog signal"),
        ("paragraph", "The horn sounds twice a minute.\nIt was built in 1911."),
        ("h1", "Supplies"),
        ("paragraph", "Oil comes by boat every second Tuesday."),
    ]
    assert [block.page for block in parsed.blocks] == [1, 1, 2, 2, 3, 3]
    assert parsed.title == "Keeper’s handbook"


def test_docx() -> None:
    parsed = sample("sample.docx")
    assert (parsed.title, parsed.tags) == ("Brandholm log", ("lighthouse", "log"))
    assert shape(parsed) == [
        ("h1", "Brandholm log"),
        ("paragraph", "The lamp burned all night."),
        ("h2", "Stores"),
        ("list", "- oil"),
        ("list", "- wicks"),
        ("table", "month | oil\nMay | 40 l"),
        ("paragraph", "Signed by the keeper."),
    ]


def test_pptx() -> None:
    parsed = sample("sample.pptx")
    assert shape(parsed) == [
        ("h1", "The light"),
        ("list", "- Range 14 miles\n- Two flashes"),
        ("paragraph", "Say that it was rebuilt."),
        ("h2", "The horn"),
        ("table", "year | tone\n1911 | low"),
    ]
    assert [block.page for block in parsed.blocks] == [1, 1, 1, 2, 2]


def test_xlsx() -> None:
    parsed = sample("sample.xlsx")
    assert shape(parsed) == [
        ("h1", "Oil"),
        ("table", "month | litres\nMay | 40\nJune | 38.5"),
        ("table", "boat | day\nAlma | Tuesday"),
        ("h1", "Keepers"),
        ("table", "name | since\nRuth | 1931"),
    ]
    assert [block.section for block in parsed.blocks] == ["Oil", "Oil!A1:B3", "Oil!D6:E7", "Keepers", "Keepers!A1:B2"]
    assert parsed.title is None


def test_cells_that_lie_far_apart_are_all_read() -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for cell, value in {"A1": "near", "A500000": "a|b", "XFD1048576": 2.0}.items():
        book.active[cell] = value  # type: ignore[index]
    buffer = io.BytesIO()
    book.save(buffer)
    parsed = read("a.xlsx", buffer.getvalue())
    assert shape(parsed)[1:] == [("paragraph", "near"), ("paragraph", "a¦b"), ("paragraph", "2")]
    assert parsed.blocks[3].section == "Sheet!XFD1048576:XFD1048576"


def test_epub() -> None:
    parsed = sample("sample.epub")
    assert (parsed.title, parsed.language, parsed.tags) == ("The Brandholm light", "en", ("lighthouse",))
    assert shape(parsed)[:3] == [("h1", "First"), ("paragraph", "The lamp came first."), ("list", "- lamp")]
    assert [block.section for block in parsed.blocks] == ["First"] * 4 + ["Second"] * 4
    assert parsed.note == "1 chapters are missing from the file: gone.xhtml"


def test_notebook() -> None:
    parsed = sample("sample.ipynb")
    assert shape(parsed) == [
        ("h1", "Oil per month"),
        ("paragraph", "How much the lamp burns."),
        ("code", "litres = [40, 38]\nsum(litres)"),
        ("code", "78"),
        ("paragraph", "The end."),
    ]
    assert [block.section for block in parsed.blocks] == ["cell 1", "cell 1", "cell 2", "cell 2", "cell 3"]


@pytest.mark.parametrize(
    "cells",
    [
        [{"cell_type": "markdown", "source": "lone \ud800 surrogate"}],
        [{"cell_type": "code", "source": "x", "outputs": [{"text": "y" * 5_000}]}],
        [{"cell_type": "code", "source": ["a", None, 3], "outputs": "no list"}],
        [None, 3, {}],
        {"no": "list"},
    ],
)
def test_odd_notebooks(cells: object) -> None:
    assert refusal("a.ipynb", json.dumps({"cells": cells})) in (None, "cannot read a.ipynb: it has no cells")


# ---- what is refused


def zipped(**entries: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.epub"])
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"no archive", "it is damaged, or not the format its name says"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "it is encrypted, or in the legacy Office format"),
        (zipped(other=b"x"), ""),
    ],
    ids=["no archive", "encrypted", "another archive"],
)
def test_what_is_no_container_is_refused(name: str, raw: bytes, reason: str) -> None:
    with pytest.raises(ParseFailed) as caught:
        read(name, raw)
    assert reason in caught.value.problem
    assert caught.value.fix


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.epub"])
def test_zip_bombs_are_not_unpacked(name: str) -> None:
    raw = zipped(bomb=bytes(60_000_000))

    def read_it() -> None:
        with pytest.raises(ParseFailed, match="would unpack to 60 MB"):
            read(name, raw)

    assert count_calls(read_it)["decompress"] == 0


def test_entities_are_not_expanded_and_files_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("keep this")
    doctype = f'<!DOCTYPE x [<!ENTITY a "{"ha" * 50}"><!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    package = (
        doctype + (FORMATS / "make.py").read_text().split('OPF = """')[1].split('"""')[0].partition("?>")[2]
    ).replace("The Brandholm light", "&s;&a;")
    with zipfile.ZipFile(FORMATS / "sample.epub") as book:
        entries = {name: book.read(name) for name in book.namelist()}
    parsed = read("a.epub", zipped(**{**entries, "OEBPS/book.opf": package.encode()}))
    assert "keep this" not in f"{parsed.text} {parsed.title}"
    for name in ("a.html", "a.xhtml"):
        assert "keep this" not in read(name, f"{doctype}<html><body>&s; text</body></html>").text


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("sample.docx", "word/document.xml"),
        ("sample.pptx", "ppt/slides/slide1.xml"),
        ("sample.xlsx", "xl/workbook.xml"),
    ],
)
def test_entities_that_multiply_are_refused(name: str, part: str) -> None:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    with zipfile.ZipFile(FORMATS / name) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    root = entries[part].partition(b"?>")[2] if entries[part].startswith(b"<?xml") else entries[part]
    entries[part] = f'<!DOCTYPE z [<!ENTITY a0 "ha">{levels}]>'.encode() + root.replace(b"</", b"&a9;</", 1)
    raw = zipped(**entries)
    problem = refusal(name, raw)
    assert problem is None or "amplification" in problem or "entit" in problem
    assert count_calls(lambda: refusal(name, raw)).total() < 200_000, "the entities were multiplied"


def test_a_library_that_stops_becomes_words() -> None:
    broken = bytearray((FORMATS / "sample.docx").read_bytes())
    with zipfile.ZipFile(io.BytesIO(broken)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["word/document.xml"] = b"<broken"
    with pytest.raises(ParseFailed, match="the docx reader stopped with XMLSyntaxError") as caught:
        read("dir/a.docx", zipped(**entries))
    assert caught.value.details == {"path": "dir/a.docx", "reader": "docx"}


# ---- real files


@pytest.mark.parametrize(
    "folder", ["messy-office", "messy-pdf", "messy-markdown", "messy-encodings", "html-readability"]
)
def test_real_files_are_read_or_refused_with_a_reason(folder: str) -> None:
    found = scan(corpus(folder), config=IngestConfig())
    step = max(len(found.files) // 60, 1)  # a sample: benchmarks/readers.py reads them all
    for file in found.files[::step]:
        problem = refusal(file.path, file.absolute.read_bytes()) if reader_for(file.path) else None
        assert problem is None or "reader stopped" not in problem
    assert all(skipped.reason for skipped in found.skipped)


@pytest.mark.parametrize("folder", [("rust-book", "src"), ("messy-markdown", "commonmark")])
def test_lines_are_those_of_the_file(folder: tuple[str, ...]) -> None:
    for path in sorted(corpus(*folder).glob("*.md"))[::10]:
        parsed = read(path.name, path.read_bytes())
        lines = path.read_text("utf-8").split("\n")
        assert parsed.text.split("\n") == lines
        for block in parsed.blocks:
            line = parsed.text.count("\n", 0, block.start)
            assert parsed.text[block.start : block.end].split("\n")[0].strip() in lines[line]


MARKUP = """---
title: Deploy
---
import { Card } from "x";

## Ship it { #ship }

<a id="ship"></a>Rc<T> and <name> stay; `<br />` too.<br />
See [the log][log] <ReadMore>or **this**</ReadMore>.<!-- hidden --> <ReadMore>Or the logs</ReadMore>

<LinkCard title="Deploy" description="Ship it" href="/x" />

<span class="caption">Table 1: What
ships</span>

{* ../src/app.py hl[1] *}

```html
<br />
{{#include ../listing.rs}}
```

```rust
{{#rustdoc_include ../listing.rs:here}}
```

[log]: https://example.org "Log"
"""


def test_markup_is_out_of_what_is_shown_and_lines_stay() -> None:
    parsed = read("deploy.mdx", MARKUP.encode())
    assert parsed.text == MARKUP
    shown = parsed.shown(0, len(parsed.text))
    assert shown.count("\n") == MARKUP.count("\n")
    for gone in (
        "import",
        "<a id",
        "ReadMore",
        "LinkCard",
        "hidden",
        "Table 1",
        "app.py",
        "include",
        "https://example",
    ):
        assert gone not in shown, gone
    for kept in (
        "Rc<T> and <name> stay; `<br />` too.",
        "or **this**",
        "Or the logs",
        "Deploy. Ship it",
        "```html\n<br />\n",
    ):
        assert kept in shown, kept
    lines, told = MARKUP.split("\n"), shown.split("\n")
    assert all(line in (said, "") or said for line, said in zip(told, lines, strict=True))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("up to 2<sup>n − 1</sup> − 1, E = mc<sup>2</sup>", "up to 2^(n − 1) − 1, E = mc^2"),
        ("up to 2<sup>n −\n1</sup> − 1", "up to 2^(n − 1)\n − 1"),
        ("up to 2<sup>n −\n1</sup> - 1", "up to 2^(\nn − 1) - 1"),
        ("the 1<sup>st</sup> word<sup>1</sup> of `2<sup>n</sup>`", "the 1st word1 of `2<sup>n</sup>`"),
    ],
)
def test_an_exponent_stays_one(text: str, shown: str) -> None:
    parsed = read("a.md", text)
    assert parsed.shown(0, len(text)) == shown
    told = read("a.html", f"<p>{text.partition('`')[0]}</p>").text
    assert "".join(told.split()) == "".join(shown.partition("`")[0].split())


@pytest.mark.parametrize(
    "text",
    [
        "<br />",
        "a <b>c",
        "2<sup>n</sup>",
        "2<sup>n\n1</sup><b>",
        "2<sup>a<b>c</b></sup>",
        "[x]: y",
        "<Foo a={b}>",
        "``` \n<br />",
        "<!-- open",
        "",
        "a < b > c",
    ],
)
def test_no_edit_overlaps_another(text: str) -> None:
    edits = read("a.md", text).edits
    assert all(one.end <= other.start for one, other in itertools.pairwise(edits))
    assert all(text[edit.start : edit.end].count("\n") == edit.text.count("\n") for edit in edits)
