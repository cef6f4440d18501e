"""A question when something happened → whether a text tells only of its opposite: born for died, opens for closes. Pure."""

from __future__ import annotations

import re

# (1856 – 1943) tells of both ends of a life.
_LIFE = r"|\([^()]{0,120}\d{4}[^()]{0,30}[–~-][^()]{0,30}\d{4}"
# Two opposite events a line, as regular expressions over lower-case text: English, then Korean.
_OPPOSITES = (
    (
        r"\b(?:born|birth)\b|태어|출생|탄생" + _LIFE,
        r"\b(?:die[sd]?|dead|death|dying|killed|passed away|executed|assassinated|murdered|perished)\b"
        r"|죽|사망|별세|서거|숨[졌진을]|타계|세상을 떠|전사|처형|암살|피살|병사" + _LIFE,
    ),
    (
        r"\b(?:open(?:s|ed|ing)?)\b|개점|개장|개관|개업|문을\s*(?:열|여)|(?<![가-힣])(?:여나요|여는|여니|열어|열었|열고|연다|엽니다)",
        r"\b(?:clos(?:e|es|ed|ing|ure)|shuts?)\b|폐점|폐장|폐관|폐업|닫",
    ),
    (
        r"\b(?:arriv(?:e|es|ed|ing|al)|gets? in|lands?)\b|도착",
        r"\b(?:depart(?:s|ed|ing|ure)?|leav(?:e|es|ing)|left|sails?)\b|출발|떠나|떠난|떠났",
    ),
)


def tells_of_opposite(question: str, text: str) -> bool:
    """True where the text tells of the opposite event, and not of the one that is asked for.

    >>> tells_of_opposite("When did Lind die?", "Lind was born in 1923."), tells_of_opposite("When did Lind die?", "Lind fell in 1971.")
    (True, False)
    >>> tells_of_opposite("가게는 언제 닫나요?", "가게는 9시에 문을 열고 6시에 닫는다.")
    False
    """
    question, text = question.lower(), text.lower()
    for pair in _OPPOSITES:
        for asked, other in (pair, pair[::-1]):
            if re.search(asked, question) and not re.search(other, question):
                return re.search(other, text) is not None and re.search(asked, text) is None
    return False
