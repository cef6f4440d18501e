"""A sentence → its words with their stems and roles, and its clauses; which words say the same, and which the opposite. Pure.

English words are compared by their stems. A Korean word is split into its stem and the particle that tells its role; verbs
are compared by their beginnings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from kb.frozen import dataclass
from kb.language import english_contrasts, english_synonyms, korean_contrasts
from kb.language.english import LIGHT_WORDS
from kb.language.korean_particles import fitting_particle, is_hangul
from kb.text import STOP_WORDS, analyze

_WORD = re.compile(r"[A-Za-z_][\w.+-]*?[가-힣]+|[A-Za-zÀ-ɏ][\wÀ-ɏ'’.-]*[\wÀ-ɏ]|[A-Za-zÀ-ɏ]|\d[\d,.]*\d|\d|[가-힣]+")
_ENGLISH_CLAUSE = re.compile(
    r"\s*(?:[;—()]|:(?!\d))\s*|\s+[–-]\s+|,\s+(?=(?:and|but|which|who|whose|while|whereas|although|though|because|so|where|when|since|then|or|until|after|before|if|unless|assuming|provided)\b)"
    r"|\s+(?=(?:but|while|whereas|although|because|which|whose|unless)\b)",
    re.I,
)
# "When it rains, …": the clause that stands first ends at its comma.
_OPENED = re.compile(
    r"((?:When|If|After|Before|While|Although|Though|Because|Since|As|Once|Unless)\s[^,;:]{8,}),\s+(?=\S+\s+\S+)"
)
_KOREAN_CLAUSE = re.compile(r",\s+|(?<=[가-힣]{2}[고며])\s+|(?<=지만)\s+|(?<=는데)\s+|(?<=므로)\s+|(?<=면서)\s+")
# Particles by what they tell of the word before them; the longest first.
_ROLES = {
    "source": "에게서 한테서 으로부터 로부터 에게서는",
    "goal": "에게 한테 께 에게는 한테는 에게도",
    "than": "보다 보다는 보다도",
    "object": "을 를",
    "subject": "이 가 은 는 께서 께서는",
    "other": "에서는 에서도 에서만 에서부터 에선 으로는 으로만 로만 에만 부터는 까지는 까지만 까지도 에서 으로 까지 부터 처럼 마다 에는 에도 에 로 의 와 과 도 만 이나 나 이라는 라는 이란 란",
}
_PARTICLES = sorted(((p, role) for role, listed in _ROLES.items() for p in listed.split()), key=lambda x: -len(x[0]))
_TAILS = frozenset(_PARTICLES)
# They only look as if they ended in a particle.
_WHOLE = frozenset("그러나 그러니 그러니까 그러므로 하지만 그렇지만".split())
# Marks that set a word off, or a stem from its particle; not underscores inside a word.
_EMPHASIS = re.compile(r"(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|\*+(?=[가-힣])|`(?=[가-힣])")
_HANGUL_ON = re.compile("[가-힣].*", re.S)
_NEGATIVE = re.compile(r"^(?:un|in|im|il|ir|non|dis|mis)-?(?=[a-z]{4})")
_KOREAN_NEGATIVE = ("불", "비", "미", "무", "부", "반")
MOST_SHOWN_CHARS = 60
# Words of a sentence that frame it and tell nothing.
_FRAMES = frozenset(
    "documents document documentation passage passages evidence text according based source sources".split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a sentence.

    key    its stem; of a Korean word what is left without its particle
    role   of a Korean noun: subject, object, goal, source, than, other; "" elsewhere
    place  its number among the sentence's words
    """

    text: str
    key: str
    role: str
    place: int
    is_name: bool
    is_content: bool


