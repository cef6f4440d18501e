"""A sentence of an answer that does not hold → why, in a few words, in the language of the question.

The checks write their reasons in English, as JSON has them; here is what each means in other languages.
"""

from __future__ import annotations

import re

from kb.ask.records import SentenceCheck
from kb.language.registry import LANGUAGES
from kb.support.check import NOT_FOUND, WEAK

_DEGREES = {
    "must": "해야 한다",
    "should": "하는 것이 좋다",
    "may": "해도 된다",
    "not allowed": "하면 안 된다",
    "not needed": "하지 않아도 된다",
    "less than": "미만",
    "at most": "이하",
    "more than": "초과",
    "at least": "이상",
}
# What is named in a reason, in the other language: degrees, and the context nodes.
_NAMES = _DEGREES | {
    name: LANGUAGES["ko"].replies[key] for key, name in LANGUAGES["en"].replies.items() if key.startswith("node_")
}
_KOREAN = (
    (r"it says '(.*)' where the text says '(.*)'", "답은 '{0}', 문서는 '{1}'"),
    (r"it says '(.*)' where the text does not", "'{0}'라는 말이 거기에 없음"),
    (r"it says '(.*) ([\d.]+)', the text does not", "'{1} {0}'라는 말이 거기에 없음"),
    (r"'(.*)' is the opposite of '(.*)'", "'{0}'의 반대말 '{1}'가 문서에 있음"),
    (r"'(.*)' stands for '(.*)'", "문서에는 '{0}' 대신 '{1}'가 있음"),
    (r"'(.*)' is not what the text says: '(.*)'", "답은 '{0}', 문서는 '{1}'"),
    (r"'(.*)' and '(.*)' have changed places", "'{0}'와 '{1}'의 자리가 바뀜"),
    (r"'(.*)' belongs to '(.*)'", "'{0}'는 '{1}'에 해당함"),
    (r"'(.*)' comes after '(.*)'", "'{0}'는 '{1}' 다음에 나옴"),
    (r"'(.*)' is the effect there, and '(.*)' the cause", "문서에서는 '{1}' 때문에 '{0}'"),
    (r"'(.*)' is said there, and denied here", "답이 부정한 '{0}'가 문서에 있음"),
    (r"'(.*)' is denied there, and said here", "문서가 부정한 '{0}'가 답에 있음"),
    (r"'(.*)' is not named there", "'{0}'라는 이름이 거기에 없음"),
    (r"'(.*)' is not said there", "'{0}'라는 말이 거기에 없음"),
    (r"'(.*)' is here only", "'{0}'는 답에만 있음"),
    (r"'(.*)' is there only", "'{0}'는 문서에만 있음"),
    (r"'(.*)' is here, not 'need not'", "답은 '{0}', 문서는 '하지 않아도 된다'"),
    (r"'(.*)' is there, not 'need not'", "답은 '하지 않아도 된다', 문서는 '{0}'"),
    (r"'?(.*?)'? is not there", "'{0}'가 거기에 없음"),
    (r"the text says otherwise of '(.+)'", "문서는 '{0}'에 대해 달리 말함"),
    (r"the text says the opposite of '(.+)'", "문서에는 '{0}'의 반대가 있음"),
    (r"one denies it, and the other does not", "답이나 문서 한쪽만 부정하는 말"),
    (r"only (.*) says so, no document", "문서에는 없고, {0}에만 있음"),
    (r"(.+) (?:is|are) (more than|less than) (.+)", "{0}: {2} {1}"),
    (NOT_FOUND, "문서에 그런 말이 없는 듯함"),
)
# Status → the words; a sentence without a marker is told otherwise where it is contradicted, or where nothing backs it.
_STATUSES = {
    "en": {
        "verified": "backed",
        "likely": "{cited} may say this in other words",
        "likely, elsewhere": "not in {cited}; [#{other}] may say this in other words",
        "likely, uncited": "cites nothing, and may be in the documents in other words",
        "weak": "only partly backed by {cited}",
        "unsupported": "not backed by {cited}",
        "contradicted": "not what {cited} says",
        "contradicted, uncited": "not what the evidence says",
        "unknown_marker": "cites {cited}, which is not all there",
        "unconfirmed": "{cited} does not seem to say this",
        "misattributed": "not backed by {cited} but by [#{other}]",
        "forged": "its marker was copied out of a document",
        "uncited": "cites nothing",
        "uncited, unbacked": "cites nothing, and nothing backs it",
    },
    "ko": {
        "verified": "문서와 맞음",
        "likely": "{cited}에 다른 말로 있을 수 있음",
        "likely, elsewhere": "{cited}에는 없고, [#{other}]에 다른 말로 있을 수 있음",
        "likely, uncited": "인용은 없지만 문서에 다른 말로 있을 수 있음",
        "weak": "{cited}에는 일부만 있음",
        "unsupported": "{cited}에 없음",
        "contradicted": "{cited}의 내용과 다름",
        "contradicted, uncited": "문서의 내용과 다름",
        "unknown_marker": "없는 번호를 인용함: {cited}",
        "unconfirmed": "{cited}에 그런 말이 없는 듯함",
        "misattributed": "{cited}에는 없고 [#{other}]에 있음",
        "forged": "문서에서 베낀 번호",
        "uncited": "인용 없음",
        "uncited, unbacked": "인용이 없고, 맞는 대목도 없음",
    },
}
_REASONS = {"ko": tuple((re.compile(pattern), words) for pattern, words in _KOREAN)}
_PARTICLES = re.compile(r"(?<=(.)')(라는|가|와|는)(?= |의|만)")
_WITH_LAST_CONSONANT = {"라는": "이라는", "가": "이", "와": "과", "는": "은"}


