"""A suite's file is checked as a whole: every fault at once, each with its line."""

from hashlib import sha256
from pathlib import Path

import pytest

from kb.errors import IoError, NotFound, SuiteInvalid
from kb.eval.records import Label, Wanted
from kb.eval.suite import MOST_FAULTS_SHOWN, load_suite, parse_suite

FIXTURE = Path(__file__).parents[2] / "fixtures" / "suites" / "corpus.yaml"

GOOD = """\
name: small
version: 1
queries:
  - id: one
    query: "What is it?"
    relevant:
      - {path: a.md, anchor: "It is this."}
      - path: b.md
        heading: It
        grade: 2
    must_contain: ["this"]
    must_not_contain: [that, those]
    tags: [x, y]
    mode: lexical
    lang: en
    group: g
    difficulty: hard
  - id: two
    query: 뭐?
    answerable: false
    must_contain: {any: [a, b], all: [c]}
    must_not_contain: {all: [d]}
"""


def faults_of(text: str | bytes) -> list[str]:
    """The faults of a suite's text, as `line: what`."""
    with pytest.raises(SuiteInvalid) as caught:
        parse_suite(text if isinstance(text, bytes) else text.encode(), "s.yaml")
    head, *lines = caught.value.problem.split("\n")
    assert head == f"s.yaml has {len(lines)} fault{'' if len(lines) == 1 else 's'}:"
    assert all(line.startswith("s.yaml:") for line in lines)
    assert caught.value.details["faults"] == len(lines)
    return [line.removeprefix("s.yaml:") for line in lines]


def test_reads_everything() -> None:
    suite = parse_suite(GOOD.encode(), "folder/s.yaml")
    one, two = suite.queries
    assert (suite.name, suite.text, suite.sha256) == ("small", GOOD, sha256(GOOD.encode()).hexdigest())
    assert (one.id, one.text, one.answerable, one.mode, one.group, one.line) == (
        "one", "What is it?", True, "lexical", "g", 4,
    )  # fmt: skip
    assert one.labels == (
        Label("a.md", anchor="It is this.", grade=1, line=7),
        Label("b.md", heading="It", grade=2, line=8),
    )
    assert one.slices == {"lang": "en", "difficulty": "hard"}
    assert one.tags == ("x", "y")
    assert (one.must_contain, one.must_not_contain) == (Wanted(all=("this",)), Wanted(any=("that", "those")))
    assert not two.answerable
    assert (two.must_contain, two.must_not_contain) == (Wanted(all=("c",), any=("a", "b")), Wanted(all=("d",)))


def test_the_name_falls_back_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbfqueries: [{id: a, query: b, answerable: yes}]")
    assert load_suite(path).name == "mine"


def test_the_fixture_suite_is_as_large_as_it_should_be() -> None:
    suite = load_suite(FIXTURE)
    unanswerable = [query for query in suite.queries if not query.answerable]
    groups = [query.group for query in suite.queries if query.group]
    assert len(suite.queries) >= 60
    assert len(unanswerable) >= 20
    assert {query.slices["lang"] for query in suite.queries} == {"en", "ko"}
    assert len(groups) > len(set(groups))


