"""A model's answer that does not stand → what is shown in its place: the answer with its false sentences marked, or quotes.

An answer that cites nothing is no refusal: the documents may well answer, and their own words are shown instead.
"""

from __future__ import annotations

from dataclasses import replace

from kb.ask.cite import has_refusal_phrase, is_refusal
from kb.ask.generate import generate
from kb.ask.quotes import checked_citations, conclude_quotes, quote_under
from kb.ask.records import SentenceCheck, Verification
from kb.ask.refuse import end_of
from kb.ask.stages import Ended, Generated, Verified
from kb.ask.verify import is_backed
from kb.language.registry import LANGUAGES
from kb.llm.extractive import PROVIDER, ExtractiveModel
from kb.runtime import Runtime
from kb.support.markers import find_markers


def show_in_place(kb: Runtime, verified: Verified) -> Ended | None:
    """The end of an ask whose model's answer does not stand; None where it stands, and where it is a refusal."""
    if verified.reason == "not_backed":
        return _mark_answer(verified)
    generated = verified.generated
    text = generated.written.text
    if verified.reason != "llm_self_judge" or generated.packed.model.provider == PROVIDER or not text.strip():
        return None
    told = [p.chunk.text for p in generated.packed.packed]
    if is_refusal(text, told) or (has_refusal_phrase(text) and not find_markers(text)):
        return None
    return _quote(kb, generated)


def _mark_answer(verified: Verified) -> Ended:
    generated, checked = verified.generated, verified.checked
    language = generated.packed.question.language
    replies = LANGUAGES[language].replies
    lead = replies["not_backed"] + "\n\n"
    marks = {"contradicted": f" [✗ {replies['contradicted']}]", "other": f" [✗ {replies['unsupported']}]"}
    text, verification = mark_sentences(checked.text, checked.verification, marks, lead)
    return replace(
        end_of(generated),
        text=text,
        citations=checked_citations(generated, checked) or end_of(generated).citations,
        reason="not_backed",
        outcome="not_sure",
        verification=verification,
    )


def mark_sentences(
    text: str, verification: Verification, marks: dict[str, str], lead: str = ""
) -> tuple[str, Verification]:
    """The text with a mark behind each sentence that is not backed; the sentences' places moved accordingly."""
    out, at, shift = [lead], 0, len(lead)
    checks: list[SentenceCheck] = []
    for check in verification.sentences:
        checks.append(replace(check, start=check.start + shift, end=check.end + shift))
        if is_backed(check) or check.status in ("weak", "misattributed"):
            continue
        mark = marks.get(check.status, marks["other"])
        end = check.start + len(text[check.start : check.end].rstrip())
        out += [text[at:end], mark]
        at, shift = end, shift + len(mark)
    return "".join([*out, text[at:]]), replace(verification, sentences=tuple(checks))


def _quote(kb: Runtime, generated: Generated) -> Ended | None:
    """What the embedded model quotes for the question, under words that say whose answer was no use."""
    encoder = kb.loaded_encoder()
    model = ExtractiveModel(encoder.encode_sentences if encoder else None, read=kb.read)
    written = generate(model, generated.packed.prompt, lambda _: None)
    quoted = conclude_quotes(Generated(generated.packed, written))
    if quoted is None:
        return None
    lead = LANGUAGES[generated.packed.question.language].replies["unusable"]
    return replace(quote_under(lead, quoted, "llm_self_judge"), written=generated.written)
