"""Korean follow-ups: fragments with a particle, question words alone, pronouns, dropped topics, more of the same. Pure.

Words stand between spaces; particles are taken off their end. As in English, a sentence is written only where one name or
time takes the place of another; everything else is joined to the last question.
"""

from __future__ import annotations

import re

from kb.followup.records import Standalone, Why, join
from kb.language.english_phrases import IsName, knows_none
from kb.language.korean import ADVERBS, ASKING, TIME
from kb.language.korean_particles import Piece, fitting_particle, pieces_of
from kb.language.registry import pattern, says

_PRONOUN = (
    r"(?<![가-힣])(?:(?:그것들?|이것들?|그거|이거|그걸|이걸|그게|이게|그건|이건|걔|거기|그곳|여기|이곳|그 ?사람|그분|이분|그녀|그 ?친구)"
    r"(?:으로|로|만|도|은|는|이|가|을|를|의|에서는|에서|에는|에|랑|와|과|보다|서는|서|한테|에게|께)?(?![가-힣])"
    r"|(?:둘|두 개|둘 중)(?: 다|은|는|이|가|의|에서|중)?(?![가-힣])|(?:그|이|저|해당) (?=[가-힣]))"
)
_BARE_WH = (
    r"^(?:왜|언제|누가|누구|어디|어디서|어떻게|얼마나|얼마|며칠|몇|무엇|뭐|뭘|어느|이유)(?:부터|까지|에서|에게|한테|로|를|가|은|는|마다|동안|번|시|개|명)?"
    r"(?:요|죠|인데요?|인가요|예요|에요|인지)?(?: (?:그런가요|그래요|그런데요|그렇죠|그런 거예요|안 ?돼요|안 ?되나요|해요|하나요|하죠|했어요|했나요|합니까|돼요|되나요|됐어요))?$"
)
_PREDICATE = r"(?:나요|까요|니까|[가-힣]어요|[가-힣]아요|해요|돼요|되요|인가요|한가요|은가요|죠|는지|하나|되나|있어|없어|있나|없나|있지|인가|뭐야|뭐지|뭔데|누구야|어디야|언제야|예요|이에요|에요|입니까|입니다|할까|될까|줘|주세요|[가-힣]니|냐|[났갔했됐었았]어|[났갔했됐었았]지|해도 돼|돼)[?？!.]*$"
# Most words of a fragment.
MOST_FRAGMENT_WORDS = 3
_LATIN_NAME = r"[A-Z][\w.-]*|\w*[a-z][A-Z]\w*|\w+[._-]\w[\w.-]*|[A-Za-z]+"


def _asks(piece: Piece) -> bool:
    return any(re.match(ASKING, text) for text in (piece.stem + piece.particle, piece.stem))


def _is_time(piece: Piece) -> bool:
    return re.fullmatch(TIME, piece.stem + piece.particle) is not None


def complete_korean(question: str, asked: str, last: str, is_name: IsName) -> Standalone | None:
    """The question made complete from the last one; None where it is complete.

    asked  the question without what leads it in
    """

    def joined(why: Why) -> Standalone:
        return Standalone(join(last, question), why)

    has_lead = asked != question.strip()
    goes_on = says("goes_on", asked, re.I) and len(asked.split()) <= MOST_FRAGMENT_WORDS + 1
    if goes_on and not _has_subject(asked, is_name):
        return joined("more")
    bare = asked.strip(" ?？!.")
    if re.match(_BARE_WH, bare):
        return joined("question-word")
    fragment = pattern("trailing", asked, re.I).sub("", asked).strip(" ?？!.")
    fragment = re.sub(r"(?<=[은는도서만면지터로에])요$", "", fragment)
    pieces = pieces_of(fragment, knows_none)
    if (
        pieces  # a lone comma has none
        and (fragment != bare or not re.search(_PREDICATE, bare))
        and len(fragment.split()) <= MOST_FRAGMENT_WORDS
    ):
        refers_back = (
            has_lead or fragment != bare or question.rstrip().endswith(("?", "？")) or bool(pieces[-1].particle)
        )
        if not refers_back and len(fragment.split()) > 1:
            return None  # search words, not a follow-up
        if not any(re.match(ASKING, word) for word in fragment.split()):
            return _swap(fragment, last, is_name) or joined("swap")
        if len(fragment.split()) <= 2:
            return joined("fragment")
    if _has_pronoun(asked, is_name):
        return joined("pronoun")
    return joined("fragment") if _drops_topic(asked, is_name) else None


def _has_subject(asked: str, is_name: IsName) -> bool:
    return any(
        p.particle in ("은", "는", "이", "가", "을", "를")
        and len(p.stem) > 1
        and not pattern("goes_on", p.stem, re.I).match(p.stem)
        for p in pieces_of(asked, is_name)
    )


def _swap(fragment: str, last: str, is_name: IsName) -> Standalone | None:
    """The last question with the fragment's name or time in place of its own; None where no sentence is sure."""
    if re.search(r"[?？!.]\s+\S", last):
        return None  # several questions: which of them is meant?
    if re.fullmatch(TIME, fragment):
        times = list(re.finditer(TIME, last))
        if len(times) != 1:
            return None
        return Standalone(last[: times[0].start()] + fragment + last[times[0].end() :], "swap")
    pieces = pieces_of(fragment, is_name)
    stem = fragment[: pieces[-1].stem_end]
    names = [piece for piece in pieces_of(last, is_name) if _is_nameish(piece.stem, is_name)]
    if len(names) != 1 or len(pieces) > 1 or not _is_nameish(stem, is_name):
        return None
    old = names[0]
    if old.particle and not "가" <= stem[-1] <= "힣":
        return None  # how a number or a foreign name ends in speech is not written: 은 or 는?
    return Standalone(f"{last[: old.start]}{stem}{fitting_particle(stem, old.particle)}{last[old.end :]}", "swap")


def _is_nameish(stem: str, is_name: IsName) -> bool:
    return bool(re.fullmatch(_LATIN_NAME, stem)) or is_name(stem.lower())


def _has_pronoun(asked: str, is_name: IsName) -> bool:
    """True with a pronoun that stands for an earlier thing: before it the question names nothing."""
    match = re.search(_PRONOUN, asked)
    before = pieces_of(asked[: match.start()], is_name) if match else []
    return match is not None and not any(is_name(piece.stem.lower()) for piece in before)


def _drops_topic(asked: str, is_name: IsName) -> bool:
    """ "언제까지 돌려놔야 해요": no noun says of what."""
    said = [p for p in pieces_of(asked, is_name) if not _asks(p) and p.stem not in ADVERBS and not _is_time(p)]
    has_thing = any(_is_nameish(p.stem, is_name) or p.particle not in ("", "만", "도") for p in said)
    return not has_thing and len(said) <= MOST_FRAGMENT_WORDS
