"""Korean follow-ups made complete: fragments with a particle, question words alone, pronouns, more of the same. Pure.

Words stand between spaces; particles are taken off their end. As in English, a rule that is not sure adds the topic instead
of replacing words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.followup.records import Standalone, Turn
from kb.language.english_phrases import IsName, knows_none
from kb.language.korean import ADVERBS, ASKING, TIME
from kb.language.korean_particles import ROLES, Piece, fitting_particle, pieces_of
from kb.language.registry import pattern, says

_PRONOUN = (
    r"(?<![가-힣])(?:(그것들?|이것들?|그거|이거|그걸|이걸|그게|이게|그건|이건|걔)(으로|로|만|도|은|는|이|가|을|를|의|에|에서|에는|랑|와|과|보다)?"
    r"|(거기|그곳|여기|이곳)(에서는|에서|에는|에|서는|서|는|은|도|가|이|를|을|의|로)?"
    r"|(그 ?사람|그분|이분|그녀|그 ?친구)(은|는|이|가|을|를|의|도|한테|에게|께|과|와|랑)?"
    r"|(둘|두 개|둘 중)( 다|은|는|이|가|의|에서|중)?"
    r"|(그|이|저|해당) (?=[가-힣]))(?![가-힣])?"
)
_BARE_WH = (
    r"^(?:왜|언제|누가|누구|어디|어디서|어떻게|얼마나|얼마|며칠|몇|무엇|뭐|뭘|어느|이유)(?:부터|까지|에서|에게|한테|로|를|가|은|는|마다|동안|번|시|개|명)?"
    r"(?:요|죠|인데요?|인가요|예요|에요|인지)?(?: (?:그런가요|그래요|그런데요|그렇죠|그런 거예요|안 ?돼요|안 ?되나요|해요|하나요|하죠|했어요|했나요|합니까|돼요|되나요|됐어요))?$"
)
_PREDICATE = r"(?:나요|까요|니까|[가-힣]어요|[가-힣]아요|해요|돼요|되요|인가요|한가요|은가요|죠|는지|하나|되나|있어|없어|있나|없나|있지|인가|뭐야|뭐지|뭔데|누구야|어디야|언제야|예요|이에요|에요|입니까|입니다|할까|될까|줘|주세요|[가-힣]니|냐|[났갔했됐었았]어|[났갔했됐었았]지|해도 돼|돼)[?？!.]*$"
# Most words of a fragment.
MOST_FRAGMENT_WORDS = 3
_LATIN_NAME = r"[A-Z][\w.-]*|\w*[a-z][A-Z]\w*|\w+[._-]\w[\w.-]*|[A-Za-z]+"
_PERSON_NAME = (
    r"(?<![가-힣])[가-힣]{2,4}(?= (?:박사|소장|반장|과장|팀장|교수|대리|선장|씨|님))|[A-Z][a-z]+(?: [A-Z][\w.]*)+"
)


def _asks(piece: Piece) -> bool:
    return any(re.match(ASKING, text) for text in (piece.stem + piece.particle, piece.stem))


def _is_time(piece: Piece) -> bool:
    return re.fullmatch(TIME, piece.stem + piece.particle) is not None


def complete_korean(question: str, asked: str, turns: Sequence[Turn], is_name: IsName) -> Standalone | None:
    """The question made complete from the turns before it; None where it is complete.

    asked  the question without what leads it in
    turns  oldest first, at least one
    """
    has_lead = asked != question.strip()
    last = turns[-1].question
    if (
        says("goes_on", asked, re.I)
        and len(asked.split()) <= MOST_FRAGMENT_WORDS + 1
        and not _has_subject(asked, is_name)
    ):
        return Standalone(f"{_bare(last)}: {asked}", "more", (_bare(last),))
    bare = asked.strip(" ?？!.")
    if re.match(_BARE_WH, bare):
        return Standalone(f"{_bare(last)}: {bare}?", "question-word", (_bare(last),))
    fragment = pattern("trailing", asked, re.I).sub("", asked).strip(" ?？!.")
    fragment = re.sub(r"(?<=[은는도서만면지터로에])요$", "", fragment)
    if (
        fragment
        and (fragment != bare or not re.search(_PREDICATE, bare))
        and len(fragment.split()) <= MOST_FRAGMENT_WORDS
    ):
        refers_back = (
            has_lead
            or fragment != bare
            or question.rstrip().endswith(("?", "？"))
            or bool(pieces_of(fragment, knows_none)[-1].particle)
        )
        if not refers_back and len(fragment.split()) > 1:
            return None  # search words, not a follow-up
        if not any(re.match(ASKING, word) for word in fragment.split()):
            return _swap(fragment, last, is_name)
        topic = find_topic(last, is_name)
        if len(fragment.split()) <= 2 and topic and topic not in asked:
            return Standalone(f"{topic} {asked}", "fragment", (topic,))
    return (
        _replace_pronoun(asked, turns, is_name)
        or _add_dropped_topic(asked, last, is_name)
        or _add_name(asked, turns, is_name, has_lead)
    )


def _has_subject(asked: str, is_name: IsName) -> bool:
    return any(
        p.particle in ("은", "는", "이", "가", "을", "를")
        and len(p.stem) > 1
        and not pattern("goes_on", p.stem, re.I).match(p.stem)
        for p in pieces_of(asked, is_name)
    )


def _swap(fragment: str, last: str, is_name: IsName) -> Standalone:
    """The last question with the fragment in place of its counterpart; the fragment comes first where there is none."""
    new = pieces_of(fragment, is_name)
    time = re.fullmatch(TIME, fragment)
    if time:
        old = re.search(TIME, last)
        if old:
            return Standalone(f"{last[: old.start()]}{fragment}{last[old.end() :]}", "swap", (_bare(last),))
        return Standalone(f"{fragment} {last}", "swap", (_bare(last),))
    head = new[-1]
    stem = fragment[: head.stem_end]
    role = next((names for names in ROLES.values() if head.particle in names), None)
    old_pieces = [p for p in pieces_of(last, is_name) if not _asks(p) and p.stem not in ADVERBS]
    if role:
        same = [p for p in old_pieces if p.particle in role and not _is_time(p)]
        if same:
            return Standalone(_put(last, same[-1], fragment), "swap", (_bare(last),))
        return Standalone(f"{fragment} {last}", "swap", (_bare(last),))
    slot = _topic_slot(stem, old_pieces, is_name)
    named = _is_nameish(stem, is_name) or any(_is_nameish(p.stem, is_name) for p in old_pieces)
    if slot is not None and not named and is_name is not knows_none:
        # Without names it is open whether the fragment is a new topic or part of the old one, so both are kept.
        topic = find_topic(last, is_name)
        return Standalone(f"{topic} {fragment}?", "swap", (topic,))
    if slot is None:
        return Standalone(f"{_bare(last)}: {fragment}?", "swap", (_bare(last),))
    return Standalone(
        f"{last[: slot.start]}{stem}{fitting_particle(stem, slot.particle)}{last[slot.end :]}", "swap", (_bare(last),)
    )


def _put(last: str, slot: Piece, text: str) -> str:
    return f"{last[: slot.start]}{text}{last[slot.end :]}"


def _topic_slot(stem: str, pieces: Sequence[Piece], is_name: IsName) -> Piece | None:
    """The word of the last question that the new topic replaces: a name replaces a name, else a noun replaces a noun.

    A Korean question begins with its topic: names first, then their parts.
    """
    nominal = [p for p in pieces if p.particle or _is_nameish(p.stem, is_name)]
    first = pieces[0] if pieces else None
    if first is not None and first not in nominal and len(pieces) > 1:
        nominal.insert(0, first)
    if not nominal:
        return None
    names = [p for p in nominal if _is_nameish(p.stem, is_name)]
    if names and not _is_nameish(stem, is_name) and is_name is not knows_none:
        things = [p for p in nominal if p not in names and p.start > names[0].start]
        return things[0] if things else names[0]
    return names[0] if names else nominal[0]


def _is_nameish(stem: str, is_name: IsName) -> bool:
    return bool(re.fullmatch(_LATIN_NAME, stem)) or is_name(stem.lower())


def find_topic(question: str, is_name: IsName) -> str:
    """The topic of a Korean question: its first noun phrase, with the names before it.

    >>> find_topic("마리골드 거울은 며칠마다 청소해야 하나요?", lambda word: False)
    '마리골드 거울'
    """
    pieces = [p for p in pieces_of(question, is_name) if not _is_time(p) and p.stem not in ADVERBS]
    phrase: list[str] = []
    for piece in pieces:
        if _asks(piece):
            if phrase:
                break
            continue
        phrase.append(piece.stem)
        if piece.particle and piece.particle != "의":
            break
        if len(phrase) == 3:
            break
    return " ".join(phrase)


def _replace_pronoun(asked: str, turns: Sequence[Turn], is_name: IsName) -> Standalone | None:
    match = re.search(_PRONOUN, asked)
    if not match:
        return None
    topic = find_topic(turns[-1].question, is_name)
    thing, place, person, both, pointing = match.group(1, 3, 5, 7, 9)
    if any(is_name(p.stem.lower()) for p in pieces_of(asked[: match.start()], is_name)):
        return None
    if both and len(turns) > 1:
        topics = [find_topic(t.question, is_name) for t in turns[-2:]]
        meant = "와 ".join(dict.fromkeys(filter(None, topics)))
    elif person:
        meant = _find_person(turns) or topic
    elif place:
        meant = _find_place(turns[-1].question, is_name) or topic
    else:
        meant = topic
    if not meant:
        return None
    if pointing:
        return Standalone(f"{asked[: match.start()]}{meant} {asked[match.end() :]}", "pronoun", (meant,))
    particle = match.group(2) or match.group(4) or match.group(6) or match.group(8) or ""
    particle = {"그건": "는", "이건": "는", "그게": "가", "이게": "가", "그걸": "를", "이걸": "를"}.get(
        thing or "", particle
    )
    if place and particle in ("서", "서는"):
        particle = f"에{particle}"
    if both:
        particle = "는" if "는" in particle or "은" in particle else ""
    return Standalone(
        f"{asked[: match.start()]}{meant}{fitting_particle(meant, particle)}{asked[match.end() :]}", "pronoun", (meant,)
    )


def _find_person(turns: Sequence[Turn]) -> str:
    for turn in reversed(turns[-3:]):
        for text in (turn.answer[:400], turn.question):
            match = re.search(_PERSON_NAME, text)
            if match:
                return match.group()
    return ""


def _find_place(question: str, is_name: IsName) -> str:
    placed = [p for p in pieces_of(question, is_name) if p.particle in ROLES["place"] and not _is_time(p)]
    return placed[-1].stem if placed else ""


def _add_dropped_topic(asked: str, last: str, is_name: IsName) -> Standalone | None:
    """ "언제까지 돌려놔야 해요": a question without a noun has the topic of the last one."""
    pieces = pieces_of(asked, is_name)
    said = [p for p in pieces if not _asks(p) and p.stem not in ADVERBS and not _is_time(p)]
    if (
        any(_is_nameish(p.stem, is_name) or p.particle not in ("", "만", "도") for p in said)
        or len(said) > MOST_FRAGMENT_WORDS
    ):
        return None
    topic = find_topic(last, is_name)
    if not said or not topic or topic in asked:
        return Standalone(f"{_bare(last)}: {asked}", "question-word", (_bare(last),)) if not said else None
    return Standalone(f"{topic} {asked}", "fragment", (topic,))


def _add_name(asked: str, turns: Sequence[Turn], is_name: IsName, has_lead: bool) -> Standalone | None:
    """A question without a name whose first noun is in the last turn: the topic's name goes before it."""
    pieces = pieces_of(asked, is_name)
    if any(_is_nameish(p.stem, is_name) for p in pieces):
        return None
    names = [p.stem for p in pieces_of(turns[-1].question, is_name) if _is_nameish(p.stem, is_name)]
    said = f"{turns[-1].question} {turns[-1].answer[:400]}"
    things = [p for p in pieces if p.particle and len(p.stem) > 1 and not _asks(p) and not _is_time(p)]
    if names and things and (things[0].stem in said or has_lead):
        return Standalone(f"{names[0]} {asked}", "definite", (names[0],))
    if has_lead and not things:
        topic = find_topic(turns[-1].question, is_name)
        return Standalone(f"{topic} {asked}", "fragment", (topic,)) if topic and topic not in asked else None
    return None


def _bare(question: str) -> str:
    return question.strip().rstrip("?？!. ")
