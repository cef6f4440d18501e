"""Text → the tokens that are indexed and queried (one analyzer for both), its sentences, its length in tokens.

Knows no index, encoder or language model. Every offset is a character offset into the string that was given.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

# Raise when a token changes: indexes built by another version are rebuilt.
ANALYZER_VERSION = 3

# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul. Their runs become bigrams.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
# Marks that belong to the word before them but are no \w: Latin accents, Hebrew and Arabic points, the Indic blocks.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
# 7,000 and 1,250.50, as one word.
_GROUPED = r"(?<!\w)\d{1,3}(?:,\d{3}){1,6}+(?:\.\d++)?+(?!,?\d)"
_ASCII_WORD = re.compile(rf"{_GROUPED}|[A-Za-z](?:\+\+|#)(?![A-Za-z_+#])|\w+(?:['._]\w+)*", re.ASCII)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_PLAIN = re.compile(r"[a-z']+|\d+")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
# Behind the title of a heading in Markdown, `{ #features .wide }` or `{ id="1.2" }`: no words of it.
HEADING_ANCHOR = r"\s*\{\s*(?:[#.:]|[\w-]+=[\"'])[^{}]*\}"
# A longer stretch without a space is not met again.
MOST_KNOWN_CHARS = 60
# The last letters of a short stem that may not stand in the word.
_CHANGED = ("e", "i", "y", "l")


@cache
def _words() -> re.Pattern[str]:
    """Words of any script. Compiled when the first text needs it: the classes take 5 ms, and most queries are ASCII."""
    return re.compile(rf"{_GROUPED}|[A-Za-z](?:\+\+|#)(?![A-Za-z_+#])|[\w{_MARKS}]+(?:['’._][\w{_MARKS}]+)*")


@cache
def _grouped() -> re.Pattern[str]:
    """Numbers in groups: a query means the whole, 10,000 and 7,000 have a group in common."""
    return re.compile(_GROUPED)


@cache
def _runs() -> re.Pattern[str]:
    """Stretches of one word with and without spaces between words."""
    return re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}._]+")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(rf"[{_UNSPACED}]")


def _has_unspaced(text: str) -> bool:
    return not text.isascii() and _unspaced().search(text) is not None


# The shortest list that helps BM25 on questions: function words and question words, no word with a topic of its own.
STOP_WORDS = frozenset(
    "a about an and any are as at be been but by can could did do does for from had has have he her his how i if in into "
    "is it its may me my no not of on or our shall she should so such than that the their them then there these they this "
    "those to us was we were what when where which while who whom whose why will with would you your".split()
)

_ABBREVIATIONS = frozenset(
    "e.g i.e etc vs cf al fig figs eq eqs no nos vol pp p ch sec dr mr mrs ms prof st jr sr inc ltd co corp approx dept est".split()
)
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
# What begins a sentence more often than it goes on behind an abbreviation.
_OPENS_SENTENCE = re.compile(
    r"[\n\"“]|(?:The|A|An|It|Its|In|On|At|By|He|She|They|His|Her|Their|We|You|I|This|That|These|Those|There|But|And|However|If|When"
    r"|While|After|As|For|From|With)\b"
)
# Possessive, and never begun inside a run of stops: a megabyte of "!" would be tried from each of them.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_`]*+(?=\s)|[。！？]+[」』”’）]*|\n[ \t]*\n\s*")


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


# One entry per distinct word form met in this process; an index build meets each form thousands of times.
_known_words: dict[str, tuple[str, ...]] = {}


def analyze(text: str) -> list[str]:
    """The index terms of a text, in order: NFKC, casefolded, stemmed; identifiers whole and split; CJK as bigrams.

    >>> analyze("Reading parse_config, HTTPServer")
    ['read', 'parse_config', 'pars', 'config', 'httpserver', 'http', 'server']
    >>> analyze("self.best_possible")
    ['self.best_possible', 'best_possible', 'self', 'best', 'possibl']
    >>> analyze("소유권이란")
    ['소유', '유권', '권이', '이란']
    >>> analyze("DVDs: 7,000 €")
    ['dvd', '7000', '7', '000']
    """
    terms: list[str] = []
    for word in find_words(text):
        found = _known_words.get(word)
        if found is None:
            found = tuple(_word_terms(word))
            if len(_known_words) < 1_000_000:
                _known_words[word] = found
        terms.extend(found)
    return terms


def analyze_query(text: str) -> list[str]:
    """The distinct terms of a query in first-seen order; stop words are dropped unless nothing else is left."""
    return list(dict.fromkeys(query_terms(text)))


def query_terms(text: str) -> list[str]:
    """The terms of a query in order, repeats included; stop words are dropped unless nothing else is left.

    >>> query_terms("flow past a wing and flow over it")
    ['flow', 'past', 'wing', 'flow', 'over']
    >>> query_terms("over 7,000 €")
    ['over', '7000']
    """
    terms = analyze(_grouped().sub(lambda number: number[0].replace(",", ""), text))
    return [t for t in terms if t not in _stop_terms()] or terms


@cache
def _stop_terms() -> frozenset[str]:
    return STOP_WORDS | frozenset(_stemmer().stemWords(list(STOP_WORDS)))


def find_words(text: str) -> list[str]:
    """The words of a text as `analyze` meets them, in order, NFKC applied.

    >>> find_words("What is parse_config in FastAPI에서?")
    ['What', 'is', 'parse_config', 'in', 'FastAPI에서']
    """
    return _ASCII_WORD.findall(text) if text.isascii() else _words().findall(unicodedata.normalize("NFKC", text))


def _word_terms(word: str) -> list[str]:
    folded = word.casefold().replace("’", "'")
    if _PLAIN.fullmatch(folded) and (word[1:].islower() or len(word) < 3 or word.isupper() or word.isdigit()):
        return [_stem(folded)]
    if _ACRONYMS.fullmatch(word):  # the stemmer leaves an s that no vowel stands before
        return [_stem(folded[:-1])]
    if "," in word:  # and the groups, since 255,255,255 may be three numbers
        whole = word.replace(",", "")
        return [*dict.fromkeys((whole, whole.partition(".")[0])), *word.split(",")]
    if word[-1] in "+#":
        return [folded, folded[0]]
    if _has_unspaced(word):
        return [t for run in _runs().findall(word) for t in _run_terms(run)]
    whole = folded.strip("_.'")
    parts: list[str] = []
    names: list[str] = []
    for name in word.split("."):
        split = [part for piece in name.split("_") for part in _split_camel(piece)]
        parts += split
        names += [name.casefold().strip("_'")] if len(split) > 1 else []
    wholes = dict.fromkeys([whole, *names])
    return [*wholes, *parts] if len(parts) > 1 else [_stem(whole)] if whole else []


def _run_terms(run: str) -> list[str]:
    if not _unspaced().match(run):
        return _word_terms(run)
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _split_camel(piece: str) -> list[str]:
    if not piece.isascii() or "'" in piece:
        return [_stem(piece.casefold())] if piece else []
    return [_stem(part.lower()) for part in _CAMEL.findall(piece)]


def _stem(word: str) -> str:
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


def match_spans(text: str, terms: frozenset[str]) -> list[tuple[int, int]]:
    """Where any of the index terms stands in a text: [start, end) offsets in order, not overlapping."""
    spans: list[tuple[int, int]] = []
    known = _known_stretches(terms)
    for at, stretch in _stretches_near(text, terms):
        inside = known.get(stretch)
        if inside is None:
            inside = _spans_in_stretch(stretch, terms)
            if len(stretch) <= MOST_KNOWN_CHARS:
                known[stretch] = inside
        for start, end in inside:
            spans.append((at + start, at + end))
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _stretches_near(text: str, terms: frozenset[str]) -> list[tuple[int, str]]:
    """What stands between spaces and may hold one of the terms, in order, with the places where it begins.

    Only where a term's root is, and a word or a part of a name may begin: of a passage of 900 characters this takes a tenth of
    the time that all of its words take.
    """
    folded = text.casefold()
    if not text.isascii():
        folded = folded.replace("’", "'").replace("…", " ").replace("\xa0", " ")
        if len(folded) != len(text) or not unicodedata.is_normalized("NFKC", folded):
            return [(0, text)]  # other characters than the terms', or at other places
    places: list[int] = []
    for root in _roots(terms):
        at = folded.find(root)
        while at >= 0:
            if not ("a" <= text[at] <= "z" and at and "a" <= text[at - 1] <= "z"):
                places.append(at)
            at = folded.find(root, at + 1)
    places.sort()
    found: list[tuple[int, str]] = []
    end = 0
    for at in places:
        if at >= end:
            start = text.rfind(" ", 0, at) + 1
            end = text.find(" ", at)
            if end < 0:
                end = len(text)
            found.append((start, text[start:end]))
    return found


def _spans_in_stretch(stretch: str, terms: frozenset[str]) -> tuple[tuple[int, int], ...]:
    pattern = _ASCII_WORD if stretch.isascii() else _words()
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(stretch):
        word = match.group()
        if not terms.isdisjoint(_known_words.get(word) or analyze(word)):
            spans.extend(_spans_in_word(word, match.start(), terms))
    return tuple(spans)


@lru_cache(maxsize=4)
def _known_stretches(terms: frozenset[str]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Where the terms are in each stretch that was met: the hits of a query share most of their words."""
    return {}


