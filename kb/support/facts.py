"""A text → what in it is exact: numbers with their units, dates, times of day, proper names. Pure.

English and Korean. Everything is brought to one form, so that "1,000" is "1000", "5 km" is "5 kilometres" and "5000 m",
"May 5, 2020" is "2020-05-05" is "2020년 5월 5일", "10 pm" is "22:00", "seven days" is "7일". What cannot be told is left
out rather than guessed: the checks built on this may only take trust away.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from kb.text import STOP_WORDS

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = {name[:3]: n for n, name in enumerate(_MONTHS, start=1)}
_MONTH_WORD = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]*)\.?"
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
_WORDS = {word: float(n) for n, word in enumerate(_SMALL)} | {
    "thirteen": 13.0, "fourteen": 14.0, "fifteen": 15.0, "sixteen": 16.0, "seventeen": 17.0, "eighteen": 18.0,
    "nineteen": 19.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0,
    "eighty": 80.0, "ninety": 90.0,
}  # fmt: skip
_ORDINALS = {
    w: float(n) for n, w in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_KOREAN_SCALES = {"천": 1e3, "만": 1e4, "억": 1e8, "조": 1e12}
_KOREAN_NUMERALS = {
    "하나": 1, "한": 1, "두": 2, "둘": 2, "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8,
    "아홉": 9, "열": 10,
}  # fmt: skip
_KOREAN_DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "열흘": 10}
_COUNTERS = "사람|시간|가지|차례|마리|명|개|번|시|살|달|대|잔|권|곳|장|쪽|주"

# unit as written (NFKC, casefolded) → (kind, factor to the kind's base unit)
_UNITS: dict[str, tuple[str, float]] = {}
for _kind, _factor, _written in (
    ("length", 1e3, "km kilometer kilometre kilometers kilometres 킬로미터"),
    ("length", 1.0, "m meter metre meters metres 미터"),
    ("length", 1e-2, "cm centimeter centimetre centimeters centimetres 센티미터 센티"),
    ("length", 1e-3, "mm millimeter millimetre millimeters millimetres 밀리미터"),
    ("length", 1609.344, "mi mile miles 마일"),
    ("length", 0.3048, "ft foot feet 피트"),
    ("length", 0.0254, "inch inches 인치"),
    ("mass", 1e3, "kg kilo kilos kilogram kilograms 킬로그램"),
    ("mass", 1.0, "g gram grams 그램"),
    ("mass", 1e6, "t ton tons tonne tonnes 톤"),
    ("mass", 453.592, "lb lbs pound pounds 파운드"),
    ("time", 1e-3, "ms millisecond milliseconds 밀리초"),
    ("time", 1.0, "s sec secs second seconds 초"),
    ("time", 60.0, "min mins minute minutes 분"),
    ("time", 3600.0, "h hr hrs hour hours 시간"),
    ("day", 1.0, "day days 일"),
    ("day", 7.0, "week weeks 주 주일"),
    ("month", 1.0, "month months 개월 달"),
    ("month", 12.0, "year years yr yrs 년"),
    ("speed", 1.0, "m/s"),
    ("speed", 1 / 3.6, "km/h kph kmh"),
    ("speed", 0.44704, "mph"),
    ("volume", 1.0, "l liter litre liters litres 리터"),
    ("volume", 1e-3, "ml milliliter millilitre milliliters millilitres 밀리리터"),
    ("bytes", 1.0, "b byte bytes 바이트"),
    ("bytes", 1e3, "kb"),
    ("bytes", 1e6, "mb megabyte megabytes"),
    ("bytes", 1e9, "gb gigabyte gigabytes"),
    ("bytes", 1e12, "tb terabyte terabytes"),
    ("power", 1.0, "w watt watts 와트"),
    ("power", 1e3, "kw kilowatt kilowatts 킬로와트"),
    ("power", 1e6, "mw megawatt megawatts"),
    ("energy", 1.0, "wh"),
    ("energy", 1e3, "kwh"),
    ("voltage", 1.0, "v volt volts 볼트"),
    ("frequency", 1.0, "hz hertz 헤르츠"),
    ("frequency", 1e6, "mhz"),
    ("frequency", 1e9, "ghz"),
    ("share", 1.0, "% percent 퍼센트 프로"),
    ("celsius", 1.0, "°c ℃ celsius 도"),
    ("fahrenheit", 1.0, "°f ℉ fahrenheit"),
    ("dollar", 1.0, "$ dollar dollars usd 달러"),
    ("euro", 1.0, "€ euro euros eur 유로"),
    ("sterling", 1.0, "£ gbp"),
    ("won", 1.0, "₩ won krw 원"),
):
    for _name in _written.split():
        _UNITS[unicodedata.normalize("NFKC", _name).casefold()] = (_kind, _factor)

_ISO = re.compile(r"(?<!\d)(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?!\d)")
_KOREAN_DATE = re.compile(r"(?:(\d{4})년)?\s*(\d{1,2})월(?:\s*(\d{1,2})일)?")
_MONTH_FIRST = re.compile(rf"\b{_MONTH_WORD}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:\s*,?\s+(\d{{4}})\b)?", re.I)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH_WORD}(?:\s*,?\s+(\d{{4}}))?\b", re.I)
_MONTH_YEAR = re.compile(rf"\b{_MONTH_WORD}\s+(?:of\s+)?(\d{{4}})\b", re.I)
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?\s*(am|pm|a\.m\.|p\.m\.)?(?!\d)", re.I)
_AM_PM = re.compile(r"(?<![\d.:])(\d{1,2})\s*(am|pm|a\.m\.|p\.m\.)(?!\w)", re.I)
_KOREAN_CLOCK = re.compile(r"(오전|오후|밤|새벽|저녁|아침)?\s*(\d{1,2})시(?!간)(?:\s*(\d{1,2})분)?")
_NUMBER = re.compile(
    r"(?P<money>[$€£₩])?\s?(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<scale>\s?(?:hundred|thousand|million|billion|trillion)\b|\s?[천만억조](?![가-힣])|\s?[천만억조](?=\s?(?:원|명|개|달러|톤|대|년|킬로|미터)))?"
    r"(?:st|nd|rd|th)?(?![\d])"
    r"(?P<unit>[\s-]?(?:m/s|km/h|°[cf]|%|[℃℉])|[\s-]?[a-zµ]+(?![\w/])|\s?[가-힣]+)?",
    re.I,
)
_WORD_NUMBER = re.compile(
    rf"\b(?P<word>{'|'.join(_WORDS)})(?:[\s-](?P<ones>one|two|three|four|five|six|seven|eight|nine))?"
    r"(?:\s(?P<scale>hundred|thousand|million|billion))?(?P<unit>[\s-][a-z]+)?\b",
    re.I,
)
_ORDINAL_WORD = re.compile(rf"\b({'|'.join(_ORDINALS)})\b", re.I)
_KOREAN_NUMBER = re.compile(rf"(?<![가-힣])({'|'.join(_KOREAN_NUMERALS)})\s?({_COUNTERS})")
_KOREAN_DAY = re.compile(rf"(?<![가-힣])({'|'.join(_KOREAN_DAYS)})(?=[\s가-힣]|$)")
_NAME = re.compile(r"\b[A-Z][\w'’-]*[a-z][\w'’-]*|\b[A-Z][A-Z0-9-]+\b|\b[a-z]+[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in the base unit of its kind; kind "" where the unit is none that is known."""

    value: float
    kind: str = ""

    def backs(self, claimed: Quantity) -> bool:
        """True when a text that says this may be cited for the claimed one: equal, or one of the two bare.

        A bare claim must equal this in some unit it may be written in, so a kind is only compared when both have one.
        """
        if self.kind and claimed.kind:
            return self.kind == claimed.kind and _is_equal(self.value, claimed.value)
        return _is_equal(self.value, claimed.value)


