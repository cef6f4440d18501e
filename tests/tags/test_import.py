"""Files → vocabularies: the four formats, chains, spellings, and every fault with its place."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kb.errors import InvalidInput, KbError, NotFound, ParseFailed
from kb.store.store import Store
from kb.tags.importing import current_vocabulary, import_vocabulary, load_vocabulary_file
from kb.tags.vocabulary import Tag, Vocabulary, vocabulary_of_documents

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tags"


def load(tmp_path: Path, text: str, name: str = "v.json", format: str | None = None) -> tuple[Vocabulary, list[str]]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    vocabulary, _, notes = load_vocabulary_file(path, format)
    return vocabulary, notes


def tags(*rows: object, **more: object) -> str:
    return json.dumps({"tags": list(rows), **more})


CSV = 'name,category,count,aliases\ndog,0,5,"k9, hound"\nbig cat,3,7,\n고양이,,2,"cat","0.5"\n'


def test_csv(tmp_path: Path) -> None:
    vocabulary, notes = load(tmp_path, CSV, "v.csv")
    assert vocabulary.tags == (Tag("big cat", "3", 7), Tag("dog", "0", 5), Tag("고양이", None, 2, 0.5))
    assert vocabulary.aliases == {"cat": ("고양이",), "hound": ("dog",), "k9": ("dog",)}
    assert notes == []
    assert load(tmp_path, CSV.replace("\n", "\r\n").partition("\r\n")[2], "w.csv")[0].digest == vocabulary.digest


def test_json(tmp_path: Path) -> None:
    text = tags(
        {"tag": "dog", "aliases": ["k9"], "count": 4, "rating": 0.99}, "cat", items=[["K9", "cat"], ["dog", "dog"]]
    )
    vocabulary, _ = load(tmp_path, text)
    assert vocabulary.items == (("dog", "cat"), ("dog",))
    assert [(t.tag, t.count) for t in vocabulary.tags] == [("cat", 1), ("dog", 4)]
    assert vocabulary.sensitive(0.95) == {"dog"}
    assert vocabulary.sensitive(0.99) == {"dog"}
    assert vocabulary.sensitive(0.995) == frozenset()


TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://example.org/> .
ex:dog a skos:Concept ; # a comment
    skos:prefLabel "개"@ko, "dog"@en ; skos:altLabel "k9", \"\"\"the "best" friend\"\"\"@en ;
    skos:note [ skos:prefLabel "not this" ] ; skos:related ex:cat .
ex:cat skos:prefLabel "cat" .
ex:kitty skos:prefLabel "kitty"@en ; <http://purl.org/dc/terms/isReplacedBy> ex:cat .
"""
RDF = """<?xml version="1.0" encoding="ISO-8859-1"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#"
 xmlns:dct="http://purl.org/dc/terms/">
<skos:Concept rdf:about="x#dog"><skos:prefLabel xml:lang="ko">개</skos:prefLabel><skos:prefLabel xml:lang="en">dog</skos:prefLabel>
 <skos:altLabel>k9</skos:altLabel><skos:altLabel>the "best" friend</skos:altLabel><skos:related rdf:resource="x#cat"/></skos:Concept>
<rdf:Description rdf:about="x#cat"><skos:prefLabel>cat</skos:prefLabel></rdf:Description>
<skos:Concept rdf:about="x#kitty"><skos:prefLabel>kitty</skos:prefLabel><dct:isReplacedBy rdf:resource="x#cat"/></skos:Concept>
</rdf:RDF>
"""
TRIPLES = """<x:dog> <http://www.w3.org/2004/02/skos/core#prefLabel> "dog"@en .
<x:dog> <http://www.w3.org/2004/02/skos/core#prefLabel> "\\uAC1C"@ko .
<x:dog> <http://www.w3.org/2004/02/skos/core#altLabel> "k9" .
<x:dog> <http://www.w3.org/2004/02/skos/core#altLabel> "the \\"best\\" friend" .
<x:dog> <http://www.w3.org/2004/02/skos/core#related> <x:cat> .
<x:cat> <http://www.w3.org/2004/02/skos/core#prefLabel> "cat" .
<x:kitty> <http://www.w3.org/2004/02/skos/core#prefLabel> "kitty" .
<x:kitty> <http://purl.org/dc/terms/isReplacedBy> <x:cat> .
"""


