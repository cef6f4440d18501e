"""The turns of phrase by which a prompt is a greeting, a thank-you, a reference back, urgent, or an errand for kb.

English and Korean beside each other, matched against text that `tidy` has prepared. Each pattern is compiled when it is
first needed. Whatever tells a real phrase from a technical term that looks like it (a TCP urgent pointer, 지급해요) is in
the pattern, and in the tables of tests/relevance/test_signals.py.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Phrases are looked for in so many characters from the front: what follows is material, not manner.
MOST_CHARS = 2000
# Nothing longer is only a courtesy, whatever its words.
MOST_COURTESY_CHARS = 120


def tidy(text: str) -> str:
    """NFKC, lower case, straight apostrophes, single spaces; cut to MOST_CHARS.

    >>> tidy("  What’s\\tUP ")
    "what's up"
    """
    return " ".join(unicodedata.normalize("NFKC", text[:MOST_CHARS]).casefold().replace("’", "'").split())


_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
# A word ends here; a hyphen goes on with it, as in hi-fi.
_END = r"(?![\w-])"
# Not inside a Korean word: 지급해 is paying, 급해 is being in a hurry.
_START = r"(?<![가-힣])"

_GREETINGS = [
    r"he+y+(?: there)?|hi+|hello+(?! world)|yo|sup|what'?s up|howdy|hiya|heya|greetings|good (?:morning|afternoon|evening)",
    r"안녕(?:하세요|하십니까|하신가요|하셨어요|하셨나요)?|하이(?:요|루)?|헬로우?|반가(?:워요?|워용)|반갑습니다|여보세요",
    r"좋은 (?:아침|오후|저녁|하루)(?:이에요|입니다|이야|이네요|요)?|굿 ?모닝|굿 ?이브닝|(?:ㅎㅇ)+|오랜만(?:이에요|이네요?|이야|입니다)?",
]
_COURTESIES = [
    *_GREETINGS,
    r"morning|evening|afternoon|(?:i'm |i am )?back(?: again)?|me again",
    r"저 ?왔(?:어요?|습니다)|다녀왔(?:어요?|습니다)",
    # thanks and praise
    r"thanks?(?: you| u)?(?: for (?:clarifying|explaining|helping|checking|confirming|asking|sharing|telling me|letting me know|looking|answering))?|thx|tnx|tq|ta|ty|tysm|cheers|(?:much |really )?appreciated?|you (?:rock|rule|are the best)|well done|love it|wow|lol|lmao|(?:ha){1,5}h?|(?:he){2,5}",
    r"great|perfect|awesome|cool|nice|good|excellent|wonderful|fine|helpful|amazing|brilliant|fantastic|superb|lovely|neat|sweet|interesting|impressive",
    # assent, dissent, having understood
    r"ok(?:ay|ie|ey)?|o+k+|kk?|got (?:it|that)|gotcha|i see|(?:i )?understand|understood|i get it|makes (?:total |perfect |a lot of )?sense|sure|alright|all right|right",
    r"yes|yep|yeah|yup|no|nope|nah|of course|exactly|correct|(?:i )?agreed?|nothing else|sounds like a plan|deal|okey ?dokey|indeed|fair enough|will do|noted|roger|(?:exactly |just )?what i (?:needed|wanted|meant)",
    r"no (?:problem|problems|worries)|np|you'?re welcome|never ?mind|sorry|that'?s (?:all|it)|that (?:is all|works|helps|helped)|it (?:works|worked)(?: now)?",
    # small talk, farewells
    r"how are you(?: doing)?(?: today)?|how'?s it going|how do you do|bye(?:[ -]bye)?|goodbye|see (?:you|ya)|good ?night|gn|take care|good luck|welcome back|(?:glad|happy|good|nice) to (?:hear|know|help|meet you)(?: that| it)?|(?:talk|speak) to you",
    r"have a (?:very )?(?:good|nice|great|lovely|wonderful) (?:day|one|weekend|evening|night|time)|congrat(?:s|ulations)|happy new year|hooray|yay",
    r"고마(?:워요?|워용|웠어요?)|고맙(?:습니다|네요?|다)|감사(?:합니다|해요?|드립니다|드려요|해용|했습니다|하네요)?|ㄱㅅ+|땡큐|쌩큐|(?:굿)+|대박",
    r"네+|넵|넹|예|응+|그래요?|그럼요|알겠(?:습니다|어요?|네요?|음)|알았(?:어요?|습니다|다)|이해(?:했어요?|했습니다|됐어요?|됐습니다|되네요?)",
    r"이해(?:가|는)? ?(?:됐어요?|됩니다|가네요|돼요?)|좋(?:아요?|습니다|네요?|다|군요)|오케이|오키|ㅇㅋ+|ㅇㅇ+|그렇(?:군요?|구나|네요?)|아하|잘 ?했(?:어요?|습니다|네요?)",
    r"맞(?:아요?|습니다|네요?)|확인(?:했습니다|했어요?|했음|함)?|수고(?:하세요|하셨습니다|했어요?|하셨어요|하십시오)?|잘 ?가요?|잘 있어요?|들어가세요",
    r"안녕히 (?:가세요|계세요|가십시오|계십시오|주무세요)|바이(?:바이)?|(?:다음에|내일|나중에)?(?: ?또)? ?(?:봐요|봬요|뵐게요|만나요)|내일 봐|또 봐",
    r"잘 ?자요?|축하(?:해요?|합니다|드려요|드립니다)|[파화]이팅|새해 복 많이 받으세요|신기(?:하다|해요?|하네요?)|그렇게 할게요?|ㅋ+|ㅎ+|아니[요오]?|아뇨|괜찮(?:아요?|습니다)|죄송(?:해요|합니다)|미안(?:해요?|합니다)?|훌륭(?:해요?|합니다|하네요?)|대단(?:해요?|합니다|하네요?)",
    r"도움(?:이|이 많이|이 정말)? ?(?:됐어요?|됐습니다|되었어요|되었습니다|돼요|됩니다)|완벽(?:해요?|합니다|하네요?)|최고(?:예요|에요|야|입니다|다)?|멋(?:져요?|지네요?|집니다)",
    r"잘 (?:지내(?:셨어요|세요|니|요|셨나요|고 있어요?)?|됐어요?|되네요?|됩니다)|해결(?:됐어요?|됐습니다|되었습니다|했어요?|했습니다)|재밌네요?|흥미롭네요?",
]
# Words that may stand beside a courtesy and are none alone.
_BESIDE = frozenset(
    "a the your my our you i it is was were this that these be been very so much many really just too pretty quite super and but oh"
    " ah hm hmm um well then now again all there everyone everybody folks guys team friend friends buddy mate man dude pal bro kb"
    " please for help helping answer answers explanation info information support time ton tons bunch lot lots million heaps sounds"
    " looks seems that's it's i'm helped clear point job work one day night week weekend later will are soon tomorrow today to know meet"
    " in advance greatly bad mistake idea tip tips news thing totally absolutely definitely exactly only almost still more was"
    " 정말 정말로 정말요 진짜 너무 매우 아주 참 많이 모두 또 그럼 여러분 만나서 덕분에 덕분입니다 덕분이에요 도움 도움이 도움됐어요 많이 다 이제 하루 되세요"
    " 보내세요 보내 오늘 오늘도 내일 내일도 주말 아 아아 오 오오 와 음 어 저도 선생님 친구 답변 설명 도와줘서 도와주셔서 알려줘서 알려주셔서 설명해줘서"
    " 완전 완전히 kb님 좋은 설명해주셔서 친절한 빠른 답변이네요 설명이네요 설명 말씀 덕에 다들 역시 제가 큰".split()
)
# What begins so asks, whatever friendly words follow.
_ASKING = frozenset("is are was were will".split())
_COURTESY_WORD = re.compile(r"[\w'-]+")
# The longest courtesy above: "how are you doing today".
MOST_PHRASE_WORDS = 5
_SYMBOLS_ONLY = re.compile(r"[\W_]+")
_QUESTION_ONLY = re.compile(r"[\s?!.,…·。？！-]+")


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as it must be to match NFKC text: ㅋ alone is another character there."""
    return re.compile(unicodedata.normalize("NFKC", pattern))


