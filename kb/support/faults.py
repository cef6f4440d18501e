"""A claim and the texts it cites → what the texts say against it, and what of it they do not say. Pure.

Each clause is held against the sentences that say most of it. What one of several equally near sentences says against a
clause is no fault where another one does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from kb.frozen import dataclass
from kb.language import english_contrasts, korean_contrasts
from kb.language.korean_particles import is_hangul
from kb.language.number_forms import as_written, with_plain_numbers
from kb.language.quantities import Facts, facts_of, is_backed, join_facts, missing_facts
from kb.support.associations import exchanged_associations, exchanged_titles
from kb.support.claims import without_lead
from kb.support.clauses import Word, clauses_of, content_of, is_same, shared, shortened, words_of
from kb.support.contrast import bound_in, bounds_of, contrasts, turns_a_condition, wrong_bounds
from kb.support.near_copies import altered, is_joined, is_turned
from kb.support.overlap import said_share, units_of, weights_of
from kb.support.polarity import contradicts, polarity_of
from kb.support.reckoning import is_dated, is_reckoned, rounded_by
from kb.support.relatives import denied_of_it, said_of_another, said_of_what_is_apart
from kb.support.roles import exchanged_nouns, misplaced_names, swapped_roles
from kb.support.rows import misread_rows
from kb.support.strength import unsaid_strength
from kb.support.substitution import changed_words, exchanged_words
from kb.support.topics import exchanged_topics
from kb.support.turned import turned_round

# A sentence that holds a smaller share of the claim may be about something else, and its negation too.
SAME_MATTER = 0.6
# Of a sentence that says less, nothing is compared.
LEAST_NEAR = 0.4
# Sentences this close to the nearest one are as near.
AS_NEAR = 0.05
# A clause of which the texts hold less than this share is not said; shorter ones may be turns of phrase.
SAID_CLAUSE, LEAST_CLAUSE_WORDS = 0.34, 3
LEAST_UNSAID_WORDS = 2
# So much of it may stand in several sentences.
SAID_ANYWHERE = 0.7
# Words that stand in any text.
_COMMON = frozenset("most many some all every each time times first new also made make way part one other".split())
# Longer sentences are tables, lists or logs, where a negation concerns one row only.
LONGEST_SENTENCE_CHARS = 350
# "Choose it longer than that. Otherwise it runs twice": a claim that it is shorter tells why it ran twice.
_OTHERWISE = re.compile(f"{english_contrasts.OTHERWISE}|{korean_contrasts.OTHERWISE}", re.I)
# A claim is of a consequence too where it says this share of it.
OF_IT = 0.3
# Where a part of a sentence is denied, another order of its parts may say the same.
_HEDGED = re.compile(
    r"\b(?:if|unless|otherwise|only|than|without|when|until|because)\b|[가-힣]면\s|보다\s|[가-힣]만\s", re.I
)
_ONLY = re.compile(f"{english_contrasts.ONLY}|{korean_contrasts.ONLY}", re.I)
# "According to the lease, …": it names no matter.
_SOURCE = re.compile(
    r"^(?:According to [^,]{3,40}, |\S{2,12}(?: \S{2,8})?(?:에 따르면|에 의하면|을 보면|를 보면),? )", re.I
)
_DENIED_BEFORE = re.compile(r"\b(?:no|not|never|nor|neither|without)\s$")
# "If you cannot go, …", 갈 수 없으면: what is denied in a condition is not denied behind it.
_CONDITION = re.compile(r"(?<=[가-힣]면)\s+|^(?:If|When|Where|Unless)\b[^,;]+,\s+")
# Two clauses of nearly the same words.
NEARLY_ALL = 0.75
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
# A line of prose that goes on in the next one.
_WRAPPED = re.compile(r"(?<=[^\n]{40})[ \t]*\n[ \t]*(?![-*+•|>#]|\d{1,3}[.)])")
# How a reason begins that tells what the texts except.
EXCEPTED = "the text excepts '"
# How one ends that names a number.
NOT_THERE = " is not there"
# More reasons are not told.
MOST_REASONS = 3
DENIED = "one denies it, and the other does not"


@dataclass(frozen=True, slots=True)
class Found:
    """What is wrong with a claim, as words for a message.

    against  what the texts say otherwise
    absent   numbers that no text holds
    unsaid   names and clauses that no text holds
    """

    against: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()

    def may_be_said_otherwise(self) -> bool:
        """Whether other words may say what seems wrong: "does not vary" is "is constant".

        Not so of what has another's place, of opposites, and of may and must: there readers are weak.
        """
        return all(reason == DENIED or EXCEPTED in reason for reason in self.against)

    def reasons(self) -> tuple[str, ...]:
        """MOST_REASONS of it at most, of which none is about words of another: they are read by a person.

        >>> Found(("'May' stands for 'June'",), ("1 May is not there",), ("'Ada' is not named there",)).reasons()
        ("'May' stands for 'June'", "'Ada' is not named there")
        """
        kept: list[str] = []
        told: list[str] = []
        for reason in (*self.against, *self.absent, *self.unsaid):
            quoted = re.findall(r"'([^']+)'", reason) or [reason.removesuffix(NOT_THERE)]
            words = [word.casefold() for word in quoted]
            if not any(word in other or other in word for word in words for other in told):
                kept.append(reason)
            told += words
        return tuple(kept[:MOST_REASONS])


def find_faults(claim: str, texts: Sequence[str], windows: str) -> Found:
    """Every exact check of one sentence.

    windows  the best stretch of each text: a bound on a number is looked for there
    """
    if not any(text.strip() for text in texts) or any(is_copy(claim, text) for text in texts):
        return Found()
    if claim.startswith(("```", "~~~")):
        return _faults_of_code(claim, texts)
    if misread := misread_rows(claim, texts):
        return Found(tuple(misread))
    sentences = [sentence for text in texts for sentence in _sentences_of(text)]
    if is_joined(claim, sentences) or any(is_turned(claim, sentence) for sentence in sentences):
        return Found()
    against = list(dict.fromkeys(_against(claim, sentences, texts, windows)))
    facts = [facts_of(text) for text in texts]
    absent = [f"{number}{NOT_THERE}" for number in _absent_numbers(claim, facts, texts)]
    unsaid = list(dict.fromkeys(_unsaid(claim, texts, sentences)))
    return Found(tuple(against), tuple(absent), tuple(unsaid))


@lru_cache(maxsize=1024)
def _sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text on one line each; an item of a list that is introduced by a denial with it: "Not insured: theft"."""
    sentences: list[str] = []
    lead = numbered = ""
    for unit in units_of(text):
        written = text[unit.start : unit.end]
        if not (mark := _LIST_MARK.match(written)):
            sentences.append(_WRAPPED.sub(" ", written))
            begins_line = text[: unit.start].rstrip(" \t").endswith("\n") or not unit.start
            lead = numbered = written.strip().split("\n")[-1] if begins_line else numbered
            continue
        item = _WRAPPED.sub(" ", written[mark.end() :])
        sentences.append(item)
        is_numbered = mark[0].strip()[0].isdigit()
        above = lead if is_numbered else numbered
        numbered = item if is_numbered else numbered  # a numbered heading over a list with bullets
        is_lead = not above.endswith((".", "!", "?"))
        if is_lead and (polarity_of(above).negated or polarity_of(above).implicit):
            sentences.append(f"{above.rstrip(':： ')}: {item}")
    return tuple(sentences)


