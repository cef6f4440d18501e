"""Which words of a question the whole corpus has, and what follows for the quotes of an answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kb import library
from kb.ask.records import AskRequest
from kb.ask.weigh import Weighed, weigh_evidence
from kb.config import Config, EmbeddingConfig, RagConfig, ReaderConfig
from kb.embed.model_files import ENGLISH_MODEL
from kb.records import SearchMode, SearchRequest
from kb.search.pipeline import search
from tests.journey.folders import fill

CONFIG = Config(embedding=EmbeddingConfig(model=ENGLISH_MODEL))
# Most notes say Kestrel, several JSON, one Heron.
NOTES = (
    {f"{n:02}.md": f"# Part {n}\n\nKestrel part {n} has a valve." for n in range(40)}
    | {f"json-{n}.md": f"# Body {n}\n\nA JSON body of size {n}." for n in range(4)}
    | {
        "read.md": "# Files\n\nTo read a file, call read_all with its path.",
        "heron.md": "# Heron\n\nHeron stands on one leg.",
    }
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    with library.open(folder / "home", CONFIG) as base:
        base.ingest(fill(folder / "notes", NOTES), words_only=True)
    return folder / "home"


def weighed(home: Path, question: str, mode: SearchMode = "lexical") -> Weighed:
    with library.open(home, CONFIG) as base:
        kb = base.runtime()
        response = search(kb, SearchRequest(question, mode, 4, explain=True))
        chunks = kb.corpus.fetch_chunks([int(hit.chunk_id) for hit in response.hits])
        return weigh_evidence(kb, AskRequest(question, mode=mode), response, list(chunks.values())).weighed


@pytest.mark.parametrize(
    ("question", "common", "everywhere"),
    [
        ("How do I read a file in Kestrel?", "Kestrel", "Kestrel"),
        ("Who reads the JSON?", "JSON", None),
        ("Where does the Heron stand?", None, None),
    ],
)
def test_how_many_passages_have_a_name(home: Path, question: str, common: str | None, everywhere: str | None) -> None:
    found = weighed(home, question)
    assert [name for name in ("Kestrel", "JSON", "Heron") if name in found.common] == [common] * bool(common)
    assert list(found.everywhere) == [everywhere] * bool(everywhere)


@pytest.mark.parametrize(
    ("question", "lacks"), [("How do I read a file in Kestrel?", False), ("How do I read a file in Heron?", True)]
)
def test_what_the_corpus_is_about_need_not_be_quoted(home: Path, question: str, lacks: bool) -> None:
    """Both gates let everything through: the names alone decide."""
    rag = RagConfig(evidence_gate=0.001, sure_gate=0.001)
    with library.open(home, replace(CONFIG, rag=rag, reader=ReaderConfig(model="none"))) as base:
        answer = base.ask(question, mode="lexical")
    assert "read_all" in answer.answer
    assert (answer.outcome == "not_sure", "does not mention 'Heron'" in answer.answer) == (lacks, lacks)


def test_before_there_are_vectors_nothing_is_said_of_meaning(home: Path) -> None:
    question = "How do I read a file?"
    found = weighed(home, question, "hybrid")
    assert (found.signals.cosine, found.signals.nearness) == (None, None)
    assert found.signals == weighed(home, question, "lexical").signals