def _of_script(patterns: list[str], has_hangul: bool) -> str:
    """The alternatives that a text can match: Korean ones hold Hangul, and compiling them takes as long as the others."""
    return "|".join(p for p in patterns if has_hangul or not _HANGUL.search(p))


@cache
def _greeting(has_hangul: bool) -> re.Pattern[str]:
    return _compiled(rf"[^\w]*(?:{_of_script(_GREETINGS, has_hangul)}){_END}")


@cache
def _courtesies(has_hangul: bool) -> re.Pattern[str]:
    return _compiled(_of_script(_COURTESIES, has_hangul))


def _has_hangul(text: str) -> bool:
    return _HANGUL.search(text) is not None


def is_greeting(tidied: str) -> bool:
    """True when the text begins with a greeting, whatever follows it."""
    return _greeting(_has_hangul(tidied)).match(tidied) is not None


def is_courtesy(tidied: str) -> bool:
    """True for nothing but greetings, thanks, assent, small talk, farewells and symbols: no knowledge is asked for."""
    if not tidied or len(tidied) > MOST_COURTESY_CHARS:
        return False
    if _SYMBOLS_ONLY.fullmatch(tidied):
        return not is_mark(tidied)
    words = _COURTESY_WORD.findall(tidied)
    if words[0] in _ASKING:
        return False
    courtesies = _courtesies(_has_hangul(tidied))
    # ends[i]: the first i words read as courtesies and words beside them; True where a courtesy is among them.
    ends: dict[int, bool] = {0: False}
    for start in range(len(words)):
        if start not in ends:
            continue
        if words[start] in _BESIDE:
            ends[start + 1] = ends[start] or ends.get(start + 1, False)
        for stop in range(start + 1, min(start + MOST_PHRASE_WORDS, len(words)) + 1):
            if courtesies.fullmatch(" ".join(words[start:stop])):
                ends[stop] = True
    return ends.get(len(words), False)


