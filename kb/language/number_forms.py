"""A text → the same with numbers of several words as one: 2.5 hours for two and a half hours, and each hour with its half of the day. Pure.

kb/language/quantities.py reads numbers out of what comes of it.
"""

from __future__ import annotations

import re

from kb.language.english import NUMBER_WORDS

# What stands before a half, as a number; "a year and a half" has one.
_WHOLE = NUMBER_WORDS | {"한": 1.0, "두": 2.0, "세": 3.0, "네": 4.0, "다섯": 5.0, "여섯": 6.0}
_AND_A_HALF = re.compile(r"\b(\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten) and a half ([a-z]+)", re.I)
_UNIT_AND_A_HALF = re.compile(
    r"\b(an?|one) (second|minute|hour|day|week|month|year|metre|meter|mile|kilo)s? and a half\b", re.I
)
_KOREAN_HALF = re.compile(
    r"(?<![가-힣\d])(\d+|한|두|세|네|다섯|여섯)\s?(시간|년|달|개월|분|주|미터)\s?반(?=[\s.,]|이|을|은|에|동안|쯤|정도|$)"
)
# 3만 5천: a number of two parts.
_KOREAN_SUM = re.compile(r"(?<![\d,.])(\d{1,4})만\s?([1-9])천")
# 백오십만, 팔십삼: with a ten, a hundred or more, before what it counts.
_SINO_DIGITS = {digit: value for value, digit in enumerate("일이삼사오육칠팔구", start=1)}
_SINO_SCALES = {"십": 10, "백": 100, "천": 1000}
_SINO = re.compile(
    r"(?<![가-힣\d])(?=[일이삼사오육칠팔구]*[십백천만])(?P<number>[일이삼사오육칠팔구십백천]{2,}만?|[일이삼사오육칠팔구]만|[십백천]만)"
    r"(?P<unit> ?(?:(?:원|달러|년|개월|시간|분|초|명|개|퍼센트|프로|킬로|미터|리터|그램|톤|마리|가마|그루)|(?:주|일|평|점|층|호|번|회|차|살|세|쪽|권|대|장)(?![가-힣]{3})))"
)
# 여든 가마: whatever it counts.
_NATIVE_TENS = {"스물": 20, "서른": 30, "마흔": 40, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90}
_NATIVE = re.compile(rf"(?<![가-힣])({'|'.join(_NATIVE_TENS)}) (?=[가-힣])")
# 3 h 25, 2시간 40분: one length of time.
_DURATION = re.compile(
    r"(?<![\d.,:])(?P<hours>\d{1,3})\s?(?P<unit>h(?:ou)?rs?|hours?|h|시간)\s?(?:and |, )?(?P<minutes>[1-5]?\d)(?:\s?(?P<named>minutes?|mins?|분)|(?=\s*(?:[|,;)\n]|\.(?!\d)|$)))(?![a-z\d])",
    re.I,
)
_HALF_YEAR = re.compile(r"(?<![가-힣])반년")
_HALF_PAST = re.compile(r"(\d{1,2}시) ?반(?![가-힣]{2})")
_HALF_A = re.compile(r"\bhalf an? ([a-z]+)", re.I)
# Two hours of which one alone has its half of the day.
_HOURS = re.compile(
    r"(?<![\d.:])(?P<begin>(?P<first>\d{1,2})(?:[:.]\d{2})?)(?P<rest>\s*(?:to|and|until|till|–|-)\s*(?P<last>\d{1,2})(?:[:.]\d{2})?\s*(?P<half>[ap]\.?m)\b)",
    re.I,
)
_HOUR_OF_PART = re.compile(
    r"(?<![\d.:£$€])(?<!past )(?<!quarter to )\b(?P<hour>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?P<minutes>[:.]\d{2})? (?:o['’]clock )?"
    r"(?:in the (?P<part>morning|afternoon|evening)|at (?P<night>night))\b",
    re.I,
)
_KOREAN_HOURS = re.compile(
    r"(?P<begin>(?P<half>오전|오후|밤|새벽|저녁|아침)\s*(?P<first>\d{1,2})시(?:\s*\d{1,2}분)?\s*(?:부터|에서|~|-|–)\s*)(?P<last>\d{1,2})시(?!간)"
)


