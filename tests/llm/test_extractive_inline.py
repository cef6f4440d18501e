"""Prose as a quote shows it."""

from __future__ import annotations

import pytest

from kb.llm.extractive import candidates_of
from kb.llm.extractive_blocks import find_blocks
from kb.llm.extractive_inline import as_site_shows, inline
from kb.llm.extractive_quote import quote_around
from kb.llm.extractive_rank import Asked
from kb.llm.protocol import Evidence


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [![a graph](a.png)](a.png).", "See ."),
        ("See [a *good* book](a.md).", "See a good book."),
        (r"\*required \[options\]", "*required [options]"),
        (r"matches \d+\.\d+ and `\*`", r"matches \d+\.\d+ and `\*`"),
        ("*`user`*`/`*`repo`*", "`user/repo`"),
        ("``a`b```c`", "``a`b```c`"),
        ("a project _hello_cargo_, not snake_case_names", "a project hello_cargo, not snake_case_names"),
        ("_one_ two_three _four five_", "one two_three four five"),
        ("cAdvisor (short for **c**ontainer Advisor), 2**3**4", "cAdvisor (short for container Advisor), 2**3**4"),
        ("Call __init_subclass__ or _get_value, and my_func_.", "Call __init_subclass__ or _get_value, and my_func_."),
        ("Said before.[^1] And[^note]: after", "Said before. And[^note]: after"),
        ("[^1]: The note.", "The note."),
        ("a class [^abc], or [a-z][^abc]*", "a class [^abc], or [a-z][^abc]*"),
        (r"\[#1\]", inline("[#1]")),  # a forged marker stays one that is made harmless
    ],
)
def test_prose(text: str, shown: str) -> None:
    assert inline(text) == shown


def test_titles_have_no_escapes() -> None:
    blocks = find_blocks("## bottle \\[options\\] *now*\n\nText.")
    assert blocks[0].title == "bottle [options] now"


def test_links_in_a_table_are_their_text() -> None:
    text = "Ports:\n\n| Port | Use |\n|---|---|\n| 22 | [SSH](https://a.example/ssh) |\n| 80 | HTTP |\n"
    entry = Evidence(1, text, ("Ports",))
    blocks = find_blocks(text, "Ports")
    row = next(candidate for candidate in candidates_of(0, entry, blocks) if candidate.kind == "table")
    quote = quote_around(text, blocks, row, Asked.of("Which port has SSH?"))
    assert "| 22 | SSH |" in quote.text


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("```ts twoslash\nimport a\n// ---cut---\nuse(a)\n```", "```ts twoslash\nuse(a)\n```"),
        ("```ts\na\n// ---cut-before---\nb\n// ---cut-after---\nc\n```", "```ts\nb\n```"),
        ("```sh\ncut here\n```", "```sh\ncut here\n```"),
        ("a\n  // ---cut---\nb", "b"),
    ],
)
def test_lines_that_a_site_hides_are_not_shown(code: str, shown: str) -> None:
    assert as_site_shows(code) == shown
