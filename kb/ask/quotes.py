"""An answer made of quotes → what it rests on: every quote stands in its passage, so nothing is left to check. Pure."""

from __future__ import annotations

from kb.ask.records import SentenceCheck, Verification
from kb.ask.stages import Checked, Generated, Verified
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
