"""Korean: how a question tells of one case, and how a text rules such cases. Tables only.

"화요일에 여나요?" is ruled by "수요일~일요일", and "아이가 5살인데" by "6세 미만".
"""

from __future__ import annotations

from collections.abc import Mapping

from kb.language.interface import PatternKind

_DAY = r"[월화수목금토일](?:요일)?"
_DATE = r"\d{1,2}월(?:\s?(?:\d{1,2}일|초|말|중순))?"
_TO = r"\s?(?:[~∼～\-–]|부터|에서)\s?"
_CLOCK = r"(?:\d{1,2}:\d\d|\d{1,2}시(?:\s?(?:\d{1,2}분|반))?)"
_BOUND = r"\s?(?:부터|까지|이후|이전|전에|후에)"

CASE_PATTERNS: Mapping[PatternKind, str] = {
    "case_weekday": r"[월화수목금토일]요일",
    "rule_weekday": (
        rf"(?<![가-힣]){_DAY}{_TO}{_DAY}(?![가-힣]{{2}})|(?<![가-힣])[월화수목금토일]요일(?:과|와|이나|,|·)\s?[월화수목금토일]요일"
        r"|(?<![가-힣])(?:평일|주말|매일|매주|연중무휴)"
    ),
    "case_date": r"(?<!\d)(?:1[0-2]|0?[1-9])월(?:\s?(?:3[01]|[12]\d|0?[1-9])일)?",
    "rule_date": rf"{_DATE}{_TO}(?:{_DATE}|\d{{1,2}}일)|{_DATE}{_BOUND}|연중",
    "case_clock": rf"(?<!\d){_CLOCK}",
    "rule_clock": rf"{_CLOCK}{_TO}(?:오전|오후|저녁|밤|새벽)?\s?{_CLOCK}|{_CLOCK}{_BOUND}",
    "case_age": r"\d{1,3}\s?(?:살|세(?!트|대|기|계|션|탁|금|제|미나|월|번))",
    "rule_age": r"\d{1,3}\s?(?:살|세)\s?(?:이상|이하|미만|초과|부터|까지|이후|[~∼～\-–])",
    "case_people": r"\d{1,4}\s?명",
    "rule_people": r"\d{1,4}\s?(?:명|인)\s?(?:이상|이하|미만|초과|까지|부터|[~∼～\-–])",
    # What has been is no case of a rule, nor is it asked who or why.
    "no_case": r"누구|(?<![가-힣])왜(?![가-힣])|[았었했였됐]나요|[았었했였됐](?:어|지|습니까|는지|을까)",
}