@lru_cache(maxsize=8192)
def words_of(sentence: str) -> tuple[Word, ...]:
    """Every word of a sentence, in order."""
    found = []
    plain = _EMPHASIS.sub("", unicodedata.normalize("NFC", sentence))
    for place, match in enumerate(_WORD.finditer(plain)):
        text = match.group().rstrip(".'’-")
        low = text.lower()
        if is_hangul(text[-1:]):
            tail = re.search("[가-힣]+$", text)
            key, role = split_particle(text)
            if tail and tail.start() and (tail[0], role) in _TAILS:  # FastAPI를
                key = (analyze(text[: tail.start()].lower()) or [text])[0]
            found.append(Word(text, key, role, place, False, True))
            continue
        bare = re.sub(r"['’]s$", "", low)
        key = bare if bare[:1].isdigit() else (analyze(bare) or [bare])[0]
        is_content = bare not in STOP_WORDS and bare not in LIGHT_WORDS and bare not in _FRAMES
        found.append(Word(text, key, "", place, text[:1].isupper() and place > 0, is_content))
    return tuple(found)


def split_particle(word: str) -> tuple[str, str]:
    """(stem, role) of a Korean word; the role of a word without a particle is "".

    >>> split_particle("손자에게"), split_particle("재단이"), split_particle("팔았다")
    (('손자', 'goal'), ('재단', 'subject'), ('팔았다', ''))
    """
    for particle, role in () if word in _WHOLE else _PARTICLES:
        stem = word[: -len(particle)]
        if word.endswith(particle) and len(stem) >= (1 if len(particle) > 1 else 2):
            if (
                particle in ("은", "는", "이", "가", "을", "를", "과", "와")
                and is_hangul(stem[-1])
                and fitting_particle(stem, particle) != particle
            ):
                continue
            return stem, role
    return word, ""


