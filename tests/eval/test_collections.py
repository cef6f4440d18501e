"""Span scores against hand-computed cases, and the loaders of public layouts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.errors import InvalidInput, NotFound
from kb.eval.collections import SpanQuestion, load_beir, load_spans, span_scores, spans_sha256
from tests.journey.measured import BEIR_DOCUMENTS, SPAN_TEXT, write_beir, write_spans

# Ten tokens of ten characters each: token t stands at [10 t, 10 t + 10).
STARTS = [10 * token for token in range(10)]


@pytest.mark.parametrize(
    ("wanted", "retrieved", "recall", "precision", "iou"),
    [
        # exactly what answers
        ([(20, 40)], [("a", 20, 40)], 1, 1, 1),
        # tokens 2, 3 are wanted, 0 to 4 found: all of it, two of five, two of five
        ([(20, 40)], [("a", 0, 50)], 1, 2 / 5, 2 / 5),
        # tokens 2 to 5 are wanted, 4 to 7 found: two of four, two of four, two of six
        ([(20, 60)], [("a", 40, 80)], 1 / 2, 1 / 2, 2 / 6),
        # overlaps count once, among what is wanted as among what is found
        ([(20, 40), (30, 40)], [("a", 0, 30), ("a", 10, 40)], 1, 2 / 4, 2 / 4),
        # nothing found, and nothing right found: 0 is the truth here
        ([(20, 40)], [], 0, 0, 0),
        ([(20, 40)], [("a", 50, 90)], 0, 0, 0),
        # 45 characters of another text are 5 tokens of nine characters (the last token starts at 90, ten of them)
        ([(20, 40)], [("a", 20, 40), ("b", 0, 45)], 1, 2 / 7, 2 / 7),
        # the third place is beyond k
        ([(20, 40)], [("b", 0, 9), ("b", 9, 18), ("a", 20, 40)], 0, 0, 0),
    ],
)
def test_span_scores_by_hand(
    wanted: list[tuple[int, int]],
    retrieved: list[tuple[str, int, int]],
    recall: float,
    precision: float,
    iou: float,
) -> None:
    scores = span_scores(retrieved, SpanQuestion("q", "?", "a", tuple(wanted)), STARTS, 2)
    assert scores == {
        "recall@2": pytest.approx(recall),
        "precision@2": pytest.approx(precision),
        "iou@2": pytest.approx(iou),
    }


def test_span_scores_are_undefined_where_nothing_is_wanted() -> None:
    scores = span_scores([], SpanQuestion("q", "?", "a", ()), STARTS, 1)
    assert scores == {"recall@1": None, "precision@1": None, "iou@1": None}


def test_loads_a_beir_folder(tmp_path: Path) -> None:
    found = load_beir(write_beir(tmp_path / "little"))
    assert [(d.id, d.title, d.text) for d in found.documents] == [(i, *words) for i, words in BEIR_DOCUMENTS.items()]
    # What is judged 0 is not relevant; a document that is not there stays judged.
    assert {q.id: q.relevant for q in found.queries} == {
        "q1": {"d1": 1},
        "q2": {"d3": 2},
        "q3": {"d5": 1, "not-in-the-corpus": 1},
    }


def test_judgements_with_trecs_second_column_and_without_a_header(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "little")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    (folder / "qrels" / "dev.tsv").write_text("q1 0 d1 1\nq2\t0\td3\t2\n\n")
    assert {q.id: q.relevant for q in load_beir(folder).queries} == {"q1": {"d1": 1}, "q2": {"d3": 2}}
    (folder / "qrels" / "dev.tsv").write_text("q1\td1\t0\n")
    with pytest.raises(InvalidInput, match="no judgements"):
        load_beir(folder)
    (folder / "qrels" / "train.tsv").write_text("")
    with pytest.raises(NotFound):
        load_beir(folder)


def test_a_byte_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "little")
    with (folder / "corpus.jsonl").open("ab") as file:
        file.write(b'{"_id": "d6", "text": "\xff"}\n')
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl:6:24: not UTF-8"):
        load_beir(folder)


def test_what_a_collection_hashes_to_changes_with_each_of_its_files(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "little")
    before = load_beir(folder)
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("q1\td2\t1\n")
    after = load_beir(folder)
    assert (before.documents_sha256, before.sha256 != after.sha256) == (after.documents_sha256, True)

    spans = write_spans(tmp_path / "pier")
    texts, whole = spans_sha256(spans)
    (spans / "questions_df.csv").write_text((spans / "questions_df.csv").read_text().replace("pier have", "pier own"))
    assert spans_sha256(spans)[0] == texts
    assert spans_sha256(spans)[1] != whole
    (spans / "corpora" / "pier.md").rename(spans / "corpora" / "quay.md")
    assert spans_sha256(spans)[0] != texts


def test_loads_span_questions(tmp_path: Path) -> None:
    first, second = load_spans(write_spans(tmp_path / "pier"))
    assert (first.id, first.corpus, first.spans) == ("pier-1", "pier", ((0, len(SPAN_TEXT.rstrip())),))
    ((start, end),) = second.spans
    assert SPAN_TEXT[start:end] == "The keeper winds the clock of the tower every Sunday at noon."