QUERY = "queries:\n  - id: a\n    query: b\n"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", ["1: the suite has no queries"]),
        ("name: x\n", ["1: the suite has no queries"]),
        ("name: x\nqueries:\n", ["2: the suite has no queries"]),
        ("name: x\nqueries: []\n", ["2: the suite has no queries"]),
        ("- a\n", ["1: the suite must be a mapping, not a list"]),
        ("queries:\n  a: b\n", ["2: 'queries' must be a list, not a mapping"]),
        ("queries:\n  - 3\n", ["2: a query must be a mapping, not a whole number (3)"]),
        ("queries:\n- {}\n", ["2: a query has no 'id'", "2: a query has no 'query'"]),
        (QUERY, ["2: say 'answerable: true' or 'answerable: false': a query without relevant labels needs it"]),
        (QUERY + "    answerable: maybe\n", ["4: 'answerable' must be true or false, not text (maybe)"]),
        (
            QUERY + "    answerable: false\n    relevant: [{path: p, anchor: q}]\n",
            ["4: 'answerable: false' with relevant labels: one of them is wrong"],
        ),
        (QUERY + "    answerable: true\n    langg: en\n", ["5: unknown key 'langg' in a query, did you mean 'lang'?"]),
        (QUERY + "    answerable: true\n    lang: no\n", ["5: 'lang' must be text, not true or false (no): put it in quotes"]),
        (QUERY + "    answerable: true\n    group:\n", ["5: 'group' must be text, not empty"]),
        (QUERY + "    answerable: true\n    mode: fuzzy\n", ["5: mode must be one of lexical, vector, hybrid, not 'fuzzy'"]),
        (QUERY + "    answerable: true\n    tags: x\n", ["5: 'tags' must be a list, not text (x)"]),
        (QUERY + "    answerable: true\n    tags: [x, '']\n", ["5: 'tags' is empty"]),
        (QUERY + "    answerable: true\n    id: c\n", ["5: the key 'id' appears twice in a query"]),
        (QUERY + "    answerable: true\n    must_contain: x\n", ["5: must_contain must be a mapping, not text (x)"]),
        (
            QUERY + "    answerable: true\n    must_contain: {none: [x]}\n",
            ["5: unknown key 'none' in must_contain, known are: all, any"],
        ),
        (QUERY + "    relevant: [{path: p}]\n", ["4: a label has exactly one of 'anchor' and 'heading'"]),
        (QUERY + "    relevant: [{path: p, anchor: q, heading: r}]\n", ["4: a label has exactly one of 'anchor' and 'heading'"]),
        (QUERY + "    relevant: [{anchor: q}]\n", ["4: a label has no 'path'"]),
        (
            QUERY + "    relevant:\n      - {path: p, anchor: q, grade: 0}\n      - {path: p, anchor: q, grade: 1.5}\n",
            [
                "5: grade must be 1 or more, not 0: what is not relevant has no label",
                "6: 'grade' must be a whole number, not a number (1.5)",
            ],
        ),
        (QUERY + "    relevant: [{path: p, anchor: q, grade: 0x1}]\n", ["4: 'grade' must be a decimal whole number, not 0x1"]),
        ("version: 2\n" + QUERY + "    answerable: true\n", ["1: version 2 is not known: this kb reads version 1"]),
        (QUERY + "    answerable: true\n  - id: a\n    query: c\n    answerable: true\n", ["5: the id 'a' is taken: line 2 has it"]),
        (QUERY + "    answerable: !!python/name:os.system\n", ["4: 'answerable' must be true or false, not !os.system"]),
        (QUERY + "    ? [x]\n    : y\n    answerable: true\n", ["4: unknown key '…' in a query, known are: "]),
    ],
)  # fmt: skip
def test_names_every_fault_with_its_line(text: str, faults: list[str]) -> None:
    found = faults_of(text)
    assert len(found) == len(faults)
    for line, expected in zip(found, faults, strict=True):
        assert line.startswith(expected)


def test_all_faults_come_at_once_in_line_order() -> None:
    broken = GOOD.replace("grade: 2", "grade: many").replace("mode: lexical", "mode: 3").replace("id: two", "id: one")
    assert [fault.split(":")[0] for fault in faults_of(broken)] == ["10", "14", "18"]


def test_a_thousand_faults_are_not_all_shown() -> None:
    with pytest.raises(SuiteInvalid) as caught:
        parse_suite(b"queries:\n" + b"- 3\n" * 1000, "s.yaml")
    lines = caught.value.problem.split("\n")
    assert len(lines) == MOST_FAULTS_SHOWN + 2
    assert lines[-1] == f"… and {1000 - MOST_FAULTS_SHOWN} more"


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"queries:\n  - [1, 2\n", "3: not valid YAML, column 1: "),
        (b"a: b: c\n", "1: not valid YAML, column 5: "),
        (b"a: 1\n\tb: 2\n", "2: not valid YAML, column 1: "),
        (b"--- a\n--- b\n", "2: not valid YAML, column 1: "),
        (b"a: *nobody\n", "1: not valid YAML, column 4: "),
        (b"a: 1\nb: \x00\n", "2: not valid YAML: the character U+0000 is not allowed"),
        ("queries:\n - café".encode("latin-1"), "2: not UTF-8: byte 0xe9 at offset 15"),
        ("queries: []".encode("utf-16"), "1: not UTF-8: byte 0xff at offset 0"),
        (b"[" * 200_000, "1: nested more than 50 levels deep"),
        (b"a: &x [*x]\nqueries: *x\n", "1: a query must be a mapping, not a list"),
    ],
)
def test_what_is_no_yaml_names_the_place(raw: bytes, fault: str) -> None:
    assert faults_of(raw)[0].startswith(fault)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no suite"):
        load_suite(tmp_path / "none.yaml")
    with pytest.raises(IoError):
        load_suite(tmp_path)


DRAFTED = """\
name: mine
queries:
  - {id: one, query: "What?", answerable: false, draft: true}
  - {id: two, query: "Why?", answerable: false}
"""


def test_drafts_are_left_out_unless_they_are_asked_for() -> None:
    suite = parse_suite(DRAFTED.encode(), "s.yaml")
    assert ([query.id for query in suite.queries], suite.drafts, suite.name) == (["two"], 1, "mine")
    tried = parse_suite(DRAFTED.encode(), "s.yaml", with_drafts=True)
    assert ([query.id for query in tried.queries], tried.drafts, tried.name) == (["one", "two"], 0, "mine with 1 draft")
    with pytest.raises(SuiteInvalid) as caught:
        parse_suite(DRAFTED.replace("two, ", "two, draft: true, ").encode(), "s.yaml")
    assert (caught.value.problem, "--drafts" in caught.value.fix) == (
        "s.yaml measures nothing yet: all its 2 queries are drafts",
        True,
    )
