"""A text → its exact facts: numbers with units, dates, times of day, proper names. Pure.

For every language of the registry. Facts are normalized, so that "1,000" is "1000", "5 km" is "5 kilometres" and
"5000 m", "May 5, 2020" is "2020-05-05" is "2020년 5월 5일", "10 pm" is "22:00", "seven days" is "7일". Unclear ones are
left out: the checks built on this may only lower trust.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import field
from functools import cache, lru_cache

from kb.frozen import dataclass
from kb.language.english import FUNCTION_WORDS, LIGHT_WORDS, MONTHS, NUMBER_WORDS
from kb.language.interface import Numbers, join_numbers
from kb.language.korean_particles import is_hangul, strip_particle
from kb.language.number_forms import with_halves_of_day, with_plain_numbers
from kb.language.registry import LANGUAGES
from kb.text import STOP_WORDS

# kind → symbol of a unit → its factor to the kind's base unit. The names of units are in each language's file.
UNITS: dict[str, dict[str, float]] = {
    "length": {"km": 1e3, "m": 1.0, "cm": 1e-2, "mm": 1e-3, "mi": 1609.344, "ft": 0.3048, "inch": 0.0254},
    "mass": {"kg": 1e3, "g": 1.0, "mg": 1e-3, "t": 1e6, "lb": 453.592, "oz": 28.3495},
    "time": {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    "day": {"day": 1.0, "week": 7.0},
    "month": {"month": 1.0, "year": 12.0},
    "speed": {"m/s": 1.0, "km/h": 1 / 3.6, "kph": 1 / 3.6, "kmh": 1 / 3.6, "mph": 0.44704},
    "volume": {"l": 1.0, "ml": 1e-3},
    "bytes": {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    "power": {"w": 1.0, "kw": 1e3, "mw": 1e6},
    "energy": {"wh": 1.0, "kwh": 1e3},
    "frequency": {"hz": 1.0, "mhz": 1e6, "ghz": 1e9},
    **{kind: {symbol: 1.0} for kind, symbol in (
        ("voltage", "v"), ("share", "%"), ("celsius", "°c"), ("fahrenheit", "°f"),
        ("dollar", "$"), ("euro", "€"), ("sterling", "£"), ("won", "₩"),
    )},
}  # fmt: skip
_IN_ANY = Numbers(
    dates=(r"(?<!\d)(?P<year>\d{4})[-./](?P<month>\d{1,2})[-./](?P<day>\d{1,2})(?!\d)",),
    clocks=(r"(?<![\d:])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?\s*(?P<half>am|pm|a\.m\.?|p\.m\.?)?(?!\d)",),
)
_MONTH_BEGINNINGS = frozenset(month[:3] for month in MONTHS)
# Underscores that set a word off, not those inside one.
_EMPHASIS = re.compile(r"(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")
# An address, a version or a code, 127.0.0.1 or 0000: it must be there as it is written; 127.0 of it may stand for it.
_DOTTED = re.compile(r"(?<![\w.,])(?:\d+(?:\.\d+){2,}|0\d{2,})(?![\w.]*\.\d)")
# They begin a sentence before a name: "Because GitHub", "Every GitHub".
_NO_NAMES = FUNCTION_WORDS | LIGHT_WORDS | frozenset("once unless whenever whereas".split())
# A name with a Korean ending: NaN입니다.
_LATIN_BEFORE_HANGUL = re.compile(r"\w*[A-Za-z0-9_](?=[가-힣])")
_KOREAN_ORDINAL = re.compile(r"(?<![가-힣])(?:(첫|두|세|네|다섯|여섯|일곱|여덟|아홉|열)\s?번째|(첫|둘|셋|넷|다섯)째)")
# A number behind a letter and a hyphen is a part of a name: pay-gw-1.
_IN_A_NAME = re.compile(r"\b[a-z]\w*-[a-z]{1,6}-$", re.I)
_NAME = re.compile(r"\b[A-Z][\w'’-]*[a-z][\w'’-]*|\b[A-Z][A-Z0-9-]+\b|\b[a-z]+[A-Z]\w*")


# A number with the unit of a year between these is a year of the calendar.
FIRST_YEAR, LAST_YEAR = 1000, 3000
# Words that say a number without naming it.
MULTIPLES = {"double": 2.0, "doubled": 2.0, "twice": 2.0, "pair": 2.0, "couple": 2.0, "both": 2.0, "triple": 3.0, "tripled": 3.0,
             "thrice": 3.0, "half": 0.5, "dozen": 12.0, "decade": 10.0, "century": 100.0}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in the base unit of its kind; kind "" for an unknown unit or none.

    counted  the word behind it, where that is a noun in the plural and no unit: "steps"; "" elsewhere
    written  as it stands in the text, with the word behind it
    shown    the same for messages: without a word that is no unit, and without a Korean ending
    """

    value: float
    kind: str = ""
    counted: str = ""
    written: str = field(default="", compare=False)
    shown: str = field(default="", compare=False)

    def named(self) -> str:
        """What a message calls it."""
        return self.shown or self.written or f"{self.value:g}"

    def backs(self, claimed: Quantity) -> bool:
        """True when this quantity supports the claimed one: equal values, and what they measure or count may be the same.

        212 steps back no 212 metres, and 212 metres no 212 steps.
        """
        if self.kind and claimed.kind:
            return self.kind == claimed.kind and _is_equal(self.value, claimed.value)
        if (self.kind and claimed.counted) or (claimed.kind and self.counted):
            return False
        return _is_equal(self.value, claimed.value)


