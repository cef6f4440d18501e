"""Measures whether the support check sees a fact changed in a copied sentence, and leaves copies and harmless edits alone.

    .venv/bin/python benchmarks/support_edits.py DATA [--markdown]

Sentences of third-party pages (ClapNQ's passages, the FastAPI pages in Korean) and of the fixture corpus are copied out of
passages of some sentences around them. PAIRS of each kind: a number, a unit, a date, a name of the passage exchanged for
another, a negation put in; and the same sentences unchanged, without their punctuation, as a list item, without a
clause. A changed one must fall below 0.5, the others must stay above. Words alone: no encoder. Seeded.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.support import clean
from kb.support.check import VERIFIED, support_score
from kb.text import split_sentences

PAIRS = 200
SEED = 11
AROUND = 3
ROOT = Path(__file__).parents[1]
Edit = Callable[[str, random.Random, list[str]], str | None]

_NUMBER = re.compile(r"(?<![\w.,])\d{1,4}(?![\w.,:]|\s*%)")
_VERB = re.compile(r"\b(is|are|was|were|can|may|must|should|will|has been|have been)\b(?! not\b)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_MONTHS = "January February March April May June July August September October November December".split()
_UNITS = {"km": "m", "miles": "feet", "years": "days", "days": "weeks", "hours": "minutes", "minutes": "hours", "percent": "dollars",
          "million": "billion", "months": "years", "weeks": "years", "meters": "miles", "feet": "miles", "kg": "tons"}  # fmt: skip
_KOREAN_UNITS = {
    "일": "개월",
    "개월": "년",
    "년": "일",
    "시간": "분",
    "분": "시간",
    "초": "분",
    "명": "년",
    "미터": "킬로미터",
    "원": "달러",
}
_KOREAN_VERBS = (("합니다", "하지 않습니다"), ("됩니다", "되지 않습니다"), ("있습니다", "없습니다"), ("입니다", "이 아닙니다"), ("한다", "하지 않는다"),
                 ("된다", "되지 않는다"), ("있다", "없다"), ("는다", "지 않는다"), ("습니다", "지 않습니다"))  # fmt: skip


def passages(data: Path, language: str) -> Iterator[list[str]]:
    """Passages as lists of sentences."""
    texts: list[str] = []
    if language == "en":
        texts += [clean(json.loads(line)["text"]) for line in (data / "clapnq" / "corpus.jsonl").open(encoding="utf-8")]
        folders = [ROOT / "fixtures" / "corpus" / part for part in ("guide", "ops", "notes")]
    else:
        folders = [data / "fastapi-docs-en-ko" / "docs" / "ko", ROOT / "fixtures" / "corpus" / "ko"]
    for folder in folders:
        for file in sorted([*folder.rglob("*.md"), *folder.rglob("*.txt")]):
            text = re.sub(r"(?ms)^```.*?^```", "", file.read_text(encoding="utf-8"))
            texts += [p for p in re.split(r"\n\s*\n", text) if not re.match(r"\s*[#|\-*/!<{>]", p)]
    for text in texts:
        sentences = [" ".join(text[a:b].split()) for a, b in split_sentences(text)]
        yield [s for s in sentences if 20 <= len(s) <= 300]


def change_number(s: str, dice: random.Random, _: list[str]) -> str | None:
    """One number, by some."""
    found = list(_NUMBER.finditer(s))
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start()] + str(int(m[0]) + dice.choice([1, 2, 3, 7, 10])) + s[m.end() :]


def change_korean_number(s: str, dice: random.Random, _: list[str]) -> str | None:
    """One number, whatever is written behind it."""
    found = list(re.finditer(r"(?<![\w.,])\d{1,4}(?=[가-힣\s])", s))
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start()] + str(int(m[0]) + dice.choice([1, 2, 3, 7])) + s[m.end() :]


def change_unit(s: str, dice: random.Random, _: list[str]) -> str | None:
    """The unit behind a number."""
    found = list(re.finditer(rf"(\d[\d,.]*\s)({'|'.join(_UNITS)})\b", s))
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start(2)] + _UNITS[m[2]] + s[m.end(2) :]


def change_korean_unit(s: str, dice: random.Random, _: list[str]) -> str | None:
    """The unit behind a number."""
    found = list(re.finditer(rf"(\d\s?)({'|'.join(sorted(_KOREAN_UNITS, key=len, reverse=True))})(?!월)", s))
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start(2)] + _KOREAN_UNITS[m[2]] + s[m.end(2) :]


def change_date(s: str, dice: random.Random, _: list[str]) -> str | None:
    """Month or year of a date."""
    found = list(re.finditer(rf"\b({'|'.join(_MONTHS)})\b(?=\s+\d)", s)) or list(
        re.finditer(r"\b(?:1[89]|20)\d\d\b", s)
    )
    if not found:
        return None
    m = dice.choice(found)
    other = (
        str(int(m[0]) + dice.choice([1, 4, 10])) if m[0].isdigit() else dice.choice([x for x in _MONTHS if x != m[0]])
    )
    return s[: m.start()] + other + s[m.end() :]


def change_name(s: str, dice: random.Random, passage: list[str]) -> str | None:
    """A name for another, of the same passage where it has one."""
    found = [m for m in _NAME.finditer(s) if m[0] not in _MONTHS]
    others = [n for t in passage for n in _NAME.findall(t) if n not in s and n not in _MONTHS] or [
        "Oldenburg",
        "Marlowe",
    ]
    if not found:
        return None
    m = dice.choice(found)
    return s[: m.start()] + dice.choice(others) + s[m.end() :]


def negate(s: str, dice: random.Random, _: list[str]) -> str | None:
    """A "not" behind a verb."""
    found = list(_VERB.finditer(s))
    if not found or re.search(r"\b(?:not|no|never)\b|n't", s):
        return None
    m = dice.choice(found)
    head = m[0].split(" ")
    return s[: m.start()] + " ".join([head[0], "not", *head[1:]]) + s[m.end() :]


def negate_korean(s: str, _: random.Random, __: list[str]) -> str | None:
    """The last verb denied."""
    if re.search(r"않|없|못|아니|아닙", s):
        return None
    for ending, denied in _KOREAN_VERBS:
        if s.rstrip(".").endswith(ending):
            return s.rstrip(".")[: -len(ending)] + denied + "."
    return None


def drop_clause(s: str, _: random.Random, __: list[str]) -> str | None:
    """The text up to the last comma, where that is most of it."""
    at = s.rfind(", ")
    return s[:at] + "." if at > 0.6 * len(s) else None


HARMLESS: dict[str, Edit] = {
    "unchanged": lambda s, d, p: s,
    "punctuation": lambda s, d, p: re.sub(r"[,;\"'“”]|\.$", "", s),
    "list item, bold": lambda s, d, p: f"- **{s.split(' ')[0]}** {' '.join(s.split(' ')[1:])}",
    "clause dropped": drop_clause,
}
EDITS: dict[str, dict[str, Edit]] = {
    "en": {"number": change_number, "unit": change_unit, "date": change_date, "name": change_name, "negation": negate},
    "ko": {"number": change_korean_number, "unit": change_korean_unit, "negation": negate_korean},
}


def rate(cases: list[tuple[str, list[str]]], edit: Edit) -> tuple[int, int, list[str]]:
    """(pairs, pairs found unbacked, some that were found backed)."""
    dice = random.Random(SEED)
    made = unbacked = 0
    backed: list[str] = []
    for sentence, passage in cases:
        changed = edit(sentence, dice, passage)
        if changed is None or (changed == sentence and edit is not HARMLESS["unchanged"]):
            continue
        made += 1
        if support_score(changed, [" ".join(passage)]) < VERIFIED:
            unbacked += 1
        else:
            backed.append(changed)
        if made == PAIRS:
            break
    return made, unbacked, backed


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    print("| language | edit | pairs | found unbacked |\n|---|---|---|---|")
    for language, edits in EDITS.items():
        cases = [
            (s, p[max(0, i - AROUND) : i + AROUND + 1])
            for p in passages(options.data, language)
            for i, s in enumerate(p)
        ]
        random.Random(SEED).shuffle(cases)
        for name, edit in (edits | HARMLESS).items():
            made, unbacked, backed = rate(cases, edit)
            print(
                f"| {language} | {name} | {made} | {unbacked / made:.3f} |"
                if made
                else f"| {language} | {name} | 0 | |"
            )
            for text in backed[: options.show] if name in edits else []:
                print("    ", text)


if __name__ == "__main__":
    main()
