"""A text → the language it is written in: by its script where one language uses it, else by a model."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

UNKNOWN = "und"

_SAMPLE_CHARS = 3_000
_LEAST_LETTERS = 20  # below this a guess is a coin toss
_LEAST_CONFIDENCE = 0.6  # normalized probability of the model
_LEAST_SHARE = 0.15  # of the letters: a script with fewer is quoted, not written in

# Scripts that one language, or by far mostly one, is written in.
_SCRIPTS = {
    "ko": re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]"),
    "ja": re.compile("[\u3041-\u3096\u30a1-\u30fa]"),
    "th": re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e]"),
    "el": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "ka": re.compile("[\u10a0-\u10ff]"),
    "hy": re.compile("[\u0531-\u0587]"),
    "zh": re.compile("[\u3400-\u9fff]"),
}
_LETTER = re.compile(r"[^\W\d_]")
# English by common words that hardly any other language has: so small a share is enough. The model takes .5 s to load.
_ENGLISH = frozenset("the and that with this from which have their they these would you your when there".split())
_LEAST_ENGLISH = 0.07
_LEAST_WORDS = 20
_WORD = re.compile(r"[^\W\d_]+")
# Code, addresses and markup say nothing about the language. Lengths are bounded: without that, text that has no blanks
# (Chinese, or one letter a million times) took five seconds.
_NO_PROSE = re.compile(
    r"```.*?(?:```|\Z)|<[^<>\n]{1,200}>|https?://\S+|`[^`\n]*`|\S{1,80}@\S+|\S{0,80}[\w)]\([^)\n]{0,80}\)\S*"
    r"|\S{0,80}[_/\\={}$#@|<>]\S*|\d+",
    re.DOTALL,
)


def detect_language(text: str, declared: str | None = None) -> str:
    """The BCP 47 primary tag of a text's language; "und" where it is too short, or the guess too unsure.

    declared  the language the document states; it is not checked
    Reads at most about 3,000 characters of prose: a later change of language is not seen.
    """
    if declared:
        return declared
    prose = " ".join(_NO_PROSE.sub(" ", _sample(text)).split())[:_SAMPLE_CHARS]
    letters = len(_LETTER.findall(prose))
    by_script = _by_script(prose, letters)
    if by_script:
        return by_script
    if letters < _LEAST_LETTERS:
        return UNKNOWN
    if is_plain_english(prose):
        return "en"
    language, probability = _identifier().classify(prose)
    # The model says "zxx" for a text in no language.
    return str(language) if probability >= _LEAST_CONFIDENCE and language != "zxx" else UNKNOWN


def _sample(text: str) -> str:
    """Enough of a text to find its prose in: its beginning, and where that is all code, its middle."""
    limit = 4 * _SAMPLE_CHARS
    if len(text) <= 2 * limit:
        return text
    return text[:limit] + "\n" + text[len(text) // 2 : len(text) // 2 + limit]


def _by_script(prose: str, letters: int) -> str | None:
    counts = {language: len(pattern.findall(prose)) for language, pattern in _SCRIPTS.items()}
    # Japanese is written with more Han than kana, but Chinese is written with no kana; Korean may hold some of either.
    if counts["ja"] and counts["ja"] + counts["zh"] >= max(_LEAST_SHARE * letters, 2):
        return "ja" if counts["ja"] * 20 >= counts["zh"] and counts["ja"] + counts["zh"] > counts["ko"] else None
    language = max(counts, key=lambda name: counts[name])
    is_enough = counts[language] >= max(_LEAST_SHARE * letters, 2)
    return language if is_enough and counts[language] * 2 >= _LEAST_SHARE * letters else None


def is_plain_english(prose: str) -> bool:
    """Whether so many of the words are English that no model need be asked."""
    words = _WORD.findall(prose.lower())
    return len(words) >= _LEAST_WORDS and sum(map(_ENGLISH.__contains__, words)) >= _LEAST_ENGLISH * len(words)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
