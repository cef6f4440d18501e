"""A document → its names and relations, with their places."""

from __future__ import annotations

import pytest

from kb.drafts import GraphDraft
from kb.graph.extract import extract_graph
from kb.graph.links import find_marks, resolve_path
from kb.graph.names import identifiers, is_identifier, korean_names, name_key, path_key, proper_names
from kb.ingest.readers.markdown import read_markdown
from kb.language.korean_particles import strip_particle


def graph_of(text: str, path: str = "guide/x.md") -> GraphDraft:
    parsed = read_markdown(text.encode(), path)
    return extract_graph(parsed, "src", path, parsed.title or "x")


def edges_of(text: str) -> list[tuple[str, str, str]]:
    return [(e.subject.key or e.subject.kind, e.predicate, e.object.key) for e in graph_of(text).edges]


@pytest.mark.parametrize(
    ("link", "key"),
    [
        ("[a](b.md)", "src/guide/b"),
        ("[a](./b.md#top)", "src/guide/b"),
        ("[a](../ops/b.html?x=1)", "src/ops/b"),
        ("[a](/ops/b.md)", "src/ops/b"),
        ("[a](my%20page.md)", "src/guide/my page"),
        ("[a](<my page.md>)", "src/guide/my page"),
        ("[a](sub/index.md)", "src/guide/sub"),
        ("[a](sub/)", "src/guide/sub"),
        ("[a](b.md 'a title')", "src/guide/b"),
        ("[a][ref]\n\n[ref]: b.md", "src/guide/b"),
        ("[[Night Watch]]", "night watch"),
        ("[[Night Watch#Dawn|the watch]]", "night watch"),
        ("[[ops/Night Watch]]", "src/ops/night watch"),
    ],
)
def test_links_lead_somewhere(link: str, key: str) -> None:
    assert edges_of(f"# T\n\nSee {link} for more.\n") == [("self", "links_to", key)]


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://example.org/b.md)",
        "![a](b.png)",
        "![[b.png]]",
        "[a](#top)",
        "[a](x.md)",
        "[a](../../out.md)",
        "[a](mailto:x@y.z)",
        "`[a](b.md)`",
        "    [a](b.md)",
        "```\n[[b]]\n```",
        "[a] (b.md)",
    ],
)
def test_what_is_no_link_of_this_source(text: str) -> None:
    assert [e for e in edges_of(f"# T\n\n{text}\n") if not text.startswith("![[")] == []


def test_front_matter_says_what_a_document_is_to_others() -> None:
    text = (
        "---\ntitle: X\nproject: Skerry\ndepends_on: [tided, '[[mastd]]', ../ops/y.md]\nrelated: z.md\nDepends-On: ignored\n"
        "aliases: [ex, 엑스]\nfixes: 12\nextends: [[Base]]\nowner: Ada Lovelace\n---\n\n# X\n"
    )
    graph = graph_of(text)
    found = [(e.predicate, e.object.kind, e.object.key, e.line) for e in graph.edges]
    assert ("relates_to_project", "project", "skerry", 3) in found
    assert ("depends_on", "entity", "mastd", 4) in found
    assert ("depends_on", "document", "src/ops/y", 4) in found
    assert ("links_to", "document", "src/guide/z", 5) in found
    assert ("resolves", "entity", "#12", 8) in found
    assert ("extends", "entity", "base", 9) in found
    names = {(n.kind, n.key): n for n in graph.names}
    assert names["document", "엑스"].form == "alias"
    assert names["entity", "ada lovelace"].line == 10


def test_places_are_lines_of_the_file() -> None:
    graph = graph_of("# T\n\nOne.\n\nTwo with [b](b.md).\nThree: `tide_filter` here.\n\n`lampd` depends on `tided`.\n")
    places = {e.predicate: e.line for e in graph.edges}
    assert places == {"links_to": 5, "depends_on": 8}
    assert {n.key: n.line for n in graph.names}["tide_filter"] == 6


def test_names_count_and_their_strongest_form_holds() -> None:
    graph = graph_of("# T\n\nHere Marigold opens. We saw Marigold. Then [[Marigold]] closed.\n")
    (name,) = [n for n in graph.names if n.key == "marigold"]
    assert (name.form, name.count) == ("link", 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The mirror of Tomasz Wierzba broke.", ["Tomasz Wierzba"]),
        ("Marigold opens.", []),
        ("We met on Monday in May.", []),
        ("We asked In May Tomasz.", ["Tomasz"]),
        ("It runs on NASA hardware", ["NASA"]),
        ("write to x@Example.org", []),
        ("here is Marigold's mirror", ["Marigold"]),
        ("one task: Write a function", []),
    ],
)
def test_proper_names(text: str, expected: list[str]) -> None:
    assert [name for _, name in proper_names(text)] == expected


def test_korean_nouns_are_seen_by_their_particles() -> None:
    text = "마리골드는 튤립보다 크다. 그것은 어제 왔다. 해바라기를 실행하고 내부적으로 본다."
    assert [(noun, particle) for _, noun, particle in korean_names(text)] == [("마리골드", "는"), ("해바라기", "를")]


def test_a_korean_noun_is_a_name_when_it_comes_with_several_particles() -> None:
    once = graph_of("# T\n\n마리골드는 크다. 마리골드는 낡았다.\n")
    twice = graph_of("# T\n\n마리골드는 크다. 마리골드를 닫는다.\n")
    assert "마리골드" not in {n.key for n in once.names}
    assert {n.key: (n.form, n.count) for n in twice.names}["마리골드"] == ("name", 2)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("parse_config", True),
        ("HTTPServer", False),
        ("TestClient", True),
        ("os.path", True),
        ("Vec::new", True),
        ("MAX_SIZE", True),
        ("example.com", False),
        ("Rust", False),
        ("word", False),
        ("x" * 100 + "_y", False),
    ],
)
def test_identifiers_by_shape(word: str, expected: bool) -> None:
    assert is_identifier(word) is expected
    assert ([w for _, w in identifiers(f"see {word} here")] == [word]) is expected


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("튤립에", "튤립"),
        ("FastAPI에서", "FastAPI"),
        ("lampd는", "lampd"),
        ("나는", "나는"),
        ("튤립", "튤립"),
        ("서버에서는", "서버"),
    ],
)
def test_particles(word: str, bare: str) -> None:
    assert strip_particle(word) == bare


def test_keys() -> None:
    assert name_key("The  ＬＡＭＰＤ ") == "lampd" == name_key("`lampd()`")
    assert path_key("Guide/README.md") == "guide"
    assert resolve_path("a\x00b.md", "x.md") is None
    assert find_marks("a `b` [[c]] d", {})[0] == "a \ue000 \ue001 d"
