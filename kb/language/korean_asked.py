"""Korean: what a question asks for, and what holds it. Tables only; Korean asks anywhere in the sentence."""

from __future__ import annotations

from collections.abc import Mapping

from kb.language.interface import PatternKind

_PRICE = r"(?:요금|가격|비용|값|연봉|월급|수수료)"

ASKED_PATTERNS: Mapping[PatternKind, str] = {
    "asks_price": (
        rf"{_PRICE}.{{0,12}}얼마|얼마.{{0,8}}(?:{_PRICE}|내야|주고)"
        r"|(?<!시간이 )(?<!시간은 )얼마(?:가|나|쯤|정도)?\s?(?:드나|드는|들어|들까|들었|든다|드냐|듭니)"
    ),
    "tells_price": r"\d\s?[만천백억]?\s?원|[만천백억]\s?원|달러|유로|\d\s?엔|무료|\d\s?만(?![가-힣])",
    "asks_frequency": r"얼마나\s*자주|며칠마다|몇\s*\S+마다",
    "tells_frequency": r"마다|매일|매주|매달|매년|격주|번|회",
    "asks_duration": r"얼마\s*동안|얼마나\s*(?:오래|걸)",
    "tells_duration": r"초|분|시간|일|주|개월|달|년|영구|계속",
    "asks_count": (
        r"(?<![가-힣])몇\s?(?:개|명|번|대|장|가지|곳|마리|권|층|살|세|퍼센트|%|회|쪽|페이지|줄|종|일|시간|분|초|달|년(?!도|에\s))|(?<![가-힣])(?<!월 )며칠"
    ),
    "asks_number": r"(?<![가-힣])몇|얼마",
    # Not behind another syllable: 단일 명령어 counts nobody.
    "tells_number": (
        r"(?<![가-힣])(?:(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스물|서른)\s?(?:개|명|번|시간|달|가지|대|벌|살|주|차례|사람|조|통|배|곳|쪽|종|장|권)"
        r"|[일이삼사오육칠팔구십백천만]+\s?(?:개|명|번|년|월|일|주|회|배|초|분))|하나(?!의)|여러|무제한|수십|수백|수천|수만"
    ),
    "asks_event_date": (
        r"언제.{0,12}(?:나오|나왔|출시|발매|발표|태어|출생|죽|사망|설립|창립|세워|건립|건국|지어|개봉|발생|일어|만들어졌|개최|열렸)"
        r"|(?<![가-힣])몇\s?년(?:도|에\s)"
    ),
    "tells_event_date": r"\d\s?(?:년|월|일|세기)|세기|연대|요일",
    "asks_date": r"언제|(?<![가-힣])몇\s?월\s?며칠",
    "tells_date": (
        r"매월|매달|말일|\d\s?(?:년|월|일|시|분|초|주|개월)|세기|요일|때|후에|전에|이후|이전|동안|아침|저녁|밤|정오|자정|봄|여름|가을|겨울|마다|매일|매년|뒤"
        r"|면[\s,]|경우|즉시|직후|직전|다음|하자마자|순간"
    ),
    "asks_reason": r"(?<![가-힣])왜(?![가-힣])",
    "tells_reason": r"때문|므로|니까|위해|위하|이유|덕분|따라서|그래서|도록|으려|려고|라서|어서|아서|면 |지 않",
    "label_number": r"(?:예제|그림|표|버전|단계)\s?\d[\d.–-]*|\d+\s?[장절](?![가-힣])|한\s?번(?:의|에|만에)(?![가-힣])",
}
