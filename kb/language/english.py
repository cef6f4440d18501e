"""English: its words, its turns of phrase, its numbers. Tables only.

Patterns that tell a phrase from a technical term that looks like it (a TCP urgent pointer) say so in the pattern; the tables
of tests/relevance/test_signals.py hold the cases.
"""

from __future__ import annotations

from kb.language.english_asked import ASKED_PATTERNS
from kb.language.english_cases import CASE_PATTERNS
from kb.language.english_own import EVERYDAY, OWN_PATTERNS, OWN_REPLIES, OWN_SIGNS
from kb.language.interface import Language, Numbers, PatternKind, WordKind
from kb.text import STOP_WORDS


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# ---- words

QUESTION_WORDS = _set("what who whom whose which when where why how what's who's where's when's how's why's")
AUXILIARIES = _set(
    "is are was were be been being am do does did can could will would shall should may might must has have had having"
    " isn't aren't wasn't weren't don't doesn't didn't can't couldn't won't wouldn't shouldn't mustn't hasn't haven't"
)
PREPOSITIONS = _set(
    "for on in at with without of from to by under over after before during between through about into near via per as"
    " until till since behind inside outside within against above below across"
)
DETERMINERS = _set("the a an this that these those my your our any some every each no all both either")
PRONOUNS = _set(
    "i me we us you he him she her it they them there here then one ones its their his hers theirs someone anyone anybody"
    " somebody everybody nobody something anything else"
)
PERSON_PRONOUNS = _set("he she him her his hers")
FUNCTION_WORDS = (
    QUESTION_WORDS | AUXILIARIES | PREPOSITIONS | DETERMINERS | PRONOUNS
    | _set("and but or so also too as well if than not only just still exactly really actually please there now ever yet again"
           " much many often long far soon more most less least")
)  # fmt: skip
NEGATORS = _set("not never no without cannot neither nor none nobody nothing")
# What may stand right before a name that is left out: "of the", "at".
BEFORE_NAMES = "at|of|in|on|for|from|to|with|our|my|the|an?"
MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
# Words of reports and answers, and of every topic, which matter little for a claim.
LIGHT_WORDS = _set(
    "accord also although already among another around based because become became begin called case certain commonly "
    "context could describe despite different during each especially evidence example fact find following found general "
    "generally given happen however important include included including indicate information instead involve just "
    "kind known largely like likely made main mainly make many mean mention more most much must near need new number often "
    "one other overall part particular passage people possible primarily provide provided rather refer related several "
    "show similar since some sometimes source specific specifically state stated such support text then therefore "
    "thing though through thus time together total two type typically under until upon use used using usually various "
    "very way well whereas whether within year yes yet"
)

