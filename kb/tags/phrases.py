"""A text → the phrases it is about: the tags it mentions, and its key phrases by TF-IDF over the corpus. Pure.

The same text always gives the same phrases. A phrase is a run of up to three words without punctuation or function words
between them; a Korean particle is cut off where the rest is a tag.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from kb.tags.vocabulary import Vocabulary
from kb.tags.words import FUNCTION_WORDS, expand_phrases, lookup_of, normalize_phrase
from kb.text import analyze

# terms of the lexical index → (the number of chunks with each term, the number of all chunks)
Frequencies = Callable[[Sequence[str]], tuple[list[int], int]]

MAX_WORDS = 3
# A tag of one or two letters ("c", "go", "r") is named only where it begins with a capital: "written in C".
MIN_MENTION_CHARS = 3
# A word this short says little unless it is written in capitals.
MIN_WORD_CHARS = 3
MAX_TEXT_CHARS = 400_000
MAX_PARTICLE_CHARS = 2
MIN_STEM_CHARS = 2

_RUN = re.compile(
    r"[^\s,;:!?()\[\]{}<>\"“”«»|…。、，；：！？（）「」『』*`=~^\\]+(?:[ \t]+[^\s,;:!?()\[\]{}<>\"“”«»|…。、，；：！？（）「」『』*`=~^\\]+)*"
)
_MARKUP = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_EDGES = re.compile(r"^[^\w]+|[^\w+#]+$")
_HANGUL = re.compile("[\uac00-\ud7a3]{3,}")
_PLACE = re.compile(r"[/\\@]|^\d+([.:]\d+)*$")


def key_phrases(
    text: str, vocabulary: Vocabulary, frequencies: Frequencies, most: int, titles: Iterable[str] = ()
) -> list[str]:
    """Up to `most` mentions of the vocabulary and `most` key phrases, each by weight; normalized, without repeats.

    titles  title and headings; their phrases count three times
    """
    runs = _runs(_MARKUP.sub(" | ", text[:MAX_TEXT_CHARS]))
    runs += [words for title in titles for words in _runs(title) for _ in range(3)]
    counts: Counter[str] = Counter()
    mentions: Counter[str] = Counter()
    for words in runs:
        _count(words, counts, mentions, vocabulary)
    rarity = _rarities([*counts, *mentions], frequencies)
    named = _best(mentions, rarity, most)
    return list(dict.fromkeys([*named, *_without_parts(_best(counts, rarity, 3 * most), most)]))


def _runs(text: str) -> list[list[str]]:
    """Runs of words between punctuation, each word as it is written."""
    runs = []
    for line in text.split("\n"):
        for match in _RUN.finditer(line):
            words: list[str] = []
            for raw in match.group().split():
                word = _EDGES.sub("", raw)
                if word:
                    words.append(word)
                if not word or raw[-1] in ".'" or _PLACE.search(word):
                    runs.append(words[:-1] if word and _PLACE.search(word) else words)
                    words = []
            runs.append(words)
    return [words for words in runs if words]


def _count(words: Sequence[str], counts: Counter[str], mentions: Counter[str], vocabulary: Vocabulary) -> None:
    """Every run of up to three of the words, as a phrase and as a name of a tag."""
    lower = [normalize_phrase(word) for word in words]
    for i in range(len(words)):
        for size in range(1, min(MAX_WORDS, len(words) - i) + 1):
            inner = lower[i : i + size]
            phrase = " ".join(inner)
            for name in _names(phrase, words[i]):
                if vocabulary.project(lookup_of(name)):
                    mentions[name] += 1
                    break
            if not any(_is_empty(word) for word in inner) and (size > 1 or _says_much(words[i])):
                counts[phrase] += 1


def _names(phrase: str, written: str) -> list[str]:
    """The names by which the vocabulary may have a phrase: the phrase; a Korean word without its particle."""
    if phrase in FUNCTION_WORDS:
        return []
    if len(phrase) < MIN_MENTION_CHARS and phrase.isascii() and not written[:1].isupper():
        return []
    names = [phrase]
    if _HANGUL.search(phrase[-3:]):
        names += [phrase[:-n] for n in range(1, MAX_PARTICLE_CHARS + 1) if len(phrase) - n >= MIN_STEM_CHARS]
    return names


def _is_empty(word: str) -> bool:
    is_letter = len(word) == 1 and word.isascii()
    return is_letter or word in FUNCTION_WORDS or not any(c.isalpha() for c in word)


def _says_much(word: str) -> bool:
    return len(word) >= MIN_WORD_CHARS or not word.isascii() or word.isupper()


def _rarities(phrases: Sequence[str], frequencies: Frequencies) -> dict[str, float]:
    """The mean idf of each phrase's terms: ln((1 + n) / (1 + df)) + 1, over the corpus's chunks."""
    terms = {phrase: analyze(phrase) for phrase in dict.fromkeys(phrases)}
    distinct = sorted({term for listed in terms.values() for term in listed})
    found, total = frequencies(distinct)
    idf = {term: math.log((1 + total) / (1 + n)) + 1 for term, n in zip(distinct, found, strict=True)}
    return {p: sum(idf[t] for t in listed) / len(listed) if listed else 1.0 for p, listed in terms.items()}


def _best(counts: Counter[str], rarity: dict[str, float], most: int) -> list[str]:
    """The phrases of greatest weight; a phrase of several words must be repeated to outweigh its words."""

    def weight(phrase: str) -> float:
        words = phrase.count(" ") + 1
        again = counts[phrase] if words == 1 else counts[phrase] ** 1.5 * 0.9
        return (1 + math.log(max(again, 1.0))) * rarity[phrase]

    return sorted(counts, key=lambda phrase: (-weight(phrase), phrase))[:most]


def _without_parts(phrases: Sequence[str], most: int) -> list[str]:
    """The first `most` phrases, without those that are part of one before them."""
    kept: list[str] = []
    for phrase in phrases:
        if not any(f" {phrase} " in f" {other} " for other in kept):
            kept.append(phrase)
        if len(kept) == most:
            break
    return kept


def query_phrases(query: str) -> list[str]:
    """A search's query as phrases: each run of up to three words without function words, and the words.

    >>> query_phrases("how to train machine learning models")
    ['train machine learning', 'machine learning models', 'train machine', 'machine learning', 'learning models', 'train', 'machine', 'learning', 'models']
    """
    found: list[str] = []
    for words in _runs(query):
        stretch: list[str] = []
        for word in [*(normalize_phrase(w) for w in words), ""]:
            if word and not _is_empty(word):
                stretch.append(word)
                continue
            found += [
                " ".join(stretch[i : i + size])
                for size in range(MAX_WORDS, 0, -1)
                for i in range(len(stretch) - size + 1)
            ]
            stretch = []
    return [phrase for phrase in expand_phrases(found) if phrase in found]
