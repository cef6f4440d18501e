"""The signals of the evidence gate, one table each; bounds and order for anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.evidence.measure import Field, Logits, Passage, best_windows, coverage, idf_weights, weigh, with_second_reader
from kb.evidence.naming import names_lacking
from kb.evidence.question import units_of
from kb.evidence.records import NAMES, Signals
from kb.language.asked import matches_answer_type
from kb.language.sentences import sentences_of
from kb.llm.protocol import Evidence
from kb.text import analyze


def passage(text: str, title: str = "", cosine: float | None = None) -> Passage:
    titles = frozenset(analyze(title))
    sentences = tuple(sentences_of([Evidence(1, text, (title,) if title else (), cosine)]))
    return Passage(frozenset(analyze(text)) | titles, titles, sentences, cosine)


def signals(
    question: str,
    passages: Sequence[Passage],
    frequencies: dict[str, int] | None = None,
    cosines: Sequence[float] = (),
    background: float | None = None,
    orders: tuple[Sequence[int], Sequence[int]] = ((), ()),
    logits: Sequence[float] = (),
    again: Sequence[float] = (),
    alike: float | None = None,
) -> Signals:
    """Signals in a corpus of 100 chunks, each term of the question in 5 of them unless said otherwise."""
    units = units_of(question)
    frequencies = {t: 5 for u in units for t in u.terms} | (frequencies or {})
    weights = idf_weights(units, frequencies, 100)
    windows = best_windows(units, weights, passages, 12)
    known = frozenset(t for t, n in frequencies.items() if n)
    found = weigh(
        question, units, weights, passages, windows, known=known, sentence_cosines=cosines,
        field=None if background is None else Field(background, alike), lexical_order=orders[0], vector_order=orders[1],
        read=Logits(logits, logits[:1]),
    )  # fmt: skip
    return with_second_reader(found, Logits(again, again[:1]))


def test_a_row_of_a_table_is_a_window_of_its_own() -> None:
    codes = passage("E-1,low,Lamp out\nE-2,high,Mast down", "code, severity, meaning")
    units = units_of("What does E-2 mean?")
    best, *_ = best_windows(units, [1.0] * len(units), [codes, MIRROR], 12)
    assert best.text == "code: E-2; severity: high; meaning: Mast down."
    [first] = [w for w in best_windows(units, [1.0] * len(units), [codes], 12) if "E-1" in w.text]
    assert "E-2" not in first.text


MIRROR = passage("The mirror of Marigold must be cleaned every 14 days. Use no cloth.", "Cleaning", 0.6)
KOREAN = passage("마리골드의 거울은 14일마다 청소해야 한다. 천은 쓰지 않는다.", "거울 관리")


@pytest.mark.parametrize(
    ("question", "found", "wanted"),
    [
        ("How often must Marigold's mirror be cleaned?", MIRROR, 1.0),
        ("마리골드 거울은 며칠마다 청소해야 하나요?", KOREAN, 1.0),
        ("마리골드의 거울을 청소하는 주기는 얼마입니까?", KOREAN, 0.75),
        ("mirror zircon", MIRROR, 0.5),
        ("거울 지르콘", KOREAN, 0.5),
        ("zircon", MIRROR, 0.0),
        ("지르콘", KOREAN, 0.0),
    ],
)
def test_coverage(question: str, found: Passage, wanted: float) -> None:
    seen = signals(question, [found])
    assert seen.passage_coverage == pytest.approx(wanted, abs=1e-9)
    assert seen.first_coverage == seen.passage_coverage == seen.packed_coverage


def test_a_word_the_corpus_lacks_is_charged_in_full() -> None:
    """muninndb#715: absent terms weigh the most, so that one common word does not cover a question."""
    frequencies = {"mirror": 50, "zircon": 0}
    seen = signals("mirror zircon", [MIRROR], frequencies)
    common = math.log1p(50.5 / 50.5) / math.log1p(100.5 / 0.5)
    assert seen.passage_coverage == pytest.approx(common / (common + 1))
    assert seen.known == seen.passage_coverage


@pytest.mark.parametrize(
    ("question", "names", "numbers"),
    [
        ("When did Marigold open?", 1.0, None),
        ("When did Thistle open?", 0.0, None),
        ("Is it Marigold or Thistle?", 0.5, None),
        ("what is cleaned every 14 days", None, 1.0),
        ("what is cleaned every 15 days", None, 0.0),
        ("what is cleaned on day 3", None, None),  # short numbers are written in many ways
        ("마리골드 거울은 14일마다 무엇을 하나요?", None, 1.0),
    ],
)
def test_names_and_numbers(question: str, names: float | None, numbers: float | None) -> None:
    seen = signals(question, [MIRROR, KOREAN])
    assert (seen.names, seen.numbers) == (names, numbers)


