"""A question → the things it asks about, each with the index terms that would show it in a passage. Pure.

A word that only asks ("what", "언제"), links, or frames ("according to") is left out, and so are Korean particles and
verb endings: they say nothing of the topic, and a passage that answers does not repeat them. Knows no corpus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kb.text import analyze, analyze_query, find_words

# Least share of a unit's terms that shows it.
SHOWN = 0.5

UnitKind = Literal["word", "name", "number"]

# Words of English questions that frame what is asked: a passage that answers rarely holds them.
FRAMES = frozenset(
    "accord actual also call concern current describ descript did differ exact exampl explain far give happen kind list long "
    "make made mani mean mention might much must name number often purpos regard relat say said sort specif tell term thing time type use way "
    "work year".split()
)
# Question words, auxiliaries and frames of Korean questions, by their beginning.
_KOREAN_FRAMES = re.compile(
    r"(?:무엇|무슨|뭐|뭘|뭔|누구|누가|언제|어디|어느|어떤|어떻|어떠|왜|얼마|며칠|몇|있[는나습을으었고]|있다|없[는나습을으었다]|하[나는면려고]|해야|했[나습을]"
    r"|할까|할[수때]|한가|합니|되[나는면었어]|됩니|됐[나습]|된[다가]|될까|인가|입니|가장$|많이$|자주$|매우$|아주$|모두$|다시$|먼저$|처음$|함께$|바로$|이것|그것|저것|그리고|그러면|이란|대해|대한|관해|관한|위해|위한|따르면|경우"
    r"|알려|말해|가르쳐|주세|주나|줘|설명해|설명하|이유[는가]?$|방법[은을이]?$|때$|때[는에]?$|것[은이을]?$|수$|수[는도가]$|그$|이$|저$|안$|못$|및$|또는$|또$)"
)
# Particles and endings, the longest first, taken off the end of a Korean word once or twice.
_KOREAN_ENDINGS = (
    "었습니까 았습니까 였습니까 었나요 았나요 였나요 었는지 았는지 었을까 았을까 으려면 었을 았을 었던 았던 었다 았다 려면 "
    "했습니까 되었습니까 하였습니까 해야하나요 되었나요 하십니까 으려면 이라고 이라는 이었나 습니까 입니까 합니까 됩니까 인가요 은가요 는가요 을까요 할까요 될까요 "
    "하나요 되나요 했나요 됐나요 하는지 되는지 하려면 에서는 에서도 으로는 으로도 에게서 까지는 부터는 한테는 해야만 "
    "이란 라는 라고 인지 는지 은지 까요 나요 가요 니까 에요 예요 이죠 해야 하는 하면 하고 하여 해서 해요 하죠 하기 하게 한다 했다 되는 되면 된다 되어 하지 "
    "으면 에서 에게 에는 에도 으로 로는 로서 로써 까지 부터 마다 처럼 보다 이나 이며 이다 들은 들이 들을 들의 만을 과의 와의 한테 께서 "
    "은 는 이 가 을 를 의 에 로 도 만 과 와 요 들 할 한 된 될 나 야 며 고 면 던 죠 서 다"
).split()
_LAST_SYLLABLES = frozenset(ending for ending in _KOREAN_ENDINGS if len(ending) == 1) | frozenset("아어여")
_HANGUL_RUN = re.compile(r"[가-힣]+")
_CJK_RUN = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]+")
_HIRAGANA = re.compile(r"[ぁ-ん]")
_NAME = re.compile(r"[A-Z][\w'’.-]*|\w*[a-z][A-Z]\w*|\w+[._]\w[\w.]*|[A-Za-z]+[-]?\d[\w-]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*%?")


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing a question asks about.

    text        as the question writes it, particles taken off
    terms       index terms; one of several (an identifier's whole first, then its parts; the bigrams of a Korean word)
    kind        a name is capitalised inside the sentence, or written like an identifier
    is_certain  False where the terms may hold an ending: then it counts only when the corpus has them
    """

    text: str
    terms: tuple[str, ...]
    kind: UnitKind = "word"
    is_certain: bool = True

    def share_in(self, terms: frozenset[str]) -> float:
        """How much of the unit a text with these index terms shows: 0, or from SHOWN to 1.

        Less is chance: two Korean words often share a bigram.
        """
        if self.terms[0] in terms and not self.is_run():
            return 1.0
        parts = self.terms if self.is_run() else self.terms[1:]
        share = sum(part in terms for part in parts) / len(parts) if parts else 0.0
        return share if share >= SHOWN else 0.0

    def is_run(self) -> bool:
        """True for a word of a script without spaces, whose terms are its bigrams."""
        return not self.terms[0].isascii() and (
            _HANGUL_RUN.fullmatch(self.text) is not None or _CJK_RUN.fullmatch(self.text) is not None
        )


