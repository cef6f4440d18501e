"""Context stability through the command line: scores under --explain, neighbourhoods in prompts, recalibration, bad input."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kb.store.vectors import read_vectors
from tests.journey.conftest import CORPUS, ROOT, Call
from tests.schemas import check_wire

QUESTION = "How often must the mirror be cleaned?"


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(home / "kb.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def change(home: Path, *statements: str) -> None:
    connection = sqlite3.connect(home / "kb.sqlite")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


class TestExplain:
    def test_every_hit_has_its_axes(self, kb: Call, corpus_home: Path) -> None:
        found = kb("search", QUESTION, "-k", "5", "--explain", "--json", home=corpus_home).json()
        check_wire(found, "search_response.v1")
        stability = found["trace"]["stability"]
        assert [row["chunk_id"] for row in stability["chunks"]] == [hit["chunk_id"] for hit in found["hits"]]
        assert [row["csw"] for row in stability["chunks"]] == [hit["retrieval"]["csw"] for hit in found["hits"]]
        assert all(0 <= row["csw"] <= 0.9 for row in stability["chunks"])
        assert stability["absent"] == []
        assert "mirror" in stability["entities"]
        first = stability["chunks"][0]
        expected = 0.35 * first["vector"] + 0.25 * first["stability"] + 0.2 * first["fit"]
        expected += 0.1 * first["drift"] + 0.1 * first["coherence"]
        assert first["csw"] == pytest.approx(expected, abs=1e-5)

    def test_coherence_by_the_nearest_passages(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KB_CSWR__COHERENCE", "neighbours")
        found = kb("search", QUESTION, "-k", "5", "--explain", "--json", home=corpus_home).json()
        stored = rows(
            corpus_home,
            "SELECT chunk_id, path, vector FROM chunks JOIN documents USING (doc_id) JOIN embeddings USING (embed_hash)",
        )
        vectors = read_vectors([blob for *_, blob in stored])
        projects = [str(path).split("/")[0] if "/" in str(path) else "" for _, path, _ in stored]
        place = {chunk_id: i for i, (chunk_id, *_) in enumerate(stored)}
        for row in found["trace"]["stability"]["chunks"]:
            own = place[row["chunk_id"]]
            nearest = [i for i in np.argsort(-(vectors @ vectors[own]), kind="stable") if i != own][:5]
            share = sum(projects[i] == projects[own] for i in nearest) / 5
            assert row["coherence"] == pytest.approx(share, abs=0.21)  # equals may come in another order
        assert len({row["coherence"] for row in found["trace"]["stability"]["chunks"]}) > 1

    def test_an_answer_is_not_scored_for_nothing(self, corpus_home: Path) -> None:
        """The axes of every hit are for the log and for --explain: without either `ask` does not import their scoring."""
        code = (
            "import sys; from tests.kept_kb import keep; keep(); from kb.cli.main import run; run(sys.argv[1:], True);"
            "print(bool({'kb.search.stability', 'kb.packing.stability'} & set(sys.modules)), file=sys.stderr)"
        )
        words = ["ask", QUESTION, "--json", "--model", "extractive", "--home", str(corpus_home)]
        for more, scored in (([], "False"), (["--explain"], "True")):
            done = subprocess.run(
                [sys.executable, "-c", code, *words, *more], cwd=ROOT, capture_output=True, text=True, check=True
            )
            assert done.stderr.splitlines()[-1] == scored
            assert json.loads(done.stdout)["grounded"]

    def test_without_it_nothing_is_scored(self, kb: Call, corpus_home: Path) -> None:
        found = kb("search", QUESTION, "--json", home=corpus_home).json()
        assert found.get("trace") is None
        assert found["hits"][0]["retrieval"].get("csw") is None

    def test_words_alone_have_no_axes_of_meaning(self, kb: Call, corpus_home: Path) -> None:
        found = kb("search", QUESTION, "--mode", "lexical", "--explain", "--json", home=corpus_home).json()
        stability = found["trace"]["stability"]
        assert stability["absent"] == ["vector", "stability", "drift", "coherence"]
        row = stability["chunks"][0]
        assert row["csw"] == pytest.approx(0.9 * row["fit"], abs=1e-5)
        printed = kb("search", QUESTION, "--mode", "lexical", "--explain", home=corpus_home).out
        assert "without: vector, stability, drift, coherence (the other axes carry their weight)" in printed
        assert "asks: lookup → number · entities: " in printed

    def test_a_home_without_stored_neighbours_shows_the_same_and_is_not_written(
        self, kb: Call, corpus_home: Path
    ) -> None:
        words = ("search", QUESTION, "--explain", "--json")
        before = kb(*words, home=corpus_home).json()["trace"]["stability"]
        to_complete = "INSERT INTO documents_to_complete (doc_id) SELECT doc_id FROM documents"
        change(corpus_home, "DELETE FROM chunk_neighbours", to_complete)
        assert kb(*words, home=corpus_home).json()["trace"]["stability"] == before
        assert rows(corpus_home, "SELECT count(*) FROM chunk_neighbours") == [(0,)]
        assert kb("ingest", CORPUS, home=corpus_home).code == 0
        assert rows(corpus_home, "SELECT count(*) FROM chunk_neighbours") == rows(
            corpus_home, "SELECT count(*) FROM chunks"
        )

    def test_neighbours_that_are_gone(self, kb: Call, corpus_home: Path) -> None:
        change(
            corpus_home,
            "PRAGMA foreign_keys = ON",
            "DELETE FROM chunks WHERE position % 2 = 1",
            "UPDATE meta SET value = value + 1 WHERE name = 'corpus_revision'",
        )
        found = kb("search", QUESTION, "--explain", "--json", home=corpus_home)
        assert found.code == 0
        assert all(row["csw"] >= 0 for row in found.json()["trace"]["stability"]["chunks"])

    def test_hits_can_be_ordered_by_it(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KB_SEARCH__ORDER", "stability")
        found = kb("search", QUESTION, "-k", "20", "--json", home=corpus_home).json()
        scores = [hit["order_score"] for hit in found["hits"]]
        assert scores == sorted(scores, reverse=True)
        assert {hit["order_kind"] for hit in found["hits"]} == {"csw"}
        assert found["hits"][0]["retrieval"]["fusion_score"] != found["hits"][0]["order_score"]


class TestPacking:
    def test_adjacent_chunks_are_one_passage_with_exact_lines(self, kb: Call, corpus_home: Path) -> None:
        answer = kb("ask", QUESTION, "--explain", "--json", home=corpus_home).json()
        packed = answer["explanation"]["packed"]
        assert [p["marker"] for p in packed] == list(range(1, len(packed) + 1))
        merged = [p for p in packed if "#L28-L43" in p["citation"]["uri"]]
        assert len(merged) == 1
        lines = (CORPUS / merged[0]["citation"]["path"]).read_text().split("\n")
        assert merged[0]["text"] == "\n".join(lines[27:43])
        assert answer["retrieval"]["chunks_used"] > len(packed)
        for cited in answer["citations"]:
            place = cited["citation"]
            read = (CORPUS / place["path"]).read_text().split("\n")
            assert cited["quote"] in "\n".join(read[place["start_line"] - 1 : place["end_line"]])

    def test_ranked_packing_takes_the_hits_in_order(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KB_RAG__PACKING", "ranked")
        answer = kb("ask", QUESTION, "-k", "4", "--explain", "--json", home=corpus_home).json()
        hits = kb("search", QUESTION, "-k", "4", "--rerank", "--json", home=corpus_home).json()["hits"]
        assert [p["chunk_id"] for p in answer["explanation"]["packed"]] == [hit["chunk_id"] for hit in hits]

    @pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector"])
    def test_packs_by_stability(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
        monkeypatch.setenv("KB_RAG__PACKING", "stability")
        answer = kb("ask", QUESTION, "--mode", mode, "--explain", "--json", home=corpus_home).json()
        packed = answer["explanation"]["packed"]
        assert 1 <= len(packed) <= 4
        assert len({p["chunk_id"] for p in packed}) == len(packed)

    def test_an_answer_is_replayed_from_its_merged_passages(self, kb: Call, corpus_home: Path) -> None:
        answer = kb("ask", QUESTION, "--json", home=corpus_home).json()
        replayed = kb("answers", "replay", answer["trace_id"], "--json", home=corpus_home)
        assert replayed.code == 0, replayed.err
        assert replayed.json()["after"]["answer"] == answer["answer"] if "after" in replayed.json() else True


class TestRecalibration:
    def test_the_log_is_bounded_and_goes_with_its_answer(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KB_CSWR__KEEP_EPISODES", "2")
        traces = [kb("ask", QUESTION, "-k", "3", "--json", home=corpus_home).json()["trace_id"] for _ in range(3)]
        kept = rows(corpus_home, "SELECT trace_id, domain, outcome FROM episodes ORDER BY episode_id")
        assert kept == [(trace, "general", "grounded") for trace in traces[1:]]
        assert kb("answers", "rm", traces[2], "--yes", home=corpus_home).code == 0
        assert rows(corpus_home, "SELECT trace_id FROM episodes") == [(traces[1],)]
        monkeypatch.setenv("KB_CSWR__KEEP_EPISODES", "0")
        kb("ask", QUESTION, "-k", "3", home=corpus_home)
        assert rows(corpus_home, "SELECT count(*) FROM episodes") == [(1,)]

    def test_the_log_is_off_unless_it_is_asked_for(self, kb: Call, corpus_home: Path) -> None:
        kb("ask", QUESTION, home=corpus_home)
        assert rows(corpus_home, "SELECT count(*) FROM episodes") == [(0,)]
        assert "the log is off: cswr.keep_episodes" in kb("expert", "stability", home=corpus_home).out

    def test_questions_found_by_words_alone_have_no_stability_and_count_for_nothing(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KB_CSWR__KEEP_EPISODES", "100")
        before = kb("expert", "stability", "--json", home=corpus_home).json()["domains"]
        assert kb("ask", QUESTION, "--mode", "lexical", home=corpus_home).code == 0
        kb("ask", "거울은 얼마나 자주 닦나요?", home=corpus_home)
        ((axes,), *_) = rows(corpus_home, "SELECT axes_json FROM episodes")
        assert all("fit" in row and "stability" not in row for row in json.loads(str(axes)))
        found = kb("expert", "recalibrate", "--json", home=corpus_home)
        assert found.code == 0, found.err
        assert found.json()["episodes"] == 2
        assert [d["threshold"] for d in found.json()["domains"]] == [d["threshold"] for d in before]
        assert kb("ask", QUESTION, home=corpus_home).code == 0  # beside them, one with a stability
        assert kb("expert", "recalibrate", home=corpus_home).code == 0
        assert kb("expert", "recalibrate", "--reset", home=corpus_home).code == 0

    def test_an_episode_holds_the_whole_chain(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KB_CSWR__KEEP_EPISODES", "100")
        kb("ask", QUESTION, home=corpus_home)
        ((query, axes, packed),) = rows(corpus_home, "SELECT query_json, axes_json, packed_json FROM episodes")
        assert json.loads(str(query))["intent"] == "lookup"
        scored = {row["chunk_id"] for row in json.loads(str(axes))}
        assert {i for pack in json.loads(str(packed)) for i in pack} <= scored

    def test_thresholds_follow_what_was_packed(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KB_CSWR__KEEP_EPISODES", "100")
        few = kb("expert", "recalibrate", "--json", home=corpus_home).json()
        check_wire(few, "cswr.v1")
        assert [(d["domain"], d["threshold"]) for d in few["domains"]] == [
            ("general", 0.7),
            ("tech", 0.65),
            ("code", 0.55),
        ]
        for question in (
            QUESTION,
            "Who keeps the night watch on the island?",
            "What does the ferry cost?",
            "When is the dome closed?",
        ):
            kb("ask", question, home=corpus_home)
        kb("ask", QUESTION, home=corpus_home)
        found = kb("expert", "recalibrate", "--json", home=corpus_home).json()
        general = found["domains"][0]
        assert general["samples"] >= 10
        assert general["threshold"] == general["q25"] != 0.7
        assert "packed passages on" in kb("expert", "stability", home=corpus_home).out
        explained = kb("search", QUESTION, "--explain", "--json", home=corpus_home).json()
        assert explained["trace"]["stability"]["threshold"] == general["q25"]
        back = kb("expert", "recalibrate", "--reset", "--json", home=corpus_home).json()
        assert back["domains"][0]["threshold"] == 0.7

    def test_a_home_that_is_not_there_is_not_made(self, kb: Call, tmp_path: Path) -> None:
        assert kb("expert", "recalibrate", home=tmp_path / "none").code == 2
        assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("text", "says", "hints"),
    [
        ("[cswr.weights]\nvector = 0.9\n", "the weights in [cswr.weights] sum to 1.55", "sum to 1"),
        ("[cswr.weights]\nvektor = 0.9\n", "unknown key 'cswr.weights.vektor'", "cswr.weights.vector"),
        ("[cswr.weights]\nfit = -0.2\n", "cswr.weights.fit", "0 to 1"),
        ("[cswr]\nweights = 3\n", "'cswr.weights'", "[cswr.weights]"),
        ("[cswr]\nthreshold_tech = 1.2\n", "cswr.threshold_tech", "0 to 1"),
        ("[cswr]\nkeep_episodes = -1\n", "cswr.keep_episodes", "0 to 1,000,000"),
        ("[rag]\npacking = 'best'\n", "rag.packing", "ranked | neighbourhoods"),
    ],
)
def test_settings_that_cannot_be(kb: Call, corpus_home: Path, text: str, says: str, hints: str) -> None:
    (corpus_home / "config.toml").write_text(text)
    found = kb("search", "x", home=corpus_home)
    assert found.code == 2
    assert says in found.err
    assert hints in found.err


def test_weights_of_ones_own(kb: Call, corpus_home: Path) -> None:
    (corpus_home / "config.toml").write_text(
        "[cswr.weights]\nvector = 0\nstability = 0\nfit = 1\ndrift = 0\ncoherence = 0\n"
    )
    found = kb("search", QUESTION, "--explain", "--json", home=corpus_home).json()
    assert all(row["csw"] == row["fit"] for row in found["trace"]["stability"]["chunks"])