@pytest.mark.parametrize(
    ("lexical", "vector", "wanted"),
    [([1, 2, 3], [1, 2, 3], 1.0), ([1, 2], [3, 4], 0.0), ([], [1], None), ([1], [], None), ([1, 2], [2, 1], 0.5)],
)
def test_agreement(lexical: list[int], vector: list[int], wanted: float | None) -> None:
    assert signals("mirror", [MIRROR], orders=(lexical, vector)).agreement == wanted


def test_margin_is_over_the_corpus_own_background() -> None:
    """The same cosine is near in a corpus where chance is low and far where it is high, as with E5."""
    assert signals("mirror", [MIRROR], background=0.1).margin == pytest.approx(0.5 / 0.9)
    assert signals("mirror", [MIRROR], background=0.55).margin == pytest.approx(0.05 / 0.45)
    assert signals("mirror", [MIRROR], background=0.7).margin == 0.0
    assert signals("mirror", [KOREAN], background=0.1).margin is None


def test_nearness_counts_in_what_sets_the_corpus_apart() -> None:
    """A passage .1 above chance stands out of a speech, and hardly of an encyclopaedia."""
    speech, lexicon = (signals("mirror", [MIRROR], background=0.5, alike=alike) for alike in (0.8, 0.5))
    assert (speech.nearness, lexicon.nearness) == (pytest.approx(0.5), pytest.approx(0.2))
    assert (speech.margin, speech.by_chance, speech.alike) == (lexicon.margin, 0.5, 0.8)
    few = signals("mirror", [MIRROR], background=0.5)
    assert (few.nearness, few.alike) == (None, None)


def test_the_window_spans_two_sentences_of_one_passage_only() -> None:
    question = "alpha omega"
    together = passage("The alpha stands. The omega falls.")
    apart = passage("The alpha stands. Nothing is here. The omega falls.")
    assert signals(question, [together]).sentence_coverage == 1.0
    assert signals(question, [apart]).sentence_coverage == 0.5
    assert signals(question, [passage("The alpha stands."), passage("The omega falls.")]).passage_coverage == 0.5
    assert signals(question, [together]).adjacency == 1.0
    assert signals(question, [apart]).adjacency == 0.0


DOMES = passage("Marigold's dome opens at dusk. The old dome has a red door. Petra Lind painted the hall.")


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When does the dome of Marigold open?", 1.0),
        ("When does the dome of Zircon open?", 0.0),
        ("Did Petra open the dome?", 0.5),
        ("who painted the hall, lind", 1.0),
        ("When does the dome open?", None),
    ],
)
def test_a_name_must_stand_where_the_rest_of_the_question_does(question: str, wanted: float | None) -> None:
    named = replace(DOMES, names=frozenset(analyze("Lind")))
    assert signals(question, [named]).aligned == wanted


def test_what_stands_apart_is_less_together() -> None:
    assert signals("marigold dome", [DOMES]).together == 1.0
    assert signals("marigold hall", [DOMES]).together == 0.0
    assert signals("dome", [DOMES]).together is None