def describe_doubt(check: SentenceCheck, language: str = "en") -> str:
    """Why a sentence does not hold, in a few words.

    >>> describe_doubt(SentenceCheck(start=0, end=1, text="x", markers=(2,), status="unsupported", score=0.1))
    'not backed by [#2]'
    """
    said = _STATUSES[language][_of_status(check)].format(
        cited="".join(f"[#{n}]" for n in check.markers), other=check.misattributed_to
    )
    reasons = () if check.status == "forged" else [r for r in check.reasons if r != NOT_FOUND]
    return f"{said} ({'; '.join(reason_in(language, reason) for reason in reasons)})" if reasons else said


def _of_status(check: SentenceCheck) -> str:
    if check.status in ("weak", "unsupported") and check.reasons == (NOT_FOUND,):
        return "unconfirmed"
    if check.status == "likely" and check.misattributed_to is not None:
        return "likely, elsewhere"
    if check.status in ("contradicted", "likely") and not check.markers:
        return f"{check.status}, uncited"
    return "uncited, unbacked" if check.status == "uncited" and check.score < WEAK else check.status


def reason_in(language: str, reason: str) -> str:
    """A reason of the checks in a language; as it is where that has no words for it.

    >>> reason_in("ko", "'41' stands for '14'"), reason_in("ko", "it says 'must' where the text says 'may'")
    ("문서에는 '41' 대신 '14'가 있음", "답은 '해야 한다', 문서는 '해도 된다'")
    """
    for pattern, words in _REASONS.get(language, ()):
        if match := pattern.fullmatch(reason):
            told = words.format(*(_NAMES.get(part, part) for part in match.groups()))
            return _PARTICLES.sub(lambda found: _particle(found[1], found[2]), told)
    return reason


def _particle(before: str, particle: str) -> str:
    """A particle as it is behind a syllable: 문이, 차가. What is not Hangul takes that behind a vowel."""
    has_last = "가" <= before <= "힣" and (ord(before) - ord("가")) % 28 != 0
    return _WITH_LAST_CONSONANT[particle] if has_last else particle
