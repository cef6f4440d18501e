"""Why a sentence of an answer does not hold, in the language of the question: each reason of the checks has words in it."""

import re

import pytest

from kb.ask.records import SentenceCheck
from kb.ask.verify import verify
from kb.cli.doubts import describe_doubt, reason_in
from tests.unit.test_verdict import LIES, PASSAGES


@pytest.mark.parametrize(
    ("reason", "korean"),
    [
        ("it says 'must' where the text says 'may'", "답은 '해야 한다', 문서는 '해도 된다'"),
        ("it says 'not allowed' where the text does not", "'하면 안 된다'라는 말이 거기에 없음"),
        ("it says 'more than 6', the text does not", "'6 초과'라는 말이 거기에 없음"),
        ("'끈다' is the opposite of '켠다'", "'끈다'의 반대말 '켠다'가 문서에 있음"),
        ("'남쪽' stands for '북쪽'", "문서에는 '남쪽' 대신 '북쪽'이 있음"),
        ("'재단' and '손자' have changed places", "'재단'과 '손자'의 자리가 바뀜"),
        ("'김철수' is not named there", "'김철수'라는 이름이 거기에 없음"),
        ("'반드시 문을' is not said there", "'반드시 문을'이라는 말이 거기에 없음"),
        ("'41' is here only", "'41'는 답에만 있음"),
        ("'9원' belongs to '어른'", "'9원'은 '어른'에 해당함"),
        ("41미터 is not there", "'41미터'가 거기에 없음"),
        ("'lampctl drain' is not there", "'lampctl drain'가 거기에 없음"),
        ("the text does not seem to say this", "문서에 그런 말이 없는 듯함"),
        ("only what you told kb says so, no document", "문서에는 없고, 기억해 둔 사실에만 있음"),
        ("something new", "something new"),
    ],
)
def test_a_reason_in_korean(reason: str, korean: str) -> None:
    assert reason_in("ko", reason) == korean
    assert reason_in("en", reason) == reason


def test_no_reason_of_a_korean_lie_stays_english() -> None:
    korean = [text for text in LIES if re.search("[가-힣]", text)]
    told = [
        reason_in("ko", r) for text in korean for s in verify(text, PASSAGES).verification.sentences for r in s.reasons
    ]
    assert len(told) >= len(korean) / 2
    assert [reason for reason in told if not re.search("문서|답|자리|거기|해당", reason)] == []


@pytest.mark.parametrize(
    ("status", "english", "korean"),
    [
        ("weak", "only partly backed by [#2]", "[#2]에는 일부만 있음"),
        ("unsupported", "not backed by [#2]", "[#2]에 없음"),
        ("contradicted", "not what [#2] says", "[#2]의 내용과 다름"),
        ("misattributed", "not backed by [#2] but by [#3]", "[#2]에는 없고 [#3]에 있음"),
        ("uncited", "cites nothing, and nothing backs it", "인용이 없고, 맞는 대목도 없음"),
    ],
)
def test_a_doubt_in_both_languages(status: str, english: str, korean: str) -> None:
    check = SentenceCheck(start=0, end=1, text="x", markers=(2,), status=status, score=0.1, misattributed_to=3)  # type: ignore[arg-type]
    assert (describe_doubt(check), describe_doubt(check, "ko")) == (english, korean)
