"""The neighbour sources and the context against gensim, scikit-learn and brute force; what training refuses and leaves out."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kb.config import TagsConfig
from kb.errors import InvalidInput
from kb.tags.context import Context, train_context
from kb.tags.fasttext import (
    MAX_CHARS,
    MIN_CHARS,
    FastTextIndex,
    Trained,
    epochs_for,
    gram_hashes,
    train_fasttext,
)
from kb.tags.grams import COMMON_GRAM_TOKENS, JOINED_WEIGHT, GramIndex, build_grams, grams_of
from kb.tags.model import Model, model_folder, model_stamp, write_model
from kb.tags.neighbours import fasttext_neighbours, gram_neighbours, make_source
from kb.tags.train import train_model
from kb.tags.vocabulary import Tag, Vocabulary, make_vocabulary
from kb.tags.words import split_words
from tests.tags.stubs import vocabulary_of

WORDS = ["dog", "machine_learning", "c++", "소유권", "日本語", "naïve", "a", "🙂", "ﬁ_ligature", "x" * 60]


@pytest.mark.parametrize("word", WORDS)
def test_ngrams_fall_into_the_buckets_that_gensim_gives_them(word: str) -> None:
    from gensim.models.fasttext import ft_ngram_hashes

    for buckets in (2_000, 49_999, 200_000):
        assert gram_hashes(word, buckets) == ft_ngram_hashes(word, MIN_CHARS, MAX_CHARS, buckets)


def test_vectors_are_those_of_gensim() -> None:
    """Of tokens as they are; of others up to n-grams that stand in no token, which gensim fills with random numbers."""
    from gensim.models import FastText

    import kb.tags.fasttext as module

    tokens = ["cat", "dog", "guide_dog", "k9", "등대", "등대지기"]
    kept: list[FastText] = []
    original = module._export

    def keep(model: FastText, *rest: object) -> Trained:
        kept.append(model)
        return original(model, *rest)  # type: ignore[arg-type]

    module._export = keep  # type: ignore[assignment]
    try:
        trained = train_fasttext(tokens, [["cat", "dog"], ["dog", "등대"]], {"dog": ["k9"]}, 0.1, 30, 1)
    finally:
        module._export = original
    assert trained is not None
    index = FastTextIndex(trained.arrays, tokens, trained.buckets, trained.random_cosine)
    vectors = kept[0].wv
    for token in tokens:
        assert index.vector(token) == pytest.approx(vectors.get_vector(token, norm=True), abs=1e-6)
    unused = np.setdiff1d(np.arange(trained.buckets), trained.arrays["bucket_ids"])
    vectors.vectors_ngrams[unused] = 0
    for word in ("dogs", "guide", "등대섬", "cat_and_dog"):
        assert index.vector(word) == pytest.approx(vectors.get_vector(word, norm=True), abs=1e-5)
    assert index.vector("") is None
    assert index.score(["", "dog"])[0] is None


def test_a_gram_score_is_the_cosine_of_the_weighted_vectors() -> None:
    tokens = ["c++", "css_framework", "framework", "qt", "machine-learning", "machinelearning"]
    index = GramIndex(build_grams(tokens), len(tokens))

    def parts(token: str) -> list[tuple[str, float]]:
        words = split_words(token)
        weights = [rarity(words_with, word) for word in words]
        joined = [("".join(words), JOINED_WEIGHT * math.sqrt(sum(w * w for w in weights)))] if len(words) > 1 else []
        return list(zip(words, weights, strict=True)) + joined

    def rarity(counts: Counter[str], name: str) -> float:
        return math.log((1 + len(tokens)) / (1 + counts[name])) + 1

    words_with = Counter(word for token in tokens for word in set(split_words(token)))
    pieces = {t: split_words(t) + (["".join(split_words(t))] if len(split_words(t)) > 1 else []) for t in tokens}
    grams_with = Counter(gram for token in tokens for gram in {g for piece in pieces[token] for g in grams_of(piece)})

    def vector(token: str) -> dict[str, float]:
        total: Counter[str] = Counter()
        for word, weight in parts(token):
            raw = {g: (1 + math.log(n)) * rarity(grams_with, g) for g, n in Counter(grams_of(word)).items()}
            length = math.sqrt(sum(v * v for v in raw.values()))
            for gram, value in raw.items():
                total[gram] += weight * value / length
        length = math.sqrt(sum(v * v for v in total.values()))
        return {gram: value / length for gram, value in total.items()}

    for query in ("qt_framework", "framework", "machine_learning", "learning", "ruby"):
        mine = vector(query)
        expected = [sum(mine.get(g, 0) * v for g, v in vector(token).items()) for token in tokens]
        assert index.score(query) == pytest.approx(expected, abs=1e-5)
    assert index.score("machine learning")[4] == pytest.approx(1.0)


def test_initials_meet_what_they_stand_for() -> None:
    tokens = ["ai", "natural-language-processing", "open-policy-agent", "rpc", "spa"]
    source = gram_neighbours(GramIndex(build_grams(tokens), len(tokens)), tokens)
    assert source.neighbours(["nlp"], 1)[0][0][0] == "natural-language-processing"
    assert source.neighbours(["opa"], 1)[0][0][0] == "open-policy-agent"
    assert source.neighbours(["remote_procedure_call"], 1)[0][0] == ("rpc", pytest.approx(0.8))
    assert source.neighbours(["artificial_intelligence"], 1)[0][0] == ("ai", pytest.approx(0.5, abs=0.1))


def test_a_rare_short_word_counts_more_than_a_common_long_one() -> None:
    tokens = ["css-framework", "framework", "qt", "robot-framework", "testing-framework", "web-framework"]
    source = gram_neighbours(GramIndex(build_grams(tokens), len(tokens)), tokens)
    assert source.neighbours(["qt_framework"], 1)[0][0][0] == "qt"


def test_in_a_large_vocabulary_common_ngrams_weigh_nothing() -> None:
    tokens = [f"{a}{b}{c}_thing" for a in "bcdfg" for b in "aeiou" for c in "klmnprstvwxyzbcdfghj" for _ in (0,)]
    tokens = sorted({f"{t}{i}" for t in tokens for i in range(5)})
    index = GramIndex(build_grams(tokens), len(tokens))
    assert len(tokens) > COMMON_GRAM_TOKENS
    scores = index.score("bak_thing3")
    assert tokens[int(np.argmax(scores))] == "bak_thing3"
    assert scores.max() == pytest.approx(1.0)
    assert index.score("thing").max() < 0.2


@pytest.mark.parametrize("kind", ["both", "fasttext", "ngrams"])
def test_every_source_keeps_to_the_contract(model: Model, kind: str) -> None:
    from kb.tags.retriever import trained_retriever

    source = trained_retriever(model, replace(TagsConfig(), neighbours=kind)).source
    lookups = ["science_fictions", "등대지기", "", "++", "sea_story", "zzzzqqq", "x" * 3000]
    found = source.neighbours(lookups, 7)
    assert len(found) == len(lookups)
    for lookup, near in zip(lookups, found, strict=True):
        assert len(near) <= 7
        assert near == sorted(near, key=lambda row: (-row[1], row[0]))
        assert all(token in model.tokens and token != lookup and math.isfinite(score) for token, score in near)
    assert found[2] == found[3] == []
    assert source.neighbours(lookups[::-1], 7)[::-1] == [
        [(token, pytest.approx(score, abs=1e-6)) for token, score in near] for near in found
    ]
    assert found[0][0][0] == "science_fiction"


def test_the_context_is_that_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    items = [["a", "b"], ["a", "b", "c"], ["c", "d-e"], ["d-e", "f"], ["f"], ["a", "f"]]
    space = train_context(items)
    assert space is not None
    documents = {tag: [other for item in items if tag in item for other in item] for tag in space.tags}
    vectorizer = TfidfVectorizer(analyzer=lambda words: words)
    weighted = vectorizer.fit_transform([documents[tag] for tag in space.tags]).toarray()
    left, singular, right = np.linalg.svd(weighted, full_matrices=False)
    kept = len(space.arrays["context_rows"][0])
    rows = (left * singular)[:, :kept]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    terms = list(vectorizer.get_feature_names_out())
    context = Context(space.arrays, space.tags, space.tags)
    for weights in ({"a": 1.0}, {"d_e": 1.0, "c": 1.0}, {"a": 1.0, "f": 2.5, "nowhere": 9.0}):
        raw = np.zeros(len(terms))
        for term, weight in weights.items():
            if term.replace("_", "-") in terms:
                place = terms.index(term.replace("_", "-"))
                raw[place] = weight * vectorizer.idf_[place]
        query = right[:kept] @ raw
        expected = rows @ (query / np.linalg.norm(query))
        vector = context.query(weights)
        assert vector is not None
        found = context.cosines(vector, [*space.tags, "unknown"])
        assert [found[tag] for tag in space.tags] == pytest.approx(list(expected), abs=1e-5)
        assert "unknown" not in found
    assert context.query({"nowhere": 1.0}) is None
    assert context.knows("d_e")


@pytest.mark.parametrize("items", [[], [["a"], ["b"], ["c"]], [["a", "b"]]])
def test_items_that_make_no_context(items: list[list[str]]) -> None:
    assert train_context(items) is None


def test_training_is_deterministic(reading: Vocabulary, model: Model, tmp_path: Path) -> None:
    again = train_model(reading, TagsConfig(), "reading.json").model
    stamp = write_model(tmp_path, again, 1, "state")
    assert sorted(again.arrays) == sorted(model.arrays)
    for name, array in again.arrays.items():
        assert np.array_equal(array, model.arrays[name]), name
    assert stamp.encoder_digest == reading.digest


def test_nothing_in_a_model_is_pickled_and_arrays_are_mapped(model_home: Path, model: Model) -> None:
    from safetensors.numpy import load_file

    stamp = model_stamp(model_home)
    assert stamp is not None
    folder = model_folder(model_home, stamp)
    assert {file.suffix for file in folder.iterdir()} == {".safetensors", ".json"}
    for name, array in load_file(folder / "arrays.safetensors").items():
        assert np.array_equal(array, model.arrays[name])
        assert not model.arrays[name].flags.owndata
        assert not model.arrays[name].flags.writeable


def test_a_model_that_learned_nothing_is_refused() -> None:
    """One item of thirty tags: no tag is nearer to another than to all."""
    names = [f"tag-{i}" for i in range(30)]
    vocabulary = make_vocabulary([Tag(name) for name in names], {}, [names])
    with pytest.raises(InvalidInput, match="FastText learned nothing in 400 epochs: random tags have a mean cosine of"):
        train_model(vocabulary, replace(TagsConfig(), neighbours="fasttext"), "x")
    trained = train_model(vocabulary, TagsConfig(), "x")
    assert ("word_vectors" in trained.model.arrays, len(trained.notes)) == (False, 1)


@pytest.mark.parametrize(
    ("random_cosine", "neighbour_cosine", "passes"),
    [(0.4, 0.8, True), (0.6, 0.76, True), (0.61, 0.99, False), (0.5, 0.6, False), (0.993, 0.995, False)],
)
def test_what_counts_as_learned(random_cosine: float, neighbour_cosine: float, passes: bool) -> None:
    assert Trained({}, 1, 1, random_cosine, neighbour_cosine).has_learned is passes


def test_a_vocabulary_without_items_and_aliases_has_ngrams_alone() -> None:
    trained = train_model(vocabulary_of("dog", "cat"), TagsConfig(), "x")
    assert "word_vectors" not in trained.model.arrays
    assert trained.model.context_tags == ()
    assert len(trained.notes) == 2


def test_of_two_spellings_that_differ_by_a_hyphen_one_is_a_neighbour() -> None:
    vocabulary = make_vocabulary([Tag("web-app"), Tag("dog")], {"web app": ["web-app"], "d-g": ["dog"]})
    assert vocabulary.neighbour_tokens() == ("d-g", "dog", "web-app")


def test_without_fasttext_ngrams_stand_in() -> None:
    tokens = ["cat", "cats"]
    grams = GramIndex(build_grams(tokens), len(tokens))
    ((near,),) = gram_neighbours(grams, tokens).neighbours(["cat"], 5)
    assert near[0] == "cats"
    assert near[1] > 0
    for kind in ("both", "fasttext"):
        assert make_source(kind, tokens, grams, None, 0.1).neighbours(["cat"], 5) == [[near]]
    unknown = FastTextIndex({}, [], 1, 0.0)
    assert make_source("fasttext", tokens, grams, unknown, 0.1).neighbours([""], 5) == [[]]
    assert fasttext_neighbours(unknown, []).neighbours([], 3) == []


def test_more_data_needs_fewer_epochs() -> None:
    assert [epochs_for(n) for n in (10, 10_000, 10_000_000)] == [400, 45, 15]