def with_plain_numbers(text: str) -> str:
    """Halves, Korean sums, Korean numbers in words, and hours with their minutes as one number each.

    >>> with_plain_numbers("a year and a half, or half an hour"), with_plain_numbers("2시간 반에 3만 5천 원")
    ('1.5 year, or 0.5 hour', '2.5 시간에 35000 원')
    >>> with_plain_numbers("백오십만 원, 여든 가마"), with_plain_numbers("3 h 25 min; 2시간 40분")
    ('1500000 원, 80 가마', '205 min; 160분')
    """
    text = _HALF_PAST.sub(r"\1 30분", text)
    text = _HALF_YEAR.sub("6개월", text)
    text = _SINO.sub(_with_digits, _NATIVE.sub(lambda found: f"{_NATIVE_TENS[found[1]]} ", text))
    text = _DURATION.sub(_in_minutes, text)
    text = _KOREAN_SUM.sub(lambda found: f"{int(found[1]) * 10_000 + int(found[2]) * 1_000}", text)
    if "half" not in text and "반" not in text:
        return text
    for written in (_AND_A_HALF, _UNIT_AND_A_HALF, _KOREAN_HALF):
        text = written.sub(_with_half, text)
    return _HALF_A.sub(r"0.5 \1", text)


def durations_of(text: str) -> list[tuple[int, str]]:
    """(minutes, as it is written) of each length of time in hours and minutes.

    >>> durations_of("It takes 2 hours and 40 minutes.")
    [(160, '2 hours and 40 minutes')]
    """
    return [(int(found["hours"]) * 60 + int(found["minutes"]), found[0]) for found in _DURATION.finditer(text)]


def as_written(number: str, text: str) -> str:
    """A number of `with_plain_numbers` as the text has it, for a message: 백오십만 원 for 1500000 원.

    >>> as_written("190 min", "It takes 3 hours and 10 minutes."), as_written("12 km", "It is 12 km long.")
    ('3 hours and 10 minutes', '12 km')
    """
    for written, plain in ((_DURATION, _in_minutes), (_SINO, _with_digits)):
        for match in written.finditer(text):
            if number.startswith(plain(match).strip()):
                return match[0].strip()
    return number


def _in_minutes(match: re.Match[str]) -> str:
    minutes = int(match["hours"]) * 60 + int(match["minutes"])
    return f"{minutes}분" if match["unit"] == "시간" else f"{minutes} min"


def _with_digits(match: re.Match[str]) -> str:
    """150만 as 1500000; one whose parts are in no order stays."""
    written, _, beyond = match["number"].partition("만")
    value = _sino_value(written) if written else 1
    if value is None or beyond:
        return match.group()
    return f"{value * (10_000 if '만' in match['number'] else 1)}{match['unit']}"


def _sino_value(written: str) -> int | None:
    """The number below 10,000 that 백오십 says; None where its parts are in no order."""
    value, digit, last = 0, 0, 10_000
    for sign in written:
        if scale := _SINO_SCALES.get(sign):
            if scale >= last:
                return None
            value, digit, last = value + max(1, digit) * scale, 0, scale
        elif digit:
            return None
        else:
            digit = _SINO_DIGITS[sign]
    return value + digit


def _with_half(match: re.Match[str]) -> str:
    said = match[1].lower()
    whole = said if said.isdigit() else f"{_WHOLE.get(said, 1.0):g}"
    return f"{whole}.5 {match[2]}"


def with_halves_of_day(text: str) -> str:
    """A text in which both hours of a stretch have their half of the day: 1 p.m. to 5 p.m. for "1 to 5 p.m.".

    >>> with_halves_of_day("from 1 to 5 p.m., or at six in the evening")
    'from 1 p.m to 5 p.m., or at 6 p.m.'
    """
    text = _HOUR_OF_PART.sub(_with_part_of_day, text)
    return _KOREAN_HOURS.sub(_with_first_half, _HOURS.sub(_with_last_half, text))


def _with_part_of_day(match: re.Match[str]) -> str:
    """6 p.m. for "6 in the evening"."""
    said = match["hour"].lower()
    hour = int(said) if said.isdigit() else int(NUMBER_WORDS[said])
    if not 1 <= hour <= 12:
        return match.group()
    is_morning = (match["part"] or "").lower() == "morning" or (match["night"] and hour <= 4)
    return f"{hour}{(match['minutes'] or '').replace('.', ':')} {'a' if is_morning else 'p'}.m."


def _with_last_half(match: re.Match[str]) -> str:
    """1 p.m. to 5 p.m. for "1 to 5 p.m."; "9 to 5 p.m." begins in the morning."""
    first, last = int(match["first"]), int(match["last"])
    return f"{match['begin']} {match['half']}{match['rest']}" if first < last < 12 else match.group()


def _with_first_half(match: re.Match[str]) -> str:
    """오후 1시부터 오후 5시 for 오후 1시부터 5시."""
    is_same = int(match["first"]) < int(match["last"]) < 12
    return f"{match['begin']}{match['half']} {match['last']}시" if is_same else match.group()
