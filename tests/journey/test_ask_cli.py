"""kb ask on the command line: exit codes, what is printed where, JSON, options, filters, models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kb.config import EmbeddingConfig
from tests.journey.conftest import Call, Result
from tests.journey.ollama import CITED, QUESTION, use
from tests.llm.recorded_server import (
    MODEL,
    Hangup,
    Pause,
    RecordedServer,
    Reply,
    answer,
    free_port,
    last_line,
    line,
    shown,
)
from tests.schemas import check_wire

KOREAN = "마리골드 거울은 며칠마다 청소해야 하나요?"
LEXICAL = ("--mode", "lexical")

Validate = Callable[..., None]


@pytest.fixture
def valid(kb: Call) -> Validate:
    """valid(object): it is what `kb schema` says of its schema_version."""

    def check(thing: Any) -> None:
        check_wire(thing, json.loads(kb("schema", thing["schema_version"]).out))

    return check


def stored(kb: Call, home: Path) -> dict[str, Any]:
    """The newest row of `answers`."""
    row: dict[str, Any] = kb("answers", "list", "--json", home=home).json()["answers"][0]
    return row


class TestPrinted:
    def test_a_grounded_answer(self, kb: Call, corpus_home: Path) -> None:
        result = kb("ask", QUESTION, home=corpus_home)
        text, places, footer = result.out.rstrip().rsplit("\n\n", 1)[0], *split_tail(result)
        assert result.code == 0
        assert text.startswith("The Marigold telescope › Cleaning\n\nThe mirror must be cleaned every 14 days. ")
        assert places[0].startswith("[#1] guide/marigold-telescope.md#L32-L")
        assert re.fullmatch(r"quoted from your documents, no language model · \d+\.\d s", footer)
        assert result.err == ""

    def test_a_refusal_of_the_model(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        said = "The evidence is insufficient."
        with RecordedServer([answer(said)]) as server:
            use(server, monkeypatch)
            result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        places, footer = split_tail(result)
        assert result.code == 1
        assert result.out.startswith("Not sure: no passage clearly answers this. ")
        assert places[0] == "Closest passages:"
        assert len(places) == 4
        assert footer.startswith(f"grounded ✗ (not sure) · {MODEL} · ")
        assert stored(kb, corpus_home)["raw_answer"] == said

    def test_a_refusal_of_the_gate(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KB_RAG__SCORE_GATE", "0.99")
        result = kb("ask", KOREAN, "--mode", "vector", home=corpus_home)
        lines = result.out.splitlines()
        assert result.code == 1
        assert lines[:3] == ["확실하지 않습니다. 분명히 답하는 대목이 없습니다.", "", "가장 가까운 대목:"]
        assert all(re.fullmatch(r"  \d\. \S+#L\d+(-L\d+)?", line) for line in lines[3:6])
        assert re.fullmatch(r"근거 ✗ \(확실하지 않음\) · 모델에 묻지 않음 · \d+\.\d s", lines[6])

    def test_nothing_found(self, kb: Call, corpus_home: Path) -> None:
        result = kb("ask", "zzyzx?", *LEXICAL, home=corpus_home)
        assert result.code == 1
        assert result.out.splitlines()[0] == "I found no answer to this in your documents. The search found nothing."
        assert "grounded ✗ (no answer found) · no model asked" in result.out

    def test_explain(self, kb: Call, corpus_home: Path, valid: Validate, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KB_RAG__PACKING", "ranked")
        result = kb("ask", QUESTION, "--explain", "-k", "2", home=corpus_home)
        for shown_part in ("score gate 0.01, top score 0.", "bm25: #1", "cosine: #1", "[#1] guide/", "[#2] ", "ms: "):
            assert shown_part in result.out
        assert "Cleaning takes about an hour" in result.out
        assert [p["marker"] for p in stored(kb, corpus_home)["packed_chunks"]] == [1, 2]
        whole = kb("ask", QUESTION, "--explain", "--json", home=corpus_home).json()
        valid(whole)
        assert whole["retrieval"]["chunks_used"] == 10
        assert 1 < len(whole["explanation"]["packed"]) <= 10  # chunks of one section are one passage
        assert whole["explanation"]["trace"]["lexical"]

    @pytest.mark.parametrize("question", ["", "  \n "])
    def test_an_empty_question(self, kb: Call, corpus_home: Path, question: str) -> None:
        result = kb("ask", question, "--json", home=corpus_home)
        error = json.loads(result.err)
        assert (result.code, error["code"]) == (2, "invalid_input")
        assert "kb ask" in error["fix"]
        assert kb("answers", "list", home=corpus_home).code == 1

    @pytest.mark.parametrize("words", [(), ("-",)])
    def test_a_question_from_a_pipe(self, kb: Call, corpus_home: Path, words: tuple[str, ...]) -> None:
        asked = kb("ask", *words, *LEXICAL, home=corpus_home, stdin=f"{QUESTION}\n")
        assert (asked.code, asked.out.splitlines()[-1].split(" · ")[0]) == (
            0,
            "quoted from your documents, no language model",
        )
        empty = kb("ask", *words, home=corpus_home, stdin="\n")
        assert (empty.code, empty.err.splitlines()[0]) == (2, "error: no question given")

    @pytest.mark.parametrize(
        ("question", "said"),
        [
            ("How often is the mirror cleaned?", "No document passes --type txt; kb list shows what there is."),
            (
                "거울은 얼마나 자주 닦나요?",
                "--type txt 조건에 맞는 문서가 없습니다. 있는 문서는 kb list 로 볼 수 있습니다.",
            ),
        ],
    )
    def test_a_filter_that_nothing_passes(self, kb: Call, corpus_home: Path, question: str, said: str) -> None:
        result = kb("ask", question, "--type", "txt", home=corpus_home)
        assert (result.code, said in result.out) == (1, True)

    def test_an_empty_home(self, kb: Call, tmp_path: Path) -> None:
        assert kb("ask", "Anything?", home=tmp_path / "nothing").code == 2


def split_tail(result: Result) -> tuple[list[str], str]:
    """The lines of the last block before the footer, and the footer."""
    *places, footer = result.out.rstrip().rsplit("\n\n", 1)[1].splitlines()
    return places, footer


class TestJson:
    def test_whole(self, kb: Call, corpus_home: Path, valid: Validate) -> None:
        result = kb("ask", QUESTION, "--json", home=corpus_home)
        (only,) = result.events()
        valid(only)
        assert result.code == 0
        assert (only["schema_version"], only["grounded"], only["refusal_reason"]) == ("answer.v1", True, None)
        assert only["embedding"] == {"id": EmbeddingConfig().model, "dimensions": 384}
        assert only["trace_id"] == stored(kb, corpus_home)["trace_id"]

    def test_lexical_has_no_embedding(self, kb: Call, corpus_home: Path) -> None:
        assert kb("ask", QUESTION, "--json", *LEXICAL, home=corpus_home).json()["embedding"] is None

    def test_a_refusal(self, kb: Call, corpus_home: Path, valid: Validate) -> None:
        result = kb("ask", "zzyzx?", "--json", *LEXICAL, home=corpus_home)
        valid(result.json())
        assert result.code == 1
        assert (result.json()["refusal_reason"], result.json()["citations"]) == ("no_chunks", [])

    @pytest.mark.parametrize(("pieces", "code"), [(("The mirror ", "every 14 days [#1]."), 0), (("No ", "idea."), 1)])
    def test_events(
        self,
        kb: Call,
        corpus_home: Path,
        valid: Validate,
        monkeypatch: pytest.MonkeyPatch,
        pieces: tuple[str, ...],
        code: int,
    ) -> None:
        with RecordedServer([answer(*pieces)]) as server:
            use(server, monkeypatch)
            result = kb("ask", QUESTION, "--json", "--stream", "-k", "4", *LEXICAL, home=corpus_home)
        *events, last = result.events()
        for thing in (*events, last):
            valid(thing)
        assert result.code == code
        assert [event["event"] for event in events] == ["retrieval", "token", "token", "answer"]
        assert [event["text"] for event in events[1:-1]] == list(pieces)
        assert len(events[0]["hits"]) == 4
        assert last["schema_version"] == "answer.v1"
        assert last["trace_id"] == events[-1]["trace_id"]


class TestPrompt:
    def test_everything_reaches_the_model(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KB_RAG__PACKING", "ranked")
        with RecordedServer([answer(CITED)]) as server:
            use(server, monkeypatch)
            result = kb(
                "ask", QUESTION, "--temperature", "0.7", "--seed", "11", "-k", "3", "--session", "s1", home=corpus_home
            )
        (body,) = server.chats
        assert result.code == 0
        assert body["options"] == {
            "num_ctx": 8192,
            "num_predict": 768,
            "temperature": 0.7,
            "seed": 11,
            "stop": ["\n\n[Question]"],
        }
        assert (body["model"], body["keep_alive"], body["stream"]) == (MODEL, "30m", True)
        system, user = (message["content"] for message in body["messages"])
        assert system.startswith("You answer questions from the user's own documents.")
        fence = user.split("\n", 1)[0].removeprefix("<evidence ").removesuffix(">")
        assert re.fullmatch("[0-9a-f]{16}", fence)
        assert user.startswith(f"<evidence {fence}>\n[#1 {fence} doc=guide/marigold-telescope.md heading=")
        assert (
            f"\n</evidence {fence}>\n\n[Question]\n{QUESTION}\n\nAnswer in English, from evidence {fence} alone."
            in user
        )
        assert re.findall(rf"^\[#(\d+) {fence} doc=", user, re.M) == ["1", "2", "3"]
        row = stored(kb, corpus_home)
        assert (row["temperature"], row["seed"], row["retrieval_k"], row["session_id"]) == (0.7, 11, 3, "s1")
        assert (row["prompt_tokens"], row["completion_tokens"], row["finish_reason"]) == (3000, 5, "stop")

    def test_a_korean_question(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with RecordedServer([answer("14일마다 [#1].")]) as server:
            use(server, monkeypatch)
            result = kb("ask", KOREAN, *LEXICAL, home=corpus_home)
        (body,) = server.chats
        system, user = (message["content"] for message in body["messages"])
        assert result.code == 0
        assert system.startswith("당신은 사용자의 문서로 질문에 답한다.")
        assert f"\n\n[질문]\n{KOREAN}\n\n위 근거 " in user
        assert body["options"]["stop"] == ["\n\n[질문]"]

    @pytest.mark.parametrize("option", [("--temperature", "3"), ("--seed", "-1"), ("-k", "0")])
    def test_values_out_of_range(self, kb: Call, corpus_home: Path, option: tuple[str, str]) -> None:
        assert kb("ask", QUESTION, *option, home=corpus_home).code == 2

    @pytest.mark.parametrize(
        ("filters", "allowed"),
        [
            (("--path", "guide/**"), r"guide/"),
            (("--path", "**/*.rst"), r".*\.rst$"),
            (("--lang", "ko"), r"ko/"),
            (("--type", "code"), r"code/.*\.(py|rs)$"),
        ],
    )
    def test_filters_restrict_what_is_packed(
        self,
        kb: Call,
        corpus_home: Path,
        monkeypatch: pytest.MonkeyPatch,
        filters: tuple[str, str],
        allowed: str,
    ) -> None:
        with RecordedServer([answer("So it is [#1].")]) as server:
            use(server, monkeypatch)
            result = kb("ask", QUESTION, *filters, "--json", home=corpus_home)
        row = stored(kb, corpus_home)
        assert row["chunks_used"] > 1
        assert all(re.match(allowed, packed["path"]) for packed in row["packed"])
        assert re.match(allowed, result.json()["citations"][0]["citation"]["path"])

    def test_a_tag(self, kb: Call, corpus_home: Path) -> None:
        documents = kb("list", "--json", home=corpus_home).json()["documents"]
        tag = next(tag for document in documents for tag in document["tags"])
        tagged = {document["path"] for document in documents if tag in document["tags"]}
        found = kb("ask", QUESTION, "--tag", tag, *LEXICAL, "--json", home=corpus_home).json()
        assert {cited["citation"]["path"] for cited in found["citations"]} <= tagged
        assert (
            kb("ask", QUESTION, "--tag", "none", *LEXICAL, "--json", home=corpus_home).json()["refusal_reason"]
            == "no_chunks"
        )


class TestModels:
    def test_a_model_that_is_not_pulled(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with RecordedServer(models={"llama3.2:1b": "d", "gemma3:4b": "e"}) as server:
            use(server, monkeypatch, provider="auto")
            result = kb("ask", QUESTION, *LEXICAL, "--model", "mistral:7b", "--json", home=corpus_home)
        error = json.loads(result.err)
        assert (result.code, error["code"]) == (2, "model_not_pulled")
        assert "gemma3:4b, llama3.2:1b" in error["message"]
        assert "kb models pull mistral:7b" in error["fix"]

    def test_a_named_model_answers_whatever_is_configured(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with RecordedServer([answer(CITED)], models={"m:1b": "d1"}, show=shown()) as server:
            use(server, monkeypatch, provider="extractive")
            result = kb("ask", QUESTION, *LEXICAL, "--model", "m:1b", "--json", home=corpus_home)
        assert result.json()["model"] == {"id": "m:1b", "provider": "ollama", "digest": "d1"}
        assert kb("ask", QUESTION, *LEXICAL, "--model", "extractive", "--json", home=corpus_home).json()["model"] == {
            "id": "extractive-v2",
            "provider": "extractive",
            "digest": None,
        }

    def test_a_server_that_is_down(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        use(f"http://127.0.0.1:{free_port()}", monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        assert result.code == 2
        assert result.err.splitlines()[0].startswith("error: no Ollama at http://127.0.0.1:")
        assert "ollama serve" in result.err.splitlines()[1]
        assert json.loads(kb("ask", QUESTION, *LEXICAL, "--json", home=corpus_home).err)["code"] == "model_unavailable"

    def test_auto_says_who_answers_and_why(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        nowhere = f"http://127.0.0.1:{free_port()}"
        use(nowhere, monkeypatch, provider="auto")
        assert kb("ask", QUESTION, *LEXICAL, home=corpus_home).err == (
            f"no Ollama at {nowhere}: answering with quotes from your documents, without a language model\n"
        )
        assert kb("ask", QUESTION, *LEXICAL, "--quiet", home=corpus_home).err == ""
        with RecordedServer([answer(CITED)]) as server:
            use(server, monkeypatch, provider="auto")
            result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        assert result.err == f"answering with {MODEL} on Ollama at {server.url}\n"
        assert CITED in result.out

    @pytest.mark.parametrize("ending", [(Hangup(),), (Pause(0.05), Hangup()), (b'{"error":"out of memory"}\n',)])
    def test_a_stream_that_breaks_off(
        self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, ending: tuple[Any, ...]
    ) -> None:
        with RecordedServer([Reply((line("Every 14 days [#1], "), *ending))]) as server:
            use(server, monkeypatch)
            result = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        row = stored(kb, corpus_home)
        assert result.code == 1
        assert result.out.startswith("The answer broke off before its end.\n")
        assert "grounded ✗ (broke off)" in result.out
        assert "kb answers show last" in result.out
        assert (row["refusal_reason"], row["raw_answer"]) == ("llm_stream_aborted", "Every 14 days [#1], ")
        assert row["finish_reason"] == "aborted"

    def test_an_answer_that_was_cut(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with RecordedServer([answer("Every 14 days [#1] and", reason="length")]) as server:
            use(server, monkeypatch)
            result = kb("ask", KOREAN, *LEXICAL, home=corpus_home)
        row = stored(kb, corpus_home)
        assert result.code == 1
        assert result.out.startswith("답변이 길이 제한에서 잘렸습니다.\n")
        assert (row["refusal_reason"], row["finish_reason"]) == ("llm_truncated", "length")
        assert row["raw_answer"] == "Every 14 days [#1] and"

    def test_nothing_came_at_all(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with RecordedServer([Reply((Hangup(),)), Reply((b"<html>\n", last_line()))]) as server:
            use(server, monkeypatch)
            codes = [
                json.loads(kb("ask", QUESTION, *LEXICAL, "--json", home=corpus_home).err)["code"] for _ in range(2)
            ]
        assert codes == ["stream_aborted", "malformed_response"]
