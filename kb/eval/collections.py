"""Public collections on disk → documents, queries and judgements: the BEIR layout, and questions with character spans.

A fault names the file, the line and the column.
"""

from __future__ import annotations

import csv
import json
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from kb.errors import InvalidInput, NotFound
from kb.eval.records import Query
from kb.frozen import dataclass

SPANS_FIX = "columns: question, references (JSON: a list of start_index and end_index), corpus_id"


@dataclass(frozen=True, slots=True)
class CollectionDocument:
    """One document of a collection; `id` becomes its path."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Collection:
    """A judged collection.

    documents_sha256  the key by which a throw-away home is cached
    sha256            of documents, queries and judgements
    """

    name: str
    documents: tuple[CollectionDocument, ...]
    queries: tuple[Query, ...]
    documents_sha256: str
    sha256: str


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question and the stretches of one text that answer it: [start, end) character offsets, end exclusive."""

    id: str
    text: str
    corpus: str
    spans: tuple[tuple[int, int], ...]


def load_beir(folder: Path, corpus: Path | None = None) -> Collection:
    """corpus.jsonl, queries.jsonl and qrels/test.tsv (or the only .tsv in qrels/) of a folder.

    corpus  another place for corpus.jsonl
    raises  NotFound for a missing file, InvalidInput naming file, line and column
    Queries without a judgement are left out; a judgement of 0 or less means not relevant.
    """
    corpus = corpus or folder / "corpus.jsonl"
    documents = tuple(
        CollectionDocument(_text(row, "_id", place), row.get("title") or "", _text(row, "text", place, empty=True))
        for row, place in _json_lines(corpus)
    )
    texts = {
        _text(row, "_id", place): _text(row, "text", place) for row, place in _json_lines(folder / "queries.jsonl")
    }
    judged: dict[str, dict[str, int]] = {}
    qrels = _qrels_file(folder)
    for query_id, document_id, grade in _judgements(qrels):
        if query_id not in texts:
            raise InvalidInput(f"{qrels} judges query '{query_id}', which queries.jsonl does not have", fix="add it")
        if grade > 0:
            judged.setdefault(query_id, {})[document_id] = grade
    if not documents or not judged:
        raise InvalidInput(f"{folder} holds no documents or no judgements", fix="check corpus.jsonl and qrels/")
    queries = tuple(Query(id=q, text=texts[q], relevant=judged[q]) for q in texts if q in judged)
    whole = sha256(corpus.read_bytes())
    documents_sha256 = whole.hexdigest()
    whole.update((folder / "queries.jsonl").read_bytes() + b"\0" + qrels.read_bytes())
    return Collection(folder.resolve().name, documents, queries, documents_sha256, whole.hexdigest())


def _json_lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Each object with its place, `file:line`."""
    if not path.is_file():
        raise NotFound(f"no {path}", fix="a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/test.tsv")
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.rstrip())
            except json.JSONDecodeError as error:
                where = f"{path}:{number}:{error.colno}"
                raise InvalidInput(f"{where}: {error.msg}", fix="correct that line: one JSON object a line") from error
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{path}:{number}:{error.start + 1}: not UTF-8", fix="save it as UTF-8") from error
            if not isinstance(row, dict):
                raise InvalidInput(f"{path}:{number}:1: not an object", fix="write one JSON object a line")
            yield row, f"{path}:{number}"


def _text(row: dict[str, Any], name: str, place: str, *, empty: bool = False) -> str:
    value = row.get(name)
    if not isinstance(value, str | int) or (not empty and not str(value).strip()):
        raise InvalidInput(f"{place}: no '{name}'", fix=f"every object needs a '{name}'")
    return str(value)


def _qrels_file(folder: Path) -> Path:
    test = folder / "qrels" / "test.tsv"
    if test.is_file():
        return test
    found = sorted((folder / "qrels").glob("*.tsv"))
    if len(found) != 1:
        raise NotFound(f"no {test}", fix="a BEIR folder holds its judgements in qrels/test.tsv")
    return found[0]


def _judgements(path: Path) -> Iterator[tuple[str, str, int]]:
    """(query id, document id, grade); the header line is optional, and so is TREC's second column."""
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        fields = line.split("\t") if "\t" in line else line.split()
        if not fields or (number == 1 and not fields[-1].lstrip("-").isdigit()):
            continue
        try:
            yield fields[0], fields[-2], int(fields[-1])
        except (IndexError, ValueError) as error:
            column = line.rfind(fields[-1]) + 1
            raise InvalidInput(
                f"{path}:{number}:{column}: not query-id, document-id, grade", fix="separate three fields by tabs"
            ) from error


