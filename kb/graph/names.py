"""Words → names: the key that names are compared by, and which words are written like a name, English and Korean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from kb.text import STOP_WORDS

# A name longer than this is a sentence.
LONGEST_NAME_CHARS = 80
KOREAN_NAME_CHARS = 3
_ARTICLES = re.compile(r"^(?:the|a|an)\s+")
_EDGES = " \t\n\"'`“”‘’*_~.,;:!?()[]{}<>«»「」『』…"
# What follows a Korean noun; the longest first, since 에서는 ends in 는 too.
_PARTICLES = (
    "으로부터 에서부터 에게서 이라는 이라고 에서는 에서도 으로는 으로서 으로써 까지는 에게는 라는 라고 에는 에도 에서 에게 으로 부터 까지 처럼 보다 이나 이란 와는 과는 와의 과의"
    " 만의 들은 들이 들을 들의 은 는 이 가 을 를 의 에 로 와 과 도 만 란 나"
).split()
_PARTICLE = re.compile(rf"(?:{'|'.join(_PARTICLES)})$")
HANGUL = re.compile(r"[가-힣]")
_HANGUL_TAIL = re.compile(r"(?<=[^가-힣\s])[가-힣]+$")
# Suffixes that a link may leave out, or write in place of another: a page and its source are one thing.
_DOCUMENT_SUFFIXES = frozenset(".md .markdown .mdx .html .htm .xhtml .rst .adoc .asciidoc .org .txt".split())
_FOLDER_PAGES = frozenset(("index", "readme", "_index", ""))

# A word that may be an identifier, parts joined by `::`, `->` or dots. Possessive, as are all open runs here: a line of half
# a million letters is read once.
_CODE_WORD = re.compile(r"(?<![\w./\\@#-])[A-Za-z_]\w*+(?:(?:::|\.|->)[A-Za-z_]\w*+)*+(?![/@])", re.ASCII)
# snake_case, a::b, camelCase, CONSTANT_CASE, PascalCase: shapes that no prose word has.
IDENTIFIER = re.compile(
    r"[A-Za-z_]\w*(?:(?:::|->)[A-Za-z_]\w*)+|_{0,2}[A-Za-z]\w*_\w+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+"
    r"|(?:[A-Z][a-z0-9]+){2,}[A-Z]*|[A-Z][a-z]+[A-Z]{2,}\w*",
    re.ASCII,
)
# In prose a dot may be the end of a sentence without its blank: only lower-case parts, and none that is a web address.
DOTTED = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w+)+", re.ASCII)
_ADDRESS = re.compile(r"\.(?:com|org|net|io|dev|html?|kr|co|edu|gov|md|txt)\b|^www\.|^(?:i\.e|e\.g)\b")
TICKET = re.compile(r"(?<![\w&])#\d{1,7}(?!\w)|(?<![\w-])[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![\w-])")

# A capital at the beginning of a sentence says nothing; within one it does, but for these.
_NO_NAMES = STOP_WORDS | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september"
    " october november december english korean ok yes no note see also here there each every all some any most many both"
    " neither either please however therefore thus hence once first second third finally next last new old other another"
    " api apis ui gui cli os sdk ide url urls faq todo chapter section figure table listing appendix page part step example one two three four five".split()
)
_CAPITALISED = r"[A-Z]\w++(?:['’-]\w++)?+"
PROPER = re.compile(
    rf"(?<![\w@#/.-]){_CAPITALISED}(?:[ ](?:(?:of|de|van|von)[ ])?{_CAPITALISED}){{0,3}}+(?![@/])", re.ASCII
)
_KOREAN_WORD = re.compile(r"(?<![가-힣\w])[가-힣]{4,14}(?![가-힣\w])")
# Korean words that end like a noun with a particle and are none, or name nothing.
_KOREAN_NO_NAMES = frozenset(
    "그것 이것 저것 우리 여기 거기 저기 무엇 누구 모두 모든 하나 다음 이후 이전 경우 때문 결과 내용 방법 문제 부분 사람 시간 오늘 내일 어제 지금 아침 저녁 오전 오후 다른 자신 어느 이번 지난"
    " 그때 이때 사이 정도 이상 이하 동안 함께 이런 그런 어떤 같은 있는 없는 하는 되는 그리고 그러나 하지만 또한 따라서 그래서 때마다 처음 마지막 이름 값을 것을 수도 위해 통해 대해 사용자 사용 필요 가능 추가".split()
)


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """What names are compared by: NFKC, casefolded, one blank between words, without article, quotes and call brackets.

    >>> name_key("The  “Marigold” telescope"), name_key("`parse()`")
    ('“marigold” telescope', 'parse')
    """
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split()).strip(_EDGES)
    return _ARTICLES.sub("", folded).strip(_EDGES)[:LONGEST_NAME_CHARS]


def spaced_key(stem: str) -> str:
    """The key of a file name read as words: `marigold-telescope` → `marigold telescope`."""
    return name_key(re.sub(r"[-_.\s]+", " ", stem))


def path_key(path: str) -> str:
    """Where a document lies, by which links are compared: without its suffix, a folder for its index page.

    >>> path_key("guide/Install.html"), path_key("guide/index.md"), path_key("code/queue.py")
    ('guide/install', 'guide', 'code/queue.py')
    """
    pure = PurePosixPath(unicodedata.normalize("NFC", path))
    if pure.suffix.lower() in _DOCUMENT_SUFFIXES:
        pure = pure.with_suffix("")
    if pure.name.lower() in _FOLDER_PAGES:
        pure = pure.parent
    return str(pure).casefold()


def strip_particle(word: str) -> str:
    """A Korean word without its particle, `FastAPI에서` without its Korean tail; as it is where nothing would be left.

    >>> strip_particle("튤립에"), strip_particle("FastAPI에서"), strip_particle("나는")
    ('튤립', 'FastAPI', '나는')
    """
    if not HANGUL.search(word):
        return word
    tail = _HANGUL_TAIL.search(word)
    if tail and _PARTICLE.fullmatch(tail.group()):
        return word[: tail.start()]
    bare = _PARTICLE.sub("", word)
    return bare if len(bare) >= 2 else word


def korean_noun(word: str) -> str | None:
    """The noun of a Korean word that carries a particle, None where none is seen or it is hardly a name.

    Words of two syllables are mostly common nouns (작업, 버전, 기능), and those in -하, -되 or -적 are no nouns.
    """
    bare = strip_particle(word)
    if bare == word or len(bare) < KOREAN_NAME_CHARS or bare in _KOREAN_NO_NAMES or bare[-1] in "하되적히해로서며":
        return None
    return bare


# Code spans that name nothing of their own: keywords and basic types.
NO_CODE_NAMES = frozenset(
    "true false none null nil self this super i32 u32 str int bool string let if else for while return and or not in".split()
)


def is_common(word: str) -> bool:
    """True for a word that is no name even when it is capitalised."""
    low = word.casefold()
    return low in _NO_NAMES or word in _KOREAN_NO_NAMES


@lru_cache(maxsize=65_536)
def is_identifier(word: str) -> bool:
    """True for a word with the shape of code: `parse_config`, `os.path`, `HttpServer`, `Vec::new`.

    >>> is_identifier("TestClient"), is_identifier("example.com"), is_identifier("Rust")
    (True, False, False)
    """
    is_emphasis = word[0] == "_" == word[-1] and word[:2] != "__"  # _mod.rs_
    if len(word) > LONGEST_NAME_CHARS or is_emphasis or _ADDRESS.search(word):
        return False
    return IDENTIFIER.fullmatch(word) is not None or DOTTED.fullmatch(word) is not None


def identifiers(text: str) -> Iterator[tuple[int, str]]:
    """(offset, identifier) of words shaped like code."""
    for match in _CODE_WORD.finditer(text):
        word = match.group()
        if is_identifier(word):
            yield match.start(), word


def proper_names(sentence: str) -> Iterator[tuple[int, str]]:
    """(offset, name) of capitalised runs that do not begin the sentence."""
    begins = len(sentence) - len(sentence.lstrip(_EDGES + "-#>|0123456789"))
    for match in PROPER.finditer(sentence):
        name = match.group()
        first, _, rest = name.partition(" ")
        while first and is_common(first):  # "In May Tomasz" is Tomasz
            name, (first, _, rest) = rest, rest.partition(" ")
        at = match.end() - len(name)
        name = name.removesuffix("'s").removesuffix("’s")
        opens = sentence[:at].rstrip()[-1:] == ":" and " " not in name  # "a task: Write a function"
        if at > begins and len(name) >= 3 and not opens and not is_common(name):
            yield at, name


def korean_names(text: str) -> Iterator[tuple[int, str, str]]:
    """(offset, noun, particle) of Korean words with a particle behind them."""
    for match in _KOREAN_WORD.finditer(text):
        word = match.group()
        if noun := korean_noun(word):
            yield match.start(), noun, word[len(noun) :]