def is_copy(claim: str, text: str) -> bool:
    """True for a whole sentence that stands in the text word for word: whatever it says, the text says it."""
    said, told = _one_line(claim).rstrip(".。!?？"), _one_line(text)
    at = told.find(said)
    if len(said) < 8 or at < 0 or told[at + len(said) : at + len(said) + 1].isalnum():
        return False
    # "More than six may come" is no copy of "No more than six may come".
    return _DENIED_BEFORE.search(told, 0, at) is None


@lru_cache(maxsize=256)
def _one_line(text: str) -> str:
    return " ".join(re.sub(r"[*_`]+", "", text).casefold().split())


def _faults_of_code(block: str, texts: Sequence[str]) -> Found:
    """Lines of code that no text holds: code is not reworded. Comments, and lines of brackets, are left out."""
    told = "".join("".join(text.split()) for text in texts)
    lines = [line.strip() for line in block.splitlines()[1:] if not re.match(r"\s*(?:[`~]{3}|#|//|--|/?\*|$)", line)]
    lines = [line for line in lines if re.search(r"\w", line)]
    unsaid = [line for line in lines if "".join(line.split()) not in told]
    return Found(unsaid=tuple(f"'{shortened(line)}' is not there" for line in unsaid[:3])) if unsaid else Found()


