"""The normal form: what is markup goes, what may mean something stays, wherever a stretch is cut out."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.fingerprint import sha256_of, tokens_of
from kb.normal_form import normalize, spaced


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("ＡＢＣ  x", "abc x"),
        ("  one\n\n\ttwo\r\nthree  ", "one two three"),
        ("# Title\n\n## Part two", "title part two"),
        ("- one\n* two\n+ three\n  - four", "one two three four"),
        ("> quoted\n>> twice\n>plain", "quoted twice plain"),
        ("> - # all of them", "all of them"),
        ("**bold** and *lean*, ***both***", "bold and lean, both"),
        ("**중요**한 `설정`을", "중요한 설정을"),
        ("`code` and ``more `code` ``", "code and more code"),
        ("```python\nx = 1\n```", "python x = 1"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a b 1 2"),
        ("one\n---\ntwo\n***\nthree\n===", "one two three"),
        ("**- a**", "a"),
        ("İstanbul", "i̇stanbul"),
    ],
)
def test_markup_goes(text: str, form: str) -> None:
    assert normalize(text) == form


@pytest.mark.parametrize(
    "text",
    [
        "snake_case __init__ _private class_ _value_",
        "a * b ** c",
        "2**8 a*b*c",
        "list`1",
        "f(*args)",
        "int *p, *q;",
        "#include <stdio.h>",
        "#123 is open",
        "x > 3 | y >= 4",
        "-1 +1 --flag -x",
        "*.py src/**/*.md",
        "ls | wc",
        "a_b*c",
        "node-name@host:8080/path?q=1#frag",
    ],
)
def test_code_and_names_stay(text: str) -> None:
    assert normalize(text) == text


def test_width_and_case_are_one_text_and_an_underscore_is_not_a_space() -> None:
    assert sha256_of(normalize("ＡＢＣ  x")) == sha256_of(normalize("abc x"))
    assert sha256_of(normalize("foo_bar")) != sha256_of(normalize("foo bar"))


MARKED = st.text(st.sampled_from("ab_*`#>|-+=~ \n\t.1İ한日é•"), max_size=60)


@given(MARKED | st.text(max_size=200))
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    form = normalize(text)
    assert normalize(form) == form
    assert "  " not in form
    assert form == form.strip()


@given(st.from_regex(r"[a-z_][a-z0-9_]{0,12}", fullmatch=True), st.text(st.sampled_from("*`#> -.,\n"), max_size=4))
def test_identifiers_survive_whatever_stands_around_them(name: str, marks: str) -> None:
    if name.strip("_"):
        assert name in normalize(f"{marks} {name} {marks}").split()
        assert name in normalize(f"call `{name}` **{name}** (*{name}*)")


def test_tokens_shed_what_stands_around_them() -> None:
    form = normalize('He said: "set `max_tokens`=500 -- or x.y/z-1", (twice).')
    assert tokens_of(form) == ["he", "said", "set", "max_tokens=500", "or", "x.y/z-1", "twice"]


def test_scripts_without_spaces_are_read_by_character_and_korean_by_word() -> None:
    assert spaced("kb는 日本語") == "kb는 日 本 語"
    assert tokens_of(normalize("마리골드 망원경의 거울、日本")) == ["마리골드", "망원경의", "거울", "日", "本"]


@pytest.mark.parametrize(
    "text",
    [
        f"a{'`' * 100_000}b",
        "*" * 100_000,
        "`*" * 50_000,
        f"{'*(' * 50_000}a{'*)' * 50_000}",
        "> - # " * 20_000,
        "- | " * 20_000,
        "-" * 100_000 + "x",
        " \n" * 50_000,
        "**- " * 20_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    form = normalize(text)
    assert time.process_time() - began < 2
    assert normalize(form) == form