def units_of(question: str) -> list[Unit]:
    """What a question asks about, in its order, each once; its plain query terms where nothing but frame is left.

    >>> [u.text for u in units_of("According to Biden, how many jobs were created?")]
    ['Biden', 'jobs', 'created']
    >>> [u.text for u in units_of("쿼리 매개변수는 어떻게 선언하나요?")]
    ['쿼리', '매개변수', '선언']
    """
    units: list[Unit] = []
    is_first = True
    for word in find_words(question):
        for piece in _pieces(word):
            units.extend(_units_of_piece(piece, is_first))
        is_first = False
    found = list({unit.terms: unit for unit in units}.values())
    return found or [Unit(term, (term,)) for term in analyze_query(question)]


def _pieces(word: str) -> list[str]:
    """Stretches of one word in Hangul, in kana and Han, and in anything else."""
    return re.findall(r"[가-힣]+|[぀-ヿ㐀-鿿豈-﫿]+|[^가-힣぀-ヿ㐀-鿿豈-﫿]+", word)


def _units_of_piece(piece: str, is_first: bool) -> list[Unit]:
    if _HANGUL_RUN.fullmatch(piece):
        return _korean_units(piece)
    if _CJK_RUN.fullmatch(piece):
        # Hiragana is grammar in Japanese; what is left is asked about.
        return [Unit(t, (t,)) for t in analyze(piece) if not _HIRAGANA.search(t)]
    terms = tuple(analyze(piece.strip("._-'’")))
    if not terms or (len(terms) == 1 and (terms[0] in FRAMES or terms[0] not in analyze_query(f"{piece} 0"))):
        return []
    if _NUMBER.fullmatch(piece):
        return [Unit(piece, terms, "number")]
    is_name = _NAME.fullmatch(piece) is not None and not (is_first and piece[1:].islower())
    return [Unit(piece, terms, "name" if is_name else "word")]


def _korean_units(word: str) -> list[Unit]:
    if _KOREAN_FRAMES.match(word) or word in _KOREAN_ENDINGS:
        return []
    if any(word.endswith(ending) and len(word) == len(ending) + 1 for ending in _KOREAN_ENDINGS if len(ending) > 1):
        return []  # one syllable with an ending (번인가요, 씻나요): no bigram of it is its own
    stem = strip_korean_endings(word)
    if len(stem) < 2:
        return []
    # Of two syllables the last may be a particle or an ending: 돔은, 닫아; but also 나이.
    return [Unit(stem, tuple(analyze(stem)), is_certain=len(stem) > 2 or stem[-1] not in _LAST_SYLLABLES)]


def strip_korean_endings(word: str) -> str:
    """A Korean word without particles and endings; at least two syllables stay.

    >>> strip_korean_endings("컨테이너에서는"), strip_korean_endings("나이")
    ('컨테이너', '나이')
    """
    for _ in range(2):
        for ending in _KOREAN_ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 2:
                word = word[: -len(ending)]
                break
    return word
