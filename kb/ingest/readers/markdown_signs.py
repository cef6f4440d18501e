"""Markdown → the signs among its words that stand for something else, as edits: character references, tags of site builders, brackets
of links that are defined elsewhere. Pure.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from kb.drafts import Edit

# What stands in prose for each character of code.
CODE = "\x00"
# `&mdash;`, `&#241;`.
ENTITY = re.compile(r"&(?:[a-zA-Z][a-zA-Z0-9]{1,30}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
# They keep a text from being read as a tag.
_KEPT = ("&lt;", "&gt;")
# Of Hugo, and of Liquid and its like: `{{< tooltip text="Pods" >}}`, `{% channel "travel" %}`.
_BUILDER = re.compile(r"\{\{[<%](?![ \t]*/\*)(?P<hugo>[^{}\n]*?)[>%]\}\}|\{%(?P<liquid>[^{}\n]*?)%\}")
_SAID = re.compile(r"\b(?:text|title|label)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
# One word in quotation marks, which is no path.
_WORD = re.compile(r"\s*[\w-]+\s+[\"']([^\"'/.]+)[\"']\s*")
_DEFINED = re.compile(r"^ {0,3}\[([^\]\n^][^\]\n]*)\]:[ \t]*\S", re.M)
_BRACKETS = re.compile(r"(?<![!\]\\])\[([^\[\]\n^][^\[\]\n]*)\](?![\[(:])")


def sign_edits(text: str, prose: str) -> Iterator[Edit]:
    """The edits of a text, in no order.

    prose  the text with CODE for each character of code
    """
    for match in ENTITY.finditer(prose):
        if match.group() not in _KEPT and (shown := html.unescape(match.group())) != match.group():
            yield Edit(*match.span(), " " if shown.isspace() else shown)
    for match in _BUILDER.finditer(prose):
        yield Edit(*match.span(), _told(match["hugo"] or match["liquid"] or ""))
    if defined := {_label(text, match) for match in _DEFINED.finditer(prose)}:
        for match in _BRACKETS.finditer(prose):
            if _label(text, match) in defined:
                yield Edit(match.start(), match.start() + 1, "")
                yield Edit(match.end() - 1, match.end(), "")


def without_builder_tags(title: str) -> str:
    """A title without the tags of site builders.

    >>> without_builder_tags('Branches {% include "tag.html" %} of {{< tooltip text="Git" >}}')
    'Branches  of Git'
    """
    return _BUILDER.sub(lambda match: _told(match["hugo"] or match["liquid"] or ""), title)


def _label(text: str, match: re.Match[str]) -> str:
    """What a link is defined by, as CommonMark compares it: without regard to case and blanks."""
    return " ".join(text[slice(*match.span(1))].split()).casefold()


def _told(tag: str) -> str:
    """What a reader of the page sees of a builder's tag, as far as the tag says it."""
    if said := _SAID.search(tag):
        return said[1] or said[2] or ""
    word = _WORD.fullmatch(tag)
    return word[1] if word else ""