@dataclass(frozen=True, slots=True)
class Date:
    """A date; a part that is not said is None."""

    year: int | None
    month: int
    day: int | None

    def backs(self, claimed: Date) -> bool:
        """True when every part that is claimed is said here."""
        return (
            claimed.month == self.month
            and (claimed.year is None or claimed.year == self.year)
            and (claimed.day is None or claimed.day == self.day)
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What is exact in a text.

    quantities  as the text means them
    bare        every number as it is written, whatever its unit; parts of dates and times included
    times       minutes after midnight
    names       casefolded words that are written as names
    words       every word, casefolded, for looking names up
    """

    quantities: tuple[Quantity, ...]
    bare: frozenset[float]
    dates: tuple[Date, ...]
    times: frozenset[int]
    names: tuple[str, ...]
    words: frozenset[str]

    def has_any(self) -> bool:
        """True when there is something exact to be checked."""
        return bool(self.quantities or self.dates or self.times or self.names)


@lru_cache(maxsize=4096)
def facts_of(text: str) -> Facts:
    """The facts of a text. Cached: a passage is asked for each sentence that cites it."""
    text = unicodedata.normalize("NFKC", text).replace("−", "-")
    bare: set[float] = set()
    dates, rest = _take_dates(text, bare)
    times, rest = _take_times(rest, bare)
    quantities = _quantities(rest, bare)
    words = frozenset(word.casefold() for word in re.findall(r"\w+", text))
    return Facts(tuple(quantities), frozenset(bare), dates, times, _names(text), words)


def join_facts(several: Sequence[Facts]) -> Facts:
    """The facts of several texts as of one."""
    return Facts(
        tuple(quantity for facts in several for quantity in facts.quantities),
        frozenset().union(*(facts.bare for facts in several)),
        tuple(date for facts in several for date in facts.dates),
        frozenset().union(*(facts.times for facts in several)),
        tuple(dict.fromkeys(name for facts in several for name in facts.names)),
        frozenset().union(*(facts.words for facts in several)),
    )


def _take_dates(text: str, bare: set[float]) -> tuple[tuple[Date, ...], str]:
    found: list[Date] = []

    def note(year: str | None, month: int, day: str | None) -> str:
        if 1 <= month <= 12 and (day is None or 1 <= int(day) <= 31):
            found.append(Date(int(year) if year else None, month, int(day) if day else None))
            bare.update(float(part) for part in (year, day) if part)
            return " "
        return "\0"

    for pattern, read in (
        (_ISO, lambda m: note(m[1], int(m[2]), m[3])),
        (_KOREAN_DATE, lambda m: note(m[1], int(m[2]), m[3])),
        (_MONTH_FIRST, lambda m: note(m[3], _MONTH[m[1].lower()], m[2])),
        (_DAY_FIRST, lambda m: note(m[3], _MONTH[m[2].lower()], m[1])),
        (_MONTH_YEAR, lambda m: note(m[2], _MONTH[m[1].lower()], None)),
    ):
        text = pattern.sub(partial(_without_date, read), text)
    return tuple(found), text


def _without_date(read: Callable[[re.Match[str]], str], found: re.Match[str]) -> str:
    return found.group() if read(found) == "\0" else " "


def _take_times(text: str, bare: set[float]) -> tuple[frozenset[int], str]:
    found: set[int] = set()

    def note(hour: int, minute: int, half: str) -> str:
        if hour < 12 and half[:1].lower() in ("p", "오", "밤", "저") and half != "오전":
            hour += 12
        if hour == 12 and (half[:1].lower() == "a" or half in ("오전", "밤", "새벽")):
            hour = 0
        found.add(hour % 24 * 60 + minute)
        bare.update((float(hour), float(minute)) if minute else (float(hour),))
        return " "

    text = _CLOCK.sub(lambda m: note(int(m[1]), int(m[2]), m[3] or ""), text)
    text = _AM_PM.sub(lambda m: note(int(m[1]), 0, m[2]), text)
    text = _KOREAN_CLOCK.sub(lambda m: note(int(m[2]), int(m[3] or 0), m[1] or ""), text)
    return frozenset(found), text


def _quantities(text: str, bare: set[float]) -> list[Quantity]:
    found: list[Quantity] = []

    def note(value: float, unit: str) -> None:
        bare.add(value)
        kind, factor = _unit(unit)
        found.append(Quantity(value * factor, kind))

    for match in _NUMBER.finditer(text):
        scale = (match["scale"] or "").strip().lower()
        value = float(match["digits"].replace(",", "")) * (_SCALES | _KOREAN_SCALES).get(scale, 1.0)
        note(value, match["money"] or match["unit"] or "")
    for match in _WORD_NUMBER.finditer(text):
        value = (_WORDS[match["word"].lower()] + _WORDS.get((match["ones"] or "").lower(), 0.0)) * _SCALES.get(
            (match["scale"] or "").lower(), 1.0
        )
        if value == 1.0 and not _unit(match["unit"] or "")[0]:
            bare.add(value)  # "one of the" counts nothing
            continue
        note(value, match["unit"] or "")
    bare.update(_ORDINALS[word.lower()] for word in _ORDINAL_WORD.findall(text))
    for word, counter in _KOREAN_NUMBER.findall(text):
        note(float(_KOREAN_NUMERALS[word]), counter)
    for word in _KOREAN_DAY.findall(text):
        note(float(_KOREAN_DAYS[word]), "일")
    return found


def _unit(written: str) -> tuple[str, float]:
    """The unit a number is followed by; of a Korean word the longest beginning that is one: 14일마다 → 일."""
    unit = written.strip(" -\t").casefold()
    if unit in _UNITS:
        return _UNITS[unit]
    if unit and "가" <= unit[0] <= "힣":
        for length in range(min(len(unit), 5), 0, -1):
            if unit[:length] in _UNITS:
                return _UNITS[unit[:length]]
    return "", 1.0


def _names(text: str) -> tuple[str, ...]:
    """Words written as names; the first word of a sentence is one only where it is not an everyday word."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        word = re.sub(r"['’]s$", "", match.group())
        before = text[: match.start()].rstrip(" \t\"'“‘(*_")
        begins = not before or before[-1] in ".!?:;\n|>#-•。" or before.endswith("]")
        if (
            word.casefold() in STOP_WORDS
            or word.casefold() in _WORDS
            or (word.casefold()[:3] in _MONTH and len(word) > 2)
        ):
            continue
        if begins and not any(c.isupper() for c in word[1:]):
            following = text[match.end() : match.end() + 2]
            if not (following[:1] == " " and following[1:2].isupper()):
                continue
        for part in re.split(r"[-’']", word):
            if len(part) > 1:
                found[part.casefold()] = None
    return tuple(found)


def _is_equal(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(1.0, abs(one), abs(other))


def missing_facts(claim: Facts, source: Facts) -> tuple[list[str], list[str]]:
    """(numbers, names) that are claimed and that the source does not say, as words for a message.

    A quantity with a unit needs one that is equal; a bare number needs it in any role, as part of a date or a time too.
    """
    numbers = [
        f"{quantity.value:g}{' ' + quantity.kind if quantity.kind else ''}"
        for quantity in claim.quantities
        if not _is_backed(quantity, source)
    ]
    numbers += [
        "-".join(str(part) for part in (date.year, date.month, date.day) if part is not None)
        for date in claim.dates
        if not any(said.backs(date) for said in source.dates)
    ]
    numbers += [
        f"{t // 60}:{t % 60:02}"
        for t in sorted(claim.times - source.times)
        if source.times or t / 60 not in source.bare
    ]
    names = [name for name in claim.names if not _is_named(name, source.words)]
    return numbers, names


def _is_backed(claimed: Quantity, source: Facts) -> bool:
    if any(said.backs(claimed) for said in source.quantities):
        return True
    return not claimed.kind and any(_is_equal(claimed.value, value) for value in source.bare)


def _is_named(name: str, words: frozenset[str]) -> bool:
    """A name counts as said with another ending: Canada backs Canadian, Koreans are backed by Korean."""
    if name in words or name.rstrip("s") in words:
        return True
    stem = name[: max(4, len(name) - 3)]
    return len(name) >= 5 and any(word.startswith(stem) and len(word) >= 4 for word in words)
