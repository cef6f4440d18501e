"""English: what a question asks for, and what holds it. Tables only; English asks mostly at the beginning."""

from __future__ import annotations

from collections.abc import Mapping

from kb.language.interface import PatternKind

# "the next one", "one of them", "zero-cost" and "both how fast and how far" count nothing.
_NO_PRONOUN = "".join(
    f"(?<!{word} )"
    for word in ("next", "this", "that", "the", "another", "first", "last", "each", "every", "any", "no")
)
_NUMBER_WORDS = (
    rf"\b(?:zero|{_NO_PRONOUN}one(?!\s+(?:of|another))|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|quarter"
    r"|once|twice|several|couple|pair|both(?!\s+(?:how|what|when|where|why|in|for|to)\b)|none|single|multiple|unlimited|as many|fortnight)\b(?!-)|\bno\s+(?:limit|maximum|more)\b"
)
# "may" and "march" in small letters are verbs, unless a number or a word such as "in" stands beside them.
_MONTH_NAMES = (
    r"jan(?:uary)?|feb(?:ruary)?|(?-i:Mar(?:ch)?|MAR(?:CH)?|MAY|May(?!\s+(?:be|not|have)\b))|(?:mar(?:ch)?|may)(?=\s+\d)"
    r"|(?:in|on|of|by|since|until|till|from|early|late|mid|the)\s(?:\d{1,2}(?:st|nd|rd|th)?\s)?(?:of\s)?(?:mar(?:ch)?|may)|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
# Behind "how many" these end what is counted.
_NOT_COUNTED = (
    r"(?:do|does|did|can|could|may|might|must|should|shall|will|would|is|are|was|were|has|have|had|to|of|in|on|at|per|for|from|with|by|there"
    r"|that|which|who|a|an|the|this|these|i|you|we|they|it|he|she)\b"
)
_PAYS = r"\b(?:cost|charg|pa(?:y|id)|pric|earn|fee|worth|sell|sold|salar|spen[dt])"

# A cell of a table that is only a sum: of three digits, or with cents. A smaller number may count anything.
_SUM_CELL = r"(?:\|\s*|(?m:^)- [^:\n]+: )\d(?:[\d,]{2,}|\d*[.,]\d\d)\s*(?:\||(?m:$))"
# "6/12", "2024-10-20", "18.11.", "08:50".
_DATE_IN_FIGURES = r"(?<![\d.])\d{1,4}[-/]\d{1,2}(?![\d.])|(?<![\d.])\d{1,2}\.\d{1,2}\.(?!\d)|\b\d{1,2}:\d\d\b"

ASKED_PATTERNS: Mapping[PatternKind, str] = {
    "asks_price": (
        rf"\bhow\s+much\b.*{_PAYS}|\bwhat\b.*\b(?:price|fee|fare|salary)\b|\bwhat\s+(?:do|does|did|will|would)\b.*\b(?:cost|pay|earn)\b"
    ),
    "tells_price": (
        r"[$€£¥₩]\s?\d|\d\s?(?:[$€£¥₩]|won\b)|\b(?:dollars?|euros?|pounds?|cents?|pence|yen|usd|eur|gbp|krw)\b|\d\s?(?:kr|chf|cad|aud|zł|rs)\b|(?<!feel )(?<!after )\bfree\b"
        rf"|\d[^.!?\n]{{0,40}}{_PAYS}|{_PAYS}[^.!?\n]{{0,60}}\d|{_SUM_CELL}"
    ),
    "asks_frequency": r"\bhow\s+(?:often|frequently)\b",
    "tells_frequency": (
        r"\b(?:every|each|per|once|twice|times|daily|hourly|weekly|monthly|yearly|annual|always|never|quarterly|nightly|regularly|second)"
    ),
    "asks_duration": r"\bhow\s+(?:long|far)\b",
    "tells_duration": (
        r"\b(?:second|minute|hour|day|week|fortnight|month|year|decade|centur|generation|lifetime|overnight|all (?:day|night)|permanent|forever|indefinite|meter|metre|mile|"
        r"kilomet|nanomet|micromet|km|feet|foot|inch|page|episode|term|until|till|as long as|while|since|apart)|\b\d{1,4}\s?(?:ad|bc|bce|ce)\b|\bad\s\d"
    ),
    "asks_count": r"\bhow\s+(?:many|old|tall|heavy)\b|\bwhat\s+(?:percentage|number)\s+of\b",
    "asks_counted": rf"\bhow\s+many\s+(?P<counted>(?!{_NOT_COUNTED})[\w'-]+(?:\s+(?!{_NOT_COUNTED})[\w'-]+){{0,3}})",
    "asks_number": (
        r"\bhow\s+(?:much|high|fast|deep|big|large)\b|\bwhat\s+(?:time|age)\b"
        r"|\b(?:what|which)(?:'s|\s+is)?\s+(?:the\s+)?(?:(?:default|standard|maximum|minimum|max|min|largest|smallest|highest|lowest|latest)\s+)"
        r"(?:[\w-]+\s+)?(?:port|number|size|value|length|limit|count|speed|timeout|interval|age|width|height|depth|capacity|temperature|version)\b"
        r"|^\W*(?:on |to )?(?:what|which)\s+(?:[\w.-]+\s+)?(?:port(?! (?:forwarding|mapping|authority|number))|(?:status|exit|error|area) code)\b"
    ),
    "tells_number": _NUMBER_WORDS,
    # They count, but tell nobody how many.
    "vague_number": r"\b(?:multiple|several|unlimited|as many|hundreds|thousands|millions|billions|trillions|dozens|(?:more|other) than one)$",
    "or_more": r"^\s*or (?:more|less|fewer)\b",
    "plural_noun": r"^(?:[\w'-]+[^s]s|people|men|women|children)$",
    "asks_event_date": r"\bwhen\s+(?:was|were|did)\b|\bwhat\s+(?:year|date)\s+(?:was|were|did)\b",
    "tells_event_date": (
        rf"\b(?:{_MONTH_NAMES})\b|centur|decade|\b\d{{2,4}}s\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:19|20)\d\d"
        r"|\b(?:after|before|during|until|ago|yesterday|today|(?:last|this|next) (?:year|month|week|season)|spring|summer|autumn|fall|winter)\b|\b\d{1,4}\s?(?:ad|bc|bce|ce)\b"
    ),
    "asks_date": r"\bwhen\s+(?:is|was|were|did|does|do|will|are|has|have|can|must|should|would)\b|^\W*when\b|\bwhat\s+(?:year|date)\b",
    "tells_date": (
        rf"{_DATE_IN_FIGURES}|\b\d{{1,2}}\s?[ap]\.?m|\b(?:{_MONTH_NAMES})\b|centur|\b\d{{2,4}}s\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
        r"|\b(?:when|after|before|during|until|while|once|if|whenever|noon|midnight|"
        r"morning|evening|night|spring|summer|autumn|fall|winter|today|now|season|year|month|week|day|hour|minute)s?\b"
    ),
    "asks_person": r"^\W*(?:who|whose|whom)\b",
    "tells_person": r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’.-]+|\b[A-Z][\w'’-]+\s+[A-Z]",
    "asks_reason": r"^\W*why\b",
    "tells_reason": (
        r"\b(?:because|since|due|so|as|for|to|therefore|thus|hence|reason|cause[sd]?|result|lead|led|leads|allow\w*|prevent\w*"
        r"|avoid\w*|in order|that way|otherwise|means|help\w*|purpose)\b"
    ),
    "asks_place": r"\bwhere\b|\bwhich (?:folder|directory|file|path)\b",
    # In so many words: a sentence with "to" or "for" need not tell why.
    "gives_reason": (
        r"\b(?:because|since(?! (?:v?\d|version))|so that|in order to|due to|(?:the|one|main) reasons?|the purpose|that[’']s why|this is why"
        r"|avoids?|prevents?|promotes?|ensures?|to make sure)\b"
    ),
    "label_number": (
        r"\b(?:listings?|figures?|figs?\.?|tables?|chapters?|sections?|appendi(?:x|ces)|steps?|pages?|examples?|versions?|equations?|refs?\.?|notes?)"
        r"\s+\d[\d.–-]*|\bv\d[\d.]*"
    ),
}
