"""An answer's sentences and the packed passages → which sentences hold, which markers are the model's own,
and whether the answer stands. `verify` is pure.

A marker that stands in the text of a document is data: when the model copies it, it cites nothing unless the passage of
that number backs the sentence. No sentence is dropped here; what does not hold is named.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kb.arrays import Encode, ReadClaims
from kb.ask.backing import find_backing
from kb.ask.cite import is_refusal
from kb.ask.records import RefusalReason, SentenceCheck, SentenceStatus, Verification, VerificationStatus
from kb.ask.stages import Checked, Generated, Verified
from kb.ask.told import Passages
from kb.reader.claims import open_claims
from kb.records import Chunk
from kb.runtime import Runtime
from kb.search.retrieve import UNREAD_SHARE
from kb.support.asked import Asked
from kb.support.check import CONTRADICTED, NOT_FOUND, VERIFIED, WEAK, Reading
from kb.support.claims import Claim, find_claims
from kb.support.faults import LONGEST_SENTENCE_CHARS
from kb.support.markers import MARKER, find_markers, normalize_markers
from kb.support.overlap import Window
from kb.support.rows import misread_rows

# Anything a reader or a model may take for a marker, after NFKC and without characters that are not seen.
_LOOKS_LIKE_MARKER = re.compile(r"[\[【〔]\s*#\s*0*(\d{1,3})\s*[\]】〕]")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
# From this share of a claim's words on, those that stand together are the place where it is said.
FOUND_BY_WORDS = 0.6
# An answer of which no more than this is backed is no answer; what a sentence counts for that is partly backed, backed by
# another passage than the one it cites, or likely to be backed.
MOSTLY, PARTLY_BACKED, MISATTRIBUTED, LIKELY = 0.5, 0.5, 0.75, 0.75


def verify_answer(kb: Runtime, generated: Generated) -> Verified:
    """Check the answer, and say whether it stands.

    With a sentence that rests on a context node, no answer is grounded; with one that neither a passage nor a node backs
    beside it, none stands.
    """
    packed, written = generated.packed, generated.written
    checked = check_answer(kb, generated)
    told = [p.chunk.text for p in packed.packed]
    if is_refusal(written.text, told):
        return Verified(generated, checked, grounded=False, reason="llm_self_judge")
    grounded, reason = judge_answer(checked, packed.markers(), must_hold=kb.config.rag.require_verified)
    if any(text.text for text in packed.nodes):
        backing = find_backing(checked.verification, packed.nodes)
        if backing.nodes:
            checked = replace(checked, verification=backing.verification)
            if backing.is_whole:
                return Verified(generated, checked, grounded=False, reason=None, rests_on=backing.nodes)
            grounded, reason = False, reason or "llm_self_judge"
    return Verified(generated, checked, grounded, reason)


def judge_answer(checked: Checked, packed: Collection[int], *, must_hold: bool) -> tuple[bool, RefusalReason | None]:
    """(grounded, refusal reason) of an answer that is no refusal itself.

    Grounded: it cites a packed passage, nothing in it is contradicted, and most of it is backed. With must_hold every
    sentence has to be.
    """
    if not set(find_markers(checked.text)) & set(packed):
        return False, "llm_self_judge"
    if not stands(checked.verification) or (must_hold and not has_tick(checked.verification)):
        return False, "not_backed"
    return True, None


def stands(verification: Verification) -> bool:
    """True where the answer may be shown as one: `grounded`, the verification and the exit code agree in this."""
    return verification.status in ("verified", "likely", "weak")


def check_answer(kb: Runtime, generated: Generated) -> Checked:
    """Compare the answer with the packed passages; by meaning as well where the encoder is loaded and reads it.

    What a model wrote in its own words is read together with them, too.
    """
    passages = {p.marker: p.chunk for p in generated.packed.packed}
    text, encoder = normalize_markers(generated.written.text, passages), kb.loaded_encoder()
    reads = encoder is not None and encoder.unread_share(text) < UNREAD_SHARE
    return verify(
        text,
        passages,
        encoder.encode_sentences if encoder and reads else None,
        open_claims(kb.cache, kb.notify_once, wanted=kb.config.reader.claims and not generated.written.quotes),
        question=generated.packed.question.request.query,
        subjects={entry.marker: entry.subject for entry in generated.packed.prompt.evidence},
        retried=generated.written.first_try is not None,
    )


def markers_in_evidence(texts: Collection[str]) -> frozenset[int]:
    """The numbers of everything in documents that looks like a marker.

    >>> sorted(markers_in_evidence(["proved [#7]", "［#9］ and [ #12 ]"]))
    [7, 9, 12]
    """
    found: set[int] = set()
    for text in texts:
        found.update(int(n) for n in _LOOKS_LIKE_MARKER.findall(_UNSEEN.sub("", unicodedata.normalize("NFKC", text))))
    return frozenset(found)


def verify(
    text: str,
    passages: Mapping[int, Chunk],
    encode: Encode | None = None,
    read: ReadClaims | None = None,
    *,
    question: str = "",
    subjects: Mapping[int, str] | None = None,
    retried: bool = False,
) -> Checked:
    """Hold every sentence of an answer against what it cites.

    passages  marker → packed chunk
    encode    texts → unit vectors, None to go without
    read      reads a sentence and its passages together, None to go by words
    question  what it answers: amounts of it may be a case of what a passage bounds
    subjects  marker → words of the question that the passage's document is about, though the passage may not say them
    """
    text = normalize_markers(text, passages)
    claims = find_claims(text, asides=True)
    suspects = markers_in_evidence([_told(chunk) for chunk in passages.values()])
    told = Passages(passages, question, read, subjects or {})
    forged = _find_forged(claims, told, suspects)
    own = [tuple(m for m in claim.markers if (i, m) not in forged) for i, claim in enumerate(claims)]
    known = [tuple(m for m in markers if m in passages) for markers in own]
    # What cites nothing is only looked up, by words: it costs no encoding.
    cited = [i for i, markers in enumerate(known) if markers]
    found = told.hold([claims[i].text for i in cited], [known[i] for i in cited], encode)
    readings = dict(zip(cited, found, strict=True))
    checks: list[SentenceCheck] = []
    windows: dict[int, list[Window]] = {}
    for i, claim in enumerate(claims):
        others = tuple(m for m in claim.markers if (i, m) in forged)
        if i not in readings:
            check = _check_uncited(claim, told, own[i], others)
            # Nobody backs a heading: it counts where the text says otherwise.
            if not claim.is_aside or check.status == "contradicted":
                checks.append(check)
            continue
        check = _check_cited(claim, own[i], known[i], readings[i], told)
        if not claim.is_aside or check.status == "contradicted":
            checks.append(check)
        if check.misattributed_to is not None:
            windows.setdefault(check.misattributed_to, [])  # where it is said: cited whole, for a reader to compare
        # A claim of many lines, a table or code, is more than a window holds: its passage is cited whole.
        elif check.status in ("verified", "likely", "weak") and len(claim.text) <= LONGEST_SENTENCE_CHARS:
            for marker, window in zip(known[i], readings[i].reading.windows, strict=False):
                # What is said in other words is not found by words: its passage is cited whole, for a reader to compare.
                if check.status == "likely" and window.said < FOUND_BY_WORDS:
                    continue
                if window.said >= WEAK or len(known[i]) == 1:
                    windows.setdefault(marker, []).append(window)
    unknown = {(i, m) for i, markers in enumerate(own) for m in markers if known[i] and m not in passages}
    clean = _neutralize(text, claims, forged | unknown)
    elsewhere = [check.misattributed_to for check in checks if check.misattributed_to is not None]
    markers = tuple(dict.fromkeys(m for m in (*find_markers(clean), *elsewhere) if m in passages))
    record = _summarize(checks, passages, forged, retried=retried)
    return Checked(record, clean, markers, {m: tuple(w) for m, w in windows.items()})


def has_tick(verification: Verification) -> bool:
    """True where every sentence is backed: nothing less is shown with a tick."""
    return verification.status == "verified"


def _told(chunk: Chunk) -> str:
    return "\n".join((chunk.title, *chunk.heading_path, chunk.text))


def _find_forged(claims: Sequence[Claim], told: Passages, suspects: frozenset[int]) -> frozenset[tuple[int, int]]:
    """(claim, marker) of each marker that stands in a document too and whose own passage does not back the claim.

    One that stands for no passage is unknown, wherever it was copied from.
    """
    return frozenset(
        (i, marker)
        for i, claim in enumerate(claims)
        for marker in claim.markers
        if marker in suspects and marker in told.chunks and told.by_words(claim.text, [[marker]])[0].score < VERIFIED
    )


def _check_cited(
    claim: Claim, own: tuple[int, ...], known: tuple[int, ...], found: Asked, told: Passages
) -> SentenceCheck:
    score, reasons, instead = found.score, found.reasons, None
    status: SentenceStatus = found.status
    # An item's row may be named by what its list stands below.
    misread = misread_rows(f"{claim.about} {claim.text}", told.texts(known)) if claim.about else []
    if misread:
        score, status, reasons = min(score, CONTRADICTED), "contradicted", tuple(misread)
    # A marker that stands for no passage adds nothing to one that does.
    idle = tuple(m for m in own if m not in known)
    if score < VERIFIED:
        # A number that the cited ones lack is not looked for in two texts at once: each may have it of another thing.
        instead, is_sure = told.elsewhere(claim.text, known, is_joined=not found.reading.faults)
        # What one passage speaks against, another one must say beyond doubt.
        if instead is not None and (is_sure or status != "contradicted"):
            status, reasons = "misattributed" if is_sure else "likely", ()
        else:
            instead = None
    elif len(known) > 1:
        idle += tuple(m for m in known if told.is_idle(claim.text, m, known))
    return SentenceCheck(
        start=claim.start,
        end=claim.end,
        text=claim.text,
        markers=own,
        status=status,
        score=round(score, 4),
        misattributed_to=instead,
        idle_markers=idle,
        reasons=reasons,
    )


def _check_uncited(claim: Claim, told: Passages, own: tuple[int, ...], forged: tuple[int, ...]) -> SentenceCheck:
    """A sentence without a marker of its own, held against the passages that say most of it: each, then all together."""
    likely = told.likeliest(claim.text)
    groups = [[marker] for marker in likely] + ([likely] if len(likely) > 1 else [])
    found = told.by_words(claim.text, groups)
    best = max(range(len(groups)), key=lambda n: found[n].score, default=None)
    asked = None if best is None else found[best]
    if told.read and best is not None and not claim.is_aside:
        (asked,) = told.hold([claim.text], [groups[best]])
    against = bool(found) and all(_speaks_against(claim, one.reading) for one in found)
    status: SentenceStatus = (
        "contradicted" if against else "unknown_marker" if own else "forged" if forged else "uncited"
    )
    reasons = tuple(f"[#{m}] stands in a document; the model copied it" for m in forged)
    if asked:
        reasons += asked.reasons
        if status == "uncited" and asked.status == "likely":
            status = "likely"
    return SentenceCheck(
        start=claim.start,
        end=claim.end,
        text=claim.text,
        markers=own,
        status=status,
        score=round(asked.score if asked else 0.0, 4),
        reasons=reasons,
    )


def _neutralize(text: str, claims: Sequence[Claim], forged: Collection[tuple[int, int]]) -> str:
    """Forged markers as [＃3]: as long as before, so that offsets hold."""
    for i, claim in enumerate(claims):
        bad = {marker for at, marker in forged if at == i}
        if bad:
            said = MARKER.sub(partial(_widen_sign, bad), text[claim.start : claim.end])
            text = text[: claim.start] + said + text[claim.end :]
    return text


def _widen_sign(bad: Collection[int], marker: re.Match[str]) -> str:
    return marker.group().replace("#", "＃") if int(marker[1]) in bad else marker.group()


def _speaks_against(claim: Claim, reading: Reading) -> bool:
    """True where the texts say otherwise; in an aside a number of several digits that none holds is enough."""
    absent = claim.is_aside and any(re.search(r"\d{2}|\d\s*[^\W\d]", said) for said in reading.found.absent)
    return bool(reading.found.against) or absent


def is_backed(check: SentenceCheck) -> bool:
    """True for a sentence that its passages back, and for one that cites nothing and that a packed passage backs."""
    return check.status == "verified" or (check.status == "uncited" and check.score >= VERIFIED)


def _worth(check: SentenceCheck) -> float:
    """How much of a backed sentence one is worth: a wrong marker makes a true sentence no lie, and no citation either."""
    if is_backed(check):
        return 1.0
    if check.status == "likely":
        return LIKELY
    if check.status == "misattributed" or (check.status == "unknown_marker" and check.score >= VERIFIED):
        return MISATTRIBUTED
    if check.status == "weak" and NOT_FOUND in check.reasons:
        return check.score  # nothing is missing in particular: all of it is said, or none
    is_partly = check.status == "weak"
    return PARTLY_BACKED if is_partly or (check.status == "uncited" and check.score >= WEAK) else 0.0


def _summarize(
    checks: Sequence[SentenceCheck],
    passages: Collection[int],
    forged: Collection[tuple[int, int]],
    *,
    retried: bool,
) -> Verification:
    backed = sum(is_backed(check) for check in checks)
    worth = sum(_worth(check) for check in checks) / len(checks) if checks else 0.0
    status: VerificationStatus = (
        "contradicted"
        if any(check.status == "contradicted" for check in checks)
        else "unsupported"
        if worth <= MOSTLY
        else "verified"
        if backed == len(checks)
        else "likely"
        if all(is_backed(check) or check.status == "likely" for check in checks)
        else "weak"
    )
    cites = sum(1 for check in checks if any(m in passages for m in check.markers))
    return Verification(
        status=status,
        verified=backed,
        total=len(checks),
        coverage=round(cites / len(checks), 4) if checks else 0.0,
        sentences=tuple(checks),
        forged_markers=tuple(sorted({marker for _, marker in forged})),
        retried=retried,
    )
