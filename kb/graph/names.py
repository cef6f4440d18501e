"""Words → names: the key that names are compared by, and which words are written like a name, English and Korean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from kb.language.korean_particles import strip_particle
from kb.language.registry import words

# Anything longer is a sentence.
LONGEST_NAME_CHARS = 80
KOREAN_NAME_CHARS = 3
_ARTICLES = re.compile(r"^(?:the|a|an)\s+")
_EDGES = " \t\n\"'`“”‘’*_~.,;:!?()[]{}<>«»「」『』…"
# Suffixes that a link may leave out or exchange: a page and its source are the same document.
_DOCUMENT_SUFFIXES = frozenset(".md .markdown .mdx .html .htm .xhtml .rst .adoc .asciidoc .org .txt".split())
_FOLDER_PAGES = frozenset(("index", "readme", "_index", ""))

# A word that may be an identifier, parts joined by `::`, `->` or dots. All open repetitions here are possessive, so that a line of half
# a million letters is read once.
_CODE_WORD = re.compile(r"(?<![\w./\\@#-])[A-Za-z_]\w*+(?:(?:::|\.|->)[A-Za-z_]\w*+)*+(?![/@])", re.ASCII)
# snake_case, a::b, camelCase, CONSTANT_CASE, PascalCase: shapes that no prose word has.
IDENTIFIER = re.compile(
    r"[A-Za-z_]\w*(?:(?:::|->)[A-Za-z_]\w*)+|_{0,2}[A-Za-z]\w*_\w+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+"
    r"|(?:[A-Z][a-z0-9]+){2,}[A-Z]*|[A-Z][a-z]+[A-Z]{2,}\w*",
    re.ASCII,
)
# In prose a dot may end a sentence without a space, so the parts must be lower case; web addresses are left out.
DOTTED = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w+)+", re.ASCII)
_ADDRESS = re.compile(r"\.(?:com|org|net|io|dev|html?|kr|co|edu|gov|md|txt)\b|^www\.|^(?:i\.e|e\.g)\b")
TICKET = re.compile(r"(?<![\w&])#\d{1,7}(?!\w)|(?<![\w-])[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![\w-])")

_CAPITALISED = r"[A-Z]\w++(?:['’-]\w++)?+"
PROPER = re.compile(
    rf"(?<![\w@#/.-]){_CAPITALISED}(?:[ ](?:(?:of|de|van|von)[ ])?{_CAPITALISED}){{0,3}}+(?![@/])", re.ASCII
)
_KOREAN_WORD = re.compile(r"(?<![가-힣\w])[가-힣]{4,14}(?![가-힣\w])")


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """The key that names are compared by: NFKC, casefolded, single spaces, without article, quotes and call brackets.

    >>> name_key("The  “Marigold”"), name_key("`parse()`")
    ('marigold', 'parse')
    """
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split()).strip(_EDGES)
    return _ARTICLES.sub("", folded).strip(_EDGES)[:LONGEST_NAME_CHARS]


def spaced_key(stem: str) -> str:
    """The key of a file name read as words: `marigold-telescope` → `marigold telescope`."""
    return name_key(re.sub(r"[-_.\s]+", " ", stem))


def path_key(path: str) -> str:
    """The key that link targets are compared by: the path without its suffix; a folder stands for its index page.

    >>> path_key("guide/Install.html"), path_key("guide/index.md"), path_key("code/queue.py")
    ('guide/install', 'guide', 'code/queue.py')
    """
    pure = PurePosixPath(unicodedata.normalize("NFC", path))
    if pure.suffix.lower() in _DOCUMENT_SUFFIXES:
        pure = pure.with_suffix("")
    if pure.name.lower() in _FOLDER_PAGES:
        pure = pure.parent
    return str(pure).casefold()


def korean_noun(word: str) -> str | None:
    """The noun of a Korean word with a particle; None for a word without one, or that is unlikely to be a name.

    Words of two syllables are mostly common nouns (작업, 버전, 기능); those in -하, -되 or -적 are not nouns.
    """
    bare = strip_particle(word)
    if (
        bare == word
        or len(bare) < KOREAN_NAME_CHARS
        or bare in words("names_nothing")
        or bare[-1] in "하되적히해로서며"
    ):
        return None
    return bare


# Code spans that are keywords or basic types, not names.
NO_CODE_NAMES = frozenset(
    "true false none null nil self this super i32 u32 str int bool string let if else for while return and or not in".split()
)


def is_common(word: str) -> bool:
    """True for a word that is not a name even when capitalised."""
    return word.casefold() in words("names_nothing")


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
        opens = sentence[max(0, at - 40) : at].rstrip()[-1:] == ":" and " " not in name  # "a task: Write a function"
        if at > begins and len(name) >= 3 and not opens and not is_common(name):
            yield at, name


def korean_names(text: str) -> Iterator[tuple[int, str, str]]:
    """(offset, noun, particle) of Korean words with a particle behind them."""
    for match in _KOREAN_WORD.finditer(text):
        word = match.group()
        if noun := korean_noun(word):
            yield match.start(), noun, word[len(noun) :]
