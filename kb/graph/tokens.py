"""A sentence with marks → tokens, the names among them, and how sure each name is. Shared by the rules of all languages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.drafts import EndDraft
from kb.frozen import dataclass
from kb.graph.links import MARK_BASE, Mark
from kb.graph.names import NO_CODE_NAMES, TICKET, is_common, is_identifier, name_key

TOKEN = re.compile(r"[\ue000-\uf8ff]|#\d{1,7}\b|\w+(?:(?:::|[.:'’/+-])\w+)*(?:\(\))?(?:[+#]+(?!\w))?|[^\w\s]")
_CODE_NAME = re.compile(r"[^\s`]{1,60}")
_CAPITAL = re.compile(r"[A-Z]\w*(?:-\w+)*[+#]*", re.ASCII)
_ODD_CAPITAL = re.compile(r"\w+[A-Z]|\w*\d|[A-Z]{2,}", re.ASCII)
_LOWER = re.compile(r"[a-z][a-z0-9]{2,}(?:-[a-z0-9]+)*", re.ASCII)
_NO_NOUN = re.compile(r"(?:ing|ly|ed)$")
# "Marigold-style data" is data, not Marigold.
_TAILED = re.compile(
    r"-(?:style|based|like|compatible|related|specific|aware|only|free|side|level|powered|driven|first)$", re.I
)
LONGEST_RUN_WORDS = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """One relation that a sentence states."""

    subject: EndDraft
    predicate: str
    object: EndDraft


def is_mark(token: str) -> bool:
    """True for the character that stands for a code span or a link."""
    return "\ue000" <= token <= "\uf8ff"


def mark_of(token: str, marks: Sequence[Mark]) -> Mark | None:
    """The mark that a character stands for."""
    at = ord(token) - MARK_BASE
    return marks[at] if 0 <= at < len(marks) else None


def end_of_mark(token: str, marks: Sequence[Mark]) -> EndDraft | None:
    """The name of a code span or a link; None for code that is not a single name."""
    mark = mark_of(token, marks)
    if mark is None:
        return None
    if mark.kind == "code":
        if not _CODE_NAME.fullmatch(mark.label) or not re.search(r"[^\W\d]", mark.label):
            return None
        if mark.label.casefold() in NO_CODE_NAMES:
            return None
        return entity(mark.label)
    return EndDraft("link", str(ord(token) - MARK_BASE), mark.label)  # kb/graph/extract.py knows where it leads


def entity(label: str, *, is_sure: bool = True) -> EndDraft | None:
    """The end for a name; None where its key is too short to compare."""
    key = name_key(label)
    return EndDraft("entity", key, " ".join(label.split()), is_sure) if len(key) >= 2 else None


def end_of_words(words: Sequence[str], *, begins: bool) -> EndDraft | None:
    """The name in one or several capitalised words, an identifier or a plain word; None for other words.

    begins  the words begin the sentence, where a capital does not make a name
    """
    text = " ".join(words)
    if text.endswith(("'s", "’s", "s'", "s’")) or _TAILED.search(text):
        return None
    if len(words) == 1:
        word = words[0]
        if TICKET.fullmatch(word) or is_identifier(word.removesuffix("()")):
            return entity(word)
        if is_common(word):
            return None
        if is_capitalised(word):
            return entity(word, is_sure=not begins or _ODD_CAPITAL.match(word) is not None)
        return entity(word, is_sure=False) if _LOWER.fullmatch(word) and not _NO_NOUN.search(word) else None
    return entity(text) if all(is_capitalised(word) for word in words) else None


def is_capitalised(token: str) -> bool:
    """True for a capitalised word that is not a function word, month or weekday."""
    return _CAPITAL.fullmatch(token) is not None and not is_common(token)