@lru_cache(maxsize=4)
def _roots(terms: frozenset[str]) -> tuple[str, ...]:
    """What every word with one of the terms holds, in small letters.

    The stemmer may change the last letter of what it leaves (y to i, an e put on, "ility" to "l"), and "dying" to "die".
    """
    roots = {term[:-1] if len(term) > 4 or (len(term) > 1 and term[-1] in _CHANGED) else term for term in terms}
    roots |= {f"{term[:-2]}y" for term in terms if term.endswith("ie")}
    # 7000 may stand there as 7,000.
    roots |= {f"{term[: (len(term) - 1) % 3 + 1]}," for term in terms if term.isdecimal() and len(term) > 3}
    return tuple(roots - {""})


def _spans_in_word(word: str, offset: int, terms: frozenset[str]) -> list[tuple[int, int]]:
    if not _has_unspaced(word):
        return [(offset, offset + len(word))]
    spans = []
    for run in _runs().finditer(word):
        if not _unspaced().match(run.group()) or len(run.group()) < 3:
            if not terms.isdisjoint(analyze(run.group())):
                spans.append((offset + run.start(), offset + run.end()))
            continue
        for i in range(run.start(), run.end() - 1):
            if word[i : i + 2] in terms:
                spans.append((offset + i, offset + i + 2))
    return spans