def is_mark(tidied: str) -> bool:
    """True for question marks, dots and the like alone."""
    return _QUESTION_ONLY.fullmatch(tidied) is not None


_REFERENCES = [
    r"\b(?:you remember|remember when|do you recall|we (?:discussed|talked|spoke|covered|looked at|were talking)|last time|the other day)\b",
    r"\b(?:earlier you|you (?:just )?(?:said|mentioned|told|wrote|showed|answered|suggested|listed|gave|explained))\b",
    r"\bi (?:just )?(?:asked|mentioned|told you|said)\b|\b(?:as|like) (?:before|above|i said)\b|\bwhat about\b|\bhow about\b",
    r"\b(?:your|the|my) (?:last|previous|earlier|above) (?:answer|question|one|reply|message|example|point|result|topic)\b",
    r"\b(?:that|this|the (?:first|second|third|last|other|same|next)) one\b|\bthe (?:former|latter)\b|\bthe same (?:thing|way)\b",
    r"^(?:and|but|so|then|also|or)\b|^(?:why|how) (?:so|not|come)\b|^(?:go on|continue|tell me more|more)\b",
    r"^(?:why|how|what|when|where|who)? ?(?:is|are|does|do|did|was|were|can|about|with|of)? ?(?:that|this|those|these)[\s?.!]*$",
    r"^(?:is|are|was|does|did|do|can|will|would|could|should) (?:that|this|those|these) \S+$",
    r"지난 ?번|저번|"
    + _START
    + r"(?:아까|방금)|전에 (?:말|얘기|이야기|물어|물었|했던|본|논의)|이전(?:에|의)? ?(?:답|질문|대화|말|얘기)|앞서 (?:말|언급|설명|본)",
    r"앞에서 (?:말|언급|설명|본)|위에서 (?:말|언급|설명|본)|기억(?:나|하니|하세요|하시나요|하지|하고 있)|(?:말|얘기|이야기|논의|설명|언급)(?:했던|하신|해 ?주신|했었)",
    _START
    + r"(?:그거|그것|그건|그게|그걸|이거|이건|이게|이걸|저거|저건|그때|그중|그 중|그 ?(?:다음|방법|부분|경우|문서|파일|답|질문))",
    r"^(?:그럼|그러면|그리고|근데|그런데|그래서|그렇다면|또는)"
    + r"(?![가-힣])|^왜(?:요|죠|지)?[\s?]*$|"
    + r"(?:은|는) ?(?:어때|어떤가|어떻습)",
]
# A pronoun is a reference where there is little else; "is it possible to …" refers to nothing.
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their)\b")
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|will) it (?:possible|true|worth|safe|ok|okay|better|necessary|correct|legal|a|an|the)\b|\bit is\b|\bit'?s\b"
)
# "윈도우는?": a topic and nothing about it.
_BARE_TOPIC = re.compile(r"(?:\S+ ){0,2}\S*[가-힣a-z0-9](?:은|는)(?:요)?\s*\?+")
SHORT_WORDS = 8


