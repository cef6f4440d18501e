"""An answer made of quotes → what it rests on: every quote stands in its passage, so nothing is left to check. Pure.

Quotes that may not answer are shown as the closest passages, under words that say so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kb.ask.cite import narrow_citation
from kb.ask.records import AnswerCitation, RefusalReason, SentenceCheck, Verification
from kb.ask.refuse import end_of, names_in
from kb.ask.stages import Checked, Ended, Generated, Packed, Verified, Written
from kb.ask.weigh import Verdict, Weighed, halfway_to_certain
from kb.config import RagConfig
from kb.evidence.naming import names_lacking
from kb.evidence.subjects import words_lacking
from kb.language.asked import lacks_what_is_asked
from kb.language.compared import things_lacking
from kb.language.registry import LANGUAGES, question_language
from kb.language.tables import find_tables, without_other_rows
from kb.llm.extractive import PROVIDER
from kb.llm.protocol import Quoted
from kb.support.overlap import Window

# More would be a list of the question's own words.
MOST_NAMES = 3
# Before a quote: "Canal Terrace has two lifts. They are inspected every May."
LEAD_CHARS = 200
# Documents whose passages are so near to each other, as the mean cosine, are of one subject: a manual (.83 to .86), not papers of a household
# or an office (.80 to .82) or an encyclopaedia (.77; benchmarks/one_subject.py). Each of their passages is near any question about it: of 139 that
# nine manuals do not answer 67 were answered at .6, of 401 that they do 384; at .8 these are 49 and 377.
ONE_SUBJECT = 0.83


def conclude_quotes(generated: Generated) -> Verified | None:
    """The verdict on an answer of quotes: it stands, and cites just what it quotes; None for a text in a model's own words.

    Its words are not read for a refusal: a document may say that something "could not be found".
    """
    written = generated.written
    if not written.quotes:
        return None
    checks = tuple(
        SentenceCheck(
            start=quote.at,
            end=quote.at + len(quote.text),
            text=quote.text,
            markers=(quote.place.marker,),
            status="verified",
            score=1.0,
        )
        for quote in written.quotes
    )
    windows: dict[int, tuple[Window, ...]] = {}
    for quote in written.quotes:
        place = quote.place
        windows[place.marker] = (*windows.get(place.marker, ()), Window(place.start, place.end, 1.0))
    record = Verification(status="verified", verified=len(checks), total=len(checks), coverage=1.0, sentences=checks)
    return Verified(generated, Checked(record, written.text, tuple(windows), windows), grounded=True, reason=None)


def doubt_of(config: RagConfig, packed: Packed, written: Written) -> str | None:
    """What stands above quotes that may not answer, which says why; None where they answer, or a language model wrote.

    A model says itself that it found no answer; quotes cannot. They may not answer where the evidence gate finds it hardly
    likely; where they lack the kind of answer that is asked for, a price, a number, a time; and where the passage is about something
    else than what the question names.
    """
    findings = packed.findings.retrieval
    if not written.quotes or packed.model.provider != PROVIDER or findings.evidence_score is None:
        return None
    if not findings.evidence_gate or not config.sure_gate:
        return None
    asked, replies = packed.question.request.own_question, LANGUAGES[packed.question.language].replies
    if lacking := lacks_what_is_asked(asked, written.text):
        return replies[f"lacks_{lacking}"]
    answering = [quote for quote in written.quotes if not quote.place.is_further]
    names = _names_lacking(asked, packed, [quote.place for quote in answering])
    if names := names or _things_lacking(asked, "\n".join(quote.text for quote in answering)):
        return replies["lacks_names"].format(words=_listed(asked, names))
    if packed.prompt.told_of_others:
        return replies["of_others"].format(words=_listed(asked, packed.prompt.told_of_others))
    gate = least_to_be_sure(config.sure_gate, packed.findings.verdict, packed.question.language)
    return replies["closest_quoted"] if findings.evidence_score < gate else None


def _listed(asked: str, names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names_in(asked, names)[:MOST_NAMES])


def least_to_be_sure(sure_gate: float, verdict: Verdict | None, language: str) -> float:
    """The probability from which on quotes are an answer: half-way to 1 for an English question to documents of one subject.

    Korean questions score less, and would lose more answers. By the vectors of encoders that the gate knows: others spread otherwise.
    """
    alike = verdict.weighed.signals.alike if verdict and verdict.score.variant == "fitted" else None
    is_one = language == "en" and alike is not None and alike >= ONE_SUBJECT
    return halfway_to_certain(sure_gate) if is_one else sure_gate


def _names_lacking(asked: str, packed: Packed, places: Sequence[Quoted]) -> tuple[str, ...]:
    """The question's names that all quoted passages lack; none where one is in another language, which writes them otherwise."""
    first, *others = (_names_lacking_in(asked, packed, place) for place in places)
    return tuple(name for name in first if all(name in other for other in others))


def _things_lacking(asked: str, quoted: str) -> tuple[str, ...]:
    """Of two things that are compared, what the quotes do not name; none where they are in another language."""
    return things_lacking(asked, quoted) if question_language(quoted) == question_language(asked) else ()


def _names_lacking_in(asked: str, packed: Packed, place: Quoted) -> tuple[str, ...]:
    quoted = next(entry.chunk for entry in packed.packed if entry.marker == place.marker)
    if question_language(quoted.text) != packed.question.language:
        return ()
    path = re.sub(r"[\W_]+", " ", quoted.path)
    heading = quoted.heading_path[-1] if quoted.heading_path else quoted.title
    text = without_other_rows(quoted.text, find_tables(quoted.text, heading), place.start, place.end)
    evidence = next(entry for entry in packed.prompt.evidence if entry.marker == place.marker)
    titles = (path, quoted.title, *quoted.heading_path)
    around = "\n".join((evidence.subject, *titles, text))
    weighed = packed.findings.verdict.weighed if packed.findings.verdict else Weighed()
    others = [entry.chunk.text for entry in packed.packed if entry.marker != place.marker]
    lacking = names_lacking(
        asked,
        around,
        others,
        common=weighed.common,
        everywhere=weighed.everywhere,
        is_spoken=weighed.is_spoken,
    )
    # What names another document must stand in the quote or right before it: minutes approve those of the month before.
    own = "\n".join((*titles, quoted.text[max(0, place.start - LEAD_CHARS) : place.end]))
    return tuple(dict.fromkeys((*words_lacking(evidence.not_about, asked, own), *lacking)))


def quote_under(lead: str, quoted: Verified, reason: RefusalReason) -> Ended:
    """Quotes as the end of an ask that is not sure, under a line that says why: cited, and no answer."""
    generated, checked = quoted.generated, quoted.checked
    return replace(
        end_of(generated),
        text=f"{lead}\n\n{checked.text}",
        citations=checked_citations(generated, checked),
        reason=reason,
        outcome="not_sure",
    )


def checked_citations(generated: Generated, checked: Checked) -> tuple[AnswerCitation, ...]:
    """The places that a checked text cites, each narrowed to the lines that back it."""
    chunks = {p.marker: p.chunk for p in generated.packed.packed}
    return tuple(narrow_citation(n, chunks[n], checked.windows.get(n, ())) for n in checked.markers)
