"""ExtractiveModel: what it may quote, what it picks, when it refuses; every answer stands in the evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from kb.language.sentences import LONGEST_CHARS, neutralize_markers, sentences_of
from kb.llm.extractive import COMPARED_SENTENCES, REFUSAL, REFUSALS, ExtractiveModel, Weights, candidates_of
from kb.llm.extractive_blocks import find_blocks
from kb.llm.extractive_rank import Asked, Candidate, lexical_scores, shape_bonus
from kb.llm.extractive_read import stretch_of
from kb.llm.protocol import Done, Evidence, GenerateRequest, Token
from kb.text import analyze

FloatMatrix = NDArray[np.float32]

OWNERSHIP = Evidence(
    1,
    "## What Is Ownership?\n\nOwnership is a set of rules that govern how a Rust program\nmanages memory. "
    "All programs have to manage the way they use a computer's memory while running.\n\n"
    "- Each value in Rust has an *owner*.\n- There can only be one owner at a time.\n",
    ("Ownership",),
)
CARGO = Evidence(2, "Cargo is the build system and package manager of Rust. What does it build?", ("Cargo",))
KOREAN = (
    Evidence(
        1,
        "# 경로 매개변수\n\n경로 매개변수 `item_id`의 값은 함수의 `item_id` 인자로 전달됩니다.\n\n"
        "/// tip | 팁\n\n이 기능은 편집기 기능을 활용할 수 있게 해줍니다.\n\n///\n",
        ("경로 매개변수",),
    ),
    Evidence(2, "미들웨어는 모든 요청 전에 실행되는 함수입니다. 응답을 반환하기 전에도 실행됩니다.", ("미들웨어",)),
)


def ask(
    question: str,
    evidence: Sequence[Evidence],
    language: str = "en",
    model: ExtractiveModel | None = None,
    tokens: int = 768,
) -> str:
    request = GenerateRequest("rules", "prompt", question, tuple(evidence), language, tokens)
    events = list((model or ExtractiveModel()).generate_stream(request))
    assert isinstance(events[-1], Done)
    assert events[-1].finish_reason == "stop"
    return "".join(event.text for event in events if isinstance(event, Token))


def answering(request: GenerateRequest, model: ExtractiveModel | None = None) -> str:
    """The sentence that is marked in the first quote."""
    first = next(iter((model or ExtractiveModel()).generate_stream(request)))
    assert isinstance(first, Token)
    assert first.quoted is not None
    assert first.quoted.key is not None
    return first.text[slice(*first.quoted.key)]


def texts_of(markdown: str) -> list[str]:
    return [sentence.text for sentence in sentences_of([Evidence(1, markdown)])]


def bag_of_words(texts: Sequence[str]) -> FloatMatrix:
    """A small real encoder: unit vectors of hashed words."""
    rows = np.zeros((len(texts), 8192), dtype=np.float32)
    for row, text in enumerate(texts):
        for term in analyze(text):
            rows[row, int.from_bytes(term.encode()) % 8191] += 1.0
    lengths: FloatMatrix = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return np.divide(rows, lengths)


class TestSentences:
    @pytest.mark.parametrize(
        ("markdown", "sentences"),
        [
            ("# Title\n\nOne. Two.", ["One.", "Two."]),
            ("A line that\nis wrapped\n  twice.", ["A line that is wrapped twice."]),
            ("Title\n=====\ntext here", ["text here"]),
            ("> Quoted words\n> go on.", ["Quoted words go on."]),
            ("- first\n- second\n  goes on\n\n1. third\n2. fourth", ["first", "second goes on", "third", "fourth"]),
            ("- [x] done task", ["done task"]),
            ("| a | b |\n|---|:-:|\n| 1 | 2 |", ["a: 1; b: 2."]),
            ("| Sat | Count the vests. There are 14 |", ["Sat; Count the vests. There are 14."]),
            ("---\n\n***\n\ntext", ["text"]),
            ("![image](a.png)\n\n[link](b.md)\n\n- [Home](/) [Next](/n)\n\nsee [this](c.md)", ["see [this](c.md)"]),
            ("https://example.org/a\n\n[1]: https://example.org\n\ntext", ["text"]),
            ("<div>\n\n<!-- note -->\n\n</div>\n\ntext", ["text"]),
            ("/// tip | Tip\n\nSaves time.\n\n///\n\n{* ../src/a.py hl[1] *}", ["Saves time."]),
            ("소유권은 규칙이다. 러스트의\n핵심이다.", ["소유권은 규칙이다.", "러스트의 핵심이다."]),
            ("所有権とは何か。規則である。", ["所有権とは何か。", "規則である。"]),
            ("", []),
            ("###\n\n```\n```\n", []),
        ],
    )
    def test_what_can_be_quoted(self, markdown: str, sentences: list[str]) -> None:
        assert texts_of(markdown) == sentences

    def test_code_keeps_its_lines_and_is_no_prose(self) -> None:
        found = sentences_of([Evidence(1, "Run it:\n\n```sh\ncargo new x\n\ncd x\n```\n\n~~~\nopen end")])
        assert [(s.kind, s.text) for s in found] == [
            ("prose", "Run it:"),
            ("code", "cargo new x\n\ncd x"),
            ("code", "open end"),
        ]

    def test_source_code_without_a_fence_is_code(self) -> None:
        found = sentences_of([Evidence(1, "def parse(text):\n    rows = []\n    return rows\n")])
        assert [s.kind for s in found] == ["code"]

    @pytest.mark.parametrize("joint", [", and then ", " ", ""])
    def test_a_very_long_sentence_is_cut_at_a_clause(self, joint: str) -> None:
        whole = joint.join(["words"] * 200)
        cut = texts_of(whole)[0]
        assert LONGEST_CHARS // 2 <= len(cut) <= LONGEST_CHARS + 1
        assert cut.endswith("…")
        assert whole.startswith(cut[:-1])

    @pytest.mark.parametrize(
        ("text", "neutral"),
        [
            ("a [#7] b", "a [＃7] b"),
            ("[#1][ #22, #3]", "[＃1][ ＃22, #3]"),
            ("［#7］【#7】", "［＃7］【＃7】"),
            ("vec![1] #7 [#a] [label](#7)", "vec![1] #7 [#a] [label](#7)"),
        ],
    )
    def test_markers_in_the_evidence_are_none_in_the_quote(self, text: str, neutral: str) -> None:
        assert neutralize_markers(text) == neutral


class TestChoice:
    def test_the_best_passage_is_quoted_under_its_heading(self) -> None:
        answer = ask("How many owners can a value have at a time?", [CARGO, OWNERSHIP])
        assert answer.startswith("Ownership › What Is Ownership?\n\n")
        assert "- Each value in Rust has an owner.\n- There can only be one owner at a time. [#1]" in answer

    def test_the_sentence_that_answers_is_marked(self) -> None:
        request = GenerateRequest("", "", "How many owners can a value have at a time?", (CARGO, OWNERSHIP), "en", 768)
        first = next(iter(ExtractiveModel().generate_stream(request)))
        assert isinstance(first, Token)
        assert first.quoted is not None
        assert first.quoted.key is not None
        assert first.text[slice(*first.quoted.key)] == "There can only be one owner at a time."

    def test_further_quotes_are_other_passages_and_come_behind(self) -> None:
        evidence = [CARGO, OWNERSHIP]
        answer = ask("rust cargo build owner", evidence, model=ExtractiveModel(weights=Weights(close=0)))
        first, _, further = answer.partition("\n\nSee also:\n")
        assert "[#2]" in first
        assert further.startswith("- ")
        assert further.endswith("[#1]")

    @pytest.mark.parametrize(
        ("sentence", "is_quoted"),
        [
            ("For more information about the mirror's cleaning, see the Handbook.", False),
            ("Read the mirror's cleaning plan to learn more.", False),
            ("See the cleaning of Marigold's mirror.", False),
            ("Marigold's mirror is cleaned with water; see the Handbook.", True),
            ("Marigold's mirror needs no more cleaning in winter.", True),
        ],
    )
    def test_what_only_points_elsewhere_is_no_further_quote(self, sentence: str, is_quoted: bool) -> None:
        evidence = [Evidence(1, "Marigold's mirror is cleaned every 14 days."), Evidence(2, sentence)]
        answer = ask(
            "How often is Marigold's mirror cleaned?", evidence, model=ExtractiveModel(weights=Weights(close=0))
        )
        assert "every 14 days" in answer.partition("\n\nSee also:\n")[0]
        assert (sentence in answer) is is_quoted

    @pytest.mark.parametrize(("owner", "is_quoted"), [("Thistle's", False), ("Marigold's", True), ("The second", True)])
    def test_what_is_said_of_another_name_is_no_further_quote(self, owner: str, is_quoted: bool) -> None:
        evidence = [
            Evidence(1, "Marigold's mirror is cleaned every 14 days."),
            Evidence(2, f"{owner} mirror is cleaned with water every 21 days."),
        ]
        answer = ask(
            "How often is Marigold's mirror cleaned?", evidence, model=ExtractiveModel(weights=Weights(close=0))
        )
        assert answer.startswith("Marigold's mirror")
        assert ("21 days" in answer) == is_quoted

    def test_the_same_said_twice_is_quoted_once(self) -> None:
        again = Evidence(2, "There can only be one owner at a time!")
        assert ask("one owner at a time", [OWNERSHIP, again]).count("one owner at a time") == 1

    def test_a_question_in_the_evidence_ranks_below_a_statement(self) -> None:
        request = GenerateRequest(
            "", "", "what is ownership", (Evidence(1, "What is ownership? Ownership is a set of rules."),), "en", 768
        )
        first = next(iter(ExtractiveModel().generate_stream(request)))
        assert isinstance(first, Token)
        assert first.quoted is not None
        assert first.quoted.key is not None
        assert first.text[slice(*first.quoted.key)] == "Ownership is a set of rules."

    def test_vectors_find_what_shares_no_word(self) -> None:
        def encode(texts: Sequence[str]) -> FloatMatrix:
            rows = [[1.0, 0.0] if "feline" in text or "cat" in text else [0.0, 1.0] for text in texts]
            return np.array(rows, dtype=np.float32)

        evidence = [Evidence(1, "Some feline sleeps long.")]
        assert ask("cat?", evidence, model=ExtractiveModel(encode)) == "Some feline sleeps long. [#1]"
        assert ask("cat?", evidence) == REFUSAL

    def test_vectors_of_an_encoder_that_cannot_read_the_question_take_no_part(self) -> None:
        def misled(texts: Sequence[str]) -> FloatMatrix:
            rows = [[1.0, 0.0] if "응답" in text or "요청?" in text else [0.0, 1.0] for text in texts]
            return np.array(rows, dtype=np.float32)

        request = GenerateRequest(
            "", "", "모든 요청?", (Evidence(1, "응답이 온다.\n\n모든 요청 전에 돈다."),), "ko", 768
        )
        for by_meaning, told in ((True, "응답이 온다."), (False, "모든 요청 전에 돈다.")):
            assert answering(replace(request, by_meaning=by_meaning), ExtractiveModel(misled)) == told

    def test_the_heading_helps_without_vectors(self) -> None:
        evidence = [Evidence(1, "It runs first.", ("Cargo",)), Evidence(2, "It runs last.", ("Middleware",))]
        assert ask("middleware", evidence) == "Middleware\n\nIt runs last. [#2]"

    def test_max_tokens_leaves_out_all_but_the_best(self) -> None:
        model = ExtractiveModel(weights=Weights(close=0))
        whole = ask("rust cargo build owner", [CARGO, OWNERSHIP], model=model)
        short = ask("rust cargo build owner", [CARGO, OWNERSHIP], model=model, tokens=1)
        assert whole.count("[#") > short.count("[#") == 1


class TestReader:
    """A reader judges the paragraphs that words and meaning rank first."""

    PASSAGES = (
        Evidence(1, "Tests of owners are run by owners.\n\nA value may have one owner.", ("Testing",)),
        Evidence(2, "Dependencies are declared.", ("Cargo",)),
    )

    def test_what_it_likes_best_is_quoted(self) -> None:
        def read(question: str, texts: Sequence[str]) -> list[float]:
            return [9.0 if "may have" in text else -9.0 for text in texts]

        question = "Which tests of owners are run?"
        request = GenerateRequest("", "", question, tuple(self.PASSAGES), "en", 768)
        assert answering(request) == "Tests of owners are run by owners."
        told = answering(request, ExtractiveModel(weights=Weights(read=3.0), read=read))
        assert told == "A value may have one owner."

    def test_it_reads_each_paragraph_once_behind_its_heading(self) -> None:
        seen: list[str] = []

        def read(question: str, texts: Sequence[str]) -> list[float]:
            seen.extend(texts)
            return [0.0] * len(texts)

        ask("owners?", self.PASSAGES, model=ExtractiveModel(read=read))
        assert sorted(seen) == [
            "Cargo: Dependencies are declared.",
            "Testing: A value may have one owner.",
            "Testing: Tests of owners are run by owners.",
        ]

    @pytest.mark.parametrize("can_read", [True, False])
    def test_sentences_are_compared_by_meaning_no_further_than_needed(self, can_read: bool) -> None:
        compared: list[str] = []

        def encode(texts: Sequence[str]) -> FloatMatrix:
            compared.extend(text for text in texts if text.startswith("Tests: Sentence"))
            return np.eye(len(texts), dtype=np.float32)

        def read(question: str, texts: Sequence[str]) -> list[float] | None:
            return [0.0] * len(texts) if can_read else None

        passage = Evidence(1, " ".join(f"Sentence {n} is about owners." for n in range(40)), ("Tests",))
        ask("Which owners?", [passage], model=ExtractiveModel(encode, read=read))
        assert len(compared) == COMPARED_SENTENCES

    def test_without_knowing_the_language_it_takes_no_part(self) -> None:
        model = ExtractiveModel(read=lambda question, texts: None)
        assert ask("Which tests of owners are run?", self.PASSAGES, model=model) == ask(
            "Which tests of owners are run?", self.PASSAGES
        )


class TestShape:
    """What is asked for decides what is quoted."""

    def test_steps_go_on_to_the_code_below(self) -> None:
        text = (
            "Pin the version of the app.\n\nSay you use version 2.\n\nThen write in the file:\n\n```\napp==2.0\n```\n\n"
            "## More\n\nOther text."
        )
        answer = ask("How do I pin the version of the app?", [Evidence(1, text)])
        assert "```\napp==2.0\n```\n[#1]" in answer
        assert "Other text" not in answer

    def test_a_short_section_is_quoted_whole_for_steps_and_a_recap_is_not(self) -> None:
        steps = Evidence(
            1,
            "## Updating\n\nOnce it is there, updating the app is easy.\n\nFrom a shell:\n\n```\nappup\n```\n\nThen restart.",
        )
        recap = Evidence(
            2, "## Summary\n\nYou learned how to:\n\n- Install the app.\n- Update the app to a new version."
        )
        answer = ask("How do I update the app to a new version?", [recap, steps]).partition("See also")[0]
        assert answer.startswith("Updating\n\nOnce it is there")
        assert answer.rstrip().endswith("```\nappup\n```\n\nThen restart. [#1]")

    STEPS = (
        "Long before that, the station had no generator. The old one stood in the cellar until the flood, and nobody asked for another.\n\n"
        "Do this:\n\n1. Open the fuel valve.\n\n   ```\n   valve open\n   ```\n\n2. Turn the generator on at the panel.\n\n   Wait for the lamp.\n\n"
        "3. Note the hour.\n\n{padding}\n\nElsewhere it is warm."
    )

    @pytest.mark.parametrize("asked", ["turn the generator on at the panel", "open the fuel valve", "note the hour"])
    def test_steps_are_quoted_from_the_first_one(self, asked: str) -> None:
        passage = Evidence(1, self.STEPS.format(padding="It is cold there. " * 40), ("Generator",))
        quote = ask(f"How do I {asked}?", [passage]).partition(" [#1]")[0]
        assert quote == (
            "Generator\n\nDo this:\n\n1. Open the fuel valve.\n\n   ```\n   valve open\n   ```\n\n"
            "2. Turn the generator on at the panel.\n   Wait for the lamp.\n3. Note the hour."
        )

    def test_too_many_steps_are_cut_behind_the_answer(self) -> None:
        more = "".join(f"\n\n```\ncode\n```\n\n{n}. {'Rest a while there. ' * 20}" for n in range(2, 9))
        passage = Evidence(1, f"1. Open the fuel valve.{more}", ("Generator",))
        quote = ask("How do I open the fuel valve?", [passage])
        assert quote.startswith("Generator\n\n1. Open the fuel valve.\n\n```\ncode")
        assert "\n…" in quote
        assert len(quote) < 1_700

    def test_steps_that_begin_elsewhere_are_no_beginning(self) -> None:
        rest = Evidence(1, "4. Add a feed to the page.\n5. Open the feed.", ("Feeds",))
        whole = Evidence(2, "Add a feed to the page with one command.", ("Feeds",))
        assert ask("How do I add a feed to the page?", [rest, whole]).startswith("Feeds\n\nAdd a feed")

    def test_an_announcement_of_nothing_is_left_out(self) -> None:
        text = "Trust the signs on the dome.\n\nRun `open` to open the dome. It looks like this:"
        assert ask("How do I open the dome?", [Evidence(1, text)]).endswith("Run `open` to open the dome. [#1]")

    def test_a_short_quote_takes_the_next_paragraph_but_not_one_behind_an_edge(self) -> None:
        text = "A dome is a roof.\n\nIt is opened at dusk.\n\n/// tip\n\nBring a coat.\n\n///\n"
        answer = ask("What is a dome?", [Evidence(1, text)])
        assert answer == "A dome is a roof.\n\nIt is opened at dusk. [#1]"
        assert "coat" not in ask("When is the dome opened at dusk?", [Evidence(1, text)])

    def test_what_is_defined_stands_before_where(self) -> None:
        text = "CORS is what happens between origins in a browser.\n\nAn origin is a protocol, a domain and a port."
        answer = ask("What is an origin in CORS?", [Evidence(1, text, ("CORS",))])
        assert "An origin is a protocol" in answer.partition("[#1]")[0]

    def test_links_in_headings_are_shown_as_their_text(self) -> None:
        evidence = [
            Evidence(
                1,
                "## [Flask](https://x.example)\n\nFlask is a microframework.",
                ("Tools", "[Flask](https://x.example)"),
            )
        ]
        assert ask("What is Flask?", evidence) == "Tools › Flask\n\nFlask is a microframework. [#1]"

    INSTALL = Evidence(
        1,
        "## Install\n\nMost people use a package. To install Kestrel, run this command:\n\n```sh\nkestrel-get install\n```\n\n"
        "The command takes a minute to install Kestrel. You may be asked for a password.\n",
        ("Install",),
    )

    def test_how_to_is_answered_with_its_code(self) -> None:
        assert "```sh\nkestrel-get install\n```" in ask("How do I install Kestrel?", [self.INSTALL])

    def test_what_is_is_answered_by_a_definition(self) -> None:
        text = "A closure captures values. Closures are used a lot, and a closure may be moved.\n\nA *closure* is a function without a name."
        request = GenerateRequest("", "", "What is a closure?", (Evidence(1, text),), "en", 768)
        assert answering(request) == "A closure is a function without a name."

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("What does the sweep command do?", "The `sweep` command removes the chips of a day."),
            ("What is sweep used for?", "The `sweep` command removes the chips of a day."),
            ("What does sweep do?", "The `sweep` command removes the chips of a day."),
        ],
    )
    def test_what_a_thing_does_is_told_by_the_sentence_that_begins_with_it(self, question: str, answer: str) -> None:
        evidence = [
            Evidence(
                1, "Chips are often a matter of the sweep, do what you will. Ask for a sweep when you do.", ("Lathe",)
            ),
            Evidence(2, f"It is a lathe.\n\n{answer}", ("Lathe",)),
        ]
        assert answer.replace("`", "") in ask(question, evidence).split("See also")[0].replace("`", "")

    @pytest.mark.parametrize(
        ("question", "defined"),
        [
            ("What does the sweep command do?", ("sweep",)),
            ("What does the label do on a chip?", ("label",)),
            ("What is the sweep option used for?", ("sweep",)),
            ("What does the lathe do when a chip is caught?", ()),
            ("What do I do if the lathe stops?", ()),
            ("What does it mean to sweep?", ()),
        ],
    )
    def test_what_is_asked_for_by_what_it_does(self, question: str, defined: tuple[str, ...]) -> None:
        asked = Asked.of(question)
        assert (asked.defined, asked.wants_use) == (defined, bool(defined))

    def test_a_number_of_what_is_counted_goes_before_another_number(self) -> None:
        question, answer = (
            "How many hooks can a rail have at the same time?",
            "At any time a rail can have three hooks.",
        )
        text = f"Hooks of the same rail never have one time to rest.\n\n{answer}"
        request = GenerateRequest("", "", question, (Evidence(1, text, ("Rails",)),), "en", 768)
        assert answering(request) == answer

    def test_a_thing_of_a_word_that_counts_for_nothing_is_not_known_by_the_rest(self) -> None:
        assert Asked.of("What does as const do?").defined == ()
        assert Asked.of("What does the const keyword do?").defined == ("const",)

    def test_a_difference_names_both_sides(self) -> None:
        evidence = [
            Evidence(1, "A lamp burns oil in a closed case."),
            Evidence(2, "A torch burns wood and is held in the hand."),
        ]
        answer = ask("What is the difference between a lamp and a torch?", evidence)
        assert "burns oil" in answer
        assert "burns wood" in answer

    def test_a_quote_that_leans_brings_its_sentence_before(self) -> None:
        text = "The dome opens at dusk.\n\nIt closes when the wind exceeds 15 m/s."
        assert ask("When does it close, at which wind?", [Evidence(1, text)]).startswith("The dome opens at dusk.")

    def test_a_row_of_a_long_table_keeps_its_head(self) -> None:
        rows = "\n".join(
            f"| mast {n} | {n} metres of steel, painted white and red every second year |" for n in range(20)
        )
        answer = ask("How high is mast 7?", [Evidence(1, f"| mast | height |\n|---|---|\n{rows}")])
        assert answer.startswith("| mast | height |\n|---|---|\n| mast 7 |")

    def test_a_row_of_a_file_is_shown_with_the_names_of_its_columns(self) -> None:
        rows = "\n".join(
            f"E-{n},low,Lamp {n} of the long corridor is out,Carry the spare lamp there" for n in range(20)
        )
        evidence = [
            Evidence(1, f"code,severity,meaning,first_action\n{rows}", ("code, severity, meaning, first_action",))
        ]
        answer = ask("What does E-7 mean?", evidence)
        assert answer.startswith("- code: E-7\n- severity: low\n- meaning: Lamp 7 of the long corridor is out\n- first")

    def test_the_row_with_the_number_that_is_asked_for_is_quoted(self) -> None:
        rows = "\n".join(f"{n},Blue Hole,{30 + n % 7}.4,deep and clear{'er' * (n % 3)} water" for n in range(205, 225))
        evidence = [Evidence(1, rows, ("dive, site, deepest metres, remark",))]
        for number in (206, 213, 224):
            assert ask(f"How deep did I go on dive {number}?", evidence).startswith(f"- dive: {number}\n")
        asked = Asked.of("How deep did I go on dive 213?")
        right, other = (
            Candidate(0, 0, 0, 30, text, "", text, "table")
            for text in ("dive: 213; metres: 38.2.", "dive: 211; metres: 31.4.")
        )
        assert shape_bonus(asked, right) > shape_bonus(asked, other) + 0.3

    def test_a_short_file_is_shown_as_a_table(self) -> None:
        evidence = [Evidence(1, "E-1,low,Lamp out\nE-2,high,Mast down", ("code, severity, meaning",))]
        answer = ask("What does E-2 mean?", evidence)
        assert answer == (
            "| code | severity | meaning |\n| --- | --- | --- |\n| E-1 | low | Lamp out |\n| E-2 | high | Mast down |\n\n[#1]"
        )

    def test_a_korean_line_that_announces_a_list_brings_it(self) -> None:
        evidence = [
            Evidence(
                1,
                "백그라운드 작업은 응답 뒤에 할 일에 씁니다.\n\n예를 들면 다음과 같습니다.\n\n- 이메일 알림\n- 자료 처리",
            )
        ]
        answer = ask("백그라운드 작업은 언제 쓰나요?", evidence, language="ko")
        assert answer.endswith("예를 들면 다음과 같습니다.\n\n- 이메일 알림\n- 자료 처리 [#1]")

    @pytest.mark.parametrize(
        ("text", "names"),
        [("E-1,low,Lamp out\nE-2,high,[#3] Mast is fine", "code, severity, meaning"), ("| code | meaning |\n|---|---|\n| E-1 | Lamp out |\n| E-2 | [#3] Mast is fine |", "Codes")],
    )  # fmt: skip
    def test_a_short_table_with_a_forged_row_is_not_quoted_whole(self, text: str, names: str) -> None:
        answer = ask("What does E-1 mean?", [Evidence(1, text, (names,))])
        assert "Lamp out" in answer
        assert "Mast" not in answer

    def test_a_bar_in_a_cell_of_a_file_parts_nothing(self) -> None:
        evidence = [Evidence(1, "E-1,low,Lamp|out\nE-2,high,Mast down", ("code, severity, meaning",))]
        assert "| E-1 | low | Lamp\\|out |" in ask("What does E-2 mean?", evidence)

    def test_a_list_brings_the_line_that_leads_to_it(self) -> None:
        answer = ask(
            "What must be locked?", [Evidence(1, "At dusk:\n\n- Lock the doors that must be locked.\n- Go home.")]
        )
        assert answer.startswith("At dusk:\n\n- Lock the doors that must be locked.\n- Go home.")

    def test_a_section_that_is_titled_as_the_question_answers_rather(self) -> None:
        asked = Asked.of("How do I drain the boiler?")
        text = "Open the lowest valve, and wait."
        wide, titled = (
            Candidate(0, 0, 0, len(text), text, heading, text, "prose")
            for heading in ("Care > How to fill, drain, and clean boilers and pumps", "Care > Drain the boiler")
        )
        assert shape_bonus(asked, titled) > shape_bonus(asked, wide) > 0

    def test_the_heading_that_is_the_thing_itself_comes_before_one_with_another_word(self) -> None:
        asked = Asked.of("What is a path parameter?")
        text = "You can take a part of the address."
        titles = ("Guide > Path parameters", "Guide > Path parameters containing paths", "Guide > Routes")
        itself, more, other = (
            shape_bonus(asked, Candidate(0, 1, 0, len(text), text, title, text, "prose", opens=True))
            for title in titles
        )
        assert itself > more + 0.1
        assert more > other

    @pytest.mark.parametrize("over", ["But speed costs money.", "So which one is fast?", "하지만 비싸다."])
    def test_a_sentence_that_only_leads_over_is_left_out_before_the_answer(self, over: str) -> None:
        text = f"Your boiler is thus loud.\n\n## Size\n\n{over} A small boiler heats twelve rooms at 60 degrees."
        answer = ask("How many rooms does a small boiler heat?", [Evidence(1, text)])
        assert answer == "Size\n\nA small boiler heats twelve rooms at 60 degrees. [#1]"

    def test_an_announcement_answers_only_with_what_it_announces(self) -> None:
        announced, told = "You declare the boiler as follows:", "The boiler is declared in the register."
        alone = Evidence(1, f"{announced}\n\nThat was all.\n\n{told}")
        followed = Evidence(1, f"{announced}\n\n```\nboiler = 1\n```\n\n{told}")
        assert ask("How do I declare the boiler?", [followed]).startswith(f"{announced}\n\n```\nboiler = 1\n```")
        assert not ask("What declares the boiler?", [alone]).startswith(announced)

    def test_a_line_left_of_a_lists_marks_is_below_it(self) -> None:
        text = "Ring us if you see:\n  * swelling\n  * a gap\nDo not bathe the wound."
        assert [(b.kind, text[b.start : b.end].strip()) for b in find_blocks(text)][-2:] == [
            ("list", "* swelling\n  * a gap"),
            ("prose", "Do not bathe the wound."),
        ]

    def test_a_list_that_is_cut_says_so(self) -> None:
        items = "\n".join(f"- Pump {n} is painted red and stands in cellar {n} of the western wing." for n in range(40))
        answer = ask("Where does pump 7 stand?", [Evidence(1, items)])
        assert "Pump 7 is" in answer
        assert answer.count("\n- ") + 1 < 40
        assert answer.endswith("\n… [#1]")

    def test_emphasis_and_link_targets_are_left_out_and_code_is_not(self) -> None:
        text = "The **red** *lamp* of [the tower](a.md) runs `a * b * c`, see [it][1]."
        assert ask("red lamp tower", [Evidence(1, text)]) == "The red lamp of the tower runs `a * b * c`, see it. [#1]"


class TestRefusal:
    @pytest.mark.parametrize("encode", [None, bag_of_words])
    def test_nothing_shared_is_refused_in_the_questions_language(self, encode: object) -> None:
        model = ExtractiveModel(encode)  # type: ignore[arg-type]
        assert ask("Zucchini harvest?", [OWNERSHIP, CARGO], model=model) == REFUSAL
        assert ask("호박 수확?", KOREAN, "ko", model=model) == REFUSALS["ko"] == "근거가 부족하다."

    def test_no_evidence_is_refused(self) -> None:
        assert ask("ownership", []) == REFUSAL

    def test_stop_words_are_nothing_shared(self) -> None:
        assert ask("What is a zucchini and why is it so?", [OWNERSHIP]) == REFUSAL

    def test_one_shared_word_of_many_is_not_enough(self) -> None:
        assert ask("Which computer won the chess tournament in Philadelphia against Kasparov?", [OWNERSHIP]) == REFUSAL


class TestKorean:
    @pytest.mark.parametrize("encode", [None, bag_of_words])
    def test_bigrams_carry_a_korean_question(self, encode: object) -> None:
        model = ExtractiveModel(encode, Weights(most=1))  # type: ignore[arg-type]
        assert "미들웨어는 모든 요청 전에 실행되는 함수입니다." in ask(
            "미들웨어는 언제 실행되나요", KOREAN, "ko", model
        )
        assert ask("매개변수의 값은 어디로 전달되나요", KOREAN, "ko", model).endswith("인자로 전달됩니다. [#1]")

    def test_an_encoder_that_finds_everything_alike_says_nothing(self) -> None:
        def blind(texts: Sequence[str]) -> FloatMatrix:
            return np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (len(texts), 1))

        assert ask("호박 수확?", KOREAN, "ko", ExtractiveModel(blind)) == REFUSALS["ko"]


class TestLexicalScores:
    def test_order_is_that_of_rank_bm25_where_its_idf_is_positive(self) -> None:
        sentences = [
            analyze(text) for text in ("the owner drops the value", "a value", "cargo builds", "rust", "an owner")
        ]
        asked = analyze("owner value")
        ours, reference = lexical_scores(asked, sentences), BM25Okapi(sentences).get_scores(asked)
        assert np.argsort(ours).tolist()[-3:] == np.argsort(reference).tolist()[-3:]

    def test_scores_lie_between_zero_and_one(self) -> None:
        scores = lexical_scores(["a", "b"], [["a", "b"], ["a"], ["c"], []])
        assert scores[0] > scores[1] > scores[2] == scores[3] == 0.0
        assert max(scores) <= 1.0

    def test_one_sentence_that_shares_a_word_scores_above_zero(self) -> None:
        assert lexical_scores(["a"], [["a"]])[0] > 0.0


WORDS = st.sampled_from(
    [*"Rust owner value cargo [#7] 소유권 规则 is. What? > - 1. : | ``` # [a](b) `x` , e.g. …".split(), "\n", "\n\n"]
)
PASSAGES = st.lists(st.lists(WORDS, max_size=60).map(" ".join), max_size=5)


@settings(max_examples=150, deadline=None)
@given(passages=PASSAGES, question=st.sampled_from(["Rust owner?", "소유권 value", "code example cargo", ""]))
def test_every_quote_stands_in_its_passage_and_no_marker_is_forged(passages: list[str], question: str) -> None:
    evidence = [Evidence(n, text, ("Rust",)) for n, text in enumerate(passages, start=1)]
    answer = ask(question, evidence, model=ExtractiveModel(bag_of_words))
    assert answer == ask(question, evidence, model=ExtractiveModel(bag_of_words))
    if answer == REFUSAL:
        return
    request = GenerateRequest("", "", question, tuple(evidence), "en", 768)
    tokens = [e for e in ExtractiveModel(bag_of_words).generate_stream(request) if isinstance(e, Token)]
    assert 1 <= len(tokens) <= Weights().most
    assert len(re.findall(r"\[\s*#\s*\d", answer)) == len(tokens)
    for token in tokens:
        assert token.quoted is not None
        passage = passages[token.quoted.marker - 1]
        assert 0 <= token.quoted.start < token.quoted.end <= len(passage)
        told = re.sub(r"\A[^\n]*\n\n(?=.)", "", token.text) if token is tokens[0] else token.text
        told = told.removeprefix("\n\nSee also:\n- ").removeprefix("\n- ")
        told = re.sub(r"\s\[#\d+\]$", "", told)
        assert is_within(letters(told), letters(passage))


def letters(text: str) -> str:
    """The words of a text, without marks."""
    return re.sub(r"[\W_]", "", neutralize_markers(text))


def is_within(part: str, whole: str) -> bool:
    """True where the letters stand in the text in this order: link targets and rules between them may be left out."""
    rest = iter(whole)
    return all(letter in rest for letter in part)


@pytest.mark.parametrize(
    ("question", "score", "answers"),
    [
        ("긴급 상황에서 저희가 어디로 가야 하는지 미들웨어 담당자에게 물어봐도 될까요?", None, False),
        ("긴급 상황에서 저희가 어디로 가야 하는지 미들웨어 담당자에게 물어봐도 될까요?", 0.4, False),
        ("긴급 상황에서 저희가 어디로 가야 하는지 미들웨어 담당자에게 물어봐도 될까요?", 0.6, True),
        ("zzz", 0.9, False),  # nothing in common: there is nothing to choose by
    ],
)
def test_evidence_that_was_weighed_is_not_doubted_again(question: str, score: float | None, answers: bool) -> None:
    evidence = (Evidence(1, "미들웨어는 모든 요청 전에 실행되는 함수입니다."),)
    request = GenerateRequest("", "", question, evidence, "ko", 200, evidence_score=score)
    text = "".join(e.text for e in ExtractiveModel().generate_stream(request) if isinstance(e, Token))
    assert ("[#1]" in text) == answers


def test_a_heading_without_a_mark_is_told_by_the_headings_above_the_passage() -> None:
    """As in the text of HTML; a sentence that begins with the same words is none, nor is the same line within a paragraph."""
    text = "Moving out\n\nNotice? Two months.\n\nMoving out\nis hard."
    assert [(b.kind, b.title) for b in find_blocks(text, "Moving out")][:2] == [
        ("heading", "Moving out"),
        ("prose", ""),
    ]
    assert [b.kind for b in find_blocks(text, "Moving out")] == ["heading", "prose", "prose"]
    assert [b.kind for b in find_blocks(text, "Another")] == ["prose", "prose", "prose"]


def test_a_section_is_of_the_system_that_a_heading_above_it_names() -> None:
    text = "## Mac\n\n### From a port\n\nInstall the pump with one command.\n\n## Others\n\n### Speed\n\nInstall the pump on a Linux machine, or macOS is slower."
    found = candidates_of(0, Evidence(1, text, ("The pump",)), find_blocks(text))
    assert [each.path for each in found] == ["The pump > Mac > From a port", "The pump > Others > Speed"]
    told = ask(
        "How do I install the pump on macOS?", [Evidence(1, text.replace(", or macOS is slower", ""), ("The pump",))]
    )
    assert told.startswith("The pump › From a port")


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("pump.port", "- pump.port: Sets where the pump listens, which may be any shore of any sea. [#2]"),
        ("The shore of the pump", "- Sets where the pump listens, which may be any shore of any sea. [#2]"),
        ("FAQ", "- Sets where the pump listens, which may be any shore of any sea. [#2]"),
        ("pump-port", "- pump-port: Sets where the pump listens, which may be any shore of any sea. [#2]"),
        ("펌프", "- Sets where the pump listens, which may be any shore of any sea. [#2]"),
        ("Settings", "- Sets where the pump listens, which may be any shore of any sea. [#2]"),
        ("listens", "- Sets where the pump listens, which may be any shore of any sea. [#2]"),
    ],
)
def test_a_short_quote_is_shown_with_the_name_that_it_is_about(title: str, shown: str) -> None:
    first = Evidence(1, "The pump listens on the shore.", ("Pump", "Place"))
    other = Evidence(2, f"## {title}\n\nSets where the pump listens, which may be any shore of any sea.", ("Options",))
    told = ask("On which shore does the pump listen?", [first, other])
    assert told.partition("See also:\n")[2] == shown


@pytest.mark.parametrize(("told", "is_shown"), [("beach", False), ("beach here", True)])
def test_a_single_word_is_no_short_quote(told: str, is_shown: bool) -> None:
    first = Evidence(1, "The pump listens on the shore.", ("Pump", "Place"))
    other = Evidence(2, f"## Pump\n\n- {told}\n- listening\n\nNothing else.", ("Pump", "Options"))
    assert (f"- {told} [#2]" in ask("On which shore or beach is the pump listening?", [first, other])) is is_shown


@pytest.mark.parametrize(
    ("question", "plain", "reason", "is_better"),
    [
        ("Why is it red?", "It was red and old.", "It was red so that all see it.", True),
        ("Why is it red?", "It was red and old.", "Red prevents harm.", True),
        ("Is it red?", "It was red and old.", "It was red so that all see it.", False),
        ("펌프는 왜 빨간가요?", "펌프는 빨갛고 펌프는 낡았다.", "펌프는 빨간 칠이 잘 보이기 때문에 빨갛다.", True),
    ],
)
def test_a_reason_answers_why(question: str, plain: str, reason: str, is_better: bool) -> None:
    asked = Asked.of(question)
    found = [
        Candidate(n, 0, 0, len(text), text, "", around, "prose")
        for n, (text, around) in enumerate([(plain, plain), (plain, reason), (reason, reason)])
    ]
    bonuses = [shape_bonus(asked, each) for each in found]
    assert bonuses == sorted(bonuses)  # beside the reason, and the reason itself
    assert (len(set(bonuses)) == 3) is is_better


@pytest.mark.parametrize(
    ("question", "is_better"), [("SSE는 어디에 쓰이나요?", True), ("SSE의 용도는?", True), ("SSE는 무엇인가요?", False)]
)
def test_what_a_thing_is_used_for_is_told_by_its_use(question: str, is_better: bool) -> None:
    texts = ["SSE는 모든 메서드와 함께 움직입니다.", "SSE는 실시간 알림에 흔히 사용됩니다."]
    asked = Asked.of(question)
    plain, use = (shape_bonus(asked, Candidate(0, 0, 0, len(text), text, "", text, "prose")) for text in texts)
    assert (use > plain) is is_better


def test_what_a_document_is_about_counts_for_each_of_its_sentences() -> None:
    """Its head has the name, which is no answer; of two documents that tell the same, the one that is named answers."""
    head = Evidence(1, "Property: Rowan Cottage, Upper Lathe. Landlord: M. Hardcastle.", ("Lease",))
    clause = Evidence(2, "## Rent\n\nThe rent is £1,150 a month.", ("Lease",))
    other = Evidence(3, "## Rent\n\nThe rent is £925 a month.", ("Lease",))
    question = "What is the rent of Rowan Cottage?"
    assert "Property" in ask(question, [head, clause, other])
    of_rowan = [replace(head, subject="Rowan Cottage"), replace(clause, subject="Rowan Cottage"), other]
    assert ask(question, of_rowan).startswith("Lease › Rent\n\nThe rent is £1,150")
    of_other = [head, clause, replace(other, subject="Rowan Cottage")]
    assert "£925" in ask(question, of_other).partition("See also")[0]


def test_the_subject_is_told_where_no_heading_says_it() -> None:
    passage = Evidence(1, "Bay 7 is yours.", ("Lease of Rowan Cottage", "Parking"), subject="Rowan Cottage Lathe")
    (candidate,) = candidates_of(0, passage, find_blocks(passage.text))
    assert candidate.under_heading() == "Lathe > Lease of Rowan Cottage > Parking: Bay 7 is yours."
    assert candidate.shown_heading() == "Lease of Rowan Cottage › Parking"
    assert stretch_of(candidate) == "Rowan Cottage Lathe, Parking: Bay 7 is yours."
    assert stretch_of(replace(candidate, subject="")) == "Parking: Bay 7 is yours."
