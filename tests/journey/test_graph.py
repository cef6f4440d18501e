"""kb graph on real files: what is found, and that it follows edits, moves and deletions whatever the order."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from kb.config import Config
from kb.context.traverse import traverse
from kb.graph.adjacent import adjacent_terms
from kb.graph.records import Slice
from kb.graph.slices import is_admissible
from kb.runtime import open_runtime
from tests.journey.conftest import ROOT, Call
from tests.schemas import check_wire

NOTES = ROOT / "fixtures" / "graph"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A copy of the fixture notes that a test may change."""
    return Path(shutil.copytree(NOTES, tmp_path / "graph"))


@pytest.fixture
def home(kb: Call, notes: Path, tmp_path: Path) -> Path:
    """A home that holds them."""
    assert kb("ingest", notes, home=tmp_path / "home").code == 0
    return tmp_path / "home"


def texts(home: Path, query: str, project: str | None = None, max_paths: int = 40) -> list[str]:
    return [path.text for path in slice_of(home, query, project, max_paths).paths]


def slice_of(home: Path, query: str, project: str | None = None, max_paths: int = 40) -> Slice:
    with open_runtime(home, Config()) as opened:
        found = traverse(opened, query, project, max_paths)
    assert is_admissible(found)
    return found


def rows_of(home: Path) -> list[tuple[object, ...]]:
    """The whole graph, with documents by path: what must not depend on how it came to be."""
    with open_runtime(home, Config()) as opened:
        names = opened.store._connection.execute(
            "SELECT path, key, kind, weight, place, form, label, line, g.position FROM graph_names g JOIN documents USING (doc_id)"
        ).fetchall()
        edges = opened.store._connection.execute(
            "SELECT path, place, subject_kind, subject_key, predicate, object_kind, object_key, object_sure, line"
            " FROM graph_edges JOIN documents USING (doc_id)"
        ).fetchall()
    return sorted([*names, *edges], key=repr)


def test_a_query_names_things_and_gets_their_paths(home: Path) -> None:
    found = texts(home, "What does lampd need?")
    joined = "\n".join(found)
    assert "lampd depends on tided" in joined
    assert "lampd depends on mastd" in joined
    assert "tided extends basetide (notes/tided.md:8)" in joined
    assert "lampd conflicts with oldlampd (lampd.md:14)" in joined
    assert "paneld" not in "\n".join(t for t in found if "depends on" in t)
    assert "depends on radiod" not in joined


def test_korean_queries_and_sentences(home: Path) -> None:
    assert any(
        "마리골드 depends on 튤립 (ko/lampd-안내.md:11)" in t for t in texts(home, "마리골드는 무엇이 필요한가?")
    )
    assert any("lampd depends on tided" in t for t in texts(home, "램프 데몬은 무엇에 의존하나?"))
    assert any("lampd depends on tided" in t for t in texts(home, "lampd에서 왜 멈추나"))


def test_a_bare_word_counts_only_while_the_corpus_knows_it(kb: Call, home: Path, notes: Path) -> None:
    (notes / "ko" / "튤립.md").unlink()
    kb("ingest", notes, home=home)
    assert not any("depends on 튤립" in t for t in texts(home, "마리골드"))


def test_projects(home: Path) -> None:
    found = texts(home, "x", project="skerry")
    assert {t.split(" is part")[0] for t in found if "is part of the project Skerry" in t} >= {
        "lampd",
        "tided",
        "mastd",
    }
    assert texts(home, "x", project="nothing") == []


def test_a_link_is_resolved_when_its_target_arrives(kb: Call, home: Path, notes: Path) -> None:
    assert any("tided links to notes/later.md" in t for t in texts(home, "tided"))
    (notes / "notes" / "later.md").write_text("# The later page\n\nText.\n")
    kb("ingest", notes, home=home)
    assert any("tided links to The later page" in t for t in texts(home, "tided"))
    assert any("tided links to The later page" in t for t in texts(home, "the later page"))


def test_edges_follow_edits_moves_and_deletions(kb: Call, home: Path, notes: Path) -> None:
    tided = notes / "notes" / "tided.md"
    tided.write_text(tided.read_text().replace("`tided` extends `basetide`", "`tided` extends `newtide`"))
    kb("ingest", notes, home=home)
    assert any("tided extends newtide" in t for t in texts(home, "tided"))
    assert not any("basetide" in t for t in texts(home, "tided"))
    assert texts(home, "basetide") == []
    (notes / "moved").mkdir()
    tided.rename(notes / "moved" / "tided.md")
    kb("ingest", notes, home=home)
    assert any("(moved/tided.md:8)" in t for t in texts(home, "newtide"))
    assert not any("notes/tided.md:" in t for t in texts(home, "tided"))
    (notes / "moved" / "tided.md").unlink()
    kb("ingest", notes, home=home)
    assert texts(home, "newtide") == []
    assert any("lampd depends on tided" in t for t in texts(home, "tided")), "others still say it"
    assert kb("rm", "--source", "graph", home=home).code == 0
    with open_runtime(home, Config()) as opened:
        assert opened.store._connection.execute("SELECT count(*) FROM graph_names").fetchone() == (0,)
        assert opened.store._connection.execute("SELECT count(*) FROM graph_edges").fetchone() == (0,)