@cache
def _references(has_hangul: bool) -> re.Pattern[str]:
    return _compiled(_of_script(_REFERENCES, has_hangul))


def has_implicit_reference(tidied: str) -> bool:
    """True when the text leans on something said before: "what about …", "you said", "it", 아까, 그건."""
    if _references(_has_hangul(tidied)).search(tidied) or _BARE_TOPIC.fullmatch(tidied):
        return True
    is_short = len(tidied.split()) <= SHORT_WORDS
    return is_short and _PRONOUN.search(tidied) is not None and not _EXPLETIVE.search(tidied)


_URGENCIES = [
    r"\basap\b|\b(?:it'?s|this is|that'?s|very|really|super|extremely|quite|so|is) urgent\b|^urgent\s*[:!,.–—]|^urgent$|\burgent(?:ly)?[!.]*$",
    r"\burgently (?:need|require)|\b(?:need|help)\w* .{0,60}\burgently\b|\burgent (?:help|request|issue|problem|question|matter|fix|need)\b",
    r"\b(?:it'?s|this is|have) an emergency\b|^emergency\s*[!:,.]|^emergency$|\bhurry(?: up)?[!.]*$|\bin a (?:hurry|rush)\b",
    r"\b(?:need|fix|help|answer|tell|send|must|want|give)\b.{0,60}\b(?:immediately|right (?:now|away)|at once)[!.]*$",
    r"(?:^|[.!,:;] ?|\b(?:help|because|but|and) )(?:(?:our|the|my) )?(?:prod(?:uction)?|site|website|server|service|database|db|system|cluster)"
    r" (?:is|are|went|just went|has gone) (?:down|on fire)(?=[!.,;]|$| and\b| please\b| again\b)",
    _START
    + r"급(?:해요?|합니다|함|하다|한데|하게|해서|하니까?|하네요?|한 ?일)|"
    + _START
    + r"긴급(?:해요?|합니다|함| ?상황|입니다|이에요|이야|한|하게)|^긴급\s*[:!,.]|^긴급$",
    _START
    + r"시급(?:해요?|합니다|함|한)|지금 당장|"
    + _START
    + r"당장 (?:필요|해|알려|고쳐|도와|답)|"
    + _START
    + r"빨리 (?:좀|답|알려|도와|해|고쳐|부탁)|"
    + _START
    + r"서둘러",
    r"(?:서버|서비스|시스템|사이트|운영|프로덕션|디비|db)(?:가|이)? ?(?:죽었|다운됐|다운되었|터졌|멈췄)(?:어요?|습니다|는데|네요?|음|다)?[!.~\s]*$",
]


# One of these stands in whatever the patterns above match: most prompts have none, and compiling takes 3 ms.
_URGENT_SIGNS = (
    *(
        "asap",
        "urgent",
        "emergency",
        "hurry",
        "rush",
        "immediately",
        "right now",
        "right away",
        "at once",
        "down",
        "on fire",
    ),
    *("급", "당장", "빨리", "서둘러", "죽었", "다운", "터졌", "멈췄"),
)