def _against(claim: str, sentences: Sequence[str], texts: Sequence[str], windows: str) -> Iterator[str]:
    clauses = [clause for clause in clauses_of(claim) if len(content_of(clause)) >= LEAST_CLAUSE_WORDS]
    before_otherwise = {
        one
        for one, other in pairwise(sentences)
        if _OTHERWISE.search(other) and shared(content_of(other), content_of(claim)) >= OF_IT
    }
    for part in dict.fromkeys((claim, *clauses)) if len(clauses) > 1 else (claim,):
        near = _nearest(part, sentences)
        found = [[] if sentence in before_otherwise else _against_sentence(part, sentence, texts) for sentence in near]
        against = list(found[0]) if found and all(found) else []
        for sentence in (
            [] if any(_holds(part, sentence) or _denies_the_other(part, sentence) for sentence in near) else near
        ):
            against += [f"'{ours}' stands for '{theirs}'" for ours, theirs in exchanged_words(part, sentence)]
        yield from against or _against_copied(part, sentences)
    yield from wrong_bounds(claim, windows)
    headings = texts[-1] if len(texts) > 1 else ""
    prose = [s for s in sentences if len(s) <= LONGEST_SENTENCE_CHARS and not _denies_the_other(claim, s)]
    yield from misplaced_names(claim, prose, headings)
    yield from exchanged_titles(claim, texts)
    yield from said_of_another(claim, sentences)
    yield from said_of_what_is_apart(claim, sentences)
    if denied_of_it(claim, sentences):
        yield DENIED
    yield from turned_round(claim, sentences, "\n".join(texts))
    for one, other in pairwise(sentences):
        yield from exchanged_associations(claim, f"{one.rstrip('.')}; {other}", is_one=False)
    if re.search("[가-힣]", claim):
        yield from exchanged_topics(claim, sentences)


def _nearest(part: str, sentences: Sequence[str]) -> list[str]:
    """The sentences that hold most of a part of a claim, and enough of it; the best first."""
    weights = weights_of(part)
    scored = [(said_share(weights, [t for unit in units_of(s) for t in unit.terms], ""), s) for s in sentences]
    best = max((score for score, _ in scored), default=0.0)
    if best < LEAST_NEAR:
        return []
    near = [s for score, s in sorted(scored, key=lambda x: (-x[0], len(x[1]))) if score >= best - AS_NEAR][:4]
    # 수 있습니다 stands in any sentence: of those that are as near, the ones that tell of the same.
    words = [word for word in content_of(part) if _tells(word) and not re.match("[있없]", word.text)]
    told = [shared(words, content_of(s)) for s in near] if words else []
    return [s for s, share in zip(near, told, strict=True) if share >= max(told) - AS_NEAR] if told else near


