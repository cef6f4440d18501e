"""Every reader through the same test: it puts the text that answers first, whatever stands beside it."""

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from kb.embed.graphs import GRAPH
from kb.errors import ModelError
from kb.evidence.gate import WEIGHTS_FILE
from kb.reader.protocol import Reader, probability
from kb.reader.registry import OF_LANGUAGES, OFF, READERS, open_reader, reader_names
from kb.reader.session import graph_folder
from kb.reader.trained_weights import WEIGHTS, load_weights, save_weights

QUESTION = "How often must the mirror be cleaned?"
ANSWER = "The mirror is cleaned every spring with distilled water."
OTHERS = [
    "The dome opens at dusk.",
    "Mirrors of this size were first cast in 1910. " * 60,
    "",
    "\ud800 lone surrogates, 日本語 and \x07",
]


KOREAN_QUESTION = "거울은 얼마나 자주 닦아야 하나요?"
KOREAN_ANSWER = "거울은 봄마다 증류수로 닦는다."
KOREAN_OTHERS = ["돔은 해 질 녘에 연다.", "이만한 거울은 1910년에 처음 만들어졌다.", ANSWER[:0]]


# Kinds that hold their weights; the others take whatever the user has.
@pytest.fixture(scope="module", params=[name for name in READERS if name != "cross-encoder"])
def reader(request: pytest.FixtureRequest, encoder_cache: Path) -> Reader:
    return open_reader(request.param, encoder_cache)


def test_the_text_that_answers_comes_first(reader: Reader) -> None:
    scores = reader.score(QUESTION, [*OTHERS, ANSWER])
    assert len(scores) == len(OTHERS) + 1
    assert max(scores) == scores[-1]
    assert probability(scores[-1]) > 0.3 > max(map(probability, scores[:-1]))


def test_a_score_does_not_depend_on_its_neighbours(reader: Reader) -> None:
    alone = reader.score(QUESTION, [ANSWER])
    # Padding moves an 8-bit graph a little: its scales are those of the batch.
    assert reader.score(QUESTION, [*OTHERS, ANSWER])[-1] == pytest.approx(alone[0], abs=1.5)
    assert reader.score(QUESTION, []) == []


def test_a_reader_says_what_it_cannot_read(reader: Reader) -> None:
    assert reader.can_read(QUESTION)
    assert reader.can_read("naïve café, déjà vu")
    assert reader.can_read(KOREAN_QUESTION) == (reader.model_id == "kb-reader")
    assert not reader.can_read("鏡はどのくらいの頻度で掃除しますか")


def test_each_language_has_a_reader(encoder_cache: Path) -> None:
    readers = [open_reader(name, encoder_cache) for name in OF_LANGUAGES]
    for question, answer, others in ((QUESTION, ANSWER, OTHERS), (KOREAN_QUESTION, KOREAN_ANSWER, KOREAN_OTHERS)):
        reader = next(reader for reader in readers if reader.can_read(question))
        scores = reader.score(question, [*others, answer])
        assert max(scores) == scores[-1]


def test_a_reader_is_prepared_once(reader: Reader) -> None:
    reader.score(QUESTION, [ANSWER])
    assert not reader.needs_preparing()


@pytest.mark.parametrize("damage", ["no room", "damaged"])
def test_the_packaged_reader_does_without_its_kept_graph(damage: str, encoder_cache: Path, tmp_path: Path) -> None:
    kept = graph_folder(tmp_path, open_reader(OF_LANGUAGES[0], tmp_path).digest)
    if damage == "no room":
        kept.parent.write_text("a file where the folder should be")
    else:
        kept.mkdir(parents=True)
        (kept / GRAPH).write_bytes(b"cut short")
    found = open_reader(OF_LANGUAGES[0], tmp_path).score(QUESTION, [ANSWER])
    assert found == pytest.approx(open_reader(OF_LANGUAGES[0], encoder_cache).score(QUESTION, [ANSWER]), abs=1e-3)
    assert not kept.is_dir()  # made again by the next process


def test_a_reader_is_opened_once_for_all_threads_of_a_process(reader: Reader, encoder_cache: Path) -> None:
    assert open_reader(reader.model_id, encoder_cache) is reader


def test_the_digest_names_the_weights(reader: Reader) -> None:
    assert len(reader.digest) == 64
    assert reader.digest == reader.digest


def test_reading_can_be_turned_off() -> None:
    assert reader_names(OFF) == ()


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no reader '/no/such/model'"):
        open_reader("/no/such/model", tmp_path)


def test_trained_weights_are_kept_in_8_bits(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    weights = {"a": generator.normal(size=(5, 40)).astype(np.float32), "b": np.arange(3, dtype=np.float32)}
    save_weights(weights, tmp_path / "w.npz")
    found = load_weights(tmp_path / "w.npz")
    assert set(found) == {"a", "b"}
    assert np.array_equal(found["b"], weights["b"])
    steps = np.abs(weights["a"]).max(axis=1, keepdims=True) / 127
    assert (np.abs(found["a"] - weights["a"]) <= steps + 1e-6).all()


def test_what_a_training_moved_by_less_than_a_step_is_kept_on_the_whole(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    before = generator.integers(-100, 100, size=(4, 2000)).astype(np.float32)
    before[:, 0] = 127
    after = before + np.float32(0.2) * (before < 127)
    save_weights({"a": after}, tmp_path / "w.npz")
    moved = (load_weights(tmp_path / "w.npz")["a"] - before)[:, 1:].mean()
    assert moved == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("content", [None, b"", WEIGHTS.read_bytes()[:5000]])
@pytest.mark.parametrize(
    ("model", "weights"),
    [("kb-reader", "kb.reader.trained.WEIGHTS"), ("kb-reader-english", "kb.reader.mpnet.QUESTIONS")],
)
def test_trained_weights_that_are_damaged_are_named(
    model: str, weights: str, content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, tmp_path / "weights.npz")
    if content is not None:
        (tmp_path / "weights.npz").write_bytes(content)
    with pytest.raises(ModelError, match=model) as told:
        open_reader(model, tmp_path).score(QUESTION, [ANSWER])
    assert "reader.model" in str(told.value.fix)


def test_english_is_ordered_by_one_reader_and_judged_by_another_korean_by_its_own(encoder_cache: Path) -> None:
    readers = [open_reader(name, encoder_cache) for name in OF_LANGUAGES]
    of = {text: [r.model_id for r in readers if r.can_read(text)][:2] for text in (QUESTION, KOREAN_QUESTION)}
    assert of == {QUESTION: ["ms-marco-MiniLM-L-12-v2", "kb-reader-english"], KOREAN_QUESTION: ["kb-reader"]}


def test_the_gates_weights_are_of_the_readers_that_ship(encoder_cache: Path) -> None:
    """Those of other readers would be left out, and the gate would judge by one, or none, without a word."""
    fitted = json.loads((files("kb.evidence") / WEIGHTS_FILE).read_text(encoding="utf-8"))["readers"]
    readers = [open_reader(name, encoder_cache) for name in OF_LANGUAGES]
    for language, text in (("en", QUESTION), ("ko", KOREAN_QUESTION)):
        assert fitted[language] == [r.digest for r in readers if r.can_read(text)][:2]
