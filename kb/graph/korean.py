"""A Korean sentence → the relations it states. Plain, affirmed statements only, as in kb/graph/english.py.

Korean marks who does what by particles: the subject ends in 은, 는, 이 or 가, the object in what its verb asks for, and the
verb comes last, where a negation, a doubt or a condition shows too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.drafts import EndDraft
from kb.frozen import dataclass
from kb.graph.english_words import LONGEST_SENTENCE_CHARS
from kb.graph.links import Mark
from kb.graph.names import TICKET, is_common
from kb.graph.tokens import Statement, end_of_mark, end_of_words, entity, is_mark
from kb.language.registry import has_letters

HINTS = tuple("의존 필요 요구 기반 충돌 호환 양립 확장 상속 해결 고친 고쳤 수정 프로젝트 구축 구현 함께".split())
# Endings of a statement, or of a clause that goes on; not 하면, 하는지, 할, 했던 and the like.
_ENDS = r"(?:한다|합니다|하고|하며|하므로|하지만|하는데|함|해요|한다는\s사실|하기\s때문)"
_DONE = r"(?:한다|합니다|하고|하며|함|해요|했다|하였다|했습니다|하였습니다|했고)"
_BE = r"(?:이다|입니다|이며|이고|임)"
# Punctuation behind a verb phrase.
_TAIL = r"[.,!)…]*"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb phrase, and the particles that its object may carry."""

    predicate: str
    words: re.Pattern[str]
    particles: tuple[str, ...]


_VERBS = tuple(
    Verb(predicate, re.compile(pattern), tuple(particles.split()))
    for predicate, pattern, particles in (
        ("depends_on", rf"의존{_ENDS}{_TAIL}|의존적{_BE}{_TAIL}", "에 에만 에도"),
        ("depends_on", rf"(?:필요로\s{_ENDS}|요구{_ENDS}){_TAIL}", "을 를"),
        ("depends_on", rf"필요(?:하다|합니다|하며|하고|함|해요){_TAIL}", "이 가 도"),
        ("depends_on", rf"(?:위에\s)(?:구축|구현)(?:되어\s있다|되어\s있습니다|된다|됩니다|되었다|되었습니다|됐다){_TAIL}", ""),
        ("extends", rf"(?:확장{_ENDS}|상속{_ENDS}|상속받(?:는다|습니다|고|으며|음)){_TAIL}", "을 를"),
        ("extends", rf"(?:기반으로\s{_ENDS}|기반으로\s(?:만들어졌다|만들어졌습니다)){_TAIL}", "을 를"),
        ("extends", rf"(?:기반{_ENDS}|기초{_ENDS}){_TAIL}", "에"),
        ("conflicts_with", rf"충돌{_ENDS}{_TAIL}|(?:호환되지|양립하지|호환이\s되지)\s(?:않는다|않습니다|않으며|않고|않음|않아요){_TAIL}"
         rf"|(?:호환이\s안|호환\s안)\s(?:된다|됩니다){_TAIL}|양립할\s수\s없(?:다|습니다|고|으며){_TAIL}|함께\s(?:쓸|사용할)\s수\s없(?:다|습니다){_TAIL}", "와 과 하고"),
        ("resolves", rf"(?:해결{_DONE}|수정{_DONE}|고친다{_TAIL}|고쳤다|고칩니다|고쳤습니다){_TAIL}", "을 를"),
        ("relates_to_project", rf"(?:속{_ENDS}|포함된다|포함됩니다|포함되며){_TAIL}", "에"),
        ("relates_to_project", rf"(?:일부|하위\s모듈|구성\s요소|한\s부분){_BE}{_TAIL}", "의"),
    )
)  # fmt: skip
# Words behind the verb that turn the statement into a wish, a doubt, hearsay or its opposite.
_UNDONE = re.compile(r"^(?:않|못|아니|없|있지|싶|수|것|듯|줄|척|뻔|한다고|한다는|라고|라는|말|적)")
_HEDGES = re.compile(
    r"(?:^|\s)(?:만약|만일|혹시|아마|아마도|어쩌면|과거에|예전에는|예전에|한때|더는|더\s이상|원래|가정하면|예컨대|안|못)(?=\s|,)|[까지나]\?|\?\s*$|(?:는지|다고|다면|라면|으면|하면)(?=[\s,])"
)
_ADVERBS = frozenset(
    "직접 강하게 크게 완전히 모두 항상 여전히 현재 내부적으로 전적으로 서로 그대로 또한 함께 반드시 꼭 주로 자주".split()
)
_OPENERS = frozenset("또한 그리고 현재 따라서 그래서 즉 한편 다만 실제로 이제 특히 예를".split())
_SUBJECT = re.compile(r"^(.+?)(은|는|이|가)$")
_LIST = re.compile(r"^(.+?)(와|과|하고|및)$|^(.+?),$")
_MODIFIER = re.compile(r"(?:의|에서|으로|로|에게|부터|까지|에|을|를|은|는|이|가|한|된|던|할|될|인|며|고|나)$")
_LIKE_SUBJECTS = frozenset("이 그 저 있는 없는 같은 다른 하는 되는 모든 어느".split())
_SELF = re.compile(r"^이\s?(?:문서|글|페이지|노트|장|보고서|제안서|안내서|규정)$")
_PROBLEM = re.compile(r"\s?(?:문제|이슈|버그|장애|오류|결함|사고)$")
_CLASSES = frozenset("모듈 서비스 라이브러리 패키지 크레이트 서버 데몬 클래스 프레임워크 함수 도구 망원경".split())
_QUOTES = "\"'“”‘’「」『』*_()"
_HANGUL_NAME = re.compile(r"[가-힣][가-힣0-9A-Za-z]+")
LONGEST_NAME_WORDS = 3