def _holds(part: str, sentence: str) -> bool:
    """True where a part of a claim says a whole sentence word for word: that sentence is not against it."""
    said = _one_line(sentence).rstrip(".。!")
    return len(said) >= 8 and said in _one_line(part)


def _against_copied(part: str, sentences: Sequence[str]) -> list[str]:
    """What a sentence says against its own altered copy; nothing where another sentence has all that the copy tells."""
    told = list(dict.fromkeys(s for x in sentences for s in (x, without_lead(x), *clauses_of(x))))
    words = {word.text.casefold() for word in words_of(part)}
    known = frozenset(word.key for sentence in sentences for word in words_of(sentence))
    for sentence in told:
        if _denies_the_other(part, sentence):
            continue
        if faults := altered(part, sentence, known):
            says_all = (words <= {word.text.casefold() for word in words_of(s)} for s in sentences if sentence not in s)
            return [] if any(says_all) else faults
    return []


def _against_sentence(part: str, sentence: str, texts: Sequence[str]) -> list[str]:
    if _holds(part, sentence) or " | " in sentence:  # which row and column is told by kb/support/rows.py
        return []
    found = [f"'{ours}' stands for '{theirs}'" for ours, theirs in exchanged_words(part, sentence)]
    if _denies_the_other(part, sentence):
        found = []
    if max(len(part), len(sentence)) > LONGEST_SENTENCE_CHARS:
        return found
    weights = weights_of(part)
    share = said_share(weights, [t for unit in units_of(sentence) for t in unit.terms], "")
    if re.search("[가-힣]", part):  # endings make other terms of the same words
        share = max(share, shared(content_of(part), content_of(sentence)))
    is_turned = turns_a_condition(part, sentence)
    if share >= SAME_MATTER and not is_turned and _denies(part, sentence):
        found.append(_how_denied(part, sentence))
    found += contrasts(part, sentence)
    found += swapped_roles(part, sentence)
    if re.search("[가-힣]", part) and not _denies_the_other(part, sentence):
        found += exchanged_nouns(part, sentence, " ".join(texts))
    return found


def _denies_the_other(part: str, sentence: str) -> bool:
    """True for "cannot join A" where the text says "join B only"."""
    is_denied = polarity_of(part).negated and not polarity_of(sentence).negated
    return bool(is_denied) and _ONLY.search(sentence) is not None


def _how_denied(part: str, sentence: str) -> str:
    """DENIED, or of nearly the same words, which mean the opposite then, more."""
    ours, theirs = content_of(part), content_of(_CONDITION.split(sentence)[-1])
    is_plain = not any(
        _HEDGED.search(text) or len(clauses_of(text)) > 1 for text in (part, _CONDITION.split(sentence)[-1])
    )
    is_alike = is_plain and shared(ours, theirs) >= NEARLY_ALL and shared(theirs, ours) >= NEARLY_ALL
    return (
        f"the text says the opposite of '{shortened(part)}'" if is_alike and len(ours) >= LEAST_CLAUSE_WORDS else DENIED
    )


def _denies(part: str, sentence: str) -> bool:
    """True where one denies what the other says, or what a clause of it says that stands behind a condition."""
    ours = polarity_of(part)
    if contradicts(ours, polarity_of(sentence)):
        return True
    main = _CONDITION.split(sentence)[-1]
    return (
        main != sentence
        and not _CONDITION.search(part)
        and shared(content_of(part), content_of(main)) >= NEARLY_ALL
        and contradicts(ours, polarity_of(main))
    )


def _absent_numbers(claim: str, facts: Sequence[Facts], texts: Sequence[str]) -> list[str]:
    claimed, there = facts_of(claim), join_facts(facts)
    absent = missing_facts(claimed, there)[0]
    if not absent:
        return []
    bounds = dict(bounds_of(with_plain_numbers(claim)))
    possible = {
        q.named()
        for q in claimed.quantities
        if not is_backed(q, there)
        and (rounded_by(q, bound_in(bounds, q.written), there.quantities) or is_reckoned(claim, q, there, texts))
    }
    headings = texts[-1] if len(texts) > 1 else ""
    possible |= {date.written for date in claimed.dates if is_dated(date, there, headings)}
    return [as_written(number, claim) for number in absent if number not in possible]