_WORDS: dict[WordKind, frozenset[str]] = {
    "stop": STOP_WORDS,
    "asking": _set(
        "tell explain describe define list name give show find many much long often mean means meaning example examples"
        " please according text document passage does doing done use used using say says said one two also there here between among within"
    ),
    "frame": _set(
        "accord actual also call concern current describ descript did differ exact exampl explain far give happen kind list long "
        "make made mani mean mention might much must name number often purpos regard relat say said sort specif tell term thing time type use way "
        "work year"
    ),
    "filler": _set(
        "more explain tell continue huh go again else really mean means please help elaborate detail details example examples"
        " thing things stuff something anything everything one ones just now ok okay not say said happened happens work works"
        " what's that's it's why's how's further also too yes no hmm um uh eh"
        " don't doesn't didn't isn't can't won't couldn't first second third last next previous other same"
    ),
    "asked_of_user": _set("name email number"),
    "beside_small_talk": _set(
        "a the your my our you i it is was were this that these be been very so much many really just too pretty quite super and but oh"
        " ah hm hmm um well then now again all there everyone everybody folks guys team friend friends buddy mate man dude pal bro kb"
        " please for help helping answer answers explanation info information support time ton tons bunch lot lots million heaps sounds"
        " looks seems that's it's i'm helped clear point job work one day night week weekend later will are soon tomorrow today to know meet"
        " in advance greatly bad mistake idea tip tips news thing totally absolutely definitely exactly only almost still more was"
    ),
    "not_small_talk": _set("is are was were will"),
    "urgent_sign": _set("asap urgent emergency hurry rush immediately down") | {"right now", "right away", "at once", "on fire"},
    "errand_sign": _set(
        "remember note write remind forget ingest index back import prune delete remove open tag save export show list knowledge mark kb"
    ) | {"clean up"},
    "tool": _set(
        "kb ingest reindex index indexes search searches backup restore prune remember forget fact facts tag tags citation"
        " citations cite answers session sessions chat doctor repair schema mcp config settings command commands option"
        " options flag skill skills tool tools window home eval suite watch"
    ),
    "everyday": _set(
        "able actually almost already always another anybody anymore anyone anything around ask asked away back bad because become been before began begin being best better"
        " big bit bring brings brought call called came care carry cause certain change come comes coming cool couple day days deal different early earn earns easy either else end"
        " enough even ever every everybody everyone everything fast feel few fine first fix found full fun gave get gets getting gives goes going gone good got great guy guys half happen"
        " happens hard having hear heard held hello help here hold holds home hope idea instead just keep keeps kept kid kids know knew known last late later least leave left less let"
        " lets like likely little live long longer look looking looks lot lots love main matter maybe meant might mine miss moment morning most move moved near need needed needs never new"
        " next nice night nobody none normally nothing now often okay old once ones only open other others ours part people perhaps person pick piece place places please plenty possible"
        " probably problem put quick quite rather ready real really reason recently right ring run same saw see seem seems seen set several short shows sort soon spend start still stop stuff"
        " such suddenly sure take taken takes taking talk tell that then thing things think thought three till today together told tomorrow tonight too took toward tried try turn turned turns"
        " usually want wanted wants watch ways week went whole whose wish without wonder work working works worry worse worst wrong yesterday yet"
    ),
    "names_nothing": STOP_WORDS | _set(" ".join(MONTHS + WEEKDAYS)) | _set(
        "english korean ok yes no note see also here there each every all some any most many both"
        " neither either please however therefore thus hence once first second third finally next last new old other another"
        " api apis ui gui cli os sdk ide url urls faq todo chapter section figure table listing appendix page part step example one two three four five"
    ),
    "negator": NEGATORS | {"non"},
    "explain": _set("because how why reason process"),
    "troubleshoot": _set("error fix issue solution"),
    "compare": _set("versus vs difference unlike"),
    "list": _set("include example following") | {"such as"},
    "design": _set("architecture structure pattern build"),
    "definition": _set("is means") | {"refers to"},
    "enumeration": _set("first"),
    "tech": _set("api gpu cuda tensor model neural llm transformer embedding vector faiss pytorch rag retrieval"),
}  # fmt: skip

# ---- the manner of a prompt

