"""A true sentence of a document → the same sentence made false, or said in other words; by kind. Pure; seeded by the caller.

Each edit gives None where a sentence offers nothing to edit. The words that are exchanged are lists of their own: none is
read from the checker's tables. Used by benchmarks/lies.py.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.support_edits import (
    change_date,
    change_korean_number,
    change_number,
    change_unit,
    negate,
    negate_korean,
)
from kb.language.korean_particles import fitting_particle

Edit = Callable[[str, random.Random, list[str]], str | None]

FOREIGN = "Oldenburg Marlowe Castellane Whitcombe Drusilla Penhallow Zagora Vintersund Brackenridge Okonjo".split()
KOREAN_FOREIGN = "남궁혜린 도라지연구소 백두상사 청람출판사 황보석 은하제약 한빛섬 구름나루".split()
# Verbs whose two sides say the same.
_EVEN = frozenset("married met joined shared resembled equals matched and with versus".split())
_NAME = re.compile(
    r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]{3,}\b(?: [A-Z][a-z]{3,}\b)?|^(?!(?:The|This|That|These|In|On|At|For|When|While|After|It|As|By|They|Some|More|Since|During|According|Although|Most|Many|There|His|Her|And|But|Each|Both|From|With|Then|Here|They|Their|Its|Unlike|Under|Until|Because|Cut|Press|Stir)\b)[A-Z][a-z]{3,}\b(?: [A-Z][a-z]{3,}\b)?"
)
_PAST = re.compile(
    r"\b[a-z]{3,}(?:ed|es|ote|old|ook|ave|ent|ought|on)\b|\b(?:wrote|sold|took|gave|sent|won|beat|led|made|saw)\b"
)
ANTONYMS = {
    "dev": (
        ("before", "after"), ("first", "last"), ("large", "small"), ("larger", "smaller"), ("high", "low"), ("higher", "lower"),
        ("increased", "decreased"), ("early", "late"), ("north", "south"), ("northern", "southern"), ("east", "west"),
        ("won", "lost"), ("public", "private"), ("long", "short"), ("began", "ended"), ("best", "worst"), ("old", "new"),
        ("upper", "lower"), ("major", "minor"), ("strong", "weak"), ("ancient", "modern"), ("accepted", "rejected"),
        ("male", "female"), ("positive", "negative"), ("always", "never"), ("inside", "outside"), ("more", "fewer"),
    ),
    "held": (
        ("mutable", "immutable"), ("safe", "dangerous"), ("allows", "prevents"), ("start", "finish"), ("valid", "invalid"),
        ("public", "hidden"), ("possible", "impossible"), ("simple", "complicated"), ("same", "different"),
        ("add", "remove"), ("left", "right"), ("open", "shut"), ("success", "failure"), ("common", "rare"),
        ("increase", "drop"), ("rise", "fall"), ("true", "false"), ("useful", "useless"), ("fast", "slow"),
        ("explicit", "implicit"), ("external", "internal"), ("maximum", "minimum"), ("enabled", "disabled"),
        ("buy", "sell"), ("gain", "loss"), ("domestic", "foreign"), ("rich", "poor"), ("war", "peace"), ("young", "elderly"),
        ("victory", "defeat"), ("attack", "defend"), ("love", "hate"), ("remember", "forget"), ("arrived", "departed"),
        ("correct", "wrong"), ("easy", "hard"), ("light", "heavy"), ("entire", "partial"), ("permanent", "temporary"),
    ),
}  # fmt: skip
KOREAN_ANTONYMS = (
    ("많은", "적은"), ("큰", "작은"), ("높은", "낮은"), ("먼저", "나중에"), ("이전", "이후"), ("시작", "종료"), ("증가", "감소"),
    ("남쪽", "북쪽"), ("동쪽", "서쪽"), ("가능", "불가능"), ("필수", "선택"), ("추가", "삭제"), ("허용", "금지"), ("빠르", "느리"),
    ("같은", "다른"), ("쉽게", "어렵게"), ("최대", "최소"), ("승리", "패배"), ("찬성", "반대"), ("공개", "비공개"), ("열", "닫"),
    ("좋은", "나쁜"), ("새로운", "오래된"), ("긴", "짧은"), ("전체", "일부"), ("성공", "실패"), ("참", "거짓"), ("내부", "외부"),
    ("유료", "무료"), ("상승", "하락"), ("입학", "졸업"), ("출발", "도착"), ("승인", "거부"), ("활성화", "비활성화"), ("앞", "뒤"),
)  # fmt: skip
# Words for words of the same meaning, as a model chooses them; synonyms in almost any sentence.
SYNONYMS = (
    ("located", "situated"), ("built", "constructed"), ("began", "started"), ("started", "began"), ("large", "big"),
    ("big", "large"), ("many", "numerous"), ("several", "a number of"), ("often", "frequently"), ("used", "employed"),
    ("uses", "makes use of"), ("use", "make use of"), ("shows", "displays"), ("help", "assist"), ("helps", "assists"),
    ("also", "additionally"), ("however", "though"), ("because", "since"), ("about", "approximately"), ("such as", "like"),
    ("called", "named"), ("known as", "referred to as"), ("made", "produced"), ("important", "significant"),
    ("different", "various"), ("allows", "lets"), ("allow", "let"), ("need to", "have to"), ("must", "has to"),
    ("main", "principal"), ("usually", "typically"), ("begin", "start"), ("end", "finish"),
    ("ended", "finished"), ("wrote", "authored"), ("received", "got"), ("founded", "established"), ("created", "made"),
    ("create", "make"), ("multiple", "several"), ("provides", "offers"), ("provide", "offer"), ("contains", "includes"),
    ("includes", "contains"), ("people", "persons"), ("however", "nevertheless"), ("although", "though"), ("near", "close to"),
    ("children", "kids"), ("bought", "purchased"), ("error", "mistake"), ("part", "portion"), ("way", "manner"),
)  # fmt: skip
KOREAN_SYNONYMS = (
    ("사용", "이용"), ("이용", "사용"), ("하지만", "그러나"), ("매우", "아주"), ("그리고", "또한"), ("필요합니다", "있어야 합니다"),
    ("여러", "다양한"), ("위해", "위하여"), ("만들", "생성하"), ("바로", "즉시"), ("모두", "전부"), ("약 ", "대략 "), ("가장", "제일"),
    ("처음", "최초로"), ("있습니다", "있어요"), ("합니다", "해요"), ("되었다", "됐다"), ("하였다", "했다"), ("이다.", "입니다."),
)  # fmt: skip


def wordnet_antonyms(folder: Path) -> tuple[tuple[str, str], ...]:
    """Pairs of single words that WordNet marks as opposites; folder holds its data.* files."""
    words: dict[tuple[str, str], list[str]] = {}
    links: list[tuple[tuple[str, str], int, tuple[str, str], int]] = []
    for file in sorted(folder.glob("data.*")):
        for line in file.open(encoding="utf-8"):
            if line.startswith(" "):
                continue
            fields = line.split(" | ")[0].split()
            kind = "a" if fields[2] == "s" else fields[2]
            count = int(fields[3], 16)
            words[kind, fields[0]] = [w.split("(")[0].lower() for w in fields[4 : 4 + 2 * count : 2]]
            at = 4 + 2 * count
            for i in range(int(fields[at])):
                sign, offset, other, which = fields[at + 1 + 4 * i : at + 5 + 4 * i]
                if sign == "!":
                    links.append(((kind, fields[0]), int(which[:2], 16), (other, offset), int(which[2:], 16)))
    pairs = {
        (words[one][i - 1], words[two][j - 1])
        for one, i, two, j in links
        if two in words and i and j and "_" not in words[one][i - 1] + words[two][j - 1]
    }
    return tuple(sorted(pairs))


def exchange(pairs: tuple[tuple[str, str], ...], *, both_ways: bool) -> Edit:
    """One word for its partner."""
    table: dict[str, list[str]] = {}
    for one, other in pairs:
        table.setdefault(one, []).append(other)
        if both_ways:
            table.setdefault(other, []).append(one)
    word = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, table), key=len, reverse=True))})\b")

    def edit(s: str, dice: random.Random, _: list[str]) -> str | None:
        found = list(word.finditer(s))
        if not found or re.search(r"\b(?:not|no|never)\b|n't", s):
            return None
        m = dice.choice(found)
        return s[: m.start()] + dice.choice(table[m[0]]) + s[m.end() :]

    return edit


def change_foreign_name(s: str, dice: random.Random, _: list[str]) -> str | None:
    """A name for one that stands in no document."""
    found = list(_NAME.finditer(s))
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start()] + dice.choice(FOREIGN) + s[m.end() :]


def change_to_name_of_passage(s: str, dice: random.Random, passage: list[str]) -> str | None:
    """A name for another name of the passage."""
    found = [m for m in _NAME.finditer(s) if " " in m[0] or dice.random() < 0.5]
    others = [n for t in passage if t != s for n in _NAME.findall(t) if n not in s and " " in n]
    if not found or not others:
        return None
    m = dice.choice(found)
    other = dice.choice(others)
    if any(part in other for part in m[0].split()):
        return None
    return s[: m.start()] + other + s[m.end() :]


def swap_roles(s: str, _: random.Random, __: list[str]) -> str | None:
    """Two names on both sides of a verb in each other's place."""
    found = list(_NAME.finditer(s))
    for one, other in itertools.pairwise(found):
        between = s[one.end() : other.start()]
        words = set(re.findall(r"[a-z]+", between))
        # Only where the verb follows the first name: a list, or "X of Y", would mean the same or nothing.
        if (
            len(between) < 60
            and _PAST.search(between)
            and not words & _EVEN
            and "," not in between
            and one[0] != other[0]
        ):
            return s[: one.start()] + other[0] + between + one[0] + s[other.end() :]
    return None


