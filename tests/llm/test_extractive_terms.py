"""Lists of terms with what they mean, and passages that begin in the middle of one or of code: what is quoted of them."""

from __future__ import annotations

import pytest

from kb.llm.extractive import ExtractiveModel, candidates_of
from kb.llm.extractive_blocks import find_blocks, has_terms, items_of
from kb.llm.protocol import Evidence, GenerateRequest, Token

SETTINGS = """## Settings

`LATHE_NO_COLOUR`

: If set, no colour is printed.
  Logs keep theirs.

`LATHE_NO_SWEEP`

: If set, chips are never swept away. They are else, every 30 days.

`LATHE_QUIET`
: If set, nothing is said.

## Files

A file at 10:30: it is read.
"""
MANY = "\n\n".join(
    f"`LATHE_{letter * 3}`\n\n: If set, tool {letter} is held {'very ' * 30}still." for letter in "ABCDEFGH"
)


def quote(question: str, text: str, *headings: str) -> str:
    request = GenerateRequest("rules", "prompt", question, (Evidence(1, text, headings),), "en", 768)
    first = next(iter(ExtractiveModel().generate_stream(request)))
    assert isinstance(first, Token)
    return first.text


class TestTerms:
    def test_they_are_one_list_of_items(self) -> None:
        blocks = find_blocks(SETTINGS)
        assert [block.kind for block in blocks] == ["heading", "list", "heading", "prose"]
        items = [SETTINGS[a:b].split()[0] for a, b in items_of(SETTINGS, blocks[1])]
        assert items == ["`LATHE_NO_COLOUR`", "`LATHE_NO_SWEEP`", "`LATHE_QUIET`"]

    def test_a_meaning_is_told_with_its_term(self) -> None:
        block = find_blocks(SETTINGS)[1]
        told = [" ".join(SETTINGS[a:b].split()) for a, b in block.sentences]
        assert "`LATHE_NO_SWEEP` : If set, chips are never swept away." in told
        assert "Logs keep theirs." in told

    def test_one_is_read_without_the_others(self) -> None:
        found = candidates_of(0, Evidence(1, SETTINGS), find_blocks(SETTINGS))
        around = next(c.around for c in found if "swept away" in c.text)
        assert around.startswith("`LATHE_NO_SWEEP`")
        assert around.endswith("every 30 days.")

    def test_without_a_blank_line_the_next_sentence_is_another(self) -> None:
        text = "Sweep\n: Chips are swept. They are hot.\n"
        told = [" ".join(text[a:b].split()) for a, b in find_blocks(text)[0].sentences]
        assert told == ["Sweep : Chips are swept.", "They are hot."]

    def test_of_a_long_list_the_one_that_is_asked_for_is_quoted(self) -> None:
        shown = quote("What does LATHE_DDD do?", MANY)
        assert "`LATHE_DDD`: If set, tool D is held" in shown
        assert "LATHE_CCC" not in shown
        assert "LATHE_EEE" not in shown
        assert "…" in shown

    def test_a_short_list_is_quoted_whole_a_line_each(self) -> None:
        lines = quote("Which settings are there if nothing is said?", SETTINGS).splitlines()
        assert "`LATHE_QUIET`: If set, nothing is said." in [line.removesuffix(" [#1]") for line in lines]

    @pytest.mark.parametrize("line", ["Time: 10:30", "- a\n: b", "    code\n: b", "x" * 130 + "\n: b"])
    def test_other_colons_make_no_term(self, line: str) -> None:
        assert not any(has_terms(line, block) for block in find_blocks(line))

    def test_a_meaning_without_its_term_is_not_quoted(self) -> None:
        text = ": If set, tools are cleaned.\n\n`LATHE_OIL`\n\n: If set, tools are oiled.\n\n`LATHE_WAX`\n"
        assert quote("Are tools oiled?", text) == "`LATHE_OIL`: If set, tools are oiled. [#1]"

    def test_the_sentence_that_answers_is_marked_with_its_term(self) -> None:
        request = GenerateRequest("rules", "", "What does LATHE_DDD do?", (Evidence(1, MANY),), "en", 768)
        first = next(iter(ExtractiveModel().generate_stream(request)))
        assert isinstance(first, Token)
        assert first.quoted is not None
        assert first.quoted.key is not None
        start, end = first.quoted.key
        assert first.text[start:end].startswith("`LATHE_DDD`: If set")

    def test_a_last_item_whose_code_is_missing_is_left_out(self) -> None:
        text = "Tools of the lathe:\n\n- A chisel cuts wood.\n- A gouge cuts bowls.\n- Oil the tools like this:\n"
        shown = quote("What cuts bowls?", text)
        assert "gouge" in shown
        assert "Oil" not in shown
        assert "\n… " in shown


class TestBegunCode:
    def test_code_that_began_before_the_passage_is_no_heading(self) -> None:
        text = "turn oak\n# => bowl ──\n```\n\nThe bowl is turned of oak.\n\n```nu\nsand bowl\n```\n"
        assert [block.kind for block in find_blocks(text)] == ["code", "prose", "code"]
        assert quote("What is the bowl turned of?", text, "Bowls").startswith("Bowls\n\nThe bowl is turned of oak.")

    def test_a_fence_alone_closes_what_looks_like_code(self) -> None:
        text = "let bowl = turn(oak);\nsand(bowl);\n```\n\nThe bowl is turned of oak.\n"
        assert [block.kind for block in find_blocks(text)] == ["code", "prose"]

    @pytest.mark.parametrize(
        "text",
        [
            "The bowl is turned of oak.\n\n```\nturn oak\n",
            "```\nturn oak\n```\n\nIt is sanded.\n\n```nu\nsand bowl\n```\n",
            "````md\n```nu\nsand bowl\n```\n````\n",
        ],
    )
    def test_code_that_begins_in_the_passage_stays_what_it_is(self, text: str) -> None:
        kinds = [block.kind for block in find_blocks(text)]
        assert "code" in kinds
        code = [text[block.start : block.end] for block in find_blocks(text) if block.kind == "code"]
        assert all(part.startswith("```") for part in code)

    def test_a_passage_that_begins_with_the_closing_fence(self) -> None:
        text = "```\n\nThe bowl is turned of oak.\n\n```nu\nsand bowl\n```\n"
        assert [block.kind for block in find_blocks(text)] == ["prose", "code"]