_GREETINGS = r"he+y+(?: there)?|hi+|hello+(?! world)|yo|sup|what'?s up|howdy|hiya|heya|greetings|good (?:morning|afternoon|evening)"
_SMALL_TALK = (
    _GREETINGS,
    r"morning|evening|afternoon|(?:i'm |i am )?back(?: again)?|me again",
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
)
_REFERENCES = (
    r"\b(?:you remember|remember when|do you recall|we (?:discussed|talked|spoke|covered|looked at|were talking)|last time|the other day)\b",
    r"\b(?:earlier you|you (?:just )?(?:said|mentioned|told|wrote|showed|answered|suggested|listed|gave|explained))\b",
    r"\bi (?:just )?(?:asked|mentioned|told you|said)\b|\b(?:as|like) (?:before|above|i said)\b|\bwhat about\b|\bhow about\b",
    r"\b(?:your|the|my) (?:last|previous|earlier|above) (?:answer|question|one|reply|message|example|point|result|topic)\b",
    r"\b(?:that|this|the (?:first|second|third|last|other|same|next)) one\b|\bthe (?:former|latter)\b|\bthe same (?:thing|way)\b",
    r"^(?:and|but|so|then|also|or)\b|^(?:why|how) (?:so|not|come)\b|^(?:go on|continue|tell me more|more)\b",
    r"^(?:why|how|what|when|where|who)? ?(?:is|are|does|do|did|was|were|can|about|with|of)? ?(?:that|this|those|these)[\s?.!]*$",
    r"^(?:is|are|was|does|did|do|can|will|would|could|should) (?:that|this|those|these) \S+$",
)
_URGENCIES = (
    r"\basap\b|\b(?:it'?s|this is|that'?s|very|really|super|extremely|quite|so|is) urgent\b|^urgent\s*[:!,.–—]|^urgent$|\burgent(?:ly)?[!.]*$",
    r"\burgently (?:need|require)|\b(?:need|help)\w* .{0,60}\burgently\b|\burgent (?:help|request|issue|problem|question|matter|fix|need)\b",
    r"\b(?:it'?s|this is|have) an emergency\b|^emergency\s*[!:,.]|^emergency$|\bhurry(?: up)?[!.]*$|\bin a (?:hurry|rush)\b",
    r"\b(?:need|fix|help|answer|tell|send|must|want|give)\b.{0,60}\b(?:immediately|right (?:now|away)|at once)[!.]*$",
    r"(?:^|[.!,:;] ?|\b(?:help|because|but|and) )(?:(?:our|the|my) )?(?:prod(?:uction)?|site|website|server|service|database|db|system|cluster)"
    r" (?:is|are|went|just went|has gone) (?:down|on fire)(?=[!.,;]|$| and\b| please\b| again\b)",
)
_COMMANDS = "init|ingest|search|ask|chat|context|tags|eval|list|show|open|rm|answers|remember|forget|facts|relevance|status|doctor|reindex|backup|schema|mcp"
_KB_NOUN = r"(?:knowledge base|kb|index|indexes|notes?|documents?|docs|files?|folders?|facts?|answers?|sessions?|to-?dos?|tasks?|lists?|tags?)"
_PLACE = r"(?:[~./]\S*/\S*|~|\S+\.(?:md|txt|pdf|docx|html?|rst|epub|pptx|xlsx|ipynb)|doc:\d+|\S+#l\d+)"
_ERRAND = (
    r"^(?:(?:hey|hi|ok|okay|please|kb|can you|could you|would you|will you|i want you to|i'd like you to|now|then|and|also)[\s,:]+)*"
    rf"(?:remember (?:that|this|to|my|:)|remember:|note (?:that|down)\b|(?:make|take) a note|write (?:this|that) down|remind me\b"
    rf"|forget (?:that|this|about|what|my|fact|everything|it)\b"
    rf"|(?:re-?)?ingest (?:my|our|this|these|all|the|{_PLACE})|re-?index(?: (?:my|our|this|the|all|everything|now).*)?[.!]*$"
    rf"|(?:back ?up|import|prune|delete|remove|open|tag|index|save|export|show|list|clean up) (?:(?:all )?(?:my|our|these|this|all|the) (?:\S+ ){{0,3}}?{_KB_NOUN}\b(?! in\b)|{_PLACE})"
    rf"|(?:add|put) .{{1,80}} (?:to|on) (?:my|our|the) (?:\S+ )?lists?\b|mark .{{1,80}} (?:as )?(?:done|complete|completed|finished)\b"
    r"|(?:create|make|run|do|take) (?:a|the|another|one more) backup\b(?! (?:of|in|with|for|script|plan)\b)|(?:update|rebuild|refresh) (?:the|my) (?:search )?index[.!]*$"
    rf"|(?:add|put|load|include) .{{1,80}} (?:to|into|in) (?:my|our|the|this) (?:knowledge ?base|kb|index|{_KB_NOUN})\b[.!]*$"
    r"|(?:tick|check) off .{1,80} (?:on|from|in) (?:my|the|our) (?:\S+ )?lists?\b"
    rf"|(?:run |execute |call )?[`'\"$ ]*kb (?:{_COMMANDS})\b)"
)

