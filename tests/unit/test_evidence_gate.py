"""Signals → probability: rises with every signal, stays in bounds, goes by what took part; what a refusal says."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.ask.quotes import least_to_be_sure
from kb.ask.refuse import explain_weakness, held_elsewhere
from kb.ask.weigh import Verdict, Weighed
from kb.config import Config
from kb.evidence.gate import (
    ACROSS,
    MOST_ACROSS,
    READ,
    READ_TWICE,
    SPREAD,
    WEIGHTS_FILE,
    WORDS,
    Score,
    load_models,
    score_signals,
)
from kb.evidence.records import NAMES, Signals, Variant, across_languages

DIGESTS = sorted(name for name in load_models() if len(name) == 64)
ENCODERS = [*DIGESTS, "another encoder", None]

shares = st.none() | st.floats(0, 1)
any_signals = st.builds(Signals, **dict.fromkeys(NAMES, shares))
NOTHING = Signals(**dict.fromkeys(NAMES, 0.0))
EVERYTHING = Signals(**dict.fromkeys(NAMES, 1.0))


@pytest.mark.parametrize("encoder", ENCODERS)
@settings(max_examples=60, deadline=None)
@given(signals=any_signals, name=st.sampled_from(NAMES), more=st.floats(0, 1))
def test_the_score_rises_or_stays_with_every_signal(
    encoder: str | None, signals: Signals, name: str, more: float
) -> None:
    before = score_signals(signals, encoder).probability
    assert 0.0 <= before <= 1.0
    value = getattr(signals, name)
    if value is not None:
        after = score_signals(replace(signals, **{name: max(value, more)}), encoder).probability
        assert after >= before


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_ends(encoder: str | None) -> None:
    assert score_signals(NOTHING, encoder).probability < 0.1
    assert score_signals(EVERYTHING, encoder).probability > 0.8
    # What does not apply speaks neither way: an answered question's is taken.
    assert score_signals(Signals(), encoder).probability > 0.5


@pytest.mark.parametrize(("language", "apart", "near"), [("ko", 0.05, 0.25), ("en", 0.15, 0.35)])
def test_across_languages_what_is_asked_about_is_never_sure(language: str, apart: float, near: float) -> None:
    """By the subject alone: about something else, near, as near as can be."""
    (encoder,) = (digest for digest in DIGESTS if f"{digest}{ACROSS}/{language}" in load_models())
    subjects = [replace(NOTHING, subject=subject) for subject in (apart, near, 1.0)]
    scores = [score_signals(signals, encoder, language=language).probability for signals in subjects]
    assert scores[0] < Config().rag.evidence_gate < scores[1] <= scores[2] == MOST_ACROSS < Config().rag.sure_gate


@pytest.mark.parametrize("language", ["ko", "en"])
def test_passages_in_another_language_alone_are_never_an_answer(language: str) -> None:
    """Nothing but the subject was compared: what an answered question has on average is not taken for the rest."""
    (encoder,) = (digest for digest in DIGESTS if f"{digest}{ACROSS}/{language}" in load_models())
    score = score_signals(across_languages(EVERYTHING, 1.0), encoder, language=language)
    assert (score.probability, score.own_share) == (MOST_ACROSS, 0.0)
    assert score_signals(across_languages(EVERYTHING, 0.0), encoder, language=language).probability < 0.05


def test_passages_in_both_languages_may_say_more() -> None:
    (encoder,) = (digest for digest in DIGESTS if f"{digest}{ACROSS}/ko" in load_models())
    apart = replace(NOTHING, subject=0.05)
    words = score_signals(replace(EVERYTHING, subject=0.05), encoder)
    assert words.probability > 0.8
    assert words.own_share is None
    across = score_signals(replace(apart, subject=0.25), encoder, language="ko")
    own = score_signals(replace(NOTHING, subject=None), encoder, language="ko").probability
    about = load_models()[f"{encoder}{ACROSS}/ko"].probability(replace(NOTHING, subject=0.25))
    assert across.probability == min(MOST_ACROSS, about) > own
    assert across.own_share == pytest.approx(own / about)


def test_variants() -> None:
    known = ["fitted"] * len(DIGESTS)
    assert [score_signals(NOTHING, encoder).variant for encoder in ENCODERS] == [*known, "unfitted", "words"]


def test_a_reader_without_weights_of_its_own_has_no_say() -> None:
    liked = replace(NOTHING, reader=1.0, reader_sentence=1.0, second_reader=1.0, second_sentence=1.0)
    for encoder in ENCODERS:
        assert score_signals(liked, encoder, reader_digests=["another"]) == score_signals(NOTHING, encoder)


def test_a_second_reader_has_a_say_after_the_first() -> None:
    """Both like it, or the second does not, or has not read, or is a stranger."""
    both = fitted_readers()
    liked = replace(EVERYTHING, second_reader=0.0, second_sentence=0.0)
    for encoder in (DIGESTS[0], None):
        everything = score_signals(EVERYTHING, encoder, reader_digests=both)
        assert score_signals(liked, encoder, reader_digests=both).probability < everything.probability
        alone = score_signals(liked, encoder, reader_digests=both[:1])
        assert alone == score_signals(EVERYTHING, encoder, reader_digests=[both[0], "another"])
        assert alone == score_signals(replace(liked, second_reader=None), encoder, reader_digests=both)
        unread = score_signals(EVERYTHING, encoder)
        assert score_signals(EVERYTHING, encoder, reader_digests=["another", both[1]]) == unread


def fitted_readers() -> list[str]:
    found: list[str] = json.loads((files("kb.evidence") / WEIGHTS_FILE).read_text())["readers"]["en"]
    return found


def test_an_encoder_without_weights_is_believed_when_it_is_near() -> None:
    """A question in another language shares no word with its answer: words alone must not refuse it."""
    near = replace(NOTHING, margin=0.6)
    assert score_signals(near, None).probability < 0.1
    assert score_signals(near, "multilingual").probability > 0.5
    assert score_signals(replace(EVERYTHING, margin=0.0), "multilingual").probability > 0.8
    assert score_signals(NOTHING, "multilingual").probability < 0.1


def test_the_shipped_weights_are_of_signals_and_not_negative() -> None:
    for name, model in load_models().items():
        assert set(model.weights) <= set(NAMES), name
        assert all(weight >= 0 for weight in model.weights.values()), name
        assert set(model.typical) == set(model.weights), name
        assert all(0.0 <= value <= 1.0 for value in model.typical.values())
    vectors = {"cosine", "sentence_cosine", "margin", "agreement", "nearness", "by_chance", "alike"}
    again = {"second_reader", "second_sentence"}
    read = {"reader", "reader_sentence", *again}
    for name, model in load_models().items():
        assert not name.startswith(WORDS) or not vectors & set(model.weights)
        assert READ in name or not read & set(model.weights)
        assert READ_TWICE in name or not again & set(model.weights)
    assert set(load_models()[SPREAD].weights) == {"margin"}


def verdict(weakest: str | None, missing: tuple[str, ...] = (), apart: tuple[str, ...] = ()) -> Verdict:
    return Verdict(Weighed(Signals(cosine=0.2), missing, apart), Score(0.05, "fitted", weakest))


@pytest.mark.parametrize(
    ("found", "english", "korean"),
    [
        (verdict("passage_coverage", ("zircon",)), "No passage mentions 'zircon'.", "문서 어디에도 'zircon' 언급이 없습니다."),
        (verdict("cosine", ("zircon",)), "No passage mentions 'zircon'.", "문서 어디에도 'zircon' 언급이 없습니다."),
        (verdict("adjacency", (), ("a", "b")), "No passage close to your question mentions 'a', 'b' together.", "질문에 가까운 글 가운데 'a', 'b' 모두를 다룬 것이 없습니다."),
        # What is said in any talk, and a verb in the past, tell nothing of a topic.
        (verdict("cosine", ("hasn't", "got", "zircon")), "No passage mentions 'zircon'.", "문서 어디에도 'zircon' 언급이 없습니다."),
        (verdict("cosine", ("stuff", "심었지")), "No passage seems to answer it clearly.", "뚜렷이 답하는 글이 없어 보입니다."),
        (verdict("nearness"), "No passage seems to answer it clearly.", "뚜렷이 답하는 글이 없어 보입니다."),
        (
            verdict("agreement"),
            "Some passages touch the topic, none seems to answer the question.",
            "주제에 닿는 글은 있으나, 질문에 답하는 글은 없어 보입니다.",
        ),
    ],
)  # fmt: skip
def test_what_was_weak_is_said_in_both_languages(found: Verdict, english: str, korean: str) -> None:
    assert explain_weakness(found, "en") == english
    assert explain_weakness(found, "ko") == korean


@pytest.mark.parametrize(
    ("elsewhere", "is_placed", "told", "word"),
    [
        ((), False, "No passage mentions 'zircon', 'Oslo'.", None),
        (("Oslo",), False, "No passage mentions 'zircon'.", None),
        (("Oslo", "zircon"), False, "No passage close to your question mentions 'zircon', 'Oslo'.", "zircon"),
        (("Oslo", "zircon"), True, "No passage close to your question mentions 'zircon'; the last one below does.", "zircon"),
    ],
)  # fmt: skip
def test_what_documents_hold_elsewhere_is_not_said_to_be_nowhere(
    elsewhere: tuple[str, ...], is_placed: bool, told: str, word: str | None
) -> None:
    found = verdict("cosine", ("zircon", "Oslo"))
    found = replace(found, weighed=replace(found.weighed, elsewhere=elsewhere))
    assert explain_weakness(found, "en", is_placed=is_placed) == told
    assert held_elsewhere(found) == word


def test_what_is_lacking_is_named_before_what_is_missing() -> None:
    found = replace(
        verdict("cosine", ("zircon", "much")), weighed=Weighed(Signals(), ("much", "zircon"), (), ("zircon",))
    )
    assert explain_weakness(found, "en") == "No passage mentions 'zircon'."


@pytest.mark.parametrize(
    ("alike", "variant", "language", "least"),
    [
        (0.83, "fitted", "en", 0.8),
        (0.82, "fitted", "en", 0.6),
        (0.9, "fitted", "ko", 0.6),
        (0.9, "unfitted", "en", 0.6),
        (None, "words", "en", 0.6),
    ],
)
def test_of_documents_of_one_subject_more_is_asked(
    alike: float | None, variant: Variant, language: str, least: float
) -> None:
    found = Verdict(Weighed(Signals(alike=alike)), Score(0.7, variant, None))
    assert least_to_be_sure(0.6, found, language) == pytest.approx(least)
    assert least_to_be_sure(1.0, found, language) == 1.0
    assert least_to_be_sure(0.6, None, language) == 0.6
