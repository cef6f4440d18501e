"""The analyzer, sentences, spans and token estimates."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.text import analyze, analyze_query, estimate_tokens, match_spans, split_sentences


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Owners owning OWNERSHIP", ["owner", "own", "ownership"]),
        ("parse_config", ["parse_config", "pars", "config"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("a.b.c", ["a.b.c", "a", "b", "c"]),
        ("std::vec::Vec", ["std", "vec", "vec"]),
        ("IDs and URLs", ["id", "and", "url"]),
        ("DVDs, CVs", ["dvd", "cv"]),
        ("7,000", ["7000", "7", "000"]),
        ("7,000원", ["7000", "7", "000", "원"]),
        ("1,250.50", ["1250.50", "1250", "1", "250.50"]),
        ("in 1,000, 5", ["in", "1000", "1", "000", "5"]),
        ("1,0000 and 1,000,5", ["1", "0000", "and", "1", "000", "5"]),
        ("C++ and C#", ["c++", "c", "and", "c#", "c"]),
        ("version 3.14", ["version", "3.14", "3", "14"]),
        ("end of it. Next", ["end", "of", "it", "next"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("naïve café", ["naïv", "café"]),
        ("소유권", ["소유", "유권"]),
        ("물", ["물"]),
        ("API를 쓴다", ["api", "를", "쓴다"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("__init__", ["init"]),
        ("!!! ---", []),
        ("", []),
    ],
)
def test_analyze(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What is ownership?", ["ownership"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("the the mirror mirror", ["mirror"]),
        ("over 12,500 DVDs", ["over", "12500", "dvd"]),
        ("  ", []),
    ],
)
def test_queries_drop_stop_words_only_when_something_is_left(query: str, terms: list[str]) -> None:
    assert analyze_query(query) == terms


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("7000", "It costs €7,000 a year.", ["7,000"]),
        ("7,000", "7000원, 10,000원", ["7000"]),
        ("1234567", "12,345,678 and 1,234,567", ["1,234,567"]),
        ("dvd", "DVDs: a week", ["DVDs"]),
    ],
)
def test_a_number_is_found_however_it_is_grouped_and_an_abbreviation_in_the_plural(
    query: str, text: str, marked: list[str]
) -> None:
    assert [text[a:b] for a, b in match_spans(text, frozenset(analyze_query(query)))] == marked


@given(st.text(max_size=200))
def test_any_text_can_be_analysed_the_same_way_twice(text: str) -> None:
    terms = analyze(text)
    assert terms == analyze(text)
    assert all(term and not any(c.isspace() for c in term) for term in terms)


@given(st.text(max_size=200))
def test_spans_lie_in_the_text_in_order(text: str) -> None:
    spans = match_spans(text, frozenset(analyze(text)[:3]))
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert all(left[1] < right[0] for left, right in pairwise(spans))


def test_spans_of_matches() -> None:
    text = "Parsing parse_config; 소유권이란"
    found = [text[a:b] for a, b in match_spans(text, frozenset(analyze_query("parse 유권")))]
    assert found == ["Parsing", "parse_config", "유권"]


WORDS = (
    "read reading Reader happy happily happiness hopes hoping dying lies tied skies apply applied possibility possible stability"
    " parse_config self.best_possible HTTPServer getUserName a.b.c C++ C# don't isn’t dog's 3.14 ＭＩＲＲＯＲ … naïve Straße"
    " 소유권이란 FastAPI에서 망원경은 クラス 所有権 x e y"
).split()


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.sampled_from([" ", "\n", ", ", " \t", "-", "_"]), st.data())
def test_spans_are_those_of_all_words_one_by_one(parts: list[str], between: str, data: st.DataObject) -> None:
    """Most words are passed over because no term's root is in them: none may be that has a term."""
    text = between.join(parts)
    held = sorted({term for part in WORDS for term in analyze(part)})
    terms = frozenset(data.draw(st.lists(st.sampled_from(held), max_size=4)))
    marked = {i for a, b in match_spans(text, terms) for i in range(a, b)}
    start = 0
    for word in (text,) if between in "-_" else parts:
        place = range(text.index(word, start), text.index(word, start) + len(word))
        start = place.stop
        if between not in "-_":
            assert marked.isdisjoint(place) == terms.isdisjoint(analyze(word)), word
        else:
            assert bool(marked) == (not terms.isdisjoint(analyze(word)))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith left at 3.14 p.m. today.", ["Dr. Smith left at 3.14 p.m. today."]),
        ("See e.g. the manual. Then stop.", ["See e.g. the manual.", "Then stop."]),
        ("No end\n\nNext block", ["No end", "Next block"]),
        ("한 문장이다. 다음 문장이다.", ["한 문장이다.", "다음 문장이다."]),
        ("他来了。走了。", ["他来了。", "走了。"]),
        ("1. First item.\n2. Second item.", ["1. First item.", "2. Second item."]),
        ('He said "Stop." Then left.', ['He said "Stop."', "Then left."]),
        ("Use the `vec!` macro here. Then `a. b` there.", ["Use the `vec!` macro here.", "Then `a. b` there."]),
        ("The wind was 12 m/s. The dome closed.", ["The wind was 12 m/s.", "The dome closed."]),
        ("It was J. Smith. He left.", ["It was J. Smith.", "He left."]),
        ("Boston Metal Products, L.P. (Boston) was sold.", ["Boston Metal Products, L.P. (Boston) was sold."]),
        ("He joined the U.S. Army in 1941. He left.", ["He joined the U.S. Army in 1941.", "He left."]),
        ("He lives in the U.S. The rest moved.", ["He lives in the U.S.", "The rest moved."]),
        ("It was written by J.R.R. Tolkien. He left.", ["It was written by J.R.R. Tolkien.", "He left."]),
        ("   ", []),
    ],
)
def test_split_sentences(text: str, sentences: list[str]) -> None:
    assert [text[a:b] for a, b in split_sentences(text)] == sentences


@given(st.text(max_size=300))
def test_sentences_cover_everything_but_white_space(text: str) -> None:
    spans = split_sentences(text)
    covered = "".join(text[a:b] for a, b in spans)
    assert "".join(covered.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("", 0, 0), ("word " * 100, 100, 130), ("소유권은 중요하다 " * 20, 120, 220), ("x", 1, 1)],
)
def test_token_estimate_is_on_the_safe_side(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most