_PATTERNS: dict[PatternKind, str] = {
    "no_topic": r"n['’]t$|^\w+['’](?:re|ve|ll|d|m)$",
    "greeting": rf"[^\w]*(?:{_GREETINGS})(?![\w-])",
    "small_talk": "|".join(_SMALL_TALK),
    "farewell": r"\b(?:(?:good ?)?bye|see (?:you|ya)|good ?night|gn|take care)\b",
    "thanks": r"thank|thx|tnx|\bt(?:y|q|ysm)\b|cheers|appreciat",
    "apology": r"\bsorry\b",
    "reference": "|".join(_REFERENCES),
    "pronoun": r"\b(?:it|its|they|them|their)\b",
    "no_pronoun": r"\b(?:is|was|would|will) it (?:possible|true|worth|safe|ok|okay|better|necessary|correct|legal|a|an|the)\b|\bit is\b|\bit'?s\b",
    "urgency": "|".join(_URGENCIES),
    "errand": _ERRAND,
    # A capital tells "I'm Petra" from "I'm stuck".
    "introduction": (
        r"^(?:(?:hi|hello|hey)[,!.]? )?(?:I['’]m|I am|[Mm]y name is|[Cc]all me) [A-Z][\w'’-]+(?:[ ,.].*)?$"
        r"|^(?:[Jj]ust so you know|FYI|fyi|[Ff]or (?:the|your) (?:record|information))\b[\s,:].+"
    ),
    "opens_question": r"\W*(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would)\b",
    "asks": r"\b(?:what|who|where|when|why|how|which|can you|could you|help)\b",
    "about_user": (
        r"\b(?:what|when|where|who|which)\b.{0,40}\b(?:my|mine)\b|\bdo you (?:still )?remember\b|\bdid i (?:tell|say|mention)\b"
        r"|\bi (?:told|said|mentioned)\b|\bi (?:can't|cannot|can not|don't|do not) (?:eat|drink|have|like|want|use)\b"
    ),
    "about_kb": (
        r"\bwhat (?:can|do) you do\b|\b(?:who|what) are you\b|\bhow (?:do|can|should) i use (?:you|this tool|kb)\b|\bwhat is kb\b"
        r"|^what are your (?:commands|features|functions|abilities|capabilities|skills|options|tools)\b|\bwhat (?:can|could) i (?:ask|do with) (?:you|kb)\b"
    ),
    # ---- what a prompt is about
    "time": (
        r"\b(?:today|tonight|yesterday|tomorrow)\b|\bwhat (?:day|date|time) is it\b|\bwhat(?:'s| is) (?:the|today's) (?:day|date|time)\b"
        r"|\b(?:current|present) (?:date|time)\b"
    ),
    "date": (
        r"\bwhat (?:day|date) is it\b|\bwhat(?:'s| is) (?:the|today's|the current) (?:day|date)(?=\W*$| (?:today|now|right now|of the week|of today))|\bwhich day (?:is it|of the week)\b"
    ),
    "corpus": (
        r"\b(?:ingest|index)(?:ed)?\b.{0,40}\b(?:last|latest|lately|recently|newest|new|today|yesterday)\b"
        r"|\b(?:last|latest|lately|recently|newest|new)\b.{0,40}\b(?:ingest(?:ed)?|indexed|notes?|documents?|files?)\b"
        r"|\bhow many (?:documents|files|notes)\b.{0,30}\b(?:kb|knowledge base|have|are there|do you)\b"
    ),
    "here": r"\b(?:this|current|working) (?:folder|directory|terminal|machine|shell|locale)\b|\bwhere am i\b|\b(?:cwd|pwd)\b",
    "overview": r"\b(?:overview|summar(?:y|ies|i[sz]e\w*)|outline|gist|tl;?dr)\b|\bwhat (?:is|are) .{1,60} about\b",
    "tasks": (
        r"\bto-?dos?\b|\b(?:open|pending|unfinished|remaining|outstanding) (?:items?|tasks?|points?)\b|\b(?:my|our) (?:tasks?|lists?|checklists?)\b"
        r"|\bwhat (?:is|'s|do i have) (?:left |still )?to do\b"
    ),
    "past": (
        r"\b(?:did|have|had) i (?:just |already |ever )?(?:ask|say|search|tell|look)\w*\b|\bwe (?:discussed|talked|spoke)\b|\byou (?:said|told|answered|mentioned)\b"
        r"|\b(?:last|previous|earlier|my) (?:question|answer|session|conversation)s?\b|\blast time\b|\b(?:did|asked) (?:before|earlier)\b"
    ),
    "commands": r"\b(?:commands?|what) (?:did|have) i (?:run|do|ran|done|execute)\w*\b|\brecent commands\b",
    # ---- the shape of what is wanted
    "intent_compare": r"\b(?:compar\w+|versus|vs|differ\w*|distinguish\w*|unlike|better than)\b",
    "intent_troubleshoot": r"\b(?:errors?|fix(?:ed|ing)?|fail\w*|troubleshoot\w*|broken|crash\w*|not work\w*|debug\w*)\b",
    "intent_design": r"\b(?:design\w*|architect\w*|structured?|build)\b",
    "intent_list": r"\b(?:list|which (?:of|\w+s)\b|what (?:are|were) the|examples?|enumerate|name (?:the|all))\b",
    "intent_explain": r"\b(?:why|how (?:do|does|did|is|are|can|should|to|was|were|come)|explain|reason|cause\w*)\b",
    "intent_define": r"\b(?:what (?:is|does \w+ mean)|define|definition|meaning)\b",
    "shape_code": r"\b(?:code|snippet|syntax|function signature|implement)\b",
    "shape_number": r"\b(?:how (?:many|much|long|often|old|far|big|fast|high|large)|when|what (?:year|date|percent\w*))\b",
    "shape_list": r"\b(?:list|examples?|steps|which of|what are|what were|name (?:the|all))\b",
    "shape_definition": r"\b(?:what is|what does \w+ mean|define|definition|meaning)\b",
    "asks_more": (
        r"\b(?:what|who|where|when|how|why|which|any(?:thing|one|where)?|some(?:thing|one)) +else\b"
        r"|\b(?:any|some)thing +(?:more|further|other)\b|\btell me more\b|\bwhat (?:more|other)\b"
        r"|(?:^|\b(?:is|are) there )any +(?:more|further|other)\b|\bbesides (?:that|this|these|those)\b"
    ),
    # ---- a question that goes on from another
    "lead": (
        r"^\s*(?:(?:and|but|or|so|then|also|ok(?:ay)?|right|hm+|oh|ah|well|cool|great|thanks|thx|yes|no|now|sorry|hi(?: again)?|hello"
        r"|hey|(?:good )?(?:morning|evening|afternoon)|back(?: again)?|i'm back|i me(?:an|ant))\b[\s,!.…:;–-]*)+"
    ),
    "new_topic": r"^\W*(?:(?:a )?(?:different|another|new|unrelated|separate) (?:question|topic|thing)|changing (?:the )?(?:topic|subject)|on another (?:note|topic))\b[\s,!.:;–-]*",
    "by_the_way": r"\b(?:by the way|btw|one more thing|something else entirely|completely different)\b",
    "trailing": r"[\s,]*\b(?:too|as well|also|either|then|though|instead|again|exactly|please|thanks)\b(?=[\s?!.]*$)",
    "goes_on": r"^\W*(?:(?:is there |was there |do you have |tell me |can you tell me |got )?(?:any|some)(?:thing)? ?(?:more|else|other[\w ]*)|what else|who else|where else|when else|how else|tell me more|more(?: please| details?| info)?|(?:and )?(?:the )?others?)\b",
    # ---- answers
    "refusal": (
        r"\bevidence\s+(?:\w+\s+){0,3}?(?:is|are|was)\s+(?:not\s+sufficient|insufficient|not\s+enough)\b"
        r"|\b(?:insufficient|not\s+enough|no)\s+evidence\b"
    ),
    "verdict": r"[\W_]*the\s+evidence\s+is\s+(?:insufficient|not\s+sufficient)",
    "says_nothing": (
        r"\b(?:evidence|context|passages?|documents?|texts?|sources?|information|knowledge\s+base|excerpts?)\b[^.]{0,40}?"
        r"\b(?:do|does|did|is|are)(?:\s+not|n['’]t)\s+(?:\w+\s+)?(?:contain|mention|provide|specify|say|include|cover|state|address"
        r"|answer|give|describe|discuss|enough|sufficient)"
        r"|\b(?:I|we)\s+(?:\w+\s+)?(?:could\s+not|couldn['’]t|can\s?not|can['’]t|was\s+not\s+able|am\s+(?:not\s+able|unable)|do\s+not|don['’]t)"
        r"\s+(?:to\s+)?(?:find|answer|determine|know|tell|locate)"
        r"|\bthere\s+(?:is|was|are)\s+(?:no|not\s+enough|insufficient)\s+(?:\w+\s+)?(?:information|mention|details?|data)\b"
        r"|\b(?:cannot|can\s+not|can['’]t)\s+be\s+(?:answered|determined)\b"
    ),
    # Next to one of these a negation may be a paraphrase.
    "implies_no": (
        r"\b(?:prohibit|forbid|forbad|ban(?:ned|s)?\b|deny|denie|refus|fail|lack|absen|unable|impossib|except|hardly|rarely|unlike|avoid|prevent|exclu"
        r"|illegal|invalid|inability|insufficient|incomplete|unavailable|unknown|unnecessar|disallow|disabl|disagree)"
    ),
    "recalls": "remember|told|tell|said|say|mention|again|mine",
    # "imports" and "returns" are prose.
    "code": r"\b(?:functions?|class(?:es)?|import|return|async|await|except|lambda)(?![^\W가-힣])",
}