def read_korean(sentence: str, marks: Sequence[Mark]) -> list[Statement]:
    """The relations of one sentence whose code spans and links are single signs (kb/graph/links.py)."""
    if (
        len(sentence) > LONGEST_SENTENCE_CHARS
        or not any(hint in sentence for hint in HINTS)
        or _HEDGES.search(sentence)
    ):
        return []
    found: list[Statement] = []
    for verb in _VERBS:
        for match in verb.words.finditer(sentence):
            if match.start() == 0 or not sentence[match.start() - 1].isspace():
                continue
            rest = sentence[match.end() :]
            if rest[:1] and not rest[0].isspace():
                continue  # another ending of the verb
            if _UNDONE.match(rest.lstrip()):
                continue
            found += _read_before(verb, sentence[: match.start()], marks)
    return found


def _read_before(verb: Verb, before: str, marks: Sequence[Mark]) -> list[Statement]:
    clause = before[max(before.rfind(mark) for mark in ";:—–") + 1 :].split()
    while clause and (
        clause[0].rstrip(",") in _OPENERS or clause[0] in ("-", "*", "+", ">", "#") or re.fullmatch(r"\d+\.", clause[0])
    ):
        clause = clause[1:]
    clause = [word for word in clause if word.strip(_QUOTES) not in _ADVERBS]
    at = next((i for i, word in enumerate(clause) if _SUBJECT.match(_bare(word)) and not _is_inside(word)), None)
    if at is None or at + 1 >= len(clause):
        return []
    subjects = _names(clause[: at + 1], ("은", "는", "이", "가"), marks)
    words = clause[at + 1 :]
    objects: list[EndDraft]
    if verb.predicate == "relates_to_project":
        objects = _project(words, verb, marks)
    elif verb.predicate == "resolves":
        objects = _problem(words, verb, marks)
    else:
        objects = _names(words, verb.particles, marks)
    return [
        Statement(subject, verb.predicate, end)
        for subject in subjects
        for end in objects
        if (subject.kind, subject.key) != (end.kind, end.key) and end.kind != "self"
    ]


def _bare(word: str) -> str:
    return word.strip(_QUOTES).rstrip(",")


