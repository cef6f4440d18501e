"""Symbols are index terms; the punctuation of prose is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.symbols import find_symbols, index_terms, symbol_terms, term_spans
from kb.text import analyze


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("What does the ? operator do?", ["?"]),
        ("A shortcut: the `?` Operator", ["?"]),
        ('`?` 연산자, `->`와 "=>"', ["?", "->", "=>"]),
        ("? 연산자는 무엇을 하나요?", ["?"]),
        ("the ? 연산자", ["?"]),
        ("?", ["?"]),
        (" -> ", ["->"]),
        ("&str and &mut self", ["&str", "&mut"]),
        ("&str은 참조다", ["&str"]),
        ("fn f(x: &'a str) -> &'static str", ["'a", "->", "'static"]),
        ("the 'static lifetime", ["'static"]),
        ("a == b && c => d", ["==", "&&", "=>"]),
        ("std::env::args()", ["std::env::args", "std::env", "env::args"]),
        ("edit .gitignore and ~/.config", [".gitignore", ".config"]),
        ("use --no-cache or -v", ["--no-cache", "-v"]),
        ("@dataclass, @app.get('/x')", ["@dataclass", "@app.get"]),
        ("#[derive(Debug)] #![allow(x)] #include <x>", ["#[derive]", "#[allow]", "#include"]),
        ("$HOME and ${PATH}", ["$home", "$path"]),
        ("def f(*args, **kwargs)", ["*args", "**kwargs"]),
        ('vec![1] println!("x")', ["vec!", "println!"]),
        ("the * operator, 5 + 2", ["*", "+"]),
    ],
)
def test_symbols(text: str, symbols: list[str]) -> None:
    assert symbol_terms(text) == symbols


@pytest.mark.parametrize(
    "text",
    [
        "Really? Yes! And -- well - no; a dash — too... end of it.",
        "# Title\n\n## Part\n\n- one\n* two\n+ three\n> quoted\n\n---\n***\n=== \n",
        "| a | b |\n|---|:--|\n| 1 | 2 |",
        "*an emphasised phrase* and **bold words** and _more_",
        "He said 'hello world', \"and went\"; it 's rock 'n' roll",
        "AT&T &amp; Q&A at me@example.org, see page.html#part and [part](#part)",
        "costs $5, is $x$ and 1/2, well-known, 12:30 (β-catenin)",
        "Quoi ? Oui ! Bien",
        '{"a":"b", "c":["d", "e"]}',
        "```\ncode\n```",
    ],
)
def test_the_punctuation_of_prose_is_no_symbol(text: str) -> None:
    assert symbol_terms(text) == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("self.best_possible(", ["self.best_possible", "best_possible", "self", "best", "possibl"]),
        ("app.parseConfig", ["app.parseconfig", "parseconfig", "app", "pars", "config"]),
        ("v1.2.3", ["v1.2.3", "v1", "v", "1", "2", "3"]),
        ("C++는 C#을 C++17", ["c++", "c", "는", "c#", "c", "을", "c++", "c", "17"]),
        ("`&str`", ["str", "&str"]),
    ],
)
def test_words_and_symbols_are_index_terms(text: str, terms: list[str]) -> None:
    assert index_terms(text) == terms


def test_spans_of_symbols() -> None:
    text = "Call `f()?` or the `?` operator on &str."
    found = [text[a:b] for a, b in term_spans(text, frozenset({"?", "&str", "oper"}))]
    assert found == ["?", "operator", "&str"]


@given(st.text(max_size=200))
def test_symbols_stand_in_the_text_and_hold_no_white_space(text: str) -> None:
    for start, end, terms in find_symbols(text):
        assert 0 <= start < end <= len(text)
        assert terms
        assert not any(c.isspace() for term in terms for c in term)
    assert index_terms(text)[: len(analyze(text))] == analyze(text)
