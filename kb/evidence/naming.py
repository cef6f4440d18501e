"""A question and the passage that is quoted → the names and numbers of the question that the passage has in no form. Pure.

What is said of one thing answers no question about another: "Which oil does Thistle take?" is not answered by Marigold's page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kb.evidence.cases import is_bounded, is_case
from kb.evidence.question import units_of
from kb.evidence.standing import Standing
from kb.language.korean_query import possessors
from kb.language.systems import systems_in
from kb.text import STOP_WORDS, analyze

_SPACE = re.compile(r"\s+")
# Particles of Hangul stand right behind a word in Latin letters.
_UNSPACED = re.compile(r"[^\s가-힣]+|[가-힣]+")


def is_name(text: str, question: str) -> bool:
    """Whether a word of a question is a name in Latin letters or a number, and no plain word under a capital.

    >>> is_name("CEO", "Who is the CEO of Rust?"), is_name("Server", "How Do I Start The Server"), is_name("pay", "")
    (True, False, False)
    >>> is_name("Oracle", "How do I use FastAPI with Oracle Forms?")
    True
    """
    if not text.isascii() or (text.islower() and text.isalpha()):
        return False
    # In "How Do I Start The Server" a capital makes no name; inside a word, or beside a digit, it does.
    words = question.split()[1:]
    small = [word for word in words if word.lower() in STOP_WORDS and word != "I"]
    capitals = [word[0].isupper() for word in small or words if small or len(word) > 2]
    return not (text.istitle() and 2 * sum(capitals) > len(capitals))


def names_lacking(
    question: str,
    quoted: str,
    others: Sequence[str] = (),
    *,
    common: Collection[str] = (),
    everywhere: Collection[str] = (),
    is_spoken: bool = False,
) -> tuple[str, ...]:
    """The names and numbers of a question that stand in no form in the passage that is quoted; in their order.

    quoted     with its title, headings and path
    others     further passages that were found: a Hangul noun counts as a name where one of them speaks of it
    common     units of the question that many passages of the corpus have: an abbreviation, a number or a Hangul noun among them is no
               name, as JSON in the pages of a web framework
    everywhere units that so many have that they are what the documents are about: where something is done, none needs to say it
    is_spoken  the passages are a speech or a letter: there the question alone names who speaks
    returns    as the question writes them

    >>> names_lacking("Which oil does Thistle's axis take?", "Marigold's polar axis takes ISO 46.")
    ('Thistle',)
    >>> names_lacking("동백 망원경의 풍속 한계는?", "마리골드 망원경은 초속 15미터에서 닫는다.", ["주 망원경은 '동백'이다."])
    ('동백',)
    >>> names_lacking("How do I install it on macOS?", "Mac: call brew install jj.")
    ()
    >>> names_lacking("How do I read a file in Rust?", "Call read_to_string.", everywhere=["Rust"])
    ()
    >>> names_lacking("POST로 보낸 JSON은?", "요청 본문을 선언한다.", common=["JSON"])
    ('POST',)
    """
    standing, systems = Standing([quoted], frozenset(analyze(quoted))), systems_in(quoted)
    lacking = [
        _as_written(unit.text, question)
        for unit in units_of(question)
        if unit.kind != "word"
        and len(unit.text) > 1  # "three" may stand for 3
        and not (unit.text in everywhere and _is_where(unit.text, question))
        and (unit.text not in common or (unit.text[0].isupper() and unit.text[1].islower()))
        and is_name(unit.text, question)
        and not (is_spoken and unit.text.removesuffix("'s").istitle())
        and not standing.holds(unit)
        and not systems_in(_as_written(unit.text, question)) & systems
        and not is_bounded(unit.text, question, quoted)
        and not is_case(unit.text, question, [quoted])
    ]
    here, elsewhere = _SPACE.sub("", quoted), _SPACE.sub("", "\n".join(others))
    named = [
        name
        for name in possessors(question)
        if name not in here and name in elsewhere and not any(unit.startswith(name) for unit in common)
    ]
    return tuple(dict.fromkeys((*lacking, *named)))


def _is_where(name: str, question: str) -> bool:
    """Whether a name only says where something is done: "in Rust", "FastAPI에서"; "Thistle's oil" is of one of several."""
    here = re.escape(name)
    return re.search(rf"\b(?:in|with|within|using)\s+{here}\b|\b{here}(?:에서|로|으로)", question) is not None


def _as_written(part: str, question: str) -> str:
    """The word of which a unit is a part, without particles and marks around it: E-152, of which 152 is a unit."""
    whole = next((word for word in _UNSPACED.findall(question) if part in word), part)
    return whole.strip(".,;:!?()\"'“”‘’-").removesuffix("'s").removesuffix("’s")