@lru_cache(maxsize=4096)
def clauses_of(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence, in order; the sentence itself where it has one."""
    if opened := _OPENED.match(sentence):
        return (opened[1], *clauses_of(sentence[opened.end() :]))
    cut = _KOREAN_CLAUSE if re.search("[가-힣]", sentence) else _ENGLISH_CLAUSE
    parts = [part.strip(" ,") for part in cut.split(sentence) if part and part.strip(" ,.")]
    return tuple(parts) or (sentence,)


def content_of(sentence: str) -> list[Word]:
    """The words that carry a topic."""
    return [word for word in words_of(sentence) if word.is_content]


@lru_cache(maxsize=65536)
def is_same(one: str, other: str) -> bool:
    """True for stems of one word, of words derived from each other, and of synonyms."""
    if one == other:
        return True
    head, theirs = (_HANGUL_ON.sub("", word) for word in (one, other))
    if head and head == theirs and len(one) > len(head) < len(other):  # km²이다, km²입니다
        return _is_same_korean(one[len(head) :], other[len(head) :])
    if _spelled(one) == _spelled(other):
        return True
    if is_hangul(one) and is_hangul(other):
        return _is_same_korean(one, other) or bool(_groups_of(one) & _groups_of(other))
    if one[:1].isdigit() or other[:1].isdigit():
        return one.replace(",", "") == other.replace(",", "")
    if (
        len(one) >= 4
        and len(other) >= 4
        and (one.startswith(other) or other.startswith(one))
        and abs(len(one) - len(other)) <= 3
    ):
        return True
    return bool(_groups_of(one) & _groups_of(other))


# British and American stems, "p.m." and "pm", "can't" and "cannot".
_SPELLINGS = (
    (re.compile(r"(?<=[a-z]{2})our"), "or"),
    (re.compile(r"(?<=[a-z]{3})is(?=$|e|ing|ation)"), "iz"),
    (re.compile(r"(?<=[a-z]{2}l)ys(?=$|e)"), "yz"),
    (re.compile(r"(?<=[a-z]{2}[bt])er$"), "r"),
    (re.compile(r"(?<=og)ue?$"), ""),
    (re.compile(r"(?<=[a-z]{2}en)c(?=e?$)"), "s"),
    (re.compile(r"\b([a-z])\.(?=[a-z]\b)"), r"\1"),
    (re.compile(r"^can['’]?t$"), "cannot"),
)


@lru_cache(maxsize=16384)
def _spelled(word: str) -> str:
    """An English stem in one of its spellings."""
    for pattern, other in _SPELLINGS:
        word = pattern.sub(other, word)
    return word


def _is_same_korean(one: str, other: str) -> bool:
    """True for two forms of one verb (켠다, 켜지) and for a noun with and without another particle."""
    if _plain_verb(one) == _plain_verb(other):
        return True
    bare = sorted((bare_verb(word) for word in (one, other)), key=len)
    if len(bare[0]) == 1 < len(bare[1]):  # many words begin with any one syllable: 이는, 이웃
        return False
    a, b = sorted((unicodedata.normalize("NFD", word) for word in bare), key=len)
    return len(a) >= 2 and b.startswith(a) and (len(a) >= 5 or len(b) - len(a) <= 3 or len(a) >= 0.6 * len(b))


_POLITE = (
    (re.compile(r"(?:했|하였)다고$"), "하"),
    (re.compile(r"(?:합니다|해요|한다|하다|하여|해서|하며|하고|해야|했다|했습니다|했어요|하였다|하였습니다)$"), "하"),
    (re.compile(r"(?:됩니다|돼요|된다|되다|되어|돼|되며|되고|됐다|되었다|되었습니다|됐습니다)$"), "되"),
    (re.compile(r"(?:입니다|이다|이에요|예요|이며|이고)$"), "이"),
    (re.compile(r"(?:습니다|어요|아요|는다|다)$"), ""),
)


def _plain_verb(word: str) -> str:
    """A Korean verb without what tells only of politeness and tense."""
    return next((pattern.sub(plain, word) for pattern, plain in _POLITE if pattern.search(word)), word)


_VERB_ENDING = re.compile(
    r"(?:지는|지도|지|하지|습니다|ㅂ니다|합니다|됩니다|입니다|한다|된다|하는|되는|하여|되어|했다|됐다|하였다|되었다|였다|았다|었다|았습니다|었습니다|했습니다|됐습니다|이다|는다|"
    r"으며|하며|으면|하면|하고|되고|고|며|면|는|은|을|다|요|아요|어요|해요|할|될|한|된|해|하|되|기|음|함|됨)$"
)


@lru_cache(maxsize=16384)
def bare_verb(word: str) -> str:
    """A Korean verb without its ending, as far as tables tell: 켠다 → 켜, 켜지 → 켜; other words as they are."""
    # ㄴ다, ㅂ니다 melt into the syllable before them: 켠다, 켭니다.
    melted = re.match(r"^(.*[가-힣])(?:다|니다)$", word)
    if melted:
        spelled = unicodedata.normalize("NFD", melted[1])
        if spelled[-1] in "\u11ab\u11b8\u11bb" and not word.endswith(
            ("습니다", "한다", "된다", "합니다", "됩니다", "입니다", "했다", "됐다", "였다", "았다", "었다")
        ):
            return unicodedata.normalize("NFC", spelled[:-1])
    return _VERB_ENDING.sub("", word) or word


# Of a verb that has the stem of an adjective: "the talk lasts an hour" is not the last one.
_LASTING = frozenset(("lasts", "lasted", "lasting"))


def are_opposite(one: Word, other: Word) -> bool:
    """True for two words of opposite meaning; not for the two sides of one event, such as buying and selling."""
    if is_same(one.key, other.key) or are_converse(one, other):
        return False
    low, theirs = one.text.lower(), other.text.lower()
    if low in _LASTING or theirs in _LASTING:
        return False
    if is_hangul(low):
        a, b = sorted((one.key, other.key), key=len)
        if len(a) >= 2 and len(b) == len(a) + 1 and b[0] in _KOREAN_NEGATIVE and b[1:] == a:
            return True
    else:
        for a, b in ((low, theirs), (theirs, low)):
            bare = _NEGATIVE.sub("", a)
            if bare != a and (analyze(bare) or [""])[0] == (analyze(b) or [" "])[0]:
                return True
            if a.endswith("less") and b.endswith("ful") and a[:-4] == b[:-3]:
                return True
    return _on_two_sides(_opposites(), one, other)


def has_opposite(word: str) -> bool:
    """True for a word that the tables know an opposite of.

    >>> has_opposite("first"), has_opposite("lamp")
    (True, False)
    """
    return word.lower() in _opposites()


def are_converse(one: Word, other: Word) -> bool:
    """True for two verbs that tell one event from both sides: sold, bought."""
    return _on_two_sides(_converses(), one, other)


def _on_two_sides(table: dict[str, frozenset[tuple[int, int]]], one: Word, other: Word) -> bool:
    ours, theirs = _sides(table, one), _sides(table, other)
    if not ours or not theirs or ours & theirs:
        return False
    return any(line == line2 and side != side2 for line, side in ours for line2, side2 in theirs)


def _sides(table: dict[str, frozenset[tuple[int, int]]], word: Word) -> frozenset[tuple[int, int]]:
    if not is_hangul(word.text):
        return table.get(word.key, frozenset()) | table.get(word.text.lower(), frozenset())
    return frozenset().union(*(table[found] for found in _beginnings(word, table)))


def _beginnings(word: Word, table: dict[str, frozenset[tuple[int, int]]]) -> Iterator[str]:
    """The longest entry that a Korean word begins with; one of a single syllable must be the whole stem."""
    for length in range(len(word.text), 1, -1):
        if word.text[:length] in table:
            yield word.text[:length]
            return
    for bare in dict.fromkeys((word.key, bare_verb(word.text))):
        if bare in table:
            yield bare


@cache
def _opposites() -> dict[str, frozenset[tuple[int, int]]]:
    return _read_sides(english_contrasts.OPPOSITES, korean_contrasts.OPPOSITES)


@cache
def _converses() -> dict[str, frozenset[tuple[int, int]]]:
    return _read_sides(english_contrasts.CONVERSES, korean_contrasts.CONVERSES)


def _read_sides(*tables: str) -> dict[str, frozenset[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    lines = [line for table in tables for line in table.strip().splitlines()]
    for number, line in enumerate(lines):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                for key in _keys(word):
                    found.setdefault(key, set()).add((number, side))
    return {key: frozenset(places) for key, places in found.items()}


def _keys(word: str) -> Sequence[str]:
    return (word,) if is_hangul(word) else tuple({word, (analyze(word) or [word])[0]})


@cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    lines = [*english_synonyms.SYNONYMS.strip().splitlines(), *korean_contrasts.SYNONYMS.strip().splitlines()]
    for number, line in enumerate(lines):
        for word in line.split():
            for key in _keys(word):
                found.setdefault(key, set()).add(number)
    return {key: frozenset(groups) for key, groups in found.items()}


@lru_cache(maxsize=16384)
def _groups_of(key: str) -> frozenset[int]:
    groups = _groups()
    if not is_hangul(key):
        return groups.get(key, frozenset())
    for length in range(len(key), 1, -1):
        if key[:length] in groups:
            return groups[key[:length]]
    return groups.get(key, frozenset())


def shared(words: Sequence[Word], others: Sequence[Word]) -> float:
    """Share of words that stand among the others too, in another form or as a synonym; 0 without words."""
    if not words:
        return 0.0
    return sum(is_among(word, others) for word in words) / len(words)


def is_among(word: Word, others: Sequence[Word]) -> bool:
    """True where one of the others is the same word, in another form or as a synonym."""
    return any(is_same(word.key, other.key) for other in others)


def shortened(text: str) -> str:
    """What a message quotes of a text: its first 60 characters."""
    return text if len(text) <= MOST_SHOWN_CHARS else text[: MOST_SHOWN_CHARS - 1].rstrip() + "…"


def is_modal(word: str) -> bool:
    """True for a word that says by itself what is allowed: prohibited, possible."""
    return bool(
        re.fullmatch(
            r"allow\w*|permit\w*|forb\w+|prohibit\w*|bann\w*|possible|able|수|있\w*|없\w*|금지\w*", word.lower()
        )
    )
