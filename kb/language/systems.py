"""A text → the operating systems that it names: what is told for one of them answers no question about another. Pure."""

from __future__ import annotations

import re

# Names are written in several ways; "windows" in small letters may be a building's, and MAC is an address.
_SYSTEM = re.compile(
    r"(?P<macos>\b(?:[mM]ac ?(?:OS|os)(?: [xX])?|OS ?X|Macs?|MacBook)\b|\bon (?:a |my )?mac\b|(?<![가-힣])맥(?:OS|북|에서|용)|애플 실리콘)"
    r"|(?P<windows>\bWindows(?: \d+)?\b|\b(?:on|for|under) windows\b|윈도우)"
    r"|(?P<linux>\b(?:[Ll]inux|Ubuntu|ubuntu|Debian|Fedora)\b|리눅스|우분투)"
    r"|(?P<unix>\b[Uu]nix\b|유닉스)"
    r"|(?P<android>\b[Aa]ndroid\b|안드로이드)"
    r"|(?P<ios>\biOS\b|\biPhone\b|아이폰)"
)
# What is told for Unix goes for these, too.
_UNIX = frozenset(("macos", "linux"))


def systems_in(text: str) -> frozenset[str]:
    """The systems that a text names.

    >>> sorted(systems_in("On macOS and Windows 11")), sorted(systems_in("Close the windows.")), sorted(systems_in("on Unix"))
    (['macos', 'windows'], [], ['linux', 'macos', 'unix'])
    """
    found = frozenset(str(match.lastgroup) for match in _SYSTEM.finditer(text))
    return found | _UNIX if "unix" in found else found