@pytest.mark.parametrize("text", [TURTLE, RDF, TRIPLES])
def test_skos_reads_the_same_from_every_syntax(tmp_path: Path, text: str) -> None:
    vocabulary, _ = load(tmp_path, text, "v.rdf")
    assert [t.tag for t in vocabulary.tags] == ["cat", "dog"]
    assert vocabulary.aliases == {"k9": ("dog",), "kitty": ("cat",), 'the_"best"_friend': ("dog",), "개": ("dog",)}
    assert vocabulary.items == (("dog", "cat"),)


def test_skos_without_rdflib_names_the_extra(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['rdflib'] = None\n"
        "from kb.cli.main import main\n"
        f"sys.argv = ['kb', '--home', {str(tmp_path)!r}, 'tags', 'import', {str(FIXTURES / 'observatory.ttl')!r}]\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"error: '{FIXTURES / 'observatory.ttl'}' is SKOS, and rdflib is not installed",
        "  fix: pip install 'kb-cited[skos]'",
    ]


def test_topics(tmp_path: Path) -> None:
    page = {
        "aliases": ["golang"],
        "display_name": "Go",
        "related": ["c", "unknown"],
        "short_description": "Not Java at all.",
    }
    vocabulary, notes = load(tmp_path, json.dumps({"go": page, "c": {}, "java": {"related": ["golang"]}}))
    assert vocabulary.items == (("go", "c", "java"), ("c",), ("java", "go"))
    assert vocabulary.aliases == {"golang": ("go",)}
    assert notes == []


@pytest.mark.parametrize("name", ["reading.json", "reading.csv", "observatory.ttl"])
def test_the_fixture_vocabularies_load(name: str) -> None:
    vocabulary, _, notes = load_vocabulary_file(FIXTURES / name, None)
    assert len(vocabulary.tags) >= 20
    assert vocabulary.aliases
    assert all("left out" not in note for note in notes)


def test_chains_are_followed_and_an_alias_may_have_several_tags(tmp_path: Path) -> None:
    rows = [{"tag": "c", "aliases": ["b", "c"]}, {"tag": "b", "aliases": ["a"]}, {"tag": "d", "aliases": ["b"]}]
    vocabulary, notes = load(tmp_path, tags(*rows))
    assert [t.tag for t in vocabulary.tags] == ["c", "d"]
    assert vocabulary.aliases == {"a": ("c", "d"), "b": ("c", "d")}
    assert "'b' (tags[1])" in notes[0]
    assert vocabulary.project("A") == ("c", "d")


def test_spellings_of_one_tag_are_merged_and_named(tmp_path: Path) -> None:
    vocabulary, notes = load(tmp_path, 'Big Shirt,0,5,"bs"\nbig_shirt,0,2,\n"BIG  shirt",1,,"x"\n', "v.csv")
    assert vocabulary.tags == (Tag("Big Shirt", "0", 7),)
    assert set(vocabulary.aliases) == {"bs", "x"}
    assert "'big_shirt' (line 2) and 'Big Shirt' (line 1)" in notes[0]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("v.csv", 'a,0,1,\nb,0,1,"x\nc,0,1,"y"\n', [r"v\.csv:2: a quote is broken"]),
        ("v.csv", 'a,0,1,"x"y\nb,0,many,\n', [r"v\.csv:1: a quote", r"v\.csv:2: the count 'many'"]),
        ("v.csv", "a,0,1,b,c,d\n", [r":1: 6 columns"]),
        ("v.csv", "a,0,1,,1.5\nb,0,1,,nan\n", [r":1: the rating '1\.5'", r":2: the rating 'nan'"]),
        ("v.csv", 'a,0,1,\n,0,1,"x,y"\n', [r":2: a tag without a name: its aliases x, y point nowhere"]),
        ("v.csv", "a,0,1,b\nb,0,1,c\nc,0,1,a\n", [r"aliases go in a circle: \w → \w → \w → \w$"]),
        ("v.json", '{"tags": [\n{"tag": }', [r"v\.json:2: not valid JSON"]),
        ("v.json", "[" * 100_000, [r":1: nested too deeply|:1: not valid"]),
        ("v.json", '{"tags": 3}', [r'no list under "tags"|not an object of topics']),
        (
            "v.json",
            tags({"tag": "a", "count": -1}, {"tag": 3}, {"tag": "b", "alias": []}),
            [r"tags\[0\].*-1", r"tags\[1\]", "'alias'"],
        ),
        ("v.json", tags({"tag": "a", "rating": 2}, {"tag": "b", "aliases": "x"}), ["rating 2", "not a list of texts"]),
        ("v.json", tags("a", items=[["a"], "b", [3]]), [r"items\[1\]", r"items\[2\]"]),
        (
            "v.json",
            tags("a", aliases={"x": "nope", "": "a"}),
            ["'x' points nowhere: there is no tag 'nope'", "without a name"],
        ),
        ("v.json", tags({"tag": "a", "aliases": ["b"]}, {"tag": "b", "aliases": ["a"]}), ["circle: b → a → b"]),
        ("v.ttl", '<x> <y> "z .\n', [r":1: not valid Turtle: newline found in string literal"]),
        ("v.ttl", "<x> a <y> .", [r"no skos:prefLabel"]),
        ("v.ttl", TURTLE.replace("ex:kitty skos:prefLabel", "ex:kitty skos:altLabel"), ["'kitty' points nowhere"]),
        ("v.ttl", TURTLE.replace("isReplacedBy> ex:cat", "isReplacedBy> ex:gone"), ["'kitty' points nowhere"]),
        ("v.rdf", RDF.replace("</rdf:RDF>", ""), [r":9: not valid RDF/XML"]),
        ("v.ttl", TURTLE + "<x> a", [r"not valid Turtle"]),
        ("v.ttl", "", ["no skos:prefLabel"]),
    ],
)
def test_faults_are_all_told_with_their_places(tmp_path: Path, name: str, text: str, says: list[str]) -> None:
    with pytest.raises(ParseFailed) as caught:
        load(tmp_path, text, name)
    for pattern in says:
        assert re.search(pattern, caught.value.problem, re.MULTILINE), caught.value.problem
    assert "nothing was imported" in caught.value.fix or name != "v.csv"


