"""A Korean question → the words it is about, without question words and polite verbs; a word → its stem. Pure.

These are closed classes of the language: they name no subject, and a text about the subject need not hold them. In
titles and headings ("… 만들기", "…란?") they outweigh the subject, because few texts of a collection hold them.
"""

from __future__ import annotations

import re
from functools import cache

from kb.language.korean_particles import ALL_ENDINGS, NAME_PARTICLES, QUESTION_ENDINGS, strip_ending

_HANGUL = re.compile("[가-힣]+")
_WORD = re.compile(r"[^\s?!？！。…~,;]+")
# What may follow a question word: "무엇인가요", "뭐예요", "누구에게", "언제부터".
_BE = r"(?:이라고|라고|이란|란)?(?:이?에요|예요|인가요?|인지요?|인데요?|입니까|입니다|일까요?|이야|야|이죠|죠|이지|지|이냐|냐|이니|니|인|일|이며|이고|요|하나요?|하는지)?"
_CASE = r"(?:에서는|에서|에게|부터|까지|마다|으로|로|에|이|가|을|를|은|는|의|와|과|도|만)?"
# The endings of a question, a wish or a request behind a light verb's stem.
_ENDS = (
    r"(?:나요?|는지요?|는가요?|는지|는데요?|는|니|냐|니까|ㅂ니까|습니까|습니다|을까요?|을지|을|은데요?|은가요?|은지|은|던|던데"
    r"|어야|어서|어요?|었나요?|었는데요?|었어요?|었을까요?|었습니다|으면|려면|려고|려는데요?|려는|고자|고요?|고|기|지|지요|죠|다|네요?|게)"
)
# One alternative a row: what it is, and that it is the whole word.
_FRAMES = "|".join(
    (
        rf"(?:무엇|뭐|뭘|뭔|무슨|누구|누가|언제|어디|어느|어떤|어떠한|얼마|얼마나|며칠|왜|몇){_CASE}{_BE}",
        r"어떻게(?:요|들)?|어떨까요?|어떤가요?|어때요?|어떻습니까|어떡하[가-힣]{0,3}",
        # 하다, 되다: "하려면", "해야", "되나요", "할까요", "됩니까"
        rf"(?:하|되){_ENDS}|(?:하|되)(?:여|어|어야|려|면|면서|였[가-힣]{{1,3}})",
        r"해(?:야|야만|야지|서|요|도|줘요?|주세요|주실[가-힣]{1,3}|줄래요?|야하[가-힣]{1,3}|보[가-힣]{1,3}|볼까요?|봐요?)?|했(?:나요?|는지|는데요?|을까요?|을|던|다|어요?|습니[가-힣])",
        r"할(?:까요?|지|래요?|게요?)?|한(?:가요?|지|다|다면)?|합니(?:까|다)|함|돼(?:요|나요|야|서)?|될(?:까요?|지)?|된(?:가요?|지|다|다면)?|됩니(?:까|다)|됐(?:나요?|는지|어요?|습니[가-힣])",
        # 있다, 없다, 싶다, 않다 behind another verb
        rf"(?:있|없|싶|않){_ENDS}|(?:있|없|싶|않)(?:아요?|거든요|나|었던|으니|으며|던가요)",
        # requests: "알려 주세요", "설명해줘", "궁금합니다"
        r"(?:알려|말해|말씀해|설명해|가르쳐|보여|찾아|도와|추천해|소개해)(?:요|줘요?|주세요|주실[가-힣]{1,3}|주시[가-힣]{1,4}|주면|줄래요?|줄수|주십시오|달라고|드려요|봐요?)?",
        r"(?:주세요|주실래요?|주시겠[가-힣]{1,3}|주십시오|줘요?|줄래요?|주나요|줄|드립니다|부탁(?:해요?|합니다|드려요|드립니다|드릴게요)?)",
        r"궁금(?:해요?|합니다|하네요|하다|한데요?|한|해서요?|했어요|함)|알고|알아(?:보[가-힣]{1,3}|볼|야|두[가-힣]{1,3})?|알(?:수|까요?|면|려면|려고)?|모르(?:겠[가-힣]{1,4}|는데요?|는)|몰라(?:요|서)?",
        # bound nouns and what refers to nothing: "것은", "수가", "건가요", "때에"
        rf"(?:것|거|수|줄|때|게|건|걸|점|중|데|뿐|등){_CASE}{_BE}|건가요|거예요|거죠|거야|게요|건지",
        r"대해서?는?|대한|대하여|관해서?|관한|관하여|위해서?는?|위한|위하여|통해서?|통한|따라서?|따른|의해서?|의한|인해|같은|같이",
        r"그리고|그런데|그러면|그럼|그래서|그러나|하지만|또는|혹은|및|또한|혹시|좀|제발|그냥|아니면|만약|만일|즉|보통|대체|도대체|정확히|구체적으로|자세히|간단히",
        r"이|그|저|제|제가|저는|나는|내가|우리는?|이런|그런|저런|이것[가-힣]?|그것[가-힣]?|이건|그건|이게|그게|여기(?:서|에)?|안녕하세요|감사합니다|경우[가-힣]{0,2}",
    )
)
# "… 하는 방법을 알려 주세요": nouns of the request itself, where only such words follow.
_ASKED_FOR = (
    r"(?:방법|법|이유|까닭|뜻|의미|설명|정보|내용)(?:은|는|이|가|을|를|에|과|와|도|이란|인가요|일까요|이나|들)?"
)
_VERB_TAIL = (
    r"(?:하|되|시키|당하)(?:려면|려고|려는데|려는|나요|는지|는가|는|면서|면|고|기|여|지|게|도록|거나|였[가-힣]{1,3})(?:요|만|도|는|위해)?$"
    r"|(?:해야만?|해서|해요|해도|했[가-힣]{1,3}|할까요?|할지|할|한다면|한다|한|합니[까다]|돼야|돼서|돼요|된다면|된다|된|될까요?|될|됩니[까다]|됐[가-힣]{1,3})$"
)
# Endings of the last word of a question or a request that is written without a question mark.
_ASKS_AT_END = (
    r"(?:나요|까요|니까|는가|은가|인가|인가요|는지|은지|인지|려면|주세요|싶어요|싶다|해줘|알려줘|하죠|하지요)[.!…~]*$"
)
# Words before 의 that name nothing: "몇 개의", "현재의".
_NAMELESS = r"(?:몇|여러|모든|다른|어느|어떤|무슨|각|전체|일부|대부분|현재|당시|최근|이전|다음|처음|마지막|최초|최대|최소|가장|서로|자신|우리|하나).{0,2}|(?:한|두|세|네|다섯)(?:개|명|번|가지|사람|대)?"
# Before a noun with 의 that is counted or asked for: "어느 나라의", "두 가지의".
_COUNTS = frozenset("어느 어떤 무슨 몇 한 두 세 네 다섯".split())
# An ending that cannot be the end of a noun: what is left before it may be one syllable.
_LONG_ENDINGS = tuple(ending for ending in ALL_ENDINGS if len(ending) > 1)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when the first Korean question needs it."""
    return re.compile(pattern)


def without_frame(question: str) -> str:
    """The question without its frame. What asks nothing stays as it is, and so does a question that is all frame.

    Words in other letters lose their Korean tails. Those of Korean words stay: without them the bigrams find less.

    >>> without_frame("소유권은 무엇인가요?").split(), without_frame("Astro를 배포하려면 어떻게 해야 하나요?").split()
    (['소유권은', '?'], ['Astro', '배포하려면', '?'])
    >>> without_frame("What is 소유권?")
    'What is 소유권?'
    """
    words = list(_WORD.finditer(question))
    if not _HANGUL.search(question) or not _asks(question, words):
        return question
    kept, is_end = question, True
    for match in reversed(words):
        word = match.group()
        is_frame = _compiled(_FRAMES).fullmatch(word) or (is_end and _compiled(_ASKED_FOR).fullmatch(word))
        is_end = is_end and bool(is_frame)
        kept = (
            kept[: match.start()]
            + ("" if is_frame else word if _HANGUL.fullmatch(word) else bare_word(word))
            + kept[match.end() :]
        )
    return kept if re.search(r"\w", kept) else question


def _asks(text: str, words: list[re.Match[str]]) -> bool:
    """True for a question or a request; a heading or bare keywords have no frame, and their endings may be those of a text."""
    if not words:
        return False
    last = words[-1].group()
    return any(mark in text for mark in "?？") or bool(
        _compiled(_FRAMES).fullmatch(last) or _compiled(_ASKS_AT_END).search(last)
    )


def possessors(question: str) -> list[str]:
    """What a question names as the one whose thing is asked about: a noun before 의, and a noun right before that.

    >>> possessors("동백 망원경의 풍속 한계는 초속 몇 미터인가요?"), possessors("일본은 몇 개의 섬으로 이루어져 있나요?")
    (['동백', '망원경'], [])
    >>> possessors("세종의 아들은 몇 명인가요?"), possessors("두 가지의 방법은?")
    (['세종'], [])
    """
    found: list[str] = []
    before = ""
    for match in _WORD.finditer(question):
        word = match.group()
        noun = word.removesuffix("의")
        is_counted = before in _COUNTS
        if (
            not is_counted
            and noun != word
            and len(noun) > 1
            and _HANGUL.fullmatch(noun)
            and not _compiled(_NAMELESS).fullmatch(noun)
        ):
            is_noun = len(before) > 1 and _HANGUL.fullmatch(before) and strip_ending(before, ALL_ENDINGS) == before
            is_frame = _compiled(_FRAMES).fullmatch(before) or _compiled(_NAMELESS).fullmatch(before)
            found += [before, noun] if is_noun and not is_frame else [noun]
        before = word
    return found


def bare_word(word: str) -> str:
    """A word of a question without particles and endings; what is written in other letters loses its Korean tail.

    >>> bare_word("Astro에서"), bare_word("배포하려면"), bare_word("미들웨어란"), bare_word("`async`는"), bare_word("3개를")
    ('Astro', '배포', '미들웨어', '`async`', '3개')
    """
    tail = re.search(r"(?<=[^가-힣])[가-힣]+$", word)
    if tail and tail.group() != word:
        if (
            tail.group() in NAME_PARTICLES
            or tail.group() in ALL_ENDINGS
            or _compiled(_VERB_TAIL).fullmatch(tail.group())
        ):
            return word[: tail.start()]
        return word[: tail.start()] + strip_ending(tail.group(), NAME_PARTICLES, least_chars=1)
    if not _HANGUL.fullmatch(word):
        return word
    verb = _compiled(_VERB_TAIL).search(word)
    if verb and verb.start() >= 2:
        return word[: verb.start()]
    stem = strip_ending(word, QUESTION_ENDINGS)
    longer = strip_ending(stem, _LONG_ENDINGS, least_chars=1)
    # One syllable is taken off once: 고양이가 is 고양이, not 고양.
    return longer if longer != word else strip_ending(word, ALL_ENDINGS)
