"""English: how a question tells of one case, and how a text rules such cases. Tables only.

"Is it open on Tuesday?" is ruled by "Wednesday to Sunday", and "My son is 5" by "under 6".
"""

from __future__ import annotations

from collections.abc import Mapping

from kb.language.interface import PatternKind

_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b)"
_MONTH_NAMED = _MONTH.replace("march|april|may", "(?-i:March|May)|april").replace("mar|apr", "(?-i:Mar)|apr")
_DAY_OF_MONTH = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d)"
_TO = r"\s?(?:to|until|till|through|thru|[-–—])\s?"
_CLOCK = r"(?:\d{1,2}[:.]\d\d(?:\s?[ap]\.?m)?|\d{1,2}\s?[ap]\.?m|noon|midnight)"
_FROM_OR_TO = r"(?:from|since|after|before|by|until|till|up to|as of)"
_PEOPLE = r"(?:people|persons|guests|visitors|adults|participants|passengers|students|pupils|children|kids|of us)"
_OVER_OR_UNDER = r"(?:under|over|from|below|above|up to|at least|at most|older than|younger than|aged?|ages|between)"

CASE_PATTERNS: Mapping[PatternKind, str] = {
    # The sun is no day, and "may" and "march" no months.
    "case_weekday": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    "rule_weekday": (
        rf"\b{_DAY}s?{_TO}{_DAY}s?\b|\b{_DAY}s?(?:,| and| or|/)\s?{_DAY}s?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b"
        r"|\b(?:daily|every day|each day|weekdays?|weekends?|seven days|all week)\b"
    ),
    "case_date": rf"\b(?:{_DAY_OF_MONTH}\s(?:of\s)?)?{_MONTH_NAMED}(?:\s{_DAY_OF_MONTH})?\b",
    "rule_date": (
        rf"\b{_MONTH}(?:\s{_DAY_OF_MONTH})?{_TO}(?:{_DAY_OF_MONTH}\s)?{_MONTH}|\b{_DAY_OF_MONTH}{_TO}{_DAY_OF_MONTH}\s{_MONTH}"
        rf"|\b{_MONTH}\s{_DAY_OF_MONTH}{_TO}{_DAY_OF_MONTH}\b|\b{_FROM_OR_TO}\s(?:{_DAY_OF_MONTH}\s(?:of\s)?)?{_MONTH}"
        rf"|\bbetween\s(?:{_DAY_OF_MONTH}\s)?{_MONTH}"
        r"|\ball year|\byear[- ]round"
    ),
    "case_clock": rf"\b{_CLOCK}\b",
    "rule_clock": rf"\b{_CLOCK}{_TO}{_CLOCK}|\b{_FROM_OR_TO}\s{_CLOCK}|\bbetween\s{_CLOCK}\sand\s{_CLOCK}",
    "case_age": r"\b\d{1,3}[- ]years?[- ]olds?\b|\b(?:am|is|are|turns|turned|aged?)\s\d{1,3}(?=\s*(?:[,.?!;]|and\b|$))",
    "rule_age": (
        rf"\b{_OVER_OR_UNDER}\s\d{{1,3}}\b(?!\s?(?:%|[a-z]*(?:hour|minute|day|month|euro|pound|metre|meter|km|kg)))"
        r"|\b\d{1,3}\s?(?:to|[-–—])\s?\d{1,3}\s?(?:\)|years)|\byears of age|\b\d{1,3} (?:years )?(?:or|and) (?:over|older|under|younger)"
    ),
    "case_people": rf"\b\d{{1,4}}\s{_PEOPLE}\b",
    "rule_people": r"\b(?:groups?|parties|party|classes|class|families|family)\s(?:of|larger than|smaller than|over|under|up to|from|with)\s[^.\n]{0,20}\d",
}
