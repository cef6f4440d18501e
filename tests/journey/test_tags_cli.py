"""kb tags: from a file or the documents' own tags to suggestions, applied tags and their filters, as a user calls it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import made_once
from tests.journey.conftest import ROOT, Call, call_aside
from tests.schemas import check_wire

TAGS = ROOT / "fixtures" / "tags"
READING = TAGS / "reading.json"
OBSERVATORY = TAGS / "observatory.ttl"


def checked(found: Any, schema: str) -> Any:
    check_wire(found, schema)
    assert found["schema_version"] == schema
    return found


@pytest.fixture(scope="module")
def reading_master(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Path:
    """A home with nothing but the reading room's vocabulary, trained; never written to."""

    def make(home: Path) -> None:
        for words in (["import", READING], ["train"]):
            call_aside(["tags", *words, "--home", home], home.with_suffix(f".cache-{words[0]}"), encoder_cache)

    return made_once(tmp_path_factory, "reading_master", make)


@pytest.fixture
def reading_home(reading_master: Path, tmp_path: Path) -> Path:
    """A copy of it, for a test to do with as it likes."""
    return Path(shutil.copytree(reading_master, tmp_path / "reading"))


def test_from_a_file_to_suggestions(kb: Call, tmp_path: Path) -> None:
    home = tmp_path / "home"
    found = kb("tags", "import", READING, home=home)
    assert (found.code, found.out) == (0, "imported reading.json (json): 39 tags, 117 aliases, 70 items, 5 rated\n")
    assert found.err == "train on it with: kb tags train\n"
    before = kb("tags", "suggest", "sci-fi", "haunted lighthouse", home=home)
    assert before.code == 0
    assert {line.split("  ")[0] for line in before.out.splitlines()[:2]} == {"science fiction", "lighthouse"}
    assert before.err.startswith("note: not trained yet: letters alone find neighbours")

    trained = checked(kb("tags", "train", "--json", home=home).json(), "tag_training.v1")
    assert (trained["tags"], trained["items"], trained["notes"]) == (39, 70, [])
    assert trained["random_cosine"] < 0.6
    after = kb("tags", "suggest", "sci-fi", "haunted lighthouse", home=home)
    assert (after.code, after.err) == (0, "")
    listed = [line.split("  ")[0] for line in after.out.splitlines()]
    assert listed[0] == "lighthouse"
    assert "science fiction" in listed[:4]
    checked(kb("tags", "suggest", "sci-fi", "--json", home=home).json(), "tags.v1")
    loud = checked(kb("tags", "suggest", "sea story", "--json", "--verbose", home=home).json(), "tags.v1")
    assert [report["normalized"] for report in loud["phrases"]] == ["sea story", "story"]
    assert loud["query_has_context"]
    assert loud["candidates"][0]["score_fasttext"] == 1.0
    shown = kb("tags", "suggest", "whodunits", "--verbose", home=home)
    assert "through whodunit" in shown.out
    assert "no context of its own" in shown.out


def test_options_of_a_suggestion(kb: Call, reading_home: Path) -> None:
    def ask(*words: str) -> list[Any]:
        return kb("tags", "suggest", *words, "--json", home=reading_home).json()["candidates"]

    assert len(ask("story", "--global-k", "3")) == 3
    assert len(ask("story", "--per-phrase-final-k", "2")) == 2
    assert all(row["count"] >= 12 for row in ask("story", "--min-count", "12"))
    assert all(row["score_combined"] == row["score_fasttext"] for row in ask("chess", "--context-weight", "0"))
    assert "explicit scenes" not in [row["tag"] for row in ask("explicit scenes")]
    assert ask("explicit scenes", "--allow-sensitive")[0]["tag"] == "explicit scenes"
    assert ask("k", "--context-tag", "poems")[0]["score_context"] is not None
    quiet = kb("tags", "suggest", "qqqqqq", "--min-count", "999", home=reading_home)
    assert (quiet.code, quiet.out) == (1, "")
    assert "no tag is like any of these" in quiet.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "no phrase given"),
        ([""], "'' has no letter and no digit"),
        (["!?", "…"], "'!?' has no letter and no digit"),
        (["sea", "--context-tag", "lighthuose"], "no tag 'lighthuose'"),
        (["sea", "--context-weight", "2"], "context-weight"),
        (["--text", "no-such-file"], "no file 'no-such-file'"),
        (["--doc", "x.md"], "no document 'x.md'"),
    ],
)
def test_suggestions_that_cannot_be_made(kb: Call, reading_home: Path, words: list[str], says: str) -> None:
    found = kb("tags", "suggest", *words, home=reading_home)
    assert (found.code, found.out) == (2, "")
    assert says in found.err
    assert "\n  fix: " in found.err


