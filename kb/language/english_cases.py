"""English: how a question tells of one case, and how a text rules such cases. Tables only.

"Is it open on Tuesday?" is ruled by "Wednesday to Sunday", and "My son is 5" by "under 6".
"""

from __future__ import annotations

from collections.abc import Mapping

from kb.language.interface import PatternKind

_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b)"
# "May 15 visitors come?" is no date.
_MONTH_NAMED = _MONTH.replace("march|april|may", r"(?-i:March|(?<=\w )May)|april").replace("mar|apr", "(?-i:Mar)|apr")
_DAY_OF_MONTH = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d)"
_TO = r"\s?(?:to|until|till|through|thru|[-–—])\s?"
_CLOCK = r"(?:\d{1,2}[:.]\d\d(?:\s?[ap]\.?m)?|\d{1,2}\s?[ap]\.?m|noon|midnight)"
_FROM_OR_TO = r"(?:from|since|after|before|by|until|till|up to|as of)"
_PEOPLE = r"(?:people|persons|guests|visitors|adults|participants|passengers|students|pupils|children|kids|of us)"
_AGE = r"(?:1[01]\d|\d{1,2})(?!\d|[.,:]\d)"
_OVER_OR_UNDER = r"(?:under|over|from|below|above|up to|at least|at most|older than|younger than|aged?|ages|between)"
_AGED = r"\b(?:child(?:ren)?|kids?|adults?|seniors?|youths?|teenagers?|ages?|aged|people|persons|passengers|pupils|visitors|anyone|those)\b"
_KIN = r"(?:son|daughter|child|kid|boy|girl|mother|father|mum|mom|dad|grand\w+|brother|sister|wife|husband|friend|parents?|nephew|niece|he|she|they|i)"

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
    "case_age": (
        rf"\b\d{{1,3}}[- ]years?[- ]olds?\b"
        rf"|\b{_KIN}(?:['’](?:s|m|re)| is| am| are| turns| turned)\s(?:only |just |already )?{_AGE}\b(?!\s?(?:%|[a-z]+s\b))"
    ),
    "rule_age": (
        rf"{_AGED}[^.\n]{{0,40}}\b{_OVER_OR_UNDER}\s{_AGE}\b|\b{_OVER_OR_UNDER}\s{_AGE}\s(?:years|\(|or)|{_AGED}[^.\n]{{0,12}}{_AGE}\s?(?:to|[-–—])\s?{_AGE}"
        rf"|\b{_AGE}\s?(?:to|[-–—])\s?{_AGE}\s?years|\b(?:from|under|over) {_AGE}\)|\({_AGE}\s?(?:to|[-–—])\s?{_AGE}\)|\byears of age|\b{_AGE} (?:years )?(?:or|and) (?:over|older|under|younger)"
    ),
    "case_people": rf"\b\d{{1,4}}\s{_PEOPLE}\b",
    "rule_people": r"\b(?:groups?|parties|party|classes|class|families|family)\s(?:of|larger than|smaller than|over|under|up to|from|with)\s[^.\n\d]{0,20}\d{1,3}(?!\d)",
    # What has been is no case of a rule, nor is it asked who or why.
    "no_case": (
        r"^(?:was|were|did)\b|\b(?:what|when|where|which|how(?: many| much| long| often)?)\s(?:\w+\s){0,2}(?:was|were|did|had)\b|\bhappened\b|\bwhy\b"
        r"|\bwho\b(?! (?:to|may|must|can|has|pays?|decides?|approves?|needs?|signs?)\b)"
    ),
}