# ---- numbers

_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
NUMBER_WORDS = {word: float(n) for n, word in enumerate(_SMALL.split())} | {
    word: float(n) for n, word in zip(range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split(), strict=True)
}  # fmt: skip
_ORDINALS = {
    word: float(n) for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}  # fmt: skip
_MONTH = r"(?P<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.?"
_NUMBERS = Numbers(
    values=NUMBER_WORDS,
    ordinals=_ORDINALS,
    scales={"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    scale=(r"\s?(?:hundred|thousand|million|billion|trillion)\b",),
    months={name[:3]: number for number, name in enumerate(MONTHS, start=1)},
    units=(
        "km kilometer kilometre kilometers kilometres", "m meter metre meters metres",
        "cm centimeter centimetre centimeters centimetres", "mm millimeter millimetre millimeters millimetres",
        "mi mile miles", "ft foot feet", "inch inches", "kg kilo kilos kilogram kilograms", "g gram grams",
        "mg milligram milligrams", "t ton tons tonne tonnes", "lb lbs pound pounds", "oz ounce ounces", "ms millisecond milliseconds", "s sec secs second seconds",
        "min mins minute minutes", "h hr hrs hour hours", "day days", "week weeks", "month months",
        "year years yr yrs", "l liter litre liters litres", "ml milliliter millilitre milliliters millilitres",
        "b byte bytes", "mb megabyte megabytes", "gb gigabyte gigabytes", "w watt watts", "kw kilowatt kilowatts",
        "mw megawatt megawatts", "v volt volts", "hz hertz", "% percent", "°c celsius", "°f fahrenheit",
        "$ dollar dollars usd", "€ euro euros eur", "£ gbp", "₩ won krw",
    ),
    dates=(
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:\s*,?\s+(?P<year>\d{{4}})\b)?",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:\s*,?\s+(?P<year>\d{{4}}))?\b",
        rf"\b{_MONTH}\s+(?:of\s+)?(?P<year>\d{{4}})\b",
    ),
    clocks=(
        r"(?<![\d.:])(?P<hour>\d{1,2})\.(?P<minute>[0-5]\d)\s*(?P<half>am|pm|a\.m|p\.m)\b\.?",
        r"(?<![\d.:])(?P<hour>\d{1,2})\s*(?P<half>am|pm|a\.m|p\.m)\b\.?",
    ),
    counts=(
        rf"\b(?P<word>{'|'.join(NUMBER_WORDS)})(?:[\s-](?P<ones>one|two|three|four|five|six|seven|eight|nine))?"
        r"(?:\s(?P<scale>hundred|thousand|million|billion))?(?P<unit>[\s-][a-z]+)?\b",
    ),
    afternoon=("p",),
    midnight=("a",),
)  # fmt: skip

