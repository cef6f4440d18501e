"""Checked answers on the command line: the footer, the doubts, the one retry, require_verified, and kb verify."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.ask.stages import SECOND_TRY
from tests.journey.conftest import CORPUS, Call
from tests.journey.ollama import CITED, QUESTION, use
from tests.llm.recorded_server import RecordedServer, answer

LEXICAL = ("--mode", "lexical")
WRONG = "The mirror must be cleaned every 15 days [#1]."


def test_a_contradicted_sentence_is_marked_in_place(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordedServer([answer(f"{CITED} {WRONG}")]) as server:
        use(server, monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        kept = kb("ask", QUESTION, *LEXICAL, "--json", home=corpus_home).json()
    assert result.code == 1
    assert f"{WRONG} [✗ the documents say otherwise]" in " ".join(result.out.split())
    assert "✓" not in result.out
    assert "⚠ not what [#1] says ('15" in result.out
    assert "grounded ✗ (the documents say otherwise) · " in result.out
    assert "The closest in your documents:" in result.out
    assert (kept["grounded"], kept["refusal_reason"]) == (False, "not_backed")
    assert kept["verification"]["status"] == "contradicted"
    assert [kept["answer"][s["start"] : s["end"]] for s in kept["verification"]["sentences"]] == [CITED, WRONG]


def test_an_answer_backed_in_the_main_has_no_tick(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doubtful = "Zebras polish the brass railing every morning [#1]."
    with RecordedServer([answer(f"{CITED} {CITED} {doubtful}")]) as server:
        use(server, monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
    assert result.code == 0
    assert "⚠ [#1] does not seem to say this: Zebras" in result.out
    assert "⚠ doubtful: 1 of 3 sentences · " in result.out
    assert "✓" not in result.out


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        ("At 14 m/s the roof must close, because it must close when the sustained wind exceeds 11 m/s [#1].", 0, "≈"),
        (
            "At 14 m/s the roof need not close, because it must close when the sustained wind exceeds 11 m/s [#1].",
            1,
            "✗",
        ),
    ],
)
def test_an_amount_of_the_question_is_reckoned_with_and_gets_no_tick(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, said: str, code: int, told: str
) -> None:
    with RecordedServer([answer(said)]) as server:
        use(server, monkeypatch)
        result = kb("ask", "Must Thistle's roof close at a wind of 14 m/s?", home=corpus_home)
    assert (result.code, "✓" in result.out) == (code, False)
    assert told in result.out


def test_other_words_get_a_sign_of_their_own(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reworded = "Someone has to wash Marigold's mirror roughly twice a month [#1]."
    with RecordedServer([answer(reworded)]) as server:
        use(server, monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        kept = kb("ask", QUESTION, *LEXICAL, "--json", home=corpus_home).json()
        listed = kb("answers", "list", "-n", "1", home=corpus_home)
        monkeypatch.setenv("KB_RAG__REQUIRE_VERIFIED", "true")
        strict = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
    assert (result.code, strict.code) == (0, 1)
    assert result.out.startswith(reworded)
    assert "≈ may be in your documents, in other words: compare the cited lines" in " ".join(result.out.split())
    assert "✓" not in result.out + listed.out
    assert f"≈  {QUESTION}" in listed.out
    assert (kept["grounded"], kept["verification"]["status"], kept["verification"]["verified"]) == (True, "likely", 0)
    assert [sentence["status"] for sentence in kept["verification"]["sentences"]] == ["likely"]
    assert strict.out.startswith("kb is not sure that your documents say this.")
    assert f"{reworded} [≈ in other words]" in " ".join(strict.out.split())


def test_require_verified_makes_it_a_refusal(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_RAG__REQUIRE_VERIFIED", "true")
    doubtful = "Zebras polish the brass railing every morning [#1]."
    with RecordedServer([answer(f"{CITED} {CITED} {doubtful}"), answer(CITED)]) as server:
        use(server, monkeypatch)
        refused = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        kept = kb("ask", QUESTION, *LEXICAL, "--json", home=corpus_home)
    assert refused.code == 1
    assert refused.out.startswith("kb could not confirm the model's answer in your documents.")
    assert f"{doubtful} [? not confirmed]" in " ".join(refused.out.split())
    assert "grounded ✗ (not confirmed) · " in refused.out
    assert (kept.code, kept.json()["verification"]["status"]) == (0, "verified")


def test_an_answer_that_cites_nothing_is_answered_by_quotes(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordedServer([answer("Every fortnight, I believe."), answer("Every fortnight.")]) as server:
        use(server, monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
    assert result.code == 1
    assert "The model's answer cannot be checked" in result.out
    assert "14 days" in result.out
    assert "does not cover" not in result.out


@pytest.mark.parametrize("marker", ["[1]", "[#1, #2]", "【#1】", "[# 1]", "[^1]", "[#1][#77]"])
def test_other_forms_of_a_marker_are_read(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    with RecordedServer([answer(CITED.replace("[#1]", marker))]) as server:
        use(server, monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
    assert result.code == 0
    assert "✓ checked against your documents" in result.out
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    "first", ["The mirror is cleaned every 14 days.", "The mirror is cleaned every 14 days [#77]."]
)
@pytest.mark.parametrize("options", [(), ("--stream",)])
def test_one_retry(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, first: str, options: tuple[str, ...]
) -> None:
    with RecordedServer([answer(first), answer(CITED)]) as server:
        use(server, monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, *options, home=corpus_home)
        row = kb("answers", "list", "--json", home=corpus_home).json()["answers"][0]
    one, two = (chat["messages"] for chat in server.chats)
    assert result.code == 0
    assert CITED in result.out
    assert "✓ checked against your documents" in result.out
    assert "asking the model once more" in result.err
    assert one[0] == two[0]
    assert two[1]["content"].startswith(one[1]["content"])
    assert first in two[1]["content"][len(one[1]["content"]) :]
    assert row["raw_answer"] == first + SECOND_TRY + CITED
    assert (row["prompt_tokens"], row["completion_tokens"]) == (6000, 10)
    if not options:
        assert first not in result.out


def test_no_retry_when_told_or_when_the_model_refuses(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordedServer([answer("The evidence is insufficient."), answer("No marker.")]) as server:
        use(server, monkeypatch)
        assert kb("ask", QUESTION, *LEXICAL, home=corpus_home).code == 1
        monkeypatch.setenv("KB_RAG__RETRY", "never")
        assert kb("ask", QUESTION, *LEXICAL, home=corpus_home).code == 1
    assert len(server.chats) == 2


@pytest.mark.parametrize(
    "question", [QUESTION, "At what wind speed must the dome close?", "거울은 며칠마다 청소하나요?"]
)
def test_a_quote_stands_in_the_cited_lines(kb: Call, corpus_home: Path, question: str) -> None:
    found = kb("ask", question, *LEXICAL, "--json", home=corpus_home).json()
    assert found["verification"]["status"] == "verified"
    for cited in found["citations"]:
        place = cited["citation"]
        assert cited["quote"]
        if place["start_line"]:
            lines = (CORPUS / place["path"]).read_text(encoding="utf-8-sig").split("\n")
            assert cited["quote"] in "\n".join(lines[place["start_line"] - 1 : place["end_line"]])


class TestVerifyCommand:
    @pytest.mark.parametrize(("claim", "code"), [("The dome closes at 12 m/s.", 0), ("The dome closes at 14 m/s.", 1)])
    def test_one_claim(self, kb: Call, tmp_path: Path, claim: str, code: int) -> None:
        page = tmp_path / "page.md"
        page.write_text("The dome closes at 12 m/s, whatever the weather.", encoding="utf-8")
        result = kb("verify", "--claim", claim, "--evidence", page, "--no-encoder")
        assert result.code == code
        assert ("backed ✓" in result.out) == (code == 0)
        piped = kb("verify", "--claim", claim, "--evidence", "-", "--no-encoder", "--json", stdin=page.read_bytes())
        assert (piped.code, piped.json()["backed"]) == (code, code == 0)

    def test_bulk(self, kb: Call) -> None:
        rows = [{"claim": "It rains.", "evidence": ["It rains a lot."]}, {"claim": "It rains.", "evidence": "No cats."}]
        result = kb("verify", "--bulk", "--no-encoder", stdin="\n".join(map(json.dumps, rows)))
        assert [row["backed"] for row in result.events()] == [True, False]
        assert {row["schema_version"] for row in result.events()} == {"support.v1"}
        assert result.code == 1

    def test_other_words_have_a_sign_of_their_own(self, kb: Call, tmp_path: Path) -> None:
        page = tmp_path / "page.txt"
        page.write_text("The mirror must be cleaned every 14 days. Ada leads the night team.", encoding="utf-8")
        claim = "Someone gives the mirror a wash twice a month."
        result = kb("verify", "--claim", claim, "--evidence", page)
        kept = kb("verify", "--claim", claim, "--evidence", page, "--json").json()
        assert result.code == 0
        assert result.out.startswith("likely ")
        assert "backed ≈, in other words" in result.out
        assert (kept["backed"], kept["status"]) == (True, "likely")

    @pytest.mark.parametrize("words", [("verify",), ("verify", "--claim", "x"), ("verify", "--bulk", "--no-encoder")])
    def test_what_cannot_be_read(self, kb: Call, words: tuple[str, ...]) -> None:
        result = kb(*words, stdin='{"claim": 3}\n')
        assert result.code == 2
        assert "fix: " in result.err