def _is_inside(word: str) -> bool:
    """True for words that only look as if they ended in a subject's particle."""
    return word.strip(_QUOTES + ",") in _LIKE_SUBJECTS


def _names(words: Sequence[str], particles: Sequence[str], marks: Sequence[Mark]) -> list[EndDraft]:
    """The names of a phrase whose last word carries one of the particles: one name, or several joined by 와, 과 or commas."""
    groups: list[list[str]] = [[]]
    for number, word in enumerate(words):
        is_last = number == len(words) - 1
        listed = None if is_last else _LIST.match(word)
        if listed and not (has_letters("ko", word) and word.endswith(("이과", "결과"))):
            groups[-1].append(listed.group(1) or listed.group(3))
            groups.append([])
        elif word == "및" or word == "그리고":
            groups.append([])
        else:
            groups[-1].append(word)
    if not groups[-1]:
        return []
    last = groups[-1][-1]
    if particles:
        stripped = next((_strip(last, p) for p in sorted(particles, key=len, reverse=True) if _strip(last, p)), None)
        if stripped is None:
            return []
        groups[-1][-1] = stripped
    ends = [_name(group, marks) for group in groups if group]
    return [end for end in ends if end] if all(ends) else []


def _strip(word: str, particle: str) -> str | None:
    bare = word.rstrip(",")
    return bare[: -len(particle)] if bare.endswith(particle) and len(bare) > len(particle) else None


def _name(words: Sequence[str], marks: Sequence[Mark]) -> EndDraft | None:
    if not words or len(words) > LONGEST_NAME_WORDS:
        return None
    if _SELF.match(" ".join(words)):
        return EndDraft("self")
    if len(words) > 1 and words[-1] in _CLASSES:
        words = words[:-1] if is_mark(words[-2].strip(_QUOTES)[-1:] or " ") or words[-2].isascii() else words
    if any(_MODIFIER.search(word) for word in words[:-1]):
        return None
    bare = [word.strip(_QUOTES) for word in words]
    if len(bare) == 1 and len(bare[0]) == 1 and is_mark(bare[0]):
        return end_of_mark(bare[0], marks)
    if any(is_mark(sign) for word in bare for sign in word):
        return None
    text = " ".join(bare)
    if text.isascii():
        return end_of_words(bare, begins=False) if text else None
    if (
        not all(_HANGUL_NAME.fullmatch(word) or word.isascii() for word in bare)
        or is_common(bare[-1])
        or is_common(bare[0])
    ):
        return None
    is_quoted = words[0][:1] in "\"'“‘「『" and words[-1][-1:] in "\"'”’」』"
    return entity(text, is_sure=is_quoted)


def _problem(words: Sequence[str], verb: Verb, marks: Sequence[Mark]) -> list[EndDraft]:
    """`#12를`, `E-133 문제를`: a ticket, a link, or a name followed by a word such as 문제."""
    text = " ".join(words)
    stripped = next((_strip(text, particle) for particle in verb.particles if _strip(text, particle)), None)
    if stripped is None:
        return []
    named = _PROBLEM.sub("", stripped)
    if TICKET.fullmatch(named):
        end = entity(named)
        return [end] if end else []
    if numbered := re.fullmatch(r"(?:이슈|버그|티켓)\s?#?(\d{1,7})(?:번)?", stripped):
        end = entity(f"#{numbered[1]}")
        return [end] if end else []
    end = _name(named.split(), marks)
    if end is None or end.kind == "self":
        return []
    return [end] if end.kind == "link" or (named != stripped and end.is_sure) else []


def _project(words: Sequence[str], verb: Verb, marks: Sequence[Mark]) -> list[EndDraft]:
    """`X 프로젝트에 속한다`, `X 프로젝트의 일부이다`."""
    text = " ".join(words)
    match = re.fullmatch(rf"(.+?)\s프로젝트(?:{'|'.join(verb.particles)})", text)
    end = _name(match[1].split(), marks) if match else None
    if end is None or end.kind == "self":
        return []
    return [end if end.kind == "link" else EndDraft("project", end.key, end.label, True)]