def test_a_text_is_read_from_a_file_or_a_pipe(kb: Call, reading_home: Path, tmp_path: Path) -> None:
    text = "The keeper of the lighthouse wrote poems. 등대는 바다를 본다."
    (tmp_path / "text.txt").write_text(text)
    by_file = kb("tags", "suggest", "--text", tmp_path / "text.txt", "--json", home=reading_home)
    by_pipe = kb("tags", "suggest", "--text", "-", "--json", home=reading_home, stdin=text)
    assert by_file.out == by_pipe.out
    assert {row["tag"] for row in by_file.json()["candidates"][:2]} == {"lighthouse", "poetry"}
    empty = kb("tags", "suggest", "--text", "-", home=reading_home, stdin=" \n")
    assert (empty.code, empty.err.splitlines()[0]) == (2, "error: '-' holds no text")
    marks = kb("tags", "suggest", "--text", "-", home=reading_home, stdin=b"\xff\xfe ---")
    assert marks.code == 2


def test_a_model_of_another_vocabulary_is_named_and_not_used(kb: Call, reading_home: Path) -> None:
    kb("tags", "import", OBSERVATORY, home=reading_home)
    found = kb("tags", "suggest", "poems", "telescopes", "--json", home=reading_home).json()
    assert found["candidates"][0]["tag"] == "telescope"
    assert "poetry" not in [row["tag"] for row in found["candidates"]]
    (note,) = found["notes"]
    assert "trained on reading.json" in note
    assert "the vocabulary is observatory.ttl now: it is not used" in note
    assert not found["query_has_context"]
    listed = kb("tags", "list", "--json", home=reading_home).json()
    assert (checked(listed, "tag_list.v1")["model"], listed["origin"]) == ("stale", "observatory.ttl")
    again = kb("tags", "import", READING, home=reading_home)
    assert again.code == 0
    assert kb("tags", "suggest", "poems", "--json", home=reading_home).json()["notes"] == []


@pytest.mark.parametrize("damage", ["cut", "gone", "text"])
def test_a_damaged_model_is_named_and_not_used(kb: Call, reading_home: Path, damage: str) -> None:
    (file,) = reading_home.glob("index/tags-*/arrays.safetensors")
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:1000] if damage == "cut" else b"no model at all")
    found = kb("tags", "suggest", "poems", home=reading_home)
    assert found.code == 0
    assert found.out.startswith("poetry")
    assert "cannot be read" in found.err