def load_spans(folder: Path) -> list[SpanQuestion]:
    """questions_df.csv (question, references as JSON, corpus_id) beside corpora/<corpus_id>.md.

    raises  NotFound, InvalidInput naming file, line and column
    """
    path = folder / "questions_df.csv"
    if not path.is_file() or not (folder / "corpora").is_dir():
        raise NotFound(f"no {path} or no corpora/ beside it", fix="name a folder with questions_df.csv and corpora/")
    questions: list[SpanQuestion] = []
    csv.field_size_limit(10_000_000)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            for number, row in enumerate(reader, start=1):
                questions.append(_span_question(folder, number, row))
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            place = f"{path}:{reader.reader.line_num}:{getattr(error, 'colno', 1)}"
            raise InvalidInput(f"{place}: {_words_of(error)}", fix=SPANS_FIX) from error
    if not questions:
        raise InvalidInput(f"{path} holds no question", fix=SPANS_FIX)
    return questions


def _span_question(folder: Path, number: int, row: dict[str, Any]) -> SpanQuestion:
    spans = tuple((int(r["start_index"]), int(r["end_index"])) for r in json.loads(row["references"]))
    if not row["question"].strip():
        raise ValueError("the question is empty")
    if not spans or any(not 0 <= start < end for start, end in spans):
        raise ValueError("spans begin at 0 or later and end after they begin; a question has at least one")
    if not (folder / "corpora" / f"{row['corpus_id']}.md").is_file():
        raise ValueError(f"corpora/{row['corpus_id']}.md is not there")
    return SpanQuestion(f"{row['corpus_id']}-{number}", row["question"], row["corpus_id"], spans)


def _words_of(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def spans_sha256(folder: Path) -> tuple[str, str]:
    """Two hashes of a folder of span questions: of its texts, by which its home is cached, and of texts and questions."""
    texts = sha256()
    for file in sorted((folder / "corpora").glob("*")):
        texts.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    whole = texts.copy()
    whole.update((folder / "questions_df.csv").read_bytes())
    return texts.hexdigest(), whole.hexdigest()


def span_scores(
    retrieved: list[tuple[str, int, int]], question: SpanQuestion, starts: list[int], k: int
) -> dict[str, float | None]:
    """Token-level recall, precision and intersection over union of the retrieved spans and the question's spans.

    retrieved  (corpus, start, end) in characters, best first; only the first k count, overlaps count once
    starts     character offset of each token of the question's corpus, ascending; text of other corpora
               is always wrong and measured by this one's characters per token
    """

    def tokens(spans: list[tuple[int, int]]) -> set[int]:
        return {t for a, b in spans for t in range(bisect_left(starts, a), bisect_left(starts, b))}

    wanted = tokens(list(question.spans))
    right = tokens([(a, b) for corpus, a, b in retrieved[:k] if corpus == question.corpus])
    chars_per_token = max(1.0, starts[-1] / len(starts)) if starts else 4.0
    foreign = sum((b - a) / chars_per_token for corpus, a, b in retrieved[:k] if corpus != question.corpus)
    hit = len(wanted & right)
    found = len(right) + foreign
    return {
        f"recall@{k}": hit / len(wanted) if wanted else None,
        f"precision@{k}": hit / found if found else (0.0 if wanted else None),
        f"iou@{k}": hit / (len(wanted | right) + foreign) if wanted else None,
    }