def change_comparison(s: str, dice: random.Random, _: list[str]) -> str | None:
    """More than for less than, at least for at most; or "more than" before a plain number."""
    pairs = {"more than": "less than", "less than": "more than", "at least": "at most", "at most": "at least", "over": "under",
             "fewer than": "more than", "up to": "at least", "greater than": "smaller than", "under": "over", "above": "below"}  # fmt: skip
    if m := re.search(rf"\b({'|'.join(pairs)})(?= (?:the |a )?[$€£]?\d)", s):
        return s[: m.start()] + pairs[m[0]] + s[m.end() :]
    found = list(re.finditer(r"(?<=[a-z] )\d{1,3}(?= [a-z]{4,})", s))
    found = [
        m
        for m in found
        if not re.search(
            r"(?:than|over|about|least|most|to|and|around|nearly|or|chapter|listing|figure|section|version|line|part|number|\w+ary|may|june|july|august|april|march|october|\w+ber)\s$",
            s[: m.start()],
            re.I,
        )
    ]
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start()] + dice.choice(["more than ", "fewer than ", "at least "]) + s[m.start() :]


def change_modality(s: str, dice: random.Random, _: list[str]) -> str | None:
    """May for must, must for need not, can for may not."""
    pairs = {"must": ["may", "need not"], "may": ["must", "must not"], "can": ["must", "cannot"], "should": ["must not", "need not"],
             "have to": ["do not have to"], "is required": ["is optional"], "are required": ["are optional"], "is allowed": ["is forbidden"],
             "are allowed": ["are forbidden"], "can't": ["can"], "cannot": ["can"], "must not": ["may"], "should not": ["should"]}  # fmt: skip
    found = list(re.finditer(rf"\b({'|'.join(sorted(pairs, key=len, reverse=True))})\b(?! also| be)", s))
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start()] + dice.choice(pairs[m[0]]) + s[m.end() :]


