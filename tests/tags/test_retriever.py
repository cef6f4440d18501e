"""Suggestions with trained models: aliases of github topics, the closed vocabulary, the order of phrases, thresholds."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.config import TagsConfig
from kb.errors import InvalidInput
from kb.tags.importing import load_vocabulary_file
from kb.tags.measure import alias_recall, document_tagging, hold_out, recall_of
from kb.tags.model import Model
from kb.tags.phrases import key_phrases, query_phrases
from kb.tags.records import SuggestOptions
from kb.tags.retriever import Retriever, trained_retriever, untrained_retriever
from kb.tags.thresholds import Thresholds, best_cut, calibrate
from kb.tags.vocabulary import Vocabulary

TOPICS = Path(__file__).parents[3] / "shared" / "data" / "github_explore_topics.json"
needs_topics = pytest.mark.skipif(not TOPICS.exists(), reason="github_explore_topics.json is not here")


@pytest.fixture(scope="module")
def topics() -> Vocabulary:
    return load_vocabulary_file(TOPICS, "topics")[0]


@pytest.fixture(scope="module")
def by_letters(topics: Vocabulary) -> Retriever:
    return untrained_retriever(topics, TagsConfig())


@pytest.fixture
def trained(model: Model) -> Retriever:
    return trained_retriever(model, TagsConfig())


KNOWN_ALIASES = {
    "js": "javascript",
    "k8s": "kubernetes",
    "ml": "machine-learning",
    "golang": "go",
    "postgres": "postgresql",
    "c-plus-plus": "cpp",
    "node": "nodejs",
    "github-actions": "actions",
    "ci": "continuous-integration",
}


@needs_topics
@pytest.mark.parametrize(("phrase", "tag"), KNOWN_ALIASES.items())
def test_aliases_of_github_topics_come_first(by_letters: Retriever, phrase: str, tag: str) -> None:
    first = by_letters.suggest([phrase], SuggestOptions()).candidates[0]
    assert (first.tag, first.score_fasttext) == (tag, 1.0)


@needs_topics
def test_what_is_not_in_the_vocabulary_is_not_sure(by_letters: Retriever) -> None:
    found = by_letters.suggest(["gha", "dl"], SuggestOptions())
    assert all((row.score_fasttext or 0) < 1 for row in found.candidates)


@needs_topics
def test_held_out_aliases_by_letters_alone(topics: Vocabulary) -> None:
    """The default mixes FastText in and is measured by benchmarks/tags.py; letters alone take a second."""
    kept, held = hold_out(topics, 0)
    assert len(held) == 417
    retriever = untrained_retriever(kept, TagsConfig())
    options = SuggestOptions(per_phrase_k=200, per_phrase_final_k=50)
    found = recall_of(lambda alias: [c.tag for c in retriever.suggest([alias], options).candidates], held)
    assert found["recall@1"] >= 0.78
    assert found["recall@10"] >= 0.91


def test_every_method_is_measured(reading: Vocabulary) -> None:
    rows = {row.method: row for row in alias_recall(reading, TagsConfig(), range(1))}
    assert list(rows) == ["suggest", "both", "ngrams", "fasttext", "char_wb", "popularity", "random"]
    assert rows["both"].recall["recall@10"] > rows["popularity"].recall["recall@10"]
    assert all(row.worst == row.recall for row in rows.values())


def random_strings(count: int) -> list[str]:
    dice = random.Random(0)
    blocks = [
        (32, 126),
        (0xA0, 0x24F),
        (0x370, 0x5FF),
        (0x600, 0x6FF),
        (0x900, 0xE7F),
        (0x1100, 0x11FF),
        (0x3040, 0x30FF),
    ]
    blocks += [
        (0x4E00, 0x9FFF),
        (0xAC00, 0xD7A3),
        (0x1F300, 0x1FAFF),
        (0, 31),
        (0xD800, 0xDFFF),
        (0xFE00, 0xFFFF),
        (0x20, 0x10FFFF),
    ]
    made = []
    for _ in range(count):
        low, high = dice.choice(blocks)
        made.append("".join(chr(dice.randint(low, high)) for _ in range(dice.randint(0, 12))))
    return made


def test_nothing_but_the_vocabulary_is_ever_returned(trained: Retriever) -> None:
    canonical = {tag.tag for tag in trained.vocabulary.tags}
    strings = random_strings(10_000)
    for start in range(0, len(strings), 50):
        found = trained.suggest([*strings[start : start + 50], "poem"], SuggestOptions(per_phrase_k=5, global_k=10_000))
        assert canonical.issuperset(row.tag for row in found.candidates)
        assert canonical.issuperset(row.tag for report in found.phrases or () for row in report.candidates)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=6), st.randoms())
def test_the_order_of_phrases_does_not_change_scores(phrases: list[str], dice) -> None:
    other = [*phrases, "sea story", "poems"]
    dice.shuffle(other)
    first = _READING.suggest([*phrases, "sea story", "poems"], SuggestOptions())
    assert first.candidates == _READING.suggest(other, SuggestOptions()).candidates


_READING = untrained_retriever(
    load_vocabulary_file(Path(__file__).parents[2] / "fixtures" / "tags" / "reading.json", None)[0], TagsConfig()
)


def test_a_trained_model_does_not_depend_on_the_order_either(trained: Retriever) -> None:
    phrases = ["lighthouse keeper", "sea story", "poems", "등대", "chess problems at sea", "grief"]
    expected = trained.suggest(phrases, SuggestOptions()).candidates
    assert trained.suggest(phrases, SuggestOptions()).query_has_context
    for seed in range(10):
        random.Random(seed).shuffle(phrases)
        assert trained.suggest(phrases, SuggestOptions()).candidates == expected


def test_sensitive_tags_need_to_be_allowed(trained: Retriever) -> None:
    plain = trained.suggest(["explicit scenes", "gore", "love story"], SuggestOptions())
    assert {"explicit scenes", "graphic violence"}.isdisjoint(row.tag for row in plain.candidates)
    allowed = trained.suggest(["explicit scenes", "gore"], SuggestOptions(allow_sensitive=True))
    assert {"explicit scenes", "graphic violence"} <= {row.tag for row in allowed.candidates[:2]}
    assert "strong language" in {row.tag for row in trained.suggest(["swearing"], SuggestOptions()).candidates}


@pytest.mark.parametrize("phrases", [[""], ["!!!"], ["  ", "¿?"], []])
def test_phrases_that_say_nothing_are_an_error(trained: Retriever, phrases: list[str]) -> None:
    with pytest.raises(InvalidInput):
        trained.suggest(phrases, SuggestOptions())


def test_a_phrase_that_says_nothing_among_others_is_named(trained: Retriever) -> None:
    found = trained.suggest(["poem", "!!!"], SuggestOptions())
    assert found.candidates[0].tag == "poetry"
    assert found.notes == ("left out, without a letter or digit: '!!!'",)


def test_a_context_tag_moves_what_goes_with_it_up(trained: Retriever) -> None:
    def place(tag: str, **options: object) -> int:
        listed = trained.suggest(["story"], replace(SuggestOptions(per_phrase_final_k=30), **options)).candidates  # type: ignore[arg-type]
        return [row.tag for row in listed].index(tag)

    assert place("sea story", context_tags=("lighthouses",)) < place("sea story", context_tags=("chess",))
    with pytest.raises(InvalidInput, match="no tag 'lighthuose'") as caught:
        trained.suggest(["story"], SuggestOptions(context_tags=("lighthuose",)))
    assert "lighthouse" in caught.value.fix


def frequencies(terms: list[str]) -> tuple[list[int], int]:
    return [50 if term == "page" else 1 for term in terms], 100


def test_phrases_of_a_text_are_what_it_names_and_what_it_says_often(reading: Vocabulary) -> None:
    text = "A page about bees. Bees love a page of thyme honey; thyme honey is a page of its own. 등대는 바다를 본다."
    found = key_phrases(text, reading, frequencies, 4)
    assert found[:2] == ["bees", "등대"] or set(found[:2]) == {"bees", "등대"}
    assert "thyme honey" in found
    assert "thyme" not in found
    assert "the" not in found
    assert found == key_phrases(text, reading, frequencies, 4)
    assert key_phrases("", reading, frequencies, 4) == key_phrases("--- ... !!", reading, frequencies, 4) == []


def test_markup_and_single_letters_are_no_phrases(reading: Vocabulary) -> None:
    found = key_phrases('<span class="big">honey</span> <!-- x --> bear\'s b honey', reading, frequencies, 5)
    assert not {"span", "span class", "class", "s", "b", "bear s"} & set(found)
    assert "honey" in found


def test_phrases_of_a_query_do_not_cross_function_words() -> None:
    assert query_phrases("How often must the mirror be cleaned?") == [
        "often must",
        "often",
        "must",
        "mirror",
        "cleaned",
    ]


def test_the_best_cut() -> None:
    assert best_cut([(0.9, True), (0.8, True), (0.4, False)], 2) == pytest.approx(0.6)
    assert best_cut([(0.9, False), (0.8, True)], 1) == pytest.approx(0.775)
    assert best_cut([(0.5, False)], 3) is None
    assert best_cut([], 0) is None


def test_thresholds_are_learned_for_each_tag_and_drawn_to_the_common_one() -> None:
    scores = {i: {"a": 0.9 if i < 5 else 0.7, "b": 0.3 if i < 5 else 0.1} for i in range(10)}
    truth = {i: frozenset({"a", "b"} if i < 5 else {"c"}) for i in range(10)}
    thresholds = calibrate(scores, truth)
    assert thresholds.documents == 10
    assert thresholds.of("a") > thresholds.of("b")
    assert thresholds.of("zzz") == thresholds.common
    assert calibrate(scores, {}) == Thresholds(0.75)
    assert Thresholds(0.5, {"a": 0.2}).choose({"a": 0.3, "b": 0.4, "c": 0.9}) == [("c", 0.9), ("a", 0.3)]


def test_tagging_is_measured_against_hand_counted_figures() -> None:
    truth = {i: frozenset({"a"}) for i in range(10)}
    scores = {i: {"a": 0.9, "b": 0.1} for i in range(10)}
    ours, popularity, _ = document_tagging(scores, truth, ["a", "b", "c", "d"])
    assert (ours.micro_f1, ours.macro_f1, ours.coverage, ours.recall["recall@1"]) == (1.0, 1.0, 0.25, 1.0)
    assert popularity.micro_f1 == 1.0
