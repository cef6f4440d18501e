"""Everyday words and the words that documents have for the same thing: a question about an 엘베 is one about the 승강기.

Only whole words for one thing, which no question tells apart. Read where a question's word is looked for in passages (kb/evidence).
"""

from __future__ import annotations

from functools import cache

# The words of a line stand for each other.
_ENGLISH = """
stolen theft thief steal stole
kid kids child children
fridge refrigerator
bike bicycle
phone telephone mobile smartphone cellphone
tv television
doctor physician gp
trash rubbish garbage waste bin bins
flat apartment
holiday holidays vacation
quit resign resigns resigned resignation
boss manager supervisor
salary wage wages
expensive costly
cheap inexpensive low-cost
lift elevator
petrol gasoline
cellar basement
loo toilet restroom lavatory
broken defective faulty
ill sick sickness illness
photo photos picture pictures photograph photographs
email e-mail mail
wifi wi-fi wlan
dad father
mum mom mother
grandma grandmother
grandpa grandfather
cancel cancellation cancelled canceled
refund reimbursement reimbursed
smoke smoking
swim swimming
landlord lessor
tenant lessee
uni university
prof professor
exam examination
ad advert advertisement
fix repair repaired repairs
buy purchase
password passcode
login sign-in
luggage baggage
airplane aeroplane plane aircraft
"""
_KOREAN = """
핸드폰 휴대폰 휴대전화 스마트폰 폰
엘베 엘리베이터 승강기
병문안 면회 문병
지출 경비 비용
세입자 임차인
집주인 임대인
월세 차임
애기 아기 영아
아이 자녀 어린이 아동
강아지 개 반려견
고양이 반려묘
쓰레기 폐기물
선생님 교사
와이프 아내
알바 아르바이트 시간제
월급 급여 임금 봉급
퇴사 퇴직
화장실 세면실
컴퓨터 컴 PC
노트북 랩탑
와이파이 무선랜
비번 비밀번호 암호
아이디 계정
이메일 메일 전자우편
인테리어 내부공사 공사
택배 배송
환불 반환
아침밥 조식
점심밥 중식
저녁밥 석식
성함 이름 성명
나이 연령 연세
집 주택
차 자동차 차량
자전거 바이크
전기세 전기료 전기요금
수도세 수도료 수도요금
벌금 과태료 연체료
할머니 조모
할아버지 조부
밀가루 밀
"""


@cache
def _groups() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in (_ENGLISH + _KOREAN).strip().splitlines():
        words = frozenset(word.casefold() for word in line.split())
        for word in words:
            found[word] = found.get(word, frozenset()) | words
    return found


def same_as(word: str) -> frozenset[str]:
    """The other words for the same thing; none of most words.

    >>> sorted(same_as("theft"))
    ['steal', 'stole', 'stolen', 'thief']
    """
    return _groups().get(word.casefold(), frozenset()) - {word.casefold()}