def change_quantifier(s: str, dice: random.Random, _: list[str]) -> str | None:
    """Some for all, all for few, usually for always."""
    pairs = {"some": ["all", "no"], "many": ["all", "no"], "most": ["all", "few"], "several": ["all"], "few": ["most"], "all": ["some", "few"],
             "every": ["no"], "each": ["no"], "usually": ["always", "never"], "often": ["always", "never"], "sometimes": ["always"],
             "always": ["sometimes", "never"], "never": ["always"], "rarely": ["often"], "both": ["neither"], "commonly": ["rarely"],
             "mostly": ["never"], "mainly": ["never"], "generally": ["never"], "frequently": ["rarely"]}  # fmt: skip
    found = list(re.finditer(rf"\b({'|'.join(pairs)})\b(?! (?:of the most|famous|important|popular|recent|common))", s))
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start()] + dice.choice(pairs[m[0]]) + s[m.end() :]


INVENTED = (
    "and it was paid for by a group of wealthy merchants", "and visitors can book guided tours in advance",
    "which led to a long dispute with the neighbours", "and the work was finished ahead of schedule",
    "because the previous version had been damaged by a storm", "while the archives burned in a fire the same week",
    "and members receive a discount of twenty percent", "which surprised most experts at the time",
    "and a sequel is planned for next summer", "so a second team was hired to repair it",
    "and this was later confirmed by a court in Geneva", "although the mayor objected at first",
)  # fmt: skip
KOREAN_INVENTED = (
    "그리고 이 일은 이웃 마을과의 긴 소송으로 이어졌다", "또한 회원은 이십 퍼센트 할인을 받는다", "그래서 두 번째 팀이 수리를 맡았다",
    "그리고 내년 여름에 후속편이 나올 예정이다", "다만 시장은 처음에 반대했다",
)  # fmt: skip


def join_clause(s: str, dice: random.Random, _: list[str]) -> str | None:
    """A clause that no document says behind a true sentence."""
    return s.rstrip(".") + ", " + dice.choice(INVENTED) + "." if s.endswith(".") else None


