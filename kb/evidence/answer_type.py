"""What a question word asks for, in English and Korean, and whether a text holds such a thing. Pure.

Only what a pattern can tell is judged: a number, a date, a duration, a proper name, a reason. A question that asks for
something else, or in another language, is not judged at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_DIGIT_WORDS = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|twenty|thirty|forty|"
    r"fifty|sixty|hundred|thousand|million|billion|dozen|half|once|twice|several|none|single|both|first|second|third)\b"
)
_KOREAN_NUMBERS = (
    r"(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스물|서른)\s?(?:개|명|번|시간|달|가지|대|벌|살|주|차례|사람|조|통|배)"
)
_NUMBER = re.compile(
    rf"\d|{_DIGIT_WORDS}|{_KOREAN_NUMBERS}|[일이삼사오육칠팔구십백천만]+\s?(?:개|명|번|년|월|일|주|회|배)", re.I
)
_MONTHS = r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
_DATE = re.compile(
    rf"\b1\d{{3}}\b|\b20\d{{2}}\b|\b\d{{1,2}}(?::\d\d|\s?[ap]\.?m)|\b(?:{_MONTHS})\b|century|\b\d{{2,4}}s\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:when|after|before|during|until|while|once|if|whenever|noon|midnight|"
    r"morning|evening|night|spring|summer|autumn|fall|winter|today|now|season|year|month|week|day|hour|minute)s?\b"
    r"|\d\s?(?:년|월|일|시|분|초|주|개월)|요일|때|후에|전에|이후|이전|동안|아침|저녁|밤|정오|자정|봄|여름|가을|겨울|마다|매일|매년|뒤",
    re.I,
)
_DURATION = re.compile(
    r"\b(?:second|minute|hour|day|week|fortnight|month|year|decade|centur|generation|lifetime|permanent|forever|indefinite|meter|metre|mile|"
    r"kilomet|km|feet|foot|inch|page|episode|term)|\d|초|분|시간|일|주|개월|달|년|영구|계속",
    re.I,
)
_FREQUENCY = re.compile(
    r"\b(?:every|each|per|once|twice|times|daily|hourly|weekly|monthly|yearly|annual|always|never|quarterly|nightly|regularly|second)|마다|매일|매주|매달|매년|격주|번|회",
    re.I,
)
_PROPER = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’.-]+|\b[A-Z][\w'’-]+\s+[A-Z]")
_REASON = re.compile(
    r"\b(?:because|since|due|so|as|for|to|therefore|thus|hence|reason|cause[sd]?|result|lead|led|leads|allow\w*|prevent\w*|avoid\w*|in order|that way|otherwise|means|help\w*|purpose)\b"
    r"|때문|므로|니까|위해|위하|이유|덕분|따라서|그래서|도록|으려|려고|라서|어서|아서|면 |지 않",
    re.I,
)

# Question → what would answer it; the first that fits decides. Korean asks anywhere in the sentence, English mostly first.
_ASKS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (re.compile(r"\bhow\s+(?:often|frequently)\b|얼마나\s*자주|며칠마다|몇\s*\S+마다", re.I), _FREQUENCY),
    (re.compile(r"\bhow\s+(?:long|far)\b|얼마\s*동안|얼마나\s*(?:오래|걸)", re.I), _DURATION),
    (re.compile(r"\bhow\s+(?:many|much|old|tall|high|fast|deep|big|large|heavy)\b|\bwhat\s+(?:percentage|number|year|time|date|age)\b"
                r"|(?<![가-힣])몇|며칠|얼마", re.I), _NUMBER),
    (re.compile(r"\bwhen\s+(?:is|was|were|did|does|do|will|are|has|have|can|must|should|would)\b|^\W*when\b|언제", re.I), _DATE),
    (re.compile(r"^\W*(?:who|whose|whom)\b", re.I), _PROPER),
    (re.compile(r"^\W*why\b|(?<![가-힣])왜(?![가-힣])", re.I), _REASON),
)  # fmt: skip


def matches_answer_type(question: str, texts: Sequence[str]) -> float | None:
    """1.0 when one of the texts holds the kind of thing that is asked for, 0.0 when none does, None when that cannot be told.

    >>> matches_answer_type("How many days?", ["It takes a fortnight."]), matches_answer_type("What is it?", [])
    (0.0, None)
    """
    for asked, wanted in _ASKS:
        if asked.search(question):
            return float(any(wanted.search(text) for text in texts))
    return None
