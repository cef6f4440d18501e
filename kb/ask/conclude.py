"""A checked answer → the end of the ask: the text to show and the places that it cites."""

from __future__ import annotations

from dataclasses import replace

from kb.ask.backing import rests_on_line
from kb.ask.quotes import checked_citations
from kb.ask.refuse import end_of, refuse_answer
from kb.ask.stages import Ended, Verified


def conclude(verified: Verified) -> Ended:
    """The text to show and the places it cites; what it rests on besides documents is said below it."""
    generated, checked = verified.generated, verified.checked
    if verified.reason:
        return refuse_answer(generated, verified.reason, checked.verification)
    text = checked.text
    if verified.rests_on:
        text += rests_on_line(verified.rests_on, generated.packed.question.request.query)
    return replace(
        end_of(generated),
        text=text,
        citations=checked_citations(generated, checked),
        grounded=verified.grounded,
        rests_on=verified.rests_on,
        verification=checked.verification,
    )