def test_the_order_of_ingest_leaves_no_trace(kb: Call, home: Path, notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    hidden = tmp_path / "hidden"
    shutil.move(notes, hidden)
    for path in sorted((p for p in hidden.rglob("*.md")), reverse=True):
        target = notes / path.relative_to(hidden)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        assert kb("ingest", notes, home=other).code == 0
    assert rows_of(other) == rows_of(home)
    for query in ("lampd", "tided mastd", "마리골드", "Tomasz Wierzba dome_guard"):
        assert texts(other, query) == texts(home, query)


def test_the_token_holds_for_one_corpus(kb: Call, home: Path, notes: Path) -> None:
    before = slice_of(home, "lampd")
    assert slice_of(home, "lampd") == before
    (notes / "unrelated.md").write_text("# Nothing\n\nNothing at all.\n")
    kb("ingest", notes, home=home)
    after = slice_of(home, "lampd")
    assert after.paths == before.paths
    assert after.admissibility_token != before.admissibility_token
    assert not is_admissible(dataclasses.replace(before, admissibility_token=after.admissibility_token))


def test_adjacent_terms_come_from_relations_first(home: Path) -> None:
    terms = adjacent_terms(slice_of(home, "lampd"))
    assert {"tided", "mastd", "oldlampd"} <= {t.text for t in terms[:8]}
    assert "lampd" not in {t.text for t in terms}


def test_a_home_without_rows_has_an_empty_slice(kb: Call, home: Path) -> None:
    with open_runtime(home, Config(), write=True) as opened:
        opened.store._connection.execute("DELETE FROM graph_names")
        opened.store._connection.execute("DELETE FROM graph_edges")
    found = slice_of(home, "lampd")
    assert (found.paths, found.entities) == ((), ())


def test_documents_of_an_older_kb_get_their_rows_without_a_vector_being_made(kb: Call, home: Path, notes: Path) -> None:
    wanted = rows_of(home)
    with open_runtime(home, Config(), write=True) as opened:
        opened.store._connection.execute("DELETE FROM graph_names")
        opened.store._connection.execute("DELETE FROM graph_edges")
        opened.store._connection.execute("UPDATE documents SET signature = 'older'")
    report = kb("ingest", notes, "--json", home=home).json()
    assert report["vectors_written"] == 0
    assert rows_of(home) == wanted
    assert kb("ingest", notes, "--json", home=home).json()["corpus_revision"] == report["corpus_revision"]


def test_the_command(kb: Call, home: Path) -> None:
    done = kb("graph", "lampd", "--max-paths", "3", home=home)
    assert done.code == 0
    assert len(done.out.splitlines()) == 3
    assert "from: lampd (document)" in done.err
    found = kb("graph", "lampd", "--json", home=home)
    check_wire(found.json(), "graph.v1")
    assert found.json()["admissibility_token"].startswith("kbslice1:")
    status = kb("status", "--json", home=home).json()
    assert status["graph"]["edges"]["depends_on"] >= 4


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["graph", "zorvelquistish"], 1, "nothing found"),
        (["graph", ""], 2, "no query given"),
        (["graph", "lampd", "--max-paths", "0"], 2, "not between 1 and 200"),
        (["graph", "lampd", "--project", "nope"], 0, "no document belongs to a project 'nope'"),
        (["graph", "x" * 100_000], 1, "nothing found"),
        (["graph", "lampd " * 20_000], 0, "from: lampd"),
        (["graph", "\x1b[31m %_[]'\";--"], 1, "nothing found"),
    ],
)
def test_what_it_says(kb: Call, home: Path, arguments: list[str], code: int, said: str) -> None:
    done = kb(*arguments, home=home)
    assert (done.code, said in done.err) == (code, True), done.err
    assert "\x1b" not in done.out + done.err


def test_quiet_prints_paths_alone(kb: Call, home: Path) -> None:
    done = kb("graph", "lampd", "--quiet", home=home)
    assert done.err == ""
    assert done.out


def test_a_token_can_be_verified(kb: Call, home: Path, notes: Path) -> None:
    token = kb("graph", "lampd", "--json", home=home).json()["admissibility_token"]
    assert kb("context", "lampd", "--json", home=home).json()["admissibility_token"] == token
    holds = kb("graph", "lampd", "--verify", token, home=home)
    assert (holds.code, holds.out.startswith("the token holds: ")) == (0, True)
    found = kb("graph", "lampd", "--verify", token, "--json", home=home).json()
    check_wire(found, "token_check.v1")
    assert found["is_admissible"]
    for words in (["tided"], ["lampd", "--project", "skerry"], ["lampd", "--max-paths", "1"]):
        other = kb("graph", *words, "--verify", token, home=home)
        assert (other.code, other.out) == (1, "the token does not hold\n")
    (notes / "unrelated.md").write_text("# Nothing\n\nNothing at all.\n")
    kb("ingest", notes, home=home)
    changed = kb("graph", "lampd", "--verify", token, "--json", home=home)
    assert (changed.code, changed.json()["is_admissible"]) == (1, False)


def test_what_is_no_token_is_refused(kb: Call, home: Path) -> None:
    refused = kb("graph", "lampd", "--verify", "kbslice1:short", home=home)
    assert refused.code == 2
    assert "is no admissibility token" in refused.err
