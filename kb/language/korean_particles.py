"""Korean words ↔ stems and particles: tables of particles and endings, to remove them and to add them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kb.frozen import dataclass


def _longest_first(*tables: str) -> tuple[str, ...]:
    return tuple(sorted({ending for table in tables for ending in table.split()}, key=lambda e: (-len(e), e)))


# Particles of nouns in any sentence: topic, subject, object, place, time, manner.
_CASES = (
    "에서는 에서도 에게서 에게는 으로는 까지는 에는 에도 에서 에게 으로 까지 부터 처럼 보다"
    " 은 는 이 가 을 를 의 에 로 와 과 도 만"
)
# Particles that quote or define a noun.
_NAMING = "이라는 이라고 이란 라는 라고 란"
# Endings of the verb in a question: "하나요", "되는지".
_ASKING = "하였나요 했습니까 되었나요 했나요 됐나요 하나요 되나요 합니까 됩니까 한가요 인가요 입니까 하는지 되는지 해야 하나 되나 한가 하는 되는 마다"
# Endings of any verb or noun of a question.
_OTHER = (
    "었습니까 았습니까 였습니까 었나요 았나요 였나요 었는지 았는지 었을까 았을까 으려면 었을 았을 었던 았던 었다 았다 려면"
    " 되었습니까 하였습니까 해야하나요 하십니까 이었나 습니까 니까 은가요 는가요 을까요 할까요 될까요 하려면 으로도 부터는 한테는 해야만"
    " 인지 는지 은지 까요 나요 가요 에요 예요 이죠 하면 하고 하여 해서 해요 하죠 하기 하게 한다 했다 되면 된다 되어 하지"
    " 으면 로는 로서 로써 이나 이며 이다 들은 들이 들을 들의 만을 과의 와의 한테 께서 요 들 할 한 된 될 나 야 며 고 면 던 죠 서 다"
)
# Particles behind a name, plurals included.
NAME_PARTICLES = _longest_first(
    _CASES, _NAMING, "으로부터 에서부터 으로서 으로써 이나 와는 과는 와의 과의 만의 들은 들이 들을 들의 나"
)
# Particles behind a noun of a spoken question.
SPOKEN_PARTICLES = _longest_first(_CASES, "에서만 한테는 으로도 부터는 로는 로도 한테 이랑 하고 랑")
# Endings of content words of a question: noun particles and verb endings.
QUESTION_ENDINGS = _longest_first(_CASES, _NAMING, _ASKING, "으로부터 에게서 하고 이나 와의 과의")
# These and all other verb endings, for comparing with the index: no text repeats the terms of an ending.
ALL_ENDINGS = _longest_first(_CASES, _NAMING, _ASKING, _OTHER)
# Endings of a negated verb's stem: 닦지 않는다, 할 수 없다.
NEGATED_ENDINGS = _longest_first("지는 지도 지 할 수 이 가 은 는 을 를 도")
# The two forms of one particle: after a consonant, after a vowel.
_FORMS = (("은", "는"), ("이", "가"), ("을", "를"), ("과", "와"), ("이랑", "랑"))


@dataclass(frozen=True, slots=True)
class Piece:
    """One word of a Korean question: its stem and its particle, with their places."""

    stem: str
    particle: str
    start: int
    stem_end: int
    end: int


def is_hangul(character: str) -> bool:
    """True for one syllable of Hangul; False for "" too."""
    return "가" <= character[:1] <= "힣"


def strip_ending(word: str, endings: Iterable[str], *, least_chars: int = 2) -> str:
    """A word without the first matching ending; unchanged where fewer than `least_chars` would be left.

    endings  the longest first

    >>> strip_ending("컨테이너에서는", QUESTION_ENDINGS), strip_ending("나는", QUESTION_ENDINGS)
    ('컨테이너', '나는')
    """
    return next((word[: -len(e)] for e in endings if word.endswith(e) and len(word) - len(e) >= least_chars), word)


def strip_particle(word: str) -> str:
    """A Korean word without its particle, `FastAPI에서` without its Korean tail; unchanged where too little would be left.

    >>> strip_particle("튤립에"), strip_particle("FastAPI에서"), strip_particle("나는")
    ('튤립', 'FastAPI', '나는')
    """
    tail = re.search(r"(?<=[^가-힣\s])[가-힣]+$", word)
    if tail and tail.group() in NAME_PARTICLES:
        return word[: tail.start()]
    longest = next((p for p in NAME_PARTICLES if word.endswith(p)), "")
    return word[: len(word) - len(longest)] if len(word) - len(longest) >= 2 else word


def strip_question_ending(word: str) -> str:
    """A word of a question without its particle or the ending of its verb; a Latin name of one letter may stay.

    >>> strip_question_ending("소유권은"), strip_question_ending("C는"), strip_question_ending("나는")
    ('소유권', 'C', '나는')
    """
    longest = next((e for e in QUESTION_ENDINGS if word.endswith(e)), "")
    bare = word[: len(word) - len(longest)]
    return bare if len(bare) >= 2 or (bare and not is_hangul(bare)) else word


def pieces_of(text: str, is_name: Callable[[str], bool]) -> list[Piece]:
    """The words split into stem and particle: the particle that leaves a known name, else the longest.

    >>> [(p.stem, p.particle) for p in pieces_of("마리골드 거울은 며칠마다 청소하나요?", lambda word: False)]
    [('마리골드', ''), ('거울', '은'), ('며칠마다', ''), ('청소하나요', '')]
    """
    found = []
    for match in re.finditer(r"[^\s?!.,？！。]+(?:[.,]\d[^\s?!]*)*", text):
        word = match.group()
        may = ["", *(p for p in SPOKEN_PARTICLES if word.endswith(p) and len(word) > len(p) and _may_end(word, p))]
        named = [p for p in may if is_name(word[: len(word) - len(p)].lower())]
        particle = named[0] if named else may[1] if len(may) > 1 else ""
        stem = word[: len(word) - len(particle)]
        found.append(Piece(stem, particle, match.start(), match.start() + len(stem), match.end()))
    return found


def fitting_particle(stem: str, particle: str) -> str:
    """The form of a particle that goes with a stem's last sound.

    >>> fitting_particle("거울", "는"), fitting_particle("시계", "은"), fitting_particle("Tulip", "은")
    ('은', '는', '은')
    """
    pair = next((forms for forms in _FORMS if particle in forms), None)
    if pair is None or not is_hangul(stem[-1:]):
        return particle
    return pair[0] if _is_closed(stem[-1]) else pair[1]


def _may_end(word: str, particle: str) -> bool:
    """True where the particle fits the last sound before it: 은 and 을 after a consonant, 는 and 를 after a vowel."""
    before = word[-len(particle) - 1]
    if not is_hangul(before):
        return len(word) - len(particle) >= 2
    if any(particle in forms for forms in _FORMS):
        return fitting_particle(before, particle) == particle
    return not (particle in ("도", "로", "만", "의", "에") and len(word) == 2 and not _is_closed(before))


def _is_closed(syllable: str) -> bool:
    """True for a syllable that ends in a consonant; of the 28 endings in code point order the first has none."""
    return (ord(syllable) - ord("가")) % 28 != 0
