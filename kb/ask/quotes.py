"""An answer made of quotes → what it rests on: every quote stands in its passage, so nothing is left to check. Pure.

Quotes that may not answer are shown as the closest passages, under words that say so.
"""

from __future__ import annotations

from dataclasses import replace

from kb.ask.cite import narrow_citation
from kb.ask.records import AnswerCitation, RefusalReason, SentenceCheck, Verification
from kb.ask.refuse import end_of
from kb.ask.stages import Checked, Ended, Generated, Packed, Verified
from kb.config import RagConfig
from kb.language.registry import LANGUAGES
from kb.llm.extractive import PROVIDER
from kb.support.overlap import Window


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


def is_unsure(config: RagConfig, packed: Packed) -> bool:
    """True where what will be quoted may not answer. A language model says itself that it found no answer; quotes cannot."""
    probability = packed.findings.retrieval.evidence_score
    is_judged = probability is not None and packed.findings.retrieval.evidence_gate
    return packed.model.provider == PROVIDER and bool(is_judged) and (probability or 0.0) < config.sure_gate


def closest_lead(packed: Packed) -> str:
    """What stands above quotes that may not answer."""
    return LANGUAGES[packed.question.language].replies["closest_quoted"]


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