@pytest.mark.parametrize(
    ("name", "raw", "kind"),
    [
        ("v.csv", b"", InvalidInput),
        ("v.bin", b"dog", InvalidInput),
        ("v.csv", b"a\n\xff", ParseFailed),
        ("", b"", KbError),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, raw: bytes, kind: type[KbError]) -> None:
    if name:
        (tmp_path / name).write_bytes(raw)
    with pytest.raises(kind):
        load_vocabulary_file(tmp_path / name, None)
    with pytest.raises(NotFound):
        load_vocabulary_file(tmp_path / "none.csv", None)


def test_what_is_saved_is_what_is_read(tmp_path: Path) -> None:
    text = tags({"tag": "dog", "aliases": ["k9", "Old Friend"], "category": "pet"}, "cat", items=[["cat", "dog"]])
    vocabulary, notes = load(tmp_path, text)
    tags_door = Store(tmp_path / "home", write=True).corpus.tags
    assert current_vocabulary(tags_door).tags == ()
    report = import_vocabulary(tags_door, vocabulary, "v.json", "json", notes)
    assert (report.tags, report.aliases, report.items, report.changed) == (2, 2, 1, True)
    assert current_vocabulary(tags_door) == vocabulary
    assert not import_vocabulary(tags_door, vocabulary, "v.json", "json", notes).changed
    tags_door.forget_vocabulary()
    assert tags_door.imported_vocabulary() is None
    assert current_vocabulary(tags_door).tags == ()


def test_the_documents_own_tags_are_a_vocabulary() -> None:
    vocabulary = vocabulary_of_documents([["Python", "web"], ["python"], ["Python"], []])
    assert vocabulary.tags == (Tag("Python", count=3), Tag("web", count=1))
    assert vocabulary.items == (("Python", "web"), ("Python",), ("Python",))
    assert vocabulary.digest == vocabulary_of_documents([["Python", "web"], ["python"], ["Python"]]).digest
    assert vocabulary.digest != vocabulary_of_documents([["Python", "web"], ["Python"]]).digest


def test_lone_surrogates_do_not_reach_the_store(tmp_path: Path) -> None:
    text = '{"tags": [{"tag": "a\\ud800b", "category": "\\udc00", "aliases": ["x\\udfffy"]}], "items": [["a\\ud800b"]]}'
    vocabulary, notes = load(tmp_path, text)
    tags_door = Store(tmp_path / "home", write=True).corpus.tags
    import_vocabulary(tags_door, vocabulary, "v.json", "json", notes)
    assert [tag.tag for tag in current_vocabulary(tags_door).tags] == ["a?b"]
    assert vocabulary.items == (("a?b",),)
