"""A model trained on the fixture vocabulary, once per test run."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.config import TagsConfig
from kb.tags.importing import load_vocabulary_file
from kb.tags.model import Model, model_stamp, read_model, write_model
from kb.tags.train import train_model
from kb.tags.vocabulary import Vocabulary
from tests.conftest import made_once

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tags"


@pytest.fixture(scope="session")
def reading() -> Vocabulary:
    return load_vocabulary_file(FIXTURES / "reading.json", None)[0]


@pytest.fixture(scope="session")
def model_home(reading: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(home: Path) -> None:
        write_model(home, train_model(reading, TagsConfig(), "reading.json").model, 1, "state")

    return made_once(tmp_path_factory, "tags_model", make)


@pytest.fixture
def model(model_home: Path) -> Model:
    stamp = model_stamp(model_home)
    assert stamp is not None
    return read_model(model_home, stamp)
