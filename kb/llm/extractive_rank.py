"""A question and the sentences of its evidence → how well each answers: words, meaning, and the shape that is asked for. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from kb.frozen import dataclass
from kb.language.asked import asks_fact, matches_answer_type, tells_how_many
from kb.language.compared import MOST_CHARS, compared_things
from kb.language.korean_particles import ALL_ENDINGS, strip_ending
from kb.language.registry import question_language, says, words
from kb.language.systems import serves, systems_in
from kb.text import analyze, analyze_query, find_words

# BM25's usual constants, as in rank-bm25.
K1, B = 1.5, 0.75
# So many sentences without any of the words are added to the counts: in a pack of two sentences a word of both is still
# rare in the language, and a word of neither must not outweigh all others.
BACKGROUND_SENTENCES = 50

_EMPHASIS = re.compile(r"[*_`]")
_DEFINED = re.compile(
    r"^\W*what\s+(?:does|do)\s+(?!(?:i|it|you|we|they|this|that)\b)(?P<does>.+?)\s+(?:do|mean|stand for)(?:\s+(?:in|on|for|within)\s[^,?]+)?\W*$"
    r"|^\W*what\s+(?:is|are)\s+(?P<use>.+?)\s+(?:used |good )?for\W*$"
    r"|^\W*(?:so |well )?(?:what|who)(?:'s|\s+(?:is|are|was|were))\s+(?P<en>.+?)[\s?]*$|^\W*define\s+(?P<de>.+?)[\s?.]*$"
    r"|^(?P<ko>.+?)(?:이란|란|은|는|이|가)?\s*(?:무엇|뭐|뭔|무슨 뜻)|^(?P<kd>.+?)(?:이란|란)\s*[?]*$",
    re.I,
)
# "an origin in CORS": what is defined stands before, where in behind.
_WHERE = re.compile(r"\s+(?:in|for|within|with|according to)\s+.*$|^.*(?:에서|에서의)\s+", re.I)
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.I)
# "the base option": what kind of thing it is, which its section does not repeat; and how a sentence begins that says what it does.
_KIND = (
    r"(?:option|flag|command|setting|property|function|method|attribute|parameter|directive|file|plugin|hook|field|keyword|rune|macro"
    r"|operator|variable|key|component|class)(?:e?s)?"
)
_OF_KIND = re.compile(rf"\s+{_KIND}$", re.I)
_DOES = re.compile(
    rf"\W{{0,5}}(?:(?:the|an?)\s+)?\W{{0,5}}(?P<thing>\w(?:.{{0,50}}?\w)??)\W{{0,5}}\s(?:{_KIND}\s)?(?:(?:will|can|only|also|automatically)\s)*"
    r"(?!(?:is|was|has|does|this|its|us|as|always|plus|across|versus|less)\b)[a-z]{2,}s\s",
    re.I,
)
# "is a", "are" but not "are used": what a definition says of its subject.
_IS = re.compile(
    r"\b(?:is|was)\s+(?:an?|the|one|any|what|when|how|where|simply|just|essentially)\b|\b(?:are|were)\s+(?!\w+ed\b)"
    r"|\b(?:means?|refers? to|stands? for|defines?|describes?)\b",
    re.I,
)
_HOW = re.compile(
    r"\bhow\s+(?:do|can|should|would|could|to|does\s+one)\b|\bwhat\s+(?:command|is the command)|\bsteps?\s+to\b"
    r"|어떻게|방법|하려면|[가-힣]려면|명령|설정|알려\s*(?:줘|주)",
    re.I,
)
# How an instruction begins, or ends in Korean; headings under which steps are only named once more; what sets a scene.
_STEP = re.compile(
    r"\W*(?:(?:first|next|then|now|finally|also|instead),? )?(?:run|use|create|add|install|import|open|set|call|write|type|enter|execute"
    r"|put|declare|define|make|click|select|edit|start|pass|specify|configure|enable|download|copy|go to"
    r"|to \w+ .{4,60}? (?:you|we))\b"
    r"|.*(?:세요|십시오|면 됩니다|해야 합니다)\W*$",
    re.I,
)
_ADVICE = re.compile(r"\W*(?:you|we) (?:can|could|need to|have to|must|should)\b(?! not)", re.I)
_RECAP = re.compile(r"\W*(?:summary|recap|conclusions?|what we (?:have )?learned|요약|정리|마무리)\W*$", re.I)
_SCENE = re.compile(
    r"\W*(?:let(?:'|’)s (?:say|suppose|imagine|assume|start|look|see)|suppose|imagine|assume|for (?:example|instance)|in this example"
    r"|예를 들어|가정|다음 예)\b",
    re.I,
)
# A sentence that begins so leans on the one before.
_LEANS = re.compile(
    r"^\W*(?:\.\.\.|…|(?:\w+! )?(?:we|you|i|it|they|there|he|she)\W+(?:\w+\W+)?also\b|the same (?:applies|goes|is true|holds)\b|in the same way\b|(?:similarly|likewise)\b|(?:this|that|these|those|it|its|they|their|he|she|his|her|such|here|there|then|so|thus|however|but|and|or|also"
    r"|instead|otherwise|therefore|hence|both|another|for (?:this|that) reason|in (?:this|that|the latter) case|the (?:former|latter|above))\b"
    r"|(?:그리고|또는|반면|한편|마찬가지로|동일하게|같은 방식으로|위와 같이|지금까지|이|그|저|이것|그것|이는|그는|이를|그래서|따라서|하지만|그러나|그런데|또한|즉|여기서?|이렇게|그렇게|이러한|그러한|그러면|그럼|이런|그런|이\s*경우)(?=[\s,]|은|는|를|가|에))",
    re.I,
)
# Behind the topic of a Korean sentence.
_TOPIC = re.compile(r"(?<=[\w\"'”’)])(?:이란|란|은|는)(?=\s)")
# A sentence that only says where more is told.
_POINTS = re.compile(
    r"\W*(?:(?:please|also),? )?(?:(?:see|refer to|read|check out|visit|consult|learn more)\b"
    r"|(?:for|you can find) (?:more|further|additional) (?:information|details?)\b|for details\b)"
    r"|\W*(?:더 )?자세한 (?:내용|정보|사항|설명).*(?:참고|참조|확인|살펴|보세요|보십시오)"
    r"|.{0,60}(?:을|를) (?:참고|참조)(?:하세요|하십시오|하시기 바랍니다)\W*$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence of the evidence.

    passage, block  0-based places: of the passage in the evidence, of the block in the passage
    start, end      [start, end) in the passage
    around          the text of its paragraph or list, and of the headings above it
    has_code        code stands in its block or follows it
    opens           it stands in the first paragraph below its heading
    announces       it ends its paragraph, and a list, code or a table follows
    resumes         it stands among steps of which the first are not in the passage
    path            all headings above it
    subject         words of the question that its document is about: as a heading that is not shown
    """

    passage: int
    block: int
    start: int
    end: int
    text: str
    heading: str
    around: str
    kind: str
    has_code: bool = False
    opens: bool = False
    announces: bool = False
    resumes: bool = False
    path: str = ""
    subject: str = ""

    def under_heading(self) -> str:
        """The text behind its headings, which say what "it" is in a sentence that stands alone: what is encoded of it."""
        heading = " > ".join(part for part in (self.beside(self.heading), self.heading) if part)
        return f"{heading}: {self.text}" if heading else self.text

    def beside(self, heading: str) -> str:
        """The subject without what a heading says."""
        said = frozenset(analyze(heading))
        return " ".join(word for word in self.subject.split() if not said.issuperset(analyze(word)))

    def shown_heading(self) -> str:
        """The headings above it, as they are shown."""
        return " › ".join(dict.fromkeys(part for part in self.heading.split(" > ") if part))


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for.

    terms    its index terms, without those that only ask
    sides    the two things whose difference is asked, as index terms; empty for every other question
    things   the same, as the question writes them
    defined  index terms of what is to be defined; empty for every other question
    subject  the same, as the question writes it
    systems  operating systems on which steps or a place are asked for
    wants_use   what is defined is asked for by what it does, or is for
    wants_fact  a number, a time, a price or a name
    is_english  as opposed to Korean
    """

    question: str
    terms: tuple[str, ...]
    sides: tuple[frozenset[str], ...] = ()
    things: tuple[str, ...] = ()
    defined: tuple[str, ...] = ()
    wants_steps: bool = False
    subject: str = ""
    wants_fact: bool = False
    is_english: bool = True
    wants_use: bool = False
    systems: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Asked:
        """Read a question, English or Korean."""
        named = compared_things(question) or ()
        defined = None if named else _DEFINED.match(" ".join(question.split())[:MOST_CHARS])
        subject = next((part for part in defined.groups() if part), "") if defined else ""
        subject = _WHERE.sub("", subject)
        wants_use = defined is not None and (defined["does"] or defined["use"]) is not None
        if wants_use:
            subject = _OF_KIND.sub("", _ARTICLE.sub("", subject))
        # "as const": with a word that counts for nothing it is not known by the rest.
        is_named = len(subject.split()) <= 4 and (not wants_use or len(asked_terms(subject)) >= len(subject.split()))
        return cls(
            question,
            tuple(asked_terms(question)),
            tuple(frozenset(asked_terms(part)) for part in named),
            named,
            tuple(asked_terms(_ARTICLE.sub("", subject))) if is_named else (),
            _HOW.search(question) is not None,
            subject if is_named else "",
            asks_fact(question),
            question_language(question) == "en",
            wants_use,
            systems_in(question) if _HOW.search(question) or says("asks_place", question, re.I) else frozenset(),
        )


def asked_terms(text: str) -> list[str]:
    """The index terms of what is asked about: Korean words without endings, no words that only ask.

    >>> asked_terms("미들웨어란 무엇인가요?"), asked_terms("What is a trait?")
    (['미들', '들웨', '웨어'], ['trait'])
    """
    asking = words("asking")
    kept = []
    for word in find_words(text):
        if not word.isascii():
            word = re.sub(r"[가-힣]+$", lambda run: _bare(run.group()), word)
        if word and word.lower() not in asking:
            kept.append(word)
    return analyze_query(" ".join(kept)) or analyze_query(text)


def _bare(word: str) -> str:
    if word in words("asking") or word in ALL_ENDINGS:
        return ""
    bare = strip_ending(strip_ending(word, ALL_ENDINGS), ALL_ENDINGS)
    return "" if bare in words("asking") else bare


def leans(sentence: str) -> bool:
    """True for a sentence that begins by pointing at the one before.

    >>> leans("This means that it moves."), leans("Ownership is a set of rules.")
    (True, False)
    """
    return _LEANS.match(sentence) is not None


def points_elsewhere(sentence: str) -> bool:
    """True for a sentence that only says where more is told: there it says nothing.

    >>> points_elsewhere("For more information, see the guide."), points_elsewhere("자세한 내용은 여기에서 확인하세요.")
    (True, True)
    """
    return _POINTS.match(sentence) is not None


def says_what_is(terms: frozenset[str], sentence: str) -> bool:
    """True for a sentence whose subject has just these index terms and that says what it is, or whose topic it is in Korean.

    >>> says_what_is(frozenset({"trait"}), "A trait is a set of methods."), says_what_is(frozenset({"trait"}), "The methods of a trait are few.")
    (True, False)
    """
    found = _IS.search(sentence) or _TOPIC.search(sentence)
    return found is not None and frozenset(asked_terms(sentence[: found.start()])) == terms


def instructs(sentence: str) -> bool:
    """True for a step: a sentence that says what to do, or what for.

    >>> instructs("Run the tests."), instructs("Runs the tests.")
    (True, False)
    """
    return _STEP.match(sentence) is not None


def is_recap(candidate: Candidate) -> bool:
    """True for a sentence below a heading such as "Summary": what can be done is named there once more, and not how."""
    return _RECAP.match(candidate.heading.rpartition(" > ")[2]) is not None


def shape_bonus(asked: Asked, candidate: Candidate) -> float:
    """What is added for the shape that the question asks for; measured by benchmarks/answers.py."""
    text = candidate.text
    plain = _EMPHASIS.sub("", text)
    bonus = 0.0
    if asked.defined:
        opening = set(analyze(plain[:80]))
        if set(asked.defined) <= opening and (is_said := _IS.search(plain)):
            subject = set(analyze(plain[: is_said.start()]))
            bonus += 0.2 if set(asked.defined) <= subject and is_said.start() < 60 else 0.08
            bonus += 0.15 * (set(asked.defined) == subject)  # "A trait is", not "The methods of a trait are"
        if asked.wants_use and (does := _DOES.match(plain)) and set(asked_terms(does["thing"])) == set(asked.defined):
            bonus += 0.35
        if _is_topic(asked.subject, plain):
            bonus += 0.2
        heading = set(analyze(candidate.heading.rpartition(" > ")[2]))
        longer = 0 if asked.wants_use else 1
        if candidate.opens and set(asked.defined) <= heading and len(heading) <= len(asked.defined) + longer:
            # "Path parameters", "Path parameters containing paths"
            bonus += 0.2 if set(asked.defined) == heading else 0.08
    bonus += 0.1 * _alike(asked.terms, candidate.heading.rpartition(" > ")[2])
    if asked.sides and len(asked.sides) == 2:
        held, near = set(analyze(text)), set(analyze(candidate.around))
        bonus += 0.15 * all(held & side for side in asked.sides) + 0.1 * all(near & side for side in asked.sides)
    if asked.wants_steps:
        bonus += 0.1 * (candidate.has_code or "`" in text) + 0.08 * instructs(plain)
        bonus += 0.05 * (_ADVICE.match(plain) is not None)
        bonus -= 0.25 * is_recap(candidate)
    if says("asks_reason", asked.question, re.I):
        bonus += 0.1 if says("gives_reason", plain, re.I) else 0.06 * _gives_reason(candidate.around)
    elif not asked.is_english and says("asks_use", asked.question):
        bonus += 0.1 * says("tells_use", plain)
    if _SCENE.match(plain):
        bonus -= 0.1 if asked.defined else 0.05
    bonus += 0.08 * (matches_answer_type(asked.question, [text]) or 0.0)
    if asked.wants_fact:
        bonus += 0.3 * tells_how_many(asked.question, plain)
    if asked.systems and serves(asked.systems, f"{candidate.path}\n{candidate.around}"):
        bonus += 0.3
    if leans(plain):
        bonus -= 0.06
    if candidate.resumes:
        bonus -= 0.1
    if text.rstrip("\"'”’)*_` ").endswith(("?", "？")):
        bonus -= 0.25
    if candidate.kind == "prose" and set(analyze(plain)) <= set(analyze(candidate.heading)):
        bonus -= 0.25  # the title once more
    if candidate.kind in ("code", "table"):
        bonus -= 0.08
    codes = {term for term in asked.terms if any(map(str.isdigit, term))}
    if candidate.kind == "table" and codes:  # rows differ in little else than their numbers and codes
        bonus += 0.4 * len(codes & set(analyze(text))) / len(codes)
    if text.endswith((":", "：")) and not candidate.announces:
        bonus -= 0.15
    if len(text) < 20 and candidate.kind == "prose":
        bonus -= 0.08
    return bonus


def _alike(terms: Sequence[str], title: str) -> float:
    """How much of a question and of a heading is the same, in [0, 1]: the F1 of their index terms."""
    asked, titled = frozenset(terms), _title_terms(title)
    both = len(asked & titled)
    return 2 * both / (len(asked) + len(titled)) if both else 0.0


@lru_cache(maxsize=64)
def _gives_reason(text: str) -> bool:
    """Kept: all sentences of a list stand in the same text."""
    return says("gives_reason", text, re.I)


@lru_cache(maxsize=256)
def _title_terms(title: str) -> frozenset[str]:
    return frozenset(asked_terms(title)) if title else frozenset()


def _is_topic(subject: str, sentence: str) -> bool:
    """True for a Korean sentence about a subject: it begins with it, quoted or not, and its topic particle.

    >>> _is_topic("미들웨어", '"미들웨어"는 모든 요청 전에 실행되는 함수입니다.'), _is_topic("미들웨어", "미들웨어를 만듭니다.")
    (True, False)
    """
    named = "|".join(re.escape(name) for name in dict.fromkeys([subject, *subject.split()[-1:]]))
    pattern = rf"\W*(?:{named})[\"'”’)]*\s*(?:\([^)]*\))?(?:이란|란|은|는)(?=\s)"
    return bool(subject) and re.match(pattern, sentence, re.I) is not None


def lexical_scores(asked: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[float]:
    """BM25 of each sentence for the question's terms, divided by the best any sentence could reach: in [0, 1].

    The inverse document frequency is Lucene's, which is never negative: with few sentences rank-bm25's own gives a term
    that most of them share a score below zero, and the evidence was retrieved because it shares terms.
    """
    from rank_bm25 import BM25Okapi

    if not asked or not any(sentences):
        return [0.0] * len(sentences)
    weight, unseen = _weights(sentences)
    ranking = BM25Okapi(sentences, k1=K1, b=B)
    ranking.idf = weight
    best_possible = (K1 + 1) * sum(weight.get(term, unseen) for term in asked)
    return [float(score) / best_possible for score in ranking.get_scores(asked)]


def coverage(asked: Sequence[str], texts: Sequence[frozenset[str]]) -> list[float]:
    """The share of the question's terms, by their rareness, that each text holds: in [0, 1]."""
    weight, unseen = _weights([list(terms) for terms in texts])
    total = sum(weight.get(term, unseen) for term in asked)
    return [sum(weight.get(t, unseen) for t in asked if t in terms) / total if total else 0.0 for terms in texts]


def _weights(texts: Sequence[Sequence[str]]) -> tuple[dict[str, float], float]:
    """(term → inverse document frequency, that of a term in no text)."""
    count = len(texts) + BACKGROUND_SENTENCES
    holding = Counter(term for terms in texts for term in set(terms))
    return {t: math.log1p((count - n + 0.5) / (n + 0.5)) for t, n in holding.items()}, math.log1p((count + 0.5) / 0.5)


def is_held(sentence: str, text: str, share: float) -> bool:
    """True where a text holds this share of a sentence's words."""
    words_of_it = set(analyze(sentence))
    return len(words_of_it & set(analyze(text))) >= share * len(words_of_it)