@cache
def _urgency() -> re.Pattern[str]:
    return _compiled("|".join(_URGENCIES))


def is_urgent(tidied: str) -> bool:
    """True when the writer is in a hurry; not where urgency is what is asked about."""
    return any(sign in tidied for sign in _URGENT_SIGNS) and _urgency().search(tidied) is not None


_COMMANDS = "init|ingest|search|ask|chat|context|tags|eval|list|show|open|rm|answers|remember|forget|facts|relevance|status|doctor|reindex|backup|schema|mcp"
_KB_NOUN = r"(?:knowledge base|kb|index|indexes|notes?|documents?|docs|files?|folders?|facts?|answers?|sessions?|to-?dos?|tasks?|lists?|tags?)"
_PLACE = r"(?:[~./]\S*/\S*|~|\S+\.(?:md|txt|pdf|docx|html?|rst|epub|pptx|xlsx|ipynb)|doc:\d+|\S+#l\d+)"
_ERRANDS = [
    r"^(?:(?:hey|hi|ok|okay|please|kb|can you|could you|would you|will you|i want you to|i'd like you to|now|then|and|also)[\s,:]+)*"
    rf"(?:remember (?:that|this|to|my|:)|remember:|note (?:that|down)\b|(?:make|take) a note|write (?:this|that) down|remind me\b"
    rf"|forget (?:that|this|about|what|my|fact|everything|it)\b"
    rf"|(?:re-?)?ingest (?:my|our|this|these|all|the|{_PLACE})|re-?index(?: (?:my|our|this|the|all|everything|now).*)?[.!]*$"
    rf"|(?:back ?up|import|prune|delete|remove|open|tag|index|save|export|show|list|clean up) (?:(?:all )?(?:my|our|these|this|all|the) (?:\S+ ){{0,3}}?{_KB_NOUN}\b(?! in\b)|{_PLACE})"
    rf"|(?:add|put) .{{1,80}} (?:to|on) (?:my|our|the) (?:\S+ )?lists?\b|mark .{{1,80}} (?:as )?(?:done|complete|completed|finished)\b"
    r"|(?:create|make|run|do|take) (?:a|the|another|one more) backup\b(?! (?:of|in|with|for|script|plan)\b)|(?:update|rebuild|refresh) (?:the|my) (?:search )?index[.!]*$"
    rf"|(?:add|put|load|include) .{{1,80}} (?:to|into|in) (?:my|our|the|this) (?:knowledge ?base|kb|index|{_KB_NOUN})\b[.!]*$"
    r"|(?:tick|check) off .{1,80} (?:on|from|in) (?:my|the|our) (?:\S+ )?lists?\b"
    rf"|(?:run |execute |call )?[`'\"$ ]*kb (?:{_COMMANDS})\b)",
    r"기억해 ?(?:줘|주세요|둬|두세요)|기억해(?:[:.!]|$)|(?:잊어|지워) ?(?:줘|버려|주세요)|메모해 ?(?:줘|둬|주세요)?|적어 ?(?:줘|둬|주세요|두세요)|알림 ?(?:설정|맞춰)",
    r"(?:색인|인덱스|인덱싱|백업)(?:을|를)? ?(?:다시 ?)?(?:해 ?줘|해 ?주세요|만들어 ?줘|만들어 ?주세요|해라|하자)",
    r"(?:문서|파일|노트|메모|폴더|사실|목록|할 ?일|지식 ?베이스|답변|세션)(?:들)?(?:을|를|에|에서)? .{0,40}(?:추가|삭제|등록|수집|열어|넣어|정리|내보내)(?:해)? ?(?:줘|주세요|줄래|라)[.!?~\s]*$",
    r"^할 ?일(?: 목록)?에 .{1,80}(?:추가|넣기)[.!\s]*$|\S+\.(?:md|txt|pdf|docx|html?) ?(?:파일)?(?:을|를)? ?열어 ?(?:줘|주세요)",
]


