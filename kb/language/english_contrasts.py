"""English words that say the opposite, or the same from the other side; degrees of permission and of quantity.

Read by kb/support, which holds a claim against a text. Each line of a table is one group; words are lower case and
uninflected where the stemmer brings the forms together.
"""

from __future__ import annotations

# One side against the other; within a side any word.
OPPOSITES = """
before|after
earlier|later
early|late
first earliest initial original|last latest final
begin start commence open begins beginning|end finish close stop cease ending ends
increase rise grow raise climb increased rose grew up upward gain|decrease decline fall drop reduce lower shrink decreased fell down downward loss
large larger largest big bigger biggest great greater greatest|small smaller smallest little tiny
high higher highest tall taller|low lower lowest
long longer longest|short shorter shortest
more most|less least fewer fewest
many much numerous frequent common|few little rare scarce uncommon
old older oldest ancient elder elderly|new newer newest young younger youngest recent modern
fast faster fastest quick quickly rapid rapidly|slow slower slowest slowly
hot hotter hottest warm warmer|cold colder coldest cool cooler
heavy heavier heaviest|light lighter lightest
strong stronger strongest|weak weaker weakest
hard harder hardest difficult complicated complex|easy easier easiest simple simpler
good better best great excellent improve|bad worse worst poor worsen deteriorate
rich richer wealthy|poor poorer
wide wider broad|narrow narrower
deep deeper|shallow shallower
near nearer nearest close closer nearby|far farther farthest distant remote
north northern northward|south southern southward
east eastern eastward northeast southeast|west western westward northwest southwest
left|right
upper above top over upstairs|lower below bottom under beneath downstairs
inside indoor indoors internal interior inner within|outside outdoor outdoors external exterior outer
front forward|back rear backward behind
public|private
open opened unlocked|closed shut locked close
always constantly|never seldom rarely occasionally sometimes
often frequently usually commonly|rarely seldom hardly never
all every entire whole full total|none partial part some
everyone everybody|nobody no-one
accept approve allow permit agree accepted approved|reject refuse deny forbid prohibit decline rejected refused denied disagree
enable enabled activate active on|disable disabled deactivate inactive off
add insert append include join added included|remove delete exclude subtract omit removed deleted excluded leave
win won victory succeed success successful winner|lose lost defeat fail failure failed loser
attack|defend defence defense retreat
arrive arrival arrived come enter entrance entry|depart departure departed leave go exit
push|pull
import|export
input|output
buy bought purchase|sell sold
borrow borrowed|lend lent loan
send sent|receive received
give gave given|take took taken receive
teach taught|learn learned
ask question|answer reply
question|answer
love like|hate dislike
remember|forget forgot
create build construct built make|destroy demolish destroyed demolished ruin
appear emerge|disappear vanish
war|peace
life alive live living born birth|death dead die died
day daytime daily morning|night nighttime nightly
morning|evening afternoon
summer|winter
spring|autumn fall
sunrise dawn|sunset dusk
male man men boy|female woman women girl
husband|wife
king|queen
father|mother
son|daughter
true right correct valid accurate|false wrong incorrect invalid mistaken
safe secure harmless|dangerous unsafe hazardous risky harmful
free complimentary|paid charged
cheap cheaper inexpensive|expensive costly
mandatory compulsory required obligatory necessary|optional voluntary unnecessary
legal lawful permitted allowed|illegal unlawful prohibited forbidden banned
positive|negative
maximum max most|minimum min least
major|minor
majority|minority
rural|urban
native domestic|foreign
permanent constant|temporary transient
static fixed immutable constant|dynamic variable mutable changing
explicit|implicit
automatic automatically|manual manually
same identical equal alike similar|different distinct opposite
together jointly|separately apart alone individually
single one|multiple several double
simple|compound
full filled|empty
wet damp|dry
clean|dirty
bright|dark dim
hard|soft
thick|thin
sharp|blunt dull
rough|smooth
loud noisy|quiet silent
happy glad pleased|sad unhappy angry
rich|poor
useful|useless
visible shown|hidden invisible secret
known|unknown
present|absent
past|future
ally friend|enemy opponent
offense offensive|defense defensive
liberal|conservative
guilty|innocent
success|failure
profit|loss deficit
supply|demand
strength|weakness
advantage benefit|disadvantage drawback
cause|effect
parent|child
teacher|student
employer|employee
buyer|seller
above|below
plus|minus
add|subtract
multiply|divide
encrypt lock|decrypt unlock
compress|decompress expand
connect attach|disconnect detach
load|unload
install|uninstall
upload|download
read|write
client|server
vertical|horizontal
odd|even
serial sequential|parallel concurrent
raw|cooked
sweet|sour bitter
fresh|stale
freeze|thaw melt boil
sink|float
rise rising|set setting
ascend ascending|descend descending
lead leader|follow follower
encourage|discourage
prevent stop block|allow cause enable let
protect|expose harm
save|spend waste
keep preserve|discard
hire hired employ|fire fired dismiss
marry married|divorce divorced
strict stricter|lenient loose relaxed
entire|partial
exact exactly precise|approximate approximately
original|copy
major|minor
heaven|hell
asleep|awake
sick ill|healthy well
urban|rural
civilian|military
import|export
ancestor|descendant
"""

