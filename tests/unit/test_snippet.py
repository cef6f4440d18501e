"""Snippets: the stretch worth showing, and the matches in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.search.snippet import SNIPPET_CHARS, make_snippet
from kb.text import analyze, analyze_query


def terms_of(query: str) -> frozenset[str]:
    return frozenset(analyze_query(query))


@pytest.mark.parametrize(
    ("text", "query", "snippet", "marked"),
    [
        ("Clean the mirror.", "mirrors", "Clean the mirror.", ["mirror"]),
        ("  two\n\n  lines\there ", "lines", "two lines here", ["lines"]),
        ("nothing of that kind", "mirror", "nothing of that kind", []),
        ("", "mirror", "", []),
        ("call parse_config()", "config", "call parse_config()", ["parse_config"]),
        ("거울은 14일마다 청소해야 한다.", "거울 청소", "거울은 14일마다 청소해야 한다.", ["거울", "청소"]),
        ("ＭＩＲＲＯＲ wide", "mirror", "ＭＩＲＲＯＲ wide", ["ＭＩＲＲＯＲ"]),
    ],
)
def test_short_texts_are_shown_whole(text: str, query: str, snippet: str, marked: list[str]) -> None:
    shown, highlights = make_snippet(text, terms_of(query))
    assert shown == snippet
    assert [shown[start:end] for start, end in highlights] == marked


def test_the_window_with_most_of_the_query_is_chosen() -> None:
    text = "The mirror. " + "filler words " * 60 + "Cleaning the mirror with snow. " + "more filler " * 60
    shown, highlights = make_snippet(text, terms_of("clean mirror snow"))
    assert "Cleaning the mirror with snow." in shown
    assert (shown[:2], shown[-2:]) == ("… ", " …")
    assert [shown[start:end] for start, end in highlights] == ["Cleaning", "mirror", "snow"]


def test_the_first_of_equal_windows_is_chosen() -> None:
    text = "A mirror here. " + "filler words " * 60 + "A mirror there."
    assert make_snippet(text, terms_of("mirror"))[0].startswith("A mirror here.")


def test_a_text_without_spaces_is_cut_all_the_same() -> None:
    shown, _ = make_snippet("망" * 1000, terms_of("망원"))
    assert len(shown) <= SNIPPET_CHARS + 4


words = st.lists(
    st.sampled_from(["mirror", "wind", "거울", "the", "parse_config", "\n\n", "x" * 30, "A.b"]), max_size=200
)


@given(words, st.sampled_from(["mirror wind", "거울", "config", "zzz"]), st.integers(60, 400))
def test_snippets_are_short_pieces_of_the_text_with_true_marks(parts: list[str], query: str, max_chars: int) -> None:
    text, terms = " ".join(parts), terms_of(query)
    shown, highlights = make_snippet(text, terms, max_chars)
    assert len(shown) <= max_chars + 4
    assert "\n" not in shown
    assert shown.removeprefix("… ").removesuffix(" …") in " ".join(text.split())
    last = 0
    for start, end in highlights:
        assert last <= start < end <= len(shown)
        assert not terms.isdisjoint(analyze(shown[start:end]))
        last = end
    if not terms.isdisjoint(analyze(text)):
        assert highlights, "a text with a match shows one"


@given(st.text(max_size=900), st.text(max_size=20))
def test_any_text_and_query_give_a_snippet(text: str, query: str) -> None:
    shown, highlights = make_snippet(text, terms_of(query))
    assert len(shown) <= SNIPPET_CHARS + 4
    assert all(0 <= start < end <= len(shown) for start, end in highlights)