@dataclass(frozen=True, slots=True)
class Date:
    """A date; a missing part is None.

    written  as it stands in the text, for messages
    """

    year: int | None
    month: int
    day: int | None
    written: str = field(default="", compare=False)

    def backs(self, claimed: Date) -> bool:
        """True when this date has every part of the claimed one."""
        return (
            claimed.month == self.month
            and (claimed.year is None or claimed.year == self.year)
            and (claimed.day is None or claimed.day == self.day)
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """The exact facts of a text.

    quantities  numbers with their units
    bare        every number as written, whatever its unit, with the parts of dates and times
    times       minutes after midnight
    names       casefolded words that are written as names
    words       every word, casefolded, to look names up
    """

    quantities: tuple[Quantity, ...]
    bare: frozenset[float]
    dates: tuple[Date, ...]
    times: frozenset[int]
    names: tuple[str, ...]
    words: frozenset[str]

    def has_any(self) -> bool:
        """True when there is anything to check."""
        return bool(self.quantities or self.dates or self.times or self.names)


@lru_cache(maxsize=4096)
def facts_of(text: str) -> Facts:
    """The facts of a text. Cached: a passage is read once for each sentence that cites it."""
    text = with_plain_numbers(_EMPHASIS.sub("", unicodedata.normalize("NFKC", text).replace("−", "-")))
    bare: set[float] = set()
    dates, rest = _take_dates(text, bare)
    times, rest = _take_times(rest, bare)
    quantities = _quantities(rest, bare)
    words = frozenset(word.casefold() for word in (*re.findall(r"\w+", text), *_LATIN_BEFORE_HANGUL.findall(text)))
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

    def take(match: re.Match[str]) -> str:
        year, month, day = match["year"], match["month"], match["day"] if "day" in match.re.groupindex else None
        number = int(month) if month.isdigit() else _numbers().months[month[:3].lower()]
        if not 1 <= number <= 12 or (day is not None and not 1 <= int(day) <= 31):
            return match.group()
        parts = (int(year) if year else None, number, int(day) if day else None)
        found.append(Date(*parts, written=" ".join(match.group().split())))
        bare.update(float(part) for part in (year, day) if part)
        return " "

    for written in _numbers().dates:
        text = re.sub(written, take, text, flags=re.I)
    return tuple(found), text


def _take_times(text: str, bare: set[float]) -> tuple[frozenset[int], str]:
    text = with_halves_of_day(text)
    found = clock_times(text)
    for minutes, start, end in found:
        hour, minute = divmod(minutes, 60)
        bare.update((float(hour), float(minute)) if minute else (float(hour),))
        text = text[:start] + " " * (end - start) + text[end:]
    return frozenset(minutes for minutes, _, _ in found), text


def clock_times(text: str) -> list[tuple[int, int, int]]:
    """(minutes after midnight, start, end) of each time of day that a text has.

    >>> clock_times("from 9 a.m. to 14:20")
    [(860, 15, 20), (540, 5, 11)]
    """
    found: list[tuple[int, int, int]] = []
    numbers = _numbers()
    for written in numbers.clocks:
        for match in re.finditer(written, text, re.I):
            groups = match.groupdict()
            hour, minute, half = int(groups["hour"]), int(groups.get("minute") or 0), (groups["half"] or "").lower()
            if hour < 12 and half.startswith(numbers.afternoon):
                hour += 12
            if hour == 12 and half.startswith(numbers.midnight):
                hour = 0
            blanks = len(match[0]) - len(match[0].lstrip())
            found.append((hour % 24 * 60 + minute, match.start() + blanks, match.end()))
        text = re.sub(written, lambda match: " " * len(match[0]), text, flags=re.I)
    return found


def _quantities(text: str, bare: set[float]) -> list[Quantity]:
    found: list[Quantity] = []
    numbers = _numbers()

    def note(value: float, unit: str, written: str) -> None:
        bare.add(value)
        kind, factor = unit_of(unit)
        if unit.strip().startswith("년") and FIRST_YEAR <= value < LAST_YEAR:
            kind, factor = "", 1.0  # a year, not so many of them
        counted = "" if kind else _counted(unit)
        found.append(
            Quantity(
                value * factor, kind, counted, written.strip(), _shown(written, unit, is_unit=bool(kind or counted))
            )
        )

    # −1 equals no number that is written.
    found += [Quantity(-1.0, f"dotted {m.group()}", "", m.group()) for m in _DOTTED.finditer(text)]
    for match in _digits().finditer(text):
        scale = (match["scale"] or "").strip().lower()
        value = float(match["digits"].replace(",", "")) * _scale(scale, numbers)
        if re.match(r"0\d\d", match["digits"]):
            continue  # a code, 0000: it is no number 0
        if _IN_A_NAME.search(text[: match.start()]):
            bare.add(value)  # pay-gw-1
            continue
        unit = match["unit"] or ""
        note(value, match["money"] or ("" if _is_decade(match["digits"], unit) else unit), match.group())
    for written in numbers.counts:
        for match in re.finditer(written, text, re.I):
            said = {name: part.lower() for name, part in match.groupdict().items() if part}
            unit = said.get("unit", "" if "unit" in match.re.groupindex else numbers.counted)
            value = numbers.values[said["word"]] + numbers.values.get(said.get("ones", ""), 0.0)
            value *= numbers.scales.get(said.get("scale", ""), 1.0)
            if value == 1.0 and unit not in numbers.counters and not unit_of(unit)[0]:
                bare.add(value)  # "one of the" counts nothing
            else:
                note(value, unit, match.group())
    ordinals = re.findall(rf"\b({'|'.join(numbers.ordinals)})\b", text, re.I)
    bare.update(numbers.ordinals[word.lower()] for word in ordinals)
    bare.update(numbers.values.get(first or other, 1.0) for first, other in _KOREAN_ORDINAL.findall(text))
    bare.update(MULTIPLES[word.lower()] for word in re.findall(rf"\b({'|'.join(MULTIPLES)})\b", text, re.I))
    for first, last in re.findall(r"(?<!\d)([12]\d{3})[-–/](\d{2})(?![\d-])", text):
        bare.add(float(first[:2] + last))  # 2001-03
    return found


def _is_decade(digits: str, unit: str) -> bool:
    """True for the 1990s, which are no seconds."""
    return unit.casefold() == "s" and digits.isdecimal() and FIRST_YEAR <= int(digits) < LAST_YEAR


def _shown(written: str, unit: str, *, is_unit: bool) -> str:
    """A number as a message has it: without the word behind it that is no unit, and without a Korean ending."""
    written = " ".join(written.split())
    word = unit.strip(" -\t\n")
    if money := re.match(r"[$€£₩]\s?[\d,.]*\d(?:\s?(?:million|billion|thousand))?", written):
        return money[0]
    if not word or not written.endswith(word):
        return written
    if is_hangul(word):
        kept = next(
            (
                word[:n]
                for n in range(min(len(word), 5), 0, -1)
                if word[:n] in _units() or word[:n] in _numbers().counters
            ),
            "",
        )
        return written[: len(written) - len(word)] + (kept or strip_particle(word))
    return written if is_unit else written[: -len(word)].rstrip(" -")


def _scale(written: str, numbers: Numbers) -> float:
    """The factor of one or more scales: 4천억."""
    if written in numbers.scales:
        return numbers.scales[written]
    return math.prod(numbers.scales.get(part, 1.0) for part in written)


def _counted(unit: str) -> str:
    """The word behind a number as what it counts: a plural, or a Korean counter; "" for any other word."""
    word = unit.strip(" -\t\n").casefold()
    if is_hangul(word):
        return next((counter for counter in _numbers().counters if word.startswith(counter)), "")
    return word if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "ous")) and word.isascii() else ""