@pytest.mark.parametrize(("logits", "wanted"), [([], None), ([0.0], 0.5), ([-11.0, -30.0], 0.0), ([-4.0, 40.0], 1.0)])
def test_the_reader_speaks_by_the_passage_it_likes_best(logits: list[float], wanted: float | None) -> None:
    assert signals("mirror", [MIRROR], logits=logits).reader == wanted
    assert signals("mirror", [MIRROR], again=logits).second_reader == wanted


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        ("How many days does it take?", "It takes 14 days.", 1.0),
        ("How many days does it take?", "It takes a fortnight.", 1.0),
        ("How many days does it take?", "It takes a while, see table 12.", 0.0),
        ("How much does a ticket cost?", "A ticket costs 12 euros.", 1.0),
        ("How much does a ticket cost?", "There are 12 kinds of tickets.", 0.0),
        ("How much does a ticket cost?", "$ pay --ticket\nFeel free to ask.", 0.0),
        ("요금은 얼마인가요?", "한 달에 12,000원이다.", 1.0),
        ("요금은 얼마인가요?", "요금제는 3가지다.", 0.0),
        ("how often is it cleaned", "It is cleaned every week.", 1.0),
        ("how often is it cleaned", "It is cleaned with snow.", 0.0),
        ("When was it built?", "It was built in 1868.", 1.0),
        ("When was it built?", "It has a red door.", 0.0),
        ("Who built it?", "It was built by Ada Byron.", 1.0),
        ("Who built it?", "It was built by engineers.", 0.0),
        ("Why does it fog?", "It fogs because the air is damp.", 1.0),
        ("What is it?", "A mirror.", None),
        ("Where is it?", "On the hill.", None),
        ("며칠마다 청소하나요?", "14일마다 청소한다.", 1.0),
        ("몇 명이 일하나요?", "네 명이 일한다.", 1.0),
        ("몇 명이 일하나요?", "섬에 있다.", 0.0),
        ("언제 열었습니까?", "2009년에 열었다.", 1.0),
        ("몇 년도에 열었나요?", "2009년에 열었다.", 1.0),
        ("몇 년도에 열었나요?", "방이 12개다.", 0.0),
        ("왜 닫나요?", "바람이 세기 때문이다.", 1.0),
        ("누가 지었나요?", "기술자가 지었다.", None),  # no capitals to go by: not judged
        ("어디에 있나요?", "섬에 있다.", None),
    ],
)
def test_answer_types(question: str, text: str, wanted: float | None) -> None:
    assert matches_answer_type(question, [text]) == wanted


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=60),
    st.lists(st.text(max_size=120), max_size=4),
    st.lists(st.floats(-1, 1), max_size=3),
    st.none() | st.floats(-1, 1),
)
def test_every_signal_is_bounded_for_any_string(
    question: str, texts: list[str], cosines: list[float], background: float | None
) -> None:
    passages = [passage(text, cosine=cosines[0] if cosines else None) for text in texts]
    count = sum(len(p.sentences) for p in passages)
    seen = signals(question, passages, cosines=cosines[:count], background=background, orders=([1, 2], [2, 3]))
    for name in NAMES:
        value = getattr(seen, name)
        assert value is None or 0.0 <= value <= 1.0 + 1e-9, name


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("alpha omega sigma 거울 망원경 parse_config 1868".split()), min_size=1, max_size=5))
def test_more_evidence_never_covers_less(words: list[str]) -> None:
    question = "alpha 망원경 parse_config 1868"
    units = units_of(question)
    weights = idf_weights(units, {}, 100)
    shares = [coverage(units, weights, frozenset(analyze(" ".join(words[:n])))) for n in range(len(words) + 1)]
    assert shares == sorted(shares)
    assert coverage(units, weights, frozenset(analyze(question))) == pytest.approx(1.0)


def test_nothing_asked_covers_nothing() -> None:
    assert signals("?", [MIRROR]).passage_coverage is None
    assert signals("mirror", []).passage_coverage == 0.0


@pytest.mark.parametrize(("text", "wanted"), [("It was built by Ada.", 0.0), ("It was built by Ada Byron.", 1.0)])
def test_the_answer_is_told_in_words_that_the_question_lacks(text: str, wanted: float) -> None:
    assert signals("Who built it, Ada?", [passage(text)]).answer_type == wanted


@pytest.mark.parametrize(
    ("question", "quoted", "others", "common", "lacking"),
    [
        ("Which oil does Thistle's axis take?", "Marigold's axis takes ISO 46.", (), ("Thistle's",), ("Thistle",)),
        ("How do I send JSON to the Kestrel?", "The boiler takes a body.", (), ("JSON",), ("Kestrel",)),
        ("How do I send JSON to the Kestrel?", "The boiler takes a body.", (), (), ("JSON", "Kestrel")),
        ("404를 돌려주고 싶어요", "상태 코드를 정한다.", (), (), ("404",)),
        ("404를 돌려주고 싶어요", "상태 코드를 정한다.", (), ("404",), ()),
        ("User-Agent 같은 헤더는?", "헤더를 선언한다.", (), (), ("User-Agent",)),
        ("E-152는 무슨 뜻인가요?", "오류가 난다.", (), (), ("E-152",)),
        ("같은 이름의 쿼리 값은?", "쿼리를 선언한다.", ("이름을 적는다.",), (), ("이름",)),
        ("같은 이름의 쿼리 값은?", "쿼리를 선언한다.", ("이름을 적는다.",), ("이름",), ()),
    ],
)
def test_names_that_a_quoted_passage_lacks(
    question: str, quoted: str, others: tuple[str, ...], common: tuple[str, ...], lacking: tuple[str, ...]
) -> None:
    assert names_lacking(question, quoted, others, common=common) == lacking


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("How do I read a file in Kestrel?", ()),
        ("파일을 Kestrel에서 어떻게 읽나요?", ()),
        ("Who made Kestrel's reader of files?", ("Kestrel",)),
    ],
)
def test_what_all_documents_are_about_need_not_be_named(question: str, lacking: tuple[str, ...]) -> None:
    quoted = "Call read_all with a path."
    assert names_lacking(question, quoted) == ("Kestrel",)
    assert names_lacking(question, quoted, everywhere=["Kestrel", "Kestrel's"]) == lacking
