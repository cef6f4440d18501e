"""What a reader says of a claim, and what the verdict makes of it; the reader here says what the test wants."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kb.arrays import ReadClaims
from kb.ask.verify import has_tick, verify
from kb.support.check import (
    NOT_FOUND,
    OUTWEIGHED,
    VERIFIED,
    WEAK,
    check_support,
    read_claim,
    read_claims,
    score_of,
)
from kb.support.faults import DENIED, Found
from tests.unit.test_pack_and_prompt import chunk

TEXT = "The warden closes the night gate at ten. Visitors may wait in the hall. The hall was repainted after the roof had leaked."
SAID = "It is the warden who shuts the gate at night."
PORTERS = "Visitors may wait in the hall, and porters carry their heavy luggage upstairs."


class Says:
    """Gives every claim the same probability, none where the texts lack a word, and keeps what it was asked."""

    def __init__(self, probability: float | None, where: str = "") -> None:
        self.probability, self.where = probability, where
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float | None]:
        self.asked += [(claim, tuple(texts)) for claim, texts in pairs]
        return [self.probability if self.where in " ".join(texts) else 0.0 for _, texts in pairs]


def score(claim: str, read: ReadClaims | None, text: str = TEXT) -> float:
    return check_support(claim, [text], read=read).score


def test_what_a_reader_finds_unsaid_is_not_backed() -> None:
    assert score(SAID, None) >= VERIFIED
    assert score(SAID, Says(0.99)) >= VERIFIED
    assert score(SAID, Says(0.01)) < VERIFIED
    (doubted,) = check_support(SAID, [TEXT], read=Says(0.01)).sentences
    assert doubted.status in ("weak", "unsupported")
    assert doubted.reasons == (NOT_FOUND,)
    assert check_support(SAID, [TEXT], read=Says(0.99)).sentences[0].reasons == ()


def test_words_that_no_text_holds_may_be_said_all_the_same() -> None:
    assert score(PORTERS, None) < VERIFIED
    assert score(PORTERS, Says(0.999)) >= VERIFIED
    assert score(PORTERS, Says(0.3)) < VERIFIED


def test_without_a_probability_words_decide() -> None:
    assert score(SAID, Says(None)) == score(SAID, None)


def test_the_likelier_a_reader_finds_it_the_higher_the_score() -> None:
    found = [score(SAID, Says(p)) for p in (0.0, 0.2, 0.5, 0.8, 1.0)]
    assert found == sorted(found)
    assert all(0.0 < value < 1.0 for value in found)


@pytest.mark.parametrize(
    "claim",
    [
        "The warden closes the night gate at eleven.",  # a fault in a near copy: no reader may overrule it
        "The warden closes the night gate at ten.",  # word for word
        "According to the guide, the warden closes the night gate at ten.",
        "```\nclose(gate)\n```",
        "```\nlock(door)\n```",
    ],
)
def test_what_is_clear_is_not_read(claim: str) -> None:
    read = Says(1.0)
    assert check_support(claim, [TEXT], read=read).sentences == check_support(claim, [TEXT]).sentences
    assert read.asked == []


def test_of_a_copy_in_another_order_a_reader_that_is_not_sure_is_believed() -> None:
    claim = "At ten the warden closes the night gate."  # its words and pairs of words, in another order
    by_words = check_support(claim, [TEXT])
    for fair in (0.8, 0.99):
        assert check_support(claim, [TEXT], read=Says(fair)).sentences == by_words.sentences
    assert check_support(claim, [TEXT], read=Says(0.6)).status == "likely"
    (doubted,) = check_support(claim, [TEXT], read=Says(0.05)).sentences
    assert (doubted.status in ("weak", "unsupported"), doubted.reasons) == (True, (NOT_FOUND,))


@pytest.mark.parametrize(("said", "claim", "status"), [
    (0.7, "It is the warden who shuts the gate at night.", "likely"),
    (0.999, "It is the warden who shuts the gate at night.", "verified"),
    (0.3, "It is the warden who shuts the gate at night.", "likely"),
    (0.01, "It is the warden who shuts the gate at night.", "unsupported"),
    (0.9, "밤에 문을 닫는 사람은 관리인이다.", "likely"),
    (0.95, "밤에 문을 닫는 사람은 관리인이다.", "verified"),
    (0.94, "밤에 문을 닫는 사람은 관리인이다.", "likely"),
    (0.95, "The warden shuts the gate at night at ten, and visitors may wait in the hall.", "verified"),
    (0.94, "The warden shuts the gate at night at ten, and visitors may wait in the hall.", "likely"),
])  # fmt: skip
def test_only_a_reader_that_is_sure_gives_a_tick_to_other_words(said: float, claim: str, status: str) -> None:
    text = TEXT if claim.isascii() else "관리인이 밤 열 시에 정문을 잠근다. 방문객은 현관에서 기다려도 된다."
    assert check_support(claim, [text], read=Says(said)).status == status


@pytest.mark.parametrize(
    ("against", "absent", "may_be"),
    [
        ((DENIED,), (), True),
        ((), ("3 is not there", "4 is not there"), True),
        (("the text excepts 'Monday'", DENIED), ("3 is not there",), True),
        (("'open' is the opposite of 'closed'",), (), False),
        (("'Ada' stands for 'Tom'",), (), False),
        (("'Ada' and 'Tom' have changed places", DENIED), (), False),
        (("it says 'must' where the text says 'may'",), (), False),
    ],
)
def test_what_a_reader_may_outweigh(against: tuple[str, ...], absent: tuple[str, ...], may_be: bool) -> None:
    assert Found(against, absent).may_be_said_otherwise() is may_be


def test_no_reader_outweighs_a_duty() -> None:
    text = "The warden may let us in by night."
    claim = "By night the warden, it is told, must let each of us in."
    against = check_support(claim, [text]).sentences
    assert against[0].status == "contradicted"
    assert check_support(claim, [text], read=Says(1.0)).sentences == against


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "Three things lie in the north room: keys, and something to see by.",
            "In the north room he has keys and a lamp.",
        ),
        ("북쪽 방에 있는 물건은 모두 3개다.", "관리인은 북쪽 방에 열쇠와 등을 둔다."),
        (
            "The tower is not lit while the sea is calm.",
            "While the sea is calm, the tower stays dark; in a storm it is lit.",
        ),
    ],
)
def test_a_reader_that_is_sure_outweighs_doubts_about_numbers_and_denials(claim: str, text: str) -> None:
    assert score(claim, None, text) < VERIFIED
    for said in (OUTWEIGHED, 1.0):  # never with a tick
        (backed,) = check_support(claim, [text], read=Says(said)).sentences
        assert (backed.status, backed.reasons) == ("likely", ())
    (doubted,) = check_support(claim, [text], read=Says(OUTWEIGHED - 0.01)).sentences
    assert doubted == check_support(claim, [text]).sentences[0]


def test_in_a_near_copy_no_reader_outweighs_a_number() -> None:
    text = (
        "Every spring the keepers carry the heavy brass lamp from the cellar to the northern gallery of the tower and "
        "polish it there with soft wool before visitors arrive."
    )
    claim = text.replace("the keepers", "the 3 keepers")
    read = Says(0.99)
    assert check_support(claim, [text], read=read).sentences == check_support(claim, [text]).sentences
    assert read.asked == []


def test_what_a_text_does_not_mention_is_not_backed() -> None:
    assert score("Ostriches lay enormous eggs.", Says(0.001)) < WEAK


def test_what_is_read_is_not_encoded() -> None:
    encoded: list[str] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        encoded.extend(texts)
        return np.ones((len(texts), 1), np.float32)

    check_support(SAID, [TEXT], encode, Says(0.9))
    assert encoded == []
    check_support(SAID, [TEXT], encode, Says(None))
    assert SAID in encoded


def test_the_nearer_a_copy_the_more_an_unsaid_name_counts() -> None:
    copied = "Visitors may wait in the hall with Ada Quill."
    reworded = "Guests of Ada Quill may stay in the hall until the gate opens."
    fair = Says(0.55)
    assert score(copied, fair) < VERIFIED <= score(reworded, fair)


def test_each_sentence_is_read_with_all_that_it_cites() -> None:
    read = Says(0.9)
    read_claims([SAID, PORTERS], [(TEXT, "Gates"), (TEXT,)], read=read)
    assert read.asked == [(SAID, (TEXT, "Gates")), (PORTERS, (TEXT,))]


def test_an_answer_that_a_reader_doubts_has_no_tick() -> None:
    passages = {1: chunk(1, TEXT)}
    answer = "It is the warden who shuts the gate at night [#1]."
    assert has_tick(verify(answer, passages, None, Says(0.99)).verification)
    assert not has_tick(verify(answer, passages, None, Says(0.01)).verification)


def test_a_sentence_without_a_marker_is_read_too() -> None:
    passages = {1: chunk(1, TEXT)}
    answer = "Visitors may wait in the hall [#1]. It is the warden who shuts the gate at night."
    assert has_tick(verify(answer, passages, None, Says(0.99)).verification)
    assert not has_tick(verify(answer, passages, None, Says(0.01)).verification)


def test_another_passage_backs_a_sentence_only_where_the_reader_finds_it_there() -> None:
    passages = {1: chunk(1, "The shop sells bread."), 2: chunk(2, TEXT)}
    answer = "It is the warden who shuts the gate at night [#1]."
    assert verify(answer, passages).verification.sentences[0].misattributed_to == 2
    assert verify(answer, passages, None, Says(0.99, "warden")).verification.sentences[0].misattributed_to == 2
    assert verify(answer, passages, None, Says(0.01)).verification.sentences[0].misattributed_to is None


def test_each_reader_has_weights_of_its_own() -> None:
    reading = replace(read_claim(SAID, [TEXT]), reader=0.7)
    assert not reading.is_korean
    assert read_claim("관리인이 밤에 문을 닫는다.", [TEXT]).is_korean
    assert score_of(replace(reading, is_korean=True)) != score_of(reading)


def test_a_claim_with_one_contradicted_sentence_of_many_is_not_backed() -> None:
    text = "The gate closes at ten. The hall is warm. The lamp burns. The cat sleeps. The bell rings at noon."
    found = check_support(text.replace("noon", "midnight").replace("at ten", "at eleven"), [text])
    assert found.status == "contradicted"
    assert not found.backed
    many = check_support(f"{text} {text} {text} The gate closes at eleven.", [text])
    assert (many.score >= VERIFIED, many.status, many.backed) == (True, "contradicted", False)


def test_what_another_passage_may_say_is_likely_and_shown_with_it() -> None:
    passages = {1: chunk(1, "The shop sells bread."), 2: chunk(2, TEXT)}
    found = verify("It is the warden who shuts the gate at night [#1].", passages, None, Says(0.6, "warden"))
    (sentence,) = found.verification.sentences
    assert (sentence.status, sentence.misattributed_to, sentence.reasons) == ("likely", 2, ())
    assert found.markers == (1, 2)
    assert not has_tick(found.verification)


def test_what_the_cited_passage_speaks_against_another_one_must_say_beyond_doubt() -> None:
    against = "The porter, never the warden, shuts the gate at night."
    passages = {1: chunk(1, against), 2: chunk(2, TEXT)}
    answer = "It is the warden who shuts the gate at night [#1]."
    told = {said: verify(answer, passages, None, Says(said, "ten")).verification for said in (0.6, 0.999)}
    assert [(t.status, t.sentences[0].status) for t in told.values()] == [
        ("contradicted", "contradicted"),
        ("weak", "misattributed"),
    ]
    assert told[0.999].sentences[0].reasons == ()


def test_what_stands_in_two_passages_is_read_with_both() -> None:
    """Unless the cited one lacks a number: the other may have it of another thing."""
    passages = {1: chunk(1, "The shop sells bread and has 41 shelves."), 2: chunk(2, TEXT)}

    def read(pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float | None]:
        return [0.8 if len(texts) > 2 else 0.01 for _, texts in pairs]  # the last text is the headings

    (sentence,) = verify(
        "Bread is had from the shop before the warden shuts it [#1].", passages, None, read
    ).verification.sentences
    assert (sentence.status, sentence.misattributed_to) == ("likely", 2)
    (sentence,) = verify(
        "Bread is had from the shop by 77 people before the warden shuts it [#1].", passages, None, read
    ).verification.sentences
    assert (sentence.status, sentence.misattributed_to) == ("unsupported", None)