def unit_of(written: str, *, is_word: bool = False) -> tuple[str, float]:
    """(kind, factor) of the unit behind a number, ("", 1.0) of none; of a Korean word the longest beginning that is one: 14일마다 → 일, or is_word."""
    unit, units = written.strip(" -\t\n").casefold(), _units()
    lengths = range(min(len(unit), 5), 0, -1) if is_hangul(unit) and not is_word else ()
    return next((units[part] for part in (unit, *(unit[:length] for length in lengths)) if part in units), ("", 1.0))


@cache
def _numbers() -> Numbers:
    """The number tables of all languages joined: their words are in different letters."""
    return join_numbers([_IN_ANY, *(language.numbers for language in LANGUAGES.values())])


@cache
def _units() -> dict[str, tuple[str, float]]:
    """A unit as it is written (NFKC, casefolded) → (kind, factor to the kind's base unit)."""
    factors = {symbol: (kind, factor) for kind, symbols in UNITS.items() for symbol, factor in symbols.items()}
    named = {name: factors[names.split()[0]] for names in _numbers().units for name in names.split()}
    return {unicodedata.normalize("NFKC", name).casefold(): unit for name, unit in (factors | named).items()}


@cache
def _digits() -> re.Pattern[str]:
    return re.compile(
        r"(?P<money>[$€£₩])?\s?(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
        rf"(?P<scale>{'|'.join(_numbers().scale)})?(?:st|nd|rd|th)?(?![\d])"
        r"(?P<unit>[\s-]?(?:m/s|km/h|°[cf]|%|[℃℉])|[\s-]?[a-zµ]+(?![a-zµ\d_/])|\s?[가-힣]+)?",
        re.I,
    )