# Verbs that tell one event from both sides: the one who sells gives what the other buys.
CONVERSES = """
sell sold|buy bought purchase purchased acquire acquired
give gave given donate donated hand handed present grant granted|receive received get got accept
lend lent loan|borrow borrowed
lease leased let|rent rented
teach taught|learn learned learnt
send sent|receive received
defeat defeated beat|lose lost
own owned owns|belong belongs belonged
contain contains include includes|belong belongs part
precede preceded precedes|follow followed follows succeed succeeded
hire hired employ employed|work works worked
father mother parent|son daughter child
"""

# Degrees of duty, weakest claim first: the pattern that stands first in a clause's text counts.
MODALITY = {
    "forbidden": (
        r"\b(?:must|may|can|should|shall|could|might|do|does) ?not be\b(?! (?:required|necessary|needed))|\b(?:must|may|can|should|shall) ?not\b|\b(?:mustn|can|shouldn)['’]t\b"
        r"|\bnot (?:be )?(?:allowed|permitted|ok(?:ay)? to|fine to|acceptable to)\b|\b(?:forbidden|prohibited|banned|disallowed|off.limits)\b|\bno \w+ (?:is|are|may|can) (?:be )?(?:allowed|permitted)\b|\bunable to\b"
        r"|\bnot (?:be )?(?:able|possible) to\b|\bimpossible\b"
    ),
    "optional": (
        r"\bneed(?:s)? not\b|\bneedn['’]t\b|\b(?:do|does|did)(?: not|n['’]t) (?:have|need) to\b|\bnot (?:be )?(?:required|necessary|needed|mandatory|obliged)\b|\boptional(?:ly)?\b|\bvoluntary\b|\bno need to\b"
        r"|\b(?:is|are) not required\b|\bunnecessary\b"
    ),
    "must": r"\b(?:must|shall)\b|\b(?:have|has|had|need|needs|needed|required|obliged|forced) to\b|\b(?:is|are|was|were|be) (?:required|mandatory|compulsory|obligatory|necessary)\b|\bmandatory\b|\bcompulsory\b",
    "should": r"\b(?:should|ought to|recommended|advised|advisable)\b",
    "may": r"\b(?:may|can|could|might)\b|\b(?:allowed|permitted|able|free|possible) to\b|\b(?:is|are) (?:allowed|permitted|possible|welcome)\b",
}
# (what claims more than the thing itself, what in a text lets it): an instruction lets "must".
STRENGTH = (
    (
        r"(?<!not )(?<!n't )(?<!longer )\b(?:must|required|mandatory|obligatory|compulsory|indispensable|ha(?:ve|s) to)\b(?! not\b)",
        r"\b(?:must|shall|requir\w+|mandat\w+|obligat\w+|compulsory|ha(?:ve|s|d) to|need\w*|necessary|essential|should|ought|only|sure|unless|without|until|before"
        r"|can ?not|can't|not|n't|always|important|demand\w*|expect\w*)\b|n['’]t\b"
        r"|^\W*(?!(?:in|on|at|for|with|when|if|as|by|from|to|after|since|while|and|but|or|then|under|over|of|about|like|is|are|was|were|do|does|did|has|had|that|this|all|both|into|through|during|between)\b)"
        r"[a-z]+ (?:the|an?|your|it|them|each|every|any|these|those)\b"
        r"|^\W*(?:please |then,? |next,? |first,? |also |to [^,]{3,60}, )?(?:run|use|create|add|install|import|open|set|call|write|type|enter|execute|put|declare|define|make|click|select|edit|start|pass"
        r"|specify|configure|enable|disable|download|copy|go|check|read|keep|see|ensure|avoid|do|remember|remove|update|include|provide|give|join|save|review|follow|build|test|deploy)\b",
    ),
    (
        r"\boptional(?:ly)?\b|\bnot (?:be )?(?:required|mandatory|necessary)\b|\b(?:do|does)(?:n['’]t| not) (?:have|need) to\b",
        r"option|\b(?:may|can|could|might|not|need|want\w*|like|voluntar\w+|free|without|unnecessary|except|prefer\w*|if|no)\b|n['’]t\b|\[",
    ),
    (
        r"\bonly\b",
        r"\b(?:only|just|sole\w*|exclusive\w*|except\w*|unless|alone|mere\w*|limit\w*|restrict\w*|nothing|no|never|single|unique|not|one|until|without|whole|entire|reserved|dedicated|specific\w*|cannot)\b|n['’]t\b",
    ),
    (
        r"\b(?:regardless|irrespective) of\b|\bno matter\b|\bhowever (?:long|short|many|much|few)\b",
        r"\b(?:regardless|irrespective|no matter|however|any\w*|all|every\w*|always|whatever|whether|without|not depend\w*|independent\w*|same|each)\b",
    ),
    (
        r"\b(?:always|never|every time|in all cases|automatically)\b",
        r"\b(?:always|never|every\w*|each|all|any\w*|whenever|must|not|no|nor|none|cannot|without|automat\w*|default\w*|forever|constant\w*|regardless|ever|continu\w*|permanent\w*|itself)\b|n['’]t\b",
    ),
)
# What has been settled, and what has only been put forward.
SETTLED = r"\b(?:ha(?:s|ve|d) (?:\w+ )?(?:decided|agreed|approved|adopted|resolved|voted)|(?:decided|agreed|voted|resolved) to|(?:was|were|been) (?:approved|adopted|agreed|decided|confirmed|passed))\b"
PUT_FORWARD = r"\b(?:propos\w+|suggest(?:s|ed|ion|ing)?|to vote on|will vote|will decide|will discuss|under discussion|being discussed|consider(?:s|ed|ing)|hop(?:es|ed|ing) to|recommend(?:s|ed)?|not yet|undecided)\b"
ALL = r"\b(?:all|every|each|always|everyone|everybody|everything|entirely|completely|without exception|any)\b"
SOME = r"\b(?:some|many|most|several|few|often|usually|sometimes|partly|mainly|mostly|certain|half|frequently|commonly|occasionally|rarely|majority|minority|seldom|a number of|part of)\b"
NONE = r"\b(?:no(?! (?:more|less|fewer|\w+er)\b)|none|never|neither|nobody|nothing|nowhere)\b"
# A claim may be careful where the text is not.
CAREFUL = r"\b(?:usually|generally|typically|mostly|often|commonly)\b"
ALL_YEAR = r"\ball[ -]year(?:[ -]round)?\b|\byear[ -]round\b|\bthroughout the year\b|\bin (?:every|any) season\b"
SEASON = r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|summer|winter|spring|autumn)\b"
ALL_WEEK = r"\bevery day\b|\bdaily\b|\bany day\b|\bseven days a week\b|\ball week\b|\b24/7\b"
WEEKDAY = r"\b(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|weekdays?)\b"
ALL_DAY = r"\baround the clock\b|\b24 hours\b|\bat any time\b|\bat all times\b|\ball day\b|\b24/7\b"
HOUR = r"\d{1,2}[:.]\d\d|\b\d{1,2} ?(?:am|pm)\b|\b(?:dawn|dusk|sunset|sunrise|noon|midnight|night)\b"
EXCEPT = r"\b(?:except(?: for| on| in)?|excluding|other than|apart from|but not|not on)\s+(?:(?:on|in|for|the|a|an|its|their|his|her) )*(?P<out>\w+)"
# Before a number, and behind it.
MORE = r"(?:more than|over|above|at least|exceed(?:s|ed|ing)?|greater than|no (?:less|fewer) than|a minimum of|minimum of|upwards of|older than|longer than|higher than|larger than|beyond|in excess of|surpass(?:es|ed|ing)?|not less than)"
LESS = r"(?:less than|under|below|at most|up to|no more than|never more than|never over|never exceeding|fewer than|a maximum of|maximum of|within|not exceed(?:ing)?|younger than|shorter than|lower than|smaller than|not more than)"
MORE_BEHIND = (
    r"(?:or more|and (?:over|above|up|later|newer|older)|or (?:older|over|above|higher|longer|later|newer)|plus\b|\+)"
)
LESS_BEHIND = r"(?:or (?:less|fewer|younger|under|below|shorter)|and under|at most|at the most|maximum)"
# What goes on where a bound ends.
BEYOND = r"\b(?:above|beyond|over|after|more than) (?:that|this|it|which)\b|\b(?:each|every|any) (?:further|additional|extra)\b|\bafter(?:wards)?,"
SAME_BOUND = r"\b(?:within|up to|a maximum of|a minimum of)\b"
ABOUT = r"(?:about|around|approximately|roughly|nearly|almost|some|circa|ca\.|close to|just (?:over|under))"
# A condition, said by what is not to be without it, and by what is to be with it alone.
WITHOUT = (
    r"(?:\b(?:not|never|cannot|can't|no one|nobody|prohibited|forbidden|banned)\b|n['’]t\b).*\b(?:without|unless|until|except)\b"
    r"|\b(?:without|unless|until)\b.*\b(?:not|never|cannot|can't|prohibited|forbidden|banned)\b"
)
ONLY = r"\bonly\b|\b(?:provided|providing|as long as|so long as)\b"
# Both of what is compared are named.
COMPARES = r"\b(?:than|compared|above|below|ahead of|behind|before|after)\b"
# "Any day but Tuesday" excepts.
BUT = r"\b(?:any|every|all|each)\w*(?: \w+)? (?:but|save|bar)\b|\bunless\b"
# Words of a number that was reckoned out of two others: a difference, a remainder; or a half.
RECKONED = (
    r"\b(?:more|less|fewer|extra|earlier|later|longer|shorter|older|younger|higher|lower|heavier|over|above|below|under|after|before"
    r"|remaining|remainder|rest|left|difference|outlived|outlasted|gap|increase[ds]?|rose|fell|grew|dropped)\b"
)
# Of a claim, numbers taken together; of a text, a share in words.
IN_ALL = r"\b(?:in all|in total|altogether|all together|total|together|at (?:the )?most|combined|overall)\b"
FRACTION = r"\b(?:(?P<count>an?|one|two|three|four|five) )?(?P<part>half|halves|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?)\b(?! (?:place|time|floor|year|day|week|month|party|century))|\bhalve[ds]?\b"
PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
MONTHS = "january february march april may june july august september october november december".split()
HALVED = r"\bhal(?:f|ve[sd]?)\b"
# Of a text, the year after one that it names.
NEXT = r"\b(?:following|next)\b"
# Words before a number that bound it alike.
SAME_BOUNDS = (
    ("at most", "no more than", "not more than", "never more than", "up to", "a maximum of"),
    ("at least", "no less than", "no fewer than", "not less than", "a minimum of"),
    ("more than", "over", "above", "in excess of"),
    ("less than", "fewer than", "under", "below"),
)
# A sentence or its beginning that says nothing of the matter.
LEAD = (
    r"(?:(?:probably |mostly |generally )?(?:yes|no),? (?:at least |but )?(?:for the most part|mostly|partly|in part|in principle|to some extent)[,:]\s+|did you know (?:that )?|(?:sure|certainly|of course|great question|yes|no|so|well|okay|ok)[,!:.]\s+|(?:in short|in summary|to summari[sz]e|overall|in general|generally(?: speaking)?|essentially|basically|note that|please note that|in fact|put simply|additionally|furthermore|moreover|finally|however|therefore|thus|in other words|also)[,!:.]?\s+"
    r"|(?:according to|based on|as (?:described|stated|mentioned|explained|noted|shown) (?:in|by)|as per|per|from|in) (?:the |your |these |this |provided |given |cited |available )*(?:documents?|documentation|passages?|evidence|text|context|sources?|notes?|guide|information)(?: provided| above| given)?,? ?(?:it (?:seems|appears|says|states) that )?"
    r"|(?:as far as the (?:documents?|evidence|sources?) (?:say|says|go|goes|show|shows)),? ?"
    r"|(?:it (?:appears|seems)(?: that)?|it is (?:stated|mentioned|noted|said|worth noting) that|to answer your question[:,]?|the answer is(?: that)?)\s+"
    r"|the (?:provided |given )?(?:documents?|documentation|passages?|evidence|text|context|sources?|guide|notes?) (?:states?|says?|explains?|mentions?|notes?|indicates?|describes?|shows?|tells? us|suggests?|specif(?:y|ies))(?: that)?,? )"
)
IDLE = (
    r"(?:(?:sure|certainly|of course|great question|good question|hello|hi|thanks?|thank you|you(?:'|’)re welcome)\b[^.!?]{0,60}[.!]?"
    r"|here(?:'s| is| are| you go)[^.!?\d]{0,80}[:.!]?|(?:i|we) hope (?:this|that|it) helps[^.!?]{0,40}[.!]?|(?:please )?let me know[^.!?]{0,80}[.!]?|feel free to ask[^.!?]{0,60}[.!]?"
    r"|(?:if you have|should you have|do you have) (?:any )?(?:more |other |further )?questions[^.!?]{0,80}[.!?]?|is there anything else[^.!?]{0,60}\?|(?:in summary|to summarize|in short|overall)[:.]?"
    r"|(?:yes|no),? (?:(?:it|they|you|we|he|she|that|there|this|one) (?:can|may|must|should|will|would|does|do|did|is|are|was|were|has|have|had)(?: not|n['’]t)?)[.!]?"
    r"|(?:(?:generally|usually|normally|unfortunately|of course|certainly|probably|mostly|officially|sadly),? (?:not|no|yes))[.!]?"
    r"|(?:not (?:directly|exactly|quite|really|necessarily|always|yet|entirely)|(?:it|that) depends|not by default|that(?:'|’)?s (?:right|correct|true))[.!]?"
    r"|(?:the )?(?:sources?|references?|citations?|cited passages?)\s*[:：]?[^.!?]{0,80})"
)