def _unsaid(claim: str, texts: Sequence[str], sentences: Sequence[str]) -> Iterator[str]:
    claimed = facts_of(claim)
    for name in _as_written(claim, missing_facts(claimed, join_facts([facts_of(text) for text in texts]))[1]):
        yield f"'{name}' is not named there"
    yield from unsaid_strength(claim, sentences)
    near = _nearest(claim, sentences)
    changed = [changed_words(claim, sentence) for sentence in near]
    copies = (
        [] if any(_holds(claim, sentence) for sentence in near) else [found for found in changed if found is not None]
    )
    if copies and all(copies):
        yield from (f"'{ours}' is not what the text says: '{theirs}'" for ours, theirs in copies[0])
    claim = _SOURCE.sub("", claim)
    everything = [word for text in texts for word in words_of(text)]
    keys = {word.key for word in everything}
    joined = " ".join(texts)
    clauses = clauses_of(claim)
    for clause in clauses:
        words = [word for word in content_of(clause) if _tells(word)]
        if len(words) >= LEAST_UNSAID_WORDS and len(clauses) > 1:
            said = sum(_is_known(word, keys, joined) for word in words) / len(words)
            close = max((shared(words, content_of(s)) for s in sentences), default=0.0)
            if said < SAID_CLAUSE or (said < SAID_ANYWHERE and close < SAID_CLAUSE):
                yield f"'{shortened(clause)}' is not said there"
    if re.search("[가-힣]", claim):
        yield from _foreign_nouns(claim, sentences, keys, joined)


def _as_written(claim: str, names: Sequence[str]) -> list[str]:
    """Casefolded words of names as the claim writes them, neighbours as one: Ada Lovelace."""
    if not names:
        return []
    one = "|".join(re.escape(name) for name in names)
    return list(dict.fromkeys(re.findall(rf"(?i)(?<!\w)(?:{one})(?: (?:{one}))*(?!\w)", claim))) or list(names)


def _tells(word: Word) -> bool:
    """False for a number, which is checked apart, and for words that stand in any text: of Korean those of one syllable, 이, 그, 수."""
    if word.key[:1].isdigit() or word.text.lower() in _COMMON:
        return False
    return len(word.key) > 1 or not is_hangul(word.key)


def _is_known(word: Word, keys: set[str], joined: str) -> bool:
    if is_hangul(word.key):
        # One syllable is the beginning of many words: 이, 이웃.
        return (len(word.key) > 1 and word.key in joined) or any(len(k) > 1 and is_same(word.key, k) for k in keys)
    return word.key in keys or any(is_same(word.key, key) for key in keys)


def _foreign_nouns(claim: str, sentences: Sequence[str], keys: set[str], joined: str) -> Iterator[str]:
    """Korean nouns that no text holds, in a sentence that is otherwise a copy."""
    words = words_of(claim)
    if len(words) < 3:
        return
    nearest = max(sentences, key=lambda s: shared(words, words_of(s)), default="")
    if shared(words, words_of(nearest)) < 0.6:
        return
    for word in words:
        # A verb before a noun ends as a noun before its particle does.
        if word.key in korean_contrasts.EVERYDAY or word.text[-1:] in ("는", "은"):
            continue
        if any(quantity.kind for quantity in facts_of(f"1 {word.key}").quantities):
            continue  # a unit, which is checked with its number
        if (
            (
                word.role in ("subject", "object", "goal", "source")
                and len(word.key) >= 2
                and not _is_known(word, keys, joined)
            )
            and word.key[:2] not in joined
            and word.key[-2:] not in joined
        ):
            yield f"'{word.key}' is not there"
