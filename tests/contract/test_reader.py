"""Every reader through the same test: it puts the text that answers first, whatever stands beside it."""

from pathlib import Path

import pytest

from kb.errors import ModelError
from kb.reader.protocol import Reader, probability
from kb.reader.registry import OFF, READERS, open_reader

QUESTION = "How often must the mirror be cleaned?"
ANSWER = "The mirror is cleaned every spring with distilled water."
OTHERS = [
    "The dome opens at dusk.",
    "Mirrors of this size were first cast in 1910. " * 60,
    "",
    "\ud800 lone surrogates, 日本語 and \x07",
]


# Kinds that hold their weights; the others take whatever the user has.
@pytest.fixture(scope="module", params=[name for name in READERS if name != "cross-encoder"])
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    opened = open_reader(request.param, tmp_path_factory.mktemp("cache"))
    assert opened is not None
    return opened


def test_the_text_that_answers_comes_first(reader: Reader) -> None:
    scores = reader.score(QUESTION, [*OTHERS, ANSWER])
    assert len(scores) == len(OTHERS) + 1
    assert max(scores) == scores[-1]
    assert probability(scores[-1]) > 0.5 > probability(scores[0])


def test_a_score_does_not_depend_on_its_neighbours(reader: Reader) -> None:
    alone = reader.score(QUESTION, [ANSWER])
    # Padding moves an 8-bit graph a little: its scales are those of the batch.
    assert reader.score(QUESTION, [*OTHERS, ANSWER])[-1] == pytest.approx(alone[0], abs=1.0)
    assert reader.score(QUESTION, []) == []


def test_a_reader_says_what_it_cannot_read(reader: Reader) -> None:
    assert reader.can_read(QUESTION)
    assert reader.can_read("naïve café, déjà vu")
    assert not reader.can_read("거울은 얼마나 자주 닦아야 하나요?")


def test_the_digest_names_the_weights(reader: Reader) -> None:
    assert len(reader.digest) == 64
    assert reader.digest == reader.digest


def test_reading_can_be_turned_off(tmp_path: Path) -> None:
    assert open_reader(OFF, tmp_path) is None


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no reader '/no/such/model'"):
        open_reader("/no/such/model", tmp_path)