# As _URGENT_SIGNS, of errands.
_ERRAND_SIGNS = (
    *(
        "remember",
        "note",
        "write",
        "remind",
        "forget",
        "ingest",
        "index",
        "back",
        "import",
        "prune",
        "delete",
        "remove",
        "open",
    ),
    *(
        "tag",
        "save",
        "export",
        "show",
        "list",
        "knowledge",
        "clean up",
        "mark",
        "kb",
        "기억",
        "잊어",
        "지워",
        "메모",
        "적어",
        "알림",
    ),
    *("색인", "인덱", "백업", "추가", "삭제", "등록", "수집", "열어", "넣어", "정리", "내보내"),
)


@cache
def _errands() -> re.Pattern[str]:
    return _compiled("|".join(_ERRANDS))


def is_errand(tidied: str) -> bool:
    """True when kb itself is to do something: remember, ingest, open, back up, put on a list."""
    return any(sign in tidied for sign in _ERRAND_SIGNS) and _errands().search(tidied) is not None


@cache
def _tellings() -> re.Pattern[str]:
    return re.compile(
        r"^(?:(?:hi|hello|hey)[,!.]? )?(?:I['’]m|I am|[Mm]y name is|[Cc]all me) [A-Z][\w'’-]+(?:[ ,.].*)?$"
        r"|^(?:[Jj]ust so you know|FYI|fyi|[Ff]or (?:the|your) (?:record|information))\b[\s,:].+"
        r"|^(?:저는|나는|전|제가|난) .{0,60}(?:예요|이에요|에요|입니다|이야|야)[.!\s]*(?:이름은 .{1,20})?$"
        r"|^(?:제|내) 이름은 .{1,20}$|^(?:참고로|참고로요|혹시 몰라서),? .+",
    )


_ASKS = re.compile(
    r"[?？]|\b(?:what|who|where|when|why|how|which|can you|could you|help)\b|(?:나요|까요|니까|[을ㄹ]까|는지)[.\s]*$|알려|어떻게|누구|언제|어디|뭐"
)


def tells_of_user(prompt: str) -> bool:
    """True for an introduction or a note about the user that asks nothing: "I'm Petra, on the night watch.".

    The prompt as it was typed: a capital tells "I'm Petra" from "I'm stuck".
    """
    line = " ".join(prompt[:MOST_COURTESY_CHARS].split())
    if len(prompt) > MOST_COURTESY_CHARS or _ASKS.search(line.lower()):
        return False
    return _tellings().search(line) is not None


@cache
def _about_user() -> re.Pattern[str]:
    return _compiled(
        r"\b(?:what|when|where|who|which)\b.{0,40}\b(?:my|mine)\b|\bdo you (?:still )?remember\b|\bdid i (?:tell|say|mention)\b"
        r"|\bi (?:told|said|mentioned)\b|\bi (?:can't|cannot|can not|don't|do not) (?:eat|drink|have|like|want|use)\b"
        r"|(?<![가-힣])(?:제|내|저의|나의) [가-힣]|(?<![가-힣])(?:제가|내가|저|나) .{0,24}(?:라고|다고|는다고) ?(?:했|말)|기억(?:나|하)|(?:말씀|알려) ?(?:드렸|줬)"
    )


def is_about_user(tidied: str) -> bool:
    """True when a question asks for something about the user: "which night was mine?", "what can't I eat?"."""
    return _about_user().search(tidied) is not None


@cache
def _self() -> re.Pattern[str]:
    return _compiled(
        r"\bwhat (?:can|do) you do\b|\b(?:who|what) are you\b|\bhow (?:do|can|should) i use (?:you|this tool|kb)\b|\bwhat is kb\b"
        r"|(?:뭘|무엇을|뭐를|뭐) ?할 수 있|(?:너는?|넌|당신은?) (?:누구|뭐)|kb ?(?:사용법|쓰는 법)|(?:어떤|무슨) (?:기능|명령)"
    )


def is_about_kb(tidied: str) -> bool:
    """True when the question is what kb is or can do."""
    return _self().search(tidied) is not None
