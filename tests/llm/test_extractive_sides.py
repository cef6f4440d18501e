"""Questions about the difference of two things: a quote of each, where no one passage tells how they differ."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kb.language.compared import compared_things, things_lacking
from kb.llm.extractive import ExtractiveModel
from kb.llm.protocol import Evidence, GenerateRequest, Token

LAMP = Evidence(1, "## Lamp\n\nA lamp burns oil in a closed case, behind glass.\n\nIt is filled at noon.", ("Lamp",))
TORCH = Evidence(2, "## Torch\n\nA torch is a stick that is held in the hand and burns.", ("Torch",))
ASIDE = Evidence(3, "Neither a lamp nor a torch may be left alone in the barn.", ("Fire",))
QUESTION = "What is the difference between a lamp and a torch?"


def tokens(question: str, evidence: Sequence[Evidence], logit: float | None = None) -> list[Token]:
    read = None if logit is None else (lambda asked, texts: [logit] * len(texts))
    request = GenerateRequest("rules", "prompt", question, tuple(evidence), "en", 768, evidence_score=0.9)
    return [t for t in ExtractiveModel(read=read).generate_stream(request) if isinstance(t, Token)]


def quotes(question: str, evidence: Sequence[Evidence], logit: float | None = None) -> list[str]:
    """Those that answer, without those below "See also"."""
    found = tokens(question, evidence, logit)
    return [token.text.strip() for token in found if token.quoted and not token.quoted.is_further]


class TestQuotes:
    def test_each_of_the_two_is_quoted_in_the_order_of_the_question(self) -> None:
        lamp, torch = quotes(QUESTION, [ASIDE, TORCH, LAMP])
        assert lamp.startswith("Lamp\n\nA lamp burns oil")
        assert lamp.endswith("[#1]")
        assert torch.startswith("Torch\n\nA torch is a stick")
        assert torch.endswith("[#2]")

    def test_the_answer_is_one_text_with_a_blank_line_between(self) -> None:
        text = "".join(token.text for token in tokens(QUESTION, [TORCH, LAMP]))
        assert "[#1]\n\nTorch\n\n" in text

    def test_the_sentence_that_answers_is_marked_in_both(self) -> None:
        marked = [t.text[slice(*t.quoted.key)] for t in tokens(QUESTION, [TORCH, LAMP]) if t.quoted and t.quoted.key]
        assert marked == [
            "A lamp burns oil in a closed case, behind glass.",
            "A torch is a stick that is held in the hand and burns.",
        ]

    def test_a_list_that_has_both_is_quoted_once(self) -> None:
        text = "Lights:\n\n- Lamp: oil that burns behind some glass\n- Torch: wood that burns in the open"
        (both,) = quotes(QUESTION, [ASIDE, Evidence(1, text)])
        assert "behind some glass" in both
        assert "in the open" in both

    def test_a_heading_above_both_is_shown_once(self) -> None:
        text = "## Lights\n\nA lamp is a case with oil that burns.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nA torch is a stick that burns."
        lamp, torch = quotes(QUESTION, [Evidence(1, text, ("Lights",))])
        assert lamp.startswith("Lights\n\nA lamp")
        assert torch.startswith("A torch")

    def test_a_sentence_that_tells_the_difference_is_enough(self) -> None:
        told = Evidence(4, "Unlike a torch, a lamp has a case, which is the difference between them.", ("Fire",))
        (only,) = quotes(QUESTION, [told, LAMP, TORCH])
        assert "has a case" in only

    def test_in_korean_one_passage_is_quoted(self) -> None:
        lamp = Evidence(1, "## 등불\n\n등불은 유리 안에서 기름을 태우는 등입니다.", ("등불",))
        torch = Evidence(2, "## 횃불\n\n횃불은 손에 들고 태우는 막대입니다.", ("횃불",))
        assert len(quotes("등불과 횃불의 차이는 무엇인가요?", [lamp, torch])) == 1

    def test_where_one_is_told_alone_there_is_one_quote(self) -> None:
        assert len(quotes(QUESTION, [LAMP, ASIDE])) == 1

    @pytest.mark.parametrize(
        ("first", "count"),
        [("Holds oil, and a wick:", 2), ("To build it:", 1), ("Use it with care.", 1), ("It is kept dry.", 1)],
    )
    def test_what_stands_first_below_a_thing_s_heading_tells_it_unless_it_instructs_or_leans(
        self, first: str, count: int
    ) -> None:
        assert len(quotes(QUESTION, [Evidence(1, f"## Lamp\n\n{first}", ("Lamp",)), TORCH])) == count

    @pytest.mark.parametrize(("logit", "count"), [(5.0, 2), (-5.0, 1)])
    def test_a_reader_must_find_that_they_say_what_the_things_are(self, logit: float, count: int) -> None:
        assert len(quotes(QUESTION, [LAMP, TORCH], logit)) == count

    def test_words_that_both_names_share_may_be_left_out_by_a_heading(self) -> None:
        install = Evidence(1, "## install\n\nThe command reads the file and puts all of it in place.", ("install",))
        update = Evidence(2, "## update\n\nThe command brings the newest of everything.", ("update",))
        found = quotes("What is the difference between lathe install and lathe update?", [update, install])
        assert [each.split("\n")[0] for each in found] == ["install", "update"]

    def test_the_first_may_share_the_last_word_of_the_second(self) -> None:
        text = (
            "Validators:\n\n- Before validators: run ahead of the parsing\n- After validators: run when all is parsed"
        )
        (both,) = quotes("What is the difference between before and after validators?", [Evidence(1, text)])
        assert "ahead of the parsing" in both

    def test_an_option_of_the_name_says_nothing_of_the_thing(self) -> None:
        options = Evidence(
            1, "Options:\n\n- `--lamp`: treat all that is named as lamps\n- `--torch`: treat all of it as torches"
        )
        named = quotes(QUESTION, [Evidence(4, "Lamps and torches are kept in the barn. A lamp costs more."), options])
        assert len(named) == 1


class TestBeside:
    def test_what_the_quote_does_not_name_stands_below(self) -> None:
        evidence = [Evidence(1, "A lamp burns oil."), Evidence(2, "The torch burns wood and lasts an hour.")]
        shown, below = tokens(QUESTION, evidence)
        assert "burns wood" in shown.text
        assert below.text == "\n\nSee also:\n- A lamp burns oil. [#1]"

    def test_signs_that_are_compared_repeat_no_quote(self) -> None:
        text = "In JavaScript `===` does not convert the types of what it compares."
        (only,) = tokens("What is the difference between == and === in JavaScript?", [Evidence(1, text)])
        assert only.text.count("does not convert") == 1


class TestThings:
    @pytest.mark.parametrize(
        ("question", "things"),
        [
            ("What is the difference between a change and a commit?", ("change", "commit")),
            ("What's the difference between x..y and x::y in revsets?", ("x..y", "x::y")),
            ("How does the lathe differ from the mill?", ("lathe", "mill")),
            ("lathe vs mill, which is better?", ("lathe", "mill")),
            ("oil or wood for a torch?", ("oil", "wood")),
            ("Controlled or uncontrolled inputs, what's the difference?", ("Controlled", "uncontrolled inputs")),
            ("연차와 병가는 어떻게 다른가요?", ("연차", "병가")),
            ("def와 async def의 차이는 무엇인가요?", ("def", "async def")),
            ("등불이랑 횃불 중 뭘 써야 하나요?", ("등불", "횃불")),
            ("Can I call it inside an if or a loop?", None),
            ("Why does VS Code not find it?", None),
            ("What is the way between the barn and the mill?", None),
            ("oil, wood or coal, which is the difference?", None),
            ("등불과 다른 불을 함께 쓸 수 있나요?", None),
            ("검색 결과 페이지가 왜 다르게 나오나요?", None),
            ("결과 화면은 무엇이 다른가요?", None),
            ("What is the difference between == and ===?", None),
            ("After a crash or reboot, what should I do?", None),
            ("Lost brass key or stolen, how long until it is replaced?", None),
            ("Ways to add or remove users", None),
            ("Two or more lamps?", None),
            ("With or without oil?", None),
            ("What is the difference " + "between a lamp and a torch " * 20, None),
        ],
    )
    def test_they_are_taken_from_the_question(self, question: str, things: tuple[str, str] | None) -> None:
        assert compared_things(question) == things

    @pytest.mark.parametrize(
        ("question", "text", "lacking"),
        [
            ("oil or wood for a torch?", "A torch is of wood.", ("oil",)),
            (
                "What is the difference between lathe add and lathe install?",
                "lathe add puts one in.",
                ("lathe install",),
            ),
            ("연차와 병가는 어떻게 다른가요?", "연차는 언제든 쓸 수 있습니다.", ("병가",)),
            ("What is wood for?", "A torch.", ()),
        ],
    )
    def test_a_text_that_has_no_word_of_one_lacks_it(self, question: str, text: str, lacking: tuple[str, ...]) -> None:
        assert things_lacking(question, text) == lacking
