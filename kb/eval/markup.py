"""Text and attributes → HTML and SVG markup, escaped by default: only what this module made is let through as it is.

Knows no tag, no chart and no record.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from kb.wire import TERMINAL_DANGERS

VOID_TAGS = frozenset({"meta", "link", "br", "hr", "input", "col"})


class Html(str):
    """Markup that is finished. Every other string is text, and is escaped when it is put into markup."""

    __slots__ = ()


Child = str | Iterable[str] | None
Attribute = str | int | float | bool | None


def element(tag: str, *children: Child, **attributes: Attribute) -> Html:
    """One element. Attributes that are None or False are left out; `class_` is class, `data_id` is data-id.

    >>> element("p", "a < b", element("b", "c"), class_="note")
    '<p class="note">a &lt; b<b>c</b></p>'
    """
    opening = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    if tag in VOID_TAGS:
        return Html(opening)
    return Html(f"{opening}{join(*children)}</{tag}>")


def join(*children: Child) -> Html:
    """Children one after another: markup as it is, text escaped, None left out."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, str):
            parts.append(child if isinstance(child, Html) else text(child))
        else:
            parts.extend(part if isinstance(part, Html) else text(part) for part in child)
    return Html("".join(parts))


def text(raw: str) -> Html:
    """Text as markup that shows exactly this text; control and direction characters, which hide or reorder, as <U+202E>."""
    return Html(escape(visible(raw), quote=True))


def visible(raw: str) -> str:
    """Text whose control, direction and surrogate characters are written out, so that none of them acts.

    >>> visible("a\\u202eb\\x00")
    'a<U+202E>b<U+0000>'
    """
    return TERMINAL_DANGERS.sub(lambda match: f"<U+{ord(match.group()):04X}>", raw.replace("\r\n", "\n"))


def number(value: float) -> str:
    """A coordinate with at most two decimals: short, and the same on every machine.

    >>> number(12.0), number(0.126), number(-0.001)
    ('12', '0.13', '0')
    """
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if short in ("-0", "") else short


def percent(share: float) -> str:
    """A share of 1 as a length in percent, as SVG and CSS write it."""
    return f"{number(100 * share)}%"


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {written}"
    shown = number(value) if isinstance(value, float) else text(str(value))
    return f' {written}="{shown}"'
