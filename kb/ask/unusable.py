"""A model's answer that does not stand → what is shown in its place: the answer with its doubtful sentences marked, and quotes.

An answer that cites nothing is no refusal: the documents may well answer, and their own words are shown instead.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kb.ask.cite import has_refusal_phrase, is_refusal
from kb.ask.doubt_marks import is_certain, mark_sentences
from kb.ask.generate import generate
from kb.ask.quotes import checked_citations, conclude_quotes, quote_under
from kb.ask.refuse import end_of
from kb.ask.stages import Checked, Ended, Generated, Verified
from kb.language.registry import LANGUAGES
from kb.llm.extractive import PROVIDER, ExtractiveModel
from kb.runtime import Runtime
from kb.support.markers import find_markers


def show_in_place(kb: Runtime, verified: Verified) -> Ended | None:
    """The end of an ask whose model's answer does not stand; None where it stands, and where it is a refusal."""
    if verified.reason == "not_backed":
        return _mark_answer(kb, verified)
    generated = verified.generated
    text = generated.written.text
    if verified.reason != "llm_self_judge" or generated.packed.model.provider == PROVIDER or not text.strip():
        return None
    told = [p.chunk.text for p in generated.packed.packed]
    if is_refusal(text, told) or (has_refusal_phrase(text) and not find_markers(text)):
        return None
    return _quote(kb, generated)


def _mark_answer(kb: Runtime, verified: Verified) -> Ended:
    """The answer as the model wrote it, its doubtful sentences marked, and what the documents say themselves."""
    generated, checked = verified.generated, verified.checked
    replies = LANGUAGES[generated.packed.question.language].replies
    text, verification = mark_sentences(checked.text, checked.verification, replies, f"{replies[_lead(checked)]}\n\n")
    quoted = _quotes_for(kb, generated)
    if quoted:
        nearest, _, _ = quoted.checked.text.partition(f"\n\n{replies['see_also']}")
        text += f"\n\n{replies['closest_beside']}\n\n{nearest}"
        checked = _citing_both(checked, replace(quoted.checked, markers=quoted.checked.markers[:1]))
    return replace(
        end_of(generated),
        text=text,
        citations=checked_citations(generated, checked) or end_of(generated).citations,
        reason="not_backed",
        outcome="not_sure",
        verification=verification,
    )


def _lead(checked: Checked) -> str:
    """What is said of an answer that does not stand: no more than the worst of its sentences is known to be."""
    verification = checked.verification
    if verification.status == "contradicted":
        return "not_backed"
    if any(is_certain(check) for check in verification.sentences):
        return "not_found"
    # Which is not enough with rag.require_verified.
    return "not_sure_of" if verification.status == "likely" else "not_confirmed"


def _citing_both(first: Checked, second: Checked) -> Checked:
    """What is cited by one of two texts, or by both."""
    markers = tuple(dict.fromkeys((*first.markers, *second.markers)))
    windows = {m: (*first.windows.get(m, ()), *second.windows.get(m, ())) for m in markers}
    return replace(first, markers=markers, windows=windows)


def _quote(kb: Runtime, generated: Generated) -> Ended | None:
    """Quotes alone, under words that say whose answer was no use."""
    quoted = _quotes_for(kb, generated)
    if quoted is None:
        return None
    lead = LANGUAGES[generated.packed.question.language].replies["unusable"]
    return replace(quote_under(lead, quoted, "llm_self_judge"), written=generated.written)


def _quotes_for(kb: Runtime, generated: Generated) -> Verified | None:
    """What the embedded model quotes for the question; None where it finds nothing to quote."""
    encoder = kb.loaded_encoder()
    model = ExtractiveModel(
        encoder.encode_sentences if encoder else None, read=kb.read, read_again=partial(kb.read, again=True)
    )
    return conclude_quotes(Generated(generated.packed, generate(model, generated.packed.prompt, lambda _: None)))
