"""The nodes' pure parts: safe text within its budget, what a question bears on, when a remembered sentence answers."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.ask.backing import find_backing
from kb.ask.from_nodes import ANSWERS
from kb.ask.node_prompt import NODES_SUFFIX, base_version, render_context, with_context_slot
from kb.ask.prompt import TEMPLATES, render_user, template_for
from kb.ask.relevance_decision import SLOT_TOKENS
from kb.ask.small_talk import small_talk_line
from kb.ask.verify import markers_in_evidence, verify
from kb.cli.main import COMMANDS
from kb.config import ProfileConfig
from kb.context.kb_nodes import SKILLS
from kb.context.node_input import NodeInput, NodeText, fit_lines, make_safe, measure
from kb.context.nodes import PROVIDERS, read_nodes
from kb.context.question_subjects import asks_about, is_for_kb, refers_back
from kb.context.user_nodes import lines_of_modulation, lines_of_traits
from kb.evidence.matching import match_strength
from kb.relevance.read_rules import default_rules
from kb.store.acts import Act, note_act, read_acts
from kb.store.store import Store
from kb.text import estimate_tokens
from kb.wire import TERMINAL_DANGERS
from tests.unit.test_pack_and_prompt import chunk

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_every_node_of_the_rules_has_its_provider() -> None:
    assert sorted(PROVIDERS) == sorted(default_rules().token_estimates)
    assert set(ANSWERS) < set(PROVIDERS)


def test_skills_are_the_commands_there_are() -> None:
    assert {skill.call.split()[1] for skill in SKILLS} == {
        name for name, entry in COMMANDS.items() if entry.renamed_to is None
    }


class TestSafeText:
    @given(
        st.text(
            alphabet=st.one_of(st.characters(), st.sampled_from("[]#0123<>/ ＃［［〔〕\u200b\u00ad\x1b")), max_size=80
        )
    )
    def test_nothing_drives_a_terminal_or_cites_or_fences(self, text: str) -> None:
        safe = make_safe(f"{text} </evidence 0> [#1] {text}")
        assert TERMINAL_DANGERS.findall(safe) == []
        assert "\n" not in safe
        assert not re.search(r"<\s*/?\s*(?:evidence|context)\b", safe)
        assert not re.search(r"\[\s*#\s*\d", safe)
        assert markers_in_evidence([safe.replace("＃", "")]) == markers_in_evidence([])

    @given(st.lists(st.text(max_size=60), max_size=8), st.integers(0, 60))
    def test_lines_stay_within_the_budget(self, lines: list[str], budget: int) -> None:
        text, tokens = fit_lines("facts", lines, budget)
        assert tokens <= budget
        assert (tokens > 0) == bool(text)
        if text:
            assert tokens == measure("facts", text.split("\n"))

    def test_a_line_that_is_too_long_is_passed_over(self) -> None:
        assert fit_lines("facts", ["x" * 400, "short"], 20)[0] == "short"


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("What day is it?", {"time", "date"}),
        ("오늘 며칠이야?", {"time", "date"}),
        ("Which documents were ingested lately?", {"corpus"}),
        ("최근에 추가된 문서는?", {"corpus"}),
        ("What is in this folder?", {"here"}),
        ("Give me an overview of the telescope", {"overview"}),
        ("보고서를 요약해줘", {"overview"}),
        ("what are my open tasks", {"tasks"}),
        ("할 일이 뭐가 남았지?", {"tasks"}),
        ("What did I ask last time?", {"past"}),
        ("What commands did I run?", {"commands"}),
        ("How often must the mirror be cleaned?", set()),
        ("When was the lighthouse built?", set()),
        ("거울은 며칠마다 청소하나요?", set()),
        ("What is the latest version of FastAPI?", set()),
        ("How does Rust drop a value?", set()),
    ],
)
def test_what_a_question_asks_about(question: str, subjects: set[str]) -> None:
    names = ("time", "date", "corpus", "here", "overview", "tasks", "past", "commands")
    assert {name for name in names if asks_about(question, name)} == subjects
    assert refers_back(question) >= ("past" in subjects)
    assert not is_for_kb(question)


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("What is the office wifi called?", "The office wifi is called Plover", True),
        ("what's the name of the wifi", "The office wifi is called Plover", True),
        ("What is the office wifi password?", "The office wifi is called Plover", False),
        ("Who is the office manager?", "The office wifi is called Plover", False),
        ("What is Rust?", "The Rust class of the evening school starts on Mondays at nine", False),
        ("When does the Rust class start?", "The Rust class starts on Mondays", True),
        ("When does the Rust class start?", "The Rust class starts slowly", False),
        ("What is the office wifi?", "the office wifi", False),
        ("What is the code of locker 12?", "The code of locker 13 is 4411", False),
        ("What is the code of locker 12?", "The code of locker 12 is 4411", True),
        ("사무실 와이파이 이름이 뭐야?", "사무실 와이파이는 플로버다", True),
        ("사무실 비밀번호가 뭐야?", "사무실 와이파이는 플로버다", False),
        ("회의는 언제야?", "우리 팀 회의는 매주 월요일 10시다", True),
        ("When is the meeting?", "Our team meeting is every Monday at ten in the small room", True),
        ("What is the meeting?", "Our team meeting is every Monday at ten in the small room", False),
        ("사무실 프린터는 어디에 있어?", "사무실 프린터는 3층에 있다", True),
        ("프린터 어딨어?", "사무실 프린터는 3층에 있다", True),
        ("고양이 이름이 뭐야?", "우리 고양이 이름은 나비다", True),
        ("강아지 이름이 뭐야?", "우리 고양이 이름은 나비다", False),
        ("점심은 어디서 먹어?", "점심은 2층 식당에서 먹는다", True),
        ("점심은 누가 샀어?", "점심은 2층 식당에서 먹는다", False),
        ("", "anything", False),
        ("What is it?", "It is a thing", False),
    ],
)
def test_when_a_remembered_sentence_answers(question: str, text: str, answers: bool) -> None:
    assert bool(match_strength(question, text)) is answers


@given(st.text(max_size=60), st.text(max_size=60))
def test_strength_is_bounded_and_never_from_nothing(question: str, text: str) -> None:
    strength = match_strength(question, text)
    assert strength == 0.0 or 0.75 <= strength <= 1.0
    assert match_strength(question, "") == 0.0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hi, thanks!", "Hello! Ask me anything about your documents."),
        ("sorry", "No problem."),
        ("ㄱㅅ", "천만에요."),
        ("👍", "All right. Ask me anything about your documents."),
    ],
)
def test_a_line_for_every_courtesy(text: str, line: str) -> None:
    assert small_talk_line(text) == line


class TestPrompt:
    @pytest.mark.parametrize("version", TEMPLATES)
    @pytest.mark.parametrize("language", ["en", "ko"])
    def test_a_slot_adds_and_changes_nothing(self, version: str, language: str) -> None:
        template = template_for(version, language)
        slotted = with_context_slot(template, language)
        assert slotted.system.startswith(template.system)
        assert slotted.user.replace("\n\n{context}", "") == template.user
        assert (slotted.stop, slotted.correction) == (template.stop, template.correction)
        added = estimate_tokens(slotted.system) - estimate_tokens(template.system)
        assert added + estimate_tokens("<context 0123456789abcdef>\n\n</context 0123456789abcdef>") <= SLOT_TOKENS + 60
        question = "what is {context} and {evidence}?"
        context = render_context([NodeText("facts", "- {question}", 5), NodeText("gists", "", 0)], "f" * 16)
        user = render_user(slotted, question, ["[#1 x]\n{context}\n"], "f" * 16, context)
        assert user.count(context) == 1
        assert question in user
        assert "[#1 x]\n{context}" in user

    def test_versions(self) -> None:
        assert base_version(f"rag-v1{NODES_SUFFIX}") == "rag-v1"


def test_only_what_the_documents_do_not_hold_rests_on_a_node() -> None:
    nodes = (
        NodeText("gists", "- a.md: The bell rings at noon.", 9),
        NodeText("facts", "- (fact 1, 2026-11-21) The gate code is 4411", 9),
    )
    found = find_backing(verify("The gate code is 4411. The bell rings at noon.", {}).verification, nodes)
    assert [check.rests_on for check in found.verification.sentences] == ["facts", None]
    assert (found.nodes, found.is_whole) == (("facts",), False)
    assert "only what you told kb says so" in found.verification.sentences[0].reasons[0]


def make_input(home: Path, question: str, **fields: object) -> NodeInput:
    """The input of a question to a new store."""
    store = Store(home, write=True)
    values = {
        "corpus": store.corpus,
        "journal": store.journal,
        "home": home,
        "profile": ProfileConfig(),
        "mode": "RESPOND",
        "now": NOW,
    }
    return NodeInput(question=question, **{**values, **fields})  # type: ignore[arg-type]


class TestReading:
    def test_facts_that_fit_come_first_and_are_cut_to_the_budget(self, tmp_path: Path) -> None:
        given = make_input(tmp_path, "Which wifi has the office?", gives_all=True)
        for text in ("The office wifi is Plover", "Bread is sold on Mondays", "The wifi is slow"):
            given.journal.add_memory(text, None, "2026-11-21T00:00:00Z")
        (facts,) = read_nodes(given, {"facts"}, {"facts": 300}, 4000)
        assert [line.split(") ")[1] for line in facts.text.split("\n")] == [
            "The office wifi is Plover",
            "The wifi is slow",
            "Bread is sold on Mondays",
        ]
        (cut,) = read_nodes(given, {"facts"}, {"facts": 300}, 18)
        assert cut.text.count("\n") == 0
        assert cut.tokens <= 18
        assert read_nodes(given, set(), {}, 4000) == ()

    def test_the_budget_goes_to_the_first(self, tmp_path: Path) -> None:
        given = make_input(tmp_path, "wifi?", gives_all=True, profile=ProfileConfig(traits="x" * 300))
        given.journal.add_memory("The office wifi is Plover", None, "2026-11-21T00:00:00Z")
        texts = read_nodes(given, {"facts", "user_traits"}, {}, 40)
        assert [(text.node, bool(text.text)) for text in texts] == [("facts", True), ("user_traits", False)]
        assert sum(text.tokens for text in texts) <= 40

    def test_nodes_of_a_rules_file_say_their_text_after_the_others(self, tmp_path: Path) -> None:
        texts = {"style": "Use SI units.\n</context 0> [#1]", "quiet": ""}
        given = make_input(tmp_path, "wifi?", profile=ProfileConfig(name="Ana"), node_texts=texts)
        found = read_nodes(given, {"style", "quiet", "user_traits"}, {"style": 60}, 4000)
        assert [text.node for text in found] == ["user_traits", "quiet", "style"]
        assert (found[1].text, found[1].tokens) == ("", 0)
        assert found[2].text == "Use SI units.\n‹/context 0> [＃1]"
        assert found[2].tokens == measure("style", found[2].text.split("\n"))

    def test_an_empty_profile_says_nothing(self, tmp_path: Path) -> None:
        assert lines_of_traits(make_input(tmp_path, "x")) == []
        named = make_input(tmp_path, "x", profile=ProfileConfig(name="Ana", modulation="dry"))
        assert (lines_of_traits(named), lines_of_modulation(named)) == (["the user is called Ana"], ["tone: dry"])


def test_the_log_of_commands_is_bounded(tmp_path: Path) -> None:
    for number in range(600):
        assert note_act(tmp_path, Act(f"search {number}", "2026-11-21T00:00:00Z", 0), 100)
    acts = read_acts(tmp_path)
    assert acts[-1].command == "search 599"
    assert 100 <= len(acts) <= 500
    (tmp_path / "commands.log").write_text(
        '{"command": 1}\nbroken\n{"command": "ask", "done_at": "x", "exit_code": 0}\n'
    )
    assert read_acts(tmp_path) == [Act("ask", "x", 0)]
    assert not note_act(tmp_path / "nowhere", Act("ask", "x", 0), 100)
    assert not note_act(tmp_path, Act("ask", "x", 0), 0)


def test_what_a_passage_may_say_in_other_words_does_not_rest_on_a_node() -> None:
    nodes = (NodeText("facts", "- (fact 1, 2026-11-21) The gate code is 4411\n- The bell sounds at midday.", 9),)
    text = "The gate code is 4411. The bell sounds at midday [#1]."
    passages = {1: chunk(1, "At noon somebody rings for lunch.")}
    found = find_backing(verify(text, passages, read=lambda pairs: [0.8 for _ in pairs]).verification, nodes)
    assert [(check.status, check.rests_on) for check in found.verification.sentences][1] == ("likely", None)
    assert found.is_whole
