"""An answer held against its passages: what becomes of each sentence, which markers count, and which lines are cited."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import pytest

from kb.ask.cite import is_refusal, narrow_citation
from kb.ask.generate import needs_retry
from kb.ask.prompt import TEMPLATES, render_correction, template_for
from kb.ask.stages import Checked
from kb.ask.verify import has_tick, is_backed, markers_in_evidence, stands, verify
from kb.records import Chunk
from kb.support.overlap import best_window
from tests.unit.test_pack_and_prompt import chunk

PASSAGES = {
    1: chunk(1, "The oven is cleaned every 10 days.\nKnives are kept in the locked drawer.\nNo phones are allowed."),
    2: chunk(2, "The ferry Heron carries 42 passengers. It sails at 07:30."),
    3: chunk(3, "오븐은 10일마다 청소한다. 칼은 잠긴 서랍에 둔다."),
}


def check(text: str, passages: dict[int, Chunk] = PASSAGES) -> Checked:
    return verify(text, passages)


@pytest.mark.parametrize(
    ("text", "statuses", "summary"),
    [
        ("The oven is cleaned every 10 days [#1].", ["verified"], "verified"),
        (
            "The oven is cleaned every 10 days [#1]. Knives are kept in the locked drawer [#1].",
            ["verified"] * 2,
            "verified",
        ),
        ("The oven is cleaned every 12 days [#1].", ["contradicted"], "contradicted"),
        ("The oven is not cleaned every 10 days [#1].", ["contradicted"], "contradicted"),
        ("The ferry Heron carries 42 passengers [#1].", ["misattributed"], "weak"),
        ("The oven is cleaned every 10 days [#1][#9].", ["verified"], "verified"),
        ("The oven is cleaned every 10 days [#9].", ["unknown_marker"], "weak"),
        (
            "The oven is cleaned every 10 days. Knives are kept in the locked drawer [#1].",
            ["uncited", "verified"],
            "verified",
        ),
        ("Dragons guard the gold. Knives are kept in the locked drawer [#1].", ["uncited", "verified"], "unsupported"),
        ("# Ovens\n\nSure! Here it is:\n\n- Knives are kept in the locked drawer [#1]", ["verified"], "verified"),
        (
            "## The oven is cleaned every 12 days\n\nKnives are kept in the locked drawer [#1].",
            ["contradicted", "verified"],
            "contradicted",
        ),
        ("오븐은 10일마다 청소한다 [#3].", ["verified"], "verified"),
        ("오븐은 12일마다 청소한다 [#3].", ["contradicted"], "contradicted"),
        ("", [], "unsupported"),
    ],
)
def test_statuses(text: str, statuses: list[str], summary: str) -> None:
    found = check(text).verification
    assert [sentence.status for sentence in found.sentences] == statuses
    assert (found.status, found.total) == (summary, len(statuses))
    assert found.verified == sum(is_backed(sentence) for sentence in found.sentences)
    assert all(text[s.start : s.end].strip() for s in found.sentences)


REWORDED = "Sharp tools live behind a lock [#1]."


@pytest.mark.parametrize(
    ("said", "text", "statuses", "summary"),
    [
        (0.8, REWORDED, ["likely"], "likely"),
        (0.999, REWORDED, ["verified"], "verified"),
        (0.01, REWORDED, ["unsupported"], "unsupported"),
        (0.8, f"{REWORDED} The oven is cleaned every 10 days [#1].", ["likely", "verified"], "likely"),
        (0.8, f"{REWORDED} The oven is cleaned every 12 days [#1].", ["likely", "contradicted"], "contradicted"),
        (0.8, f"{REWORDED} Here dragons guard a golden hoard [#9].", ["likely", "unknown_marker"], "unsupported"),
        (0.6, "Knives are behind a lock in a drawer.", ["likely"], "likely"),
        (
            0.8,
            f"{REWORDED} {REWORDED} Here dragons guard a golden hoard [#9].",
            ["likely", "likely", "unknown_marker"],
            "unsupported",
        ),
        # A sentence that is as likely as not counts as much as it is likely.
        (0.1, f"{REWORDED} The oven is cleaned every 10 days [#1].", ["weak", "verified"], "weak"),
        (0.01, f"{REWORDED} The oven is cleaned every 10 days [#1].", ["unsupported", "verified"], "unsupported"),
    ],
)
def test_what_is_said_in_other_words_is_likely(said: float, text: str, statuses: list[str], summary: str) -> None:
    def read(pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float | None]:
        return [said for _ in pairs]

    found = verify(text, PASSAGES, read=read).verification
    assert ([s.status for s in found.sentences], found.status) == (statuses, summary)
    assert found.verified == statuses.count("verified")
    assert stands(found) == (summary in ("likely", "verified", "weak"))
    assert has_tick(found) == (summary == "verified")


def test_a_misattributed_sentence_names_the_passage_that_backs_it() -> None:
    (sentence,) = check("The ferry Heron carries 42 passengers [#1].").verification.sentences
    assert sentence.misattributed_to == 2


def test_a_marker_that_adds_nothing_is_idle() -> None:
    (sentence,) = check("The oven is cleaned every 10 days [#1][#2].").verification.sentences
    assert (sentence.status, sentence.idle_markers) == ("verified", (2,))


def test_a_marker_copied_out_of_a_document_cites_nothing() -> None:
    passages = PASSAGES | {4: chunk(4, "The vault is open to all [#2].")}
    found = check("The vault is open to all [#2]. It sails at 07:30 [#2].", passages)
    assert [s.status for s in found.verification.sentences] == ["forged", "verified"]
    assert found.verification.forged_markers == (2,)
    assert found.text == "The vault is open to all [＃2]. It sails at 07:30 [#2]."
    assert found.markers == (2,)


@pytest.mark.parametrize(
    "text", ["[#7]", "［#7］", "[ # 7 ]", "[#007]", "【＃7】", "[\u200b#7\u2060]", "[\u202e#\u202c7]"]
)
def test_whatever_looks_like_a_marker_is_found_in_evidence(text: str) -> None:
    assert markers_in_evidence([f"proved {text}"]) == {7}


def test_a_citation_is_narrowed_to_its_lines() -> None:
    passage = PASSAGES[1]
    window = best_window("Knives are kept in the locked drawer.", passage.text)
    cited = narrow_citation(1, passage, [window])
    assert (cited.citation.start_line, cited.citation.end_line) == (4, 4)
    assert cited.quote == "Knives are kept in the locked drawer."
    assert narrow_citation(1, passage, []).citation == passage.citation


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("The evidence is insufficient [#1].", True),
        ("I could not find any information about that in the passages [#2].", True),
        ("The provided evidence does not mention the vault [#1].", True),
        ("There is no information about the vault [#1].", True),
        ("제공된 근거에는 금고에 대한 정보가 없습니다 [#1].", True),
        ("문서만으로는 알 수 없습니다 [#1].", True),
        ("The evidence does not say when. It was opened by Kim [#2].", False),
        ("The archive contains no phones [#1].", False),
        ("금고는 월요일에 연다 [#1].", False),
    ],
)
def test_a_refusal_in_other_words_is_a_refusal(text: str, refuses: bool) -> None:
    assert is_refusal(text) is refuses


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("It sails at dawn.", True),
        ("It sails at dawn [#9].", True),
        ("It sails at dawn [#1].", False),
        ("The evidence is insufficient.", False),
        ("There is not enough evidence.", False),
        ("", False),
    ],
)
def test_what_is_asked_again(text: str, again: bool) -> None:
    assert needs_retry(text, [1, 2]) is again


def test_an_answer_cannot_use_the_correction() -> None:
    said = render_correction(template_for("rag-v2", "en"), "{fault} [#9]", [9])
    assert "{fault} [#9]" in said
    assert "do not exist: [#9]." in said


# A word that is changed makes another version: these are the hashes of what was published under a name.
WORDINGS = {
    ("rag-v1", "ko"): "42856a941d61b425",
    ("rag-v1", "en"): "6d74bf1e65132f82",
    ("rag-v2", "ko"): "e4afbecedc8b2f21",
    ("rag-v2", "en"): "4af614c1c4428981",
}


def test_no_published_wording_has_changed() -> None:
    found = {
        (version, language): sha256(f"{t.system}\0{t.user}\0{t.stop}\0{t.correction}".encode()).hexdigest()[:16]
        for version, languages in TEMPLATES.items()
        for language, t in languages.items()
    }
    assert found == WORDINGS, "give the new wording a version of its own"


@pytest.mark.parametrize(
    ("text", "is_narrow"),
    [
        ("Sharp tools live behind a lock in the oven room [#1].", False),
        ("The knives are always kept in a drawer that is locked [#1].", True),
    ],
)
def test_of_what_is_only_likely_the_whole_passage_is_cited(text: str, is_narrow: bool) -> None:
    found = verify(text, PASSAGES, read=lambda pairs: [0.8 for _ in pairs])
    assert found.verification.status == "likely"
    assert bool(found.windows) == is_narrow


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("**Intensive care**\n\n- 11:00 to 12:00\n- 14:00 to 20:00 [#1]", "contradicted"),
        ("Hours of intensive care:\n\n- 17:00 to 18:00 [#1]", "verified"),
        ("General wards are open from 14:00 to 20:00 [#1].", "verified"),
    ],
)
def test_an_item_is_held_against_the_row_that_its_list_is_about(text: str, status: str) -> None:
    wards = "| ward | hours |\n|---|---|\n| Intensive care | 11:00 to 12:00, 17:00 to 18:00 |\n| General wards | 14:00 to 20:00 |"
    assert check(text, {1: chunk(1, wards)}).verification.sentences[-1].status == status


@pytest.mark.parametrize(
    ("text", "subjects", "status"),
    [
        ("The Orchard Mews flat comes with bay 7 of the rear court [#1].", {1: "Orchard Mews"}, "likely"),
        ("The flat comes with bay 7 of the rear court [#1].", {1: "Orchard Mews"}, "verified"),
        ("The flat at Orchard Mews comes with bay 7 of the rear court [#1].", {}, "weak"),
        ("The flat at Orchard Mews comes with bay 7 of the rear court [#1].", {2: "Orchard Mews"}, "weak"),
        ("The Orchard Mews flat comes with bay 9 of the rear court [#1].", {1: "Orchard Mews"}, "contradicted"),
    ],
)
def test_what_a_document_is_about_is_said_by_its_passages(text: str, subjects: dict[int, str], status: str) -> None:
    passages = {
        1: chunk(1, "The flat comes with bay 7 of the rear court."),
        2: chunk(2, "Bins are put out on Tuesday."),
    }
    assert verify(text, passages, subjects=subjects).verification.sentences[0].status == status


PETS = "One adult cat may be kept in the flat. Dogs are not allowed, not even for a visit."


@pytest.mark.parametrize(
    ("text", "passage", "subject", "status"),
    [
        ("At Canal Terrace two dogs may be kept [#1].", PETS, "Canal Terrace", "contradicted"),
        ("Dogs may be kept at Canal Terrace [#1].", PETS, "Canal Terrace", "contradicted"),
        ("At Canal Terrace, dogs are not allowed [#1].", "Dogs are not allowed.", "Canal Terrace", "likely"),
        ("Dogs are not allowed at Canal Terrace [#1].", "Dogs are not allowed.", "Canal Terrace", "likely"),
        ("At Marigold Court dogs are not allowed [#1].", "Dogs are not allowed.", "Marigold Court", "likely"),
        # Numbers and months of a name are none that a claim may have.
        ("The rent will be raised in March [#1].", "The rent will be raised in September.", "March", "contradicted"),
        ("The hall is open to 20 guests [#1].", "The hall is open to 40 guests.", "20", "contradicted"),
        (
            "The budget of the 2024 roof is 5 million [#1].",
            "The budget of the roof is 5 million.",
            "2024",
            "unsupported",
        ),
        ("Tools are stored at Kingston [#1].", "Tools are stored at Leeds.", "Kingston", "contradicted"),
    ],
)
def test_what_the_head_says_hides_nothing(text: str, passage: str, subject: str, status: str) -> None:
    found = verify(text, {1: chunk(1, passage)}, subjects={1: subject}).verification.sentences[0]
    assert found.status == status
