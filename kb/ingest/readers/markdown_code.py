"""Markdown → where its code stands, and code between tags of site builders as fenced code. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from kb.ingest.readers.markdown_signs import CODE

_FENCED = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})[^\n]*\n(?:.*?\n)??[ \t]*(?:>[ \t]?)*\1[`~]*[ \t]*$|^[ \t]*(`{3,}|~{3,})[^\n]*\n(?![\s\S]*^[ \t]*\2).*\Z",
    re.M | re.S,
)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.S)
# `{{< highlight go >}}`, `{{< code-toggle file=hugo >}}` of Hugo, `{% highlight ruby linenos %}` of Jekyll, on lines of their own.
_CODE_TAG = r"highlight|code(?:[-_]?(?:toggle|block))?|command|console|terminal"
_OPENS_CODE = re.compile(
    rf"^[ \t]*(?:\{{\{{[<%][ \t]*(?P<hugo>{_CODE_TAG})(?P<hugo_said>[ \t][^{{}}\n]*)?(?<!/)[>%]\}}\}}"
    rf"|\{{%-?[ \t]*(?P<liquid>{_CODE_TAG})(?P<liquid_said>[ \t][^{{}}\n]*)?%\}})[ \t]*$",
    re.M,
)
# A fence, blanked.
_FENCE = "\n" + CODE * 3
_LANGUAGE = re.compile(r"\s*(?:(?:lang|language)\s*=\s*)?[\"']?([A-Za-z][\w+#-]*)[\"']?(?=\s|$)")


def code_and_prose(text: str, start: int) -> tuple[list[tuple[int, int]], str]:
    """The spans of fenced code, and the text with CODE for each character of code.

    start  what stands before it is no Markdown
    """
    code = [match.span() for match in _FENCED.finditer(text, start)]
    return code, _CODE_SPAN.sub(lambda match: _blanked(match.group()), _without(text, [(0, start), *code]))


def with_fences(text: str, start: int = 0) -> str:
    """A text whose code between tags of site builders stands between fences; each as long as its tag, so that no place moves.

    >>> with_fences("{{< highlight go >}}\\nx := 1\\n{{< /highlight >}}")
    '```go               \\nx := 1\\n```               '
    """
    if not _OPENS_CODE.search(text, start):
        return text
    prose = code_and_prose(text, start)[1]
    pieces: list[str] = []
    unended: set[str] = set()  # looked for once: thousands of open tags would be a search to the end each
    done = at = start
    while opens := _OPENS_CODE.search(prose, at):
        at = opens.end()
        name = opens["hugo"] or opens["liquid"]
        if name in unended:
            continue
        closes = _end_of(name).search(prose, at)
        if closes is None:
            unended.add(name)
        elif _FENCE not in prose[at : closes.start()]:
            language = _LANGUAGE.match(opens["hugo_said"] or opens["liquid_said"] or "")
            fence = f"```{language[1] if language else ''}".ljust(len(opens.group()))
            pieces += [text[done : opens.start()], fence, text[at : closes.start()], "```".ljust(len(closes.group()))]
            done = at = closes.end()
    return text[:start] + "".join([*pieces, text[done:]])


@cache
def _end_of(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"^[ \t]*(?:\{{\{{[<%][ \t]*/[ \t]*{name}[ \t]*[>%]\}}\}}|\{{%-?[ \t]*end{name}[ \t]*-?%\}})[ \t]*$", re.M
    )


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text whose spans, in order, are blanked: put together once, for a page may have thousands of code blocks."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], _blanked(text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", CODE, text)