# ---- what kb says

_REPLIES = {
    "name": ", {}",
    "greeting": "Hello{name}! Ask me anything about your documents.",
    "welcome_back": "Welcome back{name}! Ask me anything about your documents.",
    "farewell": "Goodbye{name}!",
    "thanks": "You're welcome{name}.",
    "apology": "No problem{name}.",
    "told": 'All right{name}. I keep what you tell me when you ask for it: kb remember "…"',
    "other": "All right{name}. Ask me anything about your documents.",
    # Why evidence is too weak: {words} stand in no passage; in none together; nothing is near in meaning; no answer is there.
    "missing": "No passage mentions {words}.",
    "not_near": "No passage close to your question mentions {words}.",
    "elsewhere": "No passage close to your question mentions {words}; the last one below does.",
    "apart": "No passage close to your question mentions {words} together.",
    "far": "No passage seems to answer it clearly.",
    "topic": "Some passages touch the topic, none seems to answer the question.",
    # Refusals (kb/ask/refuse.py): what is said first, why, and the outcome in a footer.
    "not_in_documents": "I found no answer to this in your documents.",
    "not_sure": "Not sure: no passage clearly answers this.",
    "closest": "Closest passages:",
    "closest_quoted": "Not sure: your documents may not answer this. The closest passages say:",
    "of_others": "Not sure: other documents say this, but those about {words} may not. The closest passages there:",
    # The same where they lack what is asked for, by its kind (kb/language/asked.py).
    "lacks_names": "Not sure: the closest passage does not mention {words}:",
    "lacks_price": "Not sure: the closest passages name no price:",
    "lacks_count": "Not sure: the closest passages give no number:",
    "lacks_date": "Not sure: the closest passages do not say when:",
    "lacks_duration": "Not sure: the closest passages do not say how long, or how far:",
    "lacks_frequency": "Not sure: the closest passages do not say how often:",
    "filtered_out": "No document passes {filters}; kb list shows what there is.",
    "nothing_found": "The search found nothing.",
    "no_sentence_fits": "No sentence in the closest ones fits the question.",
    "model_found_none": "The model found no answer in the passages it read.",
    "model_unusable": "What the model wrote could not be used: it does not say which passages it rests on.",
    "aborted": "The answer broke off before its end.",
    "truncated": "The answer was cut at its length limit.",
    "prompt_cut": "The model did not read all of the evidence: its prompt was cut.",
    "state_answered": "answered",
    "state_not_sure": "not sure",
    "state_not_in_documents": "no answer found",
    "state_not_told": "nobody told kb; documents were not searched",
    "state_broken_off": "broke off",
    "ungrounded": "grounded ✗ ({why})",
    "no_model": "no model asked",
    "backed": "✓ checked against your documents",
    "backed_in_other_words": "≈ may be in your documents, in other words: compare the cited lines",
    "in_other_words": "in other words",
    "backed_elsewhere": "⚠ in your documents, but not where the answer says",
    "backed_in_part": "⚠ doubtful: {doubtful} of {total} sentences",
    "quoted": "quoted from your documents, no language model",
    "see_also": "See also:",
    "not_backed": "The model's answer is not what your documents say. What they do not back is marked ✗:",
    "not_found": "kb did not find all of the model's answer in your documents. What it did not find is marked ✗:",
    "not_confirmed": "kb could not confirm the model's answer in your documents. What it could not confirm is marked ?:",
    "not_sure_of": "kb is not sure that your documents say this. What they may say in other words is marked ≈:",
    "contradicted": "the documents say otherwise",
    "unsupported": "not in these passages",
    "in_part": "only partly in these passages",
    "unconfirmed": "not confirmed",
    "closest_beside": "The closest in your documents:",
    "unusable": "The model's answer cannot be checked: it cites none of your documents. They say:",
    "nothing_new": "Nothing new: what was found on this was shown before, and nothing else answers it.",
}

ENGLISH = Language(
    code="en",
    letters="",
    words=_WORDS | OWN_SIGNS,
    patterns={**_PATTERNS, **OWN_PATTERNS, **ASKED_PATTERNS, **CASE_PATTERNS},
    numbers=_NUMBERS,
    replies={**_REPLIES, **OWN_REPLIES},
    everyday=EVERYDAY,
)