# So much before a number is looked at, to see whether it begins its line: all of a line of megabytes, at every stop in
# it, would take hours.
_INDENT_CHARS = 100


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of a text as [start, end) offsets without the white space around them; blank lines end one too."""
    spans: list[tuple[int, int]] = []
    start = counted = ticks = 0
    for match in _SENTENCE_END.finditer(text):
        ticks += text.count("`", counted, match.start())
        counted = match.start()
        if not match.group().isspace() and (
            ticks % 2  # `vec!` and `a. b` are code, not ends
            or _is_inner_stop(text, match.start(), match.end())
        ):
            continue
        start = counted = _add_trimmed(spans, text, start, match.end())
        ticks = 0
    _add_trimmed(spans, text, start, len(text))
    return spans


def _is_inner_stop(text: str, dot: int, end: int) -> bool:
    """True for the dot of an abbreviation, an initial or a numbered list, and before a lower-case continuation."""
    if text[dot] != ".":
        return False
    before = re.search(r"[\w.]+$", text[max(0, dot - 12) : dot])
    word = before.group().lower() if before else ""
    before_word = text[max(0, dot - len(word) - _INDENT_CHARS) : dot - len(word)]
    at_line_start = not before_word[before_word.rfind("\n") + 1 :].strip()
    is_unit = text[dot - len(word) - 1 : dot - len(word)] in ("/", "·", "°")  # 12 m/s and 5 °C, no initials
    is_initial = len(word) == 1 and word.isalpha() and not is_unit
    if word in _ABBREVIATIONS or is_initial or (word.isdigit() and at_line_start):
        return True
    following = text[end : end + 80].lstrip(" \t")
    if _INITIALS.fullmatch(word):  # "U.S. Army" goes on, "in the U.S. The" ends
        return end - dot == 1 and bool(following) and not _OPENS_SENTENCE.match(following)
    after = following[:1]
    return after.islower() and end - dot == 1 and "\n" not in text[end : end + 2]


def _add_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> int:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left < len(piece):
        spans.append((start + left, start + len(piece.rstrip())))
    return end


def estimate_tokens(text: str) -> int:
    """Length of a text in tokens of some language model, rounded up to be on the safe side.

    Four characters a token in ASCII prose, one token a character in scripts without spaces, two characters elsewhere:
    measured tokenizers stay below it on prose, and a prompt that is cut is worse than one that is a little short.
    """
    if text.isascii():
        return -(-len(text) // 4)
    unspaced = len(_unspaced().findall(text))
    plain = sum(1 for c in text if c < "\x80")
    return -(-plain // 4) + unspaced + -(-(len(text) - plain - unspaced) // 2)


def count_unspaced(text: str) -> int:
    """How many characters of a text belong to scripts that are written without spaces, Korean included."""
    return 0 if text.isascii() else len(_unspaced().findall(text))
