"""A checked answer that does not stand → the same text with a mark behind each doubtful sentence. Pure.

✗ says that an exact check speaks against it; ? that kb could not confirm it, ≈ that the passages may say it in other words: a
reader of claims is often wrong, and it is not for kb to call a sentence false that it only did not find.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kb.ask.records import SentenceCheck, Verification
from kb.ask.verify import is_backed
from kb.support.check import NOT_FOUND


def mark_sentences(
    text: str, verification: Verification, replies: Mapping[str, str], lead: str = ""
) -> tuple[str, Verification]:
    """A lead and the text with a mark behind each sentence that is not backed; the sentences' places moved accordingly.

    replies  has the words of the marks: ✗ where an exact check finds the sentence wrong or not there, ? where it is only doubted
    """
    out, at, shift = [lead], 0, len(lead)
    checks: list[SentenceCheck] = []
    for check in verification.sentences:
        checks.append(replace(check, start=check.start + shift, end=check.end + shift))
        if is_backed(check) or check.status == "misattributed":
            continue
        mark = f" [{mark_of(check, replies)}]"
        end = check.start + len(text[check.start : check.end].rstrip())
        out += [text[at:end], mark]
        at, shift = end, shift + len(mark)
    return "".join([*out, text[at:]]), replace(verification, sentences=tuple(checks))


def mark_of(check: SentenceCheck, replies: Mapping[str, str]) -> str:
    """A sign and a few words for a sentence that does not hold."""
    if check.status == "contradicted":
        return f"✗ {replies['contradicted']}"
    if check.status == "likely":
        return f"≈ {replies['in_other_words']}"
    if not is_certain(check):
        return f"? {replies['unconfirmed']}"
    return f"✗ {replies['in_part' if check.status == 'weak' else 'unsupported']}"


def is_certain(check: SentenceCheck) -> bool:
    """Whether an exact check speaks against a sentence; False where only a reader, or few common words, do."""
    return not is_backed(check) and (check.status == "contradicted" or any(r != NOT_FOUND for r in check.reasons))