# How often, or for how long a number counts, as patterns: each line says the same. "For a year" is how long something lasts.
SAME_PERIODS = tuple(
    (
        rf"(?<!\bin )(?<!\bfor )(?<!within )(?<!after )(?<!about )a {unit}",
        f"per {unit}",
        f"each {unit}",
        f"every {unit}",
        f"{adverb}",
    )
    for unit, adverb in (
        ("day", "daily"),
        ("week", "weekly"),
        ("month", "monthly"),
        ("year", "yearly"),
        ("hour", "hourly"),
    )
)

# Words with a number in them: (what a claim says, what no text says then, what others say for it).
SAID_OTHERWISE = (
    (r"\bfortnightly\b", "fortnight", "every two weeks"),
    (r"\b(?:a |one )?fortnight\b", "fortnight", "two weeks"),
)

# What may be turned round (kb/support/turned.py), each pattern with two sides, a and b. From a to b:
WAY = (
    r"\bfrom (?P<a>[^,;.]{1,40}?) (?:up |down |over |back |on )?(?:to|into) (?P<b>(?:the |an? )?[^\s,;.]+(?: [^\s,;.]+)?)",
)
# Of a comes b.
CAUSE = (
    r"(?P<b>[^;.]+?),?\s+(?:because(?: of)?|due to|owing to|as a result of)\s+(?P<a>[^;.]+)",
    r"^(?:because(?: of)?|since|due to)\s+(?P<a>[^,;]+),\s+(?P<b>[^;.]+)",
    r"(?P<a>[^;.]+?)[,;.]\s+(?:so|therefore|thus|hence|as a result|consequently|that is why),?\s+(?P<b>[^;.]+)",
)
# b is more or less than a, in c.
COMPARED = (
    r"(?P<b>[^,;.]{1,60}?)\s+(?P<c>(?:is|are|was|were|has|have|can|takes?|costs?|gets?|pays?)\s[^,;.]{1,40}?)\s+than\s+(?P<a>[^,;.]{1,60})",
    r"(?P<b>(?:[^\s,;]+\s+){0,4}?[^\s,;]+?)\s+(?P<c>wins?|prevails?|takes? (?:precedence|priority)|ha(?:s|ve) (?:precedence|priority)|overrides?|beats?)\s+(?:over\s+)?(?P<a>[^\s,;]+(?:\s[^\s,;.]+){0,3})",
)
# a comes before b.
ORDERED = (
    r"(?P<b>[^,;.]+?)(?<!look)(?<!looks)(?<!looked)(?<!looking)(?<!named),?\s+(?:only )?after\s+(?!which\b|all\b)(?P<a>[^,;.]+)",
    r"^after\s+(?P<a>[^,;]+),\s*(?P<b>[^;.]+)",
    r"(?P<a>[^,;.]+?),?\s+before\s+(?P<b>[^,;.]+)",
)
THEN = r"(?<!if )\b(?:and )?(?:then|after that|afterwards|finally|lastly)\b"
ORDERED_TEXT = r"\b(?:first|then|finally|next|before|after|step \d)\b"
# Not a, but b.
NOT_BUT = (
    r"\b(?:not|n['’]t) (?!only|just|merely)(?P<a>[^,;.]{1,60}?),?\s+(?:but|only|just)\s+(?:rather )?(?P<b>[^,;.]{1,60})",
    r"(?P<b>[^,;.]{1,80}?),?\s+(?:and |but )?not (?P<a>[^,;.]{1,50})",
    r"(?P<b>[^,;.]{1,60}?) (?:rather than|instead of) (?P<a>[^,;.]{1,50})",
)

