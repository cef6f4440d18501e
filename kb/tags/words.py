"""A phrase or a tag in the forms that are compared: normalized, as a lookup, as a key, as words. Pure.

Two spellings of one tag have one key: case, width and the kind of white space do not count. Folded keys are coarser: a
hyphen becomes an underscore, so that the phrase "machine learning" finds the tag "machine-learning".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from kb.text import STOP_WORDS

# Words that end a phrase without being its topic: "state of the art" has the head "art", "what it is for" has none.
FUNCTION_WORDS = STOP_WORDS | {"too", "up"}
# A head noun shorter than this is more often a particle than a topic; one syllable or sign of these scripts says more.
MIN_HEAD_CHARS = 3
MIN_DENSE_HEAD_CHARS = 2
FIRST_DENSE = "\u1100"  # Hangul jamo; kana, Han and Hangul syllables stand above it

_SEPARATORS = re.compile(r"[-_\s./·‐-―]+")
_HYPHENS = re.compile(r"[-_‐-―]+")


def normalize_phrase(text: str) -> str:
    """Lower case, underscores as spaces, white space trimmed and collapsed; NFKC; no lone surrogates.

    >>> normalize_phrase("Big__Shirt ")
    'big shirt'
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())
    return " ".join(plain.lower().replace("_", " ").split())


def lookup_of(normalized: str) -> str:
    """The form under which a phrase is looked up: spaces as underscores."""
    return normalized.replace(" ", "_")


def key_of(tag: str) -> str:
    """What two spellings of one tag share: normalized, as a lookup."""
    return lookup_of(normalize_phrase(tag))


def fold(key: str) -> str:
    """A key with hyphens as underscores.

    >>> fold("machine-learning")
    'machine_learning'
    """
    if key.isascii() and "-" not in key:
        return key.strip("_") or key
    return _HYPHENS.sub("_", key).strip("_") or key


def split_words(key: str) -> list[str]:
    """The words of a key: between spaces, hyphens, underscores, dots and slashes.

    >>> split_words("asp.net-core_mvc")
    ['asp', 'net', 'core', 'mvc']
    """
    return [word for word in _SEPARATORS.split(key) if word]


def is_sayable(phrase: str) -> bool:
    """True when a phrase has a letter or a digit of any script."""
    return any(c.isalnum() for c in phrase)


def expand_phrases(phrases: Iterable[str]) -> list[str]:
    """Phrases normalized, without repeats, in first-seen order; then the head nouns of those with several words.

    An empty phrase is left out. A head noun is the last word, if it is long enough and not a function word. A phrase whose
    words are joined by underscores is one token, a name that somebody looks up, and has no head noun.

    >>> expand_phrases(["Big  Shirt ", "grey shirt", "GREY SHIRT"])
    ['big shirt', 'grey shirt', 'shirt']
    """
    own: dict[str, bool] = {}
    for phrase in phrases:
        normalized = normalize_phrase(phrase)
        own[normalized] = own.get(normalized, False) or len(phrase.split()) > 1
    own.pop("", None)
    heads = [phrase.rsplit(" ", 1)[1] for phrase, is_spaced in own.items() if is_spaced and " " in phrase]
    return list(dict.fromkeys([*own, *(head for head in heads if _is_head(head))]))


def _is_head(word: str) -> bool:
    least = MIN_DENSE_HEAD_CHARS if max(word) >= FIRST_DENSE else MIN_HEAD_CHARS
    return len(word) >= least and word not in FUNCTION_WORDS
