"""Korean queries: what does not score, morphemes, counts, misspelt words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest

from kb.index.protocol import Abilities, LexicalStatistics
from kb.language.korean_query import bare_word, without_frame
from kb.language.korean_segments import candidates, correct, corrections, segment
from kb.language.morphemes import MARK, count_terms, has_morphemes, korean_terms
from kb.records import Ranking
from kb.search.query_words import read_query
from kb.text import analyze


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("적색편이는 무엇인가요?", "적색편이"),
        ("망원경이란 뭐예요?", "망원경"),
        ("겨울 예보를 알려주세요", "겨울 예보"),
        ("겨울 예보에 대해 자세히 설명해 줘", "겨울 예보"),
        ("돛대를 수리하려면 어떻게 해야 하나요?", "돛대 수리"),
        ("배터리를 교체하려면?", "배터리 교체"),
        ("배터리를 교체하고 싶어요", "배터리 교체"),
        ("배터리를 교체하는 방법이 궁금합니다", "배터리 교체"),
        ("배터리 교체 방법은 무엇입니까?", "배터리 교체"),
        ("사다리를 빌릴 수 있을까요?", "사다리 빌릴"),
        ("점검은 며칠마다 하나요?", "점검"),
        ("창고 열쇠는 누구에게 받나요?", "창고 열쇠 받"),
        ("Astro에서 쿠키를 지원하나요?", "Astro 쿠키 지원"),
        ("`async`는 언제 사용하나요?", "`async` 사용"),
        ("혹시 렌즈 청소는 언제 하는지 아시나요?", "렌즈 청소 아시"),
    ],
)
def test_question_words_politeness_and_particles_do_not_score(question: str, about: str) -> None:
    assert [bare_word(word) for word in without_frame(question).replace("?", " ").split()] == about.split()


@pytest.mark.parametrize(
    "text",
    [
        "배터리 교체하기",
        "사다리를 빌리는 방법",
        "렌즈와 거울의 차이",
        "무엇인가요?",
        "What is a dome?",
        "Why 소유권",
        "",
        "?",
    ],
)
def test_headings_keywords_and_bare_frames_stay(text: str) -> None:
    assert without_frame(text) == text


@pytest.mark.parametrize("word", ["나이", "회의", "강의", "지도", "데이터", "망원경", "데이터베이스"])
def test_a_noun_that_ends_like_a_particle_stays(word: str) -> None:
    assert bare_word(word) == word


def test_one_particle_is_taken_off_once() -> None:
    assert [bare_word(w) for w in ("고양이가", "회의에서는", "Rust로", "3개를")] == ["고양이", "회의", "Rust", "3개"]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("사과 세 개", ["=3개"]),
        ("사과 3개, 3 개", ["=3개", "=3개"]),
        ("열두 번", ["=12번"]),
        ("두 번째", ["=2번"]),
        ("오세 번", []),
        ("12시간", ["=12시간"]),
    ],
)
def test_counts_have_one_form(text: str, counts: list[str]) -> None:
    assert count_terms(text) == counts


def test_text_without_korean_is_indexed_as_before() -> None:
    for text in ("The dome's 3 mirrors", "naïve café", "漢字とかな", ""):
        assert korean_terms(text) == []


@pytest.mark.skipif(not has_morphemes(), reason="kiwipiepy is not installed")
def test_morphemes_stand_beside_the_bigrams() -> None:
    terms = korean_terms("망원경을 청소했다")
    assert {"=망원경", "=청소"} <= set(terms)
    assert not {"=을", "=했다", "=하"} & set(terms)


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("데이터베이스를", ["데이터", "베이스"], ["데이터", "베이스"]),
        ("데이터베이스를", ["데이터", "베이스", "데이터베이스"], ["데이터베이스"]),
        ("만든", ["만들"], ["만들"]),
        ("걸려서", ["걸리"], ["걸리"]),
        ("봐도", ["보", "봐"], ["봐"]),
        ("값이", ["값", "이"], ["값"]),
        ("모르는말", [], []),
    ],
)
def test_a_word_is_divided_into_what_the_index_holds(word: str, known: Sequence[str], expected: Sequence[str]) -> None:
    holding = dict.fromkeys(candidates(word), 0) | {MARK + form: 1 for form in known}
    assert segment(word, holding) == [MARK + form for form in expected]


def test_corrections_differ_in_one_letter() -> None:
    assert "망원경" in corrections("망완경")
    assert "망완경" not in corrections("망완경")
    assert all(len(word) == 3 for word in corrections("망완경"))
    assert corrections("렌즈") == []
    assert [corrections(day) for day in ("일요일", "화요일", "공휴일")] == [[], [], []]
    assert correct("망완경", {"=망원경": 2, "=망안경": 1}) == "망원경"
    assert correct("망완경", {"망원": 2, "원경": 2}) is None


@dataclass(frozen=True)
class Holds:
    """An index that holds these terms, once each."""

    terms: frozenset[str]

    @property
    def abilities(self) -> Abilities:
        return Abilities(filters_by="documents", is_exact=True, has_bounds=False, forgets=True)

    def search(self, query: Sequence[str], depth: int, within: Sequence[int] | None = None) -> Ranking:
        return []

    def statistics(self, terms: Sequence[str], together: Iterable[tuple[str, ...]] = ()) -> LexicalStatistics:
        return LexicalStatistics(
            1, {"text": {t: int(t in self.terms) for t in terms}}, {"text": {}}, {"text": 1.0}, 0.0
        )

    def check(self) -> tuple[str, ...]:
        return ()


def test_a_misspelt_word_is_searched_for_as_it_was_meant() -> None:
    index = Holds(frozenset([*analyze("망원경 청소"), "=망원경"]))
    words = read_query("망완경을 어떻게 청소 하나요?", index)
    assert words.terms == ["망원", "원경", "경을", "청소", "=망원경"]
    assert words.note() == "searched for 망원경 instead of 망완경"
    assert read_query("망원경 청소", index).note() is None


def test_an_unknown_word_without_a_near_one_stays() -> None:
    words = read_query("코끼리 청소", Holds(frozenset(analyze("청소"))))
    assert words.terms == ["코끼", "끼리", "청소"]
    assert words.corrected == ()


def test_a_query_finds_both_spacings_of_a_compound() -> None:
    held = frozenset(analyze("데이터베이스")), frozenset(analyze("데이터 베이스"))
    for query in ("데이터베이스", "데이터 베이스"):
        for terms in held:
            assert len(terms & set(read_query(query).terms)) >= 4