# Words for all or none of a claim, and what begins a sentence that excepts something from the one before it.
ABSOLUTE = r"\b(?:never|always|no one|nobody|nothing|under any circumstances|without exception|any|all|every\w*)\b"
EXCEPTS_NEXT = r"^\W*(?:the only exceptions?\b|an exception\b|exceptions?:|except\b)"
# Of a claim that says the same of another thing, and what begins the consequence of not doing what stands before it.
TOO = r"\b(?:also|too|as well|likewise|the same|equally)\b"
OTHERWISE = r"^\W*(?:otherwise|or else|if not|failing that)\b"
# Where a sentence turns from a conclusion to its reason, or back; what stands before a conclusion; what denies without a negation.
TURN = r"(?:,|\s[-–—])\s+(?:so(?: that)?|because|since|as|for|which means|therefore|hence)\s+|\s+(?:because|since)\s+|[;:]\s+"
ANSWERED = r"(?:yes|no|not yet|sorry)[,.:]\s+"
TOO_MUCH = r"\btoo \w+|\b(?:not|isn't) enough\b|\bimpossible\b"
# A bound, with the negation that some have; what says no or yes by itself; words that end any conclusion.
BOUND = rf"\b(?:(?:must|may|shall|should|can|will|do|does)\s)?not exceed\w*|\b(?:{LESS}|{MORE})\b"
SIGN = r"\b(?:free|clos\w+|shut\w*|refus\w+|reject\w+|waive\w*|exempt\w*|except\w*|unless|without)\b"
PLAIN_ENDS = "possible allowed permitted fine ok okay enough high low big small heavy old young late early long short much many case apply applies happen happens true right work works this go goes there it he she they"
# Before an amount that is told of something, "the bridge is", "the town has", and not in "a trip that costs", "if it is".
MEASURES = r"^(?!.*\b(?:that|which|who|whose|if|when|where|while)\b).*\b(?:is|are|was|were|has|have|had|costs?|measures?|weighs?|takes?|lasts?)\s(?:about |around |exactly |only |just |a |an )?$"