def join_korean_clause(s: str, dice: random.Random, _: list[str]) -> str | None:
    """The same in Korean."""
    return s.rstrip(".") + ", " + dice.choice(KOREAN_INVENTED) + "." if s.endswith(".") else None


_KOREAN_NOUN = re.compile(r"(?<![가-힣A-Za-z*\"=])([가-힣A-Za-z]{2,6}?)(은|는|이|가|을|를|에게|의)(?= )")


def change_korean_word(s: str, dice: random.Random, passage: list[str]) -> str | None:
    """A noun for another of the passage."""
    found = [m for m in _KOREAN_NOUN.finditer(s) if m[2] in "은는이가을를"]
    others = [m[1] for t in passage if t != s for m in _KOREAN_NOUN.finditer(t) if m[1] not in s and m[2] in "이가을를"]
    if not found or not others:
        return None
    m = dice.choice(found)
    return _put(s, m, dice.choice(others))


def change_korean_foreign(s: str, dice: random.Random, _: list[str]) -> str | None:
    """A noun for one that no document holds."""
    found = [m for m in _KOREAN_NOUN.finditer(s) if m[2] in "은는이가"]
    if not found:
        return None
    m = dice.choice(found)
    return _put(s, m, dice.choice(KOREAN_FOREIGN))


def swap_korean_roles(s: str, _: random.Random, __: list[str]) -> str | None:
    """The words of the subject and of the object in each other's place."""
    subject = re.search(r"(?<![가-힣A-Za-z*])([가-힣A-Za-z]{2,8}?)(이|가|은|는)(?= )", s)
    other = re.search(r"(?<![가-힣A-Za-z*])([가-힣A-Za-z]{2,8}?)(을|를|에게)(?= )", s)
    if not subject or not other or subject[1] == other[1] or subject.start() >= other.start():
        return None
    if other.start() - subject.end() > 40 or "," in s[subject.end() : other.start()]:
        return None
    behind = _put(s, other, subject[1])
    return _put(behind, subject, other[1])


def _put(s: str, place: re.Match[str], noun: str) -> str:
    """Another noun at a place, with the form of the particle that goes with it."""
    return s[: place.start(1)] + noun + fitting_particle(noun, place[2]) + s[place.end(2) :]


def exchange_korean(pairs: tuple[tuple[str, str], ...], *, both_ways: bool) -> Edit:
    """One word for its partner; particles and endings stay."""

    def edit(s: str, dice: random.Random, _: list[str]) -> str | None:
        found = [(a, b) for one, two in pairs for a, b in ((one, two), (two, one)) if re.search(rf"(?<![가-힣]){a}", s)]
        found = found if both_ways else [(a, b) for a, b in found if (a, b) in pairs]
        if not found or (both_ways and re.search(r"않|없|못|아니", s)):
            return None
        a, b = dice.choice(found)
        return re.sub(rf"(?<![가-힣]){a}", b, s, count=1)

    return edit


def reword(s: str, dice: random.Random, _: list[str]) -> str | None:
    """Up to three words for words of the same meaning."""
    found = [(a, b) for a, b in SYNONYMS if re.search(rf"\b{a}\b", s)]
    if not found:
        return None
    dice.shuffle(found)
    for a, b in found[:3]:
        s = re.sub(rf"\b{a}\b", b, s, count=1)
    return s


def hedge(s: str, dice: random.Random, _: list[str]) -> str | None:
    """A few careful words before it."""
    lead = dice.choice(
        [
            "It appears that ",
            "As far as the documents say, ",
            "In general, ",
            "It seems that ",
            "Note that ",
            "Essentially, ",
        ]
    )
    return lead + _lower_first(s)


def introduce(s: str, dice: random.Random, _: list[str]) -> str | None:
    """What a model says before it answers."""
    lead = dice.choice(["According to the provided documents, ", "Based on the evidence, ", "The documentation states that ",
                        "As described in the passage, ", "The text explains that ", "To answer your question: "])  # fmt: skip
    return lead + _lower_first(s)


def shorten(s: str, _: random.Random, __: list[str]) -> str | None:
    """Without what stands behind the last comma, or in brackets."""
    bare = re.sub(r"\s*\([^()]*\)", "", s)
    at = bare.rfind(", ")
    cut = bare[:at] + "." if at > 0.6 * len(bare) and not re.search(r"\b(?:and|or)\b", bare[at : at + 6]) else bare
    return cut if cut != s else None