def test_a_file_with_faults_changes_nothing(kb: Call, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text('dog,0,1,"k9"\ncat,0,1,"kitty\nbird,0,x,\n')
    home = tmp_path / "home"
    found = kb("tags", "import", tmp_path / "v.csv", home=home)
    assert (found.code, found.out) == (2, "")
    assert "v.csv:2: a quote is broken" in found.err
    assert "v.csv:3: the count 'x' is not a whole number" in found.err
    assert not home.exists()
    kb("tags", "import", READING, home=home)
    kb("tags", "import", tmp_path / "v.csv", home=home)
    assert kb("tags", "list", "-n", "1", "--json", home=home).json()["origin"] == "reading.json"


@pytest.mark.parametrize("words", [[], ["--clear", "x.csv"], ["none.csv"], ["x.csv", "--format", "xml"]])
def test_imports_that_cannot_be_made(kb: Call, tmp_path: Path, words: list[str]) -> None:
    found = kb("tags", "import", *words, home=tmp_path / "home")
    assert (found.code, found.out, len(found.err.splitlines())) == (2, "", 2)


def test_without_tags_there_is_nothing_to_train(kb: Call, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nNo tags here.\n")
    home = tmp_path / "home"
    kb("ingest", tmp_path / "docs", home=home)
    for command in (["train"], ["suggest", "x"], ["apply", "--all"]):
        found = kb("tags", *command, home=home)
        assert found.code == 2
        assert "there are no tags" in found.err
        assert "fix: import one: kb tags import FILE" in found.err
    assert kb("tags", "list", home=home).code == 1


def test_the_documents_own_tags_are_the_vocabulary_until_one_is_imported(kb: Call, corpus_home: Path) -> None:
    listed = checked(kb("tags", "list", "--json", home=corpus_home).json(), "tag_list.v1")
    assert (listed["origin"], listed["model"]) == ("documents", "none")
    assert {row["tag"] for row in listed["tags"]} >= {"telescope", "optics"}
    kb("tags", "train", home=corpus_home)
    assert kb("tags", "suggest", "telescopes", "--json", home=corpus_home).json()["notes"] == []
    (corpus_home.parent / "more").mkdir()
    (corpus_home.parent / "more" / "a.md").write_text("---\ntags: [seaweed]\n---\n# Seaweed\n\nIt grows.\n")
    kb("ingest", corpus_home.parent / "more", home=corpus_home)
    found = kb("tags", "suggest", "seaweeds", "--json", home=corpus_home).json()
    assert found["candidates"][0]["tag"] == "seaweed"
    assert "have changed since" in found["notes"][0]
    kb("tags", "import", OBSERVATORY, home=corpus_home)
    assert kb("tags", "list", "seaweed", home=corpus_home).code == 1
    cleared = kb("tags", "import", "--clear", home=corpus_home)
    assert (cleared.code, cleared.err) == (0, "the documents' own tags are the vocabulary now\n")
    assert kb("tags", "list", "seaweed", home=corpus_home).code == 0


def test_applied_tags_are_found_by_filters_kept_apart_and_taken_back(kb: Call, corpus_home: Path) -> None:
    kb("tags", "import", OBSERVATORY, home=corpus_home)
    kb("tags", "train", home=corpus_home)
    own = {d["path"]: d["tags"] for d in kb("list", "--json", home=corpus_home).json()["documents"]}
    planned = checked(
        kb("tags", "apply", "--all", "--dry-run", "--json", home=corpus_home).json(), "tag_application.v1"
    )
    assert planned["action"] == "planned"
    assert planned["calibrated_on"] > 10
    assert kb("list", "--tag", "generator", "--path", "**/incident-34*", home=corpus_home).code == 1

    done = kb("tags", "apply", "--all", "--json", home=corpus_home).json()
    assert done["documents"] == planned["documents"]
    by_path = {d["path"]: [t["tag"] for t in d["applied"]] for d in done["documents"]}
    assert "generator" in by_path["ops/incident-34-cable.html"]
    filtered = kb("search", "cable", "--mode", "lexical", "--tag", "generator", "--json", home=corpus_home).json()
    assert "ops/incident-34-cable.html" in {hit["path"] for hit in filtered["hits"]}
    documents = kb("list", "--json", home=corpus_home).json()["documents"]
    assert {d["path"]: d["tags"] for d in documents} == own
    assert all(set(d["tags"]).isdisjoint(d["applied_tags"]) for d in documents)
    assert {d["path"]: sorted(d["applied_tags"]) for d in documents} == {p: sorted(t) for p, t in by_path.items()}

    kb("tags", "apply", "--doc", "ops/incident-34-cable.html", "--threshold", "2", home=corpus_home)
    assert kb("list", "--tag", "generator", "--path", "**/incident-34*", home=corpus_home).code == 1
    taken = kb("tags", "apply", "--all", "--remove", "--json", home=corpus_home).json()
    assert checked(taken, "tag_application.v1")["action"] == "removed"
    documents = kb("list", "--json", home=corpus_home).json()["documents"]
    assert all(d["applied_tags"] == [] for d in documents)
    assert {d["path"]: d["tags"] for d in documents} == own


@pytest.mark.parametrize("words", [[], ["--all", "--doc", "x"], ["--doc", "no-such-document"]])
def test_documents_that_cannot_be_tagged(kb: Call, corpus_home: Path, words: list[str]) -> None:
    found = kb("tags", "apply", *words, home=corpus_home)
    assert (found.code, found.out) == (2, "")


def test_what_is_removed_takes_its_applied_tags_along(kb: Call, corpus_home: Path) -> None:
    kb("tags", "apply", "--all", "--threshold", "0.1", home=corpus_home)
    kb("rm", "ops/generator.md", home=corpus_home)
    store = sqlite3.connect(corpus_home / "kb.sqlite")
    rows = store.execute("SELECT count(*) FROM applied_tags WHERE doc_id NOT IN (SELECT doc_id FROM documents)")
    assert rows.fetchone() == (0,)


def test_eval_shows_both_tables(kb: Call, reading_home: Path, corpus_home: Path) -> None:
    found = kb("tags", "eval", "--seeds", "1", home=reading_home)
    assert found.code == 0
    assert "23 aliases held out, 1 seeds" in found.out
    assert [line.split()[0] for line in found.out.splitlines()[2:9]] == [
        *("suggest", "both", "ngrams", "fasttext", "char_wb", "popularity", "random")
    ]
    assert "0 documents have tags of this vocabulary" in found.err
    measured = checked(kb("tags", "eval", "--json", home=corpus_home).json(), "tag_eval.v1")
    ours, popularity, chance = measured["tagging"]
    assert ours["micro_f1"] > max(popularity["micro_f1"], chance["micro_f1"])
    assert measured["aliases"] == []


def test_a_search_may_be_expanded_by_tags(kb: Call, corpus_home: Path) -> None:
    plain = kb("search", "telescope", "--explain", "--json", home=corpus_home).json()
    assert plain["trace"]["expanded_tags"] == []
    found = kb("search", "telescope", "--expand-tags", "--explain", "--json", home=corpus_home).json()
    checked(found, "search_response.v1")
    assert "telescope" in found["trace"]["expanded_tags"]
    assert found["trace"]["tags"]
    inside = kb("search", "telescope", "--expand-tags", "--path", "ops/**", "--json", home=corpus_home).json()
    assert all(hit["path"].startswith("ops/") for hit in inside["hits"])
    assert (
        "expanded by tags: telescope" in kb("search", "telescope", "--expand-tags", "--explain", home=corpus_home).out
    )
    wrong = kb("search", "telescope", "--expand-tags", "--mode", "lexical", home=corpus_home)
    assert (wrong.code, wrong.out) == (2, "")


def test_a_suggestion_loads_neither_gensim_nor_scikit_learn(reading_home: Path) -> None:
    code = (
        "import sys, runpy\n"
        f"sys.argv = ['kb', 'tags', 'suggest', 'sci-fi', '--json', '--home', {str(reading_home)!r}]\n"
        "try:\n    runpy.run_module('kb', run_name='__main__')\nexcept SystemExit:\n    pass\n"
        "print(' '.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["candidates"][0]["tag"] == "science fiction"
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert not loaded & {"gensim", "sklearn", "scipy", "torch", "safetensors", "tantivy", "faiss"}


def test_a_slim_installation_suggests_and_names_the_extra_for_the_rest(reading_home: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        code = (
            "import sys; sys.modules.update(dict.fromkeys(('gensim', 'sklearn', 'scipy')))\n"
            f"sys.argv = {['kb', 'tags', *words, '--home', str(reading_home), '--quiet']!r}\n"
            "from kb.cli.main import main; main()"
        )
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert run("suggest", "sci-fi").stdout.startswith("science fiction")
    for words in (["train"], ["eval", "--seeds", "1"]):
        done = run(*words)
        problem, fix = done.stderr.splitlines()
        assert (done.returncode, done.stdout) == (2, "")
        assert problem == "error: training tags needs gensim, which is not installed"
        assert "[full]" in fix


def test_arguments_that_are_no_text_crash_nothing(kb: Call, reading_home: Path) -> None:
    found = kb("tags", "suggest", "poems \udcff\x1b[31m", "\udcfe", "--verbose", home=reading_home)
    assert found.code == 0
    assert "\x1b" not in found.out + found.err
    assert kb("tags", "suggest", "poems \udcff", "--json", "--verbose", home=reading_home).code == 0
    assert kb("tags", "list", "\udcff", home=reading_home).code == 1
    assert kb("tags", "suggest", "sea", "--context-tag", "\udcff", home=reading_home).code == 2
