"""An English sentence → the relations it states.

Reads only plain, affirmed statements in the present tense between two names: a wrong relation is worse than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.drafts import EndDraft
from kb.graph.english_words import (
    ADVERBS,
    AFTER_OBJECT,
    BASE_FORMS,
    BEFORE_SUBJECT,
    CLASS_NOUNS,
    CLAUSE_ENDS,
    DETERMINERS,
    FIELD,
    FIELD_PREDICATES,
    HEDGES,
    HINTS,
    LONGEST_SENTENCE_CHARS,
    NEGATIONS,
    NUMBERED,
    PREPOSITIONS,
    PROBLEMS,
    SELF_NOUNS,
    TRIGGERS,
    Trigger,
)
from kb.graph.links import Mark
from kb.graph.names import TICKET
from kb.graph.tokens import (
    LONGEST_RUN_WORDS,
    TOKEN,
    Statement,
    end_of_mark,
    end_of_words,
    entity,
    is_capitalised,
    is_mark,
    mark_of,
)


def read_english(sentence: str, marks: Sequence[Mark]) -> list[Statement]:
    """The relations of one sentence whose code spans and links are single signs (kb/graph/links.py)."""
    low = sentence.lower()
    if len(sentence) > LONGEST_SENTENCE_CHARS or not any(hint in low for hint in HINTS):
        return []
    if field := FIELD.match(sentence):
        return _read_field(field[1].lower(), sentence[field.end() :], marks)
    tokens = TOKEN.findall(sentence)
    if not tokens or tokens[-1] == "?":
        return []
    found: list[Statement] = []
    lows = [token.lower().replace("’", "'") for token in tokens]
    for at, low in enumerate(lows):
        trigger = next((t for t in TRIGGERS.get(low, ()) if tuple(lows[at : at + len(t.words)]) == t.words), None)
        if trigger and not _is_hedged(lows, at):
            found += _read_at(trigger, tokens, lows, at, marks)
    return found


def _read_field(name: str, rest: str, marks: Sequence[Mark]) -> list[Statement]:
    """`Depends on: [[X]], [[Y]]`: the document is the subject; links and tickets only."""
    predicate = FIELD_PREDICATES.get(name, name.replace(" ", "_"))
    ends: list[EndDraft | None] = []
    for token in TOKEN.findall(rest):
        mark = mark_of(token, marks) if is_mark(token) else None
        if mark and mark.kind != "code":
            ends.append(end_of_mark(token, marks))
        elif TICKET.fullmatch(token) and predicate == "resolves":
            ends.append(entity(token))
        elif token.lower() not in (",", "and", ".", ";", "&"):
            return []
    return [Statement(EndDraft("self"), predicate, _as_project(end, predicate)) for end in ends if end]


def _is_hedged(lows: Sequence[str], at: int) -> bool:
    before = lows[:at]
    if any(low in HEDGES or low.endswith("n't") for low in before):
        return True
    clause = max((i for i, low in enumerate(before) if low in (";", "but", ":", "—", "–")), default=-1)
    return any(low in NEGATIONS for low in before[clause + 1 :])


def _read_at(
    trigger: Trigger, tokens: Sequence[str], lows: Sequence[str], at: int, marks: Sequence[Mark]
) -> list[Statement]:
    after = at + len(trigger.words)
    before_ends = _subjects(tokens, lows, at, marks, trigger)
    if not before_ends:
        return []
    is_resolved = trigger.predicate == "resolves"
    if trigger.is_inverse:
        objects, subjects = before_ends, _objects(tokens, lows, after, marks)
        if is_resolved and not all(_is_problem(end) for end in objects):
            return []
    elif is_resolved:
        subjects, objects = before_ends, _solved(tokens, lows, after, marks, lows[at])
    elif trigger.predicate == "relates_to_project":
        subjects, objects = before_ends, _projects(tokens, lows, after, marks)
    else:
        subjects, objects = before_ends, _objects(tokens, lows, after, marks)
    return [
        Statement(subject, trigger.predicate, end)
        for subject in subjects
        for end in objects
        if (subject.kind, subject.key) != (end.kind, end.key) and end.kind != "self"
    ]


# ---- names before the verb


def _subjects(
    tokens: Sequence[str], lows: Sequence[str], at: int, marks: Sequence[Mark], trigger: Trigger
) -> list[EndDraft]:
    end = _skip_back(lows, at)
    if end == 0:
        is_bare = trigger.predicate == "resolves" and not trigger.is_inverse
        return [EndDraft("self")] if is_bare and at == 0 and tokens[0][:1].isupper() else []
    is_relative = False
    if lows[end - 1] in ("which", "that") and end > 1:
        end, is_relative = _skip_back(lows, end - 1), True
        if end > 0 and lows[end - 1] == ",":
            end -= 1
        elif lows[at - 1] == "which":
            return []
    start = end
    ends: list[EndDraft] = []
    while True:
        found = _name_before(tokens, lows, end, marks)
        if found is None or (is_relative and not found[0].is_sure):
            return []
        ends.insert(0, found[0])
        end = found[1]
        if is_relative or end == 0:
            break
        if lows[end - 1] in ("and", "&") or (lows[end - 1] == "," and ends[1:]):
            before = end - 1 - (end > 1 and lows[end - 1] == "and" and lows[end - 2] == ",")
            if _name_before(tokens, lows, before, marks) is None:
                break
            end = before
        else:
            break
    if lows[at] in BASE_FORMS and len(ends) == 1:
        return []  # "fix V8 build on Cygwin": one name and a plural verb make no sentence
    if _is_clause_start(lows, end, is_relative):
        return ends
    # ", and Tulip extends Rose": the subject of a new clause, not the end of a list; the verb is singular.
    last = _name_before(tokens, lows, start, marks)
    is_own = last and last[1] > 1 and lows[last[1] - 1] == "and" and lows[last[1] - 2] == ","
    return ends[-1:] if is_own and lows[at].endswith("s") and not is_relative else []


def _skip_back(lows: Sequence[str], end: int) -> int:
    while end > 0 and (lows[end - 1] in ADVERBS or lows[end - 1] in '*_"”’'):
        end -= 1
    return end


def _name_before(
    tokens: Sequence[str], lows: Sequence[str], end: int, marks: Sequence[Mark]
) -> tuple[EndDraft, int] | None:
    """The name that ends before `end`, and where it begins, a determiner included."""
    end = _skip_back(lows, end)
    if end == 0:
        return None
    if lows[end - 1] in SELF_NOUNS and end > 1 and lows[end - 2] == "this":
        return EndDraft("self"), end - 2
    if lows[end - 1] in CLASS_NOUNS and end > 1 and (is_mark(tokens[end - 2]) or is_capitalised(tokens[end - 2])):
        end -= 1  # "the serde crate"
    if (
        end > 1
        and lows[end - 1][0].isdigit()
        and (is_mark(tokens[end - 2]) or end_of_words(tokens[end - 2 : end - 1], begins=False))
    ):
        end -= 1  # a version
    begin = end - 1
    if is_mark(tokens[begin]):
        found = end_of_mark(tokens[begin], marks)
    else:
        while (
            begin > 0
            and end - begin < LONGEST_RUN_WORDS
            and not TICKET.fullmatch(tokens[begin])
            and is_capitalised(tokens[begin])
            and is_capitalised(tokens[begin - 1])
        ):
            begin -= 1
        found = end_of_words(tokens[begin:end], begins=begin == 0)
        if begin > 0 and is_capitalised(tokens[begin]) and is_mark(tokens[begin - 1]):
            return None
    if found is None:
        return None
    while begin > 0 and lows[begin - 1] in '*_"“‘':
        begin -= 1
    if begin > 0 and lows[begin - 1] in (CLASS_NOUNS | NUMBERED):
        begin -= 1  # "the crate serde"
    if begin > 0 and lows[begin - 1] in DETERMINERS:
        begin -= 1
        if _is_common_noun(found):
            return None
    return found, begin


def _is_common_noun(end: EndDraft) -> bool:
    """True for a bare word that stands behind an article, as in "the value": it is not a name."""
    return not end.is_sure and end.label.islower()


def _is_clause_start(lows: Sequence[str], at: int, is_relative: bool) -> bool:
    if at == 0:
        return True
    before = lows[at - 1]
    if is_relative:
        return before not in PREPOSITIONS and before not in CLASS_NOUNS
    if before in CLAUSE_ENDS:
        # "…, Marigold depends on": the words before the comma must not be the rest of a list.
        return before != "," or at < 3 or lows[at - 2] not in ("and", "or", "not")
    return before in BEFORE_SUBJECT or all(low in '*_#>|-+"“(' or low.isdigit() or low == "." for low in lows[:at])


# ---- names after the verb


def _objects(tokens: Sequence[str], lows: Sequence[str], at: int, marks: Sequence[Mark]) -> list[EndDraft]:
    """The names of a list; without an "and" at its end only the first name counts."""
    ends: list[EndDraft] = []
    is_closed = False
    while found := _name_after(tokens, lows, at, marks):
        end, at = found
        low = lows[at] if at < len(lows) else ""
        if low in ("or", "/", "if", "unless", "when", "whenever"):
            return []  # an alternative or a condition
        if low and low[0].isalnum() and (low not in AFTER_OBJECT or (low != "and" and not end.is_sure)):
            break  # "Marigold data": the head is another word; "access to" and "the fact that" are not names
        ends.append(end)
        if low == "," and not is_closed and at + 1 < len(lows):
            if lows[at + 1] == "or":
                return []
            is_closed = lows[at + 1] == "and"
            at += 1 + is_closed
        elif low in ("and", "&") and not is_closed:
            is_closed = True
            at += 1 + (at + 1 < len(lows) and lows[at + 1] == "on")
        else:
            return ends if is_closed else ends[:1]
        if _begins_clause(lows, at):
            break
    return ends if is_closed else ends[:1]


def _begins_clause(lows: Sequence[str], at: int) -> bool:
    """True where the next name is the subject of a new clause: ", and Tulip extends Rose"."""
    ahead = lows[at : at + 4]
    return any(low in TRIGGERS or low in ("is", "are", "was", "has", "does", "can", "will", "uses") for low in ahead)


def _name_after(
    tokens: Sequence[str], lows: Sequence[str], at: int, marks: Sequence[Mark]
) -> tuple[EndDraft, int] | None:
    """The name that begins at `at`, and what comes after it."""
    begin = at
    while begin < len(lows) and (lows[begin] in ("the", "a", "an", "both", "only", "our") or lows[begin] in '*_"“‘'):
        begin += 1
    if (
        begin < len(lows) - 1
        and tokens[begin] in CLASS_NOUNS
        and (is_mark(tokens[begin + 1]) or is_capitalised(tokens[begin + 1]))
    ):
        begin += 1  # "the crate serde"
    if begin >= len(lows):
        return None
    end = begin + 1
    if is_mark(tokens[begin]):
        found = end_of_mark(tokens[begin], marks)
        if end < len(lows) and (lows[end] in ("'", "’") or lows[end] in ("'s", "’s")):
            return None
    else:
        while (
            end < len(lows)
            and end - begin < LONGEST_RUN_WORDS
            and is_capitalised(tokens[begin])
            and is_capitalised(tokens[end])
        ):
            end += 1
        found = end_of_words(tokens[begin:end], begins=False)
        if found and _is_common_noun(found) and begin > at and lows[begin - 1].isalpha():
            return None
    if found is None:
        return None
    while end < len(lows) and (lows[end] in '*_"”’' or lows[end] in (">", "=", "<", "≥") or lows[end][0].isdigit()):
        end += 1  # a version
    if end < len(lows) and lows[end] in CLASS_NOUNS:
        end += 1
    return found, end


def _projects(tokens: Sequence[str], lows: Sequence[str], at: int, marks: Sequence[Mark]) -> list[EndDraft]:
    """`project X`, `the X project`."""
    begin = at + (at < len(lows) and lows[at] in ("the", "our"))
    leads = begin < len(lows) and lows[begin] == "project"
    found = _name_after(tokens, lows, begin + leads, marks)
    if found is None:
        return []
    end, after = found
    follows = not leads and (lows[after - 1] == "project" or (after < len(lows) and lows[after] == "project"))
    return [_as_project(end, "relates_to_project")] if leads or follows else []


def _as_project(end: EndDraft, predicate: str) -> EndDraft:
    if predicate != "relates_to_project" or end.kind != "entity":
        return end
    return EndDraft("project", end.key, end.label, True)


def _solved(tokens: Sequence[str], lows: Sequence[str], at: int, marks: Sequence[Mark], verb: str) -> list[EndDraft]:
    """Tickets, numbered issues, or a named problem ("the Marigold outage") behind "fix", "solve" or "resolve"."""
    begin = at + (at < len(lows) and lows[at] in ("the", "a"))
    if begin >= len(lows):
        return []
    ends: list[EndDraft] = []
    place = begin
    while place < len(lows):  # tickets may stand in a list
        if TICKET.fullmatch(tokens[place]) and (end := entity(tokens[place])):
            ends.append(end)
            place += 1
        elif lows[place] in NUMBERED and place + 1 < len(lows) and re.fullmatch(r"#?\d{1,7}", tokens[place + 1]):
            number = tokens[place + 1].lstrip("#")
            label = f"{lows[place]} {number}" if lows[place] in ("incident", "case") else f"#{number}"
            ends += [end for end in [entity(label)] if end]
            place += 2
        elif ends and lows[place] in (",", "and", "&"):
            place += 1
        else:
            break
    if ends:
        return ends
    if is_mark(tokens[begin]) and (mark := mark_of(tokens[begin], marks)) and _is_own_link(mark):
        linked = end_of_mark(tokens[begin], marks)
        return [linked] if linked else []
    found = _name_after(tokens, lows, begin, marks)
    if found and verb.startswith(("resolve", "solve", "fix")):
        end, after = found
        if after < len(lows) and lows[after] in PROBLEMS and end.is_sure:
            return [end]
    return []


def _is_own_link(mark: Mark) -> bool:
    """True for a link within the corpus, or one whose text is a ticket: other outside links only explain a word."""
    is_outside = "://" in (mark.target or "")
    return mark.kind == "wiki" or (mark.kind == "link" and (not is_outside or TICKET.fullmatch(mark.label) is not None))


def _is_problem(end: EndDraft) -> bool:
    return end.kind == "link" or TICKET.fullmatch(end.label) is not None
