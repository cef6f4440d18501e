"""Which nodes a question that stands alone bears on, by its words, in English and Korean. Pure; compiled when needed."""

from __future__ import annotations

import re
from functools import cache

from kb.relevance.phrases import has_implicit_reference, is_about_kb, is_errand, tidy

_PATTERNS = {
    "time": (
        r"\b(?:today|tonight|yesterday|tomorrow)\b|\bwhat (?:day|date|time) is it\b|\bwhat(?:'s| is) (?:the|today's) (?:day|date|time)\b"
        r"|\b(?:current|present) (?:date|time)\b|오늘|어제|내일|(?:지금|현재) ?(?:몇 ?시|날짜|시각|시간)|며칠(?:이야|인가요|이에요|입니까|이지|인지)|무슨 요일"
    ),
    "date": (
        r"\bwhat (?:day|date) is it\b|\bwhat(?:'s| is) (?:the|today's|the current) (?:day|date)\b|\bwhich day (?:is it|of the week)\b"
        r"|오늘(?:이|은)? ?(?:며칠|몇 ?월|무슨 요일|날짜)|날짜가? ?(?:어떻게|뭐)"
    ),
    "corpus": (
        r"\b(?:ingest|index)(?:ed)?\b.{0,40}\b(?:last|latest|lately|recently|newest|new|today|yesterday)\b"
        r"|\b(?:last|latest|lately|recently|newest|new)\b.{0,40}\b(?:ingest(?:ed)?|indexed|notes?|documents?|files?)\b"
        r"|\bhow many (?:documents|files|notes)\b.{0,30}\b(?:kb|knowledge base|have|are there|do you)\b"
        r"|(?:최근|새로|마지막).{0,20}(?:추가|수집|색인|문서|노트|파일)|(?:문서|노트|파일)[가이는은]? ?(?:몇|얼마나)"
    ),
    "here": (
        r"\b(?:this|current|working) (?:folder|directory|terminal|machine|shell|locale)\b|\bwhere am i\b|\b(?:cwd|pwd)\b"
        r"|(?:이|현재|지금) ?(?:폴더|디렉터리|디렉토리|터미널)|여기(?:가|는)? 어디"
    ),
    "overview": (
        r"\b(?:overview|summar(?:y|ies|i[sz]e\w*)|outline|gist|tl;?dr)\b|\bwhat (?:is|are) .{1,60} about\b"
        r"|요약|개요|줄거리|(?:무슨|어떤) 내용|무엇에 (?:대한|관한)"
    ),
    "tasks": (
        r"\bto-?dos?\b|\b(?:open|pending|unfinished|remaining|outstanding) (?:items?|tasks?|points?)\b|\b(?:my|our) (?:tasks?|lists?|checklists?)\b"
        r"|\bwhat (?:is|'s|do i have) (?:left |still )?to do\b|할 ?일|해야 ?할 (?:일|것)|미완료|남은 (?:일|작업|항목)|체크리스트"
    ),
    "past": (
        r"\b(?:did|have|had) i (?:just |already |ever )?(?:ask|say|search|tell|look)\w*\b|\bwe (?:discussed|talked|spoke)\b|\byou (?:said|told|answered|mentioned)\b"
        r"|\b(?:last|previous|earlier|my) (?:question|answer|session|conversation)s?\b|\blast time\b|\b(?:did|asked) (?:before|earlier)\b"
        r"|(?:내가|제가) .{0,20}(?:물었|물어봤|질문|말했|검색)|(?:지난번|아까|이전|전에|저번)|(?:마지막|방금) (?:질문|답)"
    ),
    "commands": r"\b(?:commands?|what) (?:did|have) i (?:run|do|ran|done|execute)\w*\b|\brecent commands\b|(?:최근|마지막)(?:에)? ?(?:실행|명령)",
}  # fmt: skip


@cache
def _compiled(name: str) -> re.Pattern[str]:
    return re.compile(_PATTERNS[name])


def asks_about(question: str, *subjects: str) -> bool:
    """True when the question speaks of one of the subjects, names of the table above.

    >>> asks_about("What day is it?", "time"), asks_about("What is a borrow checker?", "time", "corpus")
    (True, False)
    """
    tidied = tidy(question)
    return any(_compiled(subject).search(tidied) for subject in subjects)


def refers_back(question: str) -> bool:
    """True when the question leans on something said before."""
    tidied = tidy(question)
    return has_implicit_reference(tidied) or _compiled("past").search(tidied) is not None


def is_for_kb(question: str) -> bool:
    """True when kb itself is to do something, or to say what it can do."""
    tidied = tidy(question)
    return is_errand(tidied) or is_about_kb(tidied)
