"""`kb eval beir` and `kb eval spans`: public layouts in throw-away homes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.journey.conftest import Call
from tests.journey.measured import BEIR_DOCUMENTS, write_beir, write_json_lines, write_spans
from tests.journey.test_eval_run import MODES, kept_runs, measured, result_rows


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    return write_beir(tmp_path / "little")


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    return write_spans(tmp_path / "pier")


def test_beir_runs_all_modes_side_by_side(kb: Call, home: Path, beir: Path) -> None:
    found = kb("eval", "beir", beir, "--json", home=home)
    assert found.code == 0, found.err
    runs = measured(found)["runs"]
    assert [(run["mode"], run["suite"], run["queries"]) for run in runs] == [(m, "little", 3) for m in MODES]
    # Every query names its document by words that no other has; a judged document that is not in the corpus counts as
    # not found: one query of three has half of its recall.
    for run in runs:
        assert run["metrics"]["mrr"]["mean"] == pytest.approx(1)
        assert run["metrics"]["recall@10"]["mean"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert len(kept_runs(home)) == 3
    assert not (home / "kb.sqlite").exists()
    (flutter, *_) = result_rows(kept_runs(home)[0])
    assert (flutter["ranking"][0]["id"], flutter["judged"]) == ("d1", {"d1": 1})


def test_the_table_has_a_column_a_mode(kb: Call, home: Path, beir: Path) -> None:
    found = kb("eval", "beir", beir, "--gate", "mrr>=0.5", home=home)
    assert found.code == 0
    assert all(mode in found.out.splitlines()[0] for mode in MODES)
    assert found.out.count("passed  mrr>=0.5") == len(MODES)
    assert kb("eval", "beir", beir, "--mode", "lexical", "--gate", "mrr>=1.5", home=home).code == 1


def test_the_throw_away_home_is_made_once_per_content(
    kb: Call, home: Path, beir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    encoders = (tmp_path / "xdg-cache" / "kb").resolve()
    (cache / "kb").mkdir()
    for entry in encoders.iterdir():
        if entry.name != "eval":
            (cache / "kb" / entry.name).symlink_to(entry)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def homes() -> list[Path]:
        return sorted((cache / "kb" / "eval").iterdir())

    words = ["eval", "beir", beir, "--mode", "lexical"]
    assert kb(*words, home=home).code == 0
    (made,) = homes()
    before = (made / "kb.sqlite").stat().st_mtime_ns
    assert kb(*words, home=home).code == 0
    assert homes() == [made]
    assert (made / "kb.sqlite").stat().st_mtime_ns == before
    # Search settings leave the documents as they are.
    monkeypatch.setenv("KB_SEARCH__RRF_K", "10")
    assert kb(*words, home=home).code == 0
    assert homes() == [made]

    # One that was being filled when the process was killed is filled anew.
    (made / "complete").unlink()
    assert kb(*words, home=home).code == 0
    assert (made / "complete").exists()

    other = tmp_path / "other.jsonl"
    documents = [{"_id": i, "title": title, "text": text + " More."} for i, (title, text) in BEIR_DOCUMENTS.items()]
    write_json_lines(other, documents)
    (beir / "corpus.jsonl").unlink()
    assert kb(*words, "--corpus", other, home=home).code == 0
    assert len(homes()) == 2


@pytest.mark.parametrize(
    ("file", "line", "place", "code"),
    [
        ("corpus.jsonl", '{"_id": "d9", "text": }', "corpus.jsonl:6:23", "invalid_input"),
        ("corpus.jsonl", '{"text": "no id"}', "corpus.jsonl:6", "invalid_input"),
        ("corpus.jsonl", "[1]", "corpus.jsonl:6:1", "invalid_input"),
        ("queries.jsonl", '{"_id": "q9", "text"', "queries.jsonl:4:21", "invalid_input"),
        ("queries.jsonl", '{"_id": "q9", "text": ""}', "queries.jsonl:4", "invalid_input"),
        ("qrels/test.tsv", "q1\td1\tvery", "test.tsv:7:7", "invalid_input"),
        ("qrels/test.tsv", "q1", "test.tsv:7:1", "invalid_input"),
        ("qrels/test.tsv", "q77\td1\t1", "query 'q77'", "invalid_input"),
        ("corpus.jsonl", None, "corpus.jsonl", "not_found"),
        ("queries.jsonl", None, "queries.jsonl", "not_found"),
        ("qrels/test.tsv", None, "test.tsv", "not_found"),
    ],
)
def test_a_broken_collection_is_an_error_at_its_place(
    kb: Call, home: Path, beir: Path, file: str, line: str | None, place: str, code: str
) -> None:
    path = beir / file
    if line is None:
        path.unlink()
    else:
        path.write_text(path.read_text() + line + "\n")
    found = kb("eval", "beir", beir, "--json", home=home)
    error = json.loads(found.err)
    assert (found.code, found.out, error["code"]) == (2, "", code)
    assert place in error["message"]
    assert not home.exists()


def test_spans_measure_the_tokens_that_are_retrieved(kb: Call, home: Path, spans: Path) -> None:
    found = kb("eval", "spans", spans, "--json", home=home)
    assert found.code == 0, found.err
    runs = measured(found)["runs"]
    assert [run["mode"] for run in runs] == list(MODES)
    for run in runs:
        figures = {name: told["mean"] for name, told in run["metrics"].items()}
        assert set(figures) == {f"{name}@{k}" for name in ("recall", "precision", "iou") for k in (5, 10)}
        assert all(0 <= value <= 1 for value in figures.values())
    for run in kept_runs(home):
        whole, sentence = (row["scores"] for row in result_rows(run))
        # The text is one chunk: what is wanted is exactly what is found, or a part of it.
        assert (whole["recall@5"], whole["precision@5"], whole["iou@5"]) == (1, 1, 1)
        assert sentence["recall@5"] == 1
        assert sentence["precision@5"] == sentence["iou@5"]
        assert sentence["precision@5"] == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ("What?,[{]x,pier\n", "questions_df.csv:4:3"),
        ("What?,[1],pier\n", "questions_df.csv:4:1"),
        ('What?,"[{""start_index"": 9, ""end_index"": 3}]",pier\n', "questions_df.csv:4:1"),
        ('What?,"[{""start_index"": 0}]",pier\n', "questions_df.csv:4:1"),
        ("What?,[],pier\n", "questions_df.csv:4:1"),
        ('What?,"[{""start_index"": 0, ""end_index"": 3}]",quay\n', "questions_df.csv:4:1"),
        ("What?\n", "questions_df.csv:4:1"),
        ('What?,"[\n', "questions_df.csv:4:1"),
    ],
)
def test_broken_span_questions_are_an_error_at_their_place(
    kb: Call, home: Path, spans: Path, row: str, place: str
) -> None:
    with (spans / "questions_df.csv").open("a", encoding="utf-8") as file:
        file.write(row)
    found = kb("eval", "spans", spans, "--json", home=home)
    error = json.loads(found.err)
    assert (found.code, found.out, error["code"]) == (2, "", "invalid_input"), error
    assert place in error["message"]
    assert not home.exists()


def test_spans_without_questions_or_texts(kb: Call, home: Path, spans: Path, tmp_path: Path) -> None:
    assert json.loads(kb("eval", "spans", tmp_path, "--json", home=home).err)["code"] == "not_found"
    (spans / "questions_df.csv").write_text("question,references,corpus_id\n")
    assert "holds no question" in kb("eval", "spans", spans, home=home).err
    (spans / "questions_df.csv").write_text("a,b\n1,2\n")
    assert "no 'references'" in kb("eval", "spans", spans, home=home).err


def test_the_run_knows_the_questions_as_well_as_the_texts(kb: Call, home: Path, spans: Path) -> None:
    words = ["eval", "spans", spans, "--mode", "lexical"]
    assert kb(*words, home=home).code == 0
    table = spans / "questions_df.csv"
    table.write_text(table.read_text().replace("What does the pier have?", "What burns?"))
    assert kb(*words, home=home).code == 0
    first, second = kept_runs(home)
    found = kb("eval", "compare", first, second, "--json", home=home)
    assert "suite_sha256" in measured(found, "eval_compare.v1")["differences_in"]
