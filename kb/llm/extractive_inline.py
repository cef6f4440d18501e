"""Prose in Markdown → the same words as one line of a quote: without emphasis, link targets, images, escapes and marks of footnotes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from kb.language.sentences import neutralize_markers

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\((?:[^()]|\([^()]*\))*\)|\[(?!\^)[^\]]*\])")
# A Korean particle may follow a closing mark.
_STRESS = re.compile(
    r"(?<![A-Za-z\d*\\])(\*{1,3})(?=[^\s*])([^*\n]*?[^\s*])\1(?![A-Za-z\d*])"
    r"|(?<![\w\\])(_{1,3})(?=[^\s_])([^_\n]*?[^\s_])\3(?!\w)"
    r"|(?<![\w\\])_([^\W_]+(?:_[^\W_]+)+)_(?!\w)"  # _snake_case_
    r"|(?<![\w*\\])\*\*([A-Za-z]{1,3})\*\*(?=[a-z])"  # **c**ontainer
)
# What a site shows of code begins below such a line (Twoslash), and ends above the second.
_CUT = re.compile(r"(?m)^[ \t]*// ---cut(?:-before)?---[ \t]*\n")
_CUT_AFTER = re.compile(r"(?ms)^[ \t]*// ---cut-after---[ \t]*\n.*?(?=^[ \t]*(?:```|~~~)|\Z)")
_CODE_SPAN = re.compile(r"(`+)(?:.+?)\1", re.S)
# A sign that Markdown is kept from reading as its own.
_ESCAPED = re.compile(r"\\([\[\]*_<>#`|~])")
# `text[^1]`, and `[^1]: ` before the note itself; `[a-z][^abc]*` is none.
_FOOTNOTE = re.compile(r"(?<=[\w.,;:!?)\"”’])\[\^(?:\d+|[A-Za-z][\w-]{2,})\](?![\w:*+?{\[])|^\[\^[\w-]+\]:\s*")
# Spans of code that only links or stress parted.
_BESIDE = re.compile(r"\x00(\d+)\x00(?:\x00\d+\x00)+")


def bare_title(title: str) -> str:
    """A heading without links and emphasis marks."""
    return inline(title)


def inline(text: str) -> str:
    r"""One line of prose without emphasis marks and link targets; code spans stay as they are, but side by side they are one.

    >>> inline("An **adult** [animal](a.md) is `tall`_`er`_ than 2 \\* 3. [![Graph](a.png)](a.png)")
    'An adult animal is `taller` than 2 * 3.'
    """
    line = " ".join(text.split())
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match.group())
        return f"\x00{len(kept) - 1}\x00"

    bare = _CODE_SPAN.sub(keep, line)
    bare = without_links(_FOOTNOTE.sub("", bare))
    bare = _STRESS.sub(_unstressed, _STRESS.sub(_unstressed, bare))
    bare = _ESCAPED.sub(r"\1", bare)
    bare = re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match[1])], _BESIDE.sub(_joined_by(kept), bare))
    return neutralize_markers(" ".join(bare.split()))


def without_links(text: str) -> str:
    """A text without images and the targets of links.

    >>> without_links("| [a][b] | [![c](d)](e) ![f](g) |")
    '| a |   |'
    """
    for _ in range(2):  # the text of a link may be an image
        text = _LINK.sub(lambda match: "" if match[1] else match[2], text)
    return text


def as_site_shows(code: str) -> str:
    """Code, its fence included, without the lines that only a compiler reads.

    >>> as_site_shows("```ts\\nimport a\\n// ---cut---\\nuse(a)\\n```")
    '```ts\\nuse(a)\\n```'
    """
    *_, shown = _CUT.split(code)
    fence = re.match(r"\s*(?:```|~~~)[^\n]*\n", code)
    shown = f"{fence.group() if fence else ''}{shown}" if shown != code else code
    return _CUT_AFTER.sub("", shown)


def _joined_by(kept: list[str]) -> Callable[[re.Match[str]], str]:
    """Spans of code that stand side by side → one span; those with several ticks stay as they are."""

    def joined(match: re.Match[str]) -> str:
        spans = [kept[int(number)] for number in re.findall(r"\d+", match.group())]
        if any(span.startswith("``") for span in spans):
            return match.group()
        kept.append(f"`{''.join(span.strip('`') for span in spans)}`")
        return f"\x00{len(kept) - 1}\x00"

    return joined


def _unstressed(match: re.Match[str]) -> str:
    return match[2] or match[4] or match[5] or match[6]
