"""Drafts → the text of a suite's file, with comments that say what a person has to check. Pure.

The comments are in the language of most drafts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kb.eval.draft import Draft
from kb.eval.markup import visible

# Of a passage, so much tells which one it is.
SHOWN_CHARS = 150
LONGEST_ID_CHARS = 40

_HEAD = {
    "en": """\
# A draft by `kb eval init`: {count} questions nobody has judged. They measure nothing until you have.
# For each question:
#   1. Say it as someone would ask who has not read the page. Words copied from it find it too easily.
#   2. Read the passage: kb open 'PATH'. If it does not answer, name the one that does; if others answer too, add them.
#      A passage is named by `anchor`, words that stand in it once, or by `heading`. grade: 2 answers, 1 is related.
#   3. Delete the line `draft: true`. `kb eval run` leaves drafts out; --drafts tries them, without a gate.
# Delete what nobody would ask. Add questions that the documents cannot answer: they show whether kb says so.
""",
    "ko": """\
# `kb eval init`이 만든 초안입니다. 질문 {count}개 가운데 아직 아무도 확인한 것이 없으므로, 확인하기 전에는 아무것도 재지 못합니다.
# 질문마다 이렇게 하십시오.
#   1. 그 문서를 읽지 않은 사람이 물을 만한 말로 고칩니다. 문서에서 그대로 옮긴 말은 너무 쉽게 찾힙니다.
#   2. 대목을 읽습니다: kb open 'PATH'. 답이 없으면 답이 있는 대목으로 바꾸고, 다른 대목에도 답이 있으면 더합니다.
#      대목은 그 안에 한 번만 나오는 말(`anchor`)이나 제목(`heading`)으로 적습니다. grade: 2는 답, 1은 관련된 글입니다.
#   3. `draft: true` 줄을 지웁니다. `kb eval run`은 초안을 빼고 잽니다. --drafts로 미리 돌려 볼 수 있습니다.
# 아무도 묻지 않을 질문은 지우고, 문서에 답이 없는 질문도 더하십시오. kb가 모른다고 하는지 볼 수 있습니다.
""",
}
_ORIGINS = {
    "en": {
        "searched": "You searched for this. The passage is what kb found first: if you only agree, kb is measured by itself.",
        "asked": "You asked this. The passage is what kb cited: if you only agree, kb is measured by itself.",
        "refused": "You asked this and kb did not answer. If the documents do answer it, write the passage instead of `answerable`.",
        "question": "A question in the text. Does the sentence after it answer?",
        "heading": "From a heading.",
        "title": "From the title of a document without headings.",
    },
    "ko": {
        "searched": "검색하셨던 말입니다. 대목은 kb가 가장 먼저 찾은 것이라, 그대로 두면 kb를 kb로 재게 됩니다.",
        "asked": "물으셨던 질문입니다. 대목은 kb가 인용한 것이라, 그대로 두면 kb를 kb로 재게 됩니다.",
        "refused": "물으셨지만 kb가 답하지 않은 질문입니다. 문서에 답이 있으면 `answerable` 대신 그 대목을 적으십시오.",
        "question": "본문에 있는 질문입니다. 다음 문장이 답입니까?",
        "heading": "제목에서 왔습니다.",
        "title": "제목이 나뉘지 않은 문서의 이름에서 왔습니다.",
    },
}
_PASSAGE = {"en": "The passage", "ko": "대목"}
_OTHERS = {"en": "Also found", "ko": "함께 찾은 곳"}
_LAST = {
    "en": """\
  # One that the documents cannot answer, to be changed and to lose its marks:
  # - id: not-in-the-documents
  #   query: "…?"
  #   answerable: false
""",
    "ko": """\
  # 문서에 답이 없는 질문의 본보기입니다. 고친 뒤 앞의 #을 지우십시오.
  # - id: 문서에-없는-질문
  #   query: "…?"
  #   answerable: false
""",
}


def suite_text(drafts: Sequence[Draft], name: str) -> str:
    """A suite's file that `kb.eval.suite` reads, every query with `draft: true`.

    name  what runs of the suite are called
    """
    counts = Counter(draft.language for draft in drafts)
    language = counts.most_common(1)[0][0] if counts else "en"
    language = language if language in _HEAD else "en"
    lines = [_HEAD[language].format(count=len(drafts)), f"name: {_quoted(name)}\nversion: 1\nqueries:\n"]
    taken: set[str] = set()
    for draft in drafts:
        lines.append(_query(draft, _new_id(draft.text, taken), language))
    return "".join([*lines, _LAST[language]])


def _query(draft: Draft, query_id: str, language: str) -> str:
    comments = [_ORIGINS[language][draft.origin]]
    if draft.passage:
        comments.append(f"{_PASSAGE[language]}: {_shortened(draft.passage)}")
    if draft.others:
        comments.append(f"{_OTHERS[language]}: {', '.join(visible(place) for place in draft.others)}")
    lines = [f"  # {' '.join(comment.split())}" for comment in comments]
    lines += [
        f"  - id: {_quoted(query_id)}",
        "    draft: true",
        f"    query: {_quoted(draft.text)}",
        f"    lang: {_quoted(draft.language)}",
    ]
    if draft.label is None:
        return "\n".join([*lines, "    answerable: false"]) + "\n"
    key, words = ("anchor", draft.label.anchor) if draft.label.anchor else ("heading", draft.label.heading or "")
    lines += [
        "    relevant:",
        f"      - path: {_quoted(draft.label.path)}",
        f"        {key}: {_quoted(words or '')}",
        f"        grade: {draft.label.grade}",
    ]
    return "\n".join(lines) + "\n"


def _new_id(text: str, taken: set[str]) -> str:
    stem = re.sub(r"[\W_]+", "-", text.casefold())[:LONGEST_ID_CHARS].strip("-") or "query"
    name = next(name for name in (stem, *(f"{stem}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)
    taken.add(name)
    return name


def _quoted(text: str) -> str:
    """A text as a YAML scalar on one line; words that need no quotes have none."""
    import yaml

    plain = re.fullmatch(r"[^\W\d][\w./-]*", text) and text.lower() not in (
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "null",
    )
    style = None if plain else '"'
    written: str = yaml.safe_dump(text, allow_unicode=True, default_style=style, width=float("inf"))
    return written.removesuffix("\n").removesuffix("\n...").rstrip("\n")


def _shortened(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1].rstrip() + "…"