def _names(text: str) -> tuple[str, ...]:
    """Words written as names; the first word of a sentence needs a capital inside or a capitalised word behind it."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        word = re.sub(r"['’]s$|[가-힣].*", "", match.group())  # NaN이
        before = text[: match.start()].rstrip(" \t\"'“‘(*_")
        begins = not before or before[-1] in ".!?:;\n|>#-•。" or before.endswith("]")
        if (
            word.casefold() in STOP_WORDS
            or word.casefold() in NUMBER_WORDS
            or (word.casefold()[:3] in _MONTH_BEGINNINGS and len(word) > 2)
        ):
            continue
        if begins and word.casefold() in _NO_NAMES:
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


def _are_pounds(one: Quantity, other: Quantity) -> bool:
    """True for £4 and four pounds, which may be a weight as well."""
    money, weight = (one, other) if one.kind == "sterling" else (other, one)
    is_said = money.kind == "sterling" and weight.kind == "mass" and re.search(r"pounds?$", weight.written, re.I)
    return bool(is_said) and _is_equal(money.value, weight.value / UNITS["mass"]["lb"])


def missing_facts(claim: Facts, source: Facts) -> tuple[list[str], list[str]]:
    """(numbers, names) of the claim that the source does not hold, as words for a message.

    A quantity with a unit needs an equal one; a bare number may be anywhere in the source, in a date or a time too.
    """
    numbers = [quantity.named() for quantity in claim.quantities if not is_backed(quantity, source)]
    numbers += [
        date.written or "-".join(str(part) for part in (date.year, date.month, date.day) if part is not None)
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


def is_backed(claimed: Quantity, source: Facts) -> bool:
    """True where a quantity of the source backs the claimed one; a bare number may stand in a date too."""
    if any(said.backs(claimed) or _are_pounds(said, claimed) for said in source.quantities):
        return True
    if claimed.counted and any(_is_equal(said.value, claimed.value) for said in source.quantities):
        return False
    return not claimed.kind and any(_is_equal(claimed.value, value) for value in source.bare)


def _is_named(name: str, words: frozenset[str]) -> bool:
    """True for a name that the words hold, with another ending too: Canada and Canadian, Koreans and Korean."""
    if name in words or name.rstrip("s") in words:
        return True
    stem = name[: max(4, len(name) - 3)]
    return len(name) >= 5 and any(word.startswith(stem) and len(word) >= 4 for word in words)