def move_clause(s: str, _: random.Random, __: list[str]) -> str | None:
    """What stands before the first comma, put at the end."""
    m = re.match(
        r"((?:In|On|At|After|Before|When|If|Since|During|For|By|Under|With)\b[^,]{4,60}), ([^,;:()]{20,})\.$", s
    )
    if not m:
        return None
    return f"{m[2][0].upper()}{m[2][1:]} {m[1][0].lower()}{m[1][1:]}."


def merge(s: str, dice: random.Random, passage: list[str]) -> str | None:
    """With another sentence of the passage, in one."""
    others = [t for t in passage if t != s and t.endswith(".") and s.endswith(".") and re.match(r"[A-Z][a-z]", t)]
    if not others:
        return None
    return f"{s[:-1]}, and {_lower_first(dice.choice(others))}"


def merge_korean(s: str, dice: random.Random, passage: list[str]) -> str | None:
    """With another sentence of the passage."""
    others = [t for t in passage if t != s and t.endswith("다.") and s.endswith("다.")]
    return f"{s} 또한 {dice.choice(others)}" if others else None


def hedge_korean(s: str, dice: random.Random, _: list[str]) -> str | None:
    """A few words before it."""
    return dice.choice(["문서에 따르면 ", "제공된 근거에 의하면, ", "일반적으로 ", "참고로 ", "요약하면, "]) + s


def reorder_korean(s: str, _: random.Random, __: list[str]) -> str | None:
    """The object before the subject: particles tell who does what."""
    m = re.match(r"([가-힣A-Za-z]{2,8}(?:이|가|은|는)) ([가-힣A-Za-z]{2,8}(?:을|를|에게)) (.+)$", s)
    return f"{m[2]} {m[1]} {m[3]}" if m else None


def number_in_words(s: str, _: random.Random, __: list[str]) -> str | None:
    """A small number as a word, or a word as a number."""
    said = "zero one two three four five six seven eight nine ten".split()
    if m := re.search(r"(?<=[a-z] )([2-9])(?= [a-z]{4,})", s):
        return s[: m.start()] + said[int(m[0])] + s[m.end() :]
    if m := re.search(rf"(?<=[a-z] )({'|'.join(said[2:])})(?= [a-z]{{4,}}s\b)", s):
        return s[: m.start()] + str(said.index(m[0])) + s[m.end() :]
    return None


def convert_unit(s: str, _: random.Random, __: list[str]) -> str | None:
    """A measure in another unit of its kind."""
    pairs = {"km": ("metres", 1000), "kilometres": ("m", 1000), "kilometers": ("m", 1000), "meters": ("cm", 100), "metres": ("cm", 100),
             "m": ("cm", 100), "kg": ("g", 1000), "hours": ("minutes", 60), "minutes": ("seconds", 60), "weeks": ("days", 7),
             "years": ("months", 12), "seconds": ("ms", 1000)}  # fmt: skip
    m = re.search(rf"(?<![\w.,-])(\d{{1,4}}) ({'|'.join(pairs)})\b(?! old| ?/)", s)
    if not m:
        return None
    unit, factor = pairs[m[2]]
    return f"{s[: m.start()]}{int(m[1]) * factor:,} {unit}{s[m.end() :]}"


def _lower_first(s: str) -> str:
    return (
        s[0].lower() + s[1:]
        if re.match(r"(?:The|This|That|These|In|On|At|For|When|It|A|An|If|You|We|As|They|There|By)\b", s)
        else s
    )


LIES: dict[str, dict[str, Edit]] = {
    "en": {
        "number": change_number, "unit": change_unit, "date": change_date, "foreign name": change_foreign_name,
        "name of the passage": change_to_name_of_passage, "roles": swap_roles, "negation": negate,
        "comparison": change_comparison, "modality": change_modality, "quantifier": change_quantifier, "invented clause": join_clause,
    },
    "ko": {
        "number": change_korean_number, "negation": negate_korean, "foreign word": change_korean_foreign,
        "word of the passage": change_korean_word, "roles": swap_korean_roles,
        "antonym": exchange_korean(KOREAN_ANTONYMS, both_ways=True), "invented clause": join_korean_clause,
    },
}  # fmt: skip
TRUTHS: dict[str, dict[str, Edit]] = {
    "en": {
        "verbatim": lambda s, d, p: s, "reworded": reword, "hedged": hedge, "introduced": introduce, "shortened": shorten,
        "clause moved": move_clause, "merged": merge, "number in words": number_in_words, "unit converted": convert_unit,
    },
    "ko": {
        "verbatim": lambda s, d, p: s, "reworded": exchange_korean(KOREAN_SYNONYMS, both_ways=False), "introduced": hedge_korean,
        "merged": merge_korean, "order changed": reorder_korean,
    },
}  # fmt: skip
