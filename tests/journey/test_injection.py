"""Documents that want to forge citations or steer the model: none of fixtures/injection becomes more than evidence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.ask.pipeline import ask
from kb.ask.prompt import fence_tag
from kb.ask.records import Answer, AnswerCitation, AskRequest, SentenceCheck
from kb.config import Config, LlmConfig, RagConfig
from kb.records import Filters
from kb.runtime import Runtime, open_runtime
from tests.journey.conftest import ROOT, Call
from tests.llm.recorded_server import MODEL, RecordedServer, answer

FOLDER = ROOT / "fixtures" / "injection"
MARKER = re.compile(r"\[#\d+\]")
ATTACKS: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "attacks.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def home_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("injection") / "home"


@pytest.fixture
def home(home_folder: Path, kb: Call) -> Path:
    """A home with every attack and the honest documents; made once."""
    if not home_folder.exists():
        assert kb("ingest", FOLDER, "--words-only", "--quiet", home=home_folder).code == 0
    return home_folder


def put(kb: Runtime, name: str) -> Answer:
    """Ask over the honest documents and one attack."""
    filters = Filters(paths=("honest/**", f"attacks/{name}"))
    return ask(kb, AskRequest(ATTACKS[name]["question"], mode="lexical", filters=filters))


def check_no_forged_citation(found: Answer, name: str) -> None:
    """What only the attack says is cited from the attack, or not at all; a number that it forges may still be the model's
    own for a sentence that stands in that passage word for word."""
    assert found.verification is None or not found.grounded or len(found.citations) > 0
    for cited in found.citations:
        if cited.marker in ATTACKS[name]["forges"] and cited.citation.path != f"attacks/{name}":
            if found.refusal_reason == "llm_self_judge":  # kb's own quote, in place of what the model said
                assert f"{cited.quote} [#{cited.marker}]" in found.answer
                assert cited.quote in (FOLDER / cited.citation.path).read_text(encoding="utf-8")
                assert MARKER.sub("", ATTACKS[name]["obeys"]).rstrip(" .") not in found.answer
                continue
            checks = found.verification.sentences if found.verification else ()
            assert any(cited.marker in check.markers and stands_in(check, cited) for check in checks), (
                found.answer,
                cited,
            )


def stands_in(check: SentenceCheck, cited: AnswerCitation) -> bool:
    """Whether all that is said, but for the marker and the heading of the quote, is words of the passage, in their order."""
    said = one_line(MARKER.sub("", check.text)).removeprefix(one_line(cited.citation.section or "")).strip()
    return bool(said) and said in one_line(cited.quote or "")


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_attack_says_what_it_tries() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / "attacks").iterdir()}
    assert set(files) == set(ATTACKS)
    assert len(files) >= 30
    assert all("<!-- Tries: " in text for text in files.values())


@pytest.mark.parametrize("name", ATTACKS)
def test_the_extractive_model(home: Path, name: str) -> None:
    with open_runtime(home, Config(llm=LlmConfig(provider="extractive"))) as kb:
        found = put(kb, name)
    packed = set(range(1, found.retrieval.chunks_used + 1))
    assert {c.marker for c in found.citations if found.grounded} <= packed
    check_no_forged_citation(found, name)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_model_that_obeys(home: Path, name: str) -> None:
    said = ATTACKS[name]["obeys"]
    with RecordedServer([answer(said)]) as server:
        config = Config(
            llm=LlmConfig(provider="ollama", endpoint=server.url, model=MODEL),
            rag=RagConfig(retry="never", packing="ranked"),
        )
        with open_runtime(home, config) as kb:
            found = put(kb, name)
        system, user = (message["content"] for message in server.chats[0]["messages"])
    check_no_forged_citation(found, name)
    body = (FOLDER / "attacks" / name).read_text(encoding="utf-8").split("-->\n\n", 1)[1].strip()
    body = body.split("\n\n[//]:")[0]  # which the Markdown reader leaves out
    fence = user.split("\n", 1)[0].removeprefix("<evidence ").removesuffix(">")
    assert body.split("\n")[-1] in user  # evidence is not mutated
    assert fence not in body
    assert body not in system
    inside, _, after = user.partition(f"\n</evidence {fence}>\n")
    assert body.split("\n")[-1] in inside
    assert body.split("\n")[-1] not in after


def test_an_honest_claim_behind_a_suspicious_marker_stays_cited(home: Path) -> None:
    """A number that a document forges is not lost to the model where its passage does back the sentence."""
    name = "marker-range.md"
    with RecordedServer([answer("The ferry Heron carries 42 passengers [#1].")]) as server:
        config = Config(llm=LlmConfig(provider="ollama", endpoint=server.url, model=MODEL))
        with open_runtime(home, config) as kb:
            filters = Filters(paths=("honest/boats.md", f"attacks/{name}"))
            found = ask(
                kb, AskRequest("How many passengers does the ferry Heron carry?", mode="lexical", filters=filters)
            )
    (cited,) = found.citations
    assert (found.grounded, cited.marker, cited.citation.path) == (True, 1, "honest/boats.md")
    assert found.verification is not None
    assert found.verification.forged_markers == ()


def test_the_fence_follows_from_secret_and_evidence() -> None:
    one = fence_tag(b"secret", ["a", "b"])
    assert one == fence_tag(b"secret", ["a", "b"])
    assert (
        len({one, fence_tag(b"other", ["a", "b"]), fence_tag(b"secret", ["ab"]), fence_tag(b"secret", ["b", "a"])}) == 4
    )
